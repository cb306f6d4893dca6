//! The neighbours of one particle after another, found and evaluated several
//! at a time.

use core::ops::Range;

use bevy_math::{Mat4, Vec4};

use super::boundary::BoundarySet;
use super::grid::{CellGrid, Rows};
use super::kernel::{CubicSpline, REACH_SQUARED};
use super::lanes::{Apart, WIDTH};
use super::vector::Vector;

/// Neighbours evaluated together.
pub(crate) const LANES: usize = 4;

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

/// Which lanes of four a mask names, packed to the front.
const PACKED: [[u32; LANES]; 1 << LANES] = {
    let mut table = [[0; LANES]; 1 << LANES];
    let mut mask = 0;
    while mask < table.len() {
        let (mut lane, mut count) = (0, 0);
        while lane < LANES {
            if mask & (1 << lane) != 0 {
                table[mask][count] = lane as u32;
                count += 1;
            }
            lane += 1;
        }
        mask += 1;
    }
    table
};

/// How many lanes a mask names: not every machine counts bits in one instruction.
const COUNTS: [u8; 1 << LANES] = {
    let mut table = [0; 1 << LANES];
    let mut mask = 0usize;
    while mask < table.len() {
        table[mask] = mask.count_ones() as u8;
        mask += 1;
    }
    table
};

/// The mask of so many lanes from the first on.
const FIRST: [u32; LANES + 1] = [0, 1, 3, 7, 15];

/// A place in metres that is far from every other on its side of zero: squares
/// of distances to it are large, or infinite, but no kernel's value is undefined.
const FAR: f32 = 1e15;

/// The particles in and around a cell, and of those the neighbours of one particle.
#[derive(Debug, Default)]
pub(crate) struct Neighborhood {
    /// Position of each and, as bits of the last lane, its index. Behind them,
    /// at [`Neighborhood::nobody`], one that is near to none.
    candidates: Vec<Vec4>,
    /// The positions once more, component by component, in whole groups that
    /// are filled up with what is no number, and so near to nothing.
    components: [Vec<[f32; LANES]>; 3],
    /// Neighbours as places among the candidates, with room for a group more.
    hits: Vec<u32>,
    /// Groups of candidates that hold the particles of the cell.
    own_groups: usize,
}

/// Rows of a matrix as its columns.
#[inline(always)]
pub(crate) fn transposed([a, b, c, d]: [Vec4; LANES]) -> [Vec4; LANES] {
    let matrix = Mat4::from_cols(a, b, c, d).transpose();
    [matrix.x_axis, matrix.y_axis, matrix.z_axis, matrix.w_axis]
}

/// Appends what a mask names of four values from `first` on. Room for four more is needed.
#[inline(always)]
fn append(hits: &mut [u32], found: &mut usize, first: u32, mask: u32) {
    let mask = mask as usize % PACKED.len();
    // Never beyond the end, which the compiler does not know otherwise.
    let at = (*found).min(hits.len().saturating_sub(LANES));
    hits[at..at + LANES].copy_from_slice(&PACKED[mask].map(|lane| first + lane));
    *found = at + usize::from(COUNTS[mask]);
}

impl Neighborhood {
    /// Takes what the rows around a cell hold within reach of the box around the
    /// particles `own` of the cell, which are among them and come first.
    /// `points` are the positions with a group of any value behind them.
    pub(crate) fn collect<V: Vector>(
        &mut self,
        positions: &[V],
        points: &[V::Wide],
        rows: &Rows,
        own: Range<usize>,
        reach_squared: f32,
    ) {
        let Self { candidates, components, hits, own_groups } = self;
        let most = rows.ranges().iter().map(|&(start, end)| (end - start) as usize).sum::<usize>();
        if hits.len() < most + LANES {
            hits.resize(most + LANES, 0);
        }
        let first = positions[own.start];
        let (low, high) = positions[own.clone()]
            .iter()
            .fold((first, first), |(low, high), &x| (low.min(x), high.max(x)));
        let (low, high) = (low.to_array().map(Vec4::splat), high.to_array().map(Vec4::splat));
        // A distance to the box is never above that to a particle in it, rounding included.
        let reach_squared = Vec4::splat(reach_squared);
        let mut found = own.len();
        *own_groups = found.div_ceil(LANES);
        let own = own.start as u32..own.end as u32;
        hits.iter_mut().zip(own.clone()).for_each(|(hit, index)| *hit = index);
        let others = rows.ranges().iter().flat_map(|&(start, end)| {
            let split = if (start..end).contains(&own.start) { own.clone() } else { end..end };
            [(start, split.start), (split.end, end)]
        });
        for (start, end) in others.filter(|(start, end)| start < end) {
            let row = &points[start as usize..end as usize + LANES - 1];
            for (at, points) in (start..end).step_by(LANES).zip(row.as_chunks::<LANES>().0) {
                let places = V::components(points);
                let mut squared = Vec4::ZERO;
                for axis in 0..V::DIM {
                    let outside = (low[axis] - places[axis]).max(places[axis] - high[axis]);
                    let outside = outside.max(Vec4::ZERO);
                    squared += outside * outside;
                }
                // What follows the row is of another.
                let mask =
                    squared.cmplt(reach_squared).bitmask() & FIRST[(end - at).min(4) as usize];
                append(hits, &mut found, at, mask);
            }
        }
        let nobody = Vec4::new(-FAR.copysign(first.to_array()[0]), 0.0, 0.0, 0.0);
        let padded = found.next_multiple_of(LANES);
        candidates.resize(padded + 1, nobody);
        for (candidate, &hit) in candidates.iter_mut().zip(&hits[..found]) {
            let [x, y, z] = V::narrow(points[hit as usize]).to_array();
            *candidate = Vec4::new(x, y, z, f32::from_bits(hit));
        }
        candidates[found..padded].fill(Vec4::NAN);
        candidates[padded] = nobody;
        let groups = candidates.as_chunks::<LANES>().0;
        components[..V::DIM].iter_mut().for_each(|axis| axis.resize(groups.len(), [0.0; LANES]));
        for (at, &group) in groups.iter().enumerate() {
            let places = transposed(group);
            for axis in 0..V::DIM {
                components[axis][at] = places[axis].to_array();
            }
        }
    }

