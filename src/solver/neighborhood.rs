//! The neighbours of one particle after another, found and evaluated several
//! at a time.

mod batch;
mod columns;
mod lists;

use core::ops::Range;

use super::boundary::BoundarySet;
use super::grid::CellGrid;
use super::kernel::{CubicSpline, REACH_SQUARED};
use super::vector::Vector;

pub(crate) use batch::{Batch, Evaluate, Sift};
pub(crate) use columns::{Columns, Extent};
pub(crate) use lists::{Entry, Lists};

/// What a search reads: particles in the order of their grid, and the boundary.
#[derive(Clone, Copy)]
pub(crate) struct Surroundings<'a, V> {
    pub(crate) positions: &'a [V],
    /// The particles' ids, for the direction between two at one point.
    pub(crate) places: &'a [u32],
    /// 1/rho0 of each particle.
    pub(crate) lightness: &'a [f32],
    pub(crate) grid: &'a CellGrid,
    pub(crate) boundary: &'a BoundarySet<V>,
    pub(crate) kernel: &'a CubicSpline<V>,
    /// Volume V0 of a particle in m^DIM.
    pub(crate) volume: f32,
    /// Whether rest densities differ.
    pub(crate) mixed: bool,
}

impl<V: Vector> Surroundings<'_, V> {
    /// Squared distance in m² below which two points are neighbours.
    pub(crate) fn reach_squared(&self) -> f32 {
        let support_radius = self.kernel.support_radius();
        support_radius * support_radius * REACH_SQUARED
    }
}

/// What follows from the positions of some particles.
pub(crate) struct Results<'a, V> {
    /// Density over rest density.
    pub(crate) densities: &'a mut [f32],
    /// G: the sum of V grad W over all neighbours, boundary included, in 1/m.
    pub(crate) gradient_sums: &'a mut [V],
    /// D: |G|²/rho0 plus the sum of |V0 grad W|²/rho0 over fluid neighbours.
    pub(crate) diagonals: &'a mut [f32],
    /// Number of neighbours, boundary included.
    pub(crate) counts: &'a mut [u32],
}

impl<V> Results<'_, V> {
    /// Those of a range of the particles.
    pub(crate) fn of(&mut self, range: Range<usize>) -> Results<'_, V> {
        Results {
            densities: &mut self.densities[range.clone()],
            gradient_sums: &mut self.gradient_sums[range.clone()],
            diagonals: &mut self.diagonals[range.clone()],
            counts: &mut self.counts[range],
        }
    }
}
