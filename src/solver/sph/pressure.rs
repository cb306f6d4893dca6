//! The system of equations behind both solves of DFSPH. Its solvers are in
//! [`jacobi`](super::jacobi) and [`gauss_seidel`](super::gauss_seidel).
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
//! and the list hold nothing that depends on dt. A solver looks for kappa >= 0
//! such that dt times the rate of a equals the source, or exceeds it where kappa = 0;
//! where negative pressures are allowed, for any kappa such that it equals it.

use super::depth::Sums;
use super::packed::Packed;
use super::{FluidWorld, mixed};
use crate::solver::grid::CellGrid;
use crate::solver::neighbors::{NeighborLists, sums};
use crate::solver::parallel::{
    CHUNK, Threads, chunks, chunks_mut, for_each_chunk, ordered_sum, sum,
};
use crate::solver::settings::{NegativePressure, PressureSolver};
use crate::solver::vector::Vector;

/// D h² rho0 (rho0/rho)² below which a particle has no neighbours to push against: the
/// reference's |a_ii| <= 1e-6 in its scene, without the scale.
const SMALLEST_DIAGONAL: f32 = 2e-6;

/// Buffers of a solve, kept so that a step allocates nothing.
#[derive(Debug, Default)]
pub(super) struct Workspace<V: Vector> {
    pub(super) kappa: Vec<f32>,
    /// Change of the relative density by pressure that is asked for, in 1/s.
    pub(super) source: Vec<f32>,
    /// 1/(dt D), or zero for a particle that gets no pressure.
    pub(super) step: Vec<f32>,
    /// Pressure accelerations.
    pub(super) vectors: Vec<V::Wide>,
    /// Velocities, each with a number beside it, in the form that neighbours' vectors are read
    /// in where it is another.
    pub(super) velocities: Vec<V::Wide>,
    /// Sum of one quantity per chunk or stripe.
    pub(super) partial: Vec<f64>,
    /// What the coarse grid is to make up for, in 1/s².
    pub(super) residual: Vec<f32>,
    pub(super) sums: Vec<Sums>,
}

/// When a solve stops.
pub(super) struct Stopping {
    pub(super) tolerance: f32,
    pub(super) min_iterations: u32,
    pub(super) max_iterations: u32,
    /// Particles with fewer neighbours get no pressure.
    pub(super) min_neighbors: u32,
}

impl Stopping {
    pub(super) fn reached(&self, iterations: u32, error: f32) -> bool {
        let unfinished = error > self.tolerance && iterations < self.max_iterations;
        !unfinished && iterations >= self.min_iterations
    }
}

/// What a solve did.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SolveReport {
    pub(super) iterations: u32,
    /// Applications of the system's operator, those of the iterations included.
    pub(super) applications: f32,
    /// Mean error that it stopped at, as a fraction of the rest density.
    pub(super) error: f32,
    /// Whether sweeps alone take so long that the next solve like it had better start with a
    /// correction on the coarse grid.
    pub(super) slow: bool,
}

impl<V: Vector> Workspace<V> {
    /// Bytes of all buffers.
    pub(super) fn bytes(&self) -> usize {
        4 * (self.kappa.capacity() + self.source.capacity() + self.step.capacity())
            + size_of::<V::Wide>() * (self.vectors.capacity() + self.velocities.capacity())
            + 8 * self.partial.capacity()
            + 4 * self.residual.capacity()
            + size_of::<Sums>() * self.sums.capacity()
    }

    /// A vector for each of `len` particles, of any value.
    pub(super) fn vectors(&mut self, len: usize) -> &mut [V::Wide] {
        self.vectors.resize(len, V::Wide::default());
        &mut self.vectors
    }

