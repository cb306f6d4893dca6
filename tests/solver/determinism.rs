//! The number of threads never shows in the result.

use bevy_fluid::solver::parallel::Threads;
use bevy_fluid::solver::scene::Scene;
use bevy_fluid::solver::settings::{DensityCorrection, PressureSolver};
use bevy_fluid::solver::simulation::{Simulation, SimulationState};
use bevy_fluid::solver::vector::Vector;
use bevy_math::{Vec2, Vec3};
use bevy_tasks::{TaskPool, TaskPoolBuilder};

use crate::support::{D, bits, block, container, start, void};

const THREADS: [usize; 4] = [1, 2, 3, 7];

fn pools() -> Vec<TaskPool> {
    THREADS.iter().map(|&count| TaskPoolBuilder::new().num_threads(count).build()).collect()
}

/// Steps once serially and once on each pool, all from the same state, with
/// every pressure solver.
fn assert_same_on_all_pools<V: Vector>(simulation: &mut Simulation<V>, steps: usize) {
    let mut state = simulation.state();
    for solver in PressureSolver::ALL {
        state.dfsph.solver = solver;
        assert_same_from(&state, steps);
    }
}

fn assert_same_from<V: Vector>(state: &SimulationState<V>, steps: usize) {
    let run = |threads: Threads| {
        let mut twin = Simulation::from_state(state.clone()).unwrap();
        let mut counts = Vec::new();
        for _ in 0..steps {
            twin.step(twin.next_step(), threads).unwrap();
            let stats = twin.world().stats();
            counts.push((
                stats.density_iterations,
                stats.divergence_iterations,
                stats.density_error.to_bits(),
                stats.divergence_error.to_bits(),
            ));
        }
        (bits(&mut twin), counts)
    };
    let expected = run(Threads::Serial);
    for pool in &pools() {
        // Not assert_eq: a difference would print every particle.
        assert!(run(Threads::Pool(pool)) == expected, "on {} threads", pool.thread_num());
    }
}

#[test]
fn result_is_the_same_on_any_number_of_threads_from_rest_to_splash() {
    // A dam break whose water is thrown at the near walls: the splash comes early.
    let mut scene = Scene::dam_break(150, 150);
    scene.fluids[0].velocity = Vec2::new(-6.0, -6.0);
    let mut simulation = start(&scene);
    assert_eq!(simulation.bodies()[0].particles.len(), 22_500);
    assert_same_on_all_pools(&mut simulation, 3);
    let mut state = simulation.state();
    state.dfsph.density_correction = DensityCorrection::Positions;
    assert_same_from(&state, 2);
    // At rest it is deep and calm: with the coarse grid.
    scene.fluids[0].velocity = Vec2::ZERO;
    assert_same_on_all_pools(&mut start(&scene), 2);
    let pool = TaskPoolBuilder::new().num_threads(2).build();
    for _ in 0..60 {
        simulation.step(simulation.next_step(), Threads::Pool(&pool)).unwrap();
    }
    // Some are thrown up faster than they came: this is the splash.
    let up = simulation.bodies()[0].particles.velocities().iter().filter(|v| v.y > 3.0).count();
    assert!(up > 100, "{up} particles fly up");
    assert_same_on_all_pools(&mut simulation, 3);
}

#[test]
fn result_in_3d_is_the_same_on_any_number_of_threads() {
    let scene = Scene::<Vec3> {
        fluids: vec![block(Vec3::splat(0.5 * D), [21, 52, 21])],
        boundaries: vec![container(Vec3::new(30.0, 60.0, 22.0) * D)],
        ..void()
    };
    let mut simulation = start(&scene);
    assert!(simulation.bodies()[0].particles.len() > 20_000);
    assert_same_on_all_pools(&mut simulation, 2);
}
