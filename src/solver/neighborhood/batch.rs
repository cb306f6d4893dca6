//! Neighbours of a few cells at a time: candidates for all of them, then the neighbours of
//! all of their particles, then what follows from these.
//!
//! What one pass packs the next one reads in other groups of eight than it was written in,
//! which waits until the writes have reached the cache: in passes over one particle after the
//! other that would be most of the time.

use core::ops::Range;

use super::columns::Packer;
use super::{Columns, Entry, Extent, Lists, Results, Surroundings};
use crate::solver::grid::Rows;
use crate::solver::lanes::{Apart, WIDTH};
use crate::solver::vector::Vector;
use crate::solver::wide::{EIGHT, Eight, Machine, Task};

/// A length in metres far beyond any other's: squares of it are large, but no kernel's value
/// is undefined.
const FAR: f32 = 1e15;

/// Squared distance, in parts of the squared support radius, below which a pair
/// may be at one point.
const CLOSE: f32 = 3e-7;

/// A cell of a batch.
#[derive(Clone, Debug)]
pub(crate) struct Cell<V> {
    /// The particles that are looked for neighbours of.
    pub(crate) own: Range<usize>,
    pub(crate) extent: Extent<V>,
    /// End of its candidates.
    end: usize,
}

/// Cells that are searched together.
#[derive(Debug)]
pub(crate) struct Batch<V> {
    cells: Vec<Cell<V>>,
    /// Places and sorted indices of candidates, cell after cell. Those of each are filled up to
    /// whole groups of eight with places near to no other.
    places: Columns,
    indices: Vec<u32>,
    /// Offsets to the neighbours of one particle after another and their sorted indices, in
    /// whole groups as well.
    offsets: Columns,
    neighbors: Vec<u32>,
    /// Neighbours of each particle.
    counts: Vec<u32>,
}

impl<V> Default for Batch<V> {
    fn default() -> Self {
        Self {
            cells: Vec::new(),
            places: Columns::default(),
            indices: Vec::new(),
            offsets: Columns::default(),
            neighbors: Vec::new(),
            counts: Vec::new(),
        }
    }
}

impl<V: Vector> Batch<V> {
    /// Particles from which on a batch is full: so few that its passes stay in the fastest cache.
    pub(crate) const FULL: usize = 8;

    /// The cells, in order.
    pub(crate) fn cells(&self) -> &[Cell<V>] {
        &self.cells
    }

    /// Forgets all cells.
    pub(crate) fn clear(&mut self) {
        self.cells.clear();
    }

    /// Adds a cell with particles `own` in a box: candidates are what the rows around it hold
    /// within reach of the box.
    #[inline(always)]
    pub(crate) fn add<M: Machine>(
        &mut self,
        machine: M,
        own: Range<usize>,
        extent: Extent<V>,
        points: &Columns,
        rows: &Rows,
        around: &Surroundings<V>,
    ) {
        let start = self.cells.last().map_or(0, |cell| cell.end);
        let most: usize = rows.ranges().iter().map(|(from, to)| groups_in(from..to)).sum();
        let room = start + (most + 1) * EIGHT;
        self.places.reserve::<V>(room);
        if self.indices.len() < room {
            self.indices.resize(room, 0);
        }
        let spread = |v: V| v.to_array().map(|component| machine.splat(component));
        let (low, high) = (spread(extent.low), spread(extent.high));
        let reach_squared = machine.splat(around.reach_squared());
        let zero = machine.splat(0.0);
        let places = self.places.from(start);
        let mut candidates = Packer::<V>::new(&mut self.indices[start..], places, most + 1);
        for &(from, to) in rows.ranges() {
            let groups = groups_in(&from..&to);
            let [xs, ys, zs] = points.groups::<V>(from as usize, from as usize + groups * EIGHT);
            let mut at = from;
            for ((x, y), z) in xs.iter().zip(ys).zip(zs) {
                let places = [machine.load(x), machine.load(y), machine.load(z)];
                let mut squared = zero;
                for axis in 0..V::DIM {
                    let x = places[axis];
                    let outside = (low[axis] - x).max(x - high[axis]).max(zero);
                    squared += outside * outside;
                }
                // What follows the row is of another.
                let row = 0xff >> (EIGHT as u32).saturating_sub(to - at);
                let mask = squared.less(reach_squared) & row;
                let indices = core::array::from_fn(|lane| at + lane as u32);
                candidates.put(machine, &indices, places, mask);
                at += EIGHT as u32;
            }
        }
        let nobody = -FAR.copysign(extent.low.to_array()[0]);
        let count = candidates.close(machine, 0, V::from_array([nobody, 0.0, 0.0]));
        self.cells.push(Cell { own, extent, end: start + count.next_multiple_of(EIGHT) });
    }

