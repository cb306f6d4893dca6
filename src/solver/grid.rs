//! Sorting points into the cells of a grid that has no borders.
//!
//! Only occupied cells exist, in lexicographic order, so neither memory nor
//! time depends on how far the points are spread (the compact grid of Ihmsen
//! et al. 2011 without its hash).

mod walk;

use super::parallel::{CHUNK, Threads, chunks, chunks_mut, for_each_chunk, numbers};
use super::vector::Vector;

pub use walk::Rows;
pub(super) use walk::seek;
pub(crate) use walk::{Around, Beside};

/// Largest cell coordinate. Points farther out share the outermost cells, where
/// the distance test still tells them apart.
const fn coordinate_limit(dim: usize) -> f64 {
    if dim == 2 { (1 << 29) as f64 } else { (1 << 19) as f64 }
}

/// The origin is a multiple of this many cells, so that blocks of cells and the
/// two or three colors of their layers do not depend on particles far away.
const ALIGNMENT: i64 = 12;

/// 1.5 * 2^52: what is added to it is rounded to a whole number, which is that of
/// the last bits.
const WHOLE: f64 = 6_755_399_441_055_744.0;

/// The slowest axis of the order.
const SLOW: usize = 0;

/// The axes from the fastest to the slowest of the order. In the plane the third
/// has a single layer, wherever it stands.
const ORDER: [usize; 3] = [1, 2, 0];

/// Largest digit of the radix sort in bits where there are fewer points than digits.
const DIGIT_BITS: u32 = 11;

/// Largest digit of the radix sort in bits.
const MAX_DIGIT_BITS: u32 = 15;

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

    /// Index of the occupied cell that holds the k-th sorted point, by a binary search.
    pub fn cell_of(&self, sorted: usize) -> usize {
        self.starts.partition_point(|&start| start as usize <= sorted).saturating_sub(1)
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
            + 4 * (self.histogram.capacity() + self.starts.capacity())
            + size_of::<(u64, u32)>() * self.layers.capacity()
            + size_of::<Stripe>() * self.stripes.capacity()
            + self.colors.iter().map(|s| size_of::<Stripe>() * s.capacity()).sum::<usize>()
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
            // A conversion would first see whether it can be done.
            let shifted = scaled + WHOLE;
            let nearest = shifted.to_bits() as i64 - WHOLE.to_bits() as i64;
            let floor = nearest - i64::from(scaled < shifted - WHOLE);
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
        let longest = count.checked_ilog2().unwrap_or(0).clamp(DIGIT_BITS, MAX_DIGIT_BITS);
        let passes = bits.div_ceil(longest);
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

    #[test]
    fn rows_along_a_walk_are_those_of_each_place() {
        fn check<V: Vector>(places: &[V]) {
            let points: Vec<V> = places.iter().step_by(3).map(|&x| x * 0.5).collect();
            let ids: Vec<u32> = (0..points.len() as u32).collect();
            let mut grid = CellGrid::default();
            for used in [points.len(), points.len() / 5, 1, 0] {
                grid.sort(&points[..used], &ids[..used], 1.0, Threads::Serial);
                let (mut beside, mut rows) = (Beside::new(&grid), Rows::default());
                for &place in places {
                    grid.rows(place, &mut rows);
                    let found = beside.to(place).map_or(&[][..], Rows::ranges);
                    let expected = if rows.count() > 0 { rows.ranges() } else { &[] };
                    assert_eq!(found, expected, "at {place:?}");
                    assert_eq!(rows.count(), rows.points().count());
                }
                for start in [0, grid.keys.len() / 2] {
                    let mut around = Around::new::<V>(&grid);
                    for cell in start..grid.keys.len() {
                        let point = points[grid.point(grid.points_of(cell).start)];
                        grid.rows(point, &mut rows);
                        assert_eq!(around.to::<V>(cell).ranges(), rows.ranges(), "at {point:?}");
                    }
                }
            }
        }
        let flat = (0..900).map(|k| Vec2::new((k / 30) as f32, (k % 30) as f32) * 0.7);
        check(&flat.map(|x| x - Vec2::splat(10.0)).collect::<Vec<_>>());
        let solid =
            (0..4096).map(|k| Vec3::new((k / 256) as f32, (k % 16) as f32, (k / 16 % 16) as f32));
        check(&solid.map(|x| x * 0.9 - Vec3::splat(7.0)).collect::<Vec<_>>());
    }
}
