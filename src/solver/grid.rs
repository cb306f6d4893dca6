//! Sorting points into the cells of a grid that has no borders.
//!
//! Only occupied cells exist, in lexicographic order, so neither memory nor
//! time depends on how far the points are spread (the compact grid of Ihmsen
//! et al. 2011 without its hash).

use super::parallel::{CHUNK, Threads, chunks, chunks_mut, for_each_chunk, numbers};
use super::vector::Vector;

/// Largest cell coordinate. Points farther out share the outermost cells, where
/// the distance test still tells them apart.
const fn coordinate_limit(dim: usize) -> f64 {
    if dim == 2 { (1 << 29) as f64 } else { (1 << 19) as f64 }
}

/// The origin is a multiple of this many cells, so that blocks of cells and the
/// two or three colors of their layers do not depend on particles far away.
const ALIGNMENT: i64 = 12;

/// The slowest axis of the order.
const SLOW: usize = 0;

/// The axes from the fastest to the slowest of the order. In the plane the third
/// has a single layer, wherever it stands.
const ORDER: [usize; 3] = [1, 2, 0];

/// Largest digit of the radix sort in bits.
const MAX_DIGIT_BITS: u32 = 11;

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    /// In halves, so that an entry is no longer than its parts.
    key: [u32; 2],
    point: u32,
}

impl Entry {
    #[inline(always)]
    fn new(key: u64, point: u32) -> Self {
        Self { key: [key as u32, (key >> 32) as u32], point }
    }

    #[inline(always)]
    fn key(&self) -> u64 {
        u64::from(self.key[1]) << 32 | u64::from(self.key[0])
    }
}

/// Cells along the slow axis in a [`Stripe`]: with two, stripes of one color are
/// so far apart that what one reaches no other does.
const STRIPE_CELLS: u64 = 2;

/// A contiguous range of sorted points that fills two layers of cells across the
/// slow axis of the order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stripe {
    /// First point and end of the stripe.
    pub own: (u32, u32),
    /// First point and end of all points within one cell of the stripe.
    pub reach: (u32, u32),
    /// Coordinate along the slow axis, in layers of two cells.
    pub layer: u64,
}

/// Points sorted by cell, and by id within a cell.
///
/// Along y the order is fastest, along x slowest: water lies wide more often than
/// it stands high, so that its slowest axis has the most layers to share among
/// threads, and a sweep in this order goes up every column from its bottom.
#[derive(Debug, Default)]
pub struct CellGrid {
    inverse_cell_size: f64,
    /// A cell below the lowest occupied one along each axis.
    origin: [i64; 3],
    /// Number of cells along each axis, empty ones on both sides included.
    extent: [i64; 3],
    /// Key difference of one step along each axis.
    stride: [u64; 3],
    entries: Vec<Entry>,
    scratch: Vec<Entry>,
    histogram: Vec<u32>,
    /// Key of each occupied cell.
    keys: Vec<u64>,
    /// First sorted point of each occupied cell, and the number of points.
    starts: Vec<u32>,
    /// Occupied cell of each sorted point.
    cell_of: Vec<u32>,
    /// Occupied layers across the slow axis: cell coordinate and first point.
    layers: Vec<(u64, u32)>,
    /// All stripes in order, and those of either color.
    stripes: Vec<Stripe>,
    colors: [Vec<Stripe>; 2],
}

impl CellGrid {
    /// Sorts `points` into cells of `cell_size` metres, ties by `ids`.
    ///
    /// The order is a function of positions and ids alone, whatever order the
    /// points come in. Every coordinate must be finite.
    pub fn sort<V: Vector>(&mut self, points: &[V], ids: &[u32], cell_size: f32, threads: Threads) {
        self.inverse_cell_size = 1.0 / f64::from(cell_size);
        self.lay_out(points);
        let mut entries = core::mem::take(&mut self.entries);
        entries.resize(points.len(), Entry::default());
        let parts = (numbers(), chunks_mut(&mut entries), chunks(points));
        for_each_chunk(threads, parts, |(index, entries, points)| {
            for (local, (entry, &position)) in entries.iter_mut().zip(points).enumerate() {
                let point = (index * CHUNK + local) as u32;
                *entry = Entry::new(self.key(self.cell(position)), point);
            }
        });
        self.entries = entries;
        self.sort_entries();
        self.collect_cells(ids);
    }

    /// Index in the unsorted slice of the k-th sorted point.
    #[inline(always)]
    pub fn point(&self, sorted: usize) -> usize {
        self.entries[sorted].point as usize
    }