    /// Bytes of all buffers.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Cell<V>>() * self.cells.capacity()
            + 4 * (self.indices.capacity() + self.neighbors.capacity() + self.counts.capacity())
            + self.places.bytes()
            + self.offsets.bytes()
    }
}

/// Groups of eight that some points take.
fn groups_in(points: Range<&u32>) -> usize {
    (points.end - points.start).div_ceil(EIGHT as u32) as usize
}

/// Finds the neighbours of a batch's particles among the candidates.
pub(crate) struct Sift<'a, 'b, V: Vector> {
    pub(crate) batch: &'a mut Batch<V>,
    pub(crate) around: &'a Surroundings<'b, V>,
}

impl<V: Vector> Task for Sift<'_, '_, V> {
    #[inline(always)]
    fn run<M: Machine>(self, machine: M) {
        let Self { batch, around } = self;
        let Batch { cells, places, indices, offsets, neighbors, counts } = batch;
        let reach_squared = machine.splat(around.reach_squared());
        let (mut first, mut put) = (0, 0);
        counts.clear();
        for cell in cells {
            let indices = indices[first..cell.end].as_chunks::<EIGHT>().0;
            let [xs, ys, zs] = places.groups::<V>(first, cell.end);
            let candidates = indices.iter().zip(xs.iter().zip(ys).zip(zs));
            let groups = indices.len() + 1;
            first = cell.end;
            for (x, i) in around.positions[cell.own.clone()].iter().zip(cell.own.start as u32..) {
                let room = put + groups * EIGHT;
                if neighbors.len() < room {
                    neighbors.resize(room, 0);
                    offsets.reserve::<V>(room);
                }
                let mut found = Packer::<V>::new(&mut neighbors[put..], offsets.from(put), groups);
                let x = x.to_array().map(|component| machine.splat(component));
                for (indices, ((x_j, y_j), z_j)) in candidates.clone() {
                    let mut vectors = [machine.load(x_j), machine.load(y_j), machine.load(z_j)];
                    let mut squared = machine.splat(0.0);
                    for axis in 0..V::DIM {
                        vectors[axis] = x[axis] - vectors[axis];
                        squared += vectors[axis] * vectors[axis];
                    }
                    let mask = machine.except(squared, indices, i).less(reach_squared);
                    found.put(machine, indices, vectors, mask);
                }
                let count = found.close(machine, i, V::from_array([FAR, 0.0, 0.0]));
                counts.push(count as u32);
                put += count.next_multiple_of(EIGHT);
            }
        }
    }
}

/// Evaluates the neighbours of a batch's particles, which were sifted, and appends them to the
/// lists, in whole pairs.
///
/// `MIXED` if the rest densities differ.
pub(crate) struct Evaluate<'a, 'b, V: Vector, const MIXED: bool> {
    pub(crate) batch: &'a Batch<V>,
    pub(crate) first: usize,
    pub(crate) around: &'a Surroundings<'b, V>,
    pub(crate) lists: &'a mut Lists<V>,
    /// Of the batch's particles.
    pub(crate) entries: &'a mut [Entry],
    /// Of the diagonals the part that the gradients themselves make up.
    pub(crate) results: Results<'a, V>,
}

