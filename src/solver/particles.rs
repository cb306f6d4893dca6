//! The particles of one body: a structure of arrays with stable ids.

use core::fmt;

use super::error::FluidError;
use super::sampling::FluidShape;
use super::vector::Vector;

/// Names a particle of one body for as long as it lives.
///
/// A removed particle's slot is used again with another generation, so an old
/// id never names a new particle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "scene", derive(serde::Serialize, serde::Deserialize))]
pub struct ParticleId {
    slot: u32,
    generation: u32,
}

impl ParticleId {
    /// Its number among the particles of its body; one that is removed leaves
    /// its number to a new one.
    pub fn slot(self) -> u32 {
        self.slot
    }
}

impl fmt::Display for ParticleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "particle {}v{}", self.slot, self.generation)
    }
}

/// Where a slot's particle is.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "scene", derive(serde::Serialize, serde::Deserialize))]
struct Slot {
    generation: u32,
    /// Index into the arrays, or `VACANT`.
    index: u32,
}

const VACANT: u32 = u32::MAX;

/// The particles of one fluid body.
///
/// The order of the arrays never changes under the user: a new particle comes
/// last, and a removed one closes the gap. Positions and velocities may be
/// edited at any time between two steps; the other arrays are results, and
/// state that the next step starts from.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "scene", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "scene",
    serde(try_from = "StoredParticles<V>", bound(deserialize = "V: serde::Deserialize<'de>"))
)]
pub struct FluidParticles<V> {
    positions: Vec<V>,
    velocities: Vec<V>,
    pub(crate) results: Vec<ParticleResult>,
    ids: Vec<ParticleId>,
    slots: Vec<Slot>,
    free: Vec<u32>,
}

/// [`FluidParticles`] as read from somewhere, where nothing says yet that the
/// arrays fit together.
#[cfg(feature = "scene")]
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredParticles<V> {
    positions: Vec<V>,
    velocities: Vec<V>,
    results: Vec<ParticleResult>,
    ids: Vec<ParticleId>,
    slots: Vec<Slot>,
    free: Vec<u32>,
}

#[cfg(feature = "scene")]
impl<V> TryFrom<StoredParticles<V>> for FluidParticles<V> {
    type Error = FluidError;

    fn try_from(stored: StoredParticles<V>) -> Result<Self, FluidError> {
        let StoredParticles { positions, velocities, results, ids, slots, free } = stored;
        for (name, len) in [
            ("positions", positions.len()),
            ("velocities", velocities.len()),
            ("results", results.len()),
        ] {
            if len != ids.len() {
                let allowed = format_args!("{} entries, one for each id", ids.len()).to_string();
                return Err(FluidError::parameter(name, len, allowed));
            }
        }
        let named = ids.iter().enumerate().all(|(index, id)| {
            let slot = slots.get(id.slot as usize);
            slot.is_some_and(|slot| {
                slot.generation == id.generation && slot.index as usize == index
            })
        });
        if !named {
            return Err(FluidError::parameter("ids", ids.len(), "ids that their slots point to"));
        }
        let mut vacant: Vec<bool> = slots.iter().map(|slot| slot.index == VACANT).collect();
        let listed = free.iter().all(|&slot| {
            vacant.get_mut(slot as usize).is_some_and(|vacant| core::mem::replace(vacant, false))
        });
        if !listed || ids.len() + free.len() != slots.len() {
            return Err(FluidError::parameter("free", free.len(), "each vacant slot once"));
        }
        Ok(Self { positions, velocities, results, ids, slots, free })
    }
}

/// What a step leaves behind for one particle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "scene", derive(serde::Serialize, serde::Deserialize))]
pub struct ParticleResult {
    /// Density in kg/m³ (kg/m² in 2D).
    pub density: f32,
    /// Pressure of the density solve times dt², in Pa s²: its next warm start.
    pub density_impulse: f32,
    /// Pressure of the divergence solve times dt, in Pa s: its next warm start.
    pub divergence_impulse: f32,
    /// Pressure of the density solve in Pa.
    pub density_pressure: f32,
    /// Pressure of the divergence solve in Pa.
    pub divergence_pressure: f32,
    /// Number of neighbours, boundary samples included.
    pub neighbors: u32,
}

impl ParticleResult {
    /// Pressure in Pa: the sum of both solves' pressures.
    pub fn pressure(&self) -> f32 {
        self.density_pressure + self.divergence_pressure
    }
}

impl<V> Default for FluidParticles<V> {
    fn default() -> Self {
        Self {
            positions: Vec::new(),
            velocities: Vec::new(),
            results: Vec::new(),
            ids: Vec::new(),
            slots: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<V: Vector> FluidParticles<V> {
    /// A body without particles.
    pub fn new() -> Self {
        Self::default()
    }

    /// Particles at rest at `positions` in metres.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for the first position that is not finite.
    pub fn from_positions(positions: impl IntoIterator<Item = V>) -> Result<Self, FluidError> {
        let mut particles = Self::default();
        for position in positions {
            particles.spawn(position, V::ZERO)?;
        }
        Ok(particles)
    }

    /// Particles at rest that fill a shape, for a world of `particle_radius` metres.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for an impossible shape.
    pub fn fill(shape: &FluidShape<V>, particle_radius: f32) -> Result<Self, FluidError> {
        Self::from_positions(shape.positions(particle_radius)?)
    }

    /// Adds a particle behind the others: position in metres, velocity in m/s.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] if either is not finite.
    pub fn spawn(&mut self, position: V, velocity: V) -> Result<ParticleId, FluidError> {
        for (name, value) in [("position", position), ("velocity", velocity)] {
            if !value.is_finite() {
                return Err(FluidError::parameter(name, value, "finite components"));
            }
        }
        let index = self.len() as u32;
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot { generation: 0, index: VACANT });
            self.slots.len() as u32 - 1
        });
        let entry = &mut self.slots[slot as usize];
        entry.index = index;
        let id = ParticleId { slot, generation: entry.generation };
        self.positions.push(position);
        self.velocities.push(velocity);
        self.results.push(ParticleResult::default());
        self.ids.push(id);
        Ok(id)
    }

