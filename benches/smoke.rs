//! Time of a step of smoke: a table first, then the stages by criterion.
//!
//! `cargo bench --bench smoke` runs it all; `-- --quick` is shorter, and a word
//! such as `step/512` picks benches by name.

use std::hint::black_box;
use std::time::Instant;

use bevy_fluid::solver::parallel::Threads;
use bevy_fluid::solver::smoke::{
    Advection, Smoke, SmokeDomain, SmokePressure, SmokeSettings, SmokeStage, SmokeView,
};
use bevy_math::{Vec2, Vec3};
use bevy_tasks::{TaskPool, TaskPoolBuilder};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

const DT: f32 = 1.0 / 60.0;

fn plain() -> SmokeSettings {
    SmokeSettings { advection: Advection::Plain, ..SmokeSettings::default() }
}

/// A plume and a jet across it, under way.
fn flat(side: u32, settings: SmokeSettings) -> Smoke<Vec2> {
    let domain = SmokeDomain { min: Vec2::ZERO, size: Vec2::ONE, cells: [side, side, 1] };
    let mut smoke = Smoke::new(domain, settings, 1).unwrap_or_else(|error| panic!("{error}"));
    for _ in 0..10 {
        feed(&mut smoke);
        step(&mut smoke, Threads::Serial);
    }
    smoke
}

fn feed(smoke: &mut Smoke<Vec2>) {
    let fed = smoke
        .add_dye(0, Vec2::new(0.5, 0.2), 0.08, 0.01)
        .and_then(|()| smoke.add_velocity(Vec2::new(0.5, 0.2), 0.08, Vec2::new(0.1, 0.5)))
        .and_then(|()| smoke.add_velocity(Vec2::new(0.2, 0.6), 0.05, Vec2::new(0.3, 0.0)));
    assert!(fed.is_ok());
}

fn step<V: bevy_fluid::solver::vector::Vector>(smoke: &mut Smoke<V>, threads: Threads) {
    assert!(black_box(smoke.step(DT, threads)).is_ok());
}

/// Shortest of several times in ns for a cell.
fn fastest(cells: usize, mut work: impl FnMut()) -> f64 {
    (0..25).map(|_| time(cells, &mut work)).fold(f64::MAX, f64::min)
}

/// Time in ns for a cell.
fn time(cells: usize, mut work: impl FnMut()) -> f64 {
    let since = Instant::now();
    work();
    since.elapsed().as_nanos() as f64 / cells as f64
}

/// ns for a cell and a sweep over both colours.
fn sweep(side: u32) -> f64 {
    // More sweeps than one look at the residual, and no look between.
    let counts = [1, 7];
    let mut smokes = counts.map(|iterations| {
        let pressure = SmokePressure::RedBlack;
        flat(side, SmokeSettings { pressure, tolerance: 1e-6, iterations, ..plain() })
    });
    // In turn, so that both meet the machine at its fastest.
    let mut shortest = [f64::MAX; 2];
    for _ in 0..60 {
        for (smoke, shortest) in smokes.iter_mut().zip(&mut shortest) {
            feed(smoke);
            assert!(smoke.begin_step(DT).is_ok());
            *shortest =
                shortest.min(time((side * side) as usize, || smoke.project(Threads::Serial)));
        }
    }
    assert_eq!(smokes.map(|smoke| smoke.stats().iterations), counts);
    (shortest[1] - shortest[0]) / f64::from(counts[1] - counts[0])
}

fn table() {
    println!(
        "| cells | ns a cell and sweep | projection ms (cold; iterations) | MacCormack step ms | plain step ms | forces, projection, advection, dye ms | bytes a cell |"
    );
    for side in [64, 256, 512, 1024] {
        let cells = (side * side) as usize;
        let millis = cells as f64 / 1e6;
        let sweep = sweep(side);
        let mut smoke = flat(side, plain());
        // Clearing and feeding are no part of it.
        let mut shortest = f64::MAX;
        for _ in 0..25 {
            smoke.clear();
            feed(&mut smoke);
            assert!(smoke.begin_step(DT).is_ok());
            smoke.project(Threads::Serial);
            let time = smoke.stats().duration(SmokeStage::Projection).as_nanos() as f64;
            shortest = shortest.min(time / 1e6);
        }
        let iterations = smoke.stats().iterations;
        let mut stages = [f64::MAX; 4];
        let mut smoke = flat(side, plain());
        let whole = fastest(cells, || {
            feed(&mut smoke);
            step(&mut smoke, Threads::Serial);
            for stage in SmokeStage::ALL {
                let time = smoke.stats().duration(stage).as_nanos() as f64 / 1e6;
                stages[stage as usize] = stages[stage as usize].min(time);
            }
        });
        let mut corrected = flat(side, SmokeSettings::default());
        let correct = fastest(cells, || {
            feed(&mut corrected);
            step(&mut corrected, Threads::Serial);
        });
        assert!(smoke.view(SmokeView::Speed).all(f32::is_finite));
        let memory = smoke.memory() as f64 / cells as f64;
        println!(
            "| {side}² | {sweep:.2} | {shortest:.2} ({iterations}) | {:.2} | {:.2} | {:.2?} | {memory:.1} |",
            correct * millis,
            whole * millis,
            stages,
        );
    }
    let pools = [1, 2].map(|count| TaskPoolBuilder::new().num_threads(count).build());
    let mut smoke = flat(512, plain());
    let mut times = [f64::MAX; 3];
    // In turns, so that all see the same machine.
    for _ in 0..40 {
        for (number, time) in times.iter_mut().enumerate() {
            let threads = threads(number, &pools);
            feed(&mut smoke);
            let since = Instant::now();
            step(&mut smoke, threads);
            *time = time.min(since.elapsed().as_secs_f64() * 1e3);
        }
    }
    println!("512², ms on the calling thread alone, with a pool of one, of two: {times:.2?}");
}

fn threads(number: usize, pools: &[TaskPool; 2]) -> Threads<'_> {
    if number == 0 { Threads::Serial } else { Threads::Pool(&pools[number - 1]) }
}

fn steps(criterion: &mut Criterion) {
    table();
    let mut group = criterion.benchmark_group("step");
    for side in [256, 512] {
        let mut smoke = flat(side, plain());
        group.throughput(Throughput::Elements(u64::from(side * side)));
        group.bench_function(BenchmarkId::from_parameter(side), |bencher| {
            bencher.iter(|| {
                feed(&mut smoke);
                step(&mut smoke, Threads::Serial);
            });
        });
    }
    group.finish();
    let domain = SmokeDomain { min: Vec3::ZERO, size: Vec3::ONE, cells: [64; 3] };
    let mut smoke = Smoke::new(domain, plain(), 1).unwrap_or_else(|error| panic!("{error}"));
    criterion.bench_function("step/3d/64", |bencher| {
        bencher.iter(|| {
            assert!(smoke.add_velocity(Vec3::splat(0.5), 0.2, Vec3::Y).is_ok());
            step(&mut smoke, Threads::Serial);
        });
    });
}

criterion_group!(benches, steps);
criterion_main!(benches);
