//! The projection: the pressure that frees a velocity field from divergence.
//!
//! In every formula p stands for pressure times dt/(rho h), in m/s, so that the
//! new velocity of a face is the old one less the difference of p across it.

use super::border::{wrap_cells, wrap_faces};
use super::grid::{Grid, Row, largest};
use super::multigrid::Multigrid;
use super::settings::{Border, SmokePressure, SmokeSettings};
use super::solids::Solids;
use super::solve::Solve;
use crate::solver::parallel::Threads;

/// Rounding of a sum of velocities, as a fraction of the largest one.
const ROUNDING: f32 = 4.0 * f32::EPSILON;

/// What a projection did.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Projected {
    /// Largest divergence before, in m/s: times 1/h in 1/s.
    pub before: f32,
    /// Largest divergence after, measured on the new velocities, in m/s.
    pub after: f32,
    /// Iterations or sweeps.
    pub iterations: u32,
}

/// The equation of the pressure, and what solving it needs beside scratch fields.
#[derive(Debug)]
pub(crate) struct Projection {
    multigrid: Multigrid,
    rhs: Vec<f32>,
    /// One number for each chunk of rows.
    sums: Vec<f64>,
    maxima: Vec<f32>,
}

impl Projection {
    pub(crate) fn new(grid: Grid, borders: [Border; 3]) -> Self {
        Self {
            multigrid: Multigrid::new(grid, borders),
            rhs: vec![0.0; grid.len()],
            sums: vec![0.0; grid.chunks()],
            maxima: vec![0.0; grid.chunks()],
        }
    }

    pub(crate) fn multigrid(&self) -> &Multigrid {
        &self.multigrid
    }

    pub(crate) fn multigrid_mut(&mut self) -> &mut Multigrid {
        &mut self.multigrid
    }

    /// Bytes of all buffers.
    pub(crate) fn bytes(&self) -> usize {
        self.multigrid.bytes() + 4 * self.rhs.len() + 8 * self.sums.len() + 4 * self.maxima.len()
    }

    /// Writes minus the divergence of `velocity` times h, less `mean`, as the
    /// right-hand side. Returns its largest absolute value.
    pub(crate) fn divergence(
        &mut self,
        velocity: &[Vec<f32>; 3],
        mean: f32,
        threads: Threads,
    ) -> f32 {
        let fine = self.multigrid.fine();
        let grid = fine.grid;
        self.maxima.fill(0.0);
        let (red, black) = self.rhs.split_at_mut(fine.half);
        let maxima = &mut self.maxima;
        let [u, v, w] = velocity.each_ref().map(Vec::as_slice);
        grid.for_rows_with(threads, fine.width, [red, black], maxima, |row, outs, found| {
            for (colour, out) in outs.into_iter().enumerate() {
                let span = fine.span(row, colour);
                if span.count == 0 {
                    continue;
                }
                let out = &mut out[span.first..][..span.count];
                let inverse = &fine.part(&fine.inverse, colour)[span.start..][..span.count];
                let start = row.index * grid.stride[1] + 2 * span.first + span.odd;
                let length = 2 * span.count - 1;
                let (up, high) = (grid.stride[1], grid.stride[2]);
                let west = &u[start..][..length + 1];
                let (south, north) = (&v[start..][..length], &v[start + up..][..length]);
                let flux =
                    |x: usize| (west[2 * x + 1] - west[2 * x]) + (north[2 * x] - south[2 * x]);
                if grid.dim == 2 {
                    for x in 0..span.count {
                        out[x] = if inverse[x] > 0.0 { -flux(x) - mean } else { 0.0 };
                    }
                } else {
                    let (down, above) = (&w[start..][..length], &w[start + high..][..length]);
                    for x in 0..span.count {
                        let sum = flux(x) + (above[2 * x] - down[2 * x]);
                        out[x] = if inverse[x] > 0.0 { -sum - mean } else { 0.0 };
                    }
                }
                *found = above(*found, largest(out));
            }
        });
        self.maxima.iter().copied().fold(0.0, above)
    }

    /// Largest velocity component on any face of a cell.
    fn fastest(&mut self, velocity: &[Vec<f32>; 3]) -> f32 {
        let grid = self.multigrid.fine().grid;
        let mut found = 0.0f32;
        for row in grid.inner_rows() {
            for component in &velocity[..grid.dim] {
                let start = row.index * grid.stride[1] + 1;
                found = found.max(largest(&component[start..][..grid.cells[0] + 1]));
            }
        }
        found
    }

