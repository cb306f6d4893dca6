//! Corrections of positions that leave the velocities alone.

use super::FluidWorld;
use super::gauss_seidel::Corrections;
use super::packed::Packed;
use super::pressure::{SolveReport, Stopping, Workspace};
use crate::solver::parallel::{Threads, chunks, chunks_mut, for_each_chunk};
use crate::solver::settings::{DensityCorrection, FluidMethod, NegativePressure};
use crate::solver::vector::Vector;

/// Part of what is compressed already that the velocities see in a step, where
/// pressure does not pull: without it, what the tolerance of their solve lets
/// water sink in a step would never be found out.
const FEEDBACK: f32 = 0.05;

/// Compression over the tolerance of the density beyond which the velocities see all of it:
/// errors that are small on average can be large at the floor of deep water, and
/// positions alone can make up for them more slowly than it sinks. Below, a lattice
/// 0.1 % too tight would throw up a dam.
const UNSEEN: f32 = 2.0;

/// Tolerance of the velocities over that of the density, where pressure does not pull.
const CLOSENESS: f32 = 0.5;

/// Most of the last step's pressures that the solve for positions starts from: they are
/// to vanish as soon as the densities are right.
const WARM_START: f32 = 0.5;

/// Strength of the shift that spreads particles evenly, the A of Skillen et al. 2013.
const SHIFTING: f32 = 2.0;

impl<V: Vector> FluidWorld<V> {
    /// Whether DFSPH corrects densities by the positions.
    pub(super) fn corrects_positions(&self) -> bool {
        self.settings.method == FluidMethod::Dfsph
            && self.settings.dfsph.density_correction == DensityCorrection::Positions
    }

    /// Applies the pressure that keeps the velocities from compressing the
    /// water, and finds by which velocities beside them the particles are to move
    /// for their densities to be right after the step (Cornelis et al. 2019).
    ///
    /// `limited` is the density over the rest density with what is not to be
    /// corrected in one step left out.
    pub(super) fn solve_velocities_and_positions(
        &mut self,
        limited: impl Fn(f32) -> f32 + Sync,
        stopping: &Stopping,
        dt: f32,
        threads: Threads,
    ) -> SolveReport {
        let dfsph = &self.settings.dfsph;
        let pulls = dfsph.negative_pressure == NegativePressure::Allowed;
        let (feedback, tolerance) = if pulls {
            (0.0, dfsph.max_divergence_error)
        } else {
            (FEEDBACK, dfsph.max_divergence_error.min(CLOSENESS * dfsph.max_density_error))
        };
        let unseen = (1.0 - feedback) * UNSEEN * dfsph.max_density_error;
        let for_velocities = Stopping {
            tolerance,
            min_iterations: dfsph.min_divergence_iterations,
            max_iterations: dfsph.max_divergence_iterations,
            min_neighbors: 0,
        };
        let source = |density: f32, rate: f32| {
            let excess = limited(density) - 1.0;
            // What is too thin may come together.
            let seen = match excess {
                _ if pulls => feedback * excess,
                0.0.. => (feedback * excess).max(excess - unseen),
                _ => excess,
            };
            -seen / dt - rate
        };
        let calm = self.corrections.at_once;
        self.corrections = Corrections { at_once: true, between: true };
        let mut impulses = core::mem::take(&mut self.particles.density_impulses);
        let report =
            self.solve_pressure(&mut impulses, dt * dt, source, &for_velocities, dt, threads);
        self.particles.density_impulses = impulses;
        self.stats.divergence_iterations = report.iterations;
        self.stats.divergence_error = report.error;
        self.stats.applications += report.applications;

        self.corrections.at_once = calm;
        // What positions are corrected by is no pressure of the water.
        let impulses = core::mem::take(&mut self.particles.divergence_impulses);
        let source = |density: f32, rate: f32| (1.0 - limited(density)) / dt - rate;
        let weaker = (self.settings.dfsph.warm_start / WARM_START).max(1.0);
        let report = self.find_pressure(&impulses, dt * weaker, source, stopping, dt, threads);
        self.particles.divergence_impulses = impulses;
        self.set_corrections(
            if pulls { SHIFTING * self.settings.spacing() } else { 0.0 },
            dt,
            threads,
        );
        report
    }

    /// Turns the pressure accelerations of the workspace into velocities to move by
    /// beside the particles' own, less `shift` metres times the speed times the gradient
    /// of the concentration, and keeps the pressures times `dt` for the next step.
    fn set_corrections(&mut self, shift: f32, dt: f32, threads: Threads) {
        let FluidWorld { particles, workspace, .. } = self;
        let Packed { velocities, gradient_sums, densities, divergence_impulses, .. } = particles;
        let Workspace { vectors, kappa, .. } = workspace;
        let parts = (
            chunks_mut(vectors),
            chunks_mut(divergence_impulses),
            chunks(velocities),
            chunks(gradient_sums),
            chunks(densities),
            chunks(kappa),
        );
        for_each_chunk(
            threads,
            parts,
            |(vectors, impulses, velocities, sums, densities, kappa)| {
                for (local, correction) in vectors.iter_mut().enumerate() {
                    let spread = sums[local] * (shift * velocities[local].length());
                    *correction = (V::narrow(*correction) * dt - spread).widen();
                    impulses[local] = kappa[local] * densities[local] * densities[local] * dt;
                }
            },
        );
        self.corrected = true;
    }

    /// Calls `work` with the corrections, if there are any, added to the velocities.
    pub(super) fn with_corrections(&mut self, threads: Threads, work: impl FnOnce(&mut Self)) {
        // Particles that were edited since are not those that they were found for.
        let corrected = core::mem::take(&mut self.corrected) && self.fresh;
        if corrected {
            self.add_corrections(1.0, threads);
        }
        work(self);
        if corrected {
            self.add_corrections(-1.0, threads);
        }
    }

    fn add_corrections(&mut self, factor: f32, threads: Threads) {
        let velocities = chunks_mut(&mut self.particles.velocities);
        let parts = (velocities, chunks(&self.workspace.vectors));
        for_each_chunk(threads, parts, |(velocities, corrections)| {
            for (velocity, &correction) in velocities.iter_mut().zip(corrections) {
                *velocity += V::narrow(correction) * factor;
            }
        });
    }
}