    /// The inverse of the relative densities, none of them below `least`, in place of
    /// the steps of a solve.
    pub(super) fn inverse_densities(
        &mut self,
        particles: &Packed<V>,
        least: f32,
        threads: Threads,
    ) -> &mut [f32] {
        self.step.resize(particles.densities.len(), 0.0);
        let parts = (chunks_mut(&mut self.step), chunks(&particles.densities));
        for_each_chunk(threads, parts, |(inverse, densities)| {
            for (inverse, density) in inverse.iter_mut().zip(densities) {
                *inverse = 1.0 / density.max(least);
            }
        });
        &mut self.step
    }
}

impl<V: Vector> FluidWorld<V> {
    /// Finds the pressures that change the relative density by `source`, a
    /// function of the relative density and its rate, in `dt`, and applies
    /// them. Starts from, and leaves, the pressures times `scale` in `impulses`.
    pub(super) fn solve_pressure(
        &mut self,
        impulses: &mut [f32],
        scale: f32,
        source: impl Fn(f32, f32) -> f32 + Copy + Sync,
        stopping: &Stopping,
        dt: f32,
        threads: Threads,
    ) -> SolveReport {
        let report = self.find_pressure(impulses, scale, source, stopping, dt, threads);
        self.apply_pressure(impulses, scale, dt, threads);
        report
    }

    /// Like [`Self::solve_pressure`], but leaves the pressures and their
    /// accelerations in the workspace.
    pub(super) fn find_pressure(
        &mut self,
        impulses: &[f32],
        scale: f32,
        source: impl Fn(f32, f32) -> f32 + Copy + Sync,
        stopping: &Stopping,
        dt: f32,
        threads: Threads,
    ) -> SolveReport {
        let FluidWorld { settings, particles, neighbors, workspace, grid, .. } = self;
        if particles.positions.is_empty() {
            return SolveReport::default();
        }
        let warm = settings.dfsph.warm_start / scale;
        let support = settings.support_radius();
        let floor = settings.dfsph.negative_pressure.floor();
        let endless = settings.periodic.x.is_some();
        let fluid = self.ids.len();
        let mut system =
            System { particles, neighbors, grid, workspace, dt, threads, floor, fluid, endless };
        let isolate = settings.dfsph.solver != PressureSolver::Jacobi;
        let min_neighbors = stopping.min_neighbors;
        system.begin(impulses, warm, source, support * support, min_neighbors, isolate);
        self.add_wall_sources(threads);
        self.remove_mean_source(threads);
        let FluidWorld { settings, particles, neighbors, workspace, grid, coarse, bodies, .. } =
            self;
        let mut system =
            System { particles, neighbors, grid, workspace, dt, threads, floor, fluid, endless };
        match settings.dfsph.solver {
            PressureSolver::Jacobi => system.jacobi(settings.dfsph.relaxation, stopping),
            PressureSolver::GaussSeidel | PressureSolver::TwoLevel => {
                let coarse = settings.has_coarse_grid().then_some(coarse);
                let relaxation = settings.dfsph.over_relaxation;
                system.sweeps(coarse, self.corrections, mixed(bodies), relaxation, stopping)
            }
        }
    }

    /// Takes the mean off the right-hand side in a world that is endless along
    /// every axis and has no surface, as where negative pressures are allowed:
    /// no pressure can change the mean density there, and a lattice that sums up
    /// to a little more than the rest density is no error.
    fn remove_mean_source(&mut self, threads: Threads) {
        let pulls = self.settings.dfsph.negative_pressure == NegativePressure::Allowed;
        if !pulls || !self.settings.periodic.is_everywhere(V::DIM) {
            return;
        }
        let Workspace { source, partial, .. } = &mut self.workspace;
        partial.resize(source.len().div_ceil(CHUNK), 0.0);
        for_each_chunk(threads, (chunks(source), &mut partial[..]), |(source, partial)| {
            *partial = sum(source);
        });
        let mean = (ordered_sum(partial) / source.len() as f64) as f32;
        for_each_chunk(threads, chunks_mut(source), |source| {
            source.iter_mut().for_each(|source| *source -= mean);
        });
    }

