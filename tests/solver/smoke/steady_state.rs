//! What a step asks of the machine.

use bevy_fluid::solver::parallel::Threads;
use bevy_fluid::solver::sampling::{BoundaryShape, Fill};
use bevy_fluid::solver::smoke::{
    Advection, Border, Smoke, SmokeDomain, SmokeObstacle, SmokePressure, SmokeScheme,
    SmokeSettings, Splitting,
};
use bevy_math::{Vec2, Vec3};

use super::support::{domain, run, square};
use crate::allocation::allocations;

#[test]
fn step_allocates_nothing() {
    for pressure in SmokePressure::ALL {
        for advection in Advection::ALL {
            let settings = SmokeSettings {
                pressure,
                advection,
                splitting: Splitting::SecondOrder,
                viscosity: 1e-3,
                diffusion: 1e-3,
                vorticity_confinement: 0.1,
                projections: 2,
                border_y: Border::Open,
                ..SmokeSettings::default()
            };
            let mut smoke = square(40, settings);
            let ball = BoundaryShape::Ball { radius: 0.1, fill: Fill::Solid };
            smoke.set_obstacles([SmokeObstacle::new(ball, Vec2::splat(0.4))]).unwrap();
            let mut x = 0.4;
            let mut step = |smoke: &mut Smoke<Vec2>| {
                x += 1e-3;
                smoke.move_obstacle(0, Vec2::new(x, 0.5), Vec2::X * 0.1).unwrap();
                smoke.add_dye(0, Vec2::splat(0.7), 0.1, 1.0).unwrap();
                smoke.add_velocity(Vec2::splat(0.7), 0.1, Vec2::Y).unwrap();
                smoke.add_temperature(Vec2::splat(0.7), 0.1, 1.0).unwrap();
                smoke.step(0.01, Threads::Serial).unwrap();
            };
            (0..60).for_each(|_| step(&mut smoke));
            let count = allocations(|| (0..10).for_each(|_| step(&mut smoke)));
            assert_eq!(count, 0, "{pressure:?} {advection:?}");
        }
    }
    let scheme = SmokeScheme::StableFluids;
    let mut smoke = square(20, SmokeSettings { scheme, ..SmokeSettings::default() });
    smoke.add_velocity(Vec2::splat(0.5), 0.3, Vec2::Y).unwrap();
    run(&mut smoke, 2, 0.01);
    assert_eq!(allocations(|| run(&mut smoke, 3, 0.01)), 0);
    let mut smoke = Smoke::<Vec3>::new(domain([12; 3]), SmokeSettings::default(), 1).unwrap();
    smoke.add_velocity(Vec3::splat(0.5), 0.3, Vec3::Y).unwrap();
    run(&mut smoke, 2, 0.01);
    assert_eq!(allocations(|| run(&mut smoke, 3, 0.01)), 0);
}

#[test]
fn memory_is_within_64_bytes_a_cell() {
    for cells in [256, 512] {
        let mut smoke = square(cells, SmokeSettings::default());
        run(&mut smoke, 1, 0.01);
        let bytes = smoke.memory() as f64 / f64::from(cells * cells);
        assert!((40.0..=64.0).contains(&bytes), "{bytes} bytes a cell at {cells}²");
    }
    // A channel more is a field more.
    let with = |channels| {
        let domain = SmokeDomain { min: Vec2::ZERO, size: Vec2::ONE, cells: [64, 64, 1] };
        Smoke::<Vec2>::new(domain, SmokeSettings::default(), channels).unwrap().memory()
    };
    assert_eq!(with(3) - with(1), 2 * 4 * 66 * 66);
}

#[test]
fn still_air_stays_still() {
    let mut smoke = square(32, SmokeSettings { border_y: Border::Open, ..Default::default() });
    smoke.add_dye(0, Vec2::splat(0.5), 0.2, 1.0).unwrap();
    run(&mut smoke, 10, 0.02);
    assert!(smoke.velocities().all(|v| v == Vec2::ZERO));
    assert_eq!(smoke.stats().iterations, 0);
    assert!((smoke.total_dye(0) - 1.0).abs() < 1e-5);
}
