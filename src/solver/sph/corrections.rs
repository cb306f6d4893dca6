//! Corrections of positions that leave the velocities alone.

use super::FluidWorld;
use super::packed::Packed;
use super::pressure::{SolveReport, Stopping, Workspace};
use crate::solver::parallel::{Threads, chunks, chunks_mut, for_each_chunk};
use crate::solver::settings::{DensityCorrection, FluidMethod, NegativePressure};
use crate::solver::vector::Vector;

/// Part of what is compressed already that the velocities see in a step, where
/// pressure does not pull: without it, what the tolerance of their solve lets
/// water sink in a step would never be found out.
const FEEDBACK: f32 = 0.05;

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
        // What the velocities see of an error they are to be as exact as.
        let (feedback, tolerance) = if pulls {
            (0.0, dfsph.max_divergence_error)
        } else {
            (FEEDBACK, dfsph.max_divergence_error.min(FEEDBACK * dfsph.max_density_error))
        };
        let for_velocities = Stopping {
            tolerance,
            min_iterations: dfsph.min_divergence_iterations,
            max_iterations: dfsph.max_divergence_iterations,
            min_neighbors: 0,
        };
        let source = |density: f32, rate: f32| {
            let excess = limited(density) - 1.0;
            // What is too thin may come together.
            let seen = if excess > 0.0 || pulls { feedback * excess } else { excess };
            -seen / dt - rate
        };
        let mut impulses = core::mem::take(&mut self.particles.density_impulses);
        let report =
            self.solve_pressure(&mut impulses, dt * dt, source, &for_velocities, dt, threads);
        self.particles.density_impulses = impulses;
        self.stats.divergence_iterations = report.iterations;
        self.stats.divergence_error = report.error;
        self.stats.applications += report.applications;

        // What positions are corrected by is no pressure of the water.
        let mut none = core::mem::take(&mut self.particles.divergence_impulses);
        none.fill(0.0);
        let source = |density: f32, rate: f32| (1.0 - limited(density)) / dt - rate;
        let report = self.find_pressure(&none, dt * dt, source, stopping, dt, threads);
        self.particles.divergence_impulses = none;
        self.set_corrections(
            if pulls { SHIFTING * self.settings.spacing() } else { 0.0 },
            dt,
            threads,
        );
        report
    }

    /// Turns the pressure accelerations of the workspace into velocities to move by
    /// beside the particles' own, less `shift` metres times the speed times the gradient
    /// of the concentration.
    fn set_corrections(&mut self, shift: f32, dt: f32, threads: Threads) {
        let FluidWorld { particles, workspace, .. } = self;
        let Packed { velocities, gradient_sums, .. } = particles;
        let Workspace { vectors, .. } = workspace;
        let parts = (chunks_mut(vectors), chunks(velocities), chunks(gradient_sums));
        for_each_chunk(threads, parts, |(corrections, velocities, gradient_sums)| {
            for (local, correction) in corrections.iter_mut().enumerate() {
                let spread = gradient_sums[local] * (shift * velocities[local].length());
                *correction = (V::narrow(*correction) * dt - spread).widen();
            }
        });
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
