//! Bodies of fluid, in and out of the solver.

use core::marker::PhantomData;

use bevy::ecs::component::{Component, Mutable, StorageType};
use bevy::ecs::entity::EntityHashSet;
use bevy::ecs::system::SystemParam;
use bevy::prelude::*;

use crate::dimension::Dimension;
use crate::plugin::FluidWorldOf;
use crate::settings::SettingsInForce;
use crate::solver::error::FluidError;
use crate::solver::particles::{FluidParticles, ParticleId};
use crate::solver::settings::FluidMaterial;
use crate::time::Fluid;

/// A body of fluid: one entity, whose particles are the arrays of its
/// [`FluidParticles`]. Spelt [`Fluid2d`](crate::Fluid2d) or [`Fluid3d`](crate::Fluid3d).
///
/// Particles live in world space: the entity's transform, if it has one, does
/// not move them. A material outside its range is refused with a
/// [`FluidRefused`] message, and the body stands still until it is corrected.
#[derive(Component, Clone, Debug, PartialEq, Reflect)]
#[reflect(Component)]
#[require(FluidParticles<V>, TickStart<V>)]
pub struct FluidOf<V: Dimension> {
    /// What the fluid is made of.
    pub material: FluidMaterial,
    #[reflect(ignore)]
    dimension: PhantomData<V>,
}

impl<V: Dimension> FluidOf<V> {
    /// A body of `material`.
    pub fn new(material: FluidMaterial) -> Self {
        Self { material, dimension: PhantomData }
    }
}

impl<V: Dimension> Default for FluidOf<V> {
    /// Water.
    fn default() -> Self {
        Self::new(FluidMaterial::default())
    }
}

impl<V: Dimension> Component for FluidParticles<V> {
    const STORAGE_TYPE: StorageType = StorageType::Table;
    type Mutability = Mutable;
}

/// Positions at the start of the last tick that had a step, to draw particles
/// between it and the present. Every fluid has one.
#[derive(Component, Clone, Debug, Default)]
pub struct TickStart<V: Dimension>(Vec<V>);

impl<V: Dimension> TickStart<V> {
    /// Where to draw a particle, in metres, `part` of the way through the last
    /// tick, see [`Fluid::interpolation`]. One that jumped farther than `reach`
    /// metres, or of a body whose particles changed in number, is drawn where it
    /// is. None if there is no particle `index`.
    pub fn drawn(
        &self,
        particles: &FluidParticles<V>,
        index: usize,
        part: f32,
        reach: f32,
    ) -> Option<V> {
        let end = *particles.positions().get(index)?;
        let start = *self.0.get(index).filter(|_| self.0.len() == particles.len()).unwrap_or(&end);
        let way = end - start;
        let near = way.length_squared() < reach * reach;
        Some(if near { start + way * part } else { end })
    }
}

/// Remembers where the particles are before a tick's steps.
pub(crate) fn remember<V: Dimension>(
    clock: Res<Time<Fluid>>,
    mut fluids: Query<(&FluidParticles<V>, &mut TickStart<V>)>,
) {
    if clock.context().due() == 0 {
        return;
    }
    for (particles, mut start) in &mut fluids {
        start.0.clear();
        start.0.extend_from_slice(particles.positions());
    }
}

/// A particle was removed because its position or velocity was not finite, or so
/// high that it would cross ten thousand support radii in a step. The others go on.
#[derive(Message, Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParticleRemoved {
    /// The fluid it belonged to.
    pub fluid: Entity,
    /// The id it had.
    pub id: ParticleId,
}

/// A value was refused; what was valid before stays in force.
#[derive(Message, Clone, Debug, PartialEq)]
pub struct FluidRefused {
    /// The entity it stands on, or none for [`FluidSettings`](crate::FluidSettings).
    pub entity: Option<Entity>,
    /// Name, value and allowed range.
    pub error: FluidError,
}

/// Entities that were refused, each reported once until it has been valid again.
#[derive(SystemParam)]
pub(crate) struct Refusals<'w, 's> {
    standing: Local<'s, EntityHashSet>,
    messages: MessageWriter<'w, FluidRefused>,
}

impl Refusals<'_, '_> {
    /// Notes what became of an entity.
    pub fn note(&mut self, entity: Entity, result: Result<(), FluidError>) {
        let Err(error) = result else {
            self.standing.remove(&entity);
            return;
        };
        if self.standing.insert(entity) {
            warn!("{entity} refused: {error}");
            self.messages.write(FluidRefused { entity: Some(entity), error });
        }
    }
}

/// Gathers the bodies of one dimension into its world.
pub(crate) fn gather<V: Dimension>(
    mut world: ResMut<FluidWorldOf<V>>,
    clock: Res<Time<Fluid>>,
    settings: Res<SettingsInForce>,
    fluids: Query<(Entity, Ref<FluidOf<V>>, &FluidParticles<V>)>,
    mut order: Local<Vec<Entity>>,
    mut refused: MessageWriter<FluidRefused>,
) {
    if let Err(error) = world.set_settings(settings.world()) {
        // Settings in force were validated; only a bug in that check leads here.
        error!("fluid settings refused: {error}");
    }
    // The order of a query follows archetypes; that of entities does not change.
    order.clear();
    for (entity, fluid, _) in &fluids {
        match fluid.material.validate() {
            Ok(()) => order.push(entity),
            Err(error) if fluid.is_changed() => {
                warn!("fluid {entity} stands still: {error}");
                refused.write(FluidRefused { entity: Some(entity), error });
            }
            Err(_) => {}
        }
    }
    order.sort_unstable();
    if clock.context().due() == 0 {
        return;
    }
    let bodies = order.iter().filter_map(|&entity| fluids.get(entity).ok());
    let bodies = bodies.map(|(entity, fluid, particles)| {
        (entity.to_bits(), &fluid.into_inner().material, particles)
    });
    if let Err(error) = world.gather(bodies) {
        error!("fluids refused: {error}");
    }
}

/// Hands the results back to the bodies of one dimension.
pub(crate) fn scatter<V: Dimension>(
    mut world: ResMut<FluidWorldOf<V>>,
    clock: Res<Time<Fluid>>,
    mut fluids: Query<(Entity, &mut FluidParticles<V>), With<FluidOf<V>>>,
    mut removed: MessageWriter<ParticleRemoved>,
) {
    if clock.context().due() == 0 {
        return;
    }
    for (entity, mut particles) in &mut fluids {
        // A body that was refused is not in the world and keeps its state.
        let _ = world.scatter(entity.to_bits(), &mut particles);
    }
    for particle in world.removed() {
        if let Some(fluid) = Entity::try_from_bits(particle.body) {
            warn!("{} of fluid {fluid} was not finite or too fast and is removed", particle.id);
            removed.write(ParticleRemoved { fluid, id: particle.id });
        }
    }
    world.clear_removed();
}
