//! Advection: fields carried along by the flow.
//!
//! Plain: the value at the place where the air came from (Stam 1999).
//! MacCormack: the error of going there and back again, halved, is taken off;
//! the result stays between the values around that place, which keeps fields
//! free of new extremes (Selle, Fedkiw, Kim, Liu & Rossignac 2008).

use super::border::{Beyond, fill_cells, fill_component};
use super::grid::Row;
use super::settings::{Advection, Border, Walls};
use super::solids::Solids;
use super::trace::{BATCH, Flow, Points, Stencil, Stencils, middles};
use crate::solver::dispatch::wide_fn;

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

    /// The places that the air of cells came from; the first has index `at`.
    #[inline(always)]
    fn origins<const DIM: usize>(&self, row: Row, from: usize, at: usize, count: usize) -> Points {
        let mut points = middles(row, from);
        for axis in 0..DIM {
            for (point, way) in points[axis].iter_mut().zip(&self.trace[axis][at..][..count]) {
                *point -= way;
            }
        }
        points
    }

    /// Puts right the values of those cells of a batch that solids are near.
    #[inline(always)]
    fn mind_solids<const DIM: usize>(
        &self,
        field: &[f32],
        row: Row,
        from: usize,
        points: &Points,
        [value, low, high]: &mut Points,
        count: usize,
    ) {
        let Some(solids) = self.flow.solids else { return };
        let at = row.index * self.flow.sampler.grid.stride[1] + from;
        for x in 0..count {
            let ways = self.trace[..DIM].iter().map(|way| way[at + x].abs());
            if !solids.is_far(at + x, ways.fold(0.0, f32::max)) {
                let point = points.map(|places| places[x]);
                (value[x], low[x], high[x]) =
                    self.beside_solids::<DIM>(field, solids, row, from + x, point);
            }
        }
    }

    /// The value at a point among those of the cells around it that its own
    /// cell reaches without crossing a solid, and their smallest and largest.
    #[inline(never)]
    fn beside_solids<const DIM: usize>(
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

    /// Carries the component `axis` of the flow's own velocity; `ahead` is scratch.
    /// Faces on closed and open borders keep what `out` held.
    pub(crate) fn faces(&self, axis: usize, ahead: &mut [f32], out: &mut [f32]) {
        if self.flow.sampler.grid.dim == 3 {
            self.faces_as::<3>(axis, ahead, out);
        } else {
            self.faces_as::<2>(axis, ahead, out);
        }
    }

    fn faces_as<const DIM: usize>(&self, axis: usize, ahead: &mut [f32], out: &mut [f32]) {
        let sampler = &self.flow.sampler;
        let grid = sampler.grid;
        let field = &self.flow.velocity[axis][..];
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
            plain_faces::<DIM>(self, axis, row, first, out);
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
            corrected_faces::<DIM>(self, axis, ahead, row, first, out);
        });
    }

    /// Ways of the air at faces, by the mean of what the cells on both sides say.
    #[inline(always)]
    fn ways_at_faces(&self, axis: usize, along: usize, at: usize, count: usize) -> [f32; BATCH] {
        let trace = &self.trace[along];
        let below = &trace[at - self.flow.sampler.grid.stride[axis]..][..count];
        let mut ways = [0.0; BATCH];
        for ((way, below), above) in ways.iter_mut().zip(below).zip(&trace[at..][..count]) {
            *way = 0.5 * (below + above);
        }
        ways
    }
}

wide_fn!(
    /// A row of cells of a field carried plainly, and the room of each if asked for.
    fn plain_row[const DIM: usize, const ROOM: bool][DIM, ROOM](
        carry: &Carry,
        field: &[f32],
        row: Row,
        out: &mut [f32],
        above: &mut [f32],
        below: &mut [f32],
    ) = plain_cells::<DIM, ROOM>
);

#[inline(always)]
fn plain_cells<const DIM: usize, const ROOM: bool>(
    carry: &Carry,
    field: &[f32],
    row: Row,
    out: &mut [f32],
    above: &mut [f32],
    below: &mut [f32],
) {
    let sampler = &carry.flow.sampler;
    for from in (1..=sampler.grid.cells[0]).step_by(BATCH) {
        let count = BATCH.min(sampler.grid.cells[0] + 1 - from);
        let at = row.index * sampler.grid.stride[1] + from;
        let points = carry.origins::<DIM>(row, from, at, count);
        let stencils = sampler.stencils::<DIM>(points);
        let mut found = [[0.0; BATCH]; 3];
        sampler.mix_all::<DIM>(field, &stencils, &mut found[0][..count]);
        if ROOM {
            bounds::<DIM>(carry, field, &stencils, &mut found, count);
        }
        carry.mind_solids::<DIM>(field, row, from, &points, &mut found, count);
        write::<ROOM>(&found, from, count, out, above, below);
    }
}

wide_fn!(
    /// [`plain_row`] with MacCormack's correction; `ahead` was carried plainly.
    fn corrected_row[const DIM: usize, const ROOM: bool][DIM, ROOM](
        carry: &Carry,
        field: &[f32],
        ahead: &[f32],
        row: Row,
        out: &mut [f32],
        above: &mut [f32],
        below: &mut [f32],
    ) = corrected_cells::<DIM, ROOM>
);

