//! Time: frame rates, pause, speed, single steps, hitches.

use std::time::Duration;

use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use bevy_fluid::solver::time_step::TimeStep;
use bevy_fluid::{Fluid, FluidSettings, Scene2d};

use crate::support::{app, app_with_frames, bits, particles, spawn};

fn steps(app: &App) -> u64 {
    app.world().resource::<Time<Fluid>>().context().steps()
}

#[test]
fn state_after_five_seconds_does_not_depend_on_the_frame_rate() {
    let run = |rate: f64| {
        let mut app = app_with_frames(1.0 / rate);
        let water = spawn(&mut app, &Scene2d::dam_break(12, 12));
        // The state after the tick that ends the fifth second, whichever frame it falls into.
        while app.world().resource::<Time<Fixed>>().elapsed() < Duration::from_secs(5) {
            app.update();
        }
        (steps(&app), bits(particles(&app, water)))
    };
    let expected = run(60.0);
    assert!((990..=1005).contains(&expected.0), "{}", expected.0);
    for rate in [24.0, 144.0] {
        let state = run(rate);
        // A frame of 24 Hz holds more than one tick; compare at the same step.
        assert_eq!(state.0, expected.0, "steps at {rate} frames per second");
        assert!(state.1 == expected.1, "state at {rate} frames per second");
    }
}

#[test]
fn pause_keeps_the_state_and_a_single_step_is_one_step() {
    let mut app = app();
    let water = spawn(&mut app, &Scene2d::dam_break(8, 8));
    for _ in 0..5 {
        app.update();
    }
    app.world_mut().resource_mut::<Time<Fluid>>().context_mut().pause();
    let (state, count) = (bits(particles(&app, water)), steps(&app));
    for _ in 0..50 {
        app.update();
    }
    assert_eq!(bits(particles(&app, water)), state);
    app.world_mut().resource_mut::<Time<Fluid>>().context_mut().step_once();
    app.update();
    assert_eq!(steps(&app), count + 1);
    assert_ne!(bits(particles(&app, water)), state);
    app.world_mut().resource_mut::<Time<Fluid>>().context_mut().unpause();
    app.update();
    assert!(steps(&app) > count + 1);
    assert!(steps(&app) <= count + 5, "no time is made up for");
}

#[test]
fn speed_changes_how_many_steps_are_made_and_nothing_else() {
    let mut app = app();
    let water = spawn(&mut app, &Scene2d::dam_break(8, 8));
    let mut energy = Vec::new();
    for speed in [1.0, 0.0, 0.1, 4.0, 1.0] {
        app.world_mut().resource_mut::<Time<Fluid>>().context_mut().set_speed(speed).unwrap();
        let before = steps(&app);
        for _ in 0..16 {
            app.update();
        }
        let made = (steps(&app) - before) as f64;
        // 16 ticks of 1/64 s are 50 steps of 5 ms.
        assert!((made - 50.0 * speed).abs() <= 1.0, "{made} steps at {speed}");
        let velocities = particles(&app, water).velocities();
        energy.push(velocities.iter().map(|v| v.length_squared()).sum::<f32>());
        assert!(particles(&app, water).positions().iter().all(|x| x.is_finite()));
    }
    assert_eq!(energy[0], energy[1], "no motion at speed zero");
}

#[test]
fn a_long_frame_slows_down_instead_of_stepping_far() {
    let mut app = app();
    let water = spawn(&mut app, &Scene2d::dam_break(8, 8));
    app.world_mut().resource_mut::<FluidSettings>().max_steps_per_frame = 7;
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs(60)));
    let before = steps(&app);
    app.update();
    assert_eq!(steps(&app) - before, 7);
    assert!(app.world().resource::<Time<Fluid>>().context().dropped_steps() > 0);
    assert!(particles(&app, water).positions().iter().all(|x| x.is_finite()));
}

#[test]
fn adaptive_steps_fill_each_tick_and_grow_in_number_with_speed() {
    let mut app = app();
    let water = spawn(&mut app, &Scene2d::dam_break(8, 8));
    app.world_mut().resource_mut::<FluidSettings>().time_step =
        TimeStep::Adaptive { min: 1e-4, max: 5e-3, cfl: 0.4 };
    app.update();
    app.update();
    let calm = app.world().resource::<Time<Fluid>>().context().due();
    assert_eq!(calm, 4, "1/64 s in steps of at most 5 ms");
    let mut fluid = app.world_mut().get_mut::<bevy_fluid::FluidParticles2d>(water).unwrap();
    fluid.velocities_mut().fill(Vec2::new(0.0, -20.0));
    app.update();
    app.update();
    let fast = app.world().resource::<Time<Fluid>>().context().due();
    assert!(fast > calm, "{fast}");
}
