//! Blocks of neighbouring cells: the coarse grid over the occupied cells.

use super::grid::{CellGrid, seek};
use super::parallel::{CHUNK, Threads, chunks_mut, for_each_chunk, numbers};
use super::vector::Vector;

/// Colors of the layers, so many that matrix rows next to layers of one color
/// are never the same.
pub(crate) const LAYER_COLORS: usize = 3;

/// No block.
pub(crate) const NO_BLOCK: u32 = u32::MAX;

/// All blocks with one coordinate along the slow axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layer {
    /// First sorted point and end of the layer's points.
    pub(crate) points: (u32, u32),
    /// First block and end of the blocks in this layer and the two beside it.
    pub(crate) reach: (u32, u32),
}

/// Blocks of two cells along each axis, as far as they hold points, in the
/// order of the grid.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    keys: Vec<u64>,
    /// Key and index of each occupied cell, and its phase.
    cells: Vec<(u64, u32, u16)>,
    of_cell: Vec<(u32, u16)>,
    /// Block of each point.
    of: Vec<u32>,
    /// Position of each point's block among all, modulo 4 along each axis: as
    /// much as tells apart the blocks around one.
    phases: Vec<u16>,
    /// For each block the 3^DIM blocks around it, itself in the middle.
    neighbors: Vec<u32>,
    layers: [Vec<Layer>; LAYER_COLORS],
}

/// Bits of a phase: two for each axis, with one to spare above. Behind them one for each
/// axis tells the side that a point's other neighbours are on.
const PHASE_STEP: u32 = 3;
const PHASE_BITS: u16 = 0o333;
const PHASE_SPARE: u16 = 0o444;
const SIDES: u32 = 3 * PHASE_STEP;

/// Most blocks that the neighbours of a point are in: a point reaches blocks on one side of
/// its own along each axis. They are told apart by a bit for each axis in use.
pub(crate) const SLOTS: usize = 8;

/// The bits of a slot by the axes of a grid in the order of [`CellGrid::coordinates`].
const fn bits(dim: usize) -> [usize; 3] {
    if dim == 2 { [1, 0, 2] } else { [1, 2, 4] }
}

/// The slot that a neighbour's block has, by the difference of two phases.
pub(crate) const fn slots(dim: usize) -> [u8; PHASE_BITS as usize + 1] {
    let mut table = [0; PHASE_BITS as usize + 1];
    let mut index = 0;
    while index < table.len() {
        let mut axis = 0;
        while axis < 3 {
            // Two blocks apart are no neighbours.
            if (index >> (PHASE_STEP as usize * axis)) & 1 == 1 {
                table[index] |= bits(dim)[axis] as u8;
            }
            axis += 1;
        }
        index += 1;
    }
    table
}

/// For each choice of sides and each slot its block's place among the blocks around, less
/// that of the middle.
pub(crate) const fn offsets(dim: usize) -> [[i8; SLOTS]; SLOTS] {
    let strides = if dim == 2 { [3, 0, 1] } else { [9, 3, 1] };
    let mut table = [[0; SLOTS]; SLOTS];
    let mut index = 0;
    while index < SLOTS * SLOTS {
        let (sides, slot) = (index / SLOTS, index % SLOTS);
        let mut axis = 0;
        while axis < 3 {
            let side = if sides >> axis & 1 == 1 { strides[axis] } else { -strides[axis] };
            table[sides][slot] += if slot & bits(dim)[axis] > 0 { side } else { 0 };
            axis += 1;
        }
        index += 1;
    }
    table
}

/// Two slots, the block of the second not before that of the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) first: u8,
    pub(crate) second: u8,
    /// Place of the second's block among those around the first's, less that of the middle.
    pub(crate) offset: u8,
}

/// Number of [`Pair`]s of all slots.
pub(crate) const PAIRS: usize = SLOTS * (SLOTS + 1) / 2;

/// For each choice of sides the pairs of the slots in use, `dim` telling how many; what is
/// behind them is not to be read.
pub(crate) const fn pairs(dim: usize) -> [[Pair; PAIRS]; SLOTS] {
    let offsets = offsets(dim);
    let mut table = [[Pair { first: 0, second: 0, offset: 0 }; PAIRS]; SLOTS];
    let mut sides = 0;
    while sides < SLOTS {
        let (mut index, mut used) = (0, 0);
        while index < 1 << (2 * dim) {
            let (first, second) = (index >> dim, index & ((1 << dim) - 1));
            let offset = offsets[sides][second] - offsets[sides][first];
            if offset >= 0 {
                table[sides][used] =
                    Pair { first: first as u8, second: second as u8, offset: offset as u8 };
                used += 1;
            }
            index += 1;
        }
        sides += 1;
    }
    table
}

impl Blocks {
    /// Number of blocks around a block, itself included.
    pub(crate) const fn stencil(dim: usize) -> usize {
        3usize.pow(dim as u32)
    }

    /// Number of blocks.
    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Block of each point.
    pub(crate) fn of(&self) -> &[u32] {
        &self.of
    }

    /// The blocks around each block, [`NO_BLOCK`] where there is none.
    pub(crate) fn neighbors(&self) -> &[u32] {
        &self.neighbors
    }

    /// The layers of one color, in order.
    pub(crate) fn layers(&self, color: usize) -> &[Layer] {
        &self.layers[color]
    }

