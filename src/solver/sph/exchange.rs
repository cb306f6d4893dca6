//! Bodies in and out of the packed world.

use super::packed::GONE;
use super::{Body, FluidWorld};
use crate::solver::error::FluidError;
use crate::solver::parallel::Threads;
use crate::solver::particles::{FluidParticles, ParticleId};
use crate::solver::settings::FluidMaterial;
use crate::solver::vector::Vector;

/// Names a body in a world; the ECS layer uses its entity's bits.
pub type BodyKey = u64;

/// Support radii per step beyond which a particle is taken out.
const RUNAWAY_SUPPORTS: f32 = 1e4;

/// A particle that was taken out because its position or velocity was not
/// finite, or so high that it would cross ten thousand support radii in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemovedParticle {
    /// Body it belonged to.
    pub body: BodyKey,
    /// Its id in that body.
    pub id: ParticleId,
}

/// A warm start that a user may have overwritten with anything.
fn finite_or_zero(impulse: f32) -> f32 {
    if impulse.is_finite() { impulse } else { 0.0 }
}

impl<V: Vector> FluidWorld<V> {
    /// Takes in all bodies, in an order that the caller keeps the same.
    ///
    /// Compares what it reads with what the world holds: whatever was edited,
    /// by whatever way, is taken over, and a changed position or particle makes
    /// the next stage search anew. A particle that is not finite is left out and
    /// listed in [`FluidWorld::removed`].
    ///
    /// # Errors
    /// [`FluidError::Parameter`] if a material is out of range; the world stays
    /// as it is then.
    pub fn gather<'a>(
        &mut self,
        bodies: impl Iterator<Item = (BodyKey, &'a FluidMaterial, &'a FluidParticles<V>)> + Clone,
    ) -> Result<(), FluidError> {
        for (index, (_, material, _)) in bodies.clone().enumerate() {
            material.validate().map_err(|error| error.within(format_args!("fluids[{index}]")))?;
        }
        if self.same_structure(bodies.clone()) {
            self.update(bodies);
        } else {
            self.rebuild(bodies);
        }
        Ok(())
    }

    /// Hands the particles of one body back, results included, and drops from
    /// `particles` those that were removed from the world.
    ///
    /// # Errors
    /// [`FluidError::UnknownBody`] if the last gather saw no such body.
    pub fn scatter(
        &self,
        key: BodyKey,
        particles: &mut FluidParticles<V>,
    ) -> Result<(), FluidError> {
        let body = self.fluid_bodies().find(|body| body.key == key).ok_or_else(|| {
            FluidError::UnknownBody { index: key as usize, count: self.fluid_bodies().count() }
        })?;
        if self.removed.iter().any(|removed| removed.body == key) {
            let mut doomed = vec![false; particles.len()];
            for removed in self.removed.iter().filter(|removed| removed.body == key) {
                if let Ok(index) = particles.index_of(removed.id) {
                    doomed[index] = true;
                }
            }
            particles.retain(|index| !doomed[index]);
        }
        let dt = self.stats.dt;
        let source = &self.particles;
        for (&id, &packed) in
            self.ids[body.start..body.end].iter().zip(&self.packed_of[body.start..body.end])
        {
            if packed == GONE {
                continue;
            }
            let Ok(index) = particles.index_of(id) else {
                continue;
            };
            let packed = packed as usize;
            particles.positions_mut()[index] = source.positions[packed];
            particles.velocities_mut()[index] = source.velocities[packed];
            let result = &mut particles.results_mut()[index];
            result.density = source.densities[packed] * body.material.rest_density;
            result.density_impulse = source.density_impulses[packed];
            result.divergence_impulse = source.divergence_impulses[packed];
            result.neighbors = source.neighbor_counts[packed];
            // Before the first solve after a gather the old pressures stand.
            if dt > 0.0 {
                result.density_pressure = result.density_impulse / (dt * dt);
                result.divergence_pressure = result.divergence_impulse / dt;
            }
        }
        Ok(())
    }

    /// Particles taken out since [`FluidWorld::clear_removed`] because they were not finite or too fast.
    pub fn removed(&self) -> &[RemovedParticle] {
        &self.removed
    }

    /// Forgets the removed particles, once every body was scattered and they were reported.
    pub fn clear_removed(&mut self) {
        self.removed.clear();
    }

    /// Takes out particles that would cross ten thousand support radii in a step
    /// of `dt` seconds: what moves like that is an error of whoever set it, and
    /// a solve with it in would tear the others along.
    pub(super) fn remove_runaways(&mut self, dt: f32) {
        let fastest = RUNAWAY_SUPPORTS * self.settings.support_radius() / dt;
        // What is no number is not below any bound.
        let slow = |velocity: V| velocity.length_squared() < fastest * fastest;
        self.remove_where(|_, velocity| !slow(velocity));
    }

    /// Takes out particles by position and velocity.
    pub(super) fn remove_where(&mut self, doomed: impl Fn(V, V) -> bool) {
        let particles = &self.particles;
        let state = particles.positions.iter().zip(&particles.velocities);
        // All of them, for that is done several at a time.
        let any = state.clone().fold(false, |any, (&x, &v)| any | doomed(x, v));
        if !any {
            return;
        }
        // A sample of a membrane is put back by what it belongs to.
        let fluid = self.ids.len();
        let doomed = |index: usize, position, velocity| {
            (particles.places[index] as usize) < fluid && doomed(position, velocity)
        };
        let mut kept = Vec::with_capacity(particles.positions.len());
        for (index, (&position, &velocity)) in state.enumerate() {
            if doomed(index, position, velocity) {
                let place = particles.places[index] as usize;
                self.packed_of[place] = GONE;
                let body = self.bodies[particles.bodies[index] as usize].key;
                self.removed.push(RemovedParticle { body, id: self.ids[place] });
            } else {
                kept.push(index);
            }
        }
        self.unsorted.take_in_order(particles, kept.len(), |k| kept[k], Threads::Serial);
        self.unsorted.take_derived(&mut self.particles);
        core::mem::swap(&mut self.particles, &mut self.unsorted);
        // Until the next search, too, a particle is found where it moved up to.
        for (index, &place) in self.particles.places.iter().enumerate() {
            self.packed_of[place as usize] = index as u32;
        }
        self.fresh = false;
    }

    fn same_structure<'a>(
        &self,
        bodies: impl Iterator<Item = (BodyKey, &'a FluidMaterial, &'a FluidParticles<V>)>,
    ) -> bool {
        let mut known = self.fluid_bodies();
        for (key, _, particles) in bodies {
            let same = known.next().is_some_and(|body| {
                body.key == key && self.ids[body.start..body.end] == *particles.ids()
            });
            let finite = |vectors: &[V]| vectors.iter().all(|vector| vector.is_finite());
            if !same || !finite(particles.positions()) || !finite(particles.velocities()) {
                return false;
            }
        }
        known.next().is_none() && !self.packed_of.contains(&GONE)
    }

    fn update<'a>(
        &mut self,
        bodies: impl Iterator<Item = (BodyKey, &'a FluidMaterial, &'a FluidParticles<V>)>,
    ) {
        for (body, (_, material, particles)) in self.bodies.iter_mut().zip(bodies) {
            let packed_of = &self.packed_of[body.start..body.end];
            if body.material.rest_density != material.rest_density {
                for &packed in packed_of {
                    self.particles.lightness[packed as usize] = 1.0 / material.rest_density;
                }
                self.fresh = false;
            }
            if body.material != *material {
                body.material.clone_from(material);
            }
            for (index, &packed) in packed_of.iter().enumerate() {
                let packed = packed as usize;
                let position = particles.positions()[index];
                if self.particles.positions[packed] != position {
                    self.particles.positions[packed] = position;
                    self.fresh = false;
                }
                self.particles.velocities[packed] = particles.velocities()[index];
                let result = &particles.results()[index];
                self.particles.density_impulses[packed] = finite_or_zero(result.density_impulse);
                self.particles.divergence_impulses[packed] =
                    finite_or_zero(result.divergence_impulse);
            }
        }
    }

    fn rebuild<'a>(
        &mut self,
        bodies: impl Iterator<Item = (BodyKey, &'a FluidMaterial, &'a FluidParticles<V>)> + Clone,
    ) {
        self.bodies.clear();
        self.ids.clear();
        self.particles.clear();
        self.fresh = false;
        let count = bodies.clone().map(|(_, _, particles)| particles.len()).sum();
        self.particles.reserve(count);
        for (key, material, particles) in bodies {
            let start = self.ids.len();
            for (index, &id) in particles.ids().iter().enumerate() {
                let (position, velocity) =
                    (particles.positions()[index], particles.velocities()[index]);
                if !position.is_finite() || !velocity.is_finite() {
                    self.removed.push(RemovedParticle { body: key, id });
                    continue;
                }
                let result = &particles.results()[index];
                let packed = &mut self.particles;
                packed.places.push(self.ids.len() as u32);
                packed.bodies.push(self.bodies.len() as u32);
                packed.positions.push(position);
                packed.velocities.push(velocity);
                packed.lightness.push(1.0 / material.rest_density);
                packed.density_impulses.push(finite_or_zero(result.density_impulse));
                packed.divergence_impulses.push(finite_or_zero(result.divergence_impulse));
                self.ids.push(id);
            }
            let end = self.ids.len();
            let material = material.clone();
            self.bodies.push(Body { key, material, start, end, membrane: false });
        }
        self.particles.resize_derived(self.ids.len());
        self.packed_of.clear();
        self.packed_of.extend(0..self.ids.len() as u32);
        self.append_membranes();
    }
}
