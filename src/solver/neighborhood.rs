//! The neighbours of one particle after another, found and evaluated several
//! at a time.

use core::ops::Range;

use super::boundary::BoundarySet;
use super::grid::{CellGrid, Rows};
use super::kernel::{CubicSpline, REACH_SQUARED, WideKernel};
use super::lanes::{Apart, WIDTH};
use super::parallel::{Threads, chunks, chunks_mut, for_each_chunk};
use super::vector::Vector;
use super::wide::{EIGHT, Eight, Machine, packed};

/// A list that is full grows by one part in so many.
const SLACK: usize = 32;

/// What a search reads: particles in the order of their grid, and the boundary.
#[derive(Clone, Copy)]
pub(crate) struct Surroundings<'a, V> {
    pub(crate) positions: &'a [V],
    /// The particles' ids, for the direction between two at one point.
    pub(crate) places: &'a [u32],
    /// 1/rho0 of each particle.
    pub(crate) lightness: &'a [f32],
    pub(crate) grid: &'a CellGrid,
    pub(crate) boundary: &'a BoundarySet<V>,
    pub(crate) kernel: &'a CubicSpline<V>,
    /// Volume V0 of a particle in m^DIM.
    pub(crate) volume: f32,
    /// Whether rest densities differ.
    pub(crate) mixed: bool,
}

impl<V: Vector> Surroundings<'_, V> {
    /// Squared distance in m² below which two points are neighbours.
    pub(crate) fn reach_squared(&self) -> f32 {
        let support_radius = self.kernel.support_radius();
        support_radius * support_radius * REACH_SQUARED
    }
}

/// Sums over the neighbours of a particle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sums<V> {
    /// Number of neighbours.
    pub(crate) count: u32,
    /// V0 W.
    pub(crate) weight: f32,
    /// V0 grad W, in 1/m.
    pub(crate) gradient: V,
    /// |V0 grad W|²/rho0 of the neighbour.
    pub(crate) squares: f32,
}

/// A place in metres that is far from every other on its side of zero: squares
/// of distances to it are large, or infinite, but no kernel's value is undefined.
const FAR: f32 = 1e15;

/// Squared distance, in parts of the squared support radius, below which a pair
/// may be at one point.
const CLOSE: f32 = 3e-7;

/// All positions of a world, component by component, with room behind them.
#[derive(Debug, Default)]
pub(crate) struct Points([Vec<f32>; 3]);

impl Points {
    /// Takes over the positions.
    pub(crate) fn set<V: Vector>(&mut self, positions: &[V], threads: Threads) {
        for (axis, components) in self.0[..V::DIM].iter_mut().enumerate() {
            components.resize(positions.len() + EIGHT, 0.0);
            let both = (chunks_mut(components), chunks(positions));
            for_each_chunk(threads, both, |(components, positions)| {
                for (component, position) in components.iter_mut().zip(positions) {
                    *component = position.to_array()[axis];
                }
            });
        }
    }

    /// Bytes of all buffers.
    pub(crate) fn bytes(&self) -> usize {
        4 * self.0.iter().map(Vec::capacity).sum::<usize>()
    }
}

/// The smallest box around some points.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent<V> {
    low: V,
    high: V,
}

impl<V: Vector> Extent<V> {
    /// Of at least one point.
    pub(crate) fn of(points: &[V]) -> Self {
        let first = points[0];
        let (low, high) =
            points.iter().fold((first, first), |(low, high), &x| (low.min(x), high.max(x)));
        Self { low, high }
    }

    /// Squared distance in m² from a point, zero if it is inside: never above
    /// that of any point of the box, rounding included.
    pub(crate) fn distance_squared(&self, point: V) -> f32 {
        let outside = (self.low - point).max(point - self.high).max(V::ZERO);
        outside.length_squared()
    }
}

/// The particles in and around a cell: those that are candidates for neighbours
/// of the particles in it.
#[derive(Debug, Default)]
pub(crate) struct Neighborhood {
    /// Positions component by component, in whole groups that are filled up
    /// with places near to no other, and with room behind them.
    components: [Vec<f32>; 3],
    /// Sorted index of each.
    indices: Vec<u32>,
    /// Groups in use.
    groups: usize,
    /// Offsets from the neighbours of one particle, component by component.
    offsets: [Vec<f32>; 3],
}

/// Eight entries from `at` on.
#[inline(always)]
fn eight<T>(values: &[T], at: usize) -> &[T; EIGHT] {
    &groups(&values[at..at + EIGHT])[0]
}

/// Whole groups of eight.
#[inline(always)]
fn groups<T>(values: &[T]) -> &[[T; EIGHT]] {
    values.as_chunks().0
}

