//! Where the air of each cell came from: lines followed back through the flow.

use super::grid::{Grid, Row, largest};
use super::settings::Border;
use super::solids::Solids;
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
    any_periodic: bool,
}

/// The places around a point, and the point's part of the way between them.
#[derive(Clone, Copy)]
pub(crate) struct Stencil {
    /// Index of the lowest place.
    pub at: usize,
    /// Part of the way to the next place along each axis.
    pub part: [f32; 3],
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
            any_periodic: periodic[..grid.dim].contains(&true),
        }
    }

    /// A point in cells, in the place's own counting, put inside the field.
    #[inline(always)]
    pub(crate) fn inside<const DIM: usize>(&self, mut point: [f32; 3]) -> [f32; 3] {
        if self.any_periodic {
            for axis in 0..DIM {
                if self.periodic[axis] {
                    let turns = ((point[axis] - 1.0) / self.cells[axis]).floor();
                    point[axis] -= self.cells[axis] * turns;
                }
            }
        }
        for axis in 0..DIM {
            // In this order what is not a number becomes 0.
            let value = if point[axis] > 0.0 { point[axis] } else { 0.0 };
            point[axis] = if value < self.high[axis] { value } else { self.high[axis] };
        }
        point
    }

    /// The places around a point.
    #[inline(always)]
    pub(crate) fn stencil<const DIM: usize>(&self, point: [f32; 3]) -> Stencil {
        let point = self.inside::<DIM>(point);
        let mut part = [0.0; 3];
        let mut at = 0;
        for axis in 0..DIM {
            let low = point[axis] as i32;
            part[axis] = point[axis] - low as f32;
            at += low as usize * self.grid.stride[axis];
        }
        Stencil { at, part }
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
    /// Way through a cell in a step, in cells: by the mean velocity of its faces.
    #[inline(always)]
    pub(crate) fn straight<const DIM: usize>(&self, at: usize) -> [f32; 3] {
        let mut way = [0.0; 3];
        for axis in 0..DIM {
            let field = &self.velocity[axis];
            way[axis] = 0.5 * self.scale * (field[at] + field[at + self.sampler.grid.stride[axis]]);
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
                    self.trace_row::<DIM>(row, [x, y, &mut []]);
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
                    self.trace_row::<DIM>(row, [x, y, z]);
                    for out in [x, y, z] {
                        *found = found.max(largest(&out[1..][..grid.cells[0]]));
                    }
                },
            );
        }
        longest.iter().copied().fold(0.0, f32::max)
    }

    #[inline(always)]
    fn trace_row<const DIM: usize>(&self, row: Row, outs: [&mut [f32]; 3]) {
        let grid = self.sampler.grid;
        let start = row.index * grid.stride[1];
        for i in 1..=grid.cells[0] {
            let half = self.straight::<DIM>(start + i);
            let place = [i as f32, row.j as f32, row.k as f32];
            let mut middle = place;
            for axis in 0..DIM {
                middle[axis] -= 0.5 * half[axis];
            }
            let mut way = [0.0; 3];
            for axis in 0..DIM {
                // A face is counted by the cell above it, half a cell higher.
                let mut point = middle;
                point[axis] += 0.5;
                way[axis] = self.scale * self.sampler.sample::<DIM>(&self.velocity[axis], point);
            }
            if let Some(solids) = self.solids {
                let longest = way[0].abs().max(way[1].abs()).max(way[2].abs());
                if !solids.is_far(start + i, longest) {
                    let part = self.free_part::<DIM>(solids, [i, row.j, row.k], way);
                    way = way.map(|way| part * way);
                }
            }
            for axis in 0..DIM {
                outs[axis][i] = way[axis];
            }
        }
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
