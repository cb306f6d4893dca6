//! The schemes that solve the constraints one after the other along the list.

use super::bending::Hinges;
use super::constraints::{ConstraintKind, DistanceConstraint, fraction_per_sweep};
use super::settings::{ClothScheme, ClothSettings};
use crate::solver::vector::Vector;

/// Shortest predicted length over the rest length at which a constraint still
/// has a direction.
const SHORTEST: f32 = 0.005;

/// Squared cosine of the angle between the directions at the start and at the
/// end of a substep beyond which a correction goes along the end's.
pub(super) const GUARD: f32 = 0.9 * 0.9;

/// Least product of both directions over the squared rest length.
pub(super) const LEAST_PRODUCT: f32 = 0.01;

/// Particles as vectors, in their own order.
#[derive(Clone, Debug, Default)]
pub(super) struct Particles<V> {
    pub x: Vec<V>,
    /// Displacement of the substep in metres.
    pub u: Vec<V>,
    pub v: Vec<V>,
    /// Inverse masses, 0 for held particles.
    pub w: Vec<f32>,
}

/// A substep of the scheme `Reference`, of `h` seconds: the impulse-based
/// dynamics of Bender & Schmitt (2006). Held particles stay where they are.
pub(super) fn reference<V: Vector>(
    particles: &mut Particles<V>,
    constraints: &[DistanceConstraint],
    settings: &ClothSettings,
    h: f32,
    gravity: V,
) {
    let Particles { x, v, w, .. } = particles;
    for _ in 0..settings.iterations {
        for constraint in constraints {
            let (a, b) = (constraint.a as usize, constraint.b as usize);
            let predict =
                |i: usize| if w[i] > 0.0 { x[i] + (v[i] + gravity * h) * h } else { x[i] };
            let apart = predict(a) - predict(b);
            let length = apart.length();
            let k = w[a] + w[b];
            if length <= SHORTEST * constraint.rest_length || k == 0.0 {
                continue;
            }
            let impulse = apart * (-(length - constraint.rest_length) / (h * k * length));
            v[a] += impulse * w[a];
            v[b] -= impulse * w[b];
        }
    }
    for i in 0..x.len() {
        if w[i] > 0.0 {
            v[i] += gravity * h;
            x[i] += v[i] * h;
        } else {
            v[i] = V::ZERO;
        }
    }
    match_velocities(particles, constraints, settings);
}

/// Impulses that end all relative motion along the rigid constraints.
pub(super) fn match_velocities<V: Vector>(
    particles: &mut Particles<V>,
    constraints: &[DistanceConstraint],
    settings: &ClothSettings,
) {
    let Particles { x, v, w, .. } = particles;
    for _ in 0..settings.iterations {
        for constraint in constraints {
            // An elastic constraint moves along itself, and bending is elastic.
            let reference = settings.scheme == ClothScheme::Reference;
            let bends = !reference && constraint.kind == ConstraintKind::Bend;
            if bends || constraint.total_stiffness(settings) < 1.0 {
                continue;
            }
            let (a, b) = (constraint.a as usize, constraint.b as usize);
            let apart = x[a] - x[b];
            let length = apart.length();
            let k = w[a] + w[b];
            let pulls = constraint.kind.push::<V>() == 0.0;
            let slack = !reference && pulls && length < constraint.rest_length;
            if slack || length <= SHORTEST * constraint.rest_length || k == 0.0 {
                continue;
            }
            let n = apart * (1.0 / length);
            let impulse = n * (-n.dot(v[a] - v[b]) / k);
            v[a] += impulse * w[a];
            v[b] -= impulse * w[b];
        }
    }
}

/// Displacements of a substep of the scheme `Accurate`, without motion yet:
/// `particles.u` holds those of free flight and of held particles, and is
/// corrected along the directions at the start. Returns the sweeps done.
pub(super) fn accurate_displacements<V: Vector>(
    particles: &mut Particles<V>,
    constraints: &[DistanceConstraint],
    hinges: &mut Hinges,
    settings: &ClothSettings,
    h: f32,
) -> u32 {
    hinges.straighten(particles);
    for sweep in 0..settings.iterations {
        let mut worst = 0.0f32;
        let Particles { x, u, w, .. } = particles;
        let mut project = |constraint: &DistanceConstraint| {
            if constraint.kind == ConstraintKind::Bend {
                return;
            }
            let (a, b) = (constraint.a as usize, constraint.b as usize);
            let stiffness = constraint.total_stiffness(settings);
            let fraction = fraction_per_sweep(stiffness, h, settings.iterations);
            let squared = constraint.rest_length * constraint.rest_length;
            let start = x[a] - x[b];
            let end = start + (u[a] - u[b]);
            let push = constraint.kind.push::<V>();
            if stiffness >= 1.0 && push > 0.0 {
                worst = worst.max(0.5 * (end.length_squared() / squared - 1.0).abs());
            }
            let (da, db) = correction(start, end, [w[a], w[b]], Goal { squared, fraction, push });
            u[a] -= da;
            u[b] += db;
        };
        if sweep % 2 == 0 {
            constraints.iter().for_each(&mut project);
        } else {
            constraints.iter().rev().for_each(&mut project);
        }
        if worst < settings.tolerance {
            return sweep + 1;
        }
    }
    settings.iterations
}

/// What a projection aims at.
#[derive(Clone, Copy)]
pub(super) struct Goal {
    /// Squared rest length.
    pub squared: f32,
    /// Fraction of the error to be taken back.
    pub fraction: f32,
    /// 1 where shortening is resisted too, 0 where only stretching is.
    pub push: f32,
}

/// What the two ends of a constraint are displaced by: the first is taken
/// from the one, the second added to the other.
///
/// `start` and `end` are the vectors between them at both ends of the substep,
/// `w` their inverse masses. The correction
/// goes along the start unless the constraint turned too far.
#[inline(always)]
pub(super) fn correction<V: Vector>(
    start: V,
    end: V,
    w: [f32; 2],
    Goal { squared, fraction, push }: Goal,
) -> (V, V) {
    let (ss, se, ee) = (start.dot(start), start.dot(end), end.dot(end));
    let turned = !((se > 0.0) & (se * se >= GUARD * ss * ee));
    let (along, product) = if turned { (end, ee) } else { (start, se) };
    let twice = 2.0 * product.max(LEAST_PRODUCT * squared);
    let sum = w[0] + w[1];
    let sum = if sum > 0.0 { sum } else { 1.0 };
    // No more than the distance itself when it opens.
    let s = (fraction * (ee - squared)).max(-twice * push) / (sum * twice);
    (along * (w[0] * s), along * (w[1] * s))
}
