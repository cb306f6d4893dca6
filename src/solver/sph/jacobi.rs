//! Relaxed Jacobi iterations, as in the papers on DFSPH and in the reference program.

use super::packed::Packed;
use super::pressure::{SolveReport, Stopping, System, Workspace, rate};
use crate::solver::parallel::{CHUNK, chunks_mut, for_each_chunk, numbers, ordered_sum};
use crate::solver::vector::Vector;

impl<V: Vector> System<'_, V> {
    /// Relaxed Jacobi iterations, clamped at the floor. Leaves the accelerations of
    /// the last iteration's start, as the reference does.
    pub(super) fn jacobi(&mut self, relaxation: f32, stopping: &Stopping) -> SolveReport {
        let count = self.particles.positions.len();
        let (dt, floor, fluid) = (self.dt, self.floor, self.fluid);
        self.workspace.partial.resize(count.div_ceil(CHUNK), 0.0);
        let mut iterations = 0;
        loop {
            self.accelerate();
            let Workspace { kappa, source, step, vectors, partial, .. } = &mut *self.workspace;
            let Packed { gradient_sums, places, .. } = self.particles;
            let (source, step, accelerations) = (&*source, &*step, &*vectors);
            let parts = (numbers(), chunks_mut(kappa), &mut partial[..], self.neighbors.chunks());
            for_each_chunk(self.threads, parts, |(index, kappa, partial, chunk)| {
                let mut excess = 0.0f64;
                for (local, (kappa, list)) in kappa.iter_mut().zip(chunk.all()).enumerate() {
                    let i = index * CHUNK + local;
                    let rate = rate(list, gradient_sums[i], accelerations, i, 0);
                    let residual = source[i] - dt * rate;
                    let changed = (*kappa - relaxation * residual * step[i]).max(floor);
                    *kappa = if step[i] == 0.0 { 0.0 } else { changed };
                    // Where pressure can pull, what is too thin is an error as well.
                    let unmet = if floor < 0.0 { residual.abs() } else { -residual.min(0.0) };
                    // Samples of membranes, which come last, are no part of the fluid.
                    let counts = (places[i] as usize) < fluid;
                    excess += f64::from(if counts { unmet } else { 0.0 });
                }
                *partial = excess;
            });
            iterations += 1;
            let error = (ordered_sum(partial) * f64::from(dt) / count as f64) as f32;
            if stopping.reached(iterations, error) {
                return SolveReport { iterations, applications: iterations as f32, error };
            }
        }
    }
}