    /// Place of the candidate that is near to none.
    fn nobody(&self) -> usize {
        self.candidates.len() - 1
    }

    /// Bytes of all buffers.
    pub(crate) fn bytes(&self) -> usize {
        let components = self.components.iter().map(Vec::capacity).sum::<usize>();
        16 * (self.candidates.capacity() + components) + 4 * self.hits.capacity()
    }

    /// Finds the neighbours of the particle at `x`, which is itself the
    /// candidate `own`. Returns how many there are.
    #[inline(always)]
    fn search<V: Vector>(&mut self, x: V, own: usize, reach_squared: f32) -> usize {
        let nobody = self.nobody() as u32;
        let place = x.to_array().map(Vec4::splat);
        let reach_squared = Vec4::splat(reach_squared);
        let hits = self.hits.as_mut_slice();
        let [xs, ys, zs] = &self.components;
        // The plane has no third component to walk along with.
        let zs = if V::DIM == 3 { zs } else { ys };
        let groups = xs.iter().zip(ys).zip(zs).map(|((xs, ys), zs)| {
            let (dx, dy) = (Vec4::from_array(*xs) - place[0], Vec4::from_array(*ys) - place[1]);
            let mut squared = dx * dx + dy * dy;
            if V::DIM == 3 {
                let dz = Vec4::from_array(*zs) - place[2];
                squared += dz * dz;
            }
            squared.cmplt(reach_squared).bitmask()
        });
        let mut found = 0;
        let mut first = 0;
        // Only among the first is the particle itself.
        let (mut groups, itself) = (groups, own as u32);
        for mask in groups.by_ref().take(self.own_groups) {
            let itself =
                if itself - itself % LANES as u32 == first { 1 << (itself % 4) } else { 0 };
            append(hits, &mut found, first, mask & !itself);
            first += LANES as u32;
        }
        for mask in groups {
            append(hits, &mut found, first, mask);
            first += LANES as u32;
        }
        self.hits[found..found + LANES].fill(nobody);
        found
    }

    /// Finds and evaluates the neighbours of the particle `i`, which is the
    /// candidate `own`. Appends them to the lists, in whole bundles.
    ///
    /// `MIXED` if the rest densities differ.
    #[inline(always)]
    pub(crate) fn visit<V: Vector, const MIXED: bool>(
        &mut self,
        i: usize,
        own: usize,
        around: &Surroundings<V>,
        lists: &mut Lists<V>,
    ) -> Sums<V> {
        let x = around.positions[i];
        let count = self.search(x, own, around.reach_squared());
        let padded = count.next_multiple_of(LANES);
        lists.reserve(padded + LANES);
        let start = lists.used;
        let place = x.to_array().map(Vec4::splat);
        // A copy, which no write to the lists can change.
        let kernel = around.kernel.times(around.volume);
        let mut nearest = Vec4::INFINITY;
        let (mut weight, mut squares) = (Vec4::ZERO, Vec4::ZERO);
        let mut gradient = [Vec4::ZERO; 3];
        let hits = self.hits[..padded].as_chunks::<LANES>().0;
        for (hits, ((indices, weights), bundles)) in hits.iter().zip(lists.groups(start, padded)) {
            let [x, y, z, bits] = transposed(hits.map(|hit| self.candidates[hit as usize]));
            let mut vectors = [x, y, z];
            *indices = bits.to_array().map(f32::to_bits);
            let mut squared = Vec4::ZERO;
            for axis in 0..V::DIM {
                vectors[axis] = place[axis] - vectors[axis];
                squared += vectors[axis] * vectors[axis];
            }
            let (values, factors) = kernel.values_and_factors(squared);
            let mut square = Vec4::ZERO;
            for axis in 0..V::DIM {
                vectors[axis] *= factors;
                gradient[axis] += vectors[axis];
                square += vectors[axis] * vectors[axis];
            }
            weight += values;
            if MIXED {
                square *= Vec4::from_array(indices.map(|j| around.lightness[j as usize]));
            }
            squares += square;
            nearest = squared.min(nearest);
            *weights = values.to_array();
            V::bundle(vectors, factors, bundles);
        }
        // What fills up the last group is the particle itself.
        lists.indices[start + count..][..LANES].fill(i as u32);
        lists.used = start + count.next_multiple_of(WIDTH);
        let sums = Sums {
            count: count as u32,
            weight: weight.element_sum(),
            gradient: V::from_array(gradient.map(Vec4::element_sum)),
            squares: squares.element_sum() * if MIXED { 1.0 } else { around.lightness[i] },
        };
        if around.kernel.is_coincident(nearest.min_element()) {
            part_coincident(i, start, sums, around, lists)
        } else {
            sums
        }
    }
}

