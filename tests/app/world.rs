//! What the ECS layer adds to the solver changes nothing in it.

use bevy::diagnostic::DiagnosticsStore;
use bevy::ecs::schedule::{LogLevel, ScheduleBuildSettings, ScheduleLabel};
use bevy::prelude::*;
use bevy_fluid::solver::parallel::Threads;
use bevy_fluid::solver::simulation::Simulation;
use bevy_fluid::solver::stats::Stage;
use bevy_fluid::{
    Fluid, FluidDiagnostics, FluidParticles2d, FluidSchedule, FluidSystems, FluidWorld2d, Scene2d,
};

use crate::support::{app, bits, particles, spawn};

#[test]
fn ecs_equals_the_bare_solver_bit_for_bit() {
    let scene = Scene2d::dam_break(20, 20);
    let mut app = app();
    let water = spawn(&mut app, &scene);
    for _ in 0..64 {
        app.update();
    }
    let steps = app.world().resource::<Time<Fluid>>().context().steps();
    assert!(steps >= 200, "{steps}");
    let mut bare = Simulation::from_scene(&scene).unwrap();
    for _ in 0..steps {
        bare.step(0.005, Threads::Serial).unwrap();
    }
    assert_eq!(bits(particles(&app, water)), bits(&bare.bodies()[0].particles));
    assert_eq!(particles(&app, water).results(), bare.bodies()[0].particles.results());
}

#[test]
fn one_search_per_step_and_one_more_after_an_edit() {
    let mut app = app();
    let water = spawn(&mut app, &Scene2d::dam_break(10, 10));
    app.update();
    let count = |app: &App| {
        let steps = app.world().resource::<Time<Fluid>>().context().steps();
        (app.world().resource::<FluidWorld2d>().searches(), steps)
    };
    let (searches, steps) = count(&app);
    for _ in 0..20 {
        app.update();
    }
    let (later, more) = count(&app);
    assert!(more > steps);
    assert_eq!(later - searches, more - steps);
    let mut particles = app.world_mut().get_mut::<FluidParticles2d>(water).unwrap();
    particles.positions_mut()[7] += Vec2::splat(0.001);
    app.update();
    let (edited, last) = count(&app);
    assert_eq!(edited - later, last - more + 1);
}

#[test]
fn schedules_have_no_ambiguity() {
    let mut app = app();
    spawn(&mut app, &Scene2d::dam_break(4, 4));
    let strict = ScheduleBuildSettings {
        ambiguity_detection: LogLevel::Error,
        ..ScheduleBuildSettings::default()
    };
    app.edit_schedule(FluidSchedule, |schedule| {
        schedule.set_build_settings(strict.clone());
    });
    for label in [FixedPostUpdate.intern(), First.intern()] {
        app.edit_schedule(label, |schedule| {
            schedule.set_build_settings(strict.clone());
        });
    }
    // Building a schedule with an ambiguity panics.
    for _ in 0..3 {
        app.update();
    }
    assert!(app.world().resource::<Time<Fluid>>().context().steps() > 0);
}

#[test]
fn a_games_own_system_pushes_particles_by_position() {
    fn wind(mut water: ResMut<FluidWorld2d>) {
        water.accelerate(
            |particle| {
                if particle.position.y > 0.3 { Vec2::X * 20.0 } else { Vec2::ZERO }
            },
        );
    }
    let run = |windy: bool| {
        let mut app = app();
        let water = spawn(&mut app, &Scene2d::dam_break(10, 10));
        if windy {
            app.add_systems(FluidSchedule, wind.in_set(FluidSystems::NonPressureForces));
        }
        for _ in 0..8 {
            app.update();
        }
        particles(&app, water).clone()
    };
    let (calm, windy) = (run(false), run(true));
    let shift = |index: usize| windy.positions()[index].x - calm.positions()[index].x;
    // Half a t² of 20 m/s² over 0.12 s is 0.15 m; the rows below it are dragged along a little.
    let (top, bottom) = (shift(95), shift(5));
    assert!(top > 0.08, "{top}");
    assert!(bottom.abs() < 0.25 * top, "{bottom} against {top}");
}

#[test]
fn time_inside_the_schedule_is_the_fluid_clock() {
    #[derive(Resource, Default)]
    struct Seen(Vec<f32>);
    fn look(time: Res<Time>, mut seen: ResMut<Seen>) {
        seen.0.push(time.delta_secs());
    }
    let mut app = app();
    app.init_resource::<Seen>().add_systems(FluidSchedule, look.in_set(FluidSystems::Integrate));
    app.update();
    app.update();
    let before = app.world().resource::<Time>().elapsed();
    let seen = &app.world().resource::<Seen>().0;
    assert!(seen.len() >= 6 && seen.iter().all(|&delta| delta == 0.005), "{seen:?}");
    assert!(before.as_secs_f64() > 0.0, "the app's clock is back");
}

#[test]
fn diagnostics_hold_the_figures_of_the_step() {
    let mut app = app();
    spawn(&mut app, &Scene2d::dam_break(10, 10));
    for _ in 0..5 {
        app.update();
    }
    let store = app.world().resource::<DiagnosticsStore>();
    let value = |name: &str| {
        let path = FluidDiagnostics::path_2d(name);
        store.get(&path).and_then(|d| d.value()).unwrap_or_else(|| panic!("{path} is empty"))
    };
    assert_eq!(value(FluidDiagnostics::PARTICLES), 100.0);
    assert!(value(FluidDiagnostics::DENSITY_ITERATIONS) >= 2.0);
    assert!(value(FluidDiagnostics::DIVERGENCE_ITERATIONS) >= 1.0);
    assert!(value(FluidDiagnostics::STEP) > 0.0);
    assert!(value(FluidDiagnostics::DENSITY_ERROR) >= 0.0);
    assert!(value(FluidDiagnostics::DIVERGENCE_ERROR) >= 0.0);
    let stages: f64 = Stage::ALL.iter().map(|stage| value(stage.name())).sum();
    assert!((stages - value(FluidDiagnostics::STEP)).abs() < 1e-6);
}
