//! The neighbours of one particle after another, found and evaluated several
//! at a time.

use core::ops::Range;

use super::boundary::BoundarySet;
use super::grid::{CellGrid, Rows};
use super::kernel::{CubicSpline, REACH_SQUARED};
use super::lanes::{Apart, WIDTH};
use super::parallel::{Threads, chunks, chunks_mut, for_each_chunk};
use super::vector::Vector;
use super::wide::{EIGHT, Eight, Machine, Task};

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
        let [xs, ys, zs] = &mut self.0;
        let room = positions.len() + EIGHT;
        xs.resize(room, 0.0);
        ys.resize(room, 0.0);
        let parts = (chunks_mut(xs), chunks_mut(ys), chunks(positions));
        for_each_chunk(threads, parts, |(xs, ys, positions)| {
            for ((x, y), position) in xs.iter_mut().zip(ys).zip(positions) {
                [*x, *y, _] = position.to_array();
            }
        });
        if V::DIM == 3 {
            zs.resize(room, 0.0);
            for_each_chunk(threads, (chunks_mut(zs), chunks(positions)), |(zs, positions)| {
                zs.iter_mut().zip(positions).for_each(|(z, position)| *z = position.to_array()[2]);
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

/// Particles that are candidates for neighbours.
#[derive(Debug, Default)]
struct Candidates {
    /// Positions component by component, in whole groups that are filled up
    /// with places near to no other, and with room behind them.
    components: [Vec<f32>; 3],
    /// Sorted index of each.
    indices: Vec<u32>,
    /// Groups in use.
    groups: usize,
}

impl Candidates {
    /// Makes room for so many and a group more.
    fn reserve<V: Vector>(&mut self, most: usize) {
        let room = most.next_multiple_of(EIGHT) + EIGHT;
        if self.indices.len() < room {
            self.indices.resize(room, 0);
            self.components[..V::DIM].iter_mut().for_each(|axis| axis.resize(room, 0.0));
        }
    }

    /// Puts those of eight that a mask names behind the first `count`. Returns how many
    /// there are then.
    #[inline(always)]
    fn put<M: Machine, V: Vector>(
        &mut self,
        machine: M,
        count: usize,
        components: [M::Eight; 3],
        indices: &[u32; EIGHT],
        mask: u32,
    ) -> usize {
        let packed = machine.pack_indices(indices, mask);
        self.indices[count..][..EIGHT].copy_from_slice(&packed);
        for axis in 0..V::DIM {
            let packed = machine.pack(components[axis], mask);
            self.components[axis][count..][..EIGHT].copy_from_slice(&packed);
        }
        count + mask.count_ones() as usize
    }

    /// Ends with `count` of them, which are near to `place`.
    #[inline(always)]
    fn close<V: Vector>(&mut self, count: usize, place: V) {
        self.groups = count.div_ceil(EIGHT);
        let nobody = V::from_array([-FAR.copysign(place.to_array()[0]), 0.0, 0.0]).to_array();
        for axis in 0..V::DIM {
            self.components[axis][count..][..EIGHT].fill(nobody[axis]);
        }
    }

    /// The groups: indices and components.
    #[inline(always)]
    fn groups<V: Vector>(
        &self,
    ) -> impl Iterator<Item = (&[u32; EIGHT], [&[f32; EIGHT]; 3])> + Clone {
        let [xs, ys, zs] = self.components.each_ref().map(|axis| groups(axis));
        // The plane has no third component to walk along with.
        let zs = if V::DIM == 3 { zs } else { ys };
        let all = groups(&self.indices).iter().zip(xs).zip(ys).zip(zs).take(self.groups);
        all.map(|(((indices, xs), ys), zs)| (indices, [xs, ys, zs]))
    }

    /// Bytes of all buffers.
    fn bytes(&self) -> usize {
        let numbers = self.components.iter().map(Vec::capacity);
        4 * (numbers.sum::<usize>() + self.indices.capacity())
    }
}

/// The particles in and around a cell.
#[derive(Debug, Default)]
pub(crate) struct Neighborhood {
    /// For neighbours of the particles in the cell.
    cell: Candidates,
    /// For neighbours of one of them.
    near: Candidates,
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
    /// particles of the cell.
    #[inline(always)]
    pub(crate) fn collect<M: Machine, V: Vector>(
        &mut self,
        machine: M,
        points: &Points,
        rows: &Rows,
        extent: &Extent<V>,
        around: &Surroundings<V>,
    ) {
        self.cell.reserve::<V>(rows.count());
        self.near.reserve::<V>(rows.count());
        let spread = |v: V| v.to_array().map(|component| machine.splat(component));
        let (low, high) = (spread(extent.low), spread(extent.high));
        let reach_squared = machine.splat(around.reach_squared());
        let zero = machine.splat(0.0);
        let mut found = 0;
        for &(start, end) in rows.ranges() {
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
                let indices = core::array::from_fn(|lane| at + lane as u32);
                found = self.cell.put::<M, V>(machine, found, components, &indices, mask);
            }
        }
        self.cell.close(found, extent.low);
    }

    /// Takes those of the candidates that are within reach of the place `x`.
    #[inline(always)]
    fn sift<M: Machine, V: Vector>(&mut self, machine: M, x: V, reach_squared: M::Eight) {
        let place = x.to_array().map(|component| machine.splat(component));
        let mut found = 0;
        for (indices, components) in self.cell.groups::<V>() {
            let components = components.map(|axis| machine.load(axis));
            let mut squared = machine.splat(0.0);
            for axis in 0..V::DIM {
                let offset = place[axis] - components[axis];
                squared += offset * offset;
            }
            let mask = squared.less(reach_squared);
            found = self.near.put::<M, V>(machine, found, components, indices, mask);
        }
        self.near.close(found, x);
    }

    /// Bytes of all buffers.
    pub(crate) fn bytes(&self) -> usize {
        self.cell.bytes() + self.near.bytes()
    }
}

/// Finds and evaluates the neighbours of particles of one cell, which are among the
/// candidates. Appends them to the lists, in whole pairs.
///
/// In the plane every candidate is evaluated, far ones for nothing: a loop over as many groups
/// for all particles of a cell is foreseen by the machine, other than one over the neighbours
/// of each. In space, where two thirds are far, they are left out first.
///
/// `MIXED` if the rest densities differ.
pub(crate) struct Visit<'a, 'b, V: Vector, const MIXED: bool> {
    pub(crate) neighborhood: &'a mut Neighborhood,
    pub(crate) first: usize,
    pub(crate) around: &'a Surroundings<'b, V>,
    pub(crate) lists: &'a mut Lists<V>,
    pub(crate) entries: &'a mut [Entry],
    /// Of the diagonals the part that the gradients themselves make up.
    pub(crate) results: Results<'a, V>,
}

impl<V: Vector, const MIXED: bool> Task for Visit<'_, '_, V, MIXED> {
    #[inline(always)]
    fn run<M: Machine>(self, machine: M) {
        let Self { neighborhood, first, around, lists, entries, results } = self;
        let kernel = around.kernel.times(around.volume).wide(machine);
        let support = around.kernel.support_radius();
        let close_squared = machine.splat(CLOSE * support * support);
        let reach_squared = machine.splat(around.reach_squared());
        let zero = machine.splat(0.0);
        let Results { densities, gradient_sums, diagonals, counts } = results;
        let results = densities.iter_mut().zip(gradient_sums).zip(diagonals).zip(counts);
        for (local, (results, entry)) in results.zip(entries).enumerate() {
            let i = first + local;
            let x = around.positions[i];
            let candidates = if V::DIM == 3 {
                neighborhood.sift(machine, x, reach_squared);
                &neighborhood.near
            } else {
                &neighborhood.cell
            };
            let room = (candidates.groups + 1) * EIGHT;
            lists.reserve(room);
            let start = lists.used;
            let listed = &mut lists.indices[start..start + room];
            let weights = &mut lists.weights[start..start + room];
            let numbers = &mut lists.numbers[start * V::NUMBERS..(start + room) * V::NUMBERS];
            let x = x.to_array().map(|component| machine.splat(component));
            let (mut weight, mut squares) = (zero, zero);
            let mut gradient = [zero; 3];
            let mut nearest = reach_squared;
            let mut count = 0;
            for (indices, places) in candidates.groups::<V>() {
                let mut vectors = [zero; 3];
                let mut squared = zero;
                for axis in 0..V::DIM {
                    vectors[axis] = x[axis] - machine.load(places[axis]);
                    squared += vectors[axis] * vectors[axis];
                }
                // What is beyond the kernel's reach adds nothing, and the particle itself W alone.
                let [values, slopes, factors] = kernel.evaluate(squared);
                weight += values;
                let mut square = slopes * slopes;
                if MIXED {
                    // Behind the last candidate is any index, and nothing to be added.
                    let lightness = |j: u32| around.lightness.get(j as usize).copied();
                    let lightness = indices.map(|j| lightness(j).unwrap_or(0.0));
                    square = square * machine.load(&lightness);
                }
                squares += square;
                for axis in 0..V::DIM {
                    vectors[axis] = vectors[axis] * factors;
                    gradient[axis] += vectors[axis];
                }
                let others = machine.except(squared, indices, i as u32);
                nearest = others.min(nearest);
                let mask = others.less(reach_squared);
                listed[count..][..EIGHT].copy_from_slice(&machine.pack_indices(indices, mask));
                weights[count..][..EIGHT].copy_from_slice(&machine.pack(values, mask));
                let numbers = &mut numbers[count * V::NUMBERS..][..EIGHT * V::NUMBERS];
                V::keep_all(machine, vectors, factors, mask, numbers);
                count += mask.count_ones() as usize;
            }
            lists.used = start + count;
            lists.pad(i);
            let [weight, squares, x, y] = machine.sums([weight, squares, gradient[0], gradient[1]]);
            let [z, ..] = if V::DIM == 3 { machine.sums([gradient[2]; 4]) } else { [0.0; 4] };
            let mut gradient = V::from_array([x, y, z]);
            let mut squares = squares * if MIXED { 1.0 } else { around.lightness[i] };
            if nearest.less(close_squared) != 0 {
                (gradient, squares) = part_coincident(i, start, count, around, lists);
            }
            let (((density, gradient_sum), diagonal), found) = results;
            (*density, *gradient_sum, *diagonal) = (weight, gradient, squares);
            *found = count as u32;
            *entry = Entry { start: start as u32, count: count as u32 };
        }
    }
}

/// What follows from the positions of some particles.
pub(crate) struct Results<'a, V> {
    /// Density over rest density.
    pub(crate) densities: &'a mut [f32],
    /// G: the sum of V grad W over all neighbours, boundary included, in 1/m.
    pub(crate) gradient_sums: &'a mut [V],
    /// D: |G|²/rho0 plus the sum of |V0 grad W|²/rho0 over fluid neighbours.
    pub(crate) diagonals: &'a mut [f32],
    /// Number of neighbours, boundary included.
    pub(crate) counts: &'a mut [u32],
}

impl<V> Results<'_, V> {
    /// Those of a range of the particles.
    pub(crate) fn of(&mut self, range: Range<usize>) -> Results<'_, V> {
        Results {
            densities: &mut self.densities[range.clone()],
            gradient_sums: &mut self.gradient_sums[range.clone()],
            diagonals: &mut self.diagonals[range.clone()],
            counts: &mut self.counts[range],
        }
    }
}

/// Where a particle's list is, and what is in it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Entry {
    /// Where the list starts.
    pub(crate) start: u32,
    /// Neighbours, without padding.
    pub(crate) count: u32,
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
    #[inline(always)]
    pub(crate) fn push(&mut self, index: u32, weight: f32, gradient: V, factor: f32) {
        self.reserve(1);
        let at = self.used;
        (self.indices[at], self.weights[at]) = (index, weight);
        gradient.keep(factor, &mut self.numbers[at * V::NUMBERS..(at + 1) * V::NUMBERS]);
        self.used += 1;
    }

    /// Fills the list of particle `i`, the last one, up to whole pairs with the particle itself.
    #[inline(always)]
    pub(crate) fn pad(&mut self, i: usize) {
        let end = self.used.next_multiple_of(WIDTH);
        // Whether or not there is a place left: which lists are odd is not foreseen.
        self.push(i as u32, 0.0, V::ZERO, 0.0);
        self.used = end;
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
