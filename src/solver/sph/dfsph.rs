//! Divergence-free SPH (Bender & Koschier 2015, 2017): a constant-density and a
//! divergence-free solve by relaxed Jacobi iterations.
//!
//! Everything is written per unit of rest density. With V0 the volume of a
//! particle, rho_i/rho0_i its relative density, g_ij = V0 grad W_ij,
//! B_i = sum_k V_k grad W_ik over boundary samples and G_i = sum_j g_ij + B_i,
//! the unknowns kappa_i = p_i (rho0_i/rho_i)² give
//!
//! - the pressure acceleration a_i = -(1/rho0_i) (G_i kappa_i + sum_j g_ij kappa_j),
//! - the rate of the relative density G_i.v_i - sum_j g_ij.v_j,
//! - the diagonal of their product, -dt D_i with
//!   D_i = |G_i|²/rho0_i + sum_j |g_ij|²/rho0_j.
//!
//! For one fluid these are the reference's equations divided by rho0, and G, D
//! and the list hold nothing that depends on dt.

use super::FluidWorld;
use super::packed::Packed;
use crate::solver::neighbors::{NeighborChunk, NeighborLists};
use crate::solver::parallel::{CHUNK, Threads, for_each_chunk, ordered_sum};
use crate::solver::vector::Vector;

/// D h² rho0 (rho0/rho)² below which a particle has no neighbours to push against: the
/// reference's |a_ii| <= 1e-6 in its scene, without the scale.
const SMALLEST_DIAGONAL: f32 = 2e-6;

/// Neighbours below which the divergence solve leaves a particle alone: in
/// spray there is nothing to be free of divergence.
const SPARSE_NEIGHBORS: u32 = 7;

/// Buffers of a solve, kept so that a step allocates nothing.
#[derive(Debug, Default)]
pub(super) struct Workspace<V> {
    kappa: Vec<f32>,
    source: Vec<f32>,
    pressure_accelerations: Vec<V>,
    /// Sum of one quantity per chunk.
    partial: Vec<f64>,
}

/// When a solve stops.
struct Stopping {
    tolerance: f32,
    min_iterations: u32,
    max_iterations: u32,
    /// Particles with fewer neighbours get no pressure.
    min_neighbors: u32,
}

/// Rate of the relative density by the velocities (or accelerations) `u`, in 1/s.
#[inline(always)]
fn rate<V: Vector>(
    chunk: &NeighborChunk<V>,
    local: usize,
    gradient_sum: V,
    own: V,
    u: &[V],
) -> f32 {
    let mut sum = gradient_sum.dot(own);
    for (j, gradient) in chunk.fluid_gradients(local) {
        sum -= gradient.dot(u[j]);
    }
    sum
}

/// Gradients, densities and diagonal of all particles, from positions alone.
pub(super) fn densities<V: Vector>(world: &mut FluidWorld<V>, threads: Threads) {
    let FluidWorld { settings, kernel, particles, neighbors, boundary, .. } = world;
    let kernel = *kernel;
    let volume = settings.spacing().powi(V::DIM as i32);
    let (positions, places) = (&particles.positions, &particles.places);
    let (lightness, boundary) = (&particles.lightness, &*boundary);
    let chunks = neighbors
        .chunks_mut()
        .iter_mut()
        .zip(particles.densities.chunks_mut(CHUNK))
        .zip(particles.gradient_sums.chunks_mut(CHUNK))
        .zip(particles.diagonals.chunks_mut(CHUNK))
        .zip(particles.neighbor_counts.chunks_mut(CHUNK))
        .enumerate();
    for_each_chunk(threads, chunks, |(index, ((((chunk, density), sum), diagonal), count))| {
        let mut gradients = core::mem::take(&mut chunk.gradients);
        gradients.clear();
        for local in 0..density.len() {
            let i = index * CHUNK + local;
            let x = positions[i];
            let mut weights = kernel.center();
            let mut gradient_sum = V::ZERO;
            let mut squares = 0.0;
            for &j in chunk.fluid(local) {
                let j = j as usize;
                let offset = x - positions[j];
                weights += kernel.value(offset.length_squared());
                let gradient = kernel.pair_gradient(offset, places[i], places[j]) * volume;
                gradient_sum += gradient;
                squares += gradient.length_squared() * lightness[j];
                gradients.push(gradient);
            }
            let mut relative = weights * volume;
            for &k in chunk.boundary(local) {
                let k = k as usize;
                let offset = x - boundary.positions()[k];
                relative += boundary.volumes()[k] * kernel.value(offset.length_squared());
                let gradient = kernel.pair_gradient(offset, places[i], u32::MAX - k as u32);
                gradient_sum += gradient * boundary.volumes()[k];
            }
            density[local] = relative;
            sum[local] = gradient_sum;
            diagonal[local] = gradient_sum.length_squared() * lightness[i] + squares;
            count[local] = (chunk.fluid(local).len() + chunk.boundary(local).len()) as u32;
        }
        chunk.gradients = gradients;
    });
}

