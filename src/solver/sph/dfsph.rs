//! Divergence-free SPH (Bender & Koschier 2015, 2017): the constant-density
//! solve and the divergence-free solve.
//!
//! What the two solves share, the system of equations and its solvers, is in
//! [`pressure`](super::pressure).

use super::FluidWorld;
use super::packed::Packed;
use super::pressure::{SolveReport, Stopping};
use crate::solver::parallel::Threads;
use crate::solver::settings::NegativePressure;
use crate::solver::vector::Vector;

/// Time in seconds that the compression left by WCSPH is given to come apart.
pub(super) const TRANSITION: f32 = 0.5;

/// Rate in 1/s at which it does: water a metre deep rises by 0.1 m/s.
const TRANSITION_RATE: f32 = 0.1;

/// Time in seconds over which fresh water loses the compression that it may
/// keep at first.
pub(super) const SETTLING: f32 = 0.5;

/// Neighbours below which the divergence solve leaves a particle alone: in
/// spray there is nothing to be free of divergence.
pub(super) const SPARSE_NEIGHBORS: u32 = 7;

/// Applies the pressure that keeps the density of the end of the step from
/// exceeding the rest density.
pub(super) fn density_solve<V: Vector>(
    world: &mut FluidWorld<V>,
    dt: f32,
    threads: Threads,
) -> SolveReport {
    // A correction is a velocity, its error times the height of the water over a
    // step: the little by which a lattice does not fit would throw a column up.
    let fresh = |impulse: &f32| *impulse == 0.0;
    let Packed { density_impulses, divergence_impulses, .. } = &world.particles;
    if density_impulses.iter().chain(divergence_impulses).all(fresh) {
        world.settling = SETTLING;
    }
    let dfsph = &world.settings.dfsph;
    // Where pressure can pull nothing is thrown.
    let slack = match dfsph.negative_pressure {
        NegativePressure::Clamped => dfsph.initial_compression * (world.settling / SETTLING),
        NegativePressure::Allowed => 0.0,
    };
    world.settling = (world.settling - dt).max(0.0);
    // Not `clamp`, which would compare the ends for each particle.
    let settled = move |density: f32| density - (density - 1.0).max(0.0).min(slack);
    // What is compressed already comes apart over several steps; what would be
    // compressed in this one is always held.
    let mut most = 1.0 + dfsph.max_correction;
    if world.transition > 0.0 {
        world.transition = (world.transition - dt).max(0.0);
        most = most.min(1.0 + TRANSITION_RATE * dt);
    }
    // What was stretched comes together as gently, where pressure can pull.
    let least = match dfsph.negative_pressure {
        NegativePressure::Clamped => 0.0,
        NegativePressure::Allowed => 1.0 - dfsph.max_correction,
    };
    let limited = move |density: f32| settled(density).min(most).max(least);
    let stopping = Stopping {
        tolerance: dfsph.max_density_error,
        min_iterations: dfsph.min_density_iterations,
        max_iterations: dfsph.max_density_iterations,
        min_neighbors: 0,
    };
    if world.corrects_positions() {
        return world.solve_velocities_and_positions(limited, &stopping, dt, threads);
    }
    let source = move |density: f32, rate: f32| (1.0 - (limited(density) + dt * rate)) / dt;
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
