//! The neighbours of one particle after another, found and evaluated several
//! at a time.

use bevy_math::Vec4;

use super::boundary::BoundarySet;
use super::grid::{CellGrid, Rows};
use super::kernel::{CubicSpline, REACH_SQUARED};
use super::vector::Vector;

/// Neighbours evaluated together.
const LANES: usize = 4;

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

/// Which lanes of four a mask names, packed to the front, and how many.
const PACKED: [([u32; LANES], usize); 1 << LANES] = {
    let mut table = [([0; LANES], 0); 1 << LANES];
    let mut mask = 0;
    while mask < table.len() {
        let mut lane = 0;
        while lane < LANES {
            if mask & (1 << lane) != 0 {
                let (lanes, count) = &mut table[mask];
                lanes[*count] = lane as u32;
                *count += 1;
            }
            lane += 1;
        }
        mask += 1;
    }
    table
};

/// The particles in and around a cell, one array per component, and of those
/// the neighbours of one particle.
#[derive(Debug, Default)]
pub(crate) struct Neighborhood {
    candidates: Vec<u32>,
    /// Padded to whole groups with what is no number, and so near to nothing.
    components: [Vec<f32>; 3],
    /// Neighbours as places among the candidates, with room for a group more.
    hits: Vec<u32>,
    count: usize,
}

impl Neighborhood {
    /// Takes the particles of the rows around a cell.
    pub(crate) fn collect<V: Vector>(&mut self, positions: &[V], rows: &Rows) {
        self.candidates.clear();
        self.components.iter_mut().for_each(Vec::clear);
        for &(start, end) in rows.ranges() {
            self.candidates.extend(start..end);
            let row = &positions[start as usize..end as usize];
            for (axis, components) in self.components[..V::DIM].iter_mut().enumerate() {
                components.extend(row.iter().map(|position| position.to_array()[axis]));
            }
        }
        let padded = self.candidates.len().next_multiple_of(LANES);
        for components in &mut self.components[..V::DIM] {
            components.resize(padded, f32::NAN);
        }
        if self.hits.len() < padded + LANES {
            self.hits.resize(padded + LANES, 0);
        }
    }

    /// Bytes of all buffers.
    pub(crate) fn bytes(&self) -> usize {
        let components = self.components.iter().map(Vec::capacity).sum::<usize>();
        4 * (self.candidates.capacity() + components + self.hits.capacity())
    }

    /// Finds the neighbours of the particle at `x`, which is itself the
    /// candidate `own`.
    #[inline(always)]
    fn search<V: Vector>(&mut self, x: V, own: usize, around: &Surroundings<V>) {
        let place = x.to_array().map(Vec4::splat);
        let reach_squared = Vec4::splat(around.reach_squared());
        let [xs, ys, zs] = &self.components;
        let (xs, ys, zs) = (groups(xs), groups(ys), groups(zs));
        let mut found = 0;
        for (group, (xs, ys)) in xs.iter().zip(ys).enumerate() {
            let (dx, dy) = (Vec4::from_array(*xs) - place[0], Vec4::from_array(*ys) - place[1]);
            let mut squared = dx * dx + dy * dy;
            if V::DIM == 3 {
                let dz = Vec4::from_array(zs[group]) - place[2];
                squared += dz * dz;
            }
            let itself = u32::from(group == own / LANES) << (own % LANES);
            let mask = squared.cmplt(reach_squared).bitmask() & !itself;
            let (lanes, count) = PACKED[mask as usize];
            let first = (group * LANES) as u32;
            self.hits[found..found + LANES].copy_from_slice(&lanes.map(|lane| first + lane));
            found += count;
        }
        self.hits[found..found + LANES].fill(own as u32);
        self.count = found;
    }

