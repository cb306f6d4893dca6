//! What accelerates the air: heat, and eddies that the grid would lose.

use super::border::{Beyond, fill_cells};
use super::grid::{Grid, Row};
use super::settings::Border;
use super::solids::Solids;
use crate::solver::parallel::Threads;

/// Smallest slope of the vorticity that has a direction, as a fraction of its size.
const FLAT: f32 = 1e-6;

/// Adds the buoyancy of air `excess` kelvin warmer than its surroundings to the
/// velocity along y: `gain` is dt times the acceleration of one kelvin.
pub(crate) fn add_buoyancy(
    grid: Grid,
    excess: &[f32],
    velocity: &mut [Vec<f32>; 3],
    borders: [Border; 3],
    gain: f32,
    threads: Threads,
) {
    let stride = grid.stride[1];
    grid.for_rows(threads, [&mut velocity[1]], |row, [out]| {
        if row.j == 1 && borders[1] == Border::Closed {
            return;
        }
        let start = row.index * stride + 1;
        let here = &excess[start..][..grid.cells[0]];
        let below = &excess[start - stride..][..grid.cells[0]];
        for (out, (here, below)) in out[1..].iter_mut().zip(here.iter().zip(below)) {
            *out += 0.5 * gain * (here + below);
        }
    });
    if borders[1] == Border::Open {
        grid.for_each_across(1, |at| {
            let last = at + grid.cells[1] * stride;
            velocity[1][last + stride] += 0.5 * gain * (excess[last] + excess[last + stride]);
        });
    }
}

/// Velocities on faces, read in the middle of cells.
#[derive(Clone, Copy)]
pub(crate) struct Middle<'a> {
    pub grid: Grid,
    pub velocity: &'a [Vec<f32>; 3],
    /// Side of a cell in metres.
    pub side: f32,
}

impl Middle<'_> {
    #[inline(always)]
    fn component(&self, axis: usize, at: usize) -> f32 {
        let field = &self.velocity[axis];
        0.5 * (field[at] + field[at + self.grid.stride[axis]])
    }

    #[inline(always)]
    fn slope(&self, axis: usize, along: usize, at: usize) -> f32 {
        let stride = self.grid.stride[along];
        (self.component(axis, at + stride) - self.component(axis, at - stride)) / (2.0 * self.side)
    }

    /// Vorticity in 1/s in the middle of a cell; in 2D only the third component.
    #[inline(always)]
    pub(crate) fn vorticity<const DIM: usize>(&self, at: usize) -> [f32; 3] {
        let z = self.slope(1, 0, at) - self.slope(0, 1, at);
        if DIM == 2 {
            return [0.0, 0.0, z];
        }
        [
            self.slope(2, 1, at) - self.slope(1, 2, at),
            self.slope(0, 2, at) - self.slope(2, 0, at),
            z,
        ]
    }
}

/// Confinement of vorticity, epsilon h (N x omega), N the direction in which the
/// vorticity's size grows (Fedkiw, Stam & Jensen 2001, equation 11).
pub(crate) struct Confinement<'a> {
    pub borders: [Border; 3],
    pub solids: &'a Solids,
    /// epsilon times dt.
    pub gain: f32,
    pub side: f32,
    pub threads: Threads<'a>,
}

impl Confinement<'_> {
    /// Adds the force to `velocity`; `size` and `force` are scratch.
    pub(crate) fn add(
        &self,
        grid: Grid,
        velocity: &mut [Vec<f32>; 3],
        size: &mut [f32],
        force: &mut [Vec<f32>; 3],
    ) {
        if grid.dim == 3 {
            self.add_as::<3>(grid, velocity, size, force)
        } else {
            self.add_as::<2>(grid, velocity, size, force)
        }
    }

    fn add_as<const DIM: usize>(
        &self,
        grid: Grid,
        velocity: &mut [Vec<f32>; 3],
        size: &mut [f32],
        force: &mut [Vec<f32>; 3],
    ) {
        let middle = Middle { grid, velocity, side: self.side };
        grid.for_rows(self.threads, [&mut *size], |row, [out]| {
            for i in 1..=grid.cells[0] {
                let [x, y, z] = middle.vorticity::<DIM>(row.index * grid.stride[1] + i);
                out[i] = (x * x + y * y + z * z).sqrt();
            }
        });
        fill_cells(&grid, size, self.borders, Beyond::Nearest);
        for axis in 0..DIM {
            let size = &*size;
            grid.for_rows(self.threads, [&mut force[axis][..]], |row, [out]| {
                for i in 1..=grid.cells[0] {
                    let at = row.index * grid.stride[1] + i;
                    out[i] = self.force::<DIM>(middle, size, axis, at);
                }
            });
            fill_cells(&grid, &mut force[axis], self.borders, Beyond::Value(0.0));
        }
        for axis in 0..DIM {
            let (force, stride) = (&force[axis], grid.stride[axis]);
            let fixed = self.borders[axis] != Border::Periodic;
            grid.for_rows(self.threads, [&mut velocity[axis][..]], |row: Row, [out]| {
                if fixed && axis > 0 && [0, row.j, row.k][axis] == 1 {
                    return;
                }
                let first = if axis == 0 && fixed { 2 } else { 1 };
                let start = row.index * grid.stride[1];
                for i in first..=grid.cells[0] {
                    out[i] += 0.5 * (force[start + i] + force[start + i - stride]);
                }
            });
        }
    }

    /// One component of the change of velocity in a cell.
    #[inline(always)]
    fn force<const DIM: usize>(&self, middle: Middle, size: &[f32], axis: usize, at: usize) -> f32 {
        let grid = middle.grid;
        if self.solids.any() && !self.solids.is_far(at, 0.0) {
            // The jump of velocity at a solid is no eddy.
            return 0.0;
        }
        let mut slope = [0.0; 3];
        for along in 0..DIM {
            slope[along] = size[at + grid.stride[along]] - size[at - grid.stride[along]];
        }
        let length = (slope[0] * slope[0] + slope[1] * slope[1] + slope[2] * slope[2]).sqrt();
        if length <= FLAT * size[at] {
            return 0.0;
        }
        let omega = middle.vorticity::<DIM>(at);
        let (b, c) = ((axis + 1) % 3, (axis + 2) % 3);
        self.gain * self.side * (slope[b] * omega[c] - slope[c] * omega[b]) / length
    }
}
