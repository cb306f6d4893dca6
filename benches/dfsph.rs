//! Time of a DFSPH step on the breaking dam: a table first, then every stage
//! and every pressure solver by criterion.
//!
//! `cargo bench` runs it all; `cargo bench -- --quick` is shorter, and a word
//! such as `stages/2d/10000` picks benches by name.

use std::hint::black_box;
use std::time::Duration;

use bevy_fluid::solver::parallel::Threads;
use bevy_fluid::solver::sampling::{BoundaryShape, Fill, FluidShape};
use bevy_fluid::solver::scene::{Scene, SceneBoundary, SceneFluid};
use bevy_fluid::solver::settings::{DfsphSettings, PressureSolver};
use bevy_fluid::solver::simulation::Simulation;
use bevy_fluid::solver::stats::Stage;
use bevy_fluid::solver::vector::Vector;
use bevy_math::{Vec2, Vec3};
use bevy_tasks::{TaskPool, TaskPoolBuilder};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

/// Length of a step in seconds.
const DT: f32 = 0.0025;

/// Iterations of a density solve when iterations are timed.
const ITERATIONS: u32 = 20;

/// Steps of a game's tick of a sixty-fourth of a second at the longest step.
const STEPS_PER_TICK: f64 = 4.0;

/// Particles along each side of the block of water.
const SIDES_2D: [u32; 4] = [32, 100, 316, 1000];
const SIDES_3D: [u32; 3] = [10, 22, 46];

/// A square block of water at the left of a box three times as wide.
fn flat(side: u32) -> Scene<Vec2> {
    Scene { dfsph: DfsphSettings::default(), ..Scene::dam_break(side, side) }
}

/// A cube of water at the left of a box twice as long.
fn solid(side: u32) -> Scene<Vec3> {
    let length = side as f32 * 0.05;
    let half_size = Vec3::new(length, length, 0.5 * length);
    let cube = FluidShape::Block { min: Vec3::ZERO, size: Vec3::splat(length) };
    Scene {
        fluids: vec![SceneFluid { shapes: vec![cube], ..SceneFluid::default() }],
        boundaries: vec![SceneBoundary {
            shape: BoundaryShape::Box { half_size, fill: Fill::Container },
            position: half_size,
            surface_velocity: Vec3::ZERO,
        }],
        ..Scene::default()
    }
}

/// A world under way, with so many iterations a density solve, or the default.
fn under_way<V: Vector>(
    scene: &Scene<V>,
    solver: PressureSolver,
    iterations: Option<u32>,
    threads: Threads,
) -> Simulation<V> {
    let mut scene = scene.clone();
    scene.dfsph.solver = solver;
    if let Some(count) = iterations {
        scene.dfsph.min_density_iterations = count;
        scene.dfsph.max_density_iterations = count;
    }
    let mut simulation = Simulation::from_scene(&scene).unwrap_or_else(|error| panic!("{error}"));
    let steps = if simulation.bodies()[0].particles.len() > 50_000 { 4 } else { 40 };
    for _ in 0..steps {
        step(&mut simulation, threads);
    }
    simulation
}

fn step<V: Vector>(simulation: &mut Simulation<V>, threads: Threads) {
    let removed = black_box(simulation.step(DT, threads));
    assert!(removed.is_ok_and(|removed| removed.is_empty()));
}

/// Shortest time of a stage in several steps, in ns per particle.
fn fastest<V: Vector>(simulation: &mut Simulation<V>, threads: Threads) -> [f64; 5] {
    let mut times = [f64::MAX; 5];
    let particles = simulation.world().len();
    for _ in 0..if particles > 200_000 { 4 } else { 15 } {
        step(simulation, threads);
        let stats = simulation.world().stats();
        for stage in Stage::ALL {
            let ns = stats.duration(stage).as_nanos() as f64 / particles as f64;
            times[stage as usize] = times[stage as usize].min(ns);
        }
    }
    times
}

