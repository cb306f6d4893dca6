//! Entities that come, change and go in any frame, and values that are refused.

use bevy::ecs::message::Messages;
use bevy::prelude::*;
use bevy_fluid::solver::settings::FluidMaterial;
use bevy_fluid::{
    Boundary2d, Fluid2d, Fluid3d, FluidParticles2d, FluidRefused, FluidSettings, FluidWorld2d,
    ParticleRemoved, Scene2d,
};

use crate::support::{app, bits, particles, spawn};

fn drain<M: Message>(app: &mut App) -> Vec<M> {
    app.world_mut().resource_mut::<Messages<M>>().drain().collect()
}

#[test]
fn fluids_and_boundaries_come_and_go_in_any_frame() {
    let mut app = app();
    for round in 0..50 {
        let water = spawn(&mut app, &Scene2d::dam_break(4, 4));
        if round % 3 == 0 {
            // In the same frame as the spawn.
            app.world_mut().entity_mut(water).despawn();
            app.update();
            continue;
        }
        app.update();
        assert_eq!(app.world().resource::<FluidWorld2d>().len(), 16, "round {round}");
        app.world_mut().entity_mut(water).despawn();
        let mut boundaries = app.world_mut().query_filtered::<Entity, With<Boundary2d>>();
        let found: Vec<Entity> = boundaries.iter(app.world()).collect();
        for entity in found {
            app.world_mut().entity_mut(entity).despawn();
        }
        app.update();
        let world = app.world().resource::<FluidWorld2d>();
        assert_eq!((world.len(), world.boundary_len()), (0, 0), "round {round}");
    }
}

#[test]
fn empty_apps_and_empty_bodies_are_ordinary() {
    let mut app = app();
    app.update();
    app.world_mut().spawn(Fluid2d::default());
    app.world_mut().spawn(Fluid3d::default());
    app.world_mut().spawn(Boundary2d::points([]));
    for _ in 0..10 {
        app.update();
    }
    assert!(app.world().resource::<FluidWorld2d>().is_empty());
}

#[test]
fn an_edit_between_ticks_is_taken_over() {
    let mut app = app();
    let water = spawn(&mut app, &Scene2d::dam_break(6, 6));
    app.update();
    let mut body = app.world_mut().get_mut::<FluidParticles2d>(water).unwrap();
    let id = body.spawn(Vec2::new(0.3, 0.8), Vec2::ZERO).unwrap();
    let gone = body.ids()[0];
    body.remove(gone).unwrap();
    body.velocities_mut()[10] = Vec2::new(0.0, 3.0);
    app.update();
    let body = particles(&app, water);
    assert_eq!(body.len(), 36);
    let fallen = body.positions()[body.index_of(id).unwrap()];
    assert!(fallen.y < 0.8 && fallen.y > 0.78, "{fallen}");
    assert!(body.index_of(gone).is_err());
    // The world replaces a whole component as well as an edited one.
    let other = FluidParticles2d::from_positions([Vec2::ONE]).unwrap();
    app.world_mut().entity_mut(water).insert(other);
    app.update();
    assert_eq!(app.world().resource::<FluidWorld2d>().len(), 1);
}

#[test]
fn a_particle_that_is_not_finite_is_removed_and_reported() {
    let mut app = app();
    let water = spawn(&mut app, &Scene2d::dam_break(6, 6));
    app.update();
    let mut body = app.world_mut().get_mut::<FluidParticles2d>(water).unwrap();
    let id = body.ids()[3];
    body.positions_mut()[3] = Vec2::new(f32::NAN, 0.0);
    app.update();
    assert_eq!(particles(&app, water).len(), 35);
    assert_eq!(drain::<ParticleRemoved>(&mut app), [ParticleRemoved { fluid: water, id }]);
    let mut body = app.world_mut().get_mut::<FluidParticles2d>(water).unwrap();
    body.velocities_mut()[0] = Vec2::new(1e38, 1e38);
    for _ in 0..20 {
        app.update();
    }
    assert!(particles(&app, water).positions().iter().all(|x| x.is_finite()));
}

