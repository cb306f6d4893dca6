//! A cloth that does not pass through itself.
//!
//! Particles against triangles and threads against threads; in the plane
//! particles against threads. The side is that of the start of a substep and
//! the distance that of its end (Bridson et al. 2002), so that nothing passes
//! however thin it is, as long as nothing had passed before.

use super::cells::Cells;
use super::closest::{of_segments, on_segment, on_triangle};
use super::collision::Body;
use super::parts::{Part, Parts};
use crate::solver::vector::Vector;

/// Part of what two layers are too near that a substep takes back without speed.
const RECOVERY: f32 = 0.2;

/// Fraction of the mean edge that pairs are looked for beyond the thickness.
const SKIN: f32 = 0.5;

/// The same for the fastest motion.
const WIDEST_SKIN: f32 = 4.0;

/// Thicknesses, beyond the motion, within which pairs are looked at.
const CAUTION: f32 = 1.2;

/// Two parts of the cloth that may touch: a particle and a triangle, or two threads.
#[derive(Clone, Copy, Debug)]
struct Pair {
    slots: [u32; 4],
    threads: bool,
    /// Distance when the pair was found, in metres.
    distance: f32,
}

/// A pair that may touch in a substep.
#[derive(Clone, Copy, Debug)]
struct Contact<V> {
    slots: [u32; 4],
    /// Weights of the corners in the vector between the nearest points.
    weights: [f32; 4],
    /// Of a change of that vector, what each corner does.
    shares: [f32; 4],
    /// Direction and length of that vector at the start of the substep.
    n: V,
    distance: f32,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Layers<V> {
    pairs: Vec<Pair>,
    contacts: Vec<Contact<V>>,
    /// Positions and displacements, as vectors.
    x: Vec<V>,
    u: Vec<V>,
    /// Positions where the pairs were found, by slot; none before.
    found: Vec<V>,
    /// How far particles can have come nearer to each other since, with the
    /// displacements of this substep.
    moved: f32,
    /// How far they may.
    skin: f32,
    cells: Cells<V>,
}

/// How layers touch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    /// Distance kept in metres.
    pub thickness: f32,
    /// Coefficient of Coulomb friction.
    pub friction: f32,
}

impl<V: Vector> Layers<V> {
    /// Forgets the pairs, at the start of a step.
    pub fn forget(&mut self) {
        self.found.clear();
    }

    /// Brings the particles in.
    fn load(&mut self, body: &impl Body<V>) {
        self.x.clear();
        self.x.extend((0..body.count()).map(|slot| body.position(slot)));
        self.u.clear();
        self.u.extend((0..body.count()).map(|slot| body.displacement(slot)));
    }

    /// Finds what may touch in the coming substep.
    pub fn find(&mut self, parts: &Parts<V>, body: &impl Body<V>, touch: Touch) {
        self.load(body);
        if !self.found.is_empty() {
            self.moved = self.approach(parts);
        }
        if self.found.is_empty() || self.moved > self.skin {
            self.found.clone_from(&self.x);
            self.moved = self.approach(parts);
            let narrow = (SKIN * parts.mean).max(touch.thickness);
            self.skin = (2.0 * self.moved).clamp(narrow, narrow.max(WIDEST_SKIN * parts.mean));
            self.find_pairs(parts, touch.thickness);
        }
        // The pushes themselves may go beyond what was foreseen.
        let reach = CAUTION * touch.thickness + self.moved;
        let near = self.pairs.iter().filter(|pair| pair.distance < reach);
        self.contacts.clear();
        self.contacts.extend(near.filter_map(|pair| pair.contact(&self.x, body, reach)));
    }

    /// Keeps layers apart at the ends of the displacements, with friction.
    /// What overlaps is drawn out in the first round of a substep. Returns by how
    /// much the nearest were too near, as a fraction of the thickness.
    pub fn keep_apart(
        &mut self,
        parts: &Parts<V>,
        body: &mut impl Body<V>,
        touch: Touch,
        first: bool,
    ) -> f32 {
        if self.contacts.is_empty() {
            return 0.0;
        }
        self.load(body);
        let recovery = if first { RECOVERY } else { 0.0 };
        let mut deepest = 0.0f32;
        for contact in &self.contacts {
            let depth = contact.part(&mut self.x, &mut self.u, touch, recovery);
            deepest = deepest.max(depth);
        }
        for &slot in &parts.slots {
            let slot = slot as usize;
            body.set(slot, self.x[slot], self.u[slot]);
        }
        deepest / touch.thickness
    }

    /// Twice the longest way since the pairs were found, against the mean one.
    fn approach(&self, parts: &Parts<V>) -> f32 {
        let displacement = |&slot: &u32| {
            let slot = slot as usize;
            self.x[slot] + self.u[slot] - self.found[slot]
        };
        let sum = parts.slots.iter().map(displacement).fold(V::ZERO, |sum, u| sum + u);
        let mean = sum * (1.0 / parts.slots.len() as f32);
        let squared = parts.slots.iter().map(|slot| (displacement(slot) - mean).length_squared());
        2.0 * squared.fold(0.0, f32::max).sqrt()
    }