    /// Sum of the right-hand side over all cells with an equation.
    fn total(&self) -> f64 {
        let fine = self.multigrid.fine();
        let mut total = 0.0f64;
        for row in fine.grid.inner_rows() {
            for colour in 0..2 {
                let span = fine.span(row, colour);
                let part = &fine.part(&self.rhs, colour)[span.start..][..span.count];
                total += f64::from(part.iter().sum::<f32>());
            }
        }
        total
    }

    /// Frees `velocity` from divergence. `pressure`, by colours, is where the
    /// search starts and ends; the three scratch fields are overwritten.
    pub(crate) fn project(
        &mut self,
        velocity: &mut [Vec<f32>; 3],
        pressure: &mut [f32],
        scratch: [&mut [f32]; 3],
        settings: &SmokeSettings,
        solids: &Solids,
        threads: Threads,
    ) -> Projected {
        let before = self.divergence(velocity, 0.0, threads);
        let floor = ROUNDING * self.fastest(velocity);
        let mut done = Projected { before, after: before, iterations: 0 };
        if self.multigrid.is_singular() && self.multigrid.equations() > 0 {
            // A closed domain holds what it holds: what flows in through moving
            // obstacles on balance cannot leave, and is spread evenly.
            let mean = self.total() / self.multigrid.equations() as f64;
            if mean.abs() > f64::from(1e-3 * settings.tolerance * before) {
                self.divergence(velocity, mean as f32, threads);
            }
        }
        // Not a number, or nothing to do.
        if !(before > floor && before.is_finite()) {
            return done;
        }
        let target = (settings.tolerance * before).max(floor);
        let limit = settings.iterations;
        let [first, second, third] = scratch;
        let mut solve = Solve {
            multigrid: &mut self.multigrid,
            rhs: &mut self.rhs,
            sums: &mut self.sums,
            maxima: &mut self.maxima,
            target,
            limit,
            threads,
        };
        done.iterations = match settings.pressure {
            SmokePressure::Sweeps => solve.sweep(pressure, first),
            SmokePressure::RedBlack => solve.red_black(pressure, first),
            SmokePressure::Multigrid => {
                solve.conjugate_gradients(pressure, [&mut *first, second, third])
            }
        };
        self.subtract_gradient(velocity, pressure, first, settings.borders(), threads);
        solids.hold(velocity);
        done.after = self.divergence(velocity, 0.0, threads);
        done
    }

    /// Takes the differences of p off the velocities of all faces but those of
    /// closed borders; solid faces are the caller's.
    fn subtract_gradient(
        &self,
        velocity: &mut [Vec<f32>; 3],
        pressure: &[f32],
        natural: &mut [f32],
        borders: [Border; 3],
        threads: Threads,
    ) {
        let fine = self.multigrid.fine();
        let grid = fine.grid;
        natural.fill(0.0);
        fine.unpack(pressure, natural, threads);
        wrap_cells(&grid, natural, borders);
        for axis in 0..grid.dim {
            // A periodic border's far faces are copies; an open one's have a row of their own.
            let closed = borders[axis] == Border::Closed;
            let natural = &*natural;
            let work = |row: Row, [out]: [&mut [f32]; 1]| {
                let place = [1, row.j, row.k][axis];
                if axis > 0 && closed && place == 1 {
                    return;
                }
                let first = if axis == 0 && closed { 2 } else { 1 };
                let start = row.index * grid.stride[1] + first;
                let count = (grid.cells[0] + 1).saturating_sub(first);
                let here = &natural[start..][..count];
                let below = &natural[start - grid.stride[axis]..][..count];
                let out = &mut out[first..][..count];
                for x in 0..count {
                    out[x] -= here[x] - below[x];
                }
            };
            grid.for_rows(threads, [&mut velocity[axis][..]], work);
            if borders[axis] == Border::Open {
                let face = grid.cells[axis] + 1;
                grid.for_each_across(axis, |at| {
                    let at = at + face * grid.stride[axis];
                    velocity[axis][at] += natural[at - grid.stride[axis]];
                });
            }
        }
        wrap_faces(&grid, velocity, borders);
    }
}

/// The larger number; what is not a number counts as infinite.
fn above(found: f32, value: f32) -> f32 {
    if value <= found { found } else { value.max(f32::MIN) }
}