#[inline(always)]
fn corrected_cells<const DIM: usize, const ROOM: bool>(
    carry: &Carry,
    field: &[f32],
    ahead: &[f32],
    row: Row,
    out: &mut [f32],
    above: &mut [f32],
    below: &mut [f32],
) {
    let sampler = &carry.flow.sampler;
    for from in (1..=sampler.grid.cells[0]).step_by(BATCH) {
        let count = BATCH.min(sampler.grid.cells[0] + 1 - from);
        let at = row.index * sampler.grid.stride[1] + from;
        let mut to = middles(row, from);
        for axis in 0..DIM {
            let straight = carry.flow.straight(axis, at, count);
            let ways = straight.iter().zip(&carry.trace[axis][at..][..count]);
            for (to, (straight, way)) in to[axis].iter_mut().zip(ways) {
                *to += 2.0 * straight - way;
            }
        }
        let mut again = [0.0; BATCH];
        let stencils = sampler.stencils::<DIM>(to);
        sampler.mix_all::<DIM>(ahead, &stencils, &mut again[..count]);
        let points = carry.origins::<DIM>(row, from, at, count);
        let mut found = [[0.0; BATCH]; 3];
        bounds::<DIM>(carry, field, &sampler.stencils::<DIM>(points), &mut found, count);
        correct(&mut found, &ahead[at..][..count], &field[at..][..count], &again);
        // Beside solids the way back is not known well enough.
        carry.mind_solids::<DIM>(field, row, from, &points, &mut found, count);
        write::<ROOM>(&found, from, count, out, above, below);
    }
}

wide_fn!(
    /// A row of faces across an axis carried plainly.
    fn plain_faces[const DIM: usize][DIM](
        carry: &Carry,
        axis: usize,
        row: Row,
        first: usize,
        out: &mut [f32],
    ) = plain_faces_each::<DIM>
);

#[inline(always)]
fn plain_faces_each<const DIM: usize>(
    carry: &Carry,
    axis: usize,
    row: Row,
    first: usize,
    out: &mut [f32],
) {
    let sampler = &carry.flow.sampler;
    for from in (first..=sampler.grid.cells[0]).step_by(BATCH) {
        let count = BATCH.min(sampler.grid.cells[0] + 1 - from);
        let at = row.index * sampler.grid.stride[1] + from;
        let mut points = middles(row, from);
        for along in 0..DIM {
            let ways = carry.ways_at_faces(axis, along, at, count);
            points[along].iter_mut().zip(ways).for_each(|(point, way)| *point -= way);
        }
        let stencils = sampler.stencils::<DIM>(points);
        let field = &carry.flow.velocity[axis];
        sampler.mix_all::<DIM>(field, &stencils, &mut out[from..][..count]);
    }
}

wide_fn!(
    /// [`plain_faces`] with MacCormack's correction.
    fn corrected_faces[const DIM: usize][DIM](
        carry: &Carry,
        axis: usize,
        ahead: &[f32],
        row: Row,
        first: usize,
        out: &mut [f32],
    ) = corrected_faces_each::<DIM>
);

#[inline(always)]
fn corrected_faces_each<const DIM: usize>(
    carry: &Carry,
    axis: usize,
    ahead: &[f32],
    row: Row,
    first: usize,
    out: &mut [f32],
) {
    let sampler = &carry.flow.sampler;
    let field = &carry.flow.velocity[axis][..];
    for from in (first..=sampler.grid.cells[0]).step_by(BATCH) {
        let count = BATCH.min(sampler.grid.cells[0] + 1 - from);
        let at = row.index * sampler.grid.stride[1] + from;
        let mut points = middles(row, from);
        let mut to = points;
        for along in 0..DIM {
            let ways = carry.ways_at_faces(axis, along, at, count);
            // The mean of both cells' means, as the way of a face is.
            let below = carry.flow.straight(along, at - sampler.grid.stride[axis], count);
            let above = carry.flow.straight(along, at, count);
            for x in 0..BATCH {
                points[along][x] -= ways[x];
                to[along][x] += (below[x] + above[x]) - ways[x];
            }
        }
        let mut again = [0.0; BATCH];
        let stencils = sampler.stencils::<DIM>(to);
        sampler.mix_all::<DIM>(ahead, &stencils, &mut again[..count]);
        let mut found = [[0.0; BATCH]; 3];
        bounds::<DIM>(carry, field, &sampler.stencils::<DIM>(points), &mut found, count);
        correct(&mut found, &ahead[at..][..count], &field[at..][..count], &again);
        out[from..][..count].copy_from_slice(&found[0][..count]);
    }
}

/// Smallest and largest value around each point, as the second and third of `found`.
#[inline(always)]
fn bounds<const DIM: usize>(
    carry: &Carry,
    field: &[f32],
    stencils: &Stencils,
    [_, low, high]: &mut Points,
    count: usize,
) {
    for x in 0..count.min(BATCH) {
        (low[x], high[x]) = carry.flow.sampler.bounds::<DIM>(field, stencils.get(x));
    }
}

/// Half the error of going there and back again taken off, within bounds.
#[inline(always)]
fn correct([value, low, high]: &mut Points, ahead: &[f32], field: &[f32], again: &[f32; BATCH]) {
    for (x, (ahead, field)) in ahead.iter().zip(field).enumerate().take(BATCH) {
        value[x] = limited(ahead + 0.5 * (field - again[x]), low[x], high[x]);
    }
}

/// Writes values and, if asked for, their room.
#[inline(always)]
fn write<const ROOM: bool>(
    [value, low, high]: &Points,
    from: usize,
    count: usize,
    out: &mut [f32],
    above: &mut [f32],
    below: &mut [f32],
) {
    out[from..][..count].copy_from_slice(&value[..count]);
    if ROOM {
        let (above, below) = (&mut above[from..][..count], &mut below[from..][..count]);
        for x in 0..count.min(BATCH) {
            above[x] = high[x] - value[x];
            below[x] = value[x] - low[x];
        }
    }
}

/// A value put between bounds; the lower one if it is not a number.
#[inline(always)]
fn limited(value: f32, low: f32, high: f32) -> f32 {
    let value = if value > low { value } else { low };
    if value < high { value } else { high }
}
