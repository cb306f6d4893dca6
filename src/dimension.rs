//! What the ECS layer needs to know of a dimension beyond the solver's vector.

use bevy::prelude::*;
use bevy::reflect::{FromReflect, GetTypeRegistration, Typed};

use crate::settings::FluidSettings;
use crate::solver::vector::Vector;

/// A solver vector as the ECS layer sees it. Sealed, like [`Vector`].
pub trait Dimension:
    Vector + Reflect + FromReflect + Typed + GetTypeRegistration + TypePath
{
    /// Prefix of the diagnostics, "fluid_2d" or "fluid_3d".
    const NAME: &'static str;

    /// Radius of the particles of this dimension's world.
    fn particle_radius(settings: &FluidSettings) -> f32;

    /// The same, to be set.
    fn particle_radius_mut(settings: &mut FluidSettings) -> &mut f32;

    /// Moves a point from a body's own space into the world's.
    fn transform(self, transform: &GlobalTransform) -> Self {
        let point = transform.transform_point(Vec3::from_array(self.to_array()));
        Self::from_array(point.to_array())
    }

    /// A direction, turned.
    fn turned(self, rotation: Quat) -> Self {
        let turned = rotation * Vec3::from_array(self.to_array());
        Self::from_array(turned.to_array())
    }
}

impl Dimension for Vec2 {
    const NAME: &'static str = "fluid_2d";

    fn particle_radius(settings: &FluidSettings) -> f32 {
        settings.particle_radius_2d
    }

    fn particle_radius_mut(settings: &mut FluidSettings) -> &mut f32 {
        &mut settings.particle_radius_2d
    }
}

impl Dimension for Vec3 {
    const NAME: &'static str = "fluid_3d";

    fn particle_radius(settings: &FluidSettings) -> f32 {
        settings.particle_radius_3d
    }

    fn particle_radius_mut(settings: &mut FluidSettings) -> &mut f32 {
        &mut settings.particle_radius_3d
    }
}
