//! The projection: the pressure that frees a velocity field from divergence.
//!
//! In every formula p stands for pressure times dt/(rho h), in m/s, so that the
//! new velocity of a face is the old one less the difference of p across it.

use super::border::wrap_faces;
use super::gradient::{Gradient, add_difference};
use super::grid::{Grid, largest, total};
use super::multigrid::Multigrid;
use super::packed::{PIECE, deal};
use super::settings::{Border, SmokePressure, SmokeSettings};
use super::solids::Solids;
use super::solve::Solve;
use crate::solver::dispatch::wide_fn;
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

/// What a look at the velocities of cells found.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    /// Largest divergence in m/s.
    divergence: f32,
    /// Largest velocity component on a face.
    fastest: f32,
    /// Sum of the right-hand side.
    total: f64,
}

/// The equation of the pressure, and what solving it needs beside scratch fields.
#[derive(Debug)]
pub(crate) struct Projection {
    multigrid: Multigrid,
    rhs: Vec<f32>,
    /// One number for each chunk of rows.
    sums: Vec<f64>,
    maxima: Vec<f32>,
    found: Vec<Found>,
}

impl Projection {
    pub(crate) fn new(grid: Grid, borders: [Border; 3]) -> Self {
        Self {
            multigrid: Multigrid::new(grid, borders),
            rhs: vec![0.0; grid.len()],
            sums: vec![0.0; grid.chunks()],
            maxima: vec![0.0; grid.chunks()],
            found: vec![Found::default(); grid.chunks()],
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
        let chunks = size_of::<f64>() + size_of::<f32>() + size_of::<Found>();
        self.multigrid.bytes() + 4 * self.rhs.len() + chunks * self.sums.len()
    }

    /// Looks at the divergence of `velocity`, and writes minus that, times h and
    /// less `mean`, as the right-hand side if `keep` says so.
    fn divergence(
        &mut self,
        velocity: &[Vec<f32>; 3],
        mean: f32,
        keep: bool,
        threads: Threads,
    ) -> Found {
        let fine = self.multigrid.fine();
        let grid = fine.grid;
        // A grid without solids has an equation in each cell.
        let all = self.multigrid.equations() == grid.count();
        self.found.fill(Found::default());
        let (red, black) = self.rhs.split_at_mut(fine.half);
        let [u, v, w] = velocity.each_ref().map(Vec::as_slice);
        grid.for_rows_with(
            threads,
            fine.width,
            [red, black],
            &mut self.found,
            |row, out, found| {
                let start = row.index * grid.stride[1] + 1;
                for component in &velocity[..grid.dim] {
                    let faces = &component[start..][..grid.cells[0] + 1];
                    found.fastest = found.fastest.max(largest(faces));
                }
                let [red, black] = out;
                let [odds, evens] =
                    if (row.j + row.k) & 1 == 1 { [red, black] } else { [black, red] };
                for from in (0..grid.cells[0]).step_by(PIECE) {
                    let mut piece = [0.0; PIECE];
                    let count = PIECE.min(grid.cells[0] - from);
                    let (out, at) = (&mut piece[..count], start + from);
                    let lower = &v[at..][..count];
                    let upper = &v[at + grid.stride[1]..][..count];
                    flow_in(out, &u[at..][..count + 1], lower, upper);
                    if grid.dim == 3 {
                        let lower = &w[at..][..count];
                        let upper = &w[at + grid.stride[2]..][..count];
                        add_difference(out, lower, upper, 1.0);
                    }
                    out.iter_mut().for_each(|value| *value -= mean);
                    if !all {
                        for (x, value) in out.iter_mut().enumerate() {
                            if fine.inverse[fine.at(1 + from + x, row.j, row.k)] == 0.0 {
                                *value = 0.0;
                            }
                        }
                    }
                    found.divergence = above(found.divergence, largest(out));
                    found.total += total(out);
                    if keep {
                        deal(out, &mut odds[from / 2..], &mut evens[from / 2 + 1..]);
                    }
                }
            },
        );
        self.found.iter().fold(Found::default(), |sum, found| Found {
            divergence: above(sum.divergence, found.divergence),
            fastest: sum.fastest.max(found.fastest),
            total: sum.total + found.total,
        })
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
        let Found { divergence: before, fastest, total } =
            self.divergence(velocity, 0.0, true, threads);
        let floor = ROUNDING * fastest;
        let mut done = Projected { before, after: before, iterations: 0 };
        if self.multigrid.is_singular() && self.multigrid.equations() > 0 {
            // A closed domain holds what it holds: what flows in through moving
            // obstacles on balance cannot leave, and is spread evenly.
            let mean = total / self.multigrid.equations() as f64;
            if mean.abs() > f64::from(1e-3 * settings.tolerance * before) {
                self.divergence(velocity, mean as f32, true, threads);
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
            SmokePressure::Multigrid => solve.multigrid(pressure, [&mut *first, second, third]),
        };
        let borders = settings.borders();
        let fine = self.multigrid.fine();
        let gradient = Gradient::new(fine, pressure, first, borders, threads);
        for (axis, field) in velocity.iter_mut().enumerate().take(fine.grid.dim) {
            gradient.subtract(axis, field, 1.0);
        }
        wrap_faces(&fine.grid, velocity, borders);
        solids.hold(velocity);
        done.after = self.divergence(velocity, 0.0, false, threads).divergence;
        done
    }

    /// The gradient of the pressure that the last projection ended with, laid out
    /// where its right-hand side was.
    pub(crate) fn gradient<'a>(
        &'a mut self,
        pressure: &[f32],
        borders: [Border; 3],
        threads: Threads<'a>,
    ) -> Gradient<'a> {
        Gradient::new(self.multigrid.fine(), pressure, &mut self.rhs, borders, threads)
    }
}

wide_fn!(
    /// Writes what flows into cells through their faces across x and y.
    fn flow_in[][](out: &mut [f32], west: &[f32], south: &[f32], north: &[f32]) = flow_in_each
);

#[inline(always)]
fn flow_in_each(out: &mut [f32], west: &[f32], south: &[f32], north: &[f32]) {
    let n = out.len();
    let (east, west) = (&west[1..][..n], &west[..n]);
    let (south, north) = (&south[..n], &north[..n]);
    for x in 0..n {
        out[x] = (west[x] - east[x]) + (south[x] - north[x]);
    }
}

/// The larger number; what is not a number counts as infinite.
fn above(found: f32, value: f32) -> f32 {
    if value <= found { found } else { value.max(f32::MIN) }
}