    /// Applies the non-pressure accelerations of the step.
    pub(super) fn apply_accelerations(&mut self, dt: f32, threads: Threads) {
        let Packed { velocities, accelerations, .. } = &mut self.particles;
        let parts = (chunks_mut(velocities), chunks(accelerations));
        for_each_chunk(threads, parts, |(velocities, accelerations)| {
            for (velocity, &acceleration) in velocities.iter_mut().zip(accelerations) {
                *velocity += acceleration * dt;
            }
        });
    }

    /// Applies the pressure accelerations of the workspace, and leaves its
    /// pressures times `scale` in `impulses`.
    pub(super) fn apply_pressure(
        &mut self,
        impulses: &mut [f32],
        scale: f32,
        dt: f32,
        threads: Threads,
    ) {
        self.push_membranes(dt);
        let FluidWorld { particles, workspace, .. } = self;
        let Workspace { kappa, vectors, .. } = workspace;
        let parts = (
            chunks_mut(&mut particles.velocities),
            chunks_mut(impulses),
            chunks(&particles.densities),
            chunks(kappa),
            chunks(vectors),
        );
        for_each_chunk(threads, parts, |(velocities, impulses, densities, kappa, a)| {
            for local in 0..velocities.len() {
                velocities[local] += V::narrow(a[local]) * dt;
                impulses[local] = kappa[local] * densities[local] * densities[local] * scale;
            }
        });
    }
}

/// A number, or zero.
#[inline(always)]
fn zero_if(zero: bool, value: f32) -> f32 {
    f32::from_bits(value.to_bits() & u32::from(zero).wrapping_sub(1))
}

/// One solve's system of equations.
pub(super) struct System<'a, V: Vector> {
    pub(super) particles: &'a Packed<V>,
    pub(super) neighbors: &'a NeighborLists<V>,
    pub(super) grid: &'a CellGrid,
    pub(super) workspace: &'a mut Workspace<V>,
    pub(super) dt: f32,
    pub(super) threads: Threads<'a>,
    /// Least value of the unknowns: zero, or minus infinity where pressures may
    /// be negative.
    pub(super) floor: f32,
    /// Places of fluid particles are below; those of samples of membranes are not.
    pub(super) fluid: usize,
    /// Whether the slow axis of the grid has periodic borders, across which
    /// stripes reach each other.
    pub(super) endless: bool,
}

