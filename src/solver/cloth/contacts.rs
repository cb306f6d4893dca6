//! All that a cloth touches in a substep: solids and itself.

use super::collision::{Body, Contact, collide};
use super::constraints::DistanceConstraint;
use super::edges::{Outlook, collide_parts};
use super::parts::Parts;
use super::self_collision::{Layers, Touch};
use super::{ClothSettings, Surroundings};
use crate::solver::vector::Vector;

/// Rounds over layers and colliders in a substep.
const TOUCH_ROUNDS: u32 = 3;

/// Fraction of the thickness by which layers may be too near before the last round.
const SETTLED: f32 = 0.002;

/// Rounds while layers come too near.
const MOST_TOUCH_ROUNDS: u32 = 20;

/// Fraction of the thickness by which layers may be too near.
const TOUCH_DEPTH: f32 = 0.5;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Contacts<V> {
    parts: Parts<V>,
    layers: Layers<V>,
    outlook: Outlook<V>,
}

impl<V: Vector> Contacts<V> {
    /// Forgets everything, as the cloth has changed.
    pub fn forget(&mut self) {
        self.parts.forget();
    }

    /// Prepares for a step; see [`Parts::update`].
    pub fn update(
        &mut self,
        rest: &[V],
        constraints: &[DistanceConstraint],
        triangles: &[[u32; 3]],
        slot: Option<&[u32]>,
        slots: usize,
    ) {
        self.parts.update(rest, constraints, triangles, slot, slots);
        self.layers.forget();
    }

    /// Keeps the cloth out of all colliders, and its layers apart, at the end of
    /// a substep of `h` seconds that comes `left` seconds before the step's.
    pub fn resolve(
        &mut self,
        body: &mut impl Body<V>,
        settings: &ClothSettings,
        around: &Surroundings<V>,
        [h, left]: [f32; 2],
    ) {
        let ClothSettings { thickness, self_thickness, friction, .. } = *settings;
        let contact = Contact { thickness, friction, h, left };
        self.collide(body, around, contact);
        if self_thickness == 0.0 {
            return;
        }
        let touch = Touch { thickness: self_thickness, friction };
        let Self { parts, layers, .. } = self;
        if !layers.find(parts, body, touch, 1.0 + left / h) {
            return;
        }
        // Layers that lie on each other hand on what they lie on.
        for round in 0..MOST_TOUCH_ROUNDS {
            let depth = layers.keep_apart(touch, round);
            let particles = layers.particles();
            if !around.colliders.is_empty() {
                let bounds = bounds(particles);
                for collider in around.colliders {
                    collide(particles, collider, contact, bounds);
                }
            }
            if depth < SETTLED || (round + 1 >= TOUCH_ROUNDS && depth < TOUCH_DEPTH) {
                break;
            }
        }
        layers.store(parts, body);
    }

    /// Keeps the particles out of all colliders, and what is between them.
    fn collide(&mut self, body: &mut impl Body<V>, around: &Surroundings<V>, contact: Contact) {
        if around.colliders.is_empty() {
            return;
        }
        let bounds = bounds(body);
        for collider in around.colliders {
            if collide(body, collider, contact, bounds) {
                collide_parts(body, &self.parts, &mut self.outlook, collider, contact);
                // What was moved there may have come into another face.
                collide(body, collider, contact, bounds);
            }
        }
    }
}

/// Middle and radius of a ball that holds all particles at the end of the substep.
fn bounds<V: Vector>(body: &impl Body<V>) -> (V, f32) {
    let first = body.position(0) + body.displacement(0);
    let (mut low, mut high) = (first, first);
    for index in 1..body.count() {
        let end = body.position(index) + body.displacement(index);
        (low, high) = (low.min(end), high.max(end));
    }
    ((low + high) * 0.5, 0.5 * (high - low).length())
}
