//! Divergence-free SPH (Bender & Koschier 2015, 2017): the density of every
//! neighbourhood, the constant-density solve and the divergence-free solve.
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

/// Distances and kernel values of one particle's neighbours.
struct Scratch<V> {
    offsets: Vec<V>,
    squared: Vec<f32>,
    slopes: Vec<f32>,
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
        let mut weights = core::mem::take(&mut chunk.weights);
        gradients.clear();
        weights.clear();
        let mut scratch = Scratch { offsets: Vec::new(), squared: Vec::new(), slopes: Vec::new() };
        for local in 0..density.len() {
            let i = index * CHUNK + local;
            let x = positions[i];
            let fluid = chunk.fluid(local);
            let offsets = fluid.iter().map(|&j| x - positions[j as usize]);
            let Scratch { offsets: kept, squared, slopes } = &mut scratch;
            kept.clear();
            kept.extend(offsets);
            squared.clear();
            squared.extend(kept.iter().map(|offset| offset.length_squared()));
            slopes.resize(squared.len(), 0.0);
            let start = weights.len();
            weights.resize(start + squared.len().next_multiple_of(V::WIDTH), 0.0);
            let own = &mut weights[start..start + squared.len()];
            let mut nearest = f32::INFINITY;
            for ((&squared, weight), slope) in squared.iter().zip(own.iter_mut()).zip(slopes.iter_mut()) {
                (*weight, *slope) = kernel.value_and_factor(squared);
                *weight *= volume;
                *slope *= volume;
                nearest = if squared < nearest { squared } else { nearest };
            }
            for (offset, &slope) in kept.iter_mut().zip(slopes.iter()) {
                *offset *= slope;
            }
            if kernel.is_coincident(nearest) {
                for ((offset, &squared), &j) in kept.iter_mut().zip(squared.iter()).zip(fluid) {
                    if kernel.is_coincident(squared) {
                        *offset = kernel.coincident_gradient(places[i], places[j as usize]) * volume;
                    }
                }
            }
            let mut relative = kernel.center() * volume;
            let mut gradient_sum = V::ZERO;
            let mut squares = 0.0;
            for ((&gradient, &weight), &j) in kept.iter().zip(own.iter()).zip(fluid) {
                relative += weight;
                gradient_sum += gradient;
                squares += gradient.length_squared() * lightness[j as usize];
            }
            gradients.extend(kept.chunks(V::WIDTH).map(V::bundle));
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
            count[local] = (fluid.len() + chunk.boundary(local).len()) as u32;
        }
        chunk.gradients = gradients;
        chunk.weights = weights;
    });
}

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