/// The neighbour lists of a chunk of particles, as they grow.
#[derive(Debug, Default)]
pub(crate) struct Lists<V: Vector> {
    /// Sorted indices of neighbours.
    pub(crate) indices: Vec<u32>,
    /// V0 W.
    pub(crate) weights: Vec<f32>,
    /// V0 grad W.
    pub(crate) gradients: Vec<V::Bundle>,
    /// Gradients that are no factor of an offset.
    pub(crate) apart: Vec<Apart<V>>,
    /// Entries in use; beyond them there is room.
    pub(crate) used: usize,
}

impl<V: Vector> Lists<V> {
    /// Bytes of all buffers.
    pub(crate) fn bytes(&self) -> usize {
        4 * (self.indices.capacity() + self.weights.capacity())
            + size_of::<V::Bundle>() * self.gradients.capacity()
            + size_of::<Apart<V>>() * self.apart.capacity()
    }

    /// Makes room for so many entries more.
    #[inline(always)]
    pub(crate) fn reserve(&mut self, more: usize) {
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
        let room = (least + least / SLACK).next_multiple_of(LANES);
        grow(&mut self.indices, room);
        grow(&mut self.gradients, room / WIDTH);
        grow(&mut self.weights, room);
    }

    /// The entries from `start` on in groups: indices, weights and gradients.
    #[inline(always)]
    fn groups(
        &mut self,
        start: usize,
        count: usize,
    ) -> impl Iterator<Item = ((&mut [u32; LANES], &mut [f32; LANES]), &mut [V::Bundle])> {
        let indices = self.indices[start..start + count].as_chunks_mut::<LANES>().0;
        let weights = self.weights[start..start + count].as_chunks_mut::<LANES>().0;
        let bundles = &mut self.gradients[start / WIDTH..(start + count) / WIDTH];
        indices.iter_mut().zip(weights).zip(bundles.chunks_exact_mut(LANES / WIDTH))
    }
}

/// Gives the neighbours at the place of particle `i` a direction: replaces the
/// gradients of its list, which starts at `start`.
#[cold]
fn part_coincident<V: Vector>(
    i: usize,
    start: usize,
    mut sums: Sums<V>,
    around: &Surroundings<V>,
    lists: &mut Lists<V>,
) -> Sums<V> {
    let (positions, places) = (around.positions, around.places);
    let kernel = around.kernel.times(around.volume);
    (sums.gradient, sums.squares) = (V::ZERO, 0.0);
    for at in (start..lists.used).step_by(LANES) {
        let (mut vectors, mut factors) = ([[0.0; LANES]; 3], [0.0; LANES]);
        for lane in 0..LANES.min(lists.used - at) {
            let j = lists.indices[at + lane] as usize;
            if j == i {
                continue;
            }
            let offset = positions[i] - positions[j];
            let gradient = kernel.pair_gradient(offset, places[i], places[j]);
            sums.gradient += gradient;
            sums.squares += gradient.length_squared() * around.lightness[j];
            if !kernel.is_coincident(offset.length_squared()) {
                factors[lane] = kernel.factor(offset.length_squared());
            } else if V::FACTORS {
                lists.apart.push(Apart { of: i as u32, neighbor: j as u32, gradient });
            }
            for (component, value) in vectors.iter_mut().zip(gradient.to_array()) {
                component[lane] = value;
            }
        }
        let (vectors, factors) = (vectors.map(Vec4::from_array), Vec4::from_array(factors));
        V::bundle(vectors, factors, &mut lists.gradients[at / WIDTH..(at + LANES) / WIDTH]);
    }
    sums
}
