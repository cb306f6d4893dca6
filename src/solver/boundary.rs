//! Boundary samples and their volumes.

use super::grid::{CellGrid, Rows};
use super::kernel::{CubicSpline, REACH_SQUARED};
use super::neighbors::CELL_FACTOR;
use super::parallel::Threads;
use super::vector::Vector;

/// All boundary samples of a world, sorted by cell.
///
/// A sample's volume V_k = 1/(W(0) + sum_l W_kl) over the other samples makes
/// up for uneven sampling (Akinci et al. 2012, equation 4); its pseudo-mass is
/// psi_k = rho0 V_k.
#[derive(Debug, Default)]
pub(crate) struct BoundarySet<V> {
    grid: CellGrid,
    /// As given, to notice a change.
    given: Vec<V>,
    positions: Vec<V>,
    volumes: Vec<f32>,
    support_radius: f32,
}

impl<V: Vector> BoundarySet<V> {
    /// Takes the samples of all boundaries, which must be finite. Returns
    /// whether anything changed; costs a comparison where nothing did.
    pub(crate) fn rebuild(&mut self, samples: &[V], support_radius: f32) -> bool {
        if self.given == samples && self.support_radius == support_radius {
            return false;
        }
        self.given.clear();
        self.given.extend_from_slice(samples);
        self.support_radius = support_radius;
        let ids: Vec<u32> = (0..samples.len() as u32).collect();
        self.grid.sort(samples, &ids, support_radius * CELL_FACTOR, Threads::Serial);
        self.positions.clear();
        let grid = &self.grid;
        self.positions.extend((0..grid.len()).map(|sorted| samples[grid.point(sorted)]));
        self.weigh(support_radius);
        true
    }

    fn weigh(&mut self, support_radius: f32) {
        let kernel = CubicSpline::<V>::new(support_radius);
        let reach2 = support_radius * support_radius * REACH_SQUARED;
        let mut rows = Rows::default();
        self.volumes.clear();
        for &x in &self.positions {
            self.grid.rows(x, &mut rows);
            // The sample itself is among the points and contributes W(0).
            let sum: f32 = rows
                .points()
                .map(|l| (x - self.positions[l]).length_squared())
                .filter(|&r2| r2 < reach2)
                .map(|r2| kernel.value(r2))
                .sum();
            self.volumes.push(1.0 / sum);
        }
    }

    /// Bytes of all buffers.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<V>() * (self.given.capacity() + self.positions.capacity())
            + 4 * self.volumes.capacity()
            + self.grid.bytes()
    }

    /// Number of samples.
    pub(crate) fn len(&self) -> usize {
        self.positions.len()
    }

    /// Sorted positions in metres.
    pub(crate) fn positions(&self) -> &[V] {
        &self.positions
    }

    /// Volumes V_k in m^DIM, in the order of the positions.
    pub(crate) fn volumes(&self) -> &[f32] {
        &self.volumes
    }

    pub(crate) fn grid(&self) -> &CellGrid {
        &self.grid
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy_math::Vec2;

    #[test]
    fn denser_samples_have_smaller_volumes() {
        let line = |spacing: f32| -> Vec<Vec2> {
            (0..41).map(|i| Vec2::new(i as f32 * spacing, 0.0)).collect()
        };
        let mut set = BoundarySet::default();
        assert!(set.rebuild(&line(0.05), 0.1));
        let middle = set.volumes()[20];
        // The pseudo-mass of a straight wall in the reference: 3.665 kg at 1000 kg/m².
        assert!((middle * 1000.0 - 3.665_191_4).abs() < 1e-5, "{middle}");
        assert!(!set.rebuild(&line(0.05), 0.1), "unchanged samples are noticed");
        assert!(set.rebuild(&line(0.025), 0.1));
        assert!(set.volumes()[20] < 0.6 * middle);
    }

    #[test]
    fn a_lone_sample_has_the_kernel_volume() {
        let mut set = BoundarySet::default();
        set.rebuild(&[Vec2::ONE], 0.1);
        assert_eq!(set.volumes(), [1.0 / CubicSpline::<Vec2>::new(0.1).center()]);
    }
}