    /// Index of the occupied cell that holds the k-th sorted point.
    #[inline(always)]
    pub fn cell_of(&self, sorted: usize) -> usize {
        self.cell_of[sorted] as usize
    }

    /// The sorted points of an occupied cell.
    #[inline(always)]
    pub fn points_of(&self, cell: usize) -> core::ops::Range<usize> {
        self.starts[cell] as usize..self.starts[cell + 1] as usize
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True if there is no point.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// All stripes, in the order of the points.
    pub fn stripes(&self) -> &[Stripe] {
        &self.stripes
    }

    /// The stripes of one of two colors, in the order of the points. No point is
    /// within reach of two of them.
    pub fn stripes_of(&self, color: usize) -> &[Stripe] {
        &self.colors[color]
    }

    /// Coordinates of the occupied cells from the slow axis to the fast one, in
    /// the order of the points. None is below 1.
    pub(super) fn coordinates(&self) -> impl ExactSizeIterator<Item = [u64; 3]> + '_ {
        let [_, middle, slow] = ORDER;
        let (mut row, mut row_end) = ([0, 0, 0], 0);
        self.keys.iter().map(move |&key| {
            if key >= row_end {
                let start = key - key % self.stride[middle];
                row =
                    [key / self.stride[slow], key % self.stride[slow] / self.stride[middle], start];
                row_end = start + self.stride[middle];
            }
            [row[0], row[1], key - row[2]]
        })
    }

    /// Number of cells along the axes in the order of [`CellGrid::coordinates`].
    pub(super) fn extents(&self) -> [u64; 3] {
        let [fast, middle, slow] = ORDER;
        [slow, middle, fast].map(|axis| self.extent[axis] as u64)
    }

    /// Bytes of all buffers.
    pub fn bytes(&self) -> usize {
        size_of::<Entry>() * (self.entries.capacity() + self.scratch.capacity())
            + 8 * self.keys.capacity()
            + 4 * (self.histogram.capacity() + self.starts.capacity() + self.cell_of.capacity())
            + size_of::<(u64, u32)>() * self.layers.capacity()
            + size_of::<Stripe>() * self.stripes.capacity()
            + self.colors.iter().map(|s| size_of::<Stripe>() * s.capacity()).sum::<usize>()
    }

    /// Sorted points in the rows of three cells around the cell of `position`:
    /// [`Vector::ROWS`] ranges, in the order of the points.
    ///
    /// `position` need not be one of the points. Calls for positions in the
    /// order of the points take constant time, others a binary search a row.
    pub fn rows<V: Vector>(&self, position: V, rows: &mut Rows) {
        rows.len = V::ROWS;
        if self.keys.is_empty() {
            rows.ranges[..V::ROWS].fill((0, 0));
            return;
        }
        let cell = self.cell(position);
        let [fast, middle, slow] = ORDER;
        let fast_outside = cell[fast] < 0 || cell[fast] >= self.extent[fast];
        let bottom = (cell[fast] - 1).max(0);
        let length = (cell[fast] + 1 - bottom) as u64;
        for row in 0..V::ROWS {
            let (across, along) = if V::DIM == 3 { (row % 3, row / 3) } else { (1, row) };
            let (z, x) = (cell[middle] + across as i64 - 1, cell[slow] + along as i64 - 1);
            let inside = |axis: usize, cell: i64| (0..self.extent[axis]).contains(&cell);
            // A cell outside the layout has no key of its own: it would alias another row.
            rows.ranges[row] = if fast_outside || !inside(middle, z) || !inside(slow, x) {
                (0, 0)
            } else {
                let first =
                    bottom as u64 + z as u64 * self.stride[middle] + x as u64 * self.stride[slow];
                let low = seek(&self.keys, rows.hints[row], first);
                rows.hints[row] = low;
                let next = &self.keys[low..self.keys.len().min(low + 3)];
                let high = low + next.iter().filter(|&&key| key <= first + length).count();
                (self.starts[low], self.starts[high])
            };
        }
    }

