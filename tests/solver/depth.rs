//! Where the default solver takes its coarse grid: in calm water, and wherever
//! the sweeps alone would take longer.

use bevy_fluid::solver::scene::Scene;
use bevy_fluid::solver::settings::{DfsphSettings, PressureSolver};
use bevy_fluid::solver::simulation::Simulation;
use bevy_fluid::solver::time_step::TimeStep;
use bevy_fluid::solver::vector::Vector;
use bevy_math::{Vec2, Vec3};

use crate::support::{D, bits, block, container, run, start, step, tank, void};

/// Lets every solve end after its fewest sweeps.
fn satisfied<V: Vector>(mut scene: Scene<V>) -> Scene<V> {
    scene.dfsph.max_density_error = 1.0;
    scene.dfsph.max_divergence_error = 1.0;
    scene
}

/// Bits of the particles after some steps by a solver.
fn after(scene: &Scene<Vec2>, solver: PressureSolver, steps: usize) -> Vec<[u32; 10]> {
    let mut scene = scene.clone();
    scene.dfsph.solver = solver;
    let mut simulation = start(&scene);
    run(&mut simulation, steps);
    bits(&mut simulation)
}

/// Applications of the pressure operator in the last step besides iterations.
fn extra<V: Vector>(simulation: &Simulation<V>) -> f32 {
    let stats = simulation.world().stats();
    stats.applications - (stats.density_iterations + stats.divergence_iterations) as f32
}

/// Whether the last step took the coarse grid.
fn coarsely<V: Vector>(simulation: &Simulation<V>) -> bool {
    extra(simulation) > 1.0
}

#[test]
fn solves_start_by_sweeps_in_water_that_is_shallow_or_fast_or_weightless() {
    let deep = satisfied(tank(10, 30, 5));
    let mut fast = deep.clone();
    fast.fluids[0].velocity = Vec2::new(0.0, 3.0);
    let weightless = Scene { gravity: Vec2::ZERO, ..deep.clone() };
    let alone =
        [(satisfied(tank(20, 12, 5)), true), (fast, true), (weightless, true), (deep, false)];
    for (case, (scene, same)) in alone.iter().enumerate() {
        let [sweeps, both] = [PressureSolver::GaussSeidel, PressureSolver::TwoLevel]
            .map(|solver| after(scene, solver, 5));
        assert_eq!(sweeps == both, *same, "case {case}");
    }
}

#[test]
fn deep_water_in_space_takes_the_coarse_grid() {
    let counts = [6, 20, 6];
    let mut scene = satisfied(void::<Vec3>());
    scene.fluids.push(block(Vec3::splat(0.6 * D), counts));
    scene.boundaries.push(container(Vec3::new(7.2, 24.0, 7.2) * D));
    let applications = |solver| {
        scene.dfsph.solver = solver;
        let mut simulation = start(&scene);
        step(&mut simulation);
        extra(&simulation)
    };
    // A half for the start of each solve, and one for each correction.
    assert_eq!(
        [PressureSolver::GaussSeidel, PressureSolver::TwoLevel].map(applications),
        [1.0, 3.0]
    );
}

#[test]
fn where_sweeps_take_long_the_coarse_grid_comes_in_between() {
    let mut scene = Scene { time_step: TimeStep::Fixed(0.005), ..Scene::dam_break(50, 100) };
    let mut applications = |solver| {
        scene.dfsph = DfsphSettings { solver, ..DfsphSettings::default() };
        let mut simulation = start(&scene);
        run(&mut simulation, 60);
        let mut sum = 0.0;
        for _ in 0..20 {
            step(&mut simulation);
            sum += simulation.world().stats().applications;
        }
        sum
    };
    let sweeps = applications(PressureSolver::GaussSeidel);
    let both = applications(PressureSolver::TwoLevel);
    assert!(both < 0.5 * sweeps, "{both} {sweeps}");
}

#[test]
fn nothing_jumps_where_a_breaking_dam_ceases_to_be_calm() {
    let mut scene = Scene { time_step: TimeStep::default(), ..Scene::dam_break(40, 60) };
    scene.dfsph = DfsphSettings::default();
    let mut simulation = start(&scene);
    let mut energies = Vec::new();
    while simulation.time() < 0.2 {
        step(&mut simulation);
        let measures = simulation.world().measure();
        energies
            .push((measures.kinetic_energy + measures.potential_energy, simulation.last_step()));
        assert!(measures.max_density < 1010.0, "{} kg/m²", measures.max_density);
    }
    let losses = energies.windows(2).map(|pair| (pair[0].0 - pair[1].0) / pair[1].1);
    let losses: Vec<f32> = losses.skip(energies.len() / 4).collect();
    for pair in losses.windows(2) {
        let [before, after] = [pair[0], pair[1]];
        assert!(before > 0.0 && after > 0.0, "{before} W, {after} W");
        assert!((0.6..1.6).contains(&(after / before)), "{before} W, {after} W");
    }
}

#[test]
fn a_restored_world_takes_the_coarse_grid_where_the_saved_one_does() {
    let mut scene = Scene { time_step: TimeStep::default(), ..Scene::dam_break(20, 60) };
    scene.dfsph = DfsphSettings::default();
    let mut simulation = start(&scene);
    let (mut with, mut without) = (0, 0);
    while simulation.time() < 0.3 {
        let mut restored = Simulation::from_state(simulation.state()).unwrap();
        run(&mut simulation, 1);
        run(&mut restored, 1);
        assert!(bits(&mut simulation) == bits(&mut restored), "at {} s", simulation.time());
        *(if coarsely(&simulation) { &mut with } else { &mut without }) += 1;
    }
    assert!(with > 10 && without > 10, "{with} {without}");
}

#[test]
fn a_restored_world_starts_its_solves_as_the_saved_one_does() {
    let mut scene = Scene { time_step: TimeStep::Fixed(0.005), ..Scene::dam_break(50, 100) };
    scene.dfsph = DfsphSettings::default();
    let mut simulation = start(&scene);
    run(&mut simulation, 60);
    let mut slow = 0;
    for _ in 0..5 {
        let state = simulation.state();
        slow += u32::from(state.slow);
        let mut restored = Simulation::from_state(state).unwrap();
        step(&mut simulation);
        step(&mut restored);
        assert!(bits(&mut simulation) == bits(&mut restored), "at {} s", simulation.time());
        assert_eq!(simulation.world().is_slow(), restored.world().is_slow());
    }
    assert!(slow > 2, "{slow} of 5");
}
