//! The points around a place or one cell after another.

use super::{CellGrid, ORDER};
use crate::solver::listed::Bounds;
use crate::solver::vector::Vector;

/// Ranges of sorted points around a position, see [`CellGrid::rows`].
#[derive(Debug, Default)]
pub struct Rows {
    ranges: [(u32, u32); 9],
    /// Where the last search ended in each row.
    hints: [usize; 9],
    len: usize,
    /// Cells further along the fast axis around which there are no points, if there are none.
    empty: u64,
}

impl Rows {
    /// The indices of the sorted points in all rows.
    #[inline(always)]
    pub fn points(&self) -> impl Iterator<Item = usize> + '_ {
        self.ranges[..self.len].iter().flat_map(|&(start, end)| start as usize..end as usize)
    }

    /// Bounds of the points in all rows, if they are those around an occupied cell.
    #[inline(always)]
    pub(crate) fn bounds(&self) -> Bounds {
        // Rows ascend, and so do the places of empty ones.
        let ((lowest, _), (_, end)) = (self.ranges[0], self.ranges[self.len - 1]);
        Bounds::of(lowest).with(end - 1)
    }

    /// Number of points in all rows.
    #[inline(always)]
    pub fn count(&self) -> usize {
        self.ranges().iter().map(|&(start, end)| (end - start) as usize).sum()
    }

    /// The ranges themselves.
    #[inline(always)]
    pub fn ranges(&self) -> &[(u32, u32)] {
        &self.ranges[..self.len]
    }
}

/// Cells further along an axis than any can be.
const NONE_ABOVE: u64 = u64::MAX / 2;

impl CellGrid {
    /// Sorted points in the rows of three cells around the cell of `position`:
    /// [`Vector::ROWS`] ranges, in the order of the points.
    ///
    /// `position` need not be one of the points. Calls for positions in the
    /// order of the points take constant time, others a binary search a row.
    pub fn rows<V: Vector>(&self, position: V, rows: &mut Rows) {
        self.rows_around::<V>(self.cell(position), rows);
    }

    fn rows_around<V: Vector>(&self, cell: [i64; 3], rows: &mut Rows) {
        (rows.len, rows.empty) = (V::ROWS, if cell[ORDER[0]] < 0 { 0 } else { NONE_ABOVE });
        let [fast, middle, slow] = ORDER;
        let fast_outside = cell[fast] < 0 || cell[fast] >= self.extent[fast];
        let bottom = (cell[fast] - 1).max(0);
        let last = cell[fast] + 1 - bottom;
        for row in 0..V::ROWS {
            let [across, along] = beside::<V>(row);
            let (z, x) = (cell[middle] + across, cell[slow] + along);
            let inside = |axis: usize, cell: i64| (0..self.extent[axis]).contains(&cell);
            // A cell outside the layout has no key of its own: it would alias another row.
            let outside = fast_outside || !inside(middle, z) || !inside(slow, x);
            if outside || self.keys.is_empty() {
                rows.ranges[row] = (0, 0);
                continue;
            }
            let first =
                bottom as u64 + z as u64 * self.stride[middle] + x as u64 * self.stride[slow];
            rows.hints[row] = seek(&self.keys, rows.hints[row], first);
            let last = first + last as u64;
            rows.ranges[row] = self.range(rows.hints[row], last);
            rows.empty = rows.empty.min(self.key_of(rows.hints[row]).saturating_sub(last + 1));
        }
    }

    /// The points of up to three occupied cells from `low` on with keys up to `last`.
    #[inline(always)]
    fn range(&self, low: usize, last: u64) -> (u32, u32) {
        let within = |cell: usize| usize::from(self.key_of(cell) <= last);
        let high = low + within(low) + within(low + 1) + within(low + 2);
        (self.starts[low], self.starts[high])
    }

    /// The key of an occupied cell, and above all keys behind the last one.
    #[inline(always)]
    fn key_of(&self, cell: usize) -> u64 {
        self.keys.get(cell).copied().unwrap_or(u64::MAX)
    }
}

