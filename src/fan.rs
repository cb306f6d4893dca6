//! Fans in the app: streams that water, cloth and smoke feel.

use bevy::ecs::component::{Component, Mutable, StorageType};
use bevy::prelude::*;
use bevy::transform::helper::TransformHelper;

use crate::dimension::Dimension;
use crate::fluid::Refusals;
use crate::plugin::FluidWorldOf;
use crate::solver::fan::Fan;
use crate::time::Fluid;

/// A fan is a component as it is, placed by the entity's transform; a scale
/// moves its opening and leaves its sizes. One with a value out of range is left
/// out, with a [`FluidRefused`](crate::FluidRefused) message.
impl<V: Dimension> Component for Fan<V> {
    const STORAGE_TYPE: StorageType = StorageType::Table;
    type Mutability = Mutable;

    fn register_required_components(
        _component: bevy::ecs::component::ComponentId,
        required: &mut bevy::ecs::component::RequiredComponentsRegistrator,
    ) {
        required.register_required(Transform::default);
    }
}

/// The fans of one dimension in the world, by the order of their entities.
#[derive(Resource, Debug, Default, Deref)]
pub(crate) struct Fans<V: Dimension>(Vec<Fan<V>>);

/// Places the fans.
pub(crate) fn gather<V: Dimension>(
    mut placed: ResMut<Fans<V>>,
    clock: Res<Time<Fluid>>,
    fans: Query<(Entity, &Fan<V>)>,
    transforms: TransformHelper,
    mut refusals: Refusals,
) {
    if clock.context().due() == 0 {
        return;
    }
    placed.0.clear();
    for (entity, fan) in fans.iter().sort::<Entity>() {
        let transform = transforms.compute_global_transform(entity).unwrap_or_default();
        let direction = V::turned(fan.direction, transform.rotation());
        let fan = Fan { position: fan.position.transform(&transform), direction, ..*fan };
        let valid = fan.validate();
        if valid.is_ok() {
            placed.0.push(fan);
        }
        refusals.note(entity, valid);
    }
}

/// Lets the fans blow on the water.
pub(crate) fn blow<V: Dimension>(
    mut world: ResMut<FluidWorldOf<V>>,
    fans: Res<Fans<V>>,
    clock: Res<Time<Fluid>>,
) {
    world.blow(clock.context().dt(), &fans);
}
