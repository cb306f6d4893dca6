//! Smoke in the app: a solver's [`Smoke`] as a component, its sources and obstacles.

use bevy::ecs::component::{Component, Mutable, StorageType};
use bevy::ecs::entity::EntityHashSet;
use bevy::prelude::*;
use bevy::transform::helper::TransformHelper;

use crate::boundary::BoundaryOf;
use crate::dimension::Dimension;
use crate::fan::Fans;
use crate::fluid::Refusals;
use crate::motion::Motions;
use crate::plugin::threads;
use crate::solver::fan::Fan;
use crate::solver::smoke::{Smoke, SmokeObstacle, SmokeSource};
use crate::time::Fluid;

/// A domain of smoke is a component as it is. The entity's transform places it
/// in the world by its translation and rotation; a scale is for drawing only.
/// Positions that the solver takes are in the entity's own space, see
/// [`SmokePlace`].
///
/// It makes steps of its own
/// [`time_step`](crate::solver::smoke::SmokeSettings::time_step), as the fluid
/// clock passes. Boundaries are its obstacles; [`SmokeSource`] components feed
/// it. It is drawn as its `SmokeDrawing` says (feature `render`).
impl<V: Dimension> Component for Smoke<V> {
    const STORAGE_TYPE: StorageType = StorageType::Table;
    type Mutability = Mutable;

    fn register_required_components(
        _component: bevy::ecs::component::ComponentId,
        required: &mut bevy::ecs::component::RequiredComponentsRegistrator,
    ) {
        required.register_required(Transform::default);
        #[cfg(feature = "render")]
        required.register_required(Visibility::default);
        #[cfg(feature = "render")]
        required.register_required(crate::render::SmokeDrawing::default);
    }
}

/// A source of smoke is a component as it is: it lies in the entity's own
/// space, and feeds every domain that it lies in.
impl<V: Dimension> Component for SmokeSource<V> {
    const STORAGE_TYPE: StorageType = StorageType::Table;
    type Mutability = Mutable;

    fn register_required_components(
        _component: bevy::ecs::component::ComponentId,
        required: &mut bevy::ecs::component::RequiredComponentsRegistrator,
    ) {
        required.register_required(Transform::default);
    }
}

/// The way from the world into a domain's own space and back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SmokePlace {
    translation: Vec3,
    rotation: Quat,
}

impl SmokePlace {
    /// Of an entity with this transform.
    pub fn new(transform: &GlobalTransform) -> Self {
        let (_, rotation, translation) = transform.to_scale_rotation_translation();
        Self { translation, rotation }
    }

    /// A position of the world in the domain's own space.
    pub fn to_local<V: Dimension>(&self, position: V) -> V {
        let position = Vec3::from_array(position.to_array());
        self.turn_to_local(V::from_array((position - self.translation).to_array()))
    }

    /// A position of the domain's own space in the world.
    pub fn to_world<V: Dimension>(&self, position: V) -> V {
        let turned = self.rotation * Vec3::from_array(position.to_array());
        V::from_array((turned + self.translation).to_array())
    }

    /// A direction or velocity of the world in the domain's own space.
    pub fn turn_to_local<V: Dimension>(&self, vector: V) -> V {
        let turned = self.rotation.inverse() * Vec3::from_array(vector.to_array());
        V::from_array(turned.to_array())
    }

    /// A direction or velocity of the domain's own space in the world.
    pub fn turn_to_world<V: Dimension>(&self, vector: V) -> V {
        V::from_array((self.rotation * Vec3::from_array(vector.to_array())).to_array())
    }
}

