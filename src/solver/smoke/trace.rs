//! Where the air of each cell came from: lines followed back through the flow.

use super::grid::{Grid, Row, largest};
use super::settings::Border;
use super::solids::Solids;
use crate::solver::dispatch::wide_fn;
use crate::solver::parallel::Threads;

/// Part of a cell that keeps a line that was stopped by a solid before it.
const GAP: f32 = 0.01;

/// Reads fields between their places.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sampler {
    pub grid: Grid,
    high: [f32; 3],
    cells: [f32; 3],
    periodic: [bool; 3],
}

/// The places around a point, and the point's part of the way between them.
#[derive(Clone, Copy)]
pub(crate) struct Stencil {
    /// Index of the lowest place.
    pub at: usize,
    /// Part of the way to the next place along each axis.
    pub part: [f32; 3],
}

/// Points of a row that are looked up together.
pub(crate) const BATCH: usize = 32;

/// Numbers of a batch of points, component by component.
pub(crate) type Points = [[f32; BATCH]; 3];

/// The stencils of a batch of points.
#[derive(Clone, Copy)]
pub(crate) struct Stencils {
    at: [i32; BATCH],
    part: Points,
}

impl Stencils {
    #[inline(always)]
    pub(crate) fn get(&self, place: usize) -> Stencil {
        Stencil { at: self.at[place] as usize, part: self.part.map(|part| part[place]) }
    }
}

/// The middles of the cells of a row from place `from` on.
#[inline(always)]
pub(crate) fn middles(row: Row, from: usize) -> Points {
    let along = core::array::from_fn(|x| (from + x) as i32 as f32);
    [along, [row.j as f32; BATCH], [row.k as f32; BATCH]]
}

impl Sampler {
    pub(crate) fn new(grid: Grid, borders: [Border; 3]) -> Self {
        let periodic = borders.map(|border| border == Border::Periodic);
        let cells = grid.cells.map(|cells| cells as f32);
        Self {
            grid,
            // Less than the border layer's index, so that there is a next place.
            high: cells.map(|cells| (cells + 1.0) * (1.0 - 2.0 * f32::EPSILON)),
            cells,
            periodic,
        }
    }

    /// A place along a periodic axis, turned back into the field.
    #[inline(always)]
    fn turned(&self, axis: usize, value: f32) -> f32 {
        value - self.cells[axis] * ((value - 1.0) / self.cells[axis]).floor()
    }

    /// The places around a point.
    #[inline(always)]
    pub(crate) fn stencil<const DIM: usize>(&self, point: [f32; 3]) -> Stencil {
        let mut part = [0.0; 3];
        let mut at = 0;
        for axis in 0..DIM {
            let value = point[axis];
            let value = if self.periodic[axis] { self.turned(axis, value) } else { value };
            let value = put_between(value, self.high[axis]);
            let low = value as i32;
            part[axis] = value - low as f32;
            at += low as usize * self.grid.stride[axis];
        }
        Stencil { at, part }
    }

    /// The places around each of a batch of points.
    #[inline(always)]
    pub(crate) fn stencils<const DIM: usize>(&self, mut points: Points) -> Stencils {
        let mut found = Stencils { at: [0; BATCH], part: [[0.0; BATCH]; 3] };
        for axis in 0..DIM {
            if self.periodic[axis] {
                for value in &mut points[axis] {
                    *value = self.turned(axis, *value);
                }
            }
            let (high, stride) = (self.high[axis], self.grid.stride[axis] as i32);
            for x in 0..BATCH {
                let value = put_between(points[axis][x], high);
                let (low, number) = whole_part(value);
                found.part[axis][x] = value - low;
                found.at[x] += number * stride;
            }
        }
        found
    }

    /// Linear interpolation at the first points of a batch.
    #[inline(always)]
    pub(crate) fn mix_all<const DIM: usize>(
        &self,
        field: &[f32],
        stencils: &Stencils,
        out: &mut [f32],
    ) {
        for (x, out) in out.iter_mut().enumerate().take(BATCH) {
            *out = self.mix::<DIM>(field, stencils.get(x));
        }
    }

    /// Linear interpolation.
    #[inline(always)]
    pub(crate) fn sample<const DIM: usize>(&self, field: &[f32], point: [f32; 3]) -> f32 {
        self.mix::<DIM>(field, self.stencil::<DIM>(point))
    }

