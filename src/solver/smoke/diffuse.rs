//! Implicit diffusion, unconditionally stable.
//!
//! The system (1 + a n) x - a (sum of x over the n neighbours) = b, a = dt D/h²,
//! is solved by Jacobi iterations with Chebyshev's acceleration (Golub & Varga
//! 1961): no order among the cells, so it runs on all threads, and the spectral
//! radius n a/(1 + n a) is known beforehand.

use super::border::{Beyond, fill_cells, fill_component};
use super::grid::{Grid, Row};
use super::settings::{Border, Walls};
use super::solids::Solids;
use crate::solver::parallel::Threads;

/// A field to diffuse.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    /// In cells, with what lies beyond open borders.
    Cells(Beyond),
    /// On the faces across an axis.
    Faces(usize),
}

/// Diffusion of one field.
pub(crate) struct Diffusion<'a> {
    pub grid: Grid,
    pub borders: [Border; 3],
    pub walls: Walls,
    pub solids: &'a Solids,
    /// dt D/h².
    pub rate: f32,
    /// Change of an iteration to stop at, as a fraction of the largest value.
    pub tolerance: f32,
    /// Most iterations.
    pub limit: u32,
    pub threads: Threads<'a>,
}

impl Diffusion<'_> {
    /// Diffuses `field` in place; `rhs` and `older` are scratch. Returns the iterations.
    pub(crate) fn run(
        &self,
        place: Place,
        field: &mut Vec<f32>,
        rhs: &mut [f32],
        older: &mut Vec<f32>,
    ) -> u32 {
        if self.rate == 0.0 {
            return 0;
        }
        self.fill(place, field);
        rhs.copy_from_slice(field);
        older.copy_from_slice(field);
        let reach = 2.0 * self.grid.dim as f32 * self.rate;
        let radius = reach / (1.0 + reach);
        // Steps in which Chebyshev's bound of the error, 2/(z^k + z^-k), falls below the tolerance.
        let growth = (1.0 + (1.0 - radius * radius).sqrt()) / radius;
        let steps = ((2.0 / self.tolerance).ln() / growth.ln()).ceil().max(1.0);
        let steps = (steps as u32).min(self.limit);
        let mut omega = 1.0;
        for step in 0..steps {
            omega = match step {
                0 => 1.0,
                1 => 1.0 / (1.0 - 0.5 * radius * radius),
                _ => 1.0 / (1.0 - 0.25 * radius * radius * omega),
            };
            // The next iterate takes the place of the one before the last.
            if self.grid.dim == 3 {
                self.iterate::<3>(place, field, rhs, older, omega);
            } else {
                self.iterate::<2>(place, field, rhs, older, omega);
            }
            core::mem::swap(field, older);
            self.fill(place, field);
        }
        steps
    }

    fn fill(&self, place: Place, field: &mut [f32]) {
        match place {
            Place::Cells(beyond) => fill_cells(&self.grid, field, self.borders, beyond),
            Place::Faces(axis) => {
                fill_component(&self.grid, field, axis, self.borders, self.walls);
                self.solids.hold_axis(axis, field);
            }
        }
    }

    fn iterate<const DIM: usize>(
        &self,
        place: Place,
        field: &[f32],
        rhs: &[f32],
        older: &mut [f32],
        omega: f32,
    ) {
        let grid = self.grid;
        let rate = self.rate;
        let scale = 1.0 / (1.0 + 2.0 * DIM as f32 * rate);
        let own_axis = match place {
            Place::Cells(_) => None,
            Place::Faces(axis) => Some(axis),
        };
        let work = |row: Row, [out]: [&mut [f32]; 1]| {
            let start = row.index * grid.stride[1];
            // Faces on closed borders stand still, those on open ones follow.
            let mut first = 1;
            if let Some(axis) = own_axis
                && self.borders[axis] != Border::Periodic
            {
                if axis == 0 {
                    first = 2;
                } else if [0, row.j, row.k][axis] == 1 {
                    return;
                }
            }
            let count = (grid.cells[0] + 1).saturating_sub(first);
            let start = start + first;
            let out = &mut out[first..][..count];
            let own = &field[start..][..count];
            let rhs = &rhs[start..][..count];
            let next = |axis: usize| {
                let stride = grid.stride[axis];
                (&field[start - stride..][..count], &field[start + stride..][..count])
            };
            let ((west, east), (south, north)) = (next(0), next(1));
            let (down, up) = if DIM == 3 { next(2) } else { (own, own) };
            if !self.solids.any() {
                for x in 0..count {
                    let mut sum = (west[x] + east[x]) + (south[x] + north[x]);
                    if DIM == 3 {
                        sum += down[x] + up[x];
                    }
                    let jacobi = (rhs[x] + rate * sum) * scale;
                    out[x] += omega * (jacobi - out[x]);
                }
                return;
            }
            for x in 0..count {
                let at = start + x;
                let mut sum = 0.0;
                for axis in 0..DIM {
                    for beside in [at - grid.stride[axis], at + grid.stride[axis]] {
                        sum += self.beside(own_axis, axis, beside, field[beside], own[x]);
                    }
                }
                let jacobi = (rhs[x] + rate * sum) * scale;
                out[x] += omega * (jacobi - out[x]);
            }
        };
        grid.for_rows(self.threads, [older], work);
    }

    /// The value of a neighbour, or what a wall in its place stands for.
    #[inline(always)]
    fn beside(&self, own_axis: Option<usize>, axis: usize, at: usize, value: f32, own: f32) -> f32 {
        let Some(face) = own_axis else {
            return if self.solids.contains(at) { own } else { value };
        };
        let solid = self.solids.contains(at) || self.solids.contains(at - self.grid.stride[face]);
        match (solid && axis != face, self.walls) {
            (false, _) => value,
            (true, Walls::FreeSlip) => own,
            // The wall lies half a cell away.
            (true, Walls::NoSlip) => 2.0 * value - own,
        }
    }
}
