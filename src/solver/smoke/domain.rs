//! The box that smoke lives in.

use super::grid::Grid;
use crate::solver::error::FluidError;
use crate::solver::vector::Vector;

/// Fewest cells along an axis.
pub const MIN_CELLS: u32 = 3;

/// Most cells along an axis.
pub const MAX_CELLS_ALONG: u32 = 8192;

/// Most cells of a domain: 16 million, a gigabyte of memory.
pub const MAX_CELLS: u64 = 1 << 24;

/// Difference of the sides of a cell that counts as none, as a fraction.
const CUBIC: f32 = 1e-3;

/// A box along the axes, cut into square or cubic cells.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "scene", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "scene", serde(deny_unknown_fields))]
#[cfg_attr(feature = "plugin", derive(bevy_reflect::Reflect))]
pub struct SmokeDomain<V> {
    /// Its lowest corner in metres, any finite vector.
    pub min: V,
    /// Its extent along each axis in metres, positive. All sides of a cell,
    /// extent over cells, must agree to a thousandth: [`SmokeDomain::fitting`] sees to that.
    pub size: V,
    /// Cells along each axis, 3 to 8192 and at most 16,777,216 in all; the
    /// third number is without meaning in 2D.
    pub cells: [u32; 3],
}

impl<V: Vector> SmokeDomain<V> {
    /// The domain from `min` that is cut into so many cells along x and whose
    /// other axes are rounded to whole cells, of which there are at least 3.
    pub fn fitting(min: V, size: V, cells_along_x: u32) -> Self {
        let size = size.to_array();
        let side = size[0] / cells_along_x.max(1) as f32;
        let mut cells = [cells_along_x, 1, 1];
        let mut fitted = [size[0], 0.0, 0.0];
        for axis in 1..V::DIM {
            cells[axis] = ((size[axis] / side).round() as u32).max(MIN_CELLS);
            fitted[axis] = side * cells[axis] as f32;
        }
        Self { min, size: V::from_array(fitted), cells }
    }

    /// Side of a cell in metres.
    pub fn cell_size(&self) -> f32 {
        self.size.to_array()[0] / self.cells[0] as f32
    }

    /// Area or volume of a cell in m^DIM.
    pub fn cell_volume(&self) -> f32 {
        self.cell_size().powi(V::DIM as i32)
    }

    /// Number of cells.
    pub fn count(&self) -> usize {
        self.cells[..V::DIM].iter().map(|&cells| cells as usize).product()
    }

    /// Middle of a cell in metres, counted from 0 along each axis.
    pub fn center(&self, cell: [u32; 3]) -> V {
        let side = self.cell_size();
        self.min + V::from_array(cell.map(|place| (place as f32 + 0.5) * side))
    }

    /// Checks the numbers.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] naming `min`, `size` or `cells`.
    pub fn validate(&self) -> Result<(), FluidError> {
        if !self.min.is_finite() {
            return Err(FluidError::parameter("min", self.min, "finite components, m"));
        }
        let cells = &self.cells[..V::DIM];
        let total: u64 = cells.iter().map(|&cells| u64::from(cells.min(1 << 16))).product();
        let allowed = MIN_CELLS..=MAX_CELLS_ALONG;
        if cells.iter().any(|cells| !allowed.contains(cells)) || total > MAX_CELLS {
            return Err(FluidError::parameter(
                "cells",
                cells,
                format_args!(
                    "{MIN_CELLS} to {MAX_CELLS_ALONG} along each axis, at most {MAX_CELLS} in all"
                ),
            ));
        }
        let size = &self.size.to_array()[..V::DIM];
        let side = self.cell_size();
        let fits = |axis: usize| (size[axis] / cells[axis] as f32 / side - 1.0).abs() <= CUBIC;
        if !(1e-6..=1e6).contains(&side) || !(0..V::DIM).all(fits) {
            return Err(FluidError::parameter(
                "size",
                self.size,
                format_args!(
                    "1e-6 m to 1e6 m a cell, the same along each axis, here {cells:?} cells"
                ),
            ));
        }
        Ok(())
    }

    pub(crate) fn grid(&self) -> Grid {
        let mut cells = self.cells.map(|cells| cells as usize);
        if V::DIM == 2 {
            cells[2] = 1;
        }
        Grid::new(cells, V::DIM)
    }

    /// A position in cells, such that the middle of the first cell is at 1 along each axis.
    pub(crate) fn place_of(&self, position: V) -> [f32; 3] {
        let scale = 1.0 / self.cell_size();
        (position - self.min).to_array().map(|component| component * scale + 0.5)
    }

    /// The inverse of [`SmokeDomain::place_of`].
    pub(crate) fn position_of(&self, place: [f32; 3]) -> V {
        let side = self.cell_size();
        self.min + V::from_array(place.map(|place| (place - 0.5) * side))
    }
}