/// Hands the boundaries to the domains as obstacles, with their velocities.
pub(crate) fn gather_obstacles<V: Dimension>(
    clock: Res<Time<Fluid>>,
    mut smokes: Query<(Entity, &mut Smoke<V>)>,
    boundaries: Query<(Entity, Ref<BoundaryOf<V>>)>,
    transforms: TransformHelper,
    mut motions: Local<Motions>,
    mut last: Local<Vec<Entity>>,
    mut last_places: Local<Vec<SmokePlace>>,
    mut moving: Local<bool>,
    mut refusals: Refusals,
) {
    if clock.context().due() == 0 || smokes.is_empty() {
        return;
    }
    let tick = clock.context().due() as f32 * clock.context().dt();
    // The order of a query follows archetypes; that of entities does not change.
    let mut order: Vec<Entity> = boundaries.iter().map(|(entity, _)| entity).collect();
    order.sort_unstable();
    motions.retain(|entity| order.binary_search(&entity).is_ok());
    let seen: Vec<_> = order
        .iter()
        .filter_map(|&entity| boundaries.get(entity).ok())
        .map(|(entity, boundary)| {
            let transform = transforms.compute_global_transform(entity).unwrap_or_default();
            (boundary, motions.observe(entity, &transform, tick))
        })
        .collect();
    let place = |entity: Entity| {
        SmokePlace::new(&transforms.compute_global_transform(entity).unwrap_or_default())
    };
    let places: Vec<SmokePlace> = smokes.iter().map(|(entity, _)| place(entity)).collect();
    let was_moving = *moving;
    *moving = seen
        .iter()
        .any(|(_, motion)| motion.velocity != Vec3::ZERO || motion.angular_velocity != Vec3::ZERO);
    // Shapes are copied only where something is new; bodies that came to rest are handed over once
    // more, without their velocities.
    let changed = *moving
        || was_moving
        || *last != order
        || *last_places != places
        || seen.iter().any(|(boundary, _)| boundary.is_changed());
    if !changed && smokes.iter().all(|(_, smoke)| smoke.obstacles().len() == seen.len()) {
        return;
    }
    *last = order;
    *last_places = places;
    for (entity, mut smoke) in &mut smokes {
        let place = place(entity);
        let obstacles = seen.iter().map(|(boundary, motion)| {
            let vector = |value: Vec3| V::from_array(value.to_array());
            let mut obstacle = SmokeObstacle::of_boundary(
                boundary.shape(),
                place.to_local(vector(motion.position)),
            );
            let axes = [Vec3::X, Vec3::Y, if V::DIM == 3 { Vec3::Z } else { Vec3::ZERO }];
            obstacle.axes = axes.map(|axis| place.turn_to_local(vector(motion.rotation * axis)));
            obstacle.velocity = place.turn_to_local(vector(motion.velocity));
            let turn = place.rotation.inverse() * motion.angular_velocity;
            obstacle.angular_velocity = turn.to_array();
            obstacle
        });
        refusals.note(entity, smoke.set_obstacles(obstacles));
    }
}

/// Hands the sources to the domains.
pub(crate) fn gather_sources<V: Dimension>(
    clock: Res<Time<Fluid>>,
    mut smokes: Query<(Entity, &mut Smoke<V>)>,
    sources: Query<(Entity, &SmokeSource<V>)>,
    transforms: TransformHelper,
    mut handed: Local<EntityHashSet>,
    mut refusals: Refusals,
) {
    if clock.context().due() == 0 {
        return;
    }
    let mut order: Vec<Entity> = sources.iter().map(|(entity, _)| entity).collect();
    order.sort_unstable();
    for (entity, mut smoke) in &mut smokes {
        // Sources that the game set by itself stay where no entity is one.
        if order.is_empty() && !handed.remove(&entity) {
            continue;
        }
        let place =
            SmokePlace::new(&transforms.compute_global_transform(entity).unwrap_or_default());
        let sources = sources.iter_many(&order).map(|(entity, source)| {
            let transform = transforms.compute_global_transform(entity).unwrap_or_default();
            let (_, rotation, _) = transform.to_scale_rotation_translation();
            let turn = |vector: V| {
                let turned = rotation * Vec3::from_array(vector.to_array());
                place.turn_to_local(V::from_array(turned.to_array()))
            };
            SmokeSource {
                position: place.to_local(source.position.transform(&transform)),
                velocity: source.velocity.map(turn),
                ..source.clone()
            }
        });
        if !order.is_empty() {
            handed.insert(entity);
        }
        refusals.note(entity, smoke.set_sources(sources));
    }
}

/// Steps the domains, each by its own time step.
pub(crate) fn step<V: Dimension>(
    mut smokes: Query<(Entity, &mut Smoke<V>)>,
    clock: Res<Time<Fluid>>,
    fans: Res<Fans<V>>,
    transforms: TransformHelper,
    mut refusals: Refusals,
) {
    for (entity, mut smoke) in &mut smokes {
        let place =
            SmokePlace::new(&transforms.compute_global_transform(entity).unwrap_or_default());
        let local = fans.iter().map(|fan| Fan {
            position: place.to_local(fan.position),
            direction: place.turn_to_local(fan.direction),
            ..*fan
        });
        let local: Vec<Fan<V>> = local.collect();
        refusals.note(entity, smoke.advance_with(clock.context().dt(), &local, threads()));
    }
}
