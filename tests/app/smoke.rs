//! Smoke in apps: sources, obstacles, time.

use bevy::prelude::*;
use bevy_fluid::solver::sampling::{BoundaryShape, Fill};
use bevy_fluid::solver::smoke::{SmokeDomain, SmokeSettings, SourceShape};
use bevy_fluid::solver::time_step::TimeStep;
use bevy_fluid::{Boundary2d, FluidSettings, Smoke2d, SmokeSource2d};

use crate::support::{app, app_with_frames};

/// A domain of 2 m x 1 m around the origin, 32 x 16 cells.
fn domain() -> SmokeDomain<Vec2> {
    SmokeDomain { min: Vec2::new(-1.0, -0.5), size: Vec2::new(2.0, 1.0), cells: [32, 16, 1] }
}

fn smoke() -> Smoke2d {
    Smoke2d::new(domain(), SmokeSettings::default(), 1).unwrap()
}

fn get(app: &App, entity: Entity) -> &Smoke2d {
    app.world().get::<Smoke2d>(entity).unwrap()
}

/// The tightest rectangle around the middles of solid cells.
fn solid_bounds(smoke: &Smoke2d) -> Option<Rect> {
    let columns = smoke.domain().cells[0];
    let solid = (0..).zip(smoke.solid_cells()).filter(|&(_, solid)| solid);
    let place = |index: u32| smoke.domain().center([index % columns, index / columns, 0]);
    solid
        .map(|(index, _)| Rect::from_corners(place(index), place(index)))
        .reduce(|all, cell| all.union(cell))
}

#[test]
fn a_source_feeds_the_domain_where_it_lies() {
    let mut app = app();
    let turn = Quat::from_rotation_z(core::f32::consts::FRAC_PI_2);
    let place = Transform::from_xyz(10.0, 0.0, 0.0).with_rotation(turn);
    let fed = app.world_mut().spawn((smoke(), place)).id();
    let alone = app.world_mut().spawn(smoke()).id();
    let source = SmokeSource2d {
        shape: SourceShape::Ball { radius: 0.2 },
        position: Vec2::new(0.1, 0.0),
        dye_rates: vec![3.0],
        temperature: None,
        velocity: Some(Vec2::Y),
    };
    // At (10.1, 0.5) of the world: (0.5, -0.1) of the turned domain.
    let source = app.world_mut().spawn((source, Transform::from_xyz(10.0, 0.5, 0.0))).id();
    for _ in 0..12 {
        app.update();
    }
    let smoke = get(&app, fed);
    assert!(smoke.steps() > 5);
    let expected = 3.0 * smoke.time();
    let total = smoke.total_dye(0);
    assert!((total - expected).abs() < 1e-3 * expected, "{total}, {expected}");
    assert!(smoke.dye_at(0, Vec2::new(0.5, -0.1)) > 1.0);
    // Upwards in the world is along +x of the domain.
    let wind = smoke.velocity_at(Vec2::new(0.5, -0.1));
    assert!(wind.x > 0.3 && wind.y.abs() < 0.3 * wind.x, "{wind}");
    assert_eq!(get(&app, alone).total_dye(0), 0.0);
    app.world_mut().despawn(source);
    app.update();
    app.update();
    let after = get(&app, fed).total_dye(0);
    for _ in 0..10 {
        app.update();
    }
    let later = get(&app, fed).total_dye(0);
    assert!((later - after).abs() < 1e-3 * after, "{later}, {after}");
}