impl<V: Vector> System<'_, V> {
    /// Sets the unknowns to `warm` times the last solve's `impulses`, the accelerations to
    /// theirs, and the right-hand side to `source` of density and its rate. Particles with
    /// less than `min_neighbors`, and samples of membranes, get no pressure; what the former
    /// have from the last solve they lose at once if `isolate`, else with the first change.
    fn begin(
        &mut self,
        impulses: &[f32],
        warm: f32,
        source: impl Fn(f32, f32) -> f32 + Copy + Sync,
        support_squared: f32,
        min_neighbors: u32,
        isolate: bool,
    ) {
        let Workspace { kappa, source: sources, step, vectors, velocities, .. } =
            &mut *self.workspace;
        let Packed { densities, gradient_sums, diagonals, lightness, neighbor_counts, .. } =
            self.particles;
        let len = densities.len();
        kappa.resize(len, 0.0);
        sources.resize(len, 0.0);
        step.resize(len, 0.0);
        vectors.resize(len, V::Wide::default());
        let (dt, fluid) = (self.dt, self.fluid as u32);
        let parts = (
            chunks_mut(kappa),
            chunks_mut(step),
            chunks(densities),
            chunks(diagonals),
            chunks(lightness),
            chunks(neighbor_counts),
            chunks(&self.particles.places),
            chunks(impulses),
        );
        for_each_chunk(self.threads, parts, move |part| {
            let (kappa, step, densities, diagonals, lightness, counts, places, impulses) = part;
            let count = kappa.len();
            let (step, densities, diagonals) =
                (&mut step[..count], &densities[..count], &diagonals[..count]);
            let (lightness, counts) = (&lightness[..count], &counts[..count]);
            let (places, impulses) = (&places[..count], &impulses[..count]);
            for local in 0..count {
                let squared = densities[local] * densities[local];
                let smallest = SMALLEST_DIAGONAL * lightness[local] * squared;
                let membrane = places[local] >= fluid;
                let alone = (diagonals[local] * support_squared <= smallest)
                    | (counts[local] < min_neighbors)
                    | membrane;
                let none = membrane | (alone & isolate);
                // Without branches, which would keep the loop from being done by fours.
                step[local] = zero_if(alone, 1.0 / (dt * diagonals[local]));
                kappa[local] = zero_if(none, impulses[local] * warm / squared);
            }
        });
        let pressures = &**kappa;
        let velocities =
            V::widen_all(&self.particles.velocities, pressures, velocities, self.threads);
        let parts = (
            chunks_mut(sources),
            chunks_mut(vectors),
            chunks(&self.particles.velocities),
            chunks(pressures),
            chunks(densities),
            chunks(gradient_sums),
            chunks(lightness),
            self.neighbors.chunks(),
        );
        for_each_chunk(self.threads, parts, |part| {
            let (sources, accelerations, own, kappa, densities, gradient_sums, lightness, chunk) =
                part;
            // What it holds is read once, not for each particle.
            let wanted = source;
            sums::sum_both(chunk, velocities, pressures, sources, accelerations);
            let count = sources.len();
            let (accelerations, own) = (&mut accelerations[..count], &own[..count]);
            let (kappa, densities) = (&kappa[..count], &densities[..count]);
            let (gradient_sums, lightness) = (&gradient_sums[..count], &lightness[..count]);
            for local in 0..count {
                let rate = gradient_sums[local].dot(own[local]) - sources[local];
                sources[local] = wanted(densities[local], rate);
                let sum = gradient_sums[local] * kappa[local] + V::narrow(accelerations[local]);
                accelerations[local] = (sum * -lightness[local]).widen();
            }
        });
    }

    /// Sets the unknowns to a function of the relative density and 1/rho0.
    pub(super) fn set(&mut self, kappa: impl Fn(f32, f32) -> f32 + Sync) {
        let Packed { densities, lightness, .. } = self.particles;
        let unknowns = &mut self.workspace.kappa;
        unknowns.resize(densities.len(), 0.0);
        let parts = (chunks_mut(unknowns), chunks(densities), chunks(lightness));
        for_each_chunk(self.threads, parts, |(unknowns, densities, lightness)| {
            for (local, unknown) in unknowns.iter_mut().enumerate() {
                *unknown = kappa(densities[local], lightness[local]);
            }
        });
    }

    /// Sets the pressure accelerations to those of the present unknowns.
    pub(super) fn accelerate(&mut self) {
        let Workspace { kappa, vectors, .. } = &mut *self.workspace;
        let Packed { gradient_sums, lightness, .. } = self.particles;
        let pressures = &**kappa;
        let parts = (
            chunks_mut(vectors),
            chunks(pressures),
            chunks(gradient_sums),
            chunks(lightness),
            self.neighbors.chunks(),
        );
        for_each_chunk(self.threads, parts, |part| {
            let (accelerations, kappa, gradient_sums, lightness, chunk) = part;
            sums::sum_scaled(chunk, pressures, accelerations);
            let sums = accelerations.iter_mut().zip(gradient_sums).zip(kappa.iter().zip(lightness));
            for ((acceleration, &gradient_sum), (&kappa, &lightness)) in sums {
                let sum = gradient_sum * kappa + V::narrow(*acceleration);
                *acceleration = (sum * -lightness).widen();
            }
        });
    }
}
