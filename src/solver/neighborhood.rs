//! The neighbours of one particle after another, found and evaluated several
//! at a time.

use core::ops::Range;

use super::boundary::BoundarySet;
use super::grid::{CellGrid, Rows};
use super::kernel::{CubicSpline, REACH_SQUARED, WideKernel};
use super::lanes::{Apart, WIDTH};
use super::parallel::{CHUNK, Threads, for_each_chunk};
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
    /// V0 W, that of the particle itself included.
    pub(crate) weight: f32,
    /// V0 grad W, in 1/m.
    pub(crate) gradient: V,
    /// |V0 grad W|²/rho0 of the neighbour.
    pub(crate) squares: f32,
}

/// How many lanes a mask of eight names.
static COUNTS: [u8; 1 << EIGHT] = {
    let mut table = [0; 1 << EIGHT];
    let mut mask = 0usize;
    while mask < table.len() {
        table[mask] = mask.count_ones() as u8;
        mask += 1;
    }
    table
};

#[inline(always)]
fn count(mask: u32) -> usize {
    usize::from(COUNTS[mask as usize % COUNTS.len()])
}

/// A place in metres that is far from every other on its side of zero: squares
/// of distances to it are large, or infinite, but no kernel's value is undefined.
const FAR: f32 = 1e15;

/// Squared distance, in parts of the squared support radius, below which a pair
/// may be at one point.
const CLOSE: f32 = 1e-9;

/// All positions of a world, component by component, with room behind them.
#[derive(Debug, Default)]
pub(crate) struct Points([Vec<f32>; 3]);

impl Points {
    /// Takes over the positions.
    pub(crate) fn set<V: Vector>(&mut self, positions: &[V], threads: Threads) {
        for (axis, components) in self.0[..V::DIM].iter_mut().enumerate() {
            components.resize(positions.len() + EIGHT, 0.0);
            let chunks = components.chunks_mut(CHUNK).zip(positions.chunks(CHUNK));
            for_each_chunk(threads, chunks, |(components, positions)| {
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
    /// 1/rho0 of each, where they differ.
    lightness: Vec<f32>,
    /// Groups in use.
    groups: usize,
}

/// Eight entries from `at` on.
#[inline(always)]
fn eight<T>(values: &[T], at: usize) -> &[T; EIGHT] {
    // Always `Some`.
    values[at..].first_chunk().unwrap_or_else(|| unreachable!())
}

impl Neighborhood {
    /// Takes what the rows around a cell hold within reach of the box around the
    /// particles `own` of the cell, which are among them. Returns the place of
    /// the first of these.
    ///
    /// `MIXED` if the rest densities differ.
    #[inline(always)]
    pub(crate) fn collect<M: Machine, V: Vector, const MIXED: bool>(
        &mut self,
        machine: M,
        points: &Points,
        rows: &Rows,
        own: &Range<usize>,
        extent: &Extent<V>,
        around: &Surroundings<V>,
    ) -> usize {
        let most = rows.ranges().iter().map(|&(start, end)| (end - start) as usize).sum::<usize>();
        let room = (most + EIGHT).next_multiple_of(EIGHT);
        if self.indices.len() < room {
            self.indices.resize(room, 0);
            self.components[..V::DIM].iter_mut().for_each(|axis| axis.resize(room, 0.0));
            self.lightness.resize(if MIXED { room } else { 0 }, 0.0);
        }
        let spread = |v: V| v.to_array().map(|component| machine.splat(component));
        let (low, high) = (spread(extent.low), spread(extent.high));
        let reach_squared = machine.splat(around.reach_squared());
        let zero = machine.splat(0.0);
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
                        squared = squared + outside * outside;
                        components[axis] = x;
                    }
                    // What follows the row is of another.
                    let row = 0xff >> (EIGHT as u32).saturating_sub(end - at);
                    let mask = squared.less(reach_squared) & row;
                    for axis in 0..V::DIM {
                        self.components[axis][found..found + EIGHT]
                            .copy_from_slice(&machine.pack(components[axis], mask));
                    }
                    self.indices[found..found + EIGHT]
                        .copy_from_slice(&packed(mask).map(|lane| at + lane));
                    found += count(mask);
                }
            }
        }
        self.groups = found.div_ceil(EIGHT);
        let padding = found..self.groups * EIGHT;
        let nobody = V::from_array([-FAR.copysign(extent.low.to_array()[0]), 0.0, 0.0]).to_array();
        for axis in 0..V::DIM {
            self.components[axis][padding.clone()].fill(nobody[axis]);
        }
        if MIXED {
            let listed = self.lightness.iter_mut().zip(&self.indices);
            let listed = listed.take(found);
            listed.for_each(|(lightness, &j)| *lightness = around.lightness[j as usize]);
        }
        place
    }

