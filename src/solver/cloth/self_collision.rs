//! A cloth that does not pass through itself.
//!
//! Particles against triangles and threads against threads; in the plane
//! particles against threads. The side is that of the start of a substep and
//! the distance that of its end (Bridson et al. 2002), so that nothing passes
//! however thin it is, as long as nothing had passed before.

use super::cells::Cells;
use super::closest::{of_segments, on_segment, on_triangle};
use super::collision::Body;
use super::ibds::Particles;
use super::parts::{Part, Parts, owns};
use crate::solver::vector::Vector;

/// Part of what two layers are too near that a substep takes back without speed.
const RECOVERY: f32 = 0.2;

/// Thicknesses that pairs are looked for beyond, at least.
const NARROWEST_SKIN: f32 = 0.25;

/// Part of the motion that a substep lets expect of the rest of the step.
const FORESIGHT: f32 = 1.5;

/// Fraction of the mean edge beyond which it is better to look again later.
const SKIN: f32 = 0.5;

/// The same for the fastest motion.
const WIDEST_SKIN: f32 = 4.0;

/// Thicknesses, beyond the motion, within which pairs are looked at.
const CAUTION: f32 = 1.2;

/// Motion over the thickness up to which the nearest points stay those where the
/// pairs were found: their distance along its direction is off by the square.
const STILL: f32 = 0.1;

/// Two parts of the cloth that may touch: a particle and a triangle, or two threads.
#[derive(Clone, Copy, Debug)]
struct Pair {
    slots: [u32; 4],
    threads: bool,
    /// See [`Part`].
    owned: u8,
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
    /// Whether the contacts are of where the pairs were found.
    as_found: bool,
    /// The particles as vectors, by slot.
    particles: Particles<V>,
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
        let Particles { x, u, w, .. } = &mut self.particles;
        x.clear();
        x.extend((0..body.count()).map(|slot| body.position(slot)));
        u.clear();
        u.extend((0..body.count()).map(|slot| body.displacement(slot)));
        w.clear();
        w.extend((0..body.count()).map(|slot| body.inverse_mass(slot)));
    }

    /// Finds what may touch in the coming substep, the first of `left` in the step.
    /// Returns whether anything may.
    pub fn find(&mut self, parts: &Parts<V>, body: &impl Body<V>, touch: Touch, left: f32) -> bool {
        self.load(body);
        if !self.found.is_empty() {
            self.moved = self.approach(parts);
        }
        if self.found.is_empty() || self.moved > self.skin {
            self.found.clone_from(&self.particles.x);
            self.moved = self.approach(parts);
            let narrow = NARROWEST_SKIN * touch.thickness;
            let foreseen = (FORESIGHT * left * self.moved).min(SKIN * parts.mean);
            let wanted = foreseen.max(2.0 * self.moved);
            self.skin = wanted.clamp(narrow, narrow.max(WIDEST_SKIN * parts.mean));
            self.find_pairs(parts, touch.thickness);
            return !self.contacts.is_empty();
        }
        let Particles { x, w, .. } = &self.particles;
        if self.as_found && self.moved <= STILL * touch.thickness {
            for contact in &mut self.contacts {
                let start = weighted(x, contact.slots, contact.weights);
                contact.distance = contact.n.dot(start);
            }
        } else {
            let reach = self.reach(touch.thickness);
            let near = self.pairs.iter().filter(|pair| pair.distance < reach);
            self.contacts.clear();
            self.contacts
                .extend(near.filter_map(|pair| pair.contact(pair.weights(x), x, w, reach)));
            self.as_found = false;
        }
        !self.contacts.is_empty()
    }

    /// How near a pair may touch in this substep, or as long as its contact stays:
    /// the pushes themselves may go beyond what was foreseen.
    fn reach(&self, thickness: f32) -> f32 {
        CAUTION * thickness + self.moved.max(STILL * thickness)
    }

    /// The particles that [`Layers::keep_apart`] moves.
    pub fn particles(&mut self) -> &mut Particles<V> {
        &mut self.particles
    }

    /// Keeps layers apart at the ends of the displacements, with friction.
    /// What overlaps is drawn out in the first round of a substep. Returns by how
    /// much the nearest were too near, as a fraction of the thickness.
    pub fn keep_apart(&mut self, touch: Touch, round: u32) -> f32 {
        let recovery = if round == 0 { RECOVERY } else { 0.0 };
        let mut deepest = 0.0f32;
        let Particles { x, u, .. } = &mut self.particles;
        let mut part = |contact: &Contact<V>| {
            deepest = deepest.max(contact.part(x, u, touch, recovery));
        };
        if round % 2 == 1 {
            self.contacts.iter().rev().for_each(&mut part);
        } else {
            self.contacts.iter().for_each(&mut part);
        }
        deepest / touch.thickness
    }

    /// Takes the particles back.
    pub fn store(&self, parts: &Parts<V>, body: &mut impl Body<V>) {
        for &slot in &parts.slots {
            let slot = slot as usize;
            body.set(slot, self.particles.x[slot], self.particles.u[slot]);
        }
    }

    /// Twice the longest way since the pairs were found, against the mean one.
    fn approach(&self, parts: &Parts<V>) -> f32 {
        let Particles { x, u, .. } = &self.particles;
        let displacement = |&slot: &u32| {
            let slot = slot as usize;
            x[slot] + u[slot] - self.found[slot]
        };
        let sum = parts.slots.iter().map(displacement).fold(V::ZERO, |sum, u| sum + u);
        let mean = sum * (1.0 / parts.slots.len() as f32);
        let squared = parts.slots.iter().map(|slot| (displacement(slot) - mean).length_squared());
        2.0 * squared.fold(0.0, f32::max).sqrt()
    }

    /// Finds the pairs where the particles are, and their contacts.
    fn find_pairs(&mut self, parts: &Parts<V>, thickness: f32) {
        let Parts { faces, threads, rest, slots, longest, .. } = parts;
        let reach = self.reach(thickness);
        let within = CAUTION * thickness + self.skin;
        let Self { cells, pairs, contacts, particles, .. } = self;
        let Particles { x, w, .. } = &*particles;
        let place = |slot: u32| x[slot as usize];
        pairs.clear();
        contacts.clear();
        self.as_found = true;
        let squared = within * within;
        // No point of a thread or face is farther from any of its corners.
        let away = 2.0 * longest + thickness;
        let mut add = |mut pair: Pair| {
            let weights = pair.weights(x);
            let gap = weighted(x, pair.slots, weights).length_squared();
            if gap >= squared {
                return;
            }
            // What is that near in the rest shape belongs together.
            let [a, _, c, _] = pair.slots.map(|slot| slot as usize);
            let apart = (rest[a] - rest[c]).length_squared() > away * away;
            if apart || pair.gap(rest).length_squared() > thickness * thickness {
                pair.distance = gap.sqrt();
                contacts.extend(pair.contact(weights, x, w, reach));
                pairs.push(pair);
            }
        };
        cells.fill(faces, place, within, longest + within);
        for &slot in slots.iter() {
            cells.around(place(slot), |face| {
                let Part { slots: [a, b, c], owned, .. } = faces[face as usize];
                if ![a, b, c].contains(&slot) {
                    add(Pair { slots: [slot, a, b, c], threads: false, owned, distance: 0.0 });
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
                add(Pair { slots: [a, b, c, d], threads: true, owned: 0, distance: 0.0 });
            }
        });
    }
}