#[test]
fn refused_settings_leave_the_last_valid_ones_in_force() {
    let mut app = app();
    let water = spawn(&mut app, &Scene2d::dam_break(6, 6));
    app.update();
    drain::<FluidRefused>(&mut app);
    let good = app.world().resource::<FluidSettings>().clone();
    app.world_mut().resource_mut::<FluidSettings>().particle_radius_2d = -1.0;
    app.update();
    let refused = drain::<FluidRefused>(&mut app);
    assert_eq!(refused.len(), 1);
    assert!(refused[0].error.to_string().starts_with("particle_radius is -1"), "{:?}", refused);
    assert_eq!(app.world().resource::<FluidWorld2d>().settings().particle_radius, 0.025);
    let before = bits(particles(&app, water));
    *app.world_mut().resource_mut::<FluidSettings>() =
        FluidSettings { gravity: Vec3::ZERO, ..good };
    app.update();
    assert_ne!(bits(particles(&app, water)), before, "the water still moves");
    assert!(drain::<FluidRefused>(&mut app).is_empty());
    assert_eq!(app.world().resource::<FluidWorld2d>().settings().gravity, Vec2::ZERO);
}

#[test]
fn a_refused_material_stops_its_body_alone() {
    let mut app = app();
    let water = spawn(&mut app, &Scene2d::dam_break(6, 6));
    let drop = FluidParticles2d::from_positions([Vec2::new(0.2, 0.8)]).unwrap();
    let other = app.world_mut().spawn((Fluid2d::default(), drop)).id();
    app.update();
    app.world_mut().get_mut::<Fluid2d>(other).unwrap().material.rest_density = 0.0;
    drain::<FluidRefused>(&mut app);
    let (still, moving) = (bits(particles(&app, other)), bits(particles(&app, water)));
    app.update();
    let refused = drain::<FluidRefused>(&mut app);
    assert_eq!(refused.len(), 1);
    assert_eq!(refused[0].entity, Some(other));
    assert_eq!(bits(particles(&app, other)), still);
    assert_ne!(bits(particles(&app, water)), moving);
    app.world_mut().get_mut::<Fluid2d>(other).unwrap().material = FluidMaterial::default();
    app.update();
    assert_ne!(bits(particles(&app, other)), still);
}

#[test]
fn primitives_hold_water_and_a_moved_boundary_carries_it() {
    let mut app = app();
    let bowl = app
        .world_mut()
        .spawn((
            Boundary2d::container(Rectangle::new(0.6, 0.6)),
            Transform::from_xyz(0.0, 0.3, 0.0),
        ))
        .id();
    let stone = Boundary2d::solid(Circle::new(0.1));
    app.world_mut().spawn((stone, Transform::from_xyz(0.0, 0.1, 0.0)));
    let scene = bevy_fluid::solver::sampling::FluidShape::Block {
        min: Vec2::new(-0.25, 0.3),
        size: Vec2::new(0.5, 0.2),
    };
    let body = FluidParticles2d::from_positions(scene.positions(0.025).unwrap()).unwrap();
    let water = app.world_mut().spawn((Fluid2d::default(), body)).id();
    for _ in 0..64 {
        app.update();
    }
    let inside = |x: Vec2, center: Vec2| (x - center).abs().max_element() < 0.31;
    for &x in particles(&app, water).positions() {
        assert!(inside(x, Vec2::new(0.0, 0.3)), "{x} is outside of the bowl");
        // A radius of penetration is what a resting particle may have.
        assert!(x.distance(Vec2::new(0.0, 0.1)) > 0.075, "{x} is inside the stone");
    }
    // Slowly upwards: 0.1 m in a second.
    for _ in 0..64 {
        app.world_mut().get_mut::<Transform>(bowl).unwrap().translation.y += 0.1 / 64.0;
        app.update();
    }
    for &x in particles(&app, water).positions() {
        assert!(inside(x, Vec2::new(0.0, 0.4)), "{x} was left behind");
    }
}

#[test]
fn an_impossible_boundary_is_refused_once() {
    let mut app = app();
    let wall = app.world_mut().spawn(Boundary2d::solid(Rectangle::new(1e7, 1e7))).id();
    app.update();
    app.update();
    let refused = drain::<FluidRefused>(&mut app);
    assert_eq!(refused.len(), 1);
    assert_eq!(refused[0].entity, Some(wall));
    let shape = bevy_fluid::solver::sampling::BoundaryShape::Points(vec![Vec2::ZERO]);
    app.world_mut().get_mut::<Boundary2d>(wall).unwrap().set_shape(shape);
    app.update();
    assert!(drain::<FluidRefused>(&mut app).is_empty());
    assert_eq!(app.world().resource::<FluidWorld2d>().boundary_len(), 1);
}