    fn find_pairs(&mut self, parts: &Parts<V>, thickness: f32) {
        let Parts { faces, threads, rest, slots, longest, .. } = parts;
        let Self { cells, pairs, x, .. } = self;
        let within = thickness + self.skin;
        let place = |slot: u32| x[slot as usize];
        let at_rest = |slot: u32| rest[slot as usize];
        pairs.clear();
        cells.fill(faces, place, 0.5 * within, longest + within);
        let squared = within * within;
        let mut add = |mut pair: Pair| {
            let gap = pair.gap(place).length_squared();
            // What is that near in the rest shape belongs together.
            if gap < squared && pair.gap(at_rest).length_squared() > thickness * thickness {
                pair.distance = gap.sqrt();
                pairs.push(pair);
            }
        };
        for &slot in slots.iter() {
            cells.around(place(slot), |face| {
                let Part { slots: [a, b, c], .. } = faces[face as usize];
                if ![a, b, c].contains(&slot) {
                    add(Pair { slots: [slot, a, b, c], threads: false, distance: 0.0 });
                }
            });
        }
        if threads.is_empty() {
            return;
        }
        cells.fill(threads, place, 0.5 * within, longest + within);
        cells.overlapping(|one, other| {
            let [a, b, _] = threads[one as usize].slots;
            let [c, d, _] = threads[other as usize].slots;
            if a != c && a != d && b != c && b != d {
                add(Pair { slots: [a, b, c, d], threads: true, distance: 0.0 });
            }
        });
    }
}

impl Pair {
    /// Weights whose sum of the corners leads from one nearest point to the other.
    #[inline(always)]
    fn weights<V: Vector>(&self, [a, b, c, d]: [V; 4]) -> [f32; 4] {
        if self.threads {
            let [s, t] = of_segments(a, b, c, d);
            [1.0 - s, s, t - 1.0, -t]
        } else if V::DIM == 2 {
            let t = on_segment(a, b, c);
            [1.0, t - 1.0, -t, 0.0]
        } else {
            let [b, c, d] = on_triangle(a, [b, c, d]);
            [1.0, -b, -c, -d]
        }
    }

    fn gap<V: Vector>(&self, place: impl Fn(u32) -> V) -> V {
        let corners = self.slots.map(place);
        weighted(corners, self.weights(corners))
    }

    /// What the pair can do in a substep, where it is near enough.
    #[inline(always)]
    fn contact<V: Vector>(&self, x: &[V], body: &impl Body<V>, reach: f32) -> Option<Contact<V>> {
        let slots = self.slots.map(|slot| slot as usize);
        let x = slots.map(|slot| x[slot]);
        let weights = self.weights(x);
        // Threads that touch with their ends are for the particles there.
        let ends = self.threads && weights.contains(&0.0);
        let start = weighted(x, weights);
        let distance = start.length();
        if ends || !(distance > 0.0 && distance < reach) {
            return None;
        }
        let inverse = slots.map(|slot| body.inverse_mass(slot));
        let sum: f32 = inverse.iter().zip(weights).map(|(w, c)| w * c * c).sum();
        if sum == 0.0 {
            return None;
        }
        let share = 1.0 / sum;
        let shares = core::array::from_fn(|k| inverse[k] * weights[k] * share);
        Some(Contact { slots: self.slots, weights, shares, n: start * (1.0 / distance), distance })
    }
}

impl<V: Vector> Contact<V> {
    /// Stops what comes nearer than the thickness; `recovery` is the part of
    /// the rest that is taken back without speed. Returns how much too near it was.
    #[inline(always)]
    fn part(
        &self,
        x: &mut [V],
        u: &mut [V],
        Touch { thickness, friction }: Touch,
        recovery: f32,
    ) -> f32 {
        let slots = self.slots.map(|slot| slot as usize);
        let motion = weighted(slots.map(|slot| u[slot]), self.weights);
        let approach = -motion.dot(self.n);
        let depth = thickness - (self.distance - approach);
        if depth <= 0.0 {
            return 0.0;
        }
        let stopped = depth.min(approach.max(0.0));
        let along = motion + self.n * approach;
        let slip = along.length();
        let held = (friction * stopped).min(slip);
        let rubbed = if slip > 0.0 { along * (held / slip) } else { V::ZERO };
        let (change, shift) = (self.n * stopped - rubbed, self.n * (recovery * (depth - stopped)));
        for (slot, share) in slots.into_iter().zip(self.shares) {
            x[slot] += shift * share;
            u[slot] += change * share;
        }
        depth
    }
}

#[inline(always)]
fn weighted<V: Vector>(corners: [V; 4], weights: [f32; 4]) -> V {
    let [a, b, c, d] = corners;
    let [p, q, r, s] = weights;
    a * p + b * q + c * r + d * s
}
