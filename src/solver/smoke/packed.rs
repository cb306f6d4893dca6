//! A pressure equation on one grid, its cells kept apart by colour.
//!
//! A cell (i, j, k) is red if i + j + k is even, else black. An array holds all
//! red cells in its first half, row by row, and all black ones in its second:
//! cell i lies at place i/2 of its row. A Gauss-Seidel sweep over one colour
//! then reads and writes contiguous memory, in any order and on all threads.
//!
//! The equation of a cell is `diagonal p - sum of w p over its neighbours = rhs`.
//! Solid cells and the border hold p = 0, so that where all weights are 1 their
//! terms vanish by themselves and only the diagonal knows of them.

use super::grid::{Grid, Row, dot};
use crate::solver::parallel::Threads;

/// The equation's coefficients on one grid.
#[derive(Clone, Debug)]
pub(crate) struct Level {
    pub grid: Grid,
    /// Length of half a row.
    pub width: usize,
    /// Length of half an array.
    pub half: usize,
    /// 1/diagonal; 0 in cells without an equation.
    pub inverse: Vec<f32>,
    /// Weight of the neighbour below along each axis; empty where all are 1.
    pub weights: [Vec<f32>; 3],
    /// Axes whose borders are periodic.
    pub periodic: [bool; 3],
}

/// The cells of one colour in a row.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    /// Parity of their index along x.
    pub odd: usize,
    /// Place of the first one in half a row.
    pub first: usize,
    /// Their number.
    pub count: usize,
    /// Index of the first one in half an array.
    pub start: usize,
}

impl Level {
    pub(crate) fn new(grid: Grid, periodic: [bool; 3], weighted: bool) -> Self {
        let weights = core::array::from_fn(|axis| {
            vec![0.0; if weighted && axis < grid.dim { grid.len() } else { 0 }]
        });
        let width = grid.stride[1] / 2;
        let half = grid.len() / 2;
        let periodic = core::array::from_fn(|axis| axis < grid.dim && periodic[axis]);
        Self { grid, width, half, inverse: vec![0.0; grid.len()], weights, periodic }
    }

    /// Index of a cell in an array.
    #[inline(always)]
    pub(crate) fn at(&self, i: usize, j: usize, k: usize) -> usize {
        let row = j + k * self.grid.plane_rows();
        ((i + j + k) & 1) * self.half + row * self.width + i / 2
    }

    /// The cells of a colour in a row.
    #[inline(always)]
    pub(crate) fn span(&self, row: Row, colour: usize) -> Span {
        let odd = (row.j + row.k + colour) & 1;
        let first = 1 - odd;
        let count = (self.grid.cells[0] + 2 - odd) / 2 - first;
        let count = if self.grid.cells[0] < odd { 0 } else { count };
        Span { odd, first, count, start: row.index * self.width + first }
    }

    /// Distance in half an array to the next row of the next plane.
    fn plane(&self) -> usize {
        self.width * self.grid.plane_rows()
    }

    /// Runs an operation over the cells of a span.
    #[inline(always)]
    fn run<O: Operation, const DIM: usize, const WEIGHTED: bool>(
        &self,
        span: Span,
        colour: usize,
        out: &mut [f32],
        p: Colours,
        rhs: &[f32],
        factor: f32,
    ) {
        let Span { odd, start, count, .. } = span;
        let (row, plane) = (self.width, self.plane());
        let side_start = if odd == 0 { start - 1 } else { start + 1 };
        let (own, other) = (p.own, p.other);
        let inverse = &self.part(&self.inverse, colour)[start..][..count];
        let rhs = if rhs.is_empty() { inverse } else { &self.part(rhs, colour)[start..][..count] };
        let own = if own.is_empty() { inverse } else { &own[start..][..count] };
        let same = &other[start..][..count];
        let side = &other[side_start..][..count];
        let south = &other[start - row..][..count];
        let north = &other[start + row..][..count];
        let (down, up) = if DIM == 3 {
            (&other[start - plane..][..count], &other[start + plane..][..count])
        } else {
            (same, same)
        };
        let weights = |axis: usize, upper: bool| {
            if !WEIGHTED || axis >= DIM {
                return same;
            }
            // The weight of the upper neighbour is that cell's own.
            let stride = [0, row, plane][axis];
            let from = match (axis, upper) {
                (0, true) if odd == 1 => start + 1,
                (_, true) => start + stride,
                (_, false) => start,
            };
            let colour = if upper { 1 - colour } else { colour };
            &self.part(&self.weights[axis], colour)[from..][..count]
        };
        // Of the two neighbours along x one lies in the same place, above or below.
        let (w_same, w_side) = (weights(0, odd == 0), weights(0, odd == 1));
        each::<O, DIM, WEIGHTED>(
            &mut out[..count],
            own,
            rhs,
            inverse,
            same,
            side,
            south,
            north,
            down,
            up,
            w_same,
            w_side,
            weights(1, false),
            weights(1, true),
            weights(2, false),
            weights(2, true),
            factor,
        );
    }