    /// Linear interpolation at a stencil.
    #[inline(always)]
    pub(crate) fn mix<const DIM: usize>(&self, field: &[f32], stencil: Stencil) -> f32 {
        let Stencil { at, part: [x, y, z] } = stencil;
        let row = self.grid.stride[1];
        let plane = |at: usize| {
            let (south, north) = (&field[at..at + 2], &field[at + row..at + row + 2]);
            let south = south[0] + x * (south[1] - south[0]);
            let north = north[0] + x * (north[1] - north[0]);
            south + y * (north - south)
        };
        let low = plane(at);
        if DIM == 2 { low } else { low + z * (plane(at + self.grid.stride[2]) - low) }
    }

    /// Smallest and largest value at a stencil's places.
    #[inline(always)]
    pub(crate) fn bounds<const DIM: usize>(&self, field: &[f32], stencil: Stencil) -> (f32, f32) {
        let row = self.grid.stride[1];
        let lesser = |a: f32, b: f32| if a < b { a } else { b };
        let greater = |a: f32, b: f32| if a > b { a } else { b };
        let plane = |at: usize| {
            let (s, n) = (&field[at..at + 2], &field[at + row..at + row + 2]);
            (
                lesser(lesser(s[0], s[1]), lesser(n[0], n[1])),
                greater(greater(s[0], s[1]), greater(n[0], n[1])),
            )
        };
        let low = plane(stencil.at);
        if DIM == 2 {
            return low;
        }
        let high = plane(stencil.at + self.grid.stride[2]);
        (lesser(low.0, high.0), greater(low.1, high.1))
    }
}

/// A place put inside a field; what is no number becomes 0.
#[inline(always)]
fn put_between(value: f32, high: f32) -> f32 {
    let value = if value > 0.0 { value } else { 0.0 };
    if value < high { value } else { high }
}

/// The whole part of a number from 0 to 2²³, as a number of both kinds. A cast
/// gives the same, but not several at a time.
#[inline(always)]
fn whole_part(value: f32) -> (f32, i32) {
    // Numbers from here on have no fraction, and count up in their bits.
    const WHOLE: f32 = 8_388_608.0;
    let nearest = (value + WHOLE) - WHOLE;
    let low = if nearest > value { nearest - 1.0 } else { nearest };
    (low, (low + WHOLE).to_bits() as i32 - WHOLE.to_bits() as i32)
}

/// The flow that carries fields along in a step.
#[derive(Clone, Copy)]
pub(crate) struct Flow<'a> {
    pub sampler: Sampler,
    /// Velocities on faces in m/s.
    pub velocity: &'a [Vec<f32>; 3],
    /// Length of the step over the size of a cell, s/m.
    pub scale: f32,
    /// Solid cells, if there are any.
    pub solids: Option<&'a Solids>,
    pub threads: Threads<'a>,
}