impl<V: Vector, const MIXED: bool> Task for Evaluate<'_, '_, V, MIXED> {
    #[inline(always)]
    fn run<M: Machine>(self, machine: M) {
        let Self { batch, first, around, lists, entries, results } = self;
        let kernel = around.kernel.times(around.volume);
        let center = kernel.center();
        let kernel = kernel.wide(machine);
        let support = around.kernel.support_radius();
        let close_squared = machine.splat(CLOSE * support * support);
        let zero = machine.splat(0.0);
        let Results { densities, gradient_sums, diagonals, counts } = results;
        let results = densities.iter_mut().zip(gradient_sums).zip(diagonals).zip(counts);
        let results = results.zip(entries).zip(&batch.counts);
        let groups = |count: u32| (count as usize).div_ceil(EIGHT);
        let all = EIGHT * batch.counts.iter().map(|&count| groups(count)).sum::<usize>();
        lists.reserve(all);
        let [xs, ys, zs] = batch.offsets.groups::<V>(0, all);
        let offsets = xs.iter().zip(ys).zip(zs);
        let mut found = batch.neighbors[..all].as_chunks::<EIGHT>().0.iter().zip(offsets);
        for (local, ((results, entry), &count)) in results.enumerate() {
            let i = first + local;
            let start = lists.used;
            *entry = Entry { start: start as u32, count };
            lists.used += (count as usize).next_multiple_of(WIDTH);
            let end = start + groups(count) * EIGHT;
            let listed = lists.indices[start..end].as_chunks_mut::<EIGHT>().0.iter_mut();
            let weights = lists.weights[start..end].as_chunks_mut::<EIGHT>().0;
            let numbers = &mut lists.numbers[start * V::NUMBERS..end * V::NUMBERS];
            let listed = listed.zip(weights).zip(numbers.chunks_exact_mut(EIGHT * V::NUMBERS));
            let (mut weight, mut squares) = (zero, zero);
            let mut gradient = [zero; 3];
            let mut nearest = machine.splat(FAR);
            for ((listed, weights), numbers) in listed {
                let Some((indices, ((x, y), z))) = found.next() else { break };
                let mut vectors = [machine.load(x), machine.load(y), machine.load(z)];
                let mut squared = zero;
                for axis in 0..V::DIM {
                    squared += vectors[axis] * vectors[axis];
                }
                nearest = squared.min(nearest);
                // Behind the last neighbour all of them are zero.
                let [values, slopes, factors] = kernel.evaluate(squared);
                weight += values;
                let mut square = slopes * slopes;
                if MIXED {
                    // Behind the last neighbour is the particle itself, and nothing to be added.
                    let lightness = |j: u32| around.lightness.get(j as usize).copied();
                    let lightness = indices.map(|j| lightness(j).unwrap_or(0.0));
                    square = square * machine.load(&lightness);
                }
                squares += square;
                for axis in 0..V::DIM {
                    vectors[axis] = vectors[axis] * factors;
                    gradient[axis] += vectors[axis];
                }
                *listed = *indices;
                *weights = machine.store(values);
                V::keep_all(machine, vectors, factors, numbers);
            }
            let [weight, squares, x, y] = machine.sums([weight, squares, gradient[0], gradient[1]]);
            let [z, ..] = if V::DIM == 3 { machine.sums([gradient[2]; 4]) } else { [0.0; 4] };
            let mut gradient = V::from_array([x, y, z]);
            let mut squares = squares * if MIXED { 1.0 } else { around.lightness[i] };
            if nearest.less(close_squared) != 0 {
                (gradient, squares) = part_coincident(i, start, count as usize, around, lists);
            }
            let (((density, gradient_sum), diagonal), number) = results;
            (*density, *gradient_sum, *diagonal) = (center + weight, gradient, squares);
            *number = count;
        }
    }
}

/// Gives the neighbours at the place of particle `i` a direction: replaces what
/// is kept of the gradients of its `count` neighbours from entry `start` on.
/// Returns the sums of the gradients and of their squares over rho0.
#[cold]
fn part_coincident<V: Vector>(
    i: usize,
    start: usize,
    count: usize,
    around: &Surroundings<V>,
    lists: &mut Lists<V>,
) -> (V, f32) {
    let (positions, places) = (around.positions, around.places);
    let kernel = around.kernel.times(around.volume);
    let (mut sum, mut squares) = (V::ZERO, 0.0);
    for at in start..start + count {
        let j = lists.indices[at] as usize;
        let offset = positions[i] - positions[j];
        let gradient = kernel.pair_gradient(offset, places[i], places[j]);
        sum += gradient;
        squares += gradient.length_squared() * around.lightness[j];
        let coincident = kernel.is_coincident(offset.length_squared());
        let factor = if coincident { 0.0 } else { kernel.factor(offset.length_squared()) };
        gradient.keep(factor, &mut lists.numbers[at * V::NUMBERS..(at + 1) * V::NUMBERS]);
        lists.coincident |= coincident;
        if coincident && V::FACTORS {
            lists.apart.push(Apart { of: i as u32, neighbor: j as u32, gradient });
        }
    }
    (sum, squares)
}
