//! Bending by the angle between neighbouring threads or triangles.
//!
//! The curvature at a hinge is a weighted sum of its particles, L = sum k_i x_i:
//! for two threads the second difference along them, for two triangles the
//! cotangent weights of Bergou et al. (2006), whose sum is the angle times the
//! edge as long as the cloth does not stretch. The energy D/2 |L|² A is that of
//! a thin plate, so that the shape depends on the flexural rigidity D and not
//! on the resolution. As the weights are constant, a projection needs no angle
//! and has no singular shape. It is compliant (Macklin et al. 2016).

use core::ops::{Add, Mul, Sub};

use bevy_math::Vec4;

use super::collision::Body;
use super::constraints::{ConstraintKind, DistanceConstraint};
use crate::solver::vector::Vector;

/// Curvature at rest, over the largest that the hinge can have, below which
/// the hinge is straight.
const STRAIGHT: f32 = 1e-4;

/// Passes in a substep over hinges that swing through one radian in it.
const PASSES: f32 = 6.0;

/// Most passes in a substep; what is stiffer yet needs more substeps.
const MOST_PASSES: u32 = 16;

/// How a hinge that is bent at rest tells its sides apart.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Side {
    /// Two triangles, by their normals; two threads in the plane.
    Signed,
    /// Two threads in space have no sides.
    Unsigned,
}

/// Particles whose weighted sum is a curvature.
#[derive(Clone, Copy, Debug)]
struct Hinge {
    /// Both ends of the edge and the corners opposite to it; for threads the
    /// middle twice, the second without weight, then the ends.
    particles: [u32; 4],
    /// Where they are in the body that is straightened.
    slots: [u32; 4],
    weights: [f32; 4],
    /// Energy over half the rigidity and the squared curvature.
    measure: f32,
    /// Curvature at rest.
    rest: f32,
    side: Side,
    /// The constraint that asks for it.
    of: u32,
    /// What a projection moves the particles by, over the curvature.
    shares: [f32; 4],
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Hinges {
    all: Vec<Hinge>,
    /// Passes over all of them in a substep, forward and backward in turn.
    passes: u32,
    /// Where the particles are at the end of the substep, and what the
    /// straightening adds to that, by slot.
    ends: Vec<Vec4>,
    changes: Vec<Vec4>,
}

impl Hinges {
    /// Finds what each constraint of the kind `Bend` goes across: the common
    /// edge of two triangles, or the particle between two threads. Without
    /// either, as after a tear, there is nothing to bend.
    pub fn rebuild<V: Vector>(
        &mut self,
        rest: &[V],
        constraints: &[DistanceConstraint],
        triangles: &[[u32; 3]],
    ) {
        self.all.clear();
        let bends = || (0..).zip(constraints).filter(|(_, c)| c.kind == ConstraintKind::Bend);
        if bends().next().is_none() {
            return;
        }
        let edges = opposite_corners(triangles);
        let threads = neighbors(rest.len(), constraints);
        let areas = shares(rest, triangles);
        for (of, constraint) in bends() {
            let ends = [constraint.a.min(constraint.b), constraint.a.max(constraint.b)];
            let edge = edges.binary_search_by_key(&ends, |&(corners, _)| corners);
            let hinge = match edge {
                Ok(place) if V::DIM == 3 => across_edge(rest, edges[place].1, ends),
                _ => between_threads(rest, &threads, &areas, ends),
            };
            if let Some(hinge) = hinge {
                self.all.push(Hinge { of, ..hinge });
            }
        }
    }

    /// Prepares for a body that holds the particles in these slots.
    pub fn place(&mut self, slot: &[u32]) {
        for hinge in &mut self.all {
            hinge.slots = hinge.particles.map(|particle| slot[particle as usize]);
        }
    }

    /// Prepares for a body that holds the particles in their own order.
    pub fn place_in_order(&mut self) {
        self.all.iter_mut().for_each(|hinge| hinge.slots = hinge.particles);
    }

    /// Computes what a projection takes back in a substep of `h` seconds, at a
    /// flexural rigidity of `rigidity`.
    pub fn prepare<V: Vector>(
        &mut self,
        constraints: &[DistanceConstraint],
        body: &impl Body<V>,
        rigidity: f32,
        h: f32,
    ) {
        let mut stiffest = 0.0f32;
        for hinge in &mut self.all {
            let (spring, sum) = hinge.spring(constraints, body, rigidity * h * h);
            stiffest = stiffest.max(spring * sum);
        }
        let wanted = (PASSES * stiffest.sqrt()).ceil() as u32;
        self.passes = if stiffest > 0.0 { wanted.clamp(1, MOST_PASSES) } else { 0 };
        let part = rigidity * h * h / self.passes as f32;
        for hinge in &mut self.all {
            let (spring, sum) = hinge.spring(constraints, body, part);
            let factor = spring / (1.0 + spring * sum);
            // Beyond what numbers hold there is nothing to straighten.
            let factor = if factor.is_finite() { factor } else { 0.0 };
            hinge.shares = core::array::from_fn(|k| {
                factor * hinge.weights[k] * body.inverse_mass(hinge.slots[k] as usize)
            });
        }
    }

