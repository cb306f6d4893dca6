//! Fluid and cloth push each other.
//!
//! Samples all over a cloth take part in the pressure solves as particles with
//! the cloth's inertia (see [`sph::membrane`](super::sph)), so that a light
//! cloth gives way and a heavy one does not, without a factor to tune. What the
//! fluid knows nothing of is what holds the cloth: a taut sheet must not be
//! pushed along as if it were free. So each particle of the cloth remembers
//! what part of a push it yielded to, and the fluid's next solve goes by that.
//!
//! While a cloth answers a push, the fluid that presses on it moves with it: the
//! constraints act on both masses. That keeps the loads of water tens of times
//! heavier than the cloth within what the constraint solver converges for.
//! All of it exchanges momentum and makes none.

mod skin;

use crate::solver::cloth::{Cloth, ClothLoad};
use crate::solver::sph::FluidWorld;
use crate::solver::sph::membrane::{MembraneContact, MembraneSample};
use crate::solver::vector::Vector;
use skin::Skin;

/// Impulse on a particle of a cloth from which on all fluid beside it moves with
/// it, over the weight of that fluid.
const PRESSING: f32 = 0.02;

/// Names a cloth for as long as it is there; the ECS layer uses its entity's bits.
pub(crate) type ClothKey = u64;

/// What a fluid and the cloths in it exchange.
#[derive(Debug)]
pub(crate) struct Coupling<V: Vector> {
    members: Vec<Member<V>>,
    /// Samples of all members.
    samples: Vec<MembraneSample<V>>,
    contacts: Vec<MembraneContact>,
    totals: Vec<f32>,
}

/// A cloth that fluid can reach.
#[derive(Debug)]
struct Member<V: Vector> {
    key: ClothKey,
    skin: Skin,
    load: ClothLoad<V>,
    /// Its first sample, and one past its last; none while it is away from the fluid.
    first: usize,
    end: usize,
    /// Momentum in N s of the fluid that moves with each particle.
    momenta: Vec<V>,
    /// Part of the fluid beside each particle that moves with it.
    parts: Vec<f32>,
    seen: bool,
}

impl<V: Vector> Default for Coupling<V> {
    fn default() -> Self {
        Self { members: Vec::new(), samples: Vec::new(), contacts: Vec::new(), totals: Vec::new() }
    }
}

impl<V: Vector> Coupling<V> {
    /// Puts the cloths where they are into the fluid's world. Where there is no
    /// fluid within reach of a cloth, it is left out.
    pub(crate) fn immerse<'a>(
        &mut self,
        world: &mut FluidWorld<V>,
        cloths: impl Iterator<Item = (ClothKey, &'a Cloth<V>)>,
    ) {
        self.samples.clear();
        self.members.iter_mut().for_each(|member| member.seen = false);
        let spacing = world.settings().spacing();
        let margin = world.settings().support_radius();
        let mut cloths = cloths.peekable();
        // Not looked for where nobody asks.
        let fluid = cloths.peek().and_then(|_| world.bounds());
        for (key, cloth) in cloths {
            let (low, high) = cloth.bounds();
            let reached = fluid.is_some_and(|(from, to)| {
                let (from, to) = (from - V::splat(margin), to + V::splat(margin));
                from.max(low) == from.max(low).min(to.min(high))
            });
            let place = self.members.iter().position(|member| member.key == key);
            if !reached {
                if let Some(place) = place {
                    let member = &mut self.members[place];
                    (member.first, member.end, member.seen) = (0, 0, true);
                }
                continue;
            }
            let place = place.unwrap_or_else(|| {
                self.members.push(Member::new(key, cloth, spacing));
                self.members.len() - 1
            });
            let member = &mut self.members[place];
            if !member.skin.fits(cloth, spacing) {
                *member = Member::new(key, cloth, spacing);
            }
            member.seen = true;
            member.first = self.samples.len();
            self.samples.extend(member.skin.samples(cloth));
            let placed = &self.samples[member.first..];
            // What cannot be stepped is not there until it is mended.
            if !placed
                .iter()
                .all(|sample| sample.position.is_finite() && sample.velocity.is_finite())
            {
                self.samples.truncate(member.first);
            }
            member.end = self.samples.len();
        }
        self.members.retain(|member| member.seen);
        world.place_membranes(&self.samples);
    }

