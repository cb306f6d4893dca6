//! Gravity and XSPH viscosity.

use super::FluidWorld;
use crate::solver::parallel::{CHUNK, Threads, for_each_chunk};
use crate::solver::vector::Vector;

/// Sets each particle's acceleration to g + (alpha/dt) sum_j (m/rho_j)(v_j - v_i) W_ij
/// over its fluid neighbours (Schechter & Bridson 2012), alpha its own fluid's.
pub(super) fn accelerations<V: Vector>(world: &mut FluidWorld<V>, dt: f32, threads: Threads) {
    let FluidWorld { settings, kernel, bodies, particles, neighbors, .. } = world;
    let (gravity, kernel) = (settings.gravity, *kernel);
    let volume = settings.spacing().powi(V::DIM as i32);
    let (positions, velocities) = (&particles.positions, &particles.velocities);
    let (densities, body_of) = (&particles.densities, &particles.bodies);
    let bodies = &*bodies;
    let chunks = particles.accelerations.chunks_mut(CHUNK).zip(neighbors.chunks()).enumerate();
    for_each_chunk(threads, chunks, |(index, (accelerations, chunk))| {
        for (local, acceleration) in accelerations.iter_mut().enumerate() {
            let i = index * CHUNK + local;
            *acceleration = gravity;
            let viscosity = bodies[body_of[i] as usize].material.viscosity;
            if viscosity == 0.0 {
                continue;
            }
            let (x, v) = (positions[i], velocities[i]);
            let mut sum = V::ZERO;
            for &j in chunk.fluid(local) {
                let j = j as usize;
                let weight = kernel.value((x - positions[j]).length_squared()) / densities[j];
                sum += (velocities[j] - v) * weight;
            }
            *acceleration += sum * (viscosity * volume / dt);
        }
    });
}
