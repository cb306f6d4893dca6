//! The number of threads never shows.

use bevy_fluid::solver::parallel::Threads;
use bevy_fluid::solver::sampling::{BoundaryShape, Fill};
use bevy_fluid::solver::smoke::{
    Border, Smoke, SmokeObstacle, SmokePressure, SmokeSettings, SmokeSource, SmokeView,
    SourceShape, Splitting,
};
use bevy_fluid::solver::vector::Vector;
use bevy_math::{Vec2, Vec3};
use bevy_tasks::TaskPoolBuilder;

use super::support::domain;

/// Every bit that a step leaves behind.
fn bits<V: Vector>(smoke: &Smoke<V>) -> Vec<u32> {
    let views = [SmokeView::Dye(0), SmokeView::Temperature, SmokeView::Pressure];
    let scalars = views.into_iter().flat_map(|view| smoke.view(view));
    let vectors = smoke.velocities().flat_map(V::to_array);
    scalars.chain(vectors).map(f32::to_bits).collect()
}

fn same_on_all_pools<V: Vector>(cells: [u32; 3], settings: SmokeSettings) {
    let make = || {
        let mut smoke = Smoke::<V>::new(domain(cells), settings.clone(), 1).unwrap();
        let middle = smoke.domain().size * 0.5;
        let ball = BoundaryShape::Ball { radius: 0.1, fill: Fill::Solid };
        smoke.set_obstacles([SmokeObstacle::new(ball, middle)]).unwrap();
        let source = SmokeSource {
            shape: SourceShape::Ball { radius: 0.15 },
            position: middle * 0.6,
            dye_rates: vec![1.0],
            temperature: Some(400.0),
            velocity: Some(V::splat(1.5)),
        };
        smoke.set_sources([source]).unwrap();
        smoke
    };
    let run = |threads: Threads| {
        let mut smoke = make();
        let mut figures = Vec::new();
        for _ in 0..4 {
            smoke.step(0.02, threads).unwrap();
            let stats = smoke.stats();
            figures.push((
                stats.iterations,
                stats.divergence_after.to_bits(),
                stats.total_dye[0].to_bits(),
            ));
        }
        (bits(&smoke), figures)
    };
    let expected = run(Threads::Serial);
    assert!(expected.0.iter().any(|&bits| bits != 0));
    for count in [1, 2, 3, 7] {
        let pool = TaskPoolBuilder::new().num_threads(count).build();
        assert!(run(Threads::Pool(&pool)) == expected, "on {count} threads");
    }
}

#[test]
fn result_is_the_same_on_any_number_of_threads() {
    for &pressure in &[SmokePressure::Multigrid, SmokePressure::RedBlack] {
        let settings = SmokeSettings {
            pressure,
            splitting: Splitting::SecondOrder,
            viscosity: 1e-4,
            diffusion: 1e-4,
            vorticity_confinement: 0.2,
            projections: 2,
            border_y: Border::Open,
            ..SmokeSettings::default()
        };
        same_on_all_pools::<Vec2>([211, 190, 1], settings.clone());
        same_on_all_pools::<Vec3>([36, 33, 40], settings);
    }
}
