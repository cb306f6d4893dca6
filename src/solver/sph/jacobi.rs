//! Relaxed Jacobi iterations, as in the papers on DFSPH and in the reference program.

use super::packed::Packed;
use super::pressure::{SolveReport, Stopping, System, Workspace};
use crate::solver::neighbors::sums;
use crate::solver::parallel::{CHUNK, chunks, chunks_mut, for_each_chunk, ordered_sum, sum};
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
            let Workspace { kappa, source, step, vectors, partial, .. } = &mut *self.workspace;
            let Packed { gradient_sums, places, .. } = self.particles;
            let accelerations = &**vectors;
            let parts = (
                chunks_mut(kappa),
                chunks(source),
                chunks(step),
                chunks(accelerations),
                chunks(gradient_sums),
                chunks(places),
                &mut partial[..],
                self.neighbors.chunks(),
            );
            for_each_chunk(self.threads, parts, |part| {
                let (kappa, source, step, own, gradient_sums, places, partial, chunk) = part;
                let count = kappa.len();
                let mut room = [0.0; CHUNK];
                let rates = &mut room[..count];
                sums::sum_dot(chunk, accelerations, rates);
                let (source, step, places) = (&source[..count], &step[..count], &places[..count]);
                let (own, gradient_sums) = (&own[..count], &gradient_sums[..count]);
                for local in 0..count {
                    let rate = gradient_sums[local].dot(V::narrow(own[local])) - rates[local];
                    let residual = source[local] - dt * rate;
                    let changed = kappa[local] - relaxation * residual * step[local];
                    let changed = if changed > floor { changed } else { floor };
                    kappa[local] = if step[local] == 0.0 { 0.0 } else { changed };
                    // Where pressure can pull, what is too thin is an error as well.
                    let unmet = if floor < 0.0 { residual.abs() } else { -residual.min(0.0) };
                    // Samples of membranes, which come last, are no part of the fluid.
                    rates[local] = if (places[local] as usize) < fluid { unmet } else { 0.0 };
                }
                *partial = sum(rates);
            });
            iterations += 1;
            let error = (ordered_sum(partial) * f64::from(dt) / count as f64) as f32;
            if stopping.reached(iterations, error) {
                return SolveReport {
                    iterations,
                    applications: iterations as f32,
                    error,
                    ..SolveReport::default()
                };
            }
            self.accelerate();
        }
    }
}
