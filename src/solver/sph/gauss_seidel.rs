//! Sweeps of projected Gauss-Seidel with over-relaxation (PSOR, Cryer 1971),
//! on their own or after a correction on the coarse grid.
//!
//! A sweep visits the particles stripe after stripe and passes every change of
//! a pressure on to the accelerations at once. Stripes of one color reach no
//! particle in common, so they can be swept at the same time.

use super::coarse::Coarse;
use super::packed::Packed;
use super::pressure::{SolveReport, Stopping, System, Workspace, rate};
use crate::solver::grid::Stripe;
use crate::solver::neighbors::NeighborLists;
use crate::solver::parallel::{CHUNK, PartsMut, for_each_chunk, ordered_sum};
use crate::solver::vector::Vector;

impl<V: Vector> System<'_, V> {
    /// Gauss-Seidel sweeps, after a correction on the coarse grid if there is one.
    /// `mixed` if the rest densities differ.
    pub(super) fn sweeps(
        &mut self,
        coarse: Option<&mut Coarse<V>>,
        mixed: bool,
        relaxation: f32,
        stopping: &Stopping,
    ) -> SolveReport {
        self.isolate();
        self.accelerate();
        let mut applications = 0.5;
        if let Some(coarse) = coarse {
            self.correct_coarsely(coarse);
            applications += 1.0;
        }
        let report = if mixed {
            self.gauss_seidel::<true>(relaxation, stopping)
        } else {
            self.gauss_seidel::<false>(relaxation, stopping)
        };
        SolveReport { applications: applications + report.applications, ..report }
    }

    /// Sets the pressure of particles that get none to zero.
    fn isolate(&mut self) {
        let Workspace { kappa, step, .. } = &mut *self.workspace;
        let chunks = kappa.chunks_mut(CHUNK).zip(step.chunks(CHUNK));
        for_each_chunk(self.threads, chunks, |(kappa, step)| {
            for (kappa, &step) in kappa.iter_mut().zip(step) {
                *kappa = if step == 0.0 { 0.0 } else { *kappa };
            }
        });
    }

    /// Adds the pressures of the coarse grid that meet what the present ones
    /// leave of the source. Takes one application of the system.
    fn correct_coarsely(&mut self, coarse: &mut Coarse<V>) {
        let (dt, floor) = (self.dt, self.floor);
        let Workspace { kappa, source, step, vectors, residual, .. } = &mut *self.workspace;
        residual.resize(kappa.len(), 0.0);
        let gradient_sums = &self.particles.gradient_sums;
        let accelerations = &*vectors;
        let chunks = residual
            .chunks_mut(CHUNK)
            .zip(kappa.chunks(CHUNK))
            .zip(source.chunks(CHUNK))
            .zip(step.chunks(CHUNK))
            .zip(self.neighbors.chunks())
            .enumerate();
        for_each_chunk(
            self.threads,
            chunks,
            |(index, ((((residual, kappa), source), step), chunk))| {
                for (local, residual) in residual.iter_mut().enumerate() {
                    let i = index * CHUNK + local;
                    let rate = rate(chunk.bundles(local), gradient_sums[i], accelerations, i, 0);
                    let missing = rate - source[local] / dt;
                    // Where there is no pressure and none is asked for, none comes.
                    let active = step[local] > 0.0 && (kappa[local] > floor || missing > 0.0);
                    *residual = if active { missing } else { 0.0 };
                }
            },
        );
        coarse.solve(residual);
        let (coarse, step) = (&*coarse, &*step);
        let chunks = kappa.chunks_mut(CHUNK).zip(residual.chunks(CHUNK)).enumerate();
        for_each_chunk(self.threads, chunks, |(index, (kappa, residual))| {
            for (local, (kappa, &residual)) in kappa.iter_mut().zip(residual).enumerate() {
                let active = step[index * CHUNK + local] > 0.0;
                if active && (*kappa > floor || residual > 0.0) {
                    *kappa = (*kappa + coarse.pressure(index * CHUNK + local)).max(floor);
                }
            }
        });
        self.accelerate();
    }

    /// Sweeps of projected Gauss-Seidel with over-relaxation, in two colors of
    /// stripes. The accelerations follow each change of an unknown.
    ///
    /// `MIXED` if the rest densities differ.
    fn gauss_seidel<const MIXED: bool>(
        &mut self,
        relaxation: f32,
        stopping: &Stopping,
    ) -> SolveReport {
        let count = self.particles.positions.len();
        let Workspace { kappa, source, step, vectors, partial, .. } = &mut *self.workspace;
        let sweep = Sweep {
            particles: self.particles,
            neighbors: self.neighbors,
            source,
            step,
            relaxation,
            dt: self.dt,
            floor: self.floor,
        };
        let mut iterations = 0;
        loop {
            let mut errors = 0.0;
            if self.endless {
                // The first and the last stripe reach each other: one after the other.
                let all = (0, count as u32);
                for stripe in self.grid.stripes() {
                    let own = stripe.own.0 as usize..stripe.own.1 as usize;
                    let stripe = Stripe { reach: all, ..*stripe };
                    errors += sweep.stripe::<MIXED>(&stripe, vectors, &mut kappa[own]);
                }
            }
            for color in 0..if self.endless { 0 } else { 2 } {
                let stripes = self.grid.stripes_of(color);
                partial.resize(stripes.len(), 0.0);
                let reaches = stripes.iter().map(|stripe| stripe.reach);
                let owns = stripes.iter().map(|stripe| stripe.own);
                let parts = PartsMut::new(vectors, reaches)
                    .zip(PartsMut::new(kappa, owns))
                    .zip(partial.iter_mut())
                    .zip(stripes);
                for_each_chunk(self.threads, parts, |(((u, kappa), partial), stripe)| {
                    *partial = sweep.stripe::<MIXED>(stripe, u, kappa);
                });
                errors += ordered_sum(partial);
            }
            iterations += 1;
            let error = (errors * f64::from(self.dt) / count as f64) as f32;
            if stopping.reached(iterations, error) {
                return SolveReport { iterations, applications: iterations as f32, error };
            }
        }
    }
}

