//! Time of cloth steps: nanoseconds per projection of a constraint, and
//! milliseconds per frame.

use std::time::Duration;

use bevy_fluid::solver::cloth::collision::{Collider, ColliderShape};
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
    if !grid {
        let indices: Vec<u32> = mesh.triangles.iter().flatten().copied().collect();
        mesh = ClothMesh::from_triangles(&mesh.positions, &indices).unwrap();
    }
    mesh.constraints.retain(|constraint| constraint.kind != ConstraintKind::Bend);
    let mut cloth = Cloth::new(mesh, 0.2 / (n * n) as f32).unwrap();
    cloth.set_settings(settings.clone()).unwrap();
    cloth.pin(0).unwrap();
    cloth.pin(n - 1).unwrap();
    cloth
}

/// Substeps and sweeps, with and without tethers; no sweeps beyond these, so that
/// it is known how many there are.
fn settings(substeps: u32, iterations: u32, tethers: Tethers) -> ClothSettings {
    ClothSettings { substeps, iterations, tethers, strain_limit: 0.0, ..ClothSettings::default() }
}

fn step(cloth: &mut Cloth<Vec3>) {
    if let Err(error) = cloth.step(FRAME, &Surroundings::default()) {
        panic!("{error}");
    }
}

/// The stage of the constraints over the projections, where there is nothing else
/// in it: tethers are no projections, so with them it is left out.
fn table(_: &mut Criterion) {
    println!("| sheet | substeps x sweeps | tethers | constraints | ns/projection | ms/frame |");
    println!("|---|---|---|---|---|---|");
    for n in [40, 100, 200] {
        for grid in [true, false] {
            for (substeps, sweeps, tethers) in [
                (10, 1, Tethers::Off),
                (10, 1, Tethers::Nearest),
                (20, 2, Tethers::Off),
                (20, 2, Tethers::Nearest),
            ] {
                let mut cloth = sheet(n, grid, &settings(substeps, sweeps, tethers));
                let (mut solve, mut whole) = (Duration::MAX, Duration::MAX);
                for _ in 0..FRAMES {
                    step(&mut cloth);
                    let stats = cloth.stats();
                    solve = solve.min(stats.duration(ClothStage::Constraints));
                    whole = whole.min(stats.total());
                }
                let constraints = cloth.constraints().len();
                let projections = constraints as f64 * f64::from(substeps * sweeps);
                println!(
                    "| {n} x {n} {} | {substeps} x {sweeps} | {} | {constraints} | {} | {:.2} |",
                    if grid { "grid" } else { "mesh" },
                    if tethers == Tethers::Off { "no" } else { "yes" },
                    if tethers == Tethers::Off {
                        format!("{:.2}", solve.as_nanos() as f64 / projections)
                    } else {
                        String::new()
                    },
                    whole.as_secs_f64() * 1e3,
                );
            }
        }
    }
}

/// A sheet of 1 m folded once that falls on the floor and lies there on itself,
/// with bending: nanoseconds of collisions a particle and substep.
fn folded(_: &mut Criterion) {
    println!("| folded sheet | ns of collisions/particle and substep | ms/frame |");
    println!("|---|---|---|");
    for n in [20, 40, 80] {
        let step = 1.0 / (n - 1) as f32;
        let mesh = ClothMesh::grid(Vec3::ZERO, Vec3::X * step, Vec3::Z * step, n, n).unwrap();
        let mut cloth = Cloth::new(mesh, 0.2 / (n * n) as f32).unwrap();
        let settings =
            ClothSettings { self_thickness: 0.005, thickness: 0.005, ..ClothSettings::default() };
        cloth.set_settings(settings).unwrap();
        let radius = 0.015f32;
        let arc = core::f32::consts::PI * radius;
        let start = 0.5 - 0.5 * arc;
        for x in cloth.positions_mut() {
            let angle = ((x.x - start) / radius).clamp(0.0, core::f32::consts::PI);
            let along = x.x.min(start) - (x.x - start - arc).max(0.0);
            let height = 0.05 + radius * (1.0 - angle.cos());
            *x = Vec3::new(along + radius * angle.sin(), height, x.z);
        }
        let floor = [Collider::new(ColliderShape::Plane, Vec3::ZERO)];
        let around = Surroundings { colliders: &floor, ..Surroundings::default() };
        let (mut collide, mut whole) = (Duration::MAX, Duration::MAX);
        for frame in 0..FRAMES {
            cloth.step(FRAME, &around).unwrap();
            // Not before it lies there.
            if frame >= FRAMES / 2 {
                collide = collide.min(cloth.stats().duration(ClothStage::Collisions));
                whole = whole.min(cloth.stats().total());
            }
        }
        let substeps = f64::from(n * n * cloth.settings().substeps);
        let each = collide.as_nanos() as f64 / substeps;
        println!("| {n} x {n} | {each:.0} | {:.2} |", whole.as_secs_f64() * 1e3);
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

criterion_group!(benches, table, folded, frames);
criterion_main!(benches);
