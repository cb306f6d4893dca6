//! Which parts of a cloth are near each other.

use super::parts::Part;
use crate::solver::vector::Vector;

/// Fewest buckets of cells.
const LEAST_BUCKETS: usize = 64;

/// Most cells along an axis that a part overlaps beyond its first.
const MOST_CELLS: i32 = 3;

/// Parts of the cloth by the cells that the boxes around them overlap.
#[derive(Clone, Debug, Default)]
pub(super) struct Cells<V> {
    inverse: f32,
    /// Boxes by part: lowest and highest corner.
    boxes: Vec<[V; 2]>,
    /// First entry of each bucket of cells, and one more.
    start: Vec<u32>,
    /// The cell and a part in it, bucket by bucket.
    entries: Vec<([i32; 3], u32)>,
}

impl<V: Vector> Cells<V> {
    fn cell(&self, x: V) -> [i32; 3] {
        let [x, y, z] = (x * self.inverse).to_array();
        [floor(x), floor(y), floor(z)]
    }

    /// The last bits, well mixed (Teschner et al. 2003).
    fn bucket(&self, [x, y, z]: [i32; 3]) -> usize {
        let [x, y, z] = [x as u32, y as u32, z as u32];
        let hash = x.wrapping_mul(73_856_093) ^ y.wrapping_mul(19_349_663);
        let hash = hash ^ z.wrapping_mul(83_492_791);
        (hash ^ (hash >> 15)) as usize & (self.start.len() - 2)
    }

    /// Fills cells of `size` metres with the parts, each `margin` larger.
    pub fn fill(&mut self, parts: &[Part], place: impl Fn(u32) -> V, margin: f32, size: f32) {
        self.inverse = 1.0 / size;
        let margin = V::splat(margin);
        self.boxes.clear();
        self.boxes.extend(parts.iter().map(|part| {
            let first = place(part.slots[0]);
            let rest = &part.slots[1..part.corners as usize];
            let (low, high) = rest.iter().fold((first, first), |(low, high), &slot| {
                let x = place(slot);
                (low.min(x), high.max(x))
            });
            [low - margin, high + margin]
        }));
        let buckets = parts.len().next_power_of_two().max(LEAST_BUCKETS);
        self.start.clear();
        self.start.resize(buckets + 1, 0);
        for part in 0..parts.len() {
            for cell in cells_of(self.boxes[part].map(|corner| self.cell(corner))) {
                let bucket = self.bucket(cell);
                self.start[bucket] += 1;
            }
        }
        let mut sum = 0;
        for start in &mut self.start {
            sum += *start;
            *start = sum;
        }
        self.entries.clear();
        self.entries.resize(sum as usize, ([0; 3], 0));
        for part in (0..parts.len()).rev() {
            for cell in cells_of(self.boxes[part].map(|corner| self.cell(corner))) {
                let bucket = self.bucket(cell);
                self.start[bucket] -= 1;
                self.entries[self.start[bucket] as usize] = (cell, part as u32);
            }
        }
    }

    /// Calls `found` with each part whose box holds `x`.
    pub fn around(&self, x: V, mut found: impl FnMut(u32)) {
        let cell = self.cell(x);
        let bucket = self.bucket(cell);
        let range = self.start[bucket] as usize..self.start[bucket + 1] as usize;
        for &(of, part) in &self.entries[range] {
            let [low, high] = self.boxes[part as usize];
            if of == cell && low.max(x) == x && high.min(x) == x {
                found(part);
            }
        }
    }

    /// Calls `found` once with each two parts whose boxes overlap.
    pub fn overlapping(&self, mut found: impl FnMut(u32, u32)) {
        for bounds in self.start.windows(2) {
            let entries = &self.entries[bounds[0] as usize..bounds[1] as usize];
            for (index, &(cell, one)) in entries.iter().enumerate() {
                let [low, high] = self.boxes[one as usize];
                for &(of, other) in &entries[index + 1..] {
                    let [bottom, top] = self.boxes[other as usize];
                    let lowest = low.max(bottom);
                    let overlap = high.min(top).max(lowest) == high.min(top);
                    // In the cell of the common corner alone.
                    if of == cell && overlap && self.cell(lowest) == cell {
                        found(one, other);
                    }
                }
            }
        }
    }
}

/// The largest whole number that is not larger; without a call where the machine
/// is not known to have an instruction for it.
#[inline(always)]
fn floor(x: f32) -> i32 {
    let near = x as i32;
    near.saturating_sub(i32::from(x < near as f32))
}

/// The cells of a box; of one far larger than a part at rest, its lowest ones.
fn cells_of([low, high]: [[i32; 3]; 2]) -> impl Iterator<Item = [i32; 3]> {
    let [x, y, z] =
        core::array::from_fn(|k| low[k]..=high[k].min(low[k].saturating_add(MOST_CELLS)));
    z.flat_map(move |z| {
        let x = x.clone();
        y.clone().flat_map(move |y| x.clone().map(move |x| [x, y, z]))
    })
}