/// First of the sorted `keys` that is not below `target`, searched for from `hint` on.
#[inline]
pub(in crate::solver) fn seek(keys: &[u64], hint: usize, target: u64) -> usize {
    let hint = hint.min(keys.len());
    let mut step = 1;
    let (mut low, mut high);
    if hint < keys.len() && keys[hint] < target {
        (low, high) = (hint + 1, hint + 1);
        while high < keys.len() && keys[high] < target {
            low = high + 1;
            high += step;
            step *= 2;
        }
        high = high.min(keys.len());
    } else {
        (low, high) = (hint, hint);
        while low > 0 && keys[low - 1] >= target {
            high = low - 1;
            low = low.saturating_sub(step);
            step *= 2;
        }
    }
    low + keys[low..high].partition_point(|&key| key < target)
}

/// Cells from the middle one to that of a row across the fast axis.
#[inline(always)]
fn beside<V: Vector>(row: usize) -> [i64; 2] {
    if V::DIM == 3 { [row as i64 % 3 - 1, row as i64 / 3 - 1] } else { [0, row as i64 - 1] }
}

/// The rows around one occupied cell of a grid after another, as by [`CellGrid::rows`] in a
/// tenth of the time.
pub(crate) struct Around<'a> {
    grid: &'a CellGrid,
    /// From the key of a cell to the first one of each row.
    steps: [u64; 9],
    /// The cell's key.
    key: u64,
    /// First cell and end of each row.
    cells: [(usize, usize); 9],
    rows: Rows,
}

impl<'a> Around<'a> {
    pub(crate) fn new<V: Vector>(grid: &'a CellGrid) -> Self {
        let [_, middle, slow] = ORDER;
        let stride = grid.stride.map(|stride| stride as i64);
        let mut steps = [0; 9];
        for (row, step) in steps[..V::ROWS].iter_mut().enumerate() {
            let [across, along] = beside::<V>(row);
            *step = (across * stride[middle] + along * stride[slow] - 1) as u64;
        }
        let rows = Rows { len: V::ROWS, ..Rows::default() };
        Self { grid, steps, key: u64::MAX, cells: [(0, 0); 9], rows }
    }

    /// The rows around a cell.
    #[inline(always)]
    pub(crate) fn to<V: Vector>(&mut self, cell: usize) -> &Rows {
        let Self { grid, steps, cells, rows, .. } = self;
        let key = grid.keys[cell];
        let follows = key == self.key.wrapping_add(1);
        self.key = key;
        for row in 0..V::ROWS {
            // There is an empty cell on every side of the occupied ones.
            let first = key.wrapping_add(steps[row]);
            let (mut low, mut high) = cells[row];
            if follows {
                low += usize::from(grid.key_of(low) < first);
                high += usize::from(grid.key_of(high) <= first + 2);
            } else {
                low = seek(&grid.keys, low, first);
                high = seek(&grid.keys, low, first + 3);
            }
            cells[row] = (low, high);
            rows.ranges[row] = (grid.starts[low], grid.starts[high]);
        }
        rows
    }
}

/// The rows around one place after another, beside most of which there are no points.
pub(crate) struct Beside<'a> {
    grid: &'a CellGrid,
    /// Where rows were last looked for.
    cell: [i64; 3],
    rows: Rows,
}

impl<'a> Beside<'a> {
    pub(crate) fn new(grid: &'a CellGrid) -> Self {
        Self { grid, cell: [i64::MIN; 3], rows: Rows::default() }
    }

    /// The rows around the cell of a position, as by [`CellGrid::rows`], if there are any points.
    #[inline(always)]
    pub(crate) fn to<V: Vector>(&mut self, position: V) -> Option<&Rows> {
        if self.is_empty(position) {
            return None;
        }
        self.cell = self.grid.cell(position);
        self.grid.rows_around::<V>(self.cell, &mut self.rows);
        (self.rows.count() > 0).then_some(&self.rows)
    }

    /// Whether there are no points beside a position and all between it and the one before,
    /// if that is known.
    #[inline(always)]
    pub(crate) fn is_empty<V: Vector>(&self, position: V) -> bool {
        let [fast, middle, slow] = ORDER;
        let cell = self.grid.cell(position);
        let column = cell[middle] == self.cell[middle] && cell[slow] == self.cell[slow];
        let ahead = cell[fast].wrapping_sub(self.cell[fast]) as u64;
        column && ahead > 0 && ahead <= self.rows.empty
    }
}
