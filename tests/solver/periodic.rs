//! Periodic borders: space without an end.

use bevy_fluid::solver::parallel::Threads;
use bevy_fluid::solver::periodic::Periodic;
use bevy_fluid::solver::scene::Scene;
use bevy_fluid::solver::settings::{FluidMethod, NegativePressure, PressureSolver, WorldSettings};
use bevy_fluid::solver::simulation::Simulation;
use bevy_fluid::solver::vector::Vector;
use bevy_math::{Vec2, Vec3};
use bevy_tasks::TaskPoolBuilder;

use crate::support::{
    D, DT, Lcg, bits, block, body_of, mean_velocity, positions, run, start, velocities, void,
};

/// A square of `side` spacings that repeats itself along both axes.
fn square(side: u32) -> Periodic {
    let ends = Some((0.0, side as f32 * D));
    Periodic { x: ends, y: ends, z: None }
}

/// Particles at random in an endless square, with random velocities.
fn disorder(side: u32, method: FluidMethod, solver: PressureSolver) -> Simulation<Vec2> {
    let mut scene = Scene { gravity: Vec2::ZERO, method, periodic: square(side), ..void() };
    scene.dfsph.solver = solver;
    scene.dfsph.negative_pressure = NegativePressure::Allowed;
    let mut simulation = start(&scene);
    let mut random = Lcg::new(7);
    let places: Vec<Vec2> = (0..side * side)
        .map(|k| {
            let lattice = Vec2::new((k % side) as f32 + 0.5, (k / side) as f32 + 0.5);
            (lattice + random.point::<Vec2>(-0.2, 0.2)) * D
        })
        .collect();
    let mut body = body_of(places);
    body.particles.velocities_mut().iter_mut().for_each(|v| *v = random.point(-0.5, 0.5));
    simulation.add_body(body).unwrap();
    simulation
}

#[test]
fn neighbours_and_densities_equal_those_among_copies_of_the_world() {
    fn check<V: Vector>(counts: [u32; 3], neighbors: u32) {
        let size = V::from_array(counts.map(|n| n as f32 * D));
        let [x, y, z] = size.to_array().map(|end| Some((0.0, end)));
        let z = if V::DIM == 3 { z } else { None };
        let scene = Scene::<V> {
            gravity: V::ZERO,
            periodic: Periodic { x, y, z },
            fluids: vec![block(V::ZERO, counts)],
            ..void()
        };
        let mut simulation = start(&scene);
        simulation.prepare(Threads::Serial).unwrap();
        let results = simulation.bodies()[0].particles.results().to_vec();
        // On an endless lattice every particle is like every other.
        for result in &results {
            assert_eq!(result.neighbors, neighbors);
            assert!((result.density - results[0].density).abs() < 1e-3 * results[0].density);
        }
        assert!((results[0].density / 1000.0 - 1.0).abs() < 0.02, "{}", results[0].density);
    }
    check::<Vec2>([11, 9, 1], 12);
    check::<Vec3>([9, 9, 9], 32);
}

#[test]
fn disorder_equals_the_same_among_copies_of_itself() {
    let mut wrapped = disorder(12, FluidMethod::Dfsph, PressureSolver::Jacobi);
    wrapped.prepare(Threads::Serial).unwrap();
    // Three by three copies without borders; the middle one sees what the periodic one does.
    let places = positions(&mut wrapped);
    let side = 12.0 * D;
    let copies = (-1..=1).flat_map(|x| (-1..=1).map(move |y| Vec2::new(x as f32, y as f32) * side));
    let copies = copies.collect::<Vec<Vec2>>();
    let mut free = crate::support::world_of(
        Vec2::ZERO,
        copies.iter().flat_map(|offset| places.iter().map(move |x| *x + *offset)),
    );
    free.prepare(Threads::Serial).unwrap();
    let middle = copies.iter().position(|offset| *offset == Vec2::ZERO).unwrap() * places.len();
    let wrapped = wrapped.bodies()[0].particles.results().to_vec();
    let free = &free.bodies()[0].particles.results()[middle..][..places.len()];
    for (a, b) in wrapped.iter().zip(free) {
        assert_eq!(a.neighbors, b.neighbors);
        assert!((a.density - b.density).abs() < 1e-3 * a.density, "{} {}", a.density, b.density);
    }
}

#[test]
fn result_does_not_depend_on_threads_and_momentum_stays() {
    let pool = TaskPoolBuilder::new().num_threads(3).build();
    for method in FluidMethod::ALL {
        for solver in PressureSolver::ALL {
            // More than four thousand, below which all runs on one thread.
            let mut serial = disorder(70, method, solver);
            serial.bodies_mut()[0].material.viscosity = 0.0;
            let mut parallel = Simulation::from_state(serial.state()).unwrap();
            let before = mean_velocity(&mut serial);
            for _ in 0..6 {
                serial.step(1e-3, Threads::Serial).unwrap();
                parallel.step(1e-3, Threads::Pool(&pool)).unwrap();
            }
            assert!(bits(&mut serial) == bits(&mut parallel), "{method:?}, {solver:?}");
            let after = mean_velocity(&mut serial);
            for axis in 0..2 {
                assert!((before[axis] - after[axis]).abs() < 1e-5, "{before:?} {after:?}");
            }
            let end = 70.0 * D;
            let inside = |x: &Vec2| x.min_element() >= 0.0 && x.max_element() < end;
            assert!(positions(&mut serial).iter().all(inside));
        }
    }
}