    /// Bytes of all buffers.
    pub(crate) fn bytes(&self) -> usize {
        let components = self.components.iter().map(Vec::capacity).sum::<usize>();
        4 * (components + self.indices.capacity() + self.lightness.capacity())
    }

    /// Finds and evaluates the neighbours of the particle `i`, which is the
    /// candidate `own`. Appends them to the lists, in whole pairs.
    ///
    /// `MIXED` if the rest densities differ.
    #[inline(always)]
    pub(crate) fn visit<M: Machine, V: Vector, const MIXED: bool>(
        &self,
        machine: M,
        kernel: &WideKernel<M>,
        i: usize,
        own: usize,
        around: &Surroundings<V>,
        lists: &mut Lists<V>,
    ) -> Sums<V> {
        lists.reserve((self.groups + 1) * EIGHT);
        let x = around.positions[i].to_array().map(|component| machine.splat(component));
        let support = around.kernel.support_radius();
        let reach_squared = machine.splat(around.reach_squared());
        let close_squared = machine.splat(CLOSE * support * support);
        let zero = machine.splat(0.0);
        let (mut weight, mut squares) = (zero, zero);
        let mut gradient = [zero; 3];
        let mut close = 0;
        let start = lists.used;
        let mut end = start;
        for group in 0..self.groups {
            let at = group * EIGHT;
            let mut vectors = [zero; 3];
            let mut squared = zero;
            for axis in 0..V::DIM {
                vectors[axis] = x[axis] - machine.load(eight(&self.components[axis], at));
                squared = squared + vectors[axis] * vectors[axis];
            }
            let itself = if own / EIGHT == group { 1 << (own % EIGHT) } else { 0 };
            let mask = squared.less(reach_squared) & !itself;
            close |= squared.less(close_squared) & mask;
            // Beyond the reach, and at the particle itself, nothing is added.
            let [values, slopes, factors] = kernel.evaluate(squared);
            weight += values;
            let mut square = slopes * slopes;
            if MIXED {
                square = square * machine.load(eight(&self.lightness, at));
            }
            squares += square;
            for axis in 0..V::DIM {
                vectors[axis] = vectors[axis] * factors;
                gradient[axis] += vectors[axis];
            }
            let indices = machine.pack_indices(eight(&self.indices, at), mask);
            lists.indices[end..end + EIGHT].copy_from_slice(&indices);
            lists.weights[end..end + EIGHT].copy_from_slice(&machine.pack(values, mask));
            let numbers = &mut lists.numbers[end * V::NUMBERS..(end + EIGHT) * V::NUMBERS];
            V::keep_packed(machine, vectors, factors, mask, numbers);
            end += count(mask);
        }
        lists.used = end;
        let count = end - start;
        lists.pad(i);
        let sums = Sums {
            count: count as u32,
            weight: weight.sum(),
            gradient: V::from_array(gradient.map(Eight::sum)),
            squares: squares.sum() * if MIXED { 1.0 } else { around.lightness[i] },
        };
        if close == 0 { sums } else { part_coincident(i, start, count, sums, around, lists) }
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
#[cold]
fn part_coincident<V: Vector>(
    i: usize,
    start: usize,
    count: usize,
    mut sums: Sums<V>,
    around: &Surroundings<V>,
    lists: &mut Lists<V>,
) -> Sums<V> {
    let (positions, places) = (around.positions, around.places);
    let kernel = around.kernel.times(around.volume);
    (sums.gradient, sums.squares) = (V::ZERO, 0.0);
    for at in start..start + count {
        let j = lists.indices[at] as usize;
        let offset = positions[i] - positions[j];
        let gradient = kernel.pair_gradient(offset, places[i], places[j]);
        sums.gradient += gradient;
        sums.squares += gradient.length_squared() * around.lightness[j];
        let coincident = kernel.is_coincident(offset.length_squared());
        let factor = if coincident { 0.0 } else { kernel.factor(offset.length_squared()) };
        gradient.keep(factor, &mut lists.numbers[at * V::NUMBERS..(at + 1) * V::NUMBERS]);
        if coincident && V::FACTORS {
            lists.apart.push(Apart { of: i as u32, neighbor: j as u32, gradient });
        }
    }
    sums
}