impl Flow<'_> {
    /// Way through cells in a step, in cells: by the mean velocity of their faces.
    /// The first of them has index `at`.
    #[inline(always)]
    pub(crate) fn straight(&self, axis: usize, at: usize, count: usize) -> [f32; BATCH] {
        let field = &self.velocity[axis];
        let low = &field[at..][..count];
        let high = &field[at + self.sampler.grid.stride[axis]..][..count];
        let factor = 0.5 * self.scale;
        let mut way = [0.0; BATCH];
        for ((way, low), high) in way.iter_mut().zip(low).zip(high) {
            *way = factor * (low + high);
        }
        way
    }

    /// Writes the way, in cells, that the air in the middle of each cell has
    /// come in this step, by the midpoint rule. Returns the longest component.
    pub(crate) fn trace(&self, trace: &mut [Vec<f32>; 3], longest: &mut [f32]) -> f32 {
        if self.sampler.grid.dim == 3 {
            self.trace_as::<3>(trace, longest)
        } else {
            self.trace_as::<2>(trace, longest)
        }
    }

    fn trace_as<const DIM: usize>(&self, trace: &mut [Vec<f32>; 3], longest: &mut [f32]) -> f32 {
        let grid = self.sampler.grid;
        longest.fill(0.0);
        let outs = trace.each_mut().map(|field| &mut field[..]);
        // In 2D the third array is empty: its rows would be none.
        if DIM == 2 {
            let [x, y, _] = outs;
            grid.for_rows_with(
                self.threads,
                grid.stride[1],
                [x, y],
                longest,
                |row, [x, y], found| {
                    trace_row::<DIM>(self, row, x, y, &mut []);
                    *found = found.max(largest(&x[1..][..grid.cells[0]]));
                    *found = found.max(largest(&y[1..][..grid.cells[0]]));
                },
            );
        } else {
            grid.for_rows_with(
                self.threads,
                grid.stride[1],
                outs,
                longest,
                |row, [x, y, z], found| {
                    trace_row::<DIM>(self, row, x, y, z);
                    for out in [x, y, z] {
                        *found = found.max(largest(&out[1..][..grid.cells[0]]));
                    }
                },
            );
        }
        longest.iter().copied().fold(0.0, f32::max)
    }

    /// Part of the way back from the middle of a cell that meets no solid, cell
    /// by cell through their faces (Amanatides & Woo 1987).
    fn free_part<const DIM: usize>(&self, solids: &Solids, cell: [usize; 3], way: [f32; 3]) -> f32 {
        let grid = self.sampler.grid;
        let mut cell = cell.map(|place| place as i64);
        let mut next = [f32::INFINITY; 3];
        let mut step = [0.0f32; 3];
        for axis in 0..DIM {
            if way[axis] != 0.0 {
                step[axis] = 1.0 / way[axis].abs();
                next[axis] = 0.5 * step[axis];
            }
        }
        let longest = way[0].abs().max(way[1].abs()).max(way[2].abs());
        loop {
            let mut axis = 0;
            for other in 1..DIM {
                if next[other] < next[axis] {
                    axis = other;
                }
            }
            let reached = next[axis];
            // Not a number, or the end of the way.
            if !(reached < 1.0) {
                return 1.0;
            }
            cell[axis] += if way[axis] > 0.0 { -1 } else { 1 };
            next[axis] += step[axis];
            let cells = grid.cells[axis] as i64;
            if !(1..=cells).contains(&cell[axis]) {
                if !self.sampler.periodic[axis] {
                    // The border layer is clamped to, and is solid where its cell is.
                    return reached;
                }
                cell[axis] = if cell[axis] < 1 { cells } else { 1 };
            }
            let at: usize = (0..DIM).map(|axis| cell[axis] as usize * grid.stride[axis]).sum();
            if solids.contains(at) {
                return (reached - GAP / longest).max(0.0);
            }
        }
    }
}

wide_fn!(
    /// Traces the air of a row of cells.
    fn trace_row[const DIM: usize][DIM](
        flow: &Flow,
        row: Row,
        x: &mut [f32],
        y: &mut [f32],
        z: &mut [f32],
    ) = trace_cells::<DIM>
);

#[inline(always)]
fn trace_cells<const DIM: usize>(
    flow: &Flow,
    row: Row,
    x: &mut [f32],
    y: &mut [f32],
    z: &mut [f32],
) {
    let grid = flow.sampler.grid;
    let outs = [x, y, z];
    for from in (1..=grid.cells[0]).step_by(BATCH) {
        let count = BATCH.min(grid.cells[0] + 1 - from);
        let at = row.index * grid.stride[1] + from;
        let mut middle = middles(row, from);
        for axis in 0..DIM {
            let half = flow.straight(axis, at, count);
            for (place, half) in middle[axis].iter_mut().zip(half) {
                *place -= 0.5 * half;
            }
        }
        let mut ways = [[0.0; BATCH]; 3];
        for axis in 0..DIM {
            // A face is counted by the cell above it, half a cell higher.
            let mut points = middle;
            points[axis].iter_mut().for_each(|place| *place += 0.5);
            let stencils = flow.sampler.stencils::<DIM>(points);
            let way = &mut ways[axis];
            flow.sampler.mix_all::<DIM>(&flow.velocity[axis], &stencils, &mut way[..count]);
            way.iter_mut().for_each(|way| *way *= flow.scale);
        }
        if let Some(solids) = flow.solids {
            for x in 0..count {
                let way = ways.map(|way| way[x]);
                let longest = way[0].abs().max(way[1].abs()).max(way[2].abs());
                if !solids.is_far(at + x, longest) {
                    let part = flow.free_part::<DIM>(solids, [from + x, row.j, row.k], way);
                    ways.iter_mut().for_each(|way| way[x] *= part);
                }
            }
        }
        for axis in 0..DIM {
            outs[axis][from..][..count].copy_from_slice(&ways[axis][..count]);
        }
    }
}
