//! Gravity and XSPH viscosity.

use super::FluidWorld;
use crate::solver::parallel::{CHUNK, Threads, for_each_chunk};
use crate::solver::settings::FluidMethod;
use crate::solver::vector::Vector;

/// Sets each particle's acceleration to g + (alpha/dt) sum_j (m/rho_j)(v_j - v_i) W_ij
/// over its fluid neighbours (Schechter & Bridson 2012), alpha its own fluid's.
pub(super) fn accelerations<V: Vector>(world: &mut FluidWorld<V>, dt: f32, threads: Threads) {
    let FluidWorld { settings, bodies, particles, neighbors, workspace, .. } = world;
    let gravity = settings.gravity;
    if bodies.iter().all(|body| body.material.viscosity == 0.0) {
        particles.accelerations.fill(gravity);
        return;
    }
    let least = match settings.method {
        FluidMethod::Dfsph => 0.0,
        FluidMethod::Wcsph => 1.0,
    };
    let (velocities, inverse_densities) = workspace.velocities(particles, least, threads);
    let (body_of, bodies) = (&particles.bodies, &*bodies);
    let chunks = particles.accelerations.chunks_mut(CHUNK).zip(neighbors.chunks()).enumerate();
    for_each_chunk(threads, chunks, |(index, (accelerations, chunk))| {
        for (local, acceleration) in accelerations.iter_mut().enumerate() {
            let i = index * CHUNK + local;
            let viscosity = bodies[body_of[i] as usize].material.viscosity;
            let list = chunk.bundles(local);
            let sum = V::sum_difference(
                list.weights,
                list.gradients,
                list.indices,
                inverse_densities,
                velocities,
                velocities[i],
            );
            *acceleration = gravity + sum * (viscosity / dt);
        }
    });
}