#[test]
fn world_endless_along_one_axis_keeps_its_momentum() {
    let ends = Some((0.0, 12.0 * D));
    for axis in 0..3 {
        let along = |which: usize| if which == axis { ends } else { None };
        let scene = Scene::<Vec3> {
            gravity: Vec3::ZERO,
            periodic: Periodic { x: along(0), y: along(1), z: along(2) },
            fluids: vec![block(Vec3::ZERO, [12, 12, 12])],
            ..void()
        };
        let mut simulation = start(&scene);
        let mut random = Lcg::new(11);
        let body = &mut simulation.bodies_mut()[0];
        body.material.viscosity = 0.0;
        body.particles.velocities_mut().iter_mut().for_each(|v| *v = random.point(-0.5, 0.5));
        let before = mean_velocity(&mut simulation);
        run(&mut simulation, 10);
        let after = mean_velocity(&mut simulation);
        let mut moved = before.iter().zip(after).map(|(before, after)| (before - after).abs());
        assert!(moved.all(|change| change < 1e-5), "axis {axis}: {before:?} {after:?}");
    }
}

#[test]
fn what_leaves_by_one_border_enters_by_the_other() {
    let mut scene = Scene { gravity: Vec2::ZERO, periodic: square(20), ..void() };
    let mut fluid = block(Vec2::new(8.0, 3.0) * D, [4, 4, 1]);
    fluid.velocity = Vec2::new(2.0, -1.5);
    scene.fluids.push(fluid.clone());
    let mut simulation = start(&scene);
    scene.periodic = Periodic::NONE;
    let mut free = start(&scene);
    let start_place = positions(&mut simulation);
    run(&mut simulation, 300);
    run(&mut free, 300);
    let (wrapped, free) = (positions(&mut simulation), positions(&mut free));
    assert!((free[0] - start_place[0]).length() > 40.0 * D, "it went round several times");
    for (a, b) in wrapped.iter().zip(free) {
        let expected = Vec2::new(b.x.rem_euclid(20.0 * D), b.y.rem_euclid(20.0 * D));
        let difference = (*a - expected).abs();
        let difference = difference.min(Vec2::splat(20.0 * D) - difference);
        assert!(difference.length() < 0.02 * D, "{a} {expected}");
    }
    assert!(velocities(&mut simulation).iter().all(|v| (v.x - 2.0).abs() < 0.2));
}

#[test]
fn floor_that_ends_at_a_border_holds_water_across_it() {
    let mut scene = Scene { fluids: vec![block(Vec2::new(0.0, 0.6 * D), [20, 8, 1])], ..void() };
    scene.periodic = Periodic { y: None, ..square(20) };
    let mut simulation = start(&scene);
    simulation.set_boundary((0..20).map(|k| Vec2::new(k as f32 * D, 0.0)).collect());
    let volumes: Vec<f32> = simulation.world().boundary_samples().map(|(_, v)| v).collect();
    assert!(volumes.iter().all(|v| (v - volumes[0]).abs() < 1e-5 * v), "no sample is at an end");
    run(&mut simulation, 400);
    let places = positions(&mut simulation);
    assert!(places.iter().all(|x| x.y > 0.0), "none leaks");
    let highest = places.iter().map(|x| x.y).fold(0.0, f32::max);
    assert!(highest > 7.0 * D && highest < 9.5 * D, "{} spacings", highest / D);
}

#[test]
fn world_with_borders_is_saved_and_borders_change_at_run_time() {
    let mut simulation = disorder(20, FluidMethod::Dfsph, PressureSolver::TwoLevel);
    run(&mut simulation, 5);
    let mut restored = Simulation::from_state(simulation.state()).unwrap();
    run(&mut simulation, 5);
    run(&mut restored, 5);
    assert!(bits(&mut simulation) == bits(&mut restored));
    let settings = simulation.world().settings().clone();
    let neighbors = |simulation: &mut Simulation<Vec2>| {
        simulation.prepare(Threads::Serial).unwrap();
        simulation.bodies()[0].particles.results().iter().map(|r| r.neighbors).sum::<u32>()
    };
    let before = neighbors(&mut simulation);
    simulation
        .set_settings(WorldSettings { periodic: Periodic::NONE, ..settings.clone() })
        .unwrap();
    assert!(neighbors(&mut simulation) < before);
    // Anything outside comes in.
    simulation.bodies_mut()[0].particles.positions_mut()[0] = Vec2::new(1e6, -1e6);
    simulation.set_settings(settings).unwrap();
    simulation.step(DT, Threads::Serial).unwrap();
    assert!(positions(&mut simulation).iter().all(|x| x.max_element() < 20.0 * D));
    let narrow = Periodic { x: Some((0.0, 7.0 * D)), ..Periodic::NONE };
    let settings = simulation.world().settings().clone();
    let refused = simulation.set_settings(WorldSettings { periodic: narrow, ..settings });
    assert!(refused.unwrap_err().to_string().starts_with("periodic.x is (0.0, "));
}