/// Applies the accelerations, then the pressure that keeps the density of the
/// end of the step from exceeding the rest density.
pub(super) fn density_solve<V: Vector>(world: &mut FluidWorld<V>, dt: f32, threads: Threads) {
    let FluidWorld { settings, particles, neighbors, workspace, .. } = world;
    for (velocity, acceleration) in particles.velocities.iter_mut().zip(&particles.accelerations) {
        *velocity += *acceleration * dt;
    }
    let warm = settings.dfsph.warm_start / (dt * dt);
    // What is compressed already comes apart over several steps; what would be
    // compressed in this one is always held.
    let most = 1.0 + settings.dfsph.max_correction;
    let source = |density: f32, rate: f32| (1.0 - (density.min(most) + dt * rate)) / dt;
    workspace.begin(particles, neighbors, &particles.density_impulses, warm, source, threads);
    let stopping = Stopping {
        tolerance: settings.dfsph.max_density_error,
        min_iterations: settings.dfsph.min_density_iterations,
        max_iterations: settings.dfsph.max_density_iterations,
        min_neighbors: 0,
    };
    let (iterations, error) = jacobi(world, &stopping, dt, threads);
    world.stats.density_iterations = iterations;
    world.stats.density_error = error;
    let FluidWorld { particles, workspace, .. } = world;
    workspace.keep(&particles.densities, dt * dt, &mut particles.density_impulses);
}

/// Applies the pressure that keeps the velocities from raising the density.
pub(super) fn divergence_solve<V: Vector>(world: &mut FluidWorld<V>, dt: f32, threads: Threads) {
    let FluidWorld { settings, particles, neighbors, workspace, .. } = world;
    let warm = settings.dfsph.warm_start / dt;
    let source = |_: f32, rate: f32| -rate;
    workspace.begin(particles, neighbors, &particles.divergence_impulses, warm, source, threads);
    let stopping = Stopping {
        tolerance: settings.dfsph.max_divergence_error,
        min_iterations: settings.dfsph.min_divergence_iterations,
        max_iterations: settings.dfsph.max_divergence_iterations,
        min_neighbors: SPARSE_NEIGHBORS,
    };
    let (iterations, error) = jacobi(world, &stopping, dt, threads);
    world.stats.divergence_iterations = iterations;
    world.stats.divergence_error = error;
    let FluidWorld { particles, workspace, .. } = world;
    workspace.keep(&particles.densities, dt, &mut particles.divergence_impulses);
}

impl<V: Vector> Workspace<V> {
    /// Sets the unknowns to `warm` times the last solve's pressure impulses,
    /// and the right-hand side to `source` of density and its rate.
    fn begin(
        &mut self,
        particles: &Packed<V>,
        neighbors: &NeighborLists<V>,
        impulses: &[f32],
        warm: f32,
        source: impl Fn(f32, f32) -> f32 + Sync,
        threads: Threads,
    ) {
        let len = particles.positions.len();
        self.kappa.resize(len, 0.0);
        self.source.resize(len, 0.0);
        self.pressure_accelerations.resize(len, V::ZERO);
        self.partial.resize(len.div_ceil(CHUNK), 0.0);
        let (densities, velocities) = (&particles.densities, &particles.velocities);
        let gradient_sums = &particles.gradient_sums;
        let chunks = self
            .source
            .chunks_mut(CHUNK)
            .zip(self.kappa.chunks_mut(CHUNK))
            .zip(neighbors.chunks())
            .enumerate();
        for_each_chunk(threads, chunks, |(index, ((sources, kappa), chunk))| {
            for local in 0..sources.len() {
                let i = index * CHUNK + local;
                let rate = rate(chunk, local, gradient_sums[i], velocities[i], velocities);
                sources[local] = source(densities[i], rate);
                kappa[local] = impulses[i] * warm / (densities[i] * densities[i]);
            }
        });
    }

