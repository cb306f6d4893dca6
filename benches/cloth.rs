//! Time of cloth steps: nanoseconds per projection of a constraint, and
//! milliseconds per frame.

use std::time::Duration;

use bevy_fluid::solver::cloth::{
    Cloth, ClothMesh, ClothSettings, ClothStage, ConstraintKind, Surroundings, Tethers,
};
use bevy_math::Vec3;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

const FRAME: f32 = 1.0 / 60.0;

/// Frames of which the fastest counts.
const FRAMES: usize = 120;

/// A sheet of `n` x `n` particles on two pins, with stretch and shear; as a
/// grid, or as triangles whose order says nothing.
fn sheet(n: u32, grid: bool, settings: &ClothSettings) -> Cloth<Vec3> {
    let step = 1.0 / (n - 1) as f32;
    let mut mesh = ClothMesh::grid(Vec3::ZERO, Vec3::X * step, Vec3::Z * step, n, n).unwrap();
    mesh.constraints.retain(|constraint| constraint.kind != ConstraintKind::Bend);
    if !grid {
        let indices: Vec<u32> = mesh.triangles.iter().flatten().copied().collect();
        mesh = ClothMesh::from_triangles(&mesh.positions, &indices).unwrap();
    }
    let mut cloth = Cloth::new(mesh, 0.2 / (n * n) as f32).unwrap();
    cloth.set_settings(settings.clone()).unwrap();
    cloth.pin(0).unwrap();
    cloth.pin(n - 1).unwrap();
    cloth
}

/// Substeps and sweeps, with and without tethers and air.
fn settings(substeps: u32, iterations: u32, tethers: Tethers) -> ClothSettings {
    ClothSettings { substeps, iterations, tethers, ..ClothSettings::default() }
}

fn step(cloth: &mut Cloth<Vec3>) {
    if let Err(error) = cloth.step(FRAME, &Surroundings::default()) {
        panic!("{error}");
    }
}

fn table(_: &mut Criterion) {
    println!("| sheet | substeps x sweeps | tethers | constraints | ns/projection | ms/frame |");
    println!("|---|---|---|---|---|---|");
    for n in [40, 100, 200] {
        for grid in [true, false] {
            for (substeps, sweeps, tethers) in
                [(10, 1, Tethers::Off), (10, 1, Tethers::Nearest), (20, 2, Tethers::Nearest)]
            {
                let mut cloth = sheet(n, grid, &settings(substeps, sweeps, tethers));
                let (mut solve, mut whole) = (Duration::MAX, Duration::MAX);
                for _ in 0..FRAMES {
                    step(&mut cloth);
                    let stats = cloth.stats();
                    solve = solve.min(stats.duration(ClothStage::Constraints));
                    whole = whole.min(stats.total());
                }
                let constraints = cloth.constraints().len();
                let projections = constraints as f64 * f64::from(cloth.stats().iterations);
                println!(
                    "| {n} x {n} {} | {substeps} x {sweeps} | {tethers:?} | {constraints} | {:.2} | {:.2} |",
                    if grid { "grid" } else { "mesh" },
                    solve.as_nanos() as f64 / projections,
                    whole.as_secs_f64() * 1e3,
                );
            }
        }
    }
}

fn frames(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("cloth");
    group.sample_size(10).measurement_time(Duration::from_secs(1));
    group.warm_up_time(Duration::from_millis(200));
    for (name, grid) in [("grid", true), ("mesh", false)] {
        let mut cloth = sheet(100, grid, &ClothSettings::default());
        group.throughput(Throughput::Elements(cloth.constraints().len() as u64 * 40));
        let id = BenchmarkId::new(name, "100x100");
        group.bench_function(id, |bencher| bencher.iter(|| step(&mut cloth)));
    }
    group.finish();
}

criterion_group!(benches, table, frames);
criterion_main!(benches);