    /// Removes a particle; those behind it move up by one.
    ///
    /// Costs a pass over the arrays: use [`FluidParticles::retain`] for many.
    ///
    /// # Errors
    /// [`FluidError::StaleParticle`] if `id` names no particle of this body.
    pub fn remove(&mut self, id: ParticleId) -> Result<(), FluidError> {
        let index = self.index_of(id)?;
        self.retain(|particle| particle != index);
        Ok(())
    }

    /// Keeps the particles for whose index `keep` is true, in their order.
    pub fn retain(&mut self, mut keep: impl FnMut(usize) -> bool) {
        let mut kept = 0;
        for index in 0..self.len() {
            let id = self.ids[index];
            let slot = &mut self.slots[id.slot as usize];
            if keep(index) {
                slot.index = kept as u32;
                self.positions[kept] = self.positions[index];
                self.velocities[kept] = self.velocities[index];
                self.results[kept] = self.results[index];
                self.ids[kept] = id;
                kept += 1;
            } else {
                slot.index = VACANT;
                slot.generation = slot.generation.wrapping_add(1);
                self.free.push(id.slot);
            }
        }
        self.positions.truncate(kept);
        self.velocities.truncate(kept);
        self.results.truncate(kept);
        self.ids.truncate(kept);
    }

    /// Removes all particles; their ids are stale from now on.
    pub fn clear(&mut self) {
        self.retain(|_| false);
    }

    /// Number of particles.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// True if there is no particle.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// Index of a particle in the arrays, until one before it is removed.
    ///
    /// # Errors
    /// [`FluidError::StaleParticle`] if `id` names no particle of this body.
    pub fn index_of(&self, id: ParticleId) -> Result<usize, FluidError> {
        match self.slots.get(id.slot as usize) {
            Some(slot) if slot.generation == id.generation && slot.index != VACANT => {
                Ok(slot.index as usize)
            }
            _ => Err(FluidError::StaleParticle(id)),
        }
    }

    /// Ids, in the order of the arrays.
    pub fn ids(&self) -> &[ParticleId] {
        &self.ids
    }

    /// Positions in metres.
    pub fn positions(&self) -> &[V] {
        &self.positions
    }

    /// Positions in metres. One that is not finite at the next step removes its particle.
    pub fn positions_mut(&mut self) -> &mut [V] {
        &mut self.positions
    }

    /// Velocities in m/s.
    pub fn velocities(&self) -> &[V] {
        &self.velocities
    }

    /// Velocities in m/s. One that is not finite at the next step removes its particle.
    pub fn velocities_mut(&mut self) -> &mut [V] {
        &mut self.velocities
    }

    /// Density, pressure and warm start of each particle, as the last step left them.
    pub fn results(&self) -> &[ParticleResult] {
        &self.results
    }

    /// Overwrites the warm start, for a state that was stored elsewhere.
    pub fn results_mut(&mut self) -> &mut [ParticleResult] {
        &mut self.results
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy_math::Vec2;

    fn row(count: usize) -> FluidParticles<Vec2> {
        FluidParticles::from_positions((0..count).map(|i| Vec2::new(i as f32, 0.0))).unwrap()
    }

    #[test]
    fn ids_outlive_the_removal_of_others_and_keep_the_order() {
        let mut particles = row(5);
        let ids = particles.ids().to_vec();
        particles.remove(ids[0]).unwrap();
        particles.remove(ids[2]).unwrap();
        let xs: Vec<f32> = particles.positions().iter().map(|p| p.x).collect();
        assert_eq!(xs, [1.0, 3.0, 4.0]);
        assert_eq!(particles.index_of(ids[3]), Ok(1));
        assert_eq!(particles.remove(ids[0]), Err(FluidError::StaleParticle(ids[0])));
    }

    #[test]
    fn a_reused_slot_has_a_new_id() {
        let mut particles = row(2);
        let old = particles.ids()[1];
        particles.remove(old).unwrap();
        let new = particles.spawn(Vec2::ONE, Vec2::ZERO).unwrap();
        assert_ne!(old, new);
        assert!(particles.index_of(old).is_err());
        assert_eq!(particles.index_of(new), Ok(1));
    }

    #[test]
    fn non_finite_input_is_refused_and_changes_nothing() {
        let mut particles = row(1);
        for bad in [f32::NAN, f32::INFINITY] {
            let error = particles.spawn(Vec2::new(bad, 0.0), Vec2::ZERO).unwrap_err();
            assert!(error.to_string().starts_with("position is"), "{error}");
            assert!(particles.spawn(Vec2::ZERO, Vec2::new(0.0, bad)).is_err());
        }
        assert_eq!(particles.len(), 1);
        assert!(particles.spawn(Vec2::new(f32::MAX, 0.0), Vec2::ZERO).is_ok());
    }
}
