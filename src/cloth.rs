//! Cloth in the app: a solver's [`Cloth`] as a component, what holds it and what it meets.

use bevy::ecs::component::{Component, Mutable, StorageType};
use bevy::prelude::*;
use bevy::transform::helper::TransformHelper;

use crate::boundary::BoundaryOf;
use crate::dimension::Dimension;
use crate::fan::Fans;
use crate::fluid::Refusals;
use crate::motion::Motions;
use crate::plugin::FluidWorldOf;
use crate::settings::SettingsInForce;
use crate::smoke::SmokePlace;
use crate::solver::cloth::collision::{Collider, ColliderShape};
use crate::solver::cloth::{AirFlow, Cloth, Surroundings};
use crate::solver::companions::air_of;
use crate::solver::coupling::Coupling;
use crate::solver::smoke::Smoke;
use crate::time::Fluid;

/// A cloth is a component as it is. Its particles live in world space: the
/// entity's transform, if it has one, does not move them. It and the water of
/// the world push each other.
///
/// One that cannot be stepped is refused with a [`FluidRefused`](crate::FluidRefused) message and
/// stands still until it is corrected.
impl<V: Dimension> Component for Cloth<V> {
    const STORAGE_TYPE: StorageType = StorageType::Table;
    type Mutability = Mutable;
}

/// A solid that cloth lies on and slides over, placed by the entity's
/// transform. Spelt [`ClothCollider2d`](crate::ClothCollider2d) or
/// [`ClothCollider3d`](crate::ClothCollider3d).
///
/// Solid boxes, circles and spheres that are boundaries of water stop cloth as
/// they are; this is for the other shapes, and for what water does not meet.
/// One with a value out of range is left out, with a [`FluidRefused`](crate::FluidRefused) message.
#[derive(Component, Clone, Debug, PartialEq, Reflect)]
#[reflect(Component)]
#[require(Transform)]
pub struct ClothColliderOf<V: Dimension>(pub ColliderShape<V>);

impl<V: Dimension> ClothColliderOf<V> {
    /// A solid of a shape.
    pub fn new(shape: ColliderShape<V>) -> Self {
        Self(shape)
    }
}

/// Particles of a cloth that follow other entities.
#[derive(Component, Clone, Debug, Default, PartialEq)]
pub struct ClothAttachments(pub Vec<ClothAttachment>);

/// A particle that follows an entity, as a pin. It is free again when the
/// entity is gone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClothAttachment {
    /// Index of the particle.
    pub particle: u32,
    /// The entity, which has a transform.
    pub entity: Entity,
    /// Where the particle is in the entity's own space, in metres.
    pub offset: Vec3,
}

/// The solids of one dimension, as cloth meets them in a tick.
#[derive(Resource, Debug, Default)]
pub(crate) struct Colliders<V: Dimension>(Vec<Collider<V>>);

/// Gathers the solids, with the velocities that they had since the last tick.
pub(crate) fn gather_colliders<V: Dimension>(
    mut colliders: ResMut<Colliders<V>>,
    clock: Res<Time<Fluid>>,
    boundaries: Query<(Entity, &BoundaryOf<V>)>,
    own: Query<(Entity, &ClothColliderOf<V>)>,
    transforms: TransformHelper,
    mut motions: Local<Motions>,
    mut refusals: Refusals,
) {
    if clock.context().due() == 0 {
        return;
    }
    colliders.0.clear();
    let tick = clock.context().due() as f32 * clock.context().dt();
    let solids = boundaries.iter().filter_map(|(entity, boundary)| {
        ColliderShape::of_solid(boundary.shape()).map(|shape| (entity, shape))
    });
    let own = own.iter().map(|(entity, collider)| (entity, collider.0.clone()));
    let mut found: Vec<(Entity, ColliderShape<V>)> = solids.chain(own).collect();
    // The order of a query follows archetypes; that of entities does not change.
    found.sort_by_key(|(entity, _)| *entity);
    motions.retain(|entity| found.binary_search_by_key(&entity, |(other, _)| *other).is_ok());
    for (entity, shape) in found {
        let transform = transforms.compute_global_transform(entity).unwrap_or_default();
        let motion = motions.observe(entity, &transform, tick);
        let vector = |value: Vec3| V::from_array(value.to_array());
        let mut collider = Collider::new(scaled(shape, motion.scale), vector(motion.position));
        let axes = [Vec3::X, Vec3::Y, if V::DIM == 3 { Vec3::Z } else { Vec3::ZERO }];
        collider.axes = axes.map(|axis| vector(motion.rotation * axis));
        collider.velocity = vector(motion.velocity);
        collider.angular_velocity = motion.angular_velocity.to_array();
        let valid = collider.validate();
        if valid.is_ok() {
            colliders.0.push(collider);
        }
        refusals.note(entity, valid);
    }
}