    /// Straightens all hinges as far as they do in a substep.
    pub fn straighten<V: Vector>(&mut self, body: &mut impl Body<V>) {
        if self.passes == 0 {
            return;
        }
        let Self { all, passes, ends, changes } = self;
        ends.clear();
        ends.extend((0..body.count()).map(|slot| {
            let [x, y, z] = (body.position(slot) + body.displacement(slot)).to_array();
            Vec4::new(x, y, z, 0.0)
        }));
        changes.clear();
        changes.resize(ends.len(), Vec4::ZERO);
        for pass in 0..*passes {
            if pass % 2 == 1 {
                all.iter().rev().for_each(|hinge| hinge.straighten::<V>(ends, changes));
            } else {
                all.iter().for_each(|hinge| hinge.straighten::<V>(ends, changes));
            }
        }
        for (slot, change) in changes.iter().enumerate() {
            body.displace(slot, V::from_array(change.truncate().to_array()));
        }
    }
}

impl Hinge {
    #[inline(always)]
    fn straighten<V: Vector>(&self, ends: &mut [Vec4], changes: &mut [Vec4]) {
        let slots = self.slots.map(|slot| slot as usize);
        let corners = slots.map(|slot| ends[slot]);
        let mut curvature = self.curvature(corners);
        if self.rest != 0.0 {
            let vector = |corner: Vec4| V::from_array(corner.truncate().to_array());
            curvature *= 1.0 - self.rest_part(vector(curvature), corners.map(vector));
        }
        for (slot, share) in slots.into_iter().zip(self.shares) {
            ends[slot] -= curvature * share;
            changes[slot] -= curvature * share;
        }
    }

    /// Spring constant by the squared substep, and inverse masses by the squared weights.
    fn spring<V: Vector>(
        &self,
        constraints: &[DistanceConstraint],
        body: &impl Body<V>,
        rigidity: f32,
    ) -> (f32, f32) {
        let inverse = self.slots.map(|slot| body.inverse_mass(slot as usize));
        let sum = inverse.iter().zip(self.weights).map(|(w, k)| w * k * k).sum();
        (rigidity * constraints[self.of as usize].stiffness * self.measure, sum)
    }

    /// The weights add up to nothing, so the differences do as well, and better.
    #[inline(always)]
    fn curvature<V>(&self, [a, b, c, d]: [V; 4]) -> V
    where
        V: Copy + Add<Output = V> + Sub<Output = V> + Mul<f32, Output = V>,
    {
        let [_, second, third, fourth] = self.weights;
        (b - a) * second + (c - a) * third + (d - a) * fourth
    }