    /// Places the layout's origin and strides around the points' cells, with
    /// an empty cell on every side so that a row's neighbours never wrap.
    fn lay_out<V: Vector>(&mut self, points: &[V]) {
        self.origin = [0; 3];
        self.extent = [1; 3];
        self.stride = [1; 3];
        let Some(&first) = points.first() else { return };
        // Four at a time, which need not wait for each other.
        let (fours, rest) = points.as_chunks::<4>();
        let (mut lows, mut highs) = ([first; 4], [first; 4]);
        for four in fours {
            for (k, &point) in four.iter().enumerate() {
                lows[k] = lows[k].min(point);
                highs[k] = highs[k].max(point);
            }
        }
        let low = lows.iter().chain(rest).fold(first, |low, &point| low.min(point));
        let high = highs.iter().chain(rest).fold(first, |high, &point| high.max(point));
        let (low, high) = (self.cell(low), self.cell(high));
        for axis in 0..V::DIM {
            self.origin[axis] = (low[axis] - 1).div_euclid(ALIGNMENT) * ALIGNMENT;
            self.extent[axis] = high[axis] - self.origin[axis] + 2;
        }
        let mut stride = 1u64;
        for axis in ORDER {
            self.stride[axis] = stride;
            stride *= self.extent[axis] as u64;
        }
    }

    /// Cell of a position, relative to the origin of the layout.
    ///
    /// In f64, so that a pair closer than a cell size is never more than one
    /// cell apart, at any coordinate.
    #[inline(always)]
    fn cell<V: Vector>(&self, position: V) -> [i64; 3] {
        let limit = coordinate_limit(V::DIM);
        let components = position.to_array();
        let mut cell = [0i64; 3];
        for axis in 0..V::DIM {
            let scaled =
                (f64::from(components[axis]) * self.inverse_cell_size).clamp(-limit, limit);
            let truncated = scaled as i64;
            let floor = truncated - i64::from(scaled < truncated as f64);
            cell[axis] = floor - self.origin[axis];
        }
        cell
    }

    #[inline(always)]
    fn key(&self, cell: [i64; 3]) -> u64 {
        (0..3).map(|axis| cell[axis] as u64 * self.stride[axis]).sum()
    }

    /// Least significant digit radix sort, only over the digits in use.
    fn sort_entries(&mut self) {
        let count = self.entries.len();
        // Every entry of it is written.
        self.scratch.resize(count, Entry::default());
        let cells: u64 = self.extent.iter().map(|&cells| cells as u64).product();
        let bits = u64::BITS - (cells - 1).leading_zeros();
        // As many passes as it takes, over digits of about the same size.
        let passes = bits.div_ceil(MAX_DIGIT_BITS);
        let digit_bits = bits.div_ceil(passes.max(1));
        let digits = 1usize << digit_bits;
        let digit = |entry: &Entry, pass: usize| {
            (entry.key() >> (pass as u32 * digit_bits)) as usize & (digits - 1)
        };
        self.histogram.clear();
        self.histogram.resize(passes as usize * digits, 0);
        for entry in &self.entries {
            for (pass, histogram) in self.histogram.chunks_exact_mut(digits).enumerate() {
                histogram[digit(entry, pass)] += 1;
            }
        }
        for (pass, slots) in self.histogram.chunks_exact_mut(digits).enumerate() {
            let mut sum = 0;
            for slot in &mut *slots {
                sum += core::mem::replace(slot, sum);
            }
            for entry in &self.entries {
                let slot = &mut slots[digit(entry, pass)];
                self.scratch[*slot as usize] = *entry;
                *slot += 1;
            }
            core::mem::swap(&mut self.entries, &mut self.scratch);
        }
    }

    /// Finds the occupied cells and orders the points of each by id.
    fn collect_cells(&mut self, ids: &[u32]) {
        self.keys.clear();
        self.starts.clear();
        self.cell_of.clear();
        self.layers.clear();
        let mut layer_end = 0;
        let mut start = 0;
        while start < self.entries.len() {
            let key = self.entries[start].key();
            let cell = &mut self.entries[start..];
            let count = cell.iter().take_while(|entry| entry.key() == key).count();
            let id = |entry: &Entry| ids[entry.point as usize];
            // Most cells come in order: the radix sort keeps that of the last step.
            if !cell[..count].is_sorted_by_key(id) {
                cell[..count].sort_unstable_by_key(id);
            }
            self.cell_of.resize(start + count, self.keys.len() as u32);
            if key >= layer_end {
                let layer = key / self.stride[SLOW];
                layer_end = (layer + 1) * self.stride[SLOW];
                self.layers.push((layer, start as u32));
            }
            self.keys.push(key);
            self.starts.push(start as u32);
            start += count;
        }
        self.starts.push(start as u32);
        self.collect_stripes();
    }