    /// Index into [`slots`] of one point's block, seen from that of another near it.
    #[inline(always)]
    pub(crate) fn step(&self, from: usize, to: usize) -> usize {
        usize::from((self.phases[to] | PHASE_SPARE).wrapping_sub(self.phases[from]) & PHASE_BITS)
    }

    /// Index into [`offsets`] of the sides on which a point reaches other blocks.
    #[inline(always)]
    pub(crate) fn sides(&self, point: usize) -> usize {
        usize::from(self.phases[point] >> SIDES)
    }

    /// Finds the blocks of a grid.
    pub(crate) fn find<V: Vector>(&mut self, grid: &CellGrid, threads: Threads) {
        let [_, middle, fast] = grid.extents().map(|cells| cells / 2 + 3);
        let (middle_stride, slow_stride) = (fast, fast * middle);
        self.cells.clear();
        self.cells.extend(grid.coordinates().enumerate().map(|(cell, coordinates)| {
            let sides = coordinates.iter().rev().fold(0, |sides, c| sides << 1 | (c & 1));
            let [x, z, y] = coordinates.map(|coordinate| coordinate / 2 + 1);
            let phase =
                [x, z, y].iter().rev().fold(sides, |phase, c| phase << PHASE_STEP | (c & 3));
            (x * slow_stride + z * middle_stride + y, cell as u32, phase as u16)
        }));
        self.cells.sort_unstable();
        self.keys.clear();
        self.of_cell.resize(self.cells.len(), (0, 0));
        for &(key, cell, phase) in &self.cells {
            if self.keys.last() != Some(&key) {
                self.keys.push(key);
            }
            self.of_cell[cell as usize] = (self.keys.len() as u32 - 1, phase);
        }
        self.find_points(grid, threads);
        self.find_neighbors::<V>(middle_stride, slow_stride);
        self.find_layers(grid, slow_stride);
    }

    fn find_points(&mut self, grid: &CellGrid, threads: Threads) {
        self.of.resize(grid.len(), 0);
        self.phases.resize(grid.len(), 0);
        let of_cell = &self.of_cell;
        let parts = (numbers(), chunks_mut(&mut self.of), chunks_mut(&mut self.phases));
        for_each_chunk(threads, parts, |(index, blocks, phases)| {
            let mut cell = grid.cell_of(index * CHUNK);
            for (point, (block, phase)) in (index * CHUNK..).zip(blocks.iter_mut().zip(phases)) {
                cell += usize::from(point == grid.points_of(cell).end);
                (*block, *phase) = of_cell[cell];
            }
        });
    }

    fn find_neighbors<V: Vector>(&mut self, middle_stride: u64, slow_stride: u64) {
        let mut hints = [0; 9];
        let stencil = Self::stencil(V::DIM);
        self.neighbors.resize(self.keys.len() * stencil, NO_BLOCK);
        for (&key, around) in self.keys.iter().zip(self.neighbors.chunks_mut(stencil)) {
            for (row, around) in around.chunks_mut(3).enumerate() {
                let (x, z) = if V::DIM == 3 { (row / 3, row % 3) } else { (row, 1) };
                let middle = key + x as u64 * slow_stride + z as u64 * middle_stride;
                let low = middle - slow_stride - middle_stride - 1;
                let mut place = seek(&self.keys, hints[row], low);
                hints[row] = place;
                for (wanted, block) in (low..).zip(around) {
                    let found = self.keys.get(place) == Some(&wanted);
                    *block = if found { place as u32 } else { NO_BLOCK };
                    place += usize::from(found);
                }
            }
        }
    }

    fn find_layers(&mut self, grid: &CellGrid, slow_stride: u64) {
        self.layers.iter_mut().for_each(Vec::clear);
        let (mut low, mut high) = (0, 0);
        // A stripe is as wide as a block.
        for stripe in grid.stripes() {
            let x = stripe.layer + 1;
            low = seek(&self.keys, low, (x - 1) * slow_stride);
            high = seek(&self.keys, high, (x + 2) * slow_stride);
            self.layers[(x % LAYER_COLORS as u64) as usize]
                .push(Layer { points: stripe.own, reach: (low as u32, high as u32) });
        }
    }

    /// Bytes of all buffers.
    pub(crate) fn bytes(&self) -> usize {
        8 * self.keys.capacity()
            + 16 * self.cells.capacity()
            + 8 * self.of_cell.capacity()
            + 4 * (self.of.capacity() + self.neighbors.capacity())
            + 2 * self.phases.capacity()
            + self.layers.iter().map(|l| size_of::<Layer>() * l.capacity()).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pair_of_slots_is_listed_once_from_the_earlier_block() {
        for dim in [2, 3] {
            let (pairs, offsets) = (pairs(dim), offsets(dim));
            for sides in 0..SLOTS {
                let used = (1 << dim) * ((1 << dim) + 1) / 2;
                let mut seen: Vec<(u8, u8)> = pairs[sides][..used]
                    .iter()
                    .map(|pair| {
                        let [first, second] =
                            [pair.first, pair.second].map(|slot| offsets[sides][usize::from(slot)]);
                        assert_eq!(i16::from(second - first), i16::from(pair.offset));
                        (pair.first.min(pair.second), pair.first.max(pair.second))
                    })
                    .collect();
                seen.sort_unstable();
                seen.dedup();
                assert_eq!(seen.len(), used, "{dim}D, {sides}");
            }
        }
    }
}
