//! Divergence-free SPH (Bender & Koschier 2015, 2017): the constant-density
//! solve and the divergence-free solve.
//!
//! What the two solves share, the system of equations and its solvers, is in
//! [`pressure`](super::pressure).

use super::FluidWorld;
use super::pressure::{SolveReport, Stopping};
use crate::solver::parallel::{CHUNK, Threads, for_each_chunk};
use crate::solver::vector::Vector;

/// Neighbours below which the divergence solve leaves a particle alone: in
/// spray there is nothing to be free of divergence.
const SPARSE_NEIGHBORS: u32 = 7;

/// Applies the accelerations, then the pressure that keeps the density of the
/// end of the step from exceeding the rest density.
pub(super) fn density_solve<V: Vector>(
    world: &mut FluidWorld<V>,
    dt: f32,
    threads: Threads,
) -> SolveReport {
    let accelerated = world.particles.velocities.chunks_mut(CHUNK);
    let chunks = accelerated.zip(world.particles.accelerations.chunks(CHUNK));
    for_each_chunk(threads, chunks, |(velocities, accelerations)| {
        for (velocity, &acceleration) in velocities.iter_mut().zip(accelerations) {
            *velocity += acceleration * dt;
        }
    });
    let dfsph = &world.settings.dfsph;
    // What is compressed already comes apart over several steps; what would be
    // compressed in this one is always held.
    let most = 1.0 + dfsph.max_correction;
    let source = |density: f32, rate: f32| (1.0 - (density.min(most) + dt * rate)) / dt;
    let stopping = Stopping {
        tolerance: dfsph.max_density_error,
        min_iterations: dfsph.min_density_iterations,
        max_iterations: dfsph.max_density_iterations,
        min_neighbors: 0,
    };
    let mut impulses = core::mem::take(&mut world.particles.density_impulses);
    let report = world.solve_pressure(&mut impulses, dt * dt, source, &stopping, dt, threads);
    world.particles.density_impulses = impulses;
    report
}

/// Applies the pressure that keeps the velocities from raising the density.
pub(super) fn divergence_solve<V: Vector>(
    world: &mut FluidWorld<V>,
    dt: f32,
    threads: Threads,
) -> SolveReport {
    let dfsph = &world.settings.dfsph;
    let stopping = Stopping {
        tolerance: dfsph.max_divergence_error,
        min_iterations: dfsph.min_divergence_iterations,
        max_iterations: dfsph.max_divergence_iterations,
        min_neighbors: SPARSE_NEIGHBORS,
    };
    let mut impulses = core::mem::take(&mut world.particles.divergence_impulses);
    let report = world.solve_pressure(&mut impulses, dt, |_, rate| -rate, &stopping, dt, threads);
    world.particles.divergence_impulses = impulses;
    report
}
