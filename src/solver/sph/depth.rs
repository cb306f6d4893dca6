//! Whether water is so calm that its solves start on the coarse grid.
//!
//! A sweep passes pressure on by a few layers of particles. In water at rest what is
//! missing at the floor adds up over the steps, until the correction throws the water
//! up and it boils for ever, though each solve meets its tolerance. Water under way is
//! elsewhere before errors add up, and a lattice that does not fit its walls throws
//! it the higher the more exactly it is solved.

use super::FluidWorld;
use super::dfsph::SPARSE_NEIGHBORS;
use crate::solver::parallel::{CHUNK, Threads, chunks, for_each_chunk};
use crate::solver::vector::Vector;

/// Least depth in particle spacings: a column of 25 layers, 20 wide, comes to rest at
/// 0.006 sqrt(gH) with the coarse grid, by sweeps alone it does not.
const LEAST_LAYERS: f64 = 16.0;

/// The same where densities are corrected by positions: there a column of 40 layers
/// comes to rest by sweeps alone.
const LEAST_LAYERS_BY_POSITIONS: f64 = 48.0;

/// Most of the mean of v² over g H that counts as calm. A column that a lattice
/// too tight by a tenth of a percent throws up reaches 0.037, and does not come
/// to rest where the sweeps are left alone with that.
const MOST_MOTION: f64 = 0.05;

/// Sums over the particles that are not spray, which says nothing of the rest.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    count: f64,
    /// Of g.x in m²/s².
    height: f64,
    /// Of its square.
    squared: f64,
    /// Of v² in m²/s².
    motion: f64,
}

impl<V: Vector> FluidWorld<V> {
    /// Whether the water is deep and calm.
    ///
    /// The answer is made of means over many particles, which change little from
    /// step to step, so that it does not flicker: the heights in a layer of depth
    /// H have a variance of H²/12. Without gravity nothing is deep.
    pub(super) fn is_deep_and_calm(&mut self, threads: Threads) -> bool {
        let layer = f64::from(self.settings.gravity.length() * self.settings.spacing());
        let sums = self.sums(threads);
        let variance = sums.squared / sums.count - (sums.height / sums.count).powi(2);
        let head = (12.0 * variance).sqrt();
        let least =
            if self.corrects_positions() { LEAST_LAYERS_BY_POSITIONS } else { LEAST_LAYERS };
        let deep = layer > 0.0 && head >= least * layer;
        deep && sums.motion <= MOST_MOTION * head * sums.count
    }

    fn sums(&mut self, threads: Threads) -> Sums {
        let gravity = self.settings.gravity;
        let FluidWorld { particles, workspace, .. } = self;
        let partial = &mut workspace.sums;
        partial.resize(particles.positions.len().div_ceil(CHUNK), Sums::default());
        let parts = (
            chunks(&particles.positions),
            chunks(&particles.velocities),
            chunks(&particles.neighbor_counts),
            &mut partial[..],
        );
        for_each_chunk(threads, parts, |(positions, velocities, neighbors, sums)| {
            *sums = Sums::default();
            for local in 0..positions.len() {
                if neighbors[local] < SPARSE_NEIGHBORS {
                    continue;
                }
                let height = f64::from(positions[local].dot(gravity));
                sums.count += 1.0;
                sums.height += height;
                sums.squared += height * height;
                sums.motion += f64::from(velocities[local].length_squared());
            }
        });
        partial.iter().fold(Sums::default(), |total, sums| Sums {
            count: total.count + sums.count,
            height: total.height + sums.height,
            squared: total.squared + sums.squared,
            motion: total.motion + sums.motion,
        })
    }
}
