//! Sources and drains in the app.

use bevy::prelude::*;
use bevy::transform::helper::TransformHelper;

use crate::dimension::Dimension;
use crate::fluid::{FluidOf, Refusals};
use crate::plugin::FluidWorldOf;
use crate::settings::SettingsInForce;
use crate::solver::drain::{DrainShape, FluidDrain};
use crate::solver::emitter::{EmittedParticle, EmitterSettings, FluidEmitter};
use crate::solver::error::FluidError;
use crate::solver::particles::FluidParticles;
use crate::time::Fluid;

/// A source that pours particles into a fluid. Spelt [`FluidEmitter2d`](crate::FluidEmitter2d)
/// or [`FluidEmitter3d`](crate::FluidEmitter3d).
///
/// The entity's transform places the opening; a scale moves it and leaves its
/// size. One with a value out of range, or whose fluid is gone, pours nothing and
/// is reported by a [`FluidRefused`](crate::FluidRefused) message.
#[derive(Component, Clone, Debug, PartialEq, Reflect)]
#[reflect(Component)]
#[require(Transform)]
pub struct FluidEmitterOf<V: Dimension> {
    /// The fluid that the particles join.
    pub fluid: Entity,
    /// What it pours, in the entity's own space, and what it has poured so far.
    pub emitter: FluidEmitter<V>,
}

impl<V: Dimension> FluidEmitterOf<V> {
    /// A source of particles of `fluid`.
    pub fn new(fluid: Entity, settings: EmitterSettings<V>) -> Self {
        Self { fluid, emitter: FluidEmitter::new(settings) }
    }
}

/// A region that takes particles of all fluids out of the world. Spelt
/// [`FluidDrain2d`](crate::FluidDrain2d) or [`FluidDrain3d`](crate::FluidDrain3d).
///
/// The entity's transform places it; a box stays along the axes of the world, and
/// a scale does nothing. One with a value out of range takes nothing, with a
/// [`FluidRefused`](crate::FluidRefused) message.
#[derive(Component, Clone, Debug, PartialEq, Reflect)]
#[reflect(Component)]
#[require(Transform)]
pub struct FluidDrainOf<V: Dimension>(pub DrainShape<V>);

impl<V: Dimension> FluidDrainOf<V> {
    /// A drain of this shape around its entity.
    pub fn new(shape: DrainShape<V>) -> Self {
        Self(shape)
    }
}

/// A source's settings where its entity is.
fn placed<V: Dimension>(
    settings: &EmitterSettings<V>,
    transform: &GlobalTransform,
) -> EmitterSettings<V> {
    EmitterSettings {
        position: settings.position.transform(transform),
        direction: V::turned(settings.direction, transform.rotation()),
        ..settings.clone()
    }
}

/// Holds the water before the openings at the speed of the jets.
pub(crate) fn pump<V: Dimension>(
    mut world: ResMut<FluidWorldOf<V>>,
    settings: Res<SettingsInForce>,
    emitters: Query<(Entity, &FluidEmitterOf<V>)>,
    transforms: TransformHelper,
) {
    let radius = V::particle_radius(&settings);
    for (entity, source) in emitters.iter().sort::<Entity>() {
        let transform = transforms.compute_global_transform(entity).unwrap_or_default();
        let mut emitter = source.emitter.clone();
        emitter.settings = placed(&emitter.settings, &transform);
        if let Some(mouth) = emitter.mouth(radius) {
            world.steer(|particle| mouth.velocity_at(particle.position));
        }
    }
}

/// Adds what the sources pour in a step, and takes out what is in the drains.
pub(crate) fn pour<V: Dimension>(
    mut world: ResMut<FluidWorldOf<V>>,
    clock: Res<Time<Fluid>>,
    settings: Res<SettingsInForce>,
    mut emitters: Query<(Entity, &mut FluidEmitterOf<V>)>,
    drains: Query<(Entity, &FluidDrainOf<V>)>,
    mut fluids: Query<(Entity, &FluidOf<V>, &mut FluidParticles<V>)>,
    transforms: TransformHelper,
    mut refusals: Refusals,
) {
    let radius = V::particle_radius(&settings);
    let mut new: Vec<(Entity, EmittedParticle<V>)> = Vec::new();
    // The order of a query follows archetypes; that of entities does not change.
    for (entity, mut source) in emitters.iter_mut().sort::<Entity>() {
        let fluid = source.fluid;
        if !fluids.contains(fluid) {
            let error = FluidError::parameter("fluid", fluid, "an entity with a fluid");
            refusals.note(entity, Err(error));
            continue;
        }
        let transform = transforms.compute_global_transform(entity).unwrap_or_default();
        let settings = placed(&source.emitter.settings, &transform);
        let own = core::mem::replace(&mut source.emitter.settings, settings);
        let present = world.particles().map(|particle| particle.position);
        let before = new.iter().map(|(_, particle)| particle.position);
        let poured = source.emitter.step(clock.context().dt(), radius, present.chain(before));
        source.emitter.settings = own;
        refusals.note(
            entity,
            poured.map(|poured| new.extend(poured.into_iter().map(|particle| (fluid, particle)))),
        );
    }
    let mut open: Vec<FluidDrain<V>> = Vec::new();
    for (entity, drain) in drains.iter().sort::<Entity>() {
        let transform = transforms.compute_global_transform(entity).unwrap_or_default();
        let drain = FluidDrain { shape: drain.0, position: V::ZERO.transform(&transform) };
        let valid = drain.validate();
        if valid.is_ok() {
            open.push(drain);
        }
        refusals.note(entity, valid);
    }
    let drained = |position: V| open.iter().any(|drain| drain.contains(position));
    if new.is_empty() && !world.particles().any(|particle| drained(particle.position)) {
        return;
    }
    for (entity, _, mut particles) in &mut fluids {
        // A body that was refused is not in the world and keeps its state.
        let _ = world.scatter(entity.to_bits(), &mut particles);
        let gone: Vec<bool> = particles.positions().iter().map(|&x| drained(x)).collect();
        particles.retain(|particle| !gone[particle]);
    }
    for (fluid, particle) in new {
        if let Ok((entity, _, mut particles)) = fluids.get_mut(fluid) {
            let spawned = particles.spawn(particle.position, particle.velocity);
            refusals.note(entity, spawned.map(|_| ()));
        }
    }
    let mut order: Vec<Entity> = fluids
        .iter()
        .filter(|(_, fluid, _)| fluid.material.validate().is_ok())
        .map(|(entity, ..)| entity)
        .collect();
    order.sort_unstable();
    let bodies = order.iter().filter_map(|&entity| fluids.get(entity).ok());
    let bodies =
        bodies.map(|(entity, fluid, particles)| (entity.to_bits(), &fluid.material, particles));
    if let Err(error) = world.gather(bodies) {
        error!("fluids refused: {error}");
    }
}
