//! Domains and measures that several tests of smoke share.

use bevy_fluid::solver::parallel::Threads;
use bevy_fluid::solver::smoke::{Smoke, SmokeDomain, SmokeSettings};
use bevy_fluid::solver::vector::Vector;
use bevy_math::Vec2;

/// A domain from the origin, one metre along x.
pub fn domain<V: Vector>(cells: [u32; 3]) -> SmokeDomain<V> {
    let side = 1.0 / cells[0] as f32;
    SmokeDomain { min: V::ZERO, size: V::from_array(cells.map(|n| n as f32 * side)), cells }
}

/// Still air in the unit square.
pub fn square(cells: u32, settings: SmokeSettings) -> Smoke<Vec2> {
    Smoke::new(domain([cells, cells, 1]), settings, 1).unwrap()
}

/// Steps of `dt` on this thread.
pub fn run<V: Vector>(smoke: &mut Smoke<V>, steps: usize, dt: f32) {
    for _ in 0..steps {
        smoke.step(dt, Threads::Serial).unwrap();
    }
}

/// Largest absolute difference.
pub fn difference(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).fold(0.0, |found, (a, b)| found.max((a - b).abs()))
}

/// Largest absolute value.
pub fn largest(a: &[f32]) -> f32 {
    a.iter().fold(0.0, |found, a| found.max(a.abs()))
}
