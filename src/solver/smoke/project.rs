//! The projection: the pressure that frees a velocity field from divergence.
//!
//! In every formula p stands for pressure times dt/(rho h), in m/s, so that the
//! new velocity of a face is the old one less the difference of p across it.

use super::border::{wrap_cells, wrap_faces};
use super::grid::{Grid, Row, largest, total};
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
                        add_difference(out, lower, upper);
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
        self.subtract_gradient(velocity, pressure, first, settings.borders(), threads);
        solids.hold(velocity);
        done.after = self.divergence(velocity, 0.0, false, threads).divergence;
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
        for row in (0..grid.rows()).filter(|&row| grid.row(row).is_none()) {
            natural[row * grid.stride[1]..][..grid.stride[1]].fill(0.0);
        }
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
                add_difference(&mut out[first..][..count], below, here);
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

wide_fn!(
    /// Adds `plus - minus`.
    fn add_difference[][](out: &mut [f32], plus: &[f32], minus: &[f32]) = add_difference_each
);

#[inline(always)]
fn add_difference_each(out: &mut [f32], plus: &[f32], minus: &[f32]) {
    let n = out.len();
    let (plus, minus) = (&plus[..n], &minus[..n]);
    for x in 0..n {
        out[x] += plus[x] - minus[x];
    }
}

/// The larger number; what is not a number counts as infinite.
fn above(found: f32, value: f32) -> f32 {
    if value <= found { found } else { value.max(f32::MIN) }
}