    /// The curvature at rest over the present one, negative on the wrong side.
    fn rest_part<V: Vector>(&self, curvature: V, ends: [V; 4]) -> f32 {
        let length = curvature.length();
        if length == 0.0 {
            return 0.0;
        }
        let sign = match self.side {
            Side::Signed => normal(ends).dot(curvature).signum(),
            Side::Unsigned => 1.0,
        };
        sign * self.rest / length
    }
}

/// A vector to one side of two triangles with the edge (a, b) and the corners
/// c and d, or of the line from c to d in the plane.
fn normal<V: Vector>([a, b, c, d]: [V; 4]) -> V {
    let ([x, y, z], [u, v, t]) = ((d - c).to_array(), (b - a).to_array());
    if V::DIM == 2 { V::from_array([-y, x, 0.0]) } else { cross([x, y, z], [u, v, t]) }
}

fn cross<V: Vector>([x, y, z]: [f32; 3], [u, v, t]: [f32; 3]) -> V {
    V::from_array([y * t - z * v, z * u - x * t, x * v - y * u])
}

/// The two triangles at an edge.
fn across_edge<V: Vector>(rest: &[V], [a, b]: [u32; 2], [c, d]: [u32; 2]) -> Option<Hinge> {
    let corners = [a, b, c, d];
    let [p, q, r, s] = corners.map(|corner| rest[corner as usize]);
    let area = |u: V, v: V| {
        let dot = u.dot(v);
        0.5 * (u.length_squared() * v.length_squared() - dot * dot).max(0.0).sqrt()
    };
    // Cotangents of the angles of both triangles at either end of the edge.
    let (first, second) = (area(q - p, r - p), area(q - p, s - p));
    if !(first > 0.0 && second > 0.0) {
        return None;
    }
    let cotangent = |u: V, v: V, area: f32| 0.5 * u.dot(v) / area;
    let at_a = [cotangent(q - p, r - p, first), cotangent(q - p, s - p, second)];
    let at_b = [cotangent(p - q, r - q, first), cotangent(p - q, s - q, second)];
    let weights =
        [at_b[0] + at_b[1], at_a[0] + at_a[1], -(at_a[0] + at_b[0]), -(at_a[1] + at_b[1])];
    // All of the bending is in the edges along the fold.
    let measure = 1.0 / (first + second);
    let largest = 2.0 * (q - p).length();
    finish(rest, corners, weights, measure, largest, Side::Signed)
}

/// Two threads that meet in a particle: the straightest of all such pairs.
fn between_threads<V: Vector>(
    rest: &[V],
    threads: &Neighbors,
    areas: &[f32],
    [a, c]: [u32; 2],
) -> Option<Hinge> {
    let (p, r) = (rest[a as usize], rest[c as usize]);
    let turn = |&middle: &u32| {
        let q = rest[middle as usize];
        let [u, v] = [p - q, r - q];
        u.dot(v) / (u.length() * v.length())
    };
    let common = threads.of(a).iter().copied().filter(|other| threads.of(c).contains(other));
    let middle = common.min_by(|one, other| turn(one).total_cmp(&turn(other)))?;
    let q = rest[middle as usize];
    let lengths = [(q - p).length(), (r - q).length()];
    let mean = 0.5 * (lengths[0] + lengths[1]);
    let [before, after] = lengths.map(|length| 1.0 / (length * mean));
    let weights = [-(before + after), 0.0, before, after];
    // A rope has a rigidity of its own, a sheet one over its width.
    let area = areas[middle as usize];
    let measure = if V::DIM == 3 && area > 0.0 { area } else { mean };
    let side = if V::DIM == 2 { Side::Signed } else { Side::Unsigned };
    finish(rest, [middle, middle, a, c], weights, measure, before + after, side)
}

fn finish<V: Vector>(
    rest: &[V],
    particles: [u32; 4],
    weights: [f32; 4],
    measure: f32,
    largest: f32,
    side: Side,
) -> Option<Hinge> {
    let ends = particles.map(|particle| rest[particle as usize]);
    let mut hinge = Hinge {
        particles,
        slots: particles,
        weights,
        measure,
        rest: 0.0,
        side,
        of: 0,
        shares: [0.0; 4],
    };
    let curvature = hinge.curvature(ends);
    let length = curvature.length();
    if length > STRAIGHT * largest {
        let signed = side == Side::Signed && normal(ends).dot(curvature) < 0.0;
        hinge.rest = if signed { -length } else { length };
    }
    let valid = weights.iter().all(|weight| weight.is_finite()) && measure.is_finite();
    valid.then_some(hinge)
}

/// The corners opposite to each edge of two triangles, with the edge, sorted.
fn opposite_corners(triangles: &[[u32; 3]]) -> Vec<([u32; 2], [u32; 2])> {
    let mut edges: Vec<([u32; 2], u32)> = Vec::with_capacity(3 * triangles.len());
    for &[a, b, c] in triangles {
        for (from, to, opposite) in [(a, b, c), (b, c, a), (c, a, b)] {
            edges.push(([from.min(to), from.max(to)], opposite));
        }
    }
    edges.sort_unstable();
    let pairs = edges.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() == 2);
    let mut corners: Vec<_> = pairs
        .map(|pair| ([pair[0].1.min(pair[1].1), pair[0].1.max(pair[1].1)], pair[0].0))
        .collect();
    corners.sort_unstable();
    corners
}

/// A third of the area of its triangles at rest, for each particle.
fn shares<V: Vector>(rest: &[V], triangles: &[[u32; 3]]) -> Vec<f32> {
    let mut areas = vec![0.0; rest.len()];
    for triangle in triangles {
        let [a, b, c] = triangle.map(|corner| rest[corner as usize]);
        let (u, v) = (b - a, c - a);
        let dot = u.dot(v);
        let squared = u.length_squared() * v.length_squared() - dot * dot;
        triangle.iter().for_each(|&corner| areas[corner as usize] += squared.max(0.0).sqrt() / 6.0);
    }
    areas
}

/// Particles joined by threads.
struct Neighbors {
    start: Vec<u32>,
    all: Vec<u32>,
}

impl Neighbors {
    fn of(&self, particle: u32) -> &[u32] {
        let particle = particle as usize;
        &self.all[self.start[particle] as usize..self.start[particle + 1] as usize]
    }
}

fn neighbors(particles: usize, constraints: &[DistanceConstraint]) -> Neighbors {
    let threads = || constraints.iter().filter(|c| c.kind == ConstraintKind::Stretch);
    let mut start = vec![0u32; particles + 2];
    for end in threads().flat_map(|c| [c.a, c.b]) {
        start[end as usize + 2] += 1;
    }
    for index in 2..start.len() {
        start[index] += start[index - 1];
    }
    let mut all = vec![0; start[start.len() - 1] as usize];
    for (from, to) in threads().flat_map(|c| [(c.a, c.b), (c.b, c.a)]) {
        let place = &mut start[from as usize + 1];
        all[*place as usize] = to;
        *place += 1;
    }
    Neighbors { start, all }
}
