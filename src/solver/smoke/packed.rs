//! The layout of a pressure equation on one grid, its cells kept apart by colour.
//!
//! A cell (i, j, k) is red if i + j + k is even, else black. An array holds all
//! red cells in its first half, row by row, and all black ones in its second:
//! cell i lies at place i/2 of its row. A Gauss-Seidel sweep over one colour
//! then reads and writes contiguous memory, in any order and on all threads.
//!
//! The equation of a cell is `diagonal p - sum of w p over its neighbours = rhs`.
//! Solid cells and the border hold p = 0, so that where all weights are 1 their
//! terms vanish by themselves and only the diagonal knows of them.

use super::grid::{Grid, Row};
use crate::solver::dispatch::wide_fn;
use crate::solver::parallel::Threads;

/// Cells of a row that are worked on by way of a buffer at a time: an even number.
pub(crate) const PIECE: usize = 128;

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
    /// Whether any weight between two cells with equations differs from 1.
    pub weighted: bool,
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
        Self { grid, width, half, inverse: vec![0.0; grid.len()], weights, weighted, periodic }
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

    /// Distance in half an array to the same row of the next plane.
    pub(crate) fn plane(&self) -> usize {
        self.width * self.grid.plane_rows()
    }

    /// Length in half an array of a line across the last axis: a row, in 3D a plane.
    pub(crate) fn line(&self) -> usize {
        if self.grid.dim == 3 { self.plane() } else { self.width }
    }

    /// Number of lines of cells, without those of the border.
    pub(crate) fn lines(&self) -> usize {
        self.grid.cells[self.grid.dim - 1]
    }

    /// The rows of cells of a line.
    pub(crate) fn rows_of(&self, line: usize) -> impl Iterator<Item = Row> + use<> {
        let (in_space, plane_rows) = (self.grid.dim == 3, self.grid.plane_rows());
        let rows = if in_space { 1..=self.grid.cells[1] } else { line..=line };
        rows.map(move |j| {
            let k = if in_space { line } else { 0 };
            Row { index: j + k * plane_rows, j, k }
        })
    }

    /// The half of an array that holds a colour.
    #[inline(always)]
    pub(crate) fn part<'a>(&self, array: &'a [f32], colour: usize) -> &'a [f32] {
        if array.is_empty() { array } else { &array[colour * self.half..][..self.half] }
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
        let (red, black) = p.split_at_mut(self.half);
        for line in 1..=self.lines() {
            self.wrap_line(line, [&mut *red, &mut *black], 0);
        }
        self.wrap_lines([red, black]);
    }

    /// [`Level::wrap`] for the borders that a line has of its own; the halves
    /// of the array begin at index `offset`.
    #[inline(always)]
    pub(crate) fn wrap_line(&self, line: usize, halves: [&mut [f32]; 2], offset: usize) {
        let [nx, ny, _] = self.grid.cells;
        if self.periodic[0] {
            for row in self.rows_of(line) {
                let start = row.index * self.width - offset;
                // A periodic axis has an even number of cells: both ends have one colour.
                let even = (row.j + row.k) & 1;
                halves[even][start] = halves[even][start + nx / 2];
                let odd = 1 - even;
                halves[odd][start + nx / 2] = halves[odd][start];
            }
        }
        if self.grid.dim == 3 && self.periodic[1] {
            let start = line * self.plane() - offset;
            for half in halves {
                let mut copy = |from: usize, to: usize| {
                    let from = start + from * self.width;
                    half.copy_within(from..from + self.width, start + to * self.width);
                };
                copy(ny, 0);
                copy(1, ny + 1);
            }
        }
    }

    /// [`Level::wrap`] for the borders across the last axis.
    pub(crate) fn wrap_lines(&self, halves: [&mut [f32]; 2]) {
        if !self.periodic[self.grid.dim - 1] {
            return;
        }
        let (line, lines) = (self.line(), self.lines());
        for half in halves {
            half.copy_within(lines * line..(lines + 1) * line, 0);
            half.copy_within(line..2 * line, (lines + 1) * line);
        }
    }
}

wide_fn!(
    /// Writes values to places of two arrays in turns.
    pub(crate) fn deal[][](values: &[f32], first: &mut [f32], second: &mut [f32]) = deal_each
);

#[inline(always)]
fn deal_each(values: &[f32], first: &mut [f32], second: &mut [f32]) {
    let (pairs, rest) = values.as_chunks::<2>();
    for (pair, (first, second)) in pairs.iter().zip(first.iter_mut().zip(second)) {
        (*first, *second) = (pair[0], pair[1]);
    }
    if let ([last], Some(first)) = (rest, first.get_mut(pairs.len())) {
        *first = *last;
    }
}