    /// Finds and evaluates the neighbours of the particle `i`, which is the
    /// candidate `own`. Appends them to the lists, in whole bundles.
    #[inline(always)]
    pub(crate) fn visit<V: Vector>(
        &mut self,
        i: usize,
        own: usize,
        around: &Surroundings<V>,
        lists: &mut Lists<V>,
    ) -> Sums<V> {
        let x = around.positions[i];
        self.search(x, own, around);
        let Self { candidates, components, hits, count } = self;
        lists.reserve(*count + LANES);
        let place = x.to_array();
        let start = lists.used;
        let present = Vec4::new(0.0, 1.0, 2.0, 3.0);
        let far = 2.0 * around.kernel.support_radius();
        let mut nearest = Vec4::INFINITY;
        let (mut weight, mut squares) = (Vec4::ZERO, Vec4::ZERO);
        let mut gradient = [Vec4::ZERO; 3];
        for first in (0..*count).step_by(LANES) {
            let mut offsets = [[0.0f32; LANES]; 3];
            let mut indices = [0; LANES];
            let mut lightness = [0.0f32; LANES];
            let hits = &hits[first..first + LANES];
            for lane in 0..LANES {
                let hit = hits[lane] as usize;
                for axis in 0..V::DIM {
                    offsets[axis][lane] = components[axis][hit];
                }
                indices[lane] = candidates[hit];
                lightness[lane] = around.lightness[indices[lane] as usize];
            }
            let mut vectors = [Vec4::ZERO; 3];
            let mut squared = Vec4::ZERO;
            // The last group is filled up with the particle itself, out of its own reach.
            let missing = present.cmpge(Vec4::splat((*count - first) as f32));
            for axis in 0..V::DIM {
                let offset = Vec4::splat(place[axis]) - Vec4::from_array(offsets[axis]);
                vectors[axis] = Vec4::select(missing, Vec4::splat(far), offset);
                squared += vectors[axis] * vectors[axis];
            }
            let (weights, factors) = around.kernel.values_and_factors(squared);
            let (weights, factors) = (weights * around.volume, factors * around.volume);
            let mut square = Vec4::ZERO;
            for axis in 0..V::DIM {
                vectors[axis] *= factors;
                gradient[axis] += vectors[axis];
                square += vectors[axis] * vectors[axis];
            }
            weight += weights;
            squares += square * Vec4::from_array(lightness);
            nearest = squared.min(nearest);
            lists.write(start + first, &indices, weights, vectors);
        }
        lists.used = start + count.next_multiple_of(V::WIDTH);
        let sums = Sums {
            count: *count as u32,
            weight: weight.element_sum(),
            gradient: V::from_array(gradient.map(Vec4::element_sum)),
            squares: squares.element_sum(),
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
    /// V0 W, where it is kept apart.
    pub(crate) weights: Vec<f32>,
    /// V0 grad W, or both.
    pub(crate) gradients: Vec<V::Bundle>,
    /// Entries in use; beyond them there is room.
    pub(crate) used: usize,
}

impl<V: Vector> Lists<V> {
    /// Bytes of all buffers.
    pub(crate) fn bytes(&self) -> usize {
        4 * (self.indices.capacity() + self.weights.capacity())
            + size_of::<V::Bundle>() * self.gradients.capacity()
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
        let room = (least + least / SLACK).next_multiple_of(LANES);
        grow(&mut self.indices, room);
        grow(&mut self.gradients, room / V::WIDTH);
        if V::WEIGHTS_APART {
            grow(&mut self.weights, room);
        }
    }

    /// Writes four entries from `at` on.
    #[inline(always)]
    fn write(&mut self, at: usize, indices: &[u32; LANES], weights: Vec4, vectors: [Vec4; 3]) {
        self.indices[at..at + LANES].copy_from_slice(indices);
        if V::WEIGHTS_APART {
            self.weights[at..at + LANES].copy_from_slice(&weights.to_array());
        }
        let bundles = at / V::WIDTH..(at + LANES) / V::WIDTH;
        V::bundle(vectors, weights, &mut self.gradients[bundles]);
    }
}

#[inline(always)]
fn groups(values: &[f32]) -> &[[f32; LANES]] {
    values.as_chunks::<LANES>().0
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
    (sums.gradient, sums.squares) = (V::ZERO, 0.0);
    for at in (start..lists.used).step_by(LANES) {
        let (mut vectors, mut weights) = ([[0.0; LANES]; 3], [0.0; LANES]);
        for lane in 0..LANES.min(lists.used - at) {
            let j = lists.indices[at + lane] as usize;
            if j == i {
                continue;
            }
            let offset = positions[i] - positions[j];
            let gradient =
                around.kernel.pair_gradient(offset, places[i], places[j]) * around.volume;
            sums.gradient += gradient;
            sums.squares += gradient.length_squared() * around.lightness[j];
            weights[lane] = around.kernel.value(offset.length_squared()) * around.volume;
            for (component, value) in vectors.iter_mut().zip(gradient.to_array()) {
                component[lane] = value;
            }
        }
        let (vectors, weights) = (vectors.map(Vec4::from_array), Vec4::from_array(weights));
        V::bundle(vectors, weights, &mut lists.gradients[at / V::WIDTH..(at + LANES) / V::WIDTH]);
    }
    sums
}