impl Neighborhood {
    /// Takes what the rows around a cell hold within reach of the box around the
    /// particles `own` of the cell, which are among them. Returns the place of
    /// the first of these.
    #[inline(always)]
    pub(crate) fn collect<M: Machine, V: Vector>(
        &mut self,
        machine: M,
        points: &Points,
        rows: &Rows,
        own: &Range<usize>,
        extent: &Extent<V>,
        around: &Surroundings<V>,
    ) -> usize {
        let most = rows.ranges().iter().map(|&(start, end)| (end - start) as usize).sum::<usize>();
        let room = (most + EIGHT).next_multiple_of(EIGHT) + EIGHT;
        if self.indices.len() < room {
            self.indices.resize(room, 0);
            self.components[..V::DIM].iter_mut().for_each(|axis| axis.resize(room, 0.0));
            self.offsets[..V::DIM].iter_mut().for_each(|axis| axis.resize(room, 0.0));
        }
        let spread = |v: V| v.to_array().map(|component| machine.splat(component));
        let (low, high) = (spread(extent.low), spread(extent.high));
        let reach_squared = machine.splat(around.reach_squared());
        let zero = machine.splat(0.0);
        let listed = &mut self.indices[..room];
        let mut candidates = self.components.each_mut().map(Vec::as_mut_slice);
        for candidates in &mut candidates[..V::DIM] {
            *candidates = &mut core::mem::take(candidates)[..room];
        }
        let mut found = 0;
        let mut place = 0;
        let first = own.start as u32;
        for &(start, end) in rows.ranges() {
            // The row of the particles is taken in two parts, the second from them on.
            let split = if (start..end).contains(&first) { first } else { end };
            for (start, end) in [(start, split), (split, end)] {
                if start == first {
                    place = found;
                }
                for at in (start..end).step_by(EIGHT) {
                    let mut squared = zero;
                    let mut components = [zero; 3];
                    for axis in 0..V::DIM {
                        let x = machine.load(eight(&points.0[axis], at as usize));
                        let outside = (low[axis] - x).max(x - high[axis]).max(zero);
                        squared += outside * outside;
                        components[axis] = x;
                    }
                    // What follows the row is of another.
                    let row = 0xff >> (EIGHT as u32).saturating_sub(end - at);
                    let mask = squared.less(reach_squared) & row;
                    let end = found + EIGHT;
                    listed[found..end].copy_from_slice(&packed(mask).map(|lane| at + lane));
                    for axis in 0..V::DIM {
                        let packed = machine.pack(components[axis], mask);
                        candidates[axis][found..end].copy_from_slice(&packed);
                    }
                    found += mask.count_ones() as usize;
                }
            }
        }
        self.groups = found.div_ceil(EIGHT);
        let padding = found..self.groups * EIGHT;
        let nobody = V::from_array([-FAR.copysign(extent.low.to_array()[0]), 0.0, 0.0]).to_array();
        for axis in 0..V::DIM {
            self.components[axis][padding.clone()].fill(nobody[axis]);
        }
        place
    }

    /// Bytes of all buffers.
    pub(crate) fn bytes(&self) -> usize {
        let numbers = self.components.iter().chain(&self.offsets).map(Vec::capacity);
        4 * (numbers.sum::<usize>() + self.indices.capacity())
    }

    /// Finds the neighbours of the particle at `x`, which is itself the candidate
    /// `own`. Writes their indices, and any behind them, to `listed`; leaves the
    /// offsets from them, and far ones behind. Returns how many there are.
    #[inline(always)]
    fn search<M: Machine, V: Vector>(
        &mut self,
        machine: M,
        x: V,
        own: usize,
        around: &Surroundings<V>,
        listed: &mut [u32],
    ) -> usize {
        let room = listed.len();
        let x = x.to_array().map(|component| machine.splat(component));
        let reach_squared = machine.splat(around.reach_squared());
        let zero = machine.splat(0.0);
        let [xs, ys, zs] = self.components.each_ref().map(|axis| groups(axis));
        let zs = if V::DIM == 3 { zs } else { ys };
        let mut offsets = self.offsets.each_mut().map(Vec::as_mut_slice);
        for offsets in &mut offsets[..V::DIM] {
            *offsets = &mut core::mem::take(offsets)[..room];
        }
        let mut count = 0;
        let candidates = groups(&self.indices).iter().zip(xs).zip(ys).zip(zs);
        for (group, (((indices, xs), ys), zs)) in candidates.take(self.groups).enumerate() {
            let places = [xs, ys, zs];
            let mut vectors = [zero; 3];
            let mut squared = zero;
            for axis in 0..V::DIM {
                vectors[axis] = x[axis] - machine.load(places[axis]);
                squared += vectors[axis] * vectors[axis];
            }
            let itself = if own / EIGHT == group { 1 << (own % EIGHT) } else { 0 };
            let mask = squared.less(reach_squared) & !itself;
            let end = count + EIGHT;
            listed[count..end].copy_from_slice(&machine.pack_indices(indices, mask));
            for axis in 0..V::DIM {
                offsets[axis][count..end].copy_from_slice(&machine.pack(vectors[axis], mask));
            }
            count += mask.count_ones() as usize;
        }
        for offsets in &mut offsets[..V::DIM] {
            offsets[count..count + EIGHT].fill(FAR);
        }
        count
    }