    /// Gathers what the density solve did to the cloths since they were placed.
    /// Call [`Coupling::load`] for each cloth, then [`Coupling::give_back`].
    pub(crate) fn gather(&mut self, world: &FluidWorld<V>) {
        if self.samples.is_empty() {
            return;
        }
        world.membrane_contacts(&mut self.totals, &mut self.contacts);
        for member in &mut self.members {
            let count = member.momenta.len();
            member.load.clear(count);
            member.momenta.fill(V::ZERO);
            let Member { skin, load, first, end, .. } = member;
            for (sample, &impulse) in world.membrane_impulses()[*first..*end].iter().enumerate() {
                for &(particle, weight) in skin.of(sample) {
                    load.impulses[particle as usize] += impulse * weight;
                }
            }
        }
        for contact in &self.contacts {
            let sample = contact.sample as usize;
            let Some(member) = self.members.iter_mut().find(|member| member.has(sample)) else {
                continue;
            };
            let (mass, velocity) = world.mass_and_velocity(contact.particle);
            for &(particle, weight) in member.skin.of(sample - member.first) {
                let mass = mass * contact.share * weight;
                member.load.added_masses[particle as usize] += mass;
                member.momenta[particle as usize] += velocity * mass;
            }
        }
        let weight = world.settings().gravity.length() * world.last_step();
        self.members.iter_mut().for_each(|member| member.let_go(weight));
    }

    /// The load of a cloth, if fluid pushes it.
    pub(crate) fn load(&mut self, key: ClothKey, cloth: &Cloth<V>) -> Option<&mut ClothLoad<V>> {
        let member = self.members.iter_mut().find(|member| member.key == key)?;
        let fits = member.momenta.len() == cloth.len();
        if member.first == member.end || !fits || !member.load.pushes() {
            return None;
        }
        member.share_excess(cloth);
        Some(&mut member.load)
    }

    /// Moves the fluid that goes with the cloths by the answers in their loads.
    pub(crate) fn give_back(&mut self, world: &mut FluidWorld<V>) {
        for contact in &self.contacts {
            let sample = contact.sample as usize;
            let Some(member) = self.members.iter().find(|member| member.has(sample)) else {
                continue;
            };
            let mut change = V::ZERO;
            for &(particle, weight) in member.skin.of(sample - member.first) {
                let particle = particle as usize;
                change += member.load.responses[particle] * (weight * member.parts[particle]);
            }
            world.add_velocity(contact.particle, change * contact.share);
        }
        self.contacts.clear();
    }
}

impl<V: Vector> Member<V> {
    fn new(key: ClothKey, cloth: &Cloth<V>, spacing: f32) -> Self {
        Self {
            key,
            skin: Skin::new(cloth, spacing),
            load: ClothLoad::default(),
            first: 0,
            end: 0,
            momenta: vec![V::ZERO; cloth.len()],
            parts: vec![0.0; cloth.len()],
            seen: true,
        }
    }

    /// Whether a sample of the world is one of its skin.
    fn has(&self, sample: usize) -> bool {
        (self.first..self.end).contains(&sample)
    }

    /// Lets go of fluid that does not press on a particle of the cloth, as drops
    /// below it; `weight` is the velocity that gravity adds in the step.
    fn let_go(&mut self, weight: f32) {
        let ClothLoad { impulses, added_masses, .. } = &mut self.load;
        for (particle, added) in added_masses.iter_mut().enumerate() {
            let pressed = impulses[particle].length();
            let full = PRESSING * *added * weight;
            let part = if pressed > 0.0 { (pressed / full).min(1.0) } else { 0.0 };
            self.parts[particle] = part;
            *added *= part;
            self.momenta[particle] *= part;
        }
    }

    /// Leaves with the fluid the part of each push by which a particle would
    /// outrun the fluid that gave it: there is nothing that could pull it on.
    fn share_excess(&mut self, cloth: &Cloth<V>) {
        let ClothLoad { impulses, added_masses, responses, .. } = &mut self.load;
        for particle in 0..impulses.len() {
            let (impulse, added) = (impulses[particle], added_masses[particle]);
            let (pushed, mass) = (impulse.length(), cloth.masses()[particle]);
            if added <= 0.0 || pushed <= 0.0 || cloth.inverse_mass(particle) == 0.0 {
                continue;
            }
            let along = impulse * (1.0 / pushed);
            let fluid = self.momenta[particle] * (1.0 / added);
            let own = cloth.velocities()[particle] + impulse * (1.0 / mass);
            let ahead = (own - fluid).dot(along);
            if ahead > 0.0 {
                let excess = (ahead * mass * added / (mass + added)).min(pushed);
                impulses[particle] -= along * excess;
                responses[particle] = along * (excess / added);
            }
        }
    }
}
