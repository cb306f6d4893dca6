//! Advection along a row: points looked up a batch at a time.

use super::advect::Carry;
use super::grid::Row;
use super::trace::{BATCH, Points, Stencils, middles};
use crate::solver::dispatch::wide_fn;

impl Carry<'_> {
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
    pub(super) fn plain_row[const DIM: usize, const ROOM: bool][DIM, ROOM](
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
    pub(super) fn corrected_row[const DIM: usize, const ROOM: bool][DIM, ROOM](
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
    pub(super) fn plain_faces[const DIM: usize][DIM](
        carry: &Carry,
        axis: usize,
        field: &[f32],
        row: Row,
        first: usize,
        out: &mut [f32],
    ) = plain_faces_each::<DIM>
);

#[inline(always)]
fn plain_faces_each<const DIM: usize>(
    carry: &Carry,
    axis: usize,
    field: &[f32],
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
        sampler.mix_all::<DIM>(field, &stencils, &mut out[from..][..count]);
    }
}

wide_fn!(
    /// [`plain_faces`] with MacCormack's correction.
    pub(super) fn corrected_faces[const DIM: usize][DIM](
        carry: &Carry,
        axis: usize,
        field: &[f32],
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
    field: &[f32],
    ahead: &[f32],
    row: Row,
    first: usize,
    out: &mut [f32],
) {
    let sampler = &carry.flow.sampler;
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