    /// Finds and evaluates the neighbours of the particle `i`, which is the
    /// candidate `own`. Appends them to the lists, in whole pairs.
    ///
    /// `MIXED` if the rest densities differ.
    #[inline(always)]
    pub(crate) fn visit<M: Machine, V: Vector, const MIXED: bool>(
        &mut self,
        machine: M,
        kernel: &WideKernel<M>,
        i: usize,
        own: usize,
        around: &Surroundings<V>,
        lists: &mut Lists<V>,
    ) -> Sums<V> {
        let room = (self.groups + 1) * EIGHT;
        lists.reserve(room);
        let start = lists.used;
        let listed = &mut lists.indices[start..start + room];
        let count = self.search::<M, V>(machine, around.positions[i], own, around, listed);
        let support = around.kernel.support_radius();
        let close_squared = machine.splat(CLOSE * support * support);
        let zero = machine.splat(0.0);
        let (mut weight, mut squares) = (zero, zero);
        let mut gradient = [zero; 3];
        let mut close = 0;
        let [xs, ys, zs] = self.offsets.each_ref().map(|axis| groups(axis));
        // The plane has no third component to walk along with.
        let zs = if V::DIM == 3 { zs } else { ys };
        let weights = lists.weights[start..start + room].as_chunks_mut().0.iter_mut();
        let numbers = start * V::NUMBERS..(start + room) * V::NUMBERS;
        let numbers = lists.numbers[numbers].chunks_exact_mut(EIGHT * V::NUMBERS);
        let listed = groups(listed).iter().zip(weights).zip(numbers);
        let offsets = xs.iter().zip(ys).zip(zs);
        for (((xs, ys), zs), ((listed, kept), numbers)) in
            offsets.zip(listed).take(count.div_ceil(EIGHT))
        {
            let mut vectors = [xs, ys, zs].map(|axis| machine.load(axis));
            let mut squared = zero;
            for vector in &vectors[..V::DIM] {
                squared += *vector * *vector;
            }
            close |= squared.less(close_squared);
            let [values, slopes, factors] = kernel.evaluate(squared);
            weight += values;
            let mut square = slopes * slopes;
            if MIXED {
                // Behind the last neighbour is any index, and nothing to be added.
                let lightness = |j: u32| around.lightness.get(j as usize).copied().unwrap_or(0.0);
                square = square * machine.load(&listed.map(lightness));
            }
            squares += square;
            for axis in 0..V::DIM {
                vectors[axis] = vectors[axis] * factors;
                gradient[axis] += vectors[axis];
            }
            *kept = machine.store(values);
            V::keep_all(machine, vectors, factors, numbers);
        }
        lists.used = start + count;
        lists.pad(i);
        let mut gradient = V::from_array(gradient.map(Eight::sum));
        let mut squares = squares.sum() * if MIXED { 1.0 } else { around.lightness[i] };
        if close != 0 {
            (gradient, squares) = part_coincident(i, start, count, around, lists);
        }
        Sums { count: count as u32, weight: weight.sum(), gradient, squares }
    }
}

/// The neighbour lists of a chunk of particles, as they grow.
#[derive(Debug, Default)]
pub(crate) struct Lists<V: Vector> {
    /// Sorted indices of neighbours.
    pub(crate) indices: Vec<u32>,
    /// V0 W.
    pub(crate) weights: Vec<f32>,
    /// What is kept of V0 grad W.
    pub(crate) numbers: Vec<f32>,
    /// Gradients that are no factor of an offset.
    pub(crate) apart: Vec<Apart<V>>,
    /// Whether any two particles of the lists are at one place.
    pub(crate) coincident: bool,
    /// Entries in use; beyond them there is room.
    pub(crate) used: usize,
}

impl<V: Vector> Lists<V> {
    /// Bytes of all buffers.
    pub(crate) fn bytes(&self) -> usize {
        4 * (self.indices.capacity() + self.weights.capacity() + self.numbers.capacity())
            + size_of::<Apart<V>>() * self.apart.capacity()
    }

    /// Appends a neighbour.
    pub(crate) fn push(&mut self, index: u32, weight: f32, gradient: V, factor: f32) {
        self.reserve(1);
        let at = self.used;
        (self.indices[at], self.weights[at]) = (index, weight);
        gradient.keep(factor, &mut self.numbers[at * V::NUMBERS..(at + 1) * V::NUMBERS]);
        self.used += 1;
    }

    /// Fills the list of particle `i` up to whole pairs with the particle itself.
    #[inline(always)]
    pub(crate) fn pad(&mut self, i: usize) {
        if !self.used.is_multiple_of(WIDTH) {
            self.push(i as u32, 0.0, V::ZERO, 0.0);
        }
    }

    #[inline(always)]
    fn reserve(&mut self, more: usize) {
        if self.indices.len() < self.used + more {
            self.grow(self.used + more);
        }
    }

    #[cold]
    fn grow(&mut self, least: usize) {
        fn grow<T: Clone + Default>(list: &mut Vec<T>, room: usize) {
            // Not twice as much, as a vector that grows would take.
            list.reserve_exact(room - list.len());
            list.resize(room, T::default());
        }
        let room = (least + least / SLACK).next_multiple_of(EIGHT);
        grow(&mut self.indices, room);
        grow(&mut self.weights, room);
        grow(&mut self.numbers, room * V::NUMBERS);
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
