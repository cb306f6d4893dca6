//! A pass over a grid of the pressure equation: relaxation, and the ways to and
//! from the next coarser grid.

use core::sync::atomic::{AtomicU32, Ordering};

use super::grid::{Grid, Row, largest};
use super::packed::{Level, PIECE, Span, deal};
use super::stencil::{Colours, OverRelax, Relax, Residual, Start};
use super::wave::{Band, Lines, Wave};
use crate::solver::dispatch::wide_fn;
use crate::solver::parallel::Threads;

/// One thing that a pass does to each cell or to those of a colour.
#[derive(Clone, Copy)]
pub(crate) enum Stage {
    /// Adds the correction from the coarser grid.
    Prolong,
    /// A Gauss-Seidel sweep over a colour from p = 0 everywhere.
    Start(usize),
    /// A Gauss-Seidel sweep over a colour.
    Relax(usize),
    /// A sweep over a colour over-relaxed by a factor.
    OverRelax(usize, f32),
    /// Sums the residual over the cells of each coarse one. That of black cells
    /// counts as 0, as it is right after their sweep.
    Restrict,
}

/// The coarser grid of a pass.
#[derive(Clone, Copy)]
pub(crate) struct Coarser<'a> {
    pub level: &'a Level,
    /// Axes along which its cells are twice as long.
    pub halved: [bool; 3],
    /// Part of the sum of residuals that it takes as its right-hand side.
    pub scale: f32,
    /// Whether its correction is interpolated, or copied to all cells of a coarse one.
    pub smooth: bool,
}

/// Stages over a grid, in their order.
pub(crate) struct Pass<'a> {
    pub level: &'a Level,
    pub stages: &'a [Stage],
    pub rhs: &'a [f32],
    pub coarser: Option<Coarser<'a>>,
    /// The coarser grid's unknowns in natural order, their border layer filled.
    pub correction: &'a [f32],
    pub threads: Threads<'a>,
}

