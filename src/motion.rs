//! How entities move from tick to tick.

use bevy::ecs::entity::EntityHashMap;
use bevy::prelude::*;

/// Where an entity is, and how fast it came there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Motion {
    pub scale: Vec3,
    pub rotation: Quat,
    pub position: Vec3,
    /// In m/s.
    pub velocity: Vec3,
    /// In rad/s.
    pub angular_velocity: Vec3,
}

/// The places of entities in the last tick.
#[derive(Debug, Default)]
pub(crate) struct Motions(EntityHashMap<(Vec3, Quat)>);

impl Motions {
    /// The motion of an entity that is at `transform` now and was seen last a `tick` of so many
    /// seconds ago; at rest when it was not.
    pub fn observe(&mut self, entity: Entity, transform: &GlobalTransform, tick: f32) -> Motion {
        let (scale, rotation, position) = transform.to_scale_rotation_translation();
        let before = self.0.insert(entity, (position, rotation));
        let (last_position, last_rotation) = before.unwrap_or((position, rotation));
        let rate = if tick > 0.0 { 1.0 / tick } else { 0.0 };
        let turn = (rotation * last_rotation.inverse()).to_scaled_axis();
        Motion {
            scale,
            rotation,
            position,
            velocity: (position - last_position) * rate,
            angular_velocity: turn * rate,
        }
    }

    /// Forgets the entities for which `keep` does not hold.
    pub fn retain(&mut self, mut keep: impl FnMut(Entity) -> bool) {
        self.0.retain(|&entity, _| keep(entity));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn velocities_are_those_since_the_last_tick() {
        let (mut motions, entity) = (Motions::default(), Entity::PLACEHOLDER);
        let at = |x: f32, angle: f32| {
            GlobalTransform::from(
                Transform::from_xyz(x, 0.0, 0.0).with_rotation(Quat::from_rotation_z(angle)),
            )
        };
        assert_eq!(motions.observe(entity, &at(1.0, 0.0), 0.5).velocity, Vec3::ZERO);
        let motion = motions.observe(entity, &at(2.0, 0.25), 0.5);
        assert_eq!(motion.velocity, Vec3::X * 2.0);
        assert!((motion.angular_velocity - Vec3::Z * 0.5).length() < 1e-4);
        motions.retain(|_| false);
        assert_eq!(motions.observe(entity, &at(3.0, 0.0), 0.5).velocity, Vec3::ZERO);
    }
}