/// A shape of another size. What is round stays round, by the largest scale.
fn scaled<V: Dimension>(shape: ColliderShape<V>, scale: Vec3) -> ColliderShape<V> {
    let widest = scale.abs().max_element();
    match shape {
        ColliderShape::Ball { radius } => ColliderShape::Ball { radius: radius * widest },
        ColliderShape::Capsule { half_length, radius } => ColliderShape::Capsule {
            half_length: half_length * scale.y.abs(),
            radius: radius * widest,
        },
        ColliderShape::Box { half_size } => {
            let half_size = Vec3::from_array(half_size.to_array()) * scale.abs();
            ColliderShape::Box { half_size: V::from_array(half_size.to_array()) }
        }
        ColliderShape::Convex(mut planes) => {
            planes.iter_mut().for_each(|plane| plane.offset *= widest);
            ColliderShape::Convex(planes)
        }
        plane @ ColliderShape::Plane => plane,
    }
}

/// Moves attached particles with their entities.
pub(crate) fn attach<V: Dimension>(
    clock: Res<Time<Fluid>>,
    mut cloths: Query<(Entity, &mut Cloth<V>, &ClothAttachments)>,
    transforms: TransformHelper,
    mut refusals: Refusals,
) {
    if clock.context().due() == 0 {
        return;
    }
    for (entity, mut cloth, attachments) in &mut cloths {
        let mut follow = |attachment: &ClothAttachment| {
            let Ok(transform) = transforms.compute_global_transform(attachment.entity) else {
                cloth.unpin(attachment.particle);
                return Ok(());
            };
            cloth.pin(attachment.particle)?;
            let target = transform.transform_point(attachment.offset);
            cloth.move_pin(attachment.particle, V::from_array(target.to_array()))
        };
        refusals.note(entity, attachments.0.iter().try_for_each(&mut follow));
    }
}

/// What cloths and water of one dimension exchange.
#[derive(Resource, Debug, Default)]
pub(crate) struct ClothCoupling<V: Dimension>(Coupling<V>);

/// Puts the cloths into the water, at the start of a step and when they moved.
pub(crate) fn immerse<V: Dimension>(
    cloths: Query<(Entity, &Cloth<V>)>,
    mut coupling: ResMut<ClothCoupling<V>>,
    mut world: ResMut<FluidWorldOf<V>>,
) {
    // The order of a query follows archetypes; that of entities does not change.
    let cloths = cloths.iter().sort::<Entity>();
    coupling.0.immerse(&mut world, cloths.map(|(entity, cloth)| (entity.to_bits(), cloth)));
}

/// Steps the cloths, under what the density solve did to them.
pub(crate) fn step<V: Dimension>(
    mut cloths: Query<(Entity, &mut Cloth<V>)>,
    mut coupling: ResMut<ClothCoupling<V>>,
    mut world: ResMut<FluidWorldOf<V>>,
    colliders: Res<Colliders<V>>,
    fans: Res<Fans<V>>,
    smokes: Query<(Entity, &Smoke<V>)>,
    transforms: TransformHelper,
    settings: Res<SettingsInForce>,
    clock: Res<Time<Fluid>>,
    mut refusals: Refusals,
) {
    let smokes: Vec<(SmokePlace, &Smoke<V>)> = smokes
        .iter()
        .sort::<Entity>()
        .map(|(entity, smoke)| {
            let transform = transforms.compute_global_transform(entity).unwrap_or_default();
            (SmokePlace::new(&transform), smoke)
        })
        .collect();
    let air = |position: V| {
        let smokes = smokes.iter().filter_map(|(place, smoke)| {
            let flow = smoke.air_at(place.to_local(position))?;
            Some(place.turn_to_world(flow))
        });
        air_of(smokes, &fans, position)
    };
    let still = smokes.is_empty() && fans.is_empty();
    let around = Surroundings {
        gravity: V::from_array(settings.gravity.to_array()),
        wind: V::from_array(settings.wind.to_array()),
        flow: if still { AirFlow::STILL } else { AirFlow::new(&air) },
        colliders: &colliders.0,
    };
    coupling.0.gather(&world);
    for (entity, mut cloth) in &mut cloths {
        let load = coupling.0.load(entity.to_bits(), &cloth);
        refusals.note(entity, cloth.step_under(clock.context().dt(), &around, load));
    }
    coupling.0.give_back(&mut world);
}

/// Passes on what the divergence solve did to the cloths.
pub(crate) fn push<V: Dimension>(
    mut cloths: Query<(Entity, &mut Cloth<V>)>,
    mut coupling: ResMut<ClothCoupling<V>>,
    mut world: ResMut<FluidWorldOf<V>>,
) {
    coupling.0.gather(&world);
    for (entity, mut cloth) in &mut cloths {
        if let Some(load) = coupling.0.load(entity.to_bits(), &cloth) {
            cloth.push(&load.impulses);
        }
    }
    coupling.0.give_back(&mut world);
}