    /// The half of an array that holds a colour.
    #[inline(always)]
    pub(crate) fn part<'a>(&self, array: &'a [f32], colour: usize) -> &'a [f32] {
        if array.is_empty() { array } else { &array[colour * self.half..][..self.half] }
    }

    /// The half of a colour to write, and the other one.
    #[inline(always)]
    fn split<'a>(&self, array: &'a mut [f32], colour: usize) -> (&'a mut [f32], &'a [f32]) {
        let (red, black) = array.split_at_mut(self.half);
        if colour == 0 { (red, black) } else { (black, red) }
    }

    /// Makes the constant code of a pass: 2D or 3D, with weights or without.
    fn is_weighted(&self) -> bool {
        !self.weights[0].is_empty()
    }

    /// One Gauss-Seidel sweep over a colour, over-relaxed by `omega`.
    pub(crate) fn relax(
        &self,
        colour: usize,
        p: &mut [f32],
        rhs: &[f32],
        omega: f32,
        threads: Threads,
    ) {
        match (self.grid.dim, self.is_weighted()) {
            (3, false) => self.relax_as::<3, false>(colour, p, rhs, omega, threads),
            (3, true) => self.relax_as::<3, true>(colour, p, rhs, omega, threads),
            (_, false) => self.relax_as::<2, false>(colour, p, rhs, omega, threads),
            (_, true) => self.relax_as::<2, true>(colour, p, rhs, omega, threads),
        }
        self.wrap(p);
    }

    fn relax_as<const DIM: usize, const WEIGHTED: bool>(
        &self,
        colour: usize,
        p: &mut [f32],
        rhs: &[f32],
        omega: f32,
        threads: Threads,
    ) {
        let (own, other) = self.split(p, colour);
        let mut nothing = vec![(); self.grid.chunks()];
        self.grid.for_rows_with(threads, self.width, [own], &mut nothing, |row, [out], ()| {
            let span = self.span(row, colour);
            let out = &mut out[span.first..];
            let p = Colours { own: &[], other };
            if omega == 1.0 {
                self.run::<Relax, DIM, WEIGHTED>(span, colour, out, p, rhs, omega);
            } else {
                self.run::<OverRelax, DIM, WEIGHTED>(span, colour, out, p, rhs, omega);
            }
        });
    }

    /// The sweep over a colour from p = 0 everywhere; the other colour's values stay.
    pub(crate) fn relax_from_zero(
        &self,
        colour: usize,
        p: &mut [f32],
        rhs: &[f32],
        threads: Threads,
    ) {
        let (own, _) = self.split(p, colour);
        let (rhs, inverse) = (self.part(rhs, colour), self.part(&self.inverse, colour));
        let mut nothing = vec![(); self.grid.chunks()];
        self.grid.for_rows_with(threads, self.width, [own], &mut nothing, |row, [out], ()| {
            let Span { first, start, count, .. } = self.span(row, colour);
            let out = &mut out[first..][..count];
            for (out, (rhs, inverse)) in
                out.iter_mut().zip(rhs[start..][..count].iter().zip(&inverse[start..][..count]))
            {
                *out = rhs * inverse;
            }
        });
        self.wrap(p);
    }

    /// Writes `out = A p`, or the residual `rhs - A p` where there is a right-hand
    /// side, for both colours, 0 where there is no equation; returns the sum of
    /// p out over all cells.
    pub(crate) fn apply(
        &self,
        p: &[f32],
        rhs: Option<&[f32]>,
        out: &mut [f32],
        sums: &mut [f64],
        threads: Threads,
    ) -> f64 {
        match (self.grid.dim, self.is_weighted()) {
            (3, false) => self.apply_as::<3, false>(p, rhs, out, sums, threads),
            (3, true) => self.apply_as::<3, true>(p, rhs, out, sums, threads),
            (_, false) => self.apply_as::<2, false>(p, rhs, out, sums, threads),
            (_, true) => self.apply_as::<2, true>(p, rhs, out, sums, threads),
        }
    }

    fn apply_as<const DIM: usize, const WEIGHTED: bool>(
        &self,
        p: &[f32],
        rhs: Option<&[f32]>,
        out: &mut [f32],
        sums: &mut [f64],
        threads: Threads,
    ) -> f64 {
        sums.fill(0.0);
        let (red, black) = out.split_at_mut(self.half);
        self.grid.for_rows_with(threads, self.width, [red, black], sums, |row, outs, sum| {
            for (colour, out) in outs.into_iter().enumerate() {
                let span = self.span(row, colour);
                let Span { first, start, count, .. } = span;
                let out = &mut out[first..][..count];
                let (own, other) = (self.part(p, colour), self.part(p, 1 - colour));
                let both = Colours { own, other };
                if let Some(rhs) = rhs {
                    self.run::<Residual, DIM, WEIGHTED>(span, colour, out, both, rhs, 1.0);
                } else {
                    self.run::<Apply, DIM, WEIGHTED>(span, colour, out, both, &[], 1.0);
                }
                *sum += dot(&own[start..][..count], out);
            }
        });
        crate::solver::parallel::ordered_sum(sums)
    }

    /// Residual `rhs - A p` of the red cells, added over the cells of each
    /// coarse one into an array in natural order; black residuals count as 0,
    /// as they are right after their sweep.
    pub(crate) fn restrict_red(
        &self,
        p: &[f32],
        rhs: &[f32],
        coarse: Grid,
        halved: [bool; 3],
        natural: &mut [f32],
        threads: Threads,
    ) {
        match (self.grid.dim, self.is_weighted()) {
            (3, false) => self.restrict_as::<3, false>(p, rhs, coarse, halved, natural, threads),
            (3, true) => self.restrict_as::<3, true>(p, rhs, coarse, halved, natural, threads),
            (_, false) => self.restrict_as::<2, false>(p, rhs, coarse, halved, natural, threads),
            (_, true) => self.restrict_as::<2, true>(p, rhs, coarse, halved, natural, threads),
        }
    }

    fn restrict_as<const DIM: usize, const WEIGHTED: bool>(
        &self,
        p: &[f32],
        rhs: &[f32],
        coarse: Grid,
        halved: [bool; 3],
        natural: &mut [f32],
        threads: Threads,
    ) {
        let natural = &mut natural[..coarse.len()];
        coarse.for_rows(threads, [natural], |row, [out]| {
            out.fill(0.0);
            for k in children(row.k, halved[2], self.grid.cells[2]) {
                for j in children(row.j, halved[1], self.grid.cells[1]) {
                    let row = Row { index: j + k * self.grid.plane_rows(), j, k };
                    let span = self.span(row, 0);
                    let Span { first, start, count, odd } = span;
                    let both = Colours { own: self.part(p, 0), other: self.part(p, 1) };
                    if halved[0] {
                        let out = &mut out[first + odd..];
                        self.run::<AddResidual, DIM, WEIGHTED>(span, 0, out, both, rhs, 1.0);
                        continue;
                    }
                    // Every second cell of the row: by way of a piece of it.
                    let mut piece = [0.0; PIECE];
                    for from in (0..count).step_by(PIECE) {
                        let count = PIECE.min(count - from);
                        let span = Span { start: start + from, count, ..span };
                        self.run::<Residual, DIM, WEIGHTED>(span, 0, &mut piece, both, rhs, 1.0);
                        for (x, residual) in piece[..count].iter().enumerate() {
                            out[2 * (first + from + x) + odd] += residual;
                        }
                    }
                }
            }
        });
    }

    /// Adds to each cell the value of its coarse cell, given in natural order.
    pub(crate) fn prolong(
        &self,
        p: &mut [f32],
        coarse: Grid,
        halved: [bool; 3],
        natural: &[f32],
        threads: Threads,
    ) {
        let parent =
            |index: usize, axis: usize| if halved[axis] { index.div_ceil(2) } else { index };
        let (red, black) = p.split_at_mut(self.half);
        let mut nothing = vec![(); self.grid.chunks()];
        self.grid.for_rows_with(
            threads,
            self.width,
            [red, black],
            &mut nothing,
            |row, outs, ()| {
                let from = &natural[coarse.index(0, parent(row.j, 1), parent(row.k, 2))..];
                for (colour, out) in outs.into_iter().enumerate() {
                    let Span { first, start, count, odd } = self.span(row, colour);
                    let out = &mut out[first..][..count];
                    let inverse = &self.part(&self.inverse, colour)[start..][..count];
                    if halved[0] {
                        let from = &from[first + odd..][..count];
                        for x in 0..count {
                            out[x] += if inverse[x] > 0.0 { from[x] } else { 0.0 };
                        }
                    } else {
                        for x in 0..count {
                            let from = from[2 * (first + x) + odd];
                            out[x] += if inverse[x] > 0.0 { from } else { 0.0 };
                        }
                    }
                }
            },
        );
        self.wrap(p);
    }

    /// Copies an array in natural order into colours; cells only.
    pub(crate) fn pack(&self, natural: &[f32], packed: &mut [f32], threads: Threads) {
        let (red, black) = packed.split_at_mut(self.half);
        let mut nothing = vec![(); self.grid.chunks()];
        self.grid.for_rows_with(
            threads,
            self.width,
            [red, black],
            &mut nothing,
            |row, outs, ()| {
                let from = &natural[row.index * 2 * self.width..][..2 * self.width];
                for (colour, out) in outs.into_iter().enumerate() {
                    let Span { first, count, odd, .. } = self.span(row, colour);
                    for (x, out) in out[first..][..count].iter_mut().enumerate() {
                        *out = from[2 * (first + x) + odd];
                    }
                }
            },
        );
    }

    /// Copies colours into an array in natural order; border cells of the rows too.
    pub(crate) fn unpack(&self, packed: &[f32], natural: &mut [f32], threads: Threads) {
        let natural = &mut natural[..self.grid.len()];
        self.grid.for_rows(threads, [natural], |row, [out]| {
            let start = row.index * self.width;
            let odd_first = (row.j + row.k) & 1;
            let even = &self.part(packed, odd_first)[start..][..self.width];
            let odd = &self.part(packed, 1 - odd_first)[start..][..self.width];
            for (pair, (even, odd)) in
                out.as_chunks_mut::<2>().0.iter_mut().zip(even.iter().zip(odd))
            {
                *pair = [*even, *odd];
            }
        });
    }

    /// Copies the cells at periodic borders to the border layer opposite.
    pub(crate) fn wrap(&self, p: &mut [f32]) {
        let [nx, ny, nz] = self.grid.cells;
        if self.periodic[0] {
            for row in self.grid.inner_rows() {
                p[self.at(0, row.j, row.k)] = p[self.at(nx, row.j, row.k)];
                p[self.at(nx + 1, row.j, row.k)] = p[self.at(1, row.j, row.k)];
            }
        }
        for colour in 0..2 {
            let own = &mut p[colour * self.half..][..self.half];
            let mut copy = |from: usize, to: usize, rows: usize| {
                let from = from * self.width;
                own.copy_within(from..from + rows * self.width, to * self.width);
            };
            let plane = self.grid.plane_rows();
            if self.periodic[1] {
                for k in self.grid.planes() {
                    copy(k * plane + ny, k * plane, 1);
                    copy(k * plane + 1, k * plane + ny + 1, 1);
                }
            }
            if self.periodic[2] {
                copy(nz * plane, 0, plane);
                copy(plane, (nz + 1) * plane, plane);
            }
        }
    }
}

