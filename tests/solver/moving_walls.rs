//! Walls that move push the water and drag it along.

use bevy_fluid::solver::error::FluidError;
use bevy_fluid::solver::parallel::Threads;
use bevy_fluid::solver::scene::Scene;
use bevy_fluid::solver::settings::{FluidMethod, PressureSolver};
use bevy_fluid::solver::simulation::Simulation;
use bevy_fluid::solver::time_step::TimeStep;
use bevy_math::Vec2;

use crate::support::{
    D, DT, WALL_GAP, bits, mean_velocity, outside, positions, run, start, step, tank, velocities,
};

/// Steps while the whole boundary moves at `velocity`.
fn carry(simulation: &mut Simulation<Vec2>, velocity: Vec2, steps: u32) {
    for _ in 0..steps {
        let dt = simulation.next_step();
        let targets: Vec<Vec2> =
            simulation.boundary().iter().map(|sample| *sample + velocity * dt).collect();
        simulation.move_boundary(&targets, dt).unwrap();
        step(simulation);
    }
}

#[test]
fn water_in_a_tank_that_moves_evenly_is_as_still_as_in_one_at_rest() {
    for solver in PressureSolver::ALL {
        let mut scene = tank(12, 15, 5);
        scene.dfsph.solver = solver;
        let mut still = start(&scene);
        run(&mut still, 200);
        let velocity = Vec2::new(0.7, -0.4);
        scene.fluids[0].velocity = velocity;
        let mut moving = start(&scene);
        carry(&mut moving, velocity, 200);
        let relative = |simulation: &mut Simulation<Vec2>, velocity: Vec2| {
            let speeds = velocities(simulation).into_iter().map(|v| (v - velocity).length());
            speeds.fold(0.0, f32::max)
        };
        let (one, other) = (relative(&mut still, Vec2::ZERO), relative(&mut moving, velocity));
        assert!(other < 1.5 * one + 0.02, "{solver:?}: {other} m/s in the moving tank, {one}");
        // Not a particle differs by more than round-off and its consequences.
        let way = moving.boundary()[0] - still.boundary()[0];
        for (a, b) in positions(&mut still).iter().zip(positions(&mut moving)) {
            assert!((*a + way - b).length() < 0.5 * D, "{solver:?}: {a} {b}");
        }
    }
}

#[test]
fn cup_carries_its_water_along_whatever_the_method() {
    for method in FluidMethod::ALL {
        let mut scene = Scene { method, ..tank(12, 10, 12) };
        scene.time_step = TimeStep::Adaptive { min: 1e-5, max: DT, cfl: 0.4 };
        let size = Vec2::new(12.0 + 2.0 * WALL_GAP - 1.0, 22.0 + 2.0 * WALL_GAP - 1.0) * D;
        let mut simulation = start(&scene);
        // From rest to 3 m/s in a fifth of a second, as a hand would, and on.
        let rest = simulation.boundary().to_vec();
        let mut way = 0.0;
        for tick in 1..=60 {
            way += 3.0 * (tick as f32 / 12.0).min(1.0) / 60.0;
            let targets: Vec<Vec2> = rest.iter().map(|x| *x + Vec2::X * way).collect();
            let mut left = 1.0f32 / 60.0;
            simulation.move_boundary(&targets, left).unwrap();
            while left > 1e-6 {
                let dt = simulation.next_step().min(left);
                assert_eq!(simulation.step(dt, Threads::Serial), Ok(vec![]));
                left -= dt;
            }
            assert!((simulation.boundary()[0] - targets[0]).length() < 1e-4 * D);
        }
        let [x, _, _] = mean_velocity(&mut simulation);
        assert!((x - 3.0).abs() < 0.3, "{method:?}: the water moves at {x} m/s");
        for body in simulation.bodies_mut() {
            body.particles.positions_mut().iter_mut().for_each(|x| x.x -= way);
        }
        assert_eq!(outside(&mut simulation, size), 0, "{method:?}");
    }
}

#[test]
fn piston_pushes_the_water_of_a_channel_at_its_own_speed() {
    let pushed = |speed: f32| {
        let mut scene = tank(10, 10, 0);
        scene.gravity = Vec2::ZERO;
        scene.boundaries.clear();
        let mut simulation = start(&scene);
        // A little wider than the water, which has no pressure to relieve then.
        let wide = 11.6f32;
        let channel =
            (-10..40).flat_map(|k| [-0.2, wide - 0.2].map(|y| Vec2::new(k as f32 - 0.2, y) * D));
        let plate = (1..=10).map(|k| Vec2::new(-0.2, k as f32 * wide / 11.0 - 0.2) * D);
        let samples: Vec<Vec2> = channel.chain(plate).collect();
        simulation.set_boundary(samples.clone());
        let mut way = 0.0;
        for tick in 1..=100 {
            // An impact would compress the water, which then comes apart faster.
            way += speed * (tick as f32 / 60.0).min(1.0) * DT;
            let moved = Vec2::new(way, 0.0);
            let place = |(k, x): (usize, &Vec2)| if k < 100 { *x } else { *x + moved };
            let targets: Vec<Vec2> = samples.iter().enumerate().map(place).collect();
            simulation.move_boundary(&targets, DT).unwrap();
            step(&mut simulation);
        }
        let plate = simulation.boundary()[100].x;
        assert!((plate + 0.2 * D - way).abs() < 1e-5);
        assert!(positions(&mut simulation).iter().all(|x| x.x > plate), "none is behind");
        mean_velocity(&mut simulation)[0]
    };
    let still = pushed(0.0);
    assert!(still.abs() < 0.02, "{still}");
    for speed in [0.5, 2.0] {
        let x = pushed(speed);
        assert!((x / f64::from(speed) - 1.0).abs() < 0.1, "{x} m/s at {speed}");
    }
}

