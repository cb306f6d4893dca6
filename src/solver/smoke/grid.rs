//! The cells of a domain, and loops over their rows.
//!
//! Every field is one array of f32 with a border layer around the cells, its
//! rows along x contiguous. All fields of a domain share one layout, so that
//! one index means the same cell in each.

use crate::solver::parallel::{Split, Threads, for_each_chunk};

/// Cells in a chunk of rows, about: enough work to hide the queue.
const CHUNK_CELLS: usize = 8192;

/// Number of cells below which loops stay on the calling thread.
const SERIAL_BELOW: usize = 16384;

/// The layout of a field of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grid {
    /// Cells along each axis; 1 along z in 2D.
    pub cells: [usize; 3],
    /// Distance in the array from a cell to the next along each axis. Rows
    /// have an even length, so that both halves of an array hold half of each row.
    pub stride: [usize; 3],
    /// Number of axes.
    pub dim: usize,
}

/// A row of cells between two border cells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// Number of the row among all, border rows too.
    pub index: usize,
    /// Index along y, from 1.
    pub j: usize,
    /// Index along z, from 1; 0 in 2D.
    pub k: usize,
}

impl Grid {
    pub(crate) fn new(cells: [usize; 3], dim: usize) -> Self {
        let width = (cells[0] + 3) / 2 * 2;
        Self { cells, stride: [1, width, width * (cells[1] + 2)], dim }
    }

    /// Rows in a plane, border rows too.
    pub(crate) fn plane_rows(&self) -> usize {
        self.cells[1] + 2
    }

    /// Rows of an array, border rows too.
    pub(crate) fn rows(&self) -> usize {
        self.plane_rows() * if self.dim == 3 { self.cells[2] + 2 } else { 1 }
    }

    /// Length of an array.
    pub(crate) fn len(&self) -> usize {
        self.rows() * self.stride[1]
    }

    /// Number of cells, without the border.
    pub(crate) fn count(&self) -> usize {
        self.cells.iter().product()
    }

    /// Index of a cell; the first one along each axis is 1. In 2D `k` is 0.
    pub(crate) fn index(&self, i: usize, j: usize, k: usize) -> usize {
        i + self.stride[1] * j + self.stride[2] * k
    }

    /// The cell of an index; the inverse of [`Grid::index`].
    pub(crate) fn place(&self, at: usize) -> [usize; 3] {
        let row = at / self.stride[1];
        [at % self.stride[1], row % self.plane_rows(), row / self.plane_rows()]
    }

    /// First and last index of the cells along z: 0 in 2D.
    pub(crate) fn planes(&self) -> core::ops::RangeInclusive<usize> {
        if self.dim == 3 { 1..=self.cells[2] } else { 0..=0 }
    }

    /// The row of that number, if it is none of the border.
    pub(crate) fn row(&self, index: usize) -> Option<Row> {
        let (j, k) = (index % self.plane_rows(), index / self.plane_rows());
        let inside = (1..=self.cells[1]).contains(&j) && self.planes().contains(&k);
        inside.then_some(Row { index, j, k })
    }

    /// All rows of cells, in their order.
    pub(crate) fn inner_rows(&self) -> impl Iterator<Item = Row> + use<> {
        let grid = *self;
        (0..grid.rows()).filter_map(move |index| grid.row(index))
    }

    /// Whether an index is that of a cell, not of the border.
    pub(crate) fn holds(&self, at: usize) -> bool {
        let along = at % self.stride[1];
        (1..=self.cells[0]).contains(&along) && self.row(at / self.stride[1]).is_some()
    }

    /// Calls `work` with the index of each cell across an axis, at place 0 along it.
    pub(crate) fn for_each_across(&self, axis: usize, mut work: impl FnMut(usize)) {
        let along = |other: usize| if other == axis { 0..=0 } else { 1..=self.cells[other] };
        for k in if axis == 2 { 0..=0 } else { self.planes() } {
            for j in along(1) {
                for i in along(0) {
                    work(self.index(i, j, k));
                }
            }
        }
    }

    /// Rows in a chunk: a function of the grid alone.
    pub(crate) fn chunk_rows(&self) -> usize {
        (CHUNK_CELLS / self.stride[1]).max(1)
    }

    /// Number of chunks.
    pub(crate) fn chunks(&self) -> usize {
        self.rows().div_ceil(self.chunk_rows())
    }

    /// These threads, or the calling one alone where that is faster for the cells.
    pub(crate) fn threads(self, threads: Threads) -> Threads {
        if self.count() < SERIAL_BELOW { Threads::Serial } else { threads }
    }