impl Pair {
    /// Weights whose sum of the corners leads from one nearest point to the other.
    #[inline(always)]
    fn weights<V: Vector>(&self, x: &[V]) -> [f32; 4] {
        let [a, b, c, d] = self.slots;
        let (a, b, c, d) = (x[a as usize], x[b as usize], x[c as usize], x[d as usize]);
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

    fn gap<V: Vector>(&self, x: &[V]) -> V {
        weighted(x, self.slots, self.weights(x))
    }

    /// What the pair can do in a substep, where it is near enough.
    #[inline(always)]
    fn contact<V: Vector>(
        &self,
        weights: [f32; 4],
        x: &[V],
        inverse: &[f32],
        reach: f32,
    ) -> Option<Contact<V>> {
        // Threads that touch with their ends are for the particles there, and what
        // several triangles have in common is for one of them.
        let elsewhere = if self.threads {
            weights.contains(&0.0)
        } else {
            let touched = (1..4).filter(|&k| weights[k] != 0.0).map(|k| 1u8 << (k - 1)).sum();
            !owns(self.owned, touched)
        };
        let start = weighted(x, self.slots, weights);
        let distance = start.length();
        if elsewhere || !(distance > 0.0 && distance < reach) {
            return None;
        }
        let inverse = self.slots.map(|slot| inverse[slot as usize]);
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
        let motion = weighted(u, self.slots, self.weights);
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
        let change = self.n * stopped - rubbed;
        for (slot, share) in self.slots.into_iter().zip(self.shares) {
            u[slot as usize] += change * share;
        }
        let shift = recovery * (depth - stopped);
        if shift > 0.0 {
            for (slot, share) in self.slots.into_iter().zip(self.shares) {
                x[slot as usize] += self.n * (shift * share);
            }
        }
        depth
    }
}

#[inline(always)]
fn weighted<V: Vector>(x: &[V], [a, b, c, d]: [u32; 4], [p, q, r, s]: [f32; 4]) -> V {
    x[a as usize] * p + x[b as usize] * q + x[c as usize] * r + x[d as usize] * s
}
