//! Cloths that several tests share.

use bevy_fluid::solver::cloth::{Cloth, ClothMesh, ClothSettings, Surroundings};
use bevy_fluid::solver::vector::Vector;
use bevy_math::Vec3;

/// Length of a frame in seconds.
pub const FRAME: f32 = 1.0 / 60.0;

/// Gravity in m/s².
pub const G: f32 = 9.81;

/// A horizontal sheet of `size` metres with `n` x `n` particles and 0.2 kg.
pub fn sheet(n: u32, size: f32) -> Cloth<Vec3> {
    let step = size / (n - 1) as f32;
    let mesh = ClothMesh::grid(Vec3::ZERO, Vec3::X * step, Vec3::Z * step, n, n).unwrap();
    Cloth::new(mesh, 0.2 / (n * n) as f32).unwrap()
}

/// A sheet pinned at the two corners of its first row.
pub fn pinned_sheet(n: u32) -> Cloth<Vec3> {
    let mut cloth = sheet(n, 1.0);
    cloth.pin(0).unwrap();
    cloth.pin(n - 1).unwrap();
    cloth
}

/// Changes parameters.
pub fn tune<V: Vector>(cloth: &mut Cloth<V>, edit: impl FnOnce(&mut ClothSettings)) {
    let mut settings = cloth.settings().clone();
    edit(&mut settings);
    cloth.set_settings(settings).unwrap();
}

/// Steps of 1/60 s under gravity alone.
pub fn run<V: Vector>(cloth: &mut Cloth<V>, seconds: f32) {
    run_in(cloth, seconds, &Surroundings::default());
}

/// Steps of 1/60 s.
pub fn run_in<V: Vector>(cloth: &mut Cloth<V>, seconds: f32, around: &Surroundings<V>) {
    for _ in 0..(seconds / FRAME).round() as u32 {
        cloth.step(FRAME, around).unwrap();
    }
}

/// Every bit of the motion.
pub fn bits<V: Vector>(cloth: &Cloth<V>) -> Vec<[u32; 3]> {
    let both = cloth.positions().iter().chain(cloth.velocities());
    both.map(|vector| vector.to_array().map(f32::to_bits)).collect()
}