    /// Calls `work` for each row of cells with that row of each of `outs`,
    /// whose rows are `width` long, and with the chunk's own item of `partial`.
    #[inline(always)]
    pub(crate) fn for_rows_with<const N: usize, P: Send>(
        &self,
        threads: Threads,
        width: usize,
        outs: [&mut [f32]; N],
        partial: &mut [P],
        work: impl Fn(Row, [&mut [f32]; N], &mut P) + Sync,
    ) {
        let threads = self.threads(threads);
        let rows = self.chunk_rows();
        let chunks = Chunks { outs, size: rows * width, partial, number: 0 };
        for_each_chunk(threads, chunks, |mut chunk| {
            for (place, index) in (chunk.number * rows..(chunk.number + 1) * rows).enumerate() {
                let Some(row) = self.row(index) else { continue };
                let place = place * width..(place + 1) * width;
                let parts = chunk.outs.each_mut().map(|out| &mut out[place.clone()]);
                work(row, parts, chunk.partial);
            }
        });
    }

    /// [`Grid::for_rows_with`] over whole rows, without partial results.
    #[inline(always)]
    pub(crate) fn for_rows<const N: usize>(
        &self,
        threads: Threads,
        outs: [&mut [f32]; N],
        work: impl Fn(Row, [&mut [f32]; N]) + Sync,
    ) {
        // A list of nothing takes no memory.
        let mut nothing = vec![(); self.chunks()];
        self.for_rows_with(threads, self.stride[1], outs, &mut nothing, |row, outs, ()| {
            work(row, outs);
        });
    }
}

/// Chunks of rows of several arrays.
struct Chunks<'a, P, const N: usize> {
    outs: [&'a mut [f32]; N],
    size: usize,
    /// One for each chunk.
    partial: &'a mut [P],
    /// Number of the first chunk.
    number: usize,
}

struct Chunk<'a, P, const N: usize> {
    outs: [&'a mut [f32]; N],
    partial: &'a mut P,
    number: usize,
}

impl<'a, P: Send, const N: usize> Split for Chunks<'a, P, N> {
    type Item = Chunk<'a, P, N>;

    fn len(&self) -> usize {
        self.partial.len()
    }

    fn split_at(self, count: usize) -> (Self, Self) {
        let Self { mut outs, size, partial, number } = self;
        let (partial, others) = partial.split_at_mut(count);
        let first = outs.each_mut().map(|out| {
            let rest = core::mem::take(out);
            let (first, rest) = rest.split_at_mut((count * size).min(rest.len()));
            *out = rest;
            first
        });
        (
            Self { outs: first, size, partial, number },
            Self { outs, size, partial: others, number: number + count },
        )
    }

    fn first(self) -> Chunk<'a, P, N> {
        let (Self { outs, partial, number, .. }, _) = self.split_at(1);
        Chunk { outs, partial: &mut partial[0], number }
    }
}

/// Sum over a row of products, in eight lanes of f32 and then in f64.
#[inline(always)]
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f64 {
    let mut lanes = [0.0f32; 8];
    let (a_chunks, a_rest) = a.as_chunks::<8>();
    let (b_chunks, b_rest) = b.as_chunks::<8>();
    for (a, b) in a_chunks.iter().zip(b_chunks) {
        for lane in 0..8 {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    lanes.iter().map(|&lane| f64::from(lane)).sum::<f64>() + f64::from(rest)
}

/// Sum of a row, in eight lanes of f32 a piece and then in f64.
#[inline(always)]
pub(crate) fn total(a: &[f32]) -> f64 {
    const ONES: [f32; 64] = [1.0; 64];
    a.chunks(ONES.len()).map(|piece| dot(piece, &ONES[..piece.len()])).sum()
}

/// Largest absolute value in a row; infinite if one is not a number.
#[inline(always)]
pub(crate) fn largest(a: &[f32]) -> f32 {
    // Without their sign numbers have the order of their bits, and what is not
    // a number comes last.
    let size = |value: &f32| value.to_bits() as i32 & i32::MAX;
    let mut lanes = [0; 8];
    let (chunks, rest) = a.as_chunks::<8>();
    for chunk in chunks {
        for lane in 0..8 {
            lanes[lane] = size(&chunk[lane]).max(lanes[lane]);
        }
    }
    let found = rest.iter().map(size).chain(lanes).fold(0, i32::max);
    let found = f32::from_bits(found as u32);
    if found.is_nan() { f32::INFINITY } else { found }
}