    fn collect_stripes(&mut self) {
        self.stripes.clear();
        let end = self.entries.len() as u32;
        let first_point = |layer: usize| self.layers.get(layer).map_or(end, |&(_, start)| start);
        let mut low = 0;
        while low < self.layers.len() {
            let stripe = self.layers[low].0 / STRIPE_CELLS;
            let same = |&&(layer, _): &&(u64, u32)| layer / STRIPE_CELLS == stripe;
            let high = low + self.layers[low..].iter().take_while(same).count();
            let (bottom, top) = (self.layers[low].0, self.layers[high - 1].0);
            let below = low > 0 && self.layers[low - 1].0 + 1 == bottom;
            let above = self.layers.get(high).is_some_and(|&(layer, _)| layer == top + 1);
            self.stripes.push(Stripe {
                layer: stripe,
                own: (first_point(low), first_point(high)),
                reach: (
                    first_point(low - usize::from(below)),
                    first_point(high + usize::from(above)),
                ),
            });
            low = high;
        }
        for (color, stripes) in self.colors.iter_mut().enumerate() {
            stripes.clear();
            stripes.extend(self.stripes.iter().filter(|s| s.layer % 2 == color as u64));
        }
    }
}

/// First of the sorted `keys` that is not below `target`, searched for from `hint` on.
#[inline]
pub(super) fn seek(keys: &[u64], hint: usize, target: u64) -> usize {
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

/// Ranges of sorted points around a position, see [`CellGrid::rows`].
#[derive(Debug, Default)]
pub struct Rows {
    ranges: [(u32, u32); 9],
    /// Where the last search ended in each row.
    hints: [usize; 9],
    len: usize,
}

impl Rows {
    /// The indices of the sorted points in all rows.
    #[inline(always)]
    pub fn points(&self) -> impl Iterator<Item = usize> + '_ {
        self.ranges[..self.len].iter().flat_map(|&(start, end)| start as usize..end as usize)
    }

    /// The ranges themselves.
    #[inline(always)]
    pub fn ranges(&self) -> &[(u32, u32)] {
        &self.ranges[..self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy_math::{Vec2, Vec3};

    fn sorted<V: Vector>(points: &[V], ids: &[u32]) -> Vec<u32> {
        let mut grid = CellGrid::default();
        grid.sort(points, ids, 1.0, Threads::Serial);
        (0..grid.len()).map(|sorted| ids[grid.point(sorted)]).collect()
    }

    #[test]
    fn order_does_not_depend_on_the_order_of_the_input() {
        let points: Vec<Vec3> = (0..500)
            .map(|i| Vec3::new((i * 37 % 11) as f32, (i * 53 % 7) as f32 - 3.0, (i % 5) as f32))
            .collect();
        let ids: Vec<u32> = (0..500).collect();
        let expected = sorted(&points, &ids);
        let reversed_points: Vec<Vec3> = points.iter().rev().copied().collect();
        let reversed_ids: Vec<u32> = ids.iter().rev().copied().collect();
        assert_eq!(sorted(&reversed_points, &reversed_ids), expected);
    }

    #[test]
    fn far_outliers_keep_the_grid_small() {
        let points = [
            Vec2::new(0.2, 0.3),
            Vec2::new(f32::MAX, f32::MIN),
            Vec2::new(-1e6, 1e30),
            Vec2::new(-0.3, 0.2),
        ];
        let mut grid = CellGrid::default();
        grid.sort(&points, &[0, 1, 2, 3], 1.0, Threads::Serial);
        assert_eq!(grid.keys.len(), 4);
        let mut rows = Rows::default();
        grid.rows(points[0], &mut rows);
        assert_eq!(rows.points().count(), 2);
    }

    #[test]
    fn rows_of_a_position_far_from_all_points_are_empty() {
        let mut grid = CellGrid::default();
        let mut rows = Rows::default();
        grid.rows(Vec2::ZERO, &mut rows);
        assert_eq!(rows.points().count(), 0);
        grid.sort(&[Vec2::new(5.5, 5.5), Vec2::new(9.5, 5.5)], &[0, 1], 1.0, Threads::Serial);
        for y in -20..20 {
            for x in -20..20 {
                grid.rows(Vec2::new(x as f32 + 0.5, y as f32 + 0.5), &mut rows);
                let near = |px: i32| i32::abs(x - px) <= 1 && i32::abs(y - 5) <= 1;
                let expected = usize::from(near(5)) + usize::from(near(9));
                assert_eq!(rows.points().count(), expected, "at ({x}, {y})");
            }
        }
    }
}