/// A line of the table in the README.
fn line<V: Vector>(scene: &Scene<V>, name: &str, threads: Threads) {
    let density = Stage::DensitySolve as usize;
    // What more iterations cost, so that the start of a solve is not counted.
    let iteration = |solver: PressureSolver| {
        let time = |iterations| {
            let mut simulation = under_way(scene, solver, Some(iterations), threads);
            fastest(&mut simulation, threads)[density]
        };
        (time(ITERATIONS) - time(2)) / f64::from(ITERATIONS - 2)
    };
    let (jacobi, sweep) =
        (iteration(PressureSolver::Jacobi), iteration(PressureSolver::GaussSeidel));
    let mut plain = under_way(scene, PressureSolver::GaussSeidel, Some(2), threads);
    let times = fastest(&mut plain, threads);
    let stats = *plain.world().stats();
    let iterations = f64::from(stats.density_iterations + stats.divergence_iterations);
    let rest = times.iter().sum::<f64>() - iterations * sweep;
    let mut default = under_way(scene, PressureSolver::TwoLevel, None, threads);
    let whole: f64 = fastest(&mut default, threads).iter().sum();
    let particles = default.world().len();
    let memory = default.world().memory() / particles;
    let real_time = 1e9 / 60.0 / (whole * STEPS_PER_TICK) / 1e3;
    println!(
        "| {name} | {particles} | {jacobi:.0} | {sweep:.0} | {rest:.0} | {whole:.0} | {real_time:.0}k | {memory} |"
    );
}

fn pools() -> [(String, Option<TaskPool>); 2] {
    // The calling thread helps.
    let all = std::thread::available_parallelism().map_or(1, usize::from);
    let pool = TaskPoolBuilder::new().num_threads((all - 1).max(1)).build();
    [("1 thread".into(), None), (format!("{} threads", all.max(2)), Some(pool))]
}

fn threads(pool: &Option<TaskPool>) -> Threads<'_> {
    pool.as_ref().map_or(Threads::Serial, Threads::Pool)
}

fn table(_: &mut Criterion) {
    println!(
        "| scene | particles | Jacobi iteration | sweep | rest of a step | default step | 60 Hz | bytes |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for (name, pool) in &pools() {
        for side in SIDES_2D {
            line(&flat(side), &format!("2D, {name}"), threads(pool));
        }
        for side in SIDES_3D {
            line(&solid(side), &format!("3D, {name}"), threads(pool));
        }
    }
}

/// Times `of` a step that goes on from step to step.
fn bench<V: Vector>(
    criterion: &mut Criterion,
    name: &str,
    simulation: &mut Simulation<V>,
    threads: Threads,
    of: impl Fn(&Simulation<V>) -> Duration,
) {
    let (group, id) = name.split_once('/').unwrap_or(("", name));
    let mut group = criterion.benchmark_group(group);
    group.sample_size(10).measurement_time(Duration::from_secs(1));
    group.warm_up_time(Duration::from_millis(200));
    group.throughput(Throughput::Elements(simulation.world().len() as u64));
    group.bench_function(BenchmarkId::from_parameter(id), |bencher| {
        bencher.iter_custom(|count| {
            (0..count)
                .map(|_| {
                    step(simulation, threads);
                    of(simulation)
                })
                .sum()
        });
    });
    group.finish();
}

/// Each stage of a default step.
fn stages(criterion: &mut Criterion) {
    fn all<V: Vector>(criterion: &mut Criterion, name: &str, scene: &Scene<V>) {
        for (count, pool) in &pools() {
            let threads = threads(pool);
            let mut simulation = under_way(scene, PressureSolver::TwoLevel, None, threads);
            let particles = simulation.world().len();
            for stage in Stage::ALL {
                let name = format!("stages/{name}/{particles}/{}/{count}", stage.name());
                bench(criterion, &name, &mut simulation, threads, |s| {
                    s.world().stats().duration(stage)
                });
            }
        }
    }
    all(criterion, "2d", &flat(100));
    all(criterion, "2d", &flat(316));
    all(criterion, "3d", &solid(46));
}

/// A density solve of twenty iterations by each pressure solver.
fn solvers(criterion: &mut Criterion) {
    fn all<V: Vector>(criterion: &mut Criterion, name: &str, scene: &Scene<V>) {
        for (count, pool) in &pools() {
            let threads = threads(pool);
            for solver in PressureSolver::ALL {
                let mut simulation = under_way(scene, solver, Some(ITERATIONS), threads);
                let particles = simulation.world().len();
                let name = format!("solvers/{name}/{particles}/{}/{count}", solver.name());
                bench(criterion, &name, &mut simulation, threads, |s| {
                    s.world().stats().duration(Stage::DensitySolve)
                });
            }
        }
    }
    all(criterion, "2d", &flat(32));
    all(criterion, "2d", &flat(100));
    all(criterion, "2d", &flat(316));
    all(criterion, "3d", &solid(22));
    all(criterion, "3d", &solid(46));
}

criterion_group!(benches, table, stages, solvers);
criterion_main!(benches);
