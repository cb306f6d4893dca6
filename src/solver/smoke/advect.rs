//! Advection: fields carried along by the flow.
//!
//! Plain: the value at the place where the air came from (Stam 1999).
//! MacCormack: the error of going there and back again, halved, is taken off;
//! the result stays between the values around that place, which keeps fields
//! free of new extremes (Selle, Fedkiw, Kim, Liu & Rossignac 2008).

use super::advect_rows::{corrected_faces, corrected_row, plain_faces, plain_row};
use super::border::{Beyond, fill_cells, fill_component};
use super::grid::Row;
use super::settings::{Advection, Border, Walls};
use super::solids::Solids;
use super::trace::{Flow, Stencil};

/// A way of advection, with the traces of [`Flow::trace`].
#[derive(Clone, Copy)]
pub(crate) struct Carry<'a> {
    pub flow: Flow<'a>,
    pub trace: &'a [Vec<f32>; 3],
    pub advection: Advection,
    pub borders: [Border; 3],
    pub walls: Walls,
}

/// Room that dye may gain and lose without new extremes, for each cell.
pub(crate) struct Room<'a> {
    pub above: &'a mut [f32],
    pub below: &'a mut [f32],
}

impl Carry<'_> {
    /// Carries a field of cells. The border layer of `field` must be filled;
    /// the result is in `out`, for `room` its room for correction.
    pub(crate) fn cells(
        &self,
        field: &[f32],
        beyond: Beyond,
        ahead: &mut [f32],
        out: &mut [f32],
        room: Option<Room>,
    ) {
        if self.flow.sampler.grid.dim == 3 {
            self.cells_as::<3>(field, beyond, ahead, out, room);
        } else {
            self.cells_as::<2>(field, beyond, ahead, out, room);
        }
    }

    fn cells_as<const DIM: usize>(
        &self,
        field: &[f32],
        beyond: Beyond,
        ahead: &mut [f32],
        out: &mut [f32],
        room: Option<Room>,
    ) {
        let grid = self.flow.sampler.grid;
        let plain = self.advection == Advection::Plain;
        let first = if plain { &mut *out } else { &mut *ahead };
        match room {
            Some(Room { above, below }) if plain => {
                let outs = [first, above, below];
                grid.for_rows(self.flow.threads, outs, |row, [out, above, below]| {
                    plain_row::<DIM, true>(self, field, row, out, above, below);
                });
            }
            Some(Room { above, below }) => {
                grid.for_rows(self.flow.threads, [first], |row, [out]| {
                    plain_row::<DIM, false>(self, field, row, out, &mut [], &mut []);
                });
                fill_cells(&grid, ahead, self.borders, beyond);
                let outs = [out, above, below];
                let ahead = &*ahead;
                grid.for_rows(self.flow.threads, outs, |row, [out, above, below]| {
                    corrected_row::<DIM, true>(self, field, ahead, row, out, above, below);
                });
            }
            None => {
                grid.for_rows(self.flow.threads, [first], |row, [out]| {
                    plain_row::<DIM, false>(self, field, row, out, &mut [], &mut []);
                });
                if plain {
                    return;
                }
                fill_cells(&grid, ahead, self.borders, beyond);
                let ahead = &*ahead;
                grid.for_rows(self.flow.threads, [out], |row, [out]| {
                    corrected_row::<DIM, false>(self, field, ahead, row, out, &mut [], &mut []);
                });
            }
        }
    }

    /// The value at a point among those of the cells around it that its own
    /// cell reaches without crossing a solid, and their smallest and largest.
    #[inline(never)]
    pub(super) fn beside_solids<const DIM: usize>(
        &self,
        field: &[f32],
        solids: &Solids,
        row: Row,
        i: usize,
        point: [f32; 3],
    ) -> (f32, f32, f32) {
        let sampler = &self.flow.sampler;
        let grid = sampler.grid;
        let at = row.index * grid.stride[1] + i;
        if solids.contains(at) {
            return (0.0, 0.0, 0.0);
        }
        let Stencil { at: lowest, part } = sampler.stencil::<DIM>(point);
        let corner = |bits: usize| -> usize {
            lowest + (0..DIM).map(|axis| (bits >> axis & 1) * grid.stride[axis]).sum::<usize>()
        };
        let own = (0..DIM).fold(0, |bits, axis| bits | usize::from(part[axis] > 0.5) << axis);
        if solids.contains(corner(own)) {
            return (field[at], field[at], field[at]);
        }
        let mut reached = 1usize << own;
        for _ in 0..DIM {
            for bits in 0..1 << DIM {
                let beside = (0..DIM).any(|axis| reached >> (bits ^ 1 << axis) & 1 == 1);
                if beside && !solids.contains(corner(bits)) {
                    reached |= 1 << bits;
                }
            }
        }
        let (mut sum, mut weights) = (0.0, 0.0);
        let (mut low, mut high) = (f32::INFINITY, f32::NEG_INFINITY);
        for bits in (0..1usize << DIM).filter(|bits| reached >> bits & 1 == 1) {
            let mut weight = 1.0;
            for axis in 0..DIM {
                weight *= if bits >> axis & 1 == 1 { part[axis] } else { 1.0 - part[axis] };
            }
            let value = field[corner(bits)];
            sum += weight * value;
            weights += weight;
            (low, high) = (low.min(value), high.max(value));
        }
        (sum / weights, low, high)
    }

    /// Carries `field`, a component of velocity on the faces across `axis`, its
    /// border layer filled; `ahead` is scratch.
    /// Faces on closed and open borders keep what `out` held.
    pub(crate) fn faces(&self, axis: usize, field: &[f32], ahead: &mut [f32], out: &mut [f32]) {
        if self.flow.sampler.grid.dim == 3 {
            self.faces_as::<3>(axis, field, ahead, out);
        } else {
            self.faces_as::<2>(axis, field, ahead, out);
        }
    }

    fn faces_as<const DIM: usize>(
        &self,
        axis: usize,
        field: &[f32],
        ahead: &mut [f32],
        out: &mut [f32],
    ) {
        let sampler = &self.flow.sampler;
        let grid = sampler.grid;
        let stride = grid.stride[axis];
        let fixed = self.borders[axis] != Border::Periodic;
        let plain = self.advection == Advection::Plain;
        let first = if axis == 0 && fixed { 2 } else { 1 };
        let is_fixed = |row: Row| fixed && axis > 0 && [0, row.j, row.k][axis] == 1;
        let target = if plain { &mut *out } else { &mut *ahead };
        grid.for_rows(self.flow.threads, [target], |row, [out]| {
            if is_fixed(row) {
                return;
            }
            plain_faces::<DIM>(self, axis, field, row, first, out);
        });
        if plain {
            return;
        }
        // Faces on the border were not written: they are as before.
        if fixed {
            grid.for_each_across(axis, |at| {
                ahead[at + stride] = field[at + stride];
                let last = at + (grid.cells[axis] + 1) * stride;
                ahead[last] = field[last];
            });
        }
        fill_component(&grid, ahead, axis, self.borders, self.walls);
        let ahead = &*ahead;
        grid.for_rows(self.flow.threads, [out], |row, [out]| {
            if is_fixed(row) {
                return;
            }
            corrected_faces::<DIM>(self, axis, field, ahead, row, first, out);
        });
    }
}