/// Cells of a row that are written by way of a buffer at a time.
const PIECE: usize = 64;

/// Unknowns of the colour of a pass, where it reads them, and of the other one.
#[derive(Clone, Copy)]
struct Colours<'a> {
    own: &'a [f32],
    other: &'a [f32],
}

/// What a pass does with the sum of a cell's neighbours.
trait Operation {
    fn apply(out: f32, sum: f32, own: f32, rhs: f32, inverse: f32, factor: f32) -> f32;
}

struct Relax;
struct OverRelax;
struct Apply;
struct Residual;
struct AddResidual;

impl Operation for Relax {
    #[inline(always)]
    fn apply(_: f32, sum: f32, _: f32, rhs: f32, inverse: f32, _: f32) -> f32 {
        (rhs + sum) * inverse
    }
}

impl Operation for OverRelax {
    #[inline(always)]
    fn apply(out: f32, sum: f32, _: f32, rhs: f32, inverse: f32, omega: f32) -> f32 {
        out + omega * ((rhs + sum) * inverse - out)
    }
}

impl Operation for Apply {
    #[inline(always)]
    fn apply(_: f32, sum: f32, own: f32, _: f32, inverse: f32, _: f32) -> f32 {
        let value = 1.0 / inverse * own - sum;
        if inverse > 0.0 { value } else { 0.0 }
    }
}