/// What a sweep reads.
struct Sweep<'a, V: Vector> {
    particles: &'a Packed<V>,
    neighbors: &'a NeighborLists<V>,
    source: &'a [f32],
    step: &'a [f32],
    relaxation: f32,
    dt: f32,
    floor: f32,
}

impl<V: Vector> Sweep<'_, V> {
    /// Sweeps over the pressures `kappa` of a stripe, `u` being the
    /// accelerations within its reach. Returns the sum of what was left of the
    /// source before each change, in 1/s: both ways under pressure, else only
    /// what asks for it.
    fn stripe<const MIXED: bool>(
        &self,
        stripe: &Stripe,
        u: &mut [V::Wide],
        kappa: &mut [f32],
    ) -> f64 {
        let Packed { gradient_sums, lightness, .. } = self.particles;
        let first = stripe.reach.0 as usize;
        let mut error = 0.0f64;
        for (i, kappa) in (stripe.own.0 as usize..).zip(kappa) {
            let (chunk, local) = self.neighbors.of(i);
            let (list, gradient_sum) = (chunk.bundles(local), gradient_sums[i]);
            let residual = self.source[i] - self.dt * rate(list, gradient_sum, u, i, first);
            if self.step[i] > 0.0 {
                let unmet = if *kappa > self.floor { residual.abs() } else { -residual };
                error += f64::from(unmet.max(0.0));
            }
            let wanted = *kappa - self.relaxation * residual * self.step[i];
            let wanted = if wanted > self.floor { wanted } else { 0.0 };
            let change = wanted - *kappa;
            if change == 0.0 {
                continue;
            }
            *kappa = wanted;
            let own = V::narrow(u[i - first]) - gradient_sum * (change * lightness[i]);
            u[i - first] = own.widen();
            let (gradients, neighbors) = (list.gradients, list.indices);
            if MIXED {
                V::scatter_scaled(gradients, neighbors, change, lightness, u, first);
            } else {
                V::scatter(gradients, neighbors, change * lightness[i], u, first);
            }
        }
        error
    }
}
