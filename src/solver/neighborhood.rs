//! The neighbours of one particle after another, found and evaluated several
//! at a time.

use super::boundary::BoundarySet;
use super::grid::{CellGrid, Rows};
use super::kernel::{CubicSpline, REACH_SQUARED};
use super::vector::Vector;

/// Neighbours evaluated together.
const LANES: usize = 4;

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
    /// V0 W.
    pub(crate) weight: f32,
    /// V0 grad W, in 1/m.
    pub(crate) gradient: V,
    /// |V0 grad W|²/rho0 of the neighbour.
    pub(crate) squares: f32,
}

/// The particles in and around a cell, one array per component, and of those
/// the neighbours of one particle.
#[derive(Debug, Default)]
pub(crate) struct Neighborhood {
    candidates: Vec<u32>,
    components: [Vec<f32>; 3],
    distances: Vec<f32>,
    /// Neighbours as places among the candidates.
    hits: Vec<u32>,
    count: usize,
    /// Offsets to the neighbours, then their gradients.
    vectors: [Vec<f32>; 3],
    squared: Vec<f32>,
    factors: Vec<f32>,
    weights: Vec<f32>,
    lightness: Vec<f32>,
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
        let room = self.candidates.len() + LANES;
        if self.distances.len() < room {
            let [x, y, z] = &mut self.vectors;
            for buffer in [
                x,
                y,
                z,
                &mut self.distances,
                &mut self.squared,
                &mut self.factors,
                &mut self.weights,
                &mut self.lightness,
            ] {
                buffer.resize(room, 0.0);
            }
            self.hits.resize(room, 0);
        }
    }

    /// Finds the neighbours of the particle at `x`, which is itself the
    /// candidate `own`. Returns how many there are.
    #[inline(always)]
    pub(crate) fn search<V: Vector>(&mut self, x: V, own: usize, around: &Surroundings<V>) -> usize {
        let count = self.candidates.len();
        let place = x.to_array();
        let distances = &mut self.distances[..count];
        let [xs, ys, zs] = &self.components;
        let (xs, ys) = (&xs[..count], &ys[..count]);
        for k in 0..count {
            let (dx, dy) = (place[0] - xs[k], place[1] - ys[k]);
            distances[k] = dx * dx + dy * dy;
        }
        if V::DIM == 3 {
            let zs = &zs[..count];
            for k in 0..count {
                let dz = place[2] - zs[k];
                distances[k] += dz * dz;
            }
        }
        distances[own] = f32::INFINITY;
        let reach_squared = around.reach_squared();
        let hits = &mut self.hits[..count];
        let mut found = 0;
        for (k, &distance) in distances.iter().enumerate() {
            // Written before it is known to be a hit: a branch would miss half the time.
            hits[found] = k as u32;
            found += usize::from(distance < reach_squared);
        }
        self.count = found;
        let hits = &hits[..found];
        let padded = found.next_multiple_of(LANES);
        // Padding lies beyond the support.
        let far = [2.0 * around.kernel.support_radius(), 0.0, 0.0];
        for axis in 0..V::DIM {
            let vectors = &mut self.vectors[axis][..padded];
            let components = &self.components[axis];
            for (vector, &k) in vectors.iter_mut().zip(hits) {
                *vector = place[axis] - components[k as usize];
            }
            vectors[found..].fill(far[axis]);
        }
        for (lightness, &k) in self.lightness.iter_mut().zip(hits) {
            *lightness = around.lightness[self.candidates[k as usize] as usize];
        }
        found
    }

    /// Evaluates the kernel and its gradient for the neighbours of particle `i`.
    #[inline(always)]
    pub(crate) fn evaluate<V: Vector>(&mut self, i: usize, around: &Surroundings<V>) -> Sums<V> {
        let padded = self.count.next_multiple_of(LANES);
        let [xs, ys, zs] = &mut self.vectors;
        let (xs, ys, zs) = (&mut xs[..padded], &mut ys[..padded], &mut zs[..padded]);
        let (squared, factors) = (&mut self.squared[..padded], &mut self.factors[..padded]);
        let weights = &mut self.weights[..padded];
        for k in 0..padded {
            squared[k] = xs[k] * xs[k] + ys[k] * ys[k];
        }
        if V::DIM == 3 {
            for k in 0..padded {
                squared[k] += zs[k] * zs[k];
            }
        }
        for k in 0..padded {
            let (weight, factor) = around.kernel.value_and_factor(squared[k]);
            weights[k] = weight * around.volume;
            factors[k] = factor * around.volume;
        }
        for k in 0..padded {
            xs[k] *= factors[k];
            ys[k] *= factors[k];
        }
        if V::DIM == 3 {
            for k in 0..padded {
                zs[k] *= factors[k];
            }
        }
        let mut nearest = [f32::INFINITY; LANES];
        for squared in squared.as_chunks::<LANES>().0 {
            for lane in 0..LANES {
                nearest[lane] = if squared[lane] < nearest[lane] { squared[lane] } else { nearest[lane] };
            }
        }
        let nearest = nearest.into_iter().fold(f32::INFINITY, f32::min);
        if around.kernel.is_coincident(nearest) {
            self.part_coincident(i, around);
        }
        self.sums()
    }

    /// Gives the neighbours at the particle's own place a direction.
    #[cold]
    fn part_coincident<V: Vector>(&mut self, i: usize, around: &Surroundings<V>) {
        for k in 0..self.count {
            if around.kernel.is_coincident(self.squared[k]) {
                let j = self.candidates[self.hits[k] as usize] as usize;
                let (own, other) = (around.places[i], around.places[j]);
                let gradient = around.kernel.coincident_gradient(own, other) * around.volume;
                let components = gradient.to_array();
                for axis in 0..V::DIM {
                    self.vectors[axis][k] = components[axis];
                }
            }
        }
    }

    #[inline(always)]
    fn sums<V: Vector>(&self) -> Sums<V> {
        let padded = self.count.next_multiple_of(LANES);
        let lanes = |values: &[f32]| values[..padded].as_chunks::<LANES>().0.len();
        let (mut weight, mut gradient, mut squares) =
            ([0.0f32; LANES], [[0.0f32; LANES]; 3], [0.0f32; LANES]);
        for block in 0..lanes(&self.weights) {
            let span = block * LANES..block * LANES + LANES;
            let weights = &self.weights[span.clone()];
            let lightness = &self.lightness[span.clone()];
            let mut square = [0.0f32; LANES];
            for lane in 0..LANES {
                weight[lane] += weights[lane];
            }
            for axis in 0..V::DIM {
                let components = &self.vectors[axis][span.clone()];
                for lane in 0..LANES {
                    gradient[axis][lane] += components[lane];
                    square[lane] += components[lane] * components[lane];
                }
            }
            for lane in 0..LANES {
                squares[lane] += square[lane] * lightness[lane];
            }
        }
        let sum = |lanes: [f32; LANES]| (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
        Sums {
            weight: sum(weight),
            gradient: V::from_array(gradient.map(sum)),
            squares: sum(squares),
        }
    }

    /// The neighbours, in the order of the particles.
    #[inline(always)]
    pub(crate) fn indices(&self) -> impl ExactSizeIterator<Item = u32> + '_ {
        self.hits[..self.count].iter().map(|&k| self.candidates[k as usize])
    }

    /// V0 W of the neighbours, and zeros up to the length of whole bundles.
    #[inline(always)]
    pub(crate) fn weights<V: Vector>(&self) -> &[f32] {
        &self.weights[..self.count.next_multiple_of(V::WIDTH)]
    }

    /// V0 grad W of the neighbours, and zeros up to the length of whole bundles.
    #[inline(always)]
    pub(crate) fn bundle<V: Vector>(&self, bundles: &mut Vec<V::Bundle>) {
        let length = self.count.next_multiple_of(V::WIDTH);
        let [xs, ys, zs] = &self.vectors;
        V::bundle([&xs[..length], &ys[..length], &zs[..length]], bundles);
    }
}