#[test]
fn a_moving_boundary_is_a_moving_obstacle() {
    let mut app = app();
    let entity = app.world_mut().spawn(smoke()).id();
    let disc = app
        .world_mut()
        .spawn((Boundary2d::solid(Circle::new(0.2)), Transform::from_xyz(-0.5, 0.0, 0.0)))
        .id();
    app.update();
    app.update();
    let bounds = solid_bounds(get(&app, entity)).unwrap();
    assert!((bounds.center() - Vec2::new(-0.5, 0.0)).length() < 0.01, "{bounds:?}");
    assert!((bounds.width() - 0.375).abs() < 0.07, "{bounds:?}");
    assert_eq!(get(&app, entity).velocity_at(Vec2::new(-0.2, 0.0)), Vec2::ZERO);
    // A metre a second to the right.
    let tick = app.world().resource::<Time<Fixed>>().timestep().as_secs_f32();
    for _ in 0..32 {
        app.world_mut().get_mut::<Transform>(disc).unwrap().translation.x += tick;
        app.update();
    }
    let smoke = get(&app, entity);
    let bounds = solid_bounds(smoke).unwrap();
    assert!((bounds.center().x - 0.0).abs() < 0.04, "{bounds:?}");
    let before = smoke.velocity_at(Vec2::new(0.25, 0.0)).x;
    assert!((0.3..1.5).contains(&before), "air is pushed ahead: {before}");
    let beside = smoke.velocity_at(Vec2::new(0.0, 0.35)).x;
    assert!(beside < -0.1, "and flows back beside: {beside}");
    app.world_mut().despawn(disc);
    app.update();
    assert_eq!(solid_bounds(get(&app, entity)), None);
}

#[test]
fn a_changed_shape_is_another_obstacle() {
    let mut app = app();
    let entity = app.world_mut().spawn(smoke()).id();
    let disc = app.world_mut().spawn(Boundary2d::solid(Circle::new(0.2))).id();
    app.update();
    app.update();
    let before = solid_bounds(get(&app, entity)).unwrap();
    let shape = BoundaryShape::Box { half_size: Vec2::new(0.6, 0.1), fill: Fill::Solid };
    app.world_mut().get_mut::<Boundary2d>(disc).unwrap().set_shape(shape);
    app.update();
    let after = solid_bounds(get(&app, entity)).unwrap();
    assert!(after.width() > 2.0 * before.width() && after.height() < before.height());
}

#[test]
fn smoke_steps_at_its_own_time_step_whatever_the_frame_rate_and_the_waters_step() {
    let run = |frame: f64, water: TimeStep| {
        let mut app = app_with_frames(frame);
        app.world_mut().resource_mut::<FluidSettings>().time_step = water;
        let mut smoke = smoke();
        smoke.add_dye(0, Vec2::new(-0.3, 0.0), 0.2, 1.0).unwrap();
        smoke.add_velocity(Vec2::new(-0.3, 0.0), 0.2, Vec2::X).unwrap();
        let entity = app.world_mut().spawn(smoke).id();
        let mut seconds = 0.0;
        while seconds < 1.0 {
            app.update();
            seconds += frame;
        }
        let smoke = get(&app, entity);
        let dye: Vec<u32> = smoke.dye_rows(0).flatten().map(|dye| dye.to_bits()).collect();
        (smoke.steps(), smoke.stats().dt, dye)
    };
    let (steps, dt, dye) = run(1.0 / 60.0, TimeStep::Fixed(0.005));
    assert!((58..=60).contains(&steps), "{steps}");
    assert_eq!(dt, SmokeSettings::default().time_step);
    for (frame, water) in [
        (1.0 / 144.0, TimeStep::Fixed(0.005)),
        (1.0 / 30.0, TimeStep::Fixed(0.005)),
        (1.0 / 60.0, TimeStep::Fixed(0.002)),
        (1.0 / 60.0, TimeStep::Fixed(0.02)),
    ] {
        let (other_steps, other_dt, other) = run(frame, water);
        assert!(other_steps.abs_diff(steps) <= 2, "{frame}: {other_steps}, {steps}");
        assert_eq!(other_dt, dt);
        if other_steps == steps {
            assert_eq!(other, dye, "{frame}");
        }
    }
}

#[test]
fn smoke_stands_still_while_the_clock_is_paused() {
    let mut app = app();
    let entity = app.world_mut().spawn(smoke()).id();
    app.update();
    app.world_mut().resource_mut::<Time<bevy_fluid::Fluid>>().context_mut().pause();
    app.update();
    let steps = get(&app, entity).steps();
    for _ in 0..5 {
        app.update();
    }
    assert_eq!(get(&app, entity).steps(), steps);
    app.world_mut().resource_mut::<Time<bevy_fluid::Fluid>>().context_mut().unpause();
    for _ in 0..5 {
        app.update();
    }
    assert!(get(&app, entity).steps() > steps);
}