impl Pass<'_> {
    /// Goes over `p`; what is restricted goes into `coarse`. Returns the largest
    /// residual that was restricted, infinite if one is no number.
    pub(crate) fn run(&self, p: &mut [f32], coarse: &mut [f32]) -> f32 {
        let found = AtomicU32::new(0);
        let level = self.level;
        let in_unit = match self.coarser {
            Some(coarser) if coarser.halved[level.grid.dim - 1] => 2,
            _ => 1,
        };
        let units = level.lines().div_ceil(in_unit);
        let coarse_line = self.coarser.map_or(0, |coarser| coarser.level.line());
        // Lines at a periodic border wait for those at the other end.
        let at_once = if level.periodic[level.grid.dim - 1] { 1 } else { self.stages.len().max(1) };
        for stages in self.stages.chunks(at_once) {
            let wave = Wave { units, stages: stages.len(), cells: level.grid.count() };
            let (red, black) = p.split_at_mut(level.half);
            let (coarse_red, coarse_black) = coarse.split_at_mut(coarse.len() / 2);
            let lines = Lines {
                arrays: [red, black, coarse_red, coarse_black],
                line: [level.line(), level.line(), coarse_line, coarse_line],
                per_unit: [in_unit, in_unit, 1, 1],
            };
            wave.run(lines, self.threads, |stage, unit, band| {
                let first = 1 + in_unit * unit;
                let lines = first..=(first + in_unit - 1).min(level.lines());
                if let Stage::Restrict = stages[stage] {
                    let largest = self.restrict(unit + 1, band);
                    // As bits, numbers from 0 on have their own order.
                    if largest.to_bits() > found.load(Ordering::Relaxed) {
                        found.fetch_max(largest.to_bits(), Ordering::Relaxed);
                    }
                    return;
                }
                for line in lines {
                    for row in level.rows_of(line) {
                        self.visit(stages[stage], row, band);
                    }
                    let [red, black, ..] = &mut band.arrays;
                    level.wrap_line(line, [red, black], band.offsets[0]);
                }
            });
            let (red, black) = p.split_at_mut(level.half);
            level.wrap_lines([red, black]);
        }
        f32::from_bits(found.into_inner())
    }

    /// What a stage does to a row.
    #[inline(always)]
    fn visit(&self, stage: Stage, row: Row, band: &mut Band<4>) {
        let offset = band.offsets[0];
        let [red, black, ..] = &mut band.arrays;
        let (colour, omega) = match stage {
            Stage::Prolong => {
                self.prolong(row, 0, red, offset);
                self.prolong(row, 1, black, offset);
                return;
            }
            Stage::Start(colour) | Stage::Relax(colour) => (colour, 1.0),
            Stage::OverRelax(colour, omega) => (colour, omega),
            Stage::Restrict => return,
        };
        let (own, other) = if colour == 0 { (red, black) } else { (black, red) };
        let span = self.level.span(row, colour);
        let out = &mut own[span.start - offset..];
        let p = Colours { own: &[], other, offset };
        match stage {
            Stage::Start(_) => {
                self.level.run::<Start>(span, colour, out, p, self.rhs, omega);
            }
            Stage::OverRelax(..) => {
                self.level.run::<OverRelax>(span, colour, out, p, self.rhs, omega);
            }
            _ => self.level.run::<Relax>(span, colour, out, p, self.rhs, omega),
        }
    }

    /// Restricts the residual to a line of the coarser grid; returns the largest.
    fn restrict(&self, line: usize, band: &mut Band<4>) -> f32 {
        let Some(coarser) = self.coarser else { return 0.0 };
        let (level, fine) = (coarser.level, self.level.grid);
        let [red, black, coarse_red, coarse_black] = &mut band.arrays;
        let p = Colours { own: red, other: black, offset: band.offsets[0] };
        let mut found = 0.0f32;
        let (mut sums, mut residual) = ([0.0; PIECE], [0.0; PIECE]);
        for row in level.rows_of(line) {
            let start = row.index * level.width - band.offsets[2];
            let halves = [&mut coarse_red[start..], &mut coarse_black[start..]];
            let [red, black] = halves.map(|half| &mut half[..level.width]);
            let [odds, evens] = if (row.j + row.k) & 1 == 1 { [red, black] } else { [black, red] };
            for from in (0..level.grid.cells[0]).step_by(PIECE) {
                let sums = &mut sums[..PIECE.min(level.grid.cells[0] - from)];
                sums.fill(0.0);
                for k in children(row.k, coarser.halved[2], fine.cells[2]) {
                    for j in children(row.j, coarser.halved[1], fine.cells[1]) {
                        let row = Row { index: j + k * fine.plane_rows(), j, k };
                        let residual = self.residual(row, from, p, sums.len(), &mut residual);
                        let halved = coarser.halved[0];
                        add_up(sums, residual, halved, self.level.span(row, 0).odd, &mut found);
                    }
                }
                sums.iter_mut().for_each(|sum| *sum *= coarser.scale);
                deal(sums, &mut odds[from / 2..], &mut evens[from / 2 + 1..]);
            }
        }
        found
    }

    /// Residuals of the red cells of a row that are part of `count` coarse cells
    /// from number `from` on.
    fn residual<'b>(
        &self,
        row: Row,
        from: usize,
        p: Colours,
        count: usize,
        out: &'b mut [f32; PIECE],
    ) -> &'b [f32] {
        let halved = self.coarser.is_some_and(|coarser| coarser.halved[0]);
        let span = self.level.span(row, 0);
        // Halved, a row's red cells belong to one coarse cell each.
        let (skipped, most) =
            if halved { (from, count) } else { (from / 2, (count + span.odd) / 2) };
        let count = most.min(span.count.saturating_sub(skipped));
        let piece = Span { start: span.start + skipped, count, ..span };
        let out = &mut out[..count];
        self.level.run::<Residual>(piece, 0, out, p, self.rhs, 1.0);
        out
    }

    /// Adds to the cells of a colour in a row what the coarser grid says.
    #[inline(always)]
    fn prolong(&self, row: Row, colour: usize, out: &mut [f32], offset: usize) {
        let Some(coarser) = self.coarser else { return };
        let coarse = coarser.level.grid;
        let Span { first, start, count, odd } = self.level.span(row, colour);
        let out = &mut out[start - offset..][..count];
        let inverse = &self.level.part(&self.level.inverse, colour)[start..][..count];
        let place = [0, row.j, row.k];
        let parent = |axis: usize| {
            if coarser.halved[axis] { place[axis].div_ceil(2) } else { place[axis] }
        };
        // The coarse neighbour on the cell's side of its parent.
        let beside = |axis: usize| match (coarser.halved[axis] && coarser.smooth, place[axis] & 1) {
            (false, _) => parent(axis),
            (true, 1) => parent(axis) - 1,
            (true, _) => parent(axis) + 1,
        };
        let rows = [
            coarse.index(0, parent(1), parent(2)),
            coarse.index(0, beside(1), parent(2)),
            coarse.index(0, parent(1), beside(2)),
            coarse.index(0, beside(1), beside(2)),
        ];
        let rows = rows.map(|from| &self.correction[from..][..coarse.stride[1]]);
        if !coarser.halved[0] {
            for x in 0..count {
                let at = 2 * (first + x) + odd;
                let [a, b, c, d] = rows.map(|row| row[at]);
                let value = if self.level.grid.dim == 3 {
                    0.5625 * a + 0.1875 * (b + c) + 0.0625 * d
                } else {
                    0.75 * a + 0.25 * b
                };
                out[x] += if inverse[x] > 0.0 { value } else { 0.0 };
            }
            return;
        }
        if !coarser.smooth {
            copy(out, &rows[0][1..], inverse);
        } else if self.level.grid.dim == 3 {
            interpolate::<3>(out, &rows, 2 * first, inverse);
        } else {
            interpolate::<2>(out, &rows, 2 * first, inverse);
        }
    }
}

