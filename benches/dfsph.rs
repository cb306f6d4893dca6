//! Time of a DFSPH step: the breaking dam in its splash, on one thread.

use std::hint::black_box;

use bevy_fluid::solver::parallel::Threads;
use bevy_fluid::solver::scene::Scene;
use bevy_fluid::solver::simulation::Simulation;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

/// Steps before the measurement: the front has reached the far wall.
const WARM_UP: u32 = 200;

fn dam_break(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("dam_break_2d");
    group.sample_size(20);
    for width in [30, 100] {
        let mut simulation = Simulation::from_scene(&Scene::dam_break(width, width))
            .unwrap_or_else(|error| panic!("{error}"));
        for _ in 0..WARM_UP {
            let _ = simulation.step(0.005, Threads::Serial);
        }
        group.throughput(Throughput::Elements(u64::from(width * width)));
        group.bench_function(BenchmarkId::from_parameter(width * width), |bencher| {
            bencher.iter(|| black_box(simulation.step(0.005, Threads::Serial)));
        });
    }
    group.finish();
}

criterion_group!(benches, dam_break);
criterion_main!(benches);