#[test]
fn surface_of_a_belt_drags_the_water_above_it_and_turns_it_round() {
    let dragged = |speed: f32| {
        let mut scene = tank(20, 12, 5);
        scene.fluids[0].material.boundary_viscosity = 0.02;
        scene.fluids[0].material.kinematic_viscosity = 0.02;
        let mut simulation = start(&scene);
        let belt: Vec<Vec2> = simulation
            .boundary()
            .iter()
            .map(|x| if x.y < 0.5 * D { Vec2::new(speed, 0.0) } else { Vec2::ZERO })
            .collect();
        simulation.set_surface_velocities(&belt);
        let before = simulation.boundary().to_vec();
        run(&mut simulation, 300);
        assert_eq!(simulation.boundary(), before, "the belt itself stays");
        let all = positions(&mut simulation).into_iter().zip(velocities(&mut simulation));
        let inner = all.filter(|(x, _)| x.x > 5.0 * D && x.x < 15.0 * D);
        let mean = |low: f32, high: f32| {
            let row = inner.clone().filter(|(x, _)| x.y > low * D && x.y < high * D);
            row.clone().map(|(_, v)| v.x).sum::<f32>() / row.count() as f32
        };
        (mean(0.0, 2.0), mean(9.0, 13.0))
    };
    let (low, high) = dragged(1.0);
    assert!(low > 0.2 && low < 1.0 && high < -0.03, "{low} {high}");
    let (low, high) = dragged(-1.0);
    assert!(low < -0.2 && high > 0.03, "{low} {high}");
    let (low, high) = dragged(0.0);
    assert!(low.abs() < 0.02 && high.abs() < 0.02, "{low} {high}");
}

#[test]
fn wall_that_is_put_elsewhere_makes_no_wave() {
    let mut scene = tank(10, 10, 5);
    scene.gravity = Vec2::ZERO;
    let mut simulation = start(&scene);
    run(&mut simulation, 5);
    // The lattice gives way a little.
    let before = simulation.world().max_speed();
    let far: Vec<Vec2> = simulation.boundary().iter().map(|x| *x + Vec2::splat(100.0)).collect();
    simulation.move_boundary(&far, DT).unwrap();
    assert_eq!(simulation.boundary(), far);
    assert!(simulation.world().signal_speed() < 10.0);
    run(&mut simulation, 5);
    let speed = simulation.world().max_speed();
    assert!(speed <= 1.01 * before, "{speed} m/s, {before} m/s before");
    // One more sample than before: all are put.
    let more: Vec<Vec2> = far.iter().copied().chain([Vec2::ZERO]).collect();
    simulation.move_boundary(&more, DT).unwrap();
    assert_eq!(simulation.boundary(), more);
}

#[test]
fn moving_boundary_is_saved_in_the_middle_of_its_way() {
    let mut simulation = start(&tank(12, 10, 5));
    simulation.set_surface_velocities(&vec![Vec2::X; simulation.boundary().len()]);
    simulation.bodies_mut()[0].material.boundary_viscosity = 0.01;
    let targets: Vec<Vec2> =
        simulation.boundary().iter().map(|x| *x + Vec2::new(0.1, 0.05)).collect();
    simulation.move_boundary(&targets, 20.5 * DT).unwrap();
    run(&mut simulation, 10);
    let mut restored = Simulation::from_state(simulation.state()).unwrap();
    for _ in 0..20 {
        step(&mut simulation);
        step(&mut restored);
    }
    assert!(bits(&mut simulation) == bits(&mut restored));
    assert_eq!(simulation.boundary(), targets, "it arrived, and stopped");
    assert!(simulation.state() == restored.state());
}

#[test]
fn motion_that_is_impossible_is_refused_or_left_out() {
    let mut simulation = start(&tank(5, 5, 2));
    let rest = simulation.boundary().to_vec();
    let targets: Vec<Vec2> = rest.iter().map(|x| *x + Vec2::X * 0.01).collect();
    for bad in [0.0, -1.0, f32::NAN, f32::INFINITY, 1e-7, 4000.0] {
        let error = simulation.move_boundary(&targets, bad).unwrap_err();
        assert!(matches!(error, FluidError::Parameter { ref name, .. } if name == "seconds"));
        assert_eq!(simulation.world().signal_speed(), start(&tank(5, 5, 2)).world().signal_speed());
    }
    let mut partly = targets.clone();
    partly[3] = Vec2::NAN;
    partly[4].x = f32::INFINITY;
    simulation.move_boundary(&partly, DT).unwrap();
    run(&mut simulation, 2);
    assert_eq!(simulation.boundary()[3..5], rest[3..5]);
    assert_eq!(simulation.boundary()[5..], targets[5..]);
    let mut velocities = vec![Vec2::X; 3];
    velocities[1] = Vec2::NAN;
    simulation.set_surface_velocities(&velocities);
    simulation.bodies_mut()[0].material.boundary_viscosity = 0.1;
    run(&mut simulation, 3);
    assert!(positions(&mut simulation).iter().all(|x| x.is_finite()));
    let mut state = simulation.state();
    assert!(Simulation::from_state(state.clone()).is_ok());
    state.boundary_motion.remaining = 1.0;
    assert!(Simulation::from_state(state).is_err());
}
