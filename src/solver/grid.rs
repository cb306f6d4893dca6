//! Sorting points into the cells of a grid that has no borders.
//!
//! Only occupied cells exist, in lexicographic order, so neither memory nor
//! time depends on how far the points are spread (the compact grid of Ihmsen
//! et al. 2011 without its hash).

use super::vector::Vector;

/// Largest cell coordinate. Points farther out share the outermost cells, where
/// the distance test still tells them apart.
const fn coordinate_limit(dim: usize) -> f64 {
    if dim == 2 { (1 << 29) as f64 } else { (1 << 19) as f64 }
}

/// Digit size of the radix sort in bits.
const DIGIT_BITS: u32 = 11;

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    key: u64,
    point: u32,
}

/// Points sorted by cell, and by id within a cell.
#[derive(Debug, Default)]
pub struct CellGrid {
    cell_size: f64,
    /// Lowest occupied cell, one less along each axis.
    origin: [i64; 3],
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
}

impl CellGrid {
    /// Sorts `points` into cells of `cell_size` metres, ties by `ids`.
    ///
    /// The order is a function of positions and ids alone, whatever order the
    /// points come in. Every coordinate must be finite.
    pub fn sort<V: Vector>(&mut self, points: &[V], ids: &[u32], cell_size: f32) {
        self.cell_size = f64::from(cell_size);
        self.lay_out(points);
        self.entries.clear();
        for (point, &position) in points.iter().enumerate() {
            let cell = self.cell(position);
            self.entries.push(Entry { key: self.key(cell), point: point as u32 });
        }
        self.sort_entries();
        self.collect_cells(ids);
    }

    /// Index into the sorted slice of points: `order()[k]` is the k-th point's old index.
    pub fn order(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.entries.iter().map(|entry| entry.point as usize)
    }

    /// Index of the occupied cell that holds the k-th sorted point.
    #[inline(always)]
    pub fn cell_of(&self, sorted: usize) -> usize {
        self.cell_of[sorted] as usize
    }

    /// Sorted points in the rows of three cells around the cell of `position`:
    /// [`Vector::ROWS`] ranges, in the order of the rows.
    ///
    /// `position` need not be one of the points. Takes a binary search a row.
    pub fn rows<V: Vector>(&self, position: V, rows: &mut Rows) {
        rows.len = V::ROWS;
        if self.keys.is_empty() {
            rows.ranges[..V::ROWS].fill((0, 0));
            return;
        }
        let cell = self.cell(position);
        let extent = |axis: usize| match axis {
            0 => self.stride[1] as i64,
            1 => (self.stride[2] / self.stride[1]) as i64,
            _ => i64::MAX,
        };
        for row in 0..V::ROWS {
            let y = cell[1] + (row % 3) as i64 - 1;
            let z = if V::DIM == 3 { cell[2] + (row / 3) as i64 - 1 } else { cell[2] };
            // A cell outside the layout has no key of its own: it would alias another row.
            let outside = cell[0] < 0
                || cell[0] >= extent(0)
                || y < 0
                || y >= extent(1)
                || z < 0
                || cell[2] < 0;
            rows.ranges[row] = if outside {
                (0, 0)
            } else {
                let first = self.key([(cell[0] - 1).max(0), y, z]);
                let last = self.key([cell[0] + 1, y, z]);
                let low = self.keys.partition_point(|&key| key < first);
                let high =
                    low + self.keys[low..].iter().take(3).take_while(|&&k| k <= last).count();
                (self.starts[low], self.starts[high])
            };
        }
    }

    /// Places the layout's origin and strides around the points' cells, with
    /// an empty cell on every side so that a row's neighbours never wrap.
    fn lay_out<V: Vector>(&mut self, points: &[V]) {
        self.origin = [0; 3];
        self.stride = [1, 1, 1];
        let Some(&first) = points.first() else { return };
        let (low, high) =
            points.iter().fold((first, first), |(low, high), &p| (low.min(p), high.max(p)));
        let (low, high) = (self.cell(low), self.cell(high));
        let mut stride = 1u64;
        for axis in 0..V::DIM {
            self.origin[axis] = low[axis] - 1;
            self.stride[axis] = stride;
            stride *= (high[axis] - low[axis] + 3) as u64;
        }
        if V::DIM == 2 {
            self.stride[2] = stride;
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
            let scaled = (f64::from(components[axis]) / self.cell_size).clamp(-limit, limit);
            let truncated = scaled as i64;
            let floor = truncated - i64::from(scaled < truncated as f64);
            cell[axis] = floor - self.origin[axis];
        }
        cell
    }

    #[inline(always)]
    fn key(&self, cell: [i64; 3]) -> u64 {
        cell[0] as u64 + cell[1] as u64 * self.stride[1] + cell[2] as u64 * self.stride[2]
    }

    /// Least significant digit radix sort, only over the digits in use.
    fn sort_entries(&mut self) {
        let count = self.entries.len();
        self.scratch.clear();
        self.scratch.resize(count, Entry::default());
        let highest = self.entries.iter().map(|entry| entry.key).max().unwrap_or(0);
        let digits = 1usize << DIGIT_BITS;
        let mut shift = 0;
        while shift < u64::BITS && highest >> shift > 0 {
            let digit = |entry: &Entry| (entry.key >> shift) as usize & (digits - 1);
            self.histogram.clear();
            self.histogram.resize(digits, 0);
            for entry in &self.entries {
                self.histogram[digit(entry)] += 1;
            }
            let mut sum = 0;
            for slot in &mut self.histogram {
                sum += core::mem::replace(slot, sum);
            }
            for entry in &self.entries {
                let slot = &mut self.histogram[digit(entry)];
                self.scratch[*slot as usize] = *entry;
                *slot += 1;
            }
            core::mem::swap(&mut self.entries, &mut self.scratch);
            shift += DIGIT_BITS;
        }
    }

    /// Finds the occupied cells and orders the points of each by id.
    fn collect_cells(&mut self, ids: &[u32]) {
        self.keys.clear();
        self.starts.clear();
        self.cell_of.clear();
        let mut start = 0;
        while start < self.entries.len() {
            let key = self.entries[start].key;
            let cell = &mut self.entries[start..];
            let count = cell.iter().take_while(|entry| entry.key == key).count();
            cell[..count].sort_unstable_by_key(|entry| ids[entry.point as usize]);
            self.cell_of.resize(start + count, self.keys.len() as u32);
            self.keys.push(key);
            self.starts.push(start as u32);
            start += count;
        }
        self.starts.push(start as u32);
    }
}

/// Ranges of sorted points around a position, see [`CellGrid::rows`].
#[derive(Debug, Default)]
pub struct Rows {
    ranges: [(u32, u32); 9],
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
        grid.sort(points, ids, 1.0);
        grid.order().map(|old| ids[old]).collect()
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
        grid.sort(&points, &[0, 1, 2, 3], 1.0);
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
        grid.sort(&[Vec2::new(5.5, 5.5), Vec2::new(9.5, 5.5)], &[0, 1], 1.0);
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