impl Operation for Residual {
    #[inline(always)]
    fn apply(_: f32, sum: f32, own: f32, rhs: f32, inverse: f32, _: f32) -> f32 {
        let value = rhs + sum - 1.0 / inverse * own;
        if inverse > 0.0 { value } else { 0.0 }
    }
}

impl Operation for AddResidual {
    #[inline(always)]
    fn apply(out: f32, sum: f32, own: f32, rhs: f32, inverse: f32, factor: f32) -> f32 {
        out + Residual::apply(out, sum, own, rhs, inverse, factor)
    }
}

/// The loop of all passes. Slices are arguments of their own, and the function is
/// not inlined, because only then the compiler knows that they do not overlap and
/// uses vector instructions.
#[inline(never)]
fn each<O: Operation, const DIM: usize, const WEIGHTED: bool>(
    out: &mut [f32],
    own: &[f32],
    rhs: &[f32],
    inverse: &[f32],
    same: &[f32],
    side: &[f32],
    south: &[f32],
    north: &[f32],
    down: &[f32],
    up: &[f32],
    w_same: &[f32],
    w_side: &[f32],
    w_south: &[f32],
    w_north: &[f32],
    w_down: &[f32],
    w_up: &[f32],
    factor: f32,
) {
    let n = out.len();
    let (own, rhs, inverse) = (&own[..n], &rhs[..n], &inverse[..n]);
    let (same, side, south, north) = (&same[..n], &side[..n], &south[..n], &north[..n]);
    let (down, up) = (&down[..n], &up[..n]);
    let (w_same, w_side, w_south, w_north) =
        (&w_same[..n], &w_side[..n], &w_south[..n], &w_north[..n]);
    let (w_down, w_up) = (&w_down[..n], &w_up[..n]);
    for x in 0..n {
        let mut sum = if WEIGHTED {
            (same[x] * w_same[x] + side[x] * w_side[x])
                + (south[x] * w_south[x] + north[x] * w_north[x])
        } else {
            (same[x] + side[x]) + (south[x] + north[x])
        };
        if DIM == 3 {
            sum += if WEIGHTED { down[x] * w_down[x] + up[x] * w_up[x] } else { down[x] + up[x] };
        }
        out[x] = O::apply(out[x], sum, own[x], rhs[x], inverse[x], factor);
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
