//! Ways to solve the pressure equation.

use super::grid::{Row, dot, largest};
use super::multigrid::Multigrid;
use super::packed::Level;
use super::pass::{Pass, Stage};
use super::stencil::{Apply, Colours, Residual};
use crate::solver::parallel::{Threads, ordered_sum};

/// Sweeps between two looks at the residual.
const SWEEPS_PER_CHECK: u32 = 8;

/// Sweeps that share a pass over the grid: what they touch at a time fits into the
/// first cache at 256 cells along a row, and into the second at 4096.
const SWEEPS_PER_PASS: u32 = 4;

/// Part of the residual that is left by a multigrid cycle that is worth another one.
const SLOW: f32 = 0.35;

/// Residual that may be nothing but rounding, as a fraction of the largest unknown.
const ROUNDING: f32 = 16.0 * f32::EPSILON;

/// Growth of the residual at which conjugate gradients give up at once.
const GROWTH: f32 = 8.0;

/// Iterations in a row without a smaller residual after which conjugate gradients
/// give up: past the rounding of f32 they would drift, in a closed domain without end.
const PATIENCE: u32 = 4;

/// A solve under way.
pub(crate) struct Solve<'a> {
    pub multigrid: &'a mut Multigrid,
    /// The right-hand side; conjugate gradients keep the residual in its place.
    pub rhs: &'a mut [f32],
    pub sums: &'a mut [f64],
    pub maxima: &'a mut [f32],
    /// Largest residual to stop at, in m/s.
    pub target: f32,
    /// Most iterations or sweeps.
    pub limit: u32,
    pub threads: Threads<'a>,
}

