//! What a second of water costs by each pressure solver: the breaking dam of 10,000
//! particles at several steps and tolerances, and a column of 100 layers that comes to
//! rest, as tables. `cargo bench --bench pressure_solvers`.

use std::time::{Duration, Instant};

use bevy_fluid::solver::parallel::Threads;
use bevy_fluid::solver::sampling::{BoundaryShape, Fill, FluidShape};
use bevy_fluid::solver::scene::{Scene, SceneBoundary, SceneFluid};
use bevy_fluid::solver::settings::{DfsphSettings, PressureSolver};
use bevy_fluid::solver::simulation::Simulation;
use bevy_fluid::solver::time_step::TimeStep;
use bevy_math::Vec2;

/// Seconds of the dam that are simulated.
const END: f64 = 1.2;

/// Seconds before which its errors do not count: the block settles first.
const BEGIN: f64 = 0.1;

/// Seconds of which each takes the shortest time of all runs.
const WINDOW: f64 = 0.05;

/// Runs of each dam.
const RUNS: usize = 3;

/// Particle spacing in metres.
const D: f32 = 0.05;

/// How a dam is computed.
struct Entry {
    /// Length of a step in ms.
    dt: f32,
    dfsph: DfsphSettings,
}

/// What it comes to.
struct Outcome {
    /// Applications of the pressure operator a step.
    applications: f64,
    /// Mean two-sided error of the density in the bulk, as a fraction.
    error: f64,
    /// Highest 99.9th percentile of the density over the rest density.
    percentile: f32,
}

fn main() {
    dams();
    column();
}

fn dams() {
    let by_default = |solver, dt, max_density_error| Entry {
        dt,
        dfsph: DfsphSettings { solver, max_density_error, ..DfsphSettings::default() },
    };
    let entry = |solver, dt, max_density_error| {
        let Entry { dfsph, .. } = by_default(solver, dt, max_density_error);
        let dfsph = DfsphSettings { min_divergence_iterations: 1, over_relaxation: 1.3, ..dfsph };
        Entry { dt, dfsph }
    };
    let entries = [
        entry(PressureSolver::Jacobi, 5.0, 0.001),
        entry(PressureSolver::Jacobi, 3.33, 0.001),
        entry(PressureSolver::Jacobi, 2.5, 0.001),
        entry(PressureSolver::Jacobi, 2.5, 0.0008),
        entry(PressureSolver::Jacobi, 2.5, 0.0007),
        entry(PressureSolver::Jacobi, 1.25, 0.001),
        by_default(PressureSolver::GaussSeidel, 5.0, 0.001),
        by_default(PressureSolver::TwoLevel, 5.0, 0.001),
        entry(PressureSolver::TwoLevel, 5.0, 0.0016),
        entry(PressureSolver::TwoLevel, 5.0, 0.0022),
    ];
    println!(
        "| solver | step | max_density_error | applications a step | error | p99.9 | s per s | of Jacobi's |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let mut jacobi: Vec<(f64, f64)> = Vec::new();
    for entry in entries {
        let runs: [_; RUNS] = core::array::from_fn(|_| dam(&entry));
        let windows = |k: usize| runs.iter().filter_map(|(_, times)| times.get(k)).min();
        let Outcome { applications, error, percentile, .. } = runs[0].0;
        let time: Duration = (0..runs[0].1.len()).filter_map(windows).sum();
        let time = time.as_secs_f64() / END;
        // Against the fastest that is as exact.
        let rivals = jacobi.iter().filter(|(rival, _)| *rival <= error * 1.02);
        let fastest = rivals.map(|(_, time)| *time).min_by(f64::total_cmp);
        let ratio = fastest.map_or("none".into(), |fastest| format!("{:.2}", time / fastest));
        let Entry { dt, dfsph: DfsphSettings { solver, max_density_error, .. } } = entry;
        if solver == PressureSolver::Jacobi {
            jacobi.push((error, time));
        }
        println!(
            "| {solver:?} | {dt} ms | {max_density_error} | {applications:.1} | {:.3} % | {percentile:.3} | {time:.2} | {ratio} |",
            error * 100.0
        );
    }
}

/// A run of a dam, and the time that each window took.
fn dam(entry: &Entry) -> (Outcome, Vec<Duration>) {
    let mut scene = Scene::dam_break(100, 100);
    scene.dfsph = entry.dfsph.clone();
    scene.time_step = TimeStep::Fixed(entry.dt * 1e-3);
    let mut simulation = Simulation::from_scene(&scene).unwrap_or_else(|error| panic!("{error}"));
    let mut outcome = Outcome { applications: 0.0, error: 0.0, percentile: 0.0 };
    let mut times = Vec::new();
    let (mut steps, mut measured) = (0.0, 0.0);
    while simulation.time() < END {
        let window = (simulation.time() / WINDOW) as usize;
        times.resize(window + 1, Duration::ZERO);
        times[window] += step(&mut simulation);
        outcome.applications += f64::from(simulation.world().stats().applications);
        steps += 1.0;
        if simulation.time() > BEGIN {
            let world = simulation.world();
            outcome.error += f64::from(world.measure().mean_abs_density_error);
            measured += 1.0;
            let mut densities: Vec<f32> = world.particles().map(|p| p.density).collect();
            let rank = (densities.len() - 1) * 999 / 1000;
            let (_, high, _) = densities.select_nth_unstable_by(rank, f32::total_cmp);
            outcome.percentile = outcome.percentile.max(*high / 1000.0);
        }
    }
    outcome.applications /= steps;
    outcome.error /= measured;
    (outcome, times)
}

/// A step by one thread, and the time that it took.
fn step(simulation: &mut Simulation<Vec2>) -> Duration {
    let start = Instant::now();
    let dt = simulation.next_step();
    simulation.step(dt, Threads::Serial).unwrap_or_else(|error| panic!("{error}"));
    start.elapsed()
}

/// A column of 100 layers, 20 wide, by default settings, for ten seconds.
fn column() {
    let counts = Vec2::new(20.0, 100.0);
    let size = (counts + Vec2::new(0.2, 10.2)) * D;
    let block = FluidShape::Block { min: Vec2::splat(0.1 * D), size: counts * D };
    let shape = BoundaryShape::Box { half_size: size * 0.5, fill: Fill::Container };
    let boundary = SceneBoundary { shape, position: size * 0.5, surface_velocity: Vec2::default() };
    let scene = Scene {
        fluids: vec![SceneFluid { shapes: vec![block], ..SceneFluid::default() }],
        boundaries: vec![boundary],
        ..Scene::default()
    };
    let mut simulation = Simulation::from_scene(&scene).unwrap_or_else(|error| panic!("{error}"));
    println!("\n| column, second | mean step | applications a step | error | fastest water |");
    println!("|---|---|---|---|---|");
    let wave = (9.81 * counts.y * D).sqrt();
    for second in 1..=10 {
        let (mut steps, mut applications, mut error) = (0.0, 0.0, 0.0);
        let mut fastest = 0.0f32;
        while simulation.time() < f64::from(second) {
            step(&mut simulation);
            let measures = simulation.world().measure();
            steps += 1.0;
            applications += f64::from(simulation.world().stats().applications);
            error += f64::from(measures.mean_abs_density_error);
            fastest = fastest.max(measures.max_speed);
        }
        println!(
            "| {second} | {:.2} ms | {:.2} | {:.3} % | {:.3} sqrt(gH) |",
            1e3 / steps,
            applications / steps,
            error / steps * 100.0,
            fastest / wave
        );
    }
}