    /// Keeps the pressures, times `scale`, for the next warm start.
    fn keep(&self, densities: &[f32], scale: f32, impulses: &mut [f32]) {
        let pressures = self.kappa.iter().zip(densities);
        for (impulse, (kappa, density)) in impulses.iter_mut().zip(pressures) {
            *impulse = kappa * density * density * scale;
        }
    }
}

/// Relaxed Jacobi iterations on the pressures, clamped at zero. Changes the
/// velocities by the accelerations of the last iteration's start, as the
/// reference does. Returns the iterations and the mean error they stopped at.
fn jacobi<V: Vector>(
    world: &mut FluidWorld<V>,
    stopping: &Stopping,
    dt: f32,
    threads: Threads,
) -> (u32, f32) {
    let FluidWorld { settings, particles, neighbors, workspace, .. } = world;
    let count = particles.positions.len();
    if count == 0 {
        return (0, 0.0);
    }
    let relaxation = settings.dfsph.relaxation;
    let support_squared = settings.support_radius() * settings.support_radius();
    let Workspace { kappa, source, pressure_accelerations, partial } = workspace;
    let (gradient_sums, lightness) = (&particles.gradient_sums, &particles.lightness);
    let densities = &particles.densities;
    let (diagonals, counts) = (&particles.diagonals, &particles.neighbor_counts);
    let mut iterations = 0;
    let error = loop {
        let pressures = &*kappa;
        let chunks = pressure_accelerations.chunks_mut(CHUNK).zip(neighbors.chunks()).enumerate();
        for_each_chunk(threads, chunks, |(index, (accelerations, chunk))| {
            for (local, acceleration) in accelerations.iter_mut().enumerate() {
                let i = index * CHUNK + local;
                let mut sum = gradient_sums[i] * pressures[i];
                for (j, gradient) in chunk.fluid_gradients(local) {
                    sum += gradient * pressures[j];
                }
                *acceleration = sum * -lightness[i];
            }
        });

        let accelerations = &*pressure_accelerations;
        let sources = &*source;
        let chunks =
            kappa.chunks_mut(CHUNK).zip(partial.iter_mut()).zip(neighbors.chunks()).enumerate();
        for_each_chunk(threads, chunks, |(index, ((kappa, partial), chunk))| {
            let mut excess = 0.0f64;
            for (local, kappa) in kappa.iter_mut().enumerate() {
                let i = index * CHUNK + local;
                let change =
                    dt * rate(chunk, local, gradient_sums[i], accelerations[i], accelerations);
                let residual = sources[i] - change;
                let diagonal = diagonals[i];
                let smallest = SMALLEST_DIAGONAL * lightness[i] * densities[i] * densities[i];
                let alone =
                    diagonal * support_squared <= smallest || counts[i] < stopping.min_neighbors;
                *kappa = if alone {
                    0.0
                } else {
                    (*kappa - relaxation * residual / (dt * diagonal)).max(0.0)
                };
                excess -= f64::from(residual.min(0.0));
            }
            *partial = excess;
        });
        iterations += 1;
        let error = (ordered_sum(partial) * f64::from(dt) / count as f64) as f32;
        let unfinished = error > stopping.tolerance && iterations < stopping.max_iterations;
        if !unfinished && iterations >= stopping.min_iterations {
            break error;
        }
    };
    for (velocity, acceleration) in particles.velocities.iter_mut().zip(pressure_accelerations) {
        *velocity += *acceleration * dt;
    }
    (iterations, error)
}