#[inline(never)]
fn copy(out: &mut [f32], from: &[f32], inverse: &[f32]) {
    let n = out.len();
    let (from, inverse) = (&from[..n], &inverse[..n]);
    for x in 0..n {
        out[x] += if inverse[x] > 0.0 { from[x] } else { 0.0 };
    }
}

wide_fn!(
    /// Adds linear interpolation between coarse rows: three quarters from the
    /// parent along each axis, a quarter from the cell on the other side. Parents
    /// begin at place 1 of the rows, the cells beside them at `side`.
    fn interpolate[const DIM: usize][DIM](
        out: &mut [f32],
        rows: &[&[f32]; 4],
        side: usize,
        inverse: &[f32],
    ) = interpolate_each::<DIM>
);

#[inline(always)]
fn interpolate_each<const DIM: usize>(
    out: &mut [f32],
    rows: &[&[f32]; 4],
    side: usize,
    inverse: &[f32],
) {
    let n = out.len();
    let inverse = &inverse[..n];
    let (a, b) = (&rows[0][1..][..n], &rows[1][1..][..n]);
    let (c, d) = (&rows[2][1..][..n], &rows[3][1..][..n]);
    let (e, f) = (&rows[0][side..][..n], &rows[1][side..][..n]);
    let (g, h) = (&rows[2][side..][..n], &rows[3][side..][..n]);
    for x in 0..n {
        let mut own = 0.75 * a[x] + 0.25 * b[x];
        let mut side = 0.75 * e[x] + 0.25 * f[x];
        if DIM == 3 {
            own = 0.75 * own + 0.25 * (0.75 * c[x] + 0.25 * d[x]);
            side = 0.75 * side + 0.25 * (0.75 * g[x] + 0.25 * h[x]);
        }
        let value = 0.75 * own + 0.25 * side;
        out[x] += if inverse[x] > 0.0 { value } else { 0.0 };
    }
}

wide_fn!(
    /// Adds residuals to the sums of coarse cells, one to each or, where they are
    /// not halved along the row, to those of their parity; and looks for the largest.
    fn add_up[][](
        sums: &mut [f32],
        residual: &[f32],
        halved: bool,
        odd: usize,
        found: &mut f32,
    ) = add_up_each
);

#[inline(always)]
fn add_up_each(sums: &mut [f32], residual: &[f32], halved: bool, odd: usize, found: &mut f32) {
    *found = found.max(largest(residual));
    if halved {
        sums.iter_mut().zip(residual).for_each(|(sum, r)| *sum += r);
    } else {
        let sums = sums.iter_mut().skip(1 - odd).step_by(2);
        sums.zip(residual).for_each(|(sum, r)| *sum += r);
    }
}

/// The cells along an axis that a coarse cell is made of.
pub(crate) fn children(
    coarse: usize,
    halved: bool,
    cells: usize,
) -> core::ops::RangeInclusive<usize> {
    if halved { 2 * coarse - 1..=(2 * coarse).min(cells) } else { coarse..=coarse }
}

/// Fills the border layer of a correction for interpolation across `axis`: what
/// it is multiplied by beyond a border, or none where the other side comes next.
pub(crate) fn fill_beyond(grid: &Grid, field: &mut [f32], axis: usize, mirror: Option<f32>) {
    let stride = grid.stride[axis];
    let last = grid.cells[axis] * stride;
    super::border::for_each_around(grid, axis, None, |at| {
        (field[at], field[at + last + stride]) = match mirror {
            Some(factor) => (factor * field[at + stride], factor * field[at + last]),
            None => (field[at + last], field[at + stride]),
        };
    });
}