impl Solve<'_> {
    /// Gauss-Seidel in the order of storage, on one thread.
    pub(crate) fn sweep(&mut self, p: &mut [f32], scratch: &mut [f32]) -> u32 {
        for count in 1..=self.limit {
            let fine = self.multigrid.fine();
            let grid = fine.grid;
            for row in grid.inner_rows() {
                for i in 1..=grid.cells[0] {
                    let at = fine.at(i, row.j, row.k);
                    let mut sum = p[fine.at(i - 1, row.j, row.k)] + p[fine.at(i + 1, row.j, row.k)];
                    sum += p[fine.at(i, row.j - 1, row.k)] + p[fine.at(i, row.j + 1, row.k)];
                    if grid.dim == 3 {
                        sum += p[fine.at(i, row.j, row.k - 1)] + p[fine.at(i, row.j, row.k + 1)];
                    }
                    p[at] = (self.rhs[at] + sum) * fine.inverse[at];
                }
            }
            fine.wrap(p);
            if self.is_done(count, p, scratch) {
                return count;
            }
        }
        self.limit
    }

    /// Gauss-Seidel colour by colour, over-relaxed by the factor that is best
    /// for a square of as many cells (Young 1954).
    pub(crate) fn red_black(&mut self, p: &mut [f32], scratch: &mut [f32]) -> u32 {
        let level = self.multigrid.fine();
        let longest = level.grid.cells.into_iter().max().unwrap_or(1);
        let omega = 2.0 / (1.0 + (core::f32::consts::PI / (longest as f32 + 1.0)).sin());
        let stages: [Stage; 2 * SWEEPS_PER_PASS as usize] =
            core::array::from_fn(|stage| Stage::OverRelax(stage & 1, omega));
        let mut count = 0;
        while count < self.limit {
            let sweeps = SWEEPS_PER_PASS.min(self.limit - count);
            let (level, threads) = (self.multigrid.fine(), self.threads);
            let stages = &stages[..2 * sweeps as usize];
            Pass { level, stages, rhs: self.rhs, coarser: None, correction: &[], threads }
                .run(p, &mut []);
            count += sweeps;
            if self.is_done(count, p, scratch) {
                break;
            }
        }
        count
    }

    fn is_done(&mut self, count: u32, p: &[f32], scratch: &mut [f32]) -> bool {
        if !count.is_multiple_of(SWEEPS_PER_CHECK) {
            return false;
        }
        self.residual(p, scratch);
        largest(scratch) <= self.target
    }

    /// Multigrid cycles, and where they do not get on conjugate gradients.
    pub(crate) fn multigrid(&mut self, p: &mut [f32], scratch: [&mut [f32]; 3]) -> u32 {
        if !self.multigrid.has_coarse() {
            return self.conjugate_gradients(p, scratch);
        }
        let threads = self.threads;
        let mut residual = self.multigrid.begin(p, self.rhs, threads);
        for count in 0..self.limit {
            if residual <= self.target {
                return count;
            }
            let left = self.multigrid.go_on(p, self.rhs, threads);
            // Not a number counts as slow.
            if !(left <= SLOW * residual) && left > self.target {
                if left <= ROUNDING * largest(p) {
                    return count + 1;
                }
                self.limit -= count + 1;
                return count + 1 + self.conjugate_gradients(p, scratch);
            }
            residual = left;
        }
        self.limit
    }

    /// Conjugate gradients preconditioned by a multigrid cycle.
    fn conjugate_gradients(&mut self, p: &mut [f32], [z, search, image]: [&mut [f32]; 3]) -> u32 {
        // Border cells are read as neighbours: nothing may linger there.
        z.fill(0.0);
        search.fill(0.0);
        image.fill(0.0);
        self.residual(p, image);
        self.rhs.copy_from_slice(image);
        image.fill(0.0);
        let residual = largest(self.rhs);
        if residual <= self.target {
            return 0;
        }
        let count = self.iterate(p, [z, search, image], residual);
        // The border was left behind by the steps along the search.
        self.multigrid.fine().wrap(p);
        count
    }

    /// Iterations of conjugate gradients from a residual `best` on; returns their number.
    fn iterate(
        &mut self,
        p: &mut [f32],
        [z, search, image]: [&mut [f32]; 3],
        mut best: f32,
    ) -> u32 {
        let threads = self.threads;
        let mut last = 0.0;
        let mut idle = 0;
        for count in 1..=self.limit {
            self.multigrid.precondition(z, self.rhs, threads);
            let along = self.dot(z);
            let beta = if count == 1 { 0.0 } else { (along / last) as f32 };
            last = along;
            self.turn(search, z, beta);
            let curvature = self.apply(search, image);
            // Rounding has the last word: nothing more can be gained.
            if !(along > 0.0 && curvature > 0.0) {
                return count;
            }
            let residual = self.advance(p, search, image, (along / curvature) as f32);
            if residual < best {
                (best, idle) = (residual, 0);
            } else {
                idle += 1;
            }
            if residual <= self.target || idle == PATIENCE || residual > GROWTH * best {
                return count;
            }
        }
        self.limit
    }

    /// Writes the residual of `p`, 0 where there is no equation.
    fn residual(&mut self, p: &[f32], out: &mut [f32]) {
        let (level, rhs) = (self.multigrid.fine(), &*self.rhs);
        for_spans(level, out, self.sums, self.threads, |row, colour, out, _| {
            let p = both(level, p, colour);
            level.run::<Residual>(level.span(row, colour), colour, out, p, rhs, 1.0);
        });
    }

    /// Writes the matrix times `p`, 0 where there is no equation; returns the
    /// scalar product of the two.
    fn apply(&mut self, p: &[f32], out: &mut [f32]) -> f64 {
        let level = self.multigrid.fine();
        self.sums.fill(0.0);
        for_spans(level, out, self.sums, self.threads, |row, colour, out, sum| {
            let (span, p) = (level.span(row, colour), both(level, p, colour));
            level.run::<Apply>(span, colour, out, p, &[], 1.0);
            *sum += dot(&p.own[span.start..][..span.count], &out[..span.count]);
        });
        ordered_sum(self.sums)
    }

    /// Scalar product of `z` and the residual.
    fn dot(&mut self, z: &[f32]) -> f64 {
        self.sums.fill(0.0);
        let fine = self.multigrid.fine();
        for (chunk, sum) in self.sums.iter_mut().enumerate() {
            let rows = chunk * fine.grid.chunk_rows()..(chunk + 1) * fine.grid.chunk_rows();
            for start in [0, fine.half] {
                let from = start + rows.start * fine.width;
                let to = start + (rows.end * fine.width).min(fine.half);
                *sum += dot_rows(&z[from..to], &self.rhs[from..to], fine.width);
            }
        }
        ordered_sum(self.sums)
    }

    /// The next direction of search, z + beta search.
    fn turn(&mut self, search: &mut [f32], z: &[f32], beta: f32) {
        let fine = self.multigrid.fine();
        let (red, black) = search.split_at_mut(fine.half);
        let mut nothing = vec![(); fine.grid.chunks()];
        fine.grid.for_rows_with(
            self.threads,
            fine.width,
            [red, black],
            &mut nothing,
            |row, outs, ()| {
                let place = row.index * fine.width;
                for (colour, out) in outs.into_iter().enumerate() {
                    let z = &fine.part(z, colour)[place..][..fine.width];
                    for (out, z) in out.iter_mut().zip(z) {
                        *out = z + beta * *out;
                    }
                }
            },
        );
        fine.wrap(search);
    }

    /// Goes `alpha` along the search; returns the largest residual left.
    fn advance(&mut self, p: &mut [f32], search: &[f32], image: &[f32], alpha: f32) -> f32 {
        let fine = self.multigrid.fine();
        self.maxima.fill(0.0);
        let (p_red, p_black) = p.split_at_mut(fine.half);
        let (r_red, r_black) = self.rhs.split_at_mut(fine.half);
        let outs = [p_red, p_black, r_red, r_black];
        let maxima = &mut *self.maxima;
        fine.grid.for_rows_with(self.threads, fine.width, outs, maxima, |row, outs, found| {
            let place = row.index * fine.width;
            let [p_red, p_black, r_red, r_black] = outs;
            for (colour, p, r) in [(0, p_red, r_red), (1, p_black, r_black)] {
                let search = &fine.part(search, colour)[place..][..fine.width];
                let image = &fine.part(image, colour)[place..][..fine.width];
                for (p, search) in p.iter_mut().zip(search) {
                    *p += alpha * search;
                }
                for (r, image) in r.iter_mut().zip(image) {
                    *r -= alpha * image;
                }
                *found = found.max(largest(r));
            }
        });
        self.maxima.iter().copied().fold(0.0, f32::max)
    }
}

/// Scalar product in pieces of a row each, so that f32 sums stay short.
fn dot_rows(a: &[f32], b: &[f32], width: usize) -> f64 {
    a.chunks(width).zip(b.chunks(width)).map(|(a, b)| dot(a, b)).sum()
}

/// Calls `work` with each row, colour and the part of `out` from that row's first
/// cell of the colour on.
fn for_spans(
    level: &Level,
    out: &mut [f32],
    sums: &mut [f64],
    threads: Threads,
    work: impl Fn(Row, usize, &mut [f32], &mut f64) + Sync,
) {
    let (red, black) = out.split_at_mut(level.half);
    level.grid.for_rows_with(threads, level.width, [red, black], sums, |row, outs, sum| {
        for (colour, out) in outs.into_iter().enumerate() {
            work(row, colour, &mut out[level.span(row, colour).first..], sum);
        }
    });
}

fn both<'a>(level: &Level, p: &'a [f32], colour: usize) -> Colours<'a> {
    Colours { own: level.part(p, colour), other: level.part(p, 1 - colour), offset: 0 }
}
