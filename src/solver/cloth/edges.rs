//! Solids do not poke through between the particles of a cloth.
//!
//! The distance from a convex solid is a convex function, so its least value on
//! a triangle or thread is found by going down it, from the worst corner to the
//! best (pairwise steps of Frank & Wolfe, Lacoste-Julien & Jaggi 2015). It is
//! kept out there as its particles are at their own places.

use super::closest::{on_segment, on_triangle};
use super::collision::{Body, Collider, ColliderShape, Contact};
use super::parts::{Part, Parts};
use crate::solver::vector::Vector;

/// Part of the thickness that the inside of a triangle or thread keeps.
const INSIDE: f32 = 0.5;

/// Farthest that a point of a triangle can be from its nearest corner, over its
/// longest edge.
const FARTHEST: f32 = 0.6;

/// Cosine between the directions away from the solid above which corners are
/// at one side of it.
const SAME_SIDE: f32 = 0.9999;

/// Steps down a part, and halvings of each.
const STEPS: usize = 6;
const HALVINGS: usize = 8;

/// How near to the deepest point is near enough, over the distance kept.
const ENOUGH: f32 = 0.05;

/// Weight of a corner above which it is the corner's own contact.
const CORNER: f32 = 0.999;

/// The particles as a collider sees them.
#[derive(Clone, Debug, Default)]
pub(super) struct Outlook<V> {
    /// Positions at the end of the substep in the solid's own space.
    x: Vec<V>,
    distance: Vec<f32>,
    away: Vec<V>,
}

/// Keeps the insides of triangles and threads out of `collider`.
pub(super) fn collide_parts<V: Vector>(
    body: &mut impl Body<V>,
    parts: &Parts<V>,
    outlook: &mut Outlook<V>,
    collider: &Collider<V>,
    contact: Contact,
) {
    // A plane that stops all corners stops everything.
    if matches!(collider.shape, ColliderShape::Plane) {
        return;
    }
    let Outlook { x, distance, away } = outlook;
    let origin = collider.origin(contact);
    x.clear();
    distance.clear();
    away.clear();
    for slot in 0..body.count() {
        let local = collider.to_local(body.position(slot) + body.displacement(slot) - origin);
        let (own, direction) = collider.distance(local);
        x.push(local);
        distance.push(own);
        away.push(direction);
    }
    let kept = INSIDE * contact.thickness;
    let near = kept + FARTHEST * parts.longest;
    for part in parts.faces.iter().chain(&parts.loose) {
        let slots = part.slots.map(|slot| slot as usize);
        let nearest = slots.iter().map(|&slot| distance[slot]).fold(f32::MAX, f32::min);
        if nearest >= near {
            continue;
        }
        let [a, b, c] = slots.map(|slot| away[slot]);
        if a.dot(b) > SAME_SIDE && a.dot(c) > SAME_SIDE {
            continue;
        }
        let corners = slots.map(|slot| x[slot]);
        let Some(weights) = deepest(collider, part, corners, kept) else { continue };
        if weights.iter().any(|&weight| weight > CORNER) {
            continue;
        }
        keep_out(body, collider, slots, weights, Contact { thickness: kept, ..contact });
    }
}

/// Weights of the corners at the point of a part that is deepest in the solid;
/// none where nothing is nearer to it than `kept`.
fn deepest<V: Vector>(
    collider: &Collider<V>,
    part: &Part,
    x: [V; 3],
    kept: f32,
) -> Option<[f32; 3]> {
    if matches!(collider.shape, ColliderShape::Ball { .. }) {
        if part.corners == 3 {
            return Some(on_triangle(V::ZERO, x));
        }
        let t = on_segment(V::ZERO, x[0], x[1]);
        return Some([1.0 - t, t, 0.0]);
    }
    let corners = part.corners as usize;
    let mut weights = [0.0; 3];
    weights[..corners].fill(1.0 / corners as f32);
    let place = |weights: [f32; 3]| x[0] * weights[0] + x[1] * weights[1] + x[2] * weights[2];
    for _ in 0..STEPS {
        let middle = place(weights);
        let (distance, away) = collider.distance(middle);
        let along = |k: &usize| away.dot(x[*k]);
        let order = |one: &usize, other: &usize| along(one).total_cmp(&along(other));
        let filled = (0..corners).filter(|&k| weights[k] > 0.0);
        let (Some(to), Some(from)) = ((0..corners).min_by(order), filled.max_by(order)) else {
            break;
        };
        // A convex function lies above its tangents.
        let gain = away.dot(middle - x[to]);
        if distance - gain > kept {
            return None;
        }
        if gain < ENOUGH * kept {
            break;
        }
        let moved = |t: f32| {
            let mut moved = weights;
            moved[from] -= t;
            moved[to] += t;
            moved
        };
        let way = x[to] - x[from];
        let (mut low, mut high) = (0.0, weights[from]);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            let (_, away) = collider.distance(place(moved(middle)));
            if away.dot(way) < 0.0 { low = middle } else { high = middle }
        }
        weights = moved(if high < weights[from] { 0.5 * (low + high) } else { high });
    }
    Some(weights)
}

/// Stops a point between particles, as `collide` does a particle.
fn keep_out<V: Vector>(
    body: &mut impl Body<V>,
    collider: &Collider<V>,
    slots: [usize; 3],
    weights: [f32; 3],
    contact: Contact,
) {
    let weighted = |of: [V; 3]| of[0] * weights[0] + of[1] * weights[1] + of[2] * weights[2];
    let u = weighted(slots.map(|slot| body.displacement(slot)));
    let end = weighted(slots.map(|slot| body.position(slot))) + u;
    let Some(push) = collider.push(end, u, contact) else { return };
    let inverse = slots.map(|slot| body.inverse_mass(slot));
    let sum: f32 = inverse.iter().zip(weights).map(|(w, c)| w * c * c).sum();
    if sum == 0.0 {
        return;
    }
    for k in 0..3 {
        let share = inverse[k] * weights[k] / sum;
        if share > 0.0 {
            let (x, u) = (body.position(slots[k]), body.displacement(slots[k]));
            body.set(slots[k], x + push.shift * share, u + push.change * share);
        }
    }
}
