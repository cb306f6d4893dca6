//! What a scene says of a cloth.

use super::collision::{Collider, ColliderShape};
use super::{Cloth, ClothMesh, ClothSettings, ConstraintKind, check_mass};
use crate::solver::error::FluidError;
use crate::solver::vector::Vector;

/// A cloth in a scene.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "scene", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "scene",
    serde(
        deny_unknown_fields,
        bound(
            serialize = "V: Vector + serde::Serialize",
            deserialize = "V: Vector + serde::Deserialize<'de>"
        )
    )
)]
#[cfg_attr(feature = "plugin", derive(bevy_reflect::Reflect))]
pub struct SceneCloth<V> {
    /// Where its particles are at rest, and what joins them.
    pub shape: ClothShape<V>,
    /// Mass of each particle in kilograms, 1e-9 to 1e9.
    pub mass: f32,
    /// Whether a grid has constraints against bending; default true.
    #[cfg_attr(feature = "scene", serde(default = "yes"))]
    pub bending: bool,
    /// Indices of pinned particles.
    #[cfg_attr(feature = "scene", serde(default))]
    pub pins: Vec<u32>,
    /// Boxes in each of which all particles are pinned.
    #[cfg_attr(feature = "scene", serde(default))]
    pub pin_boxes: Vec<PinBox<V>>,
    /// Velocity of all particles at the start in m/s, any finite vector.
    #[cfg_attr(feature = "scene", serde(default = "zero"))]
    pub velocity: V,
    /// Its parameters.
    #[cfg_attr(feature = "scene", serde(default))]
    pub settings: ClothSettings,
}

#[cfg(feature = "scene")]
fn yes() -> bool {
    true
}

#[cfg(feature = "scene")]
fn zero<V: Vector>() -> V {
    V::ZERO
}

/// A box whose particles are pinned, its faces included.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "scene", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "scene", serde(deny_unknown_fields))]
#[cfg_attr(feature = "plugin", derive(bevy_reflect::Reflect))]
pub struct PinBox<V> {
    /// Lowest corner in metres.
    pub min: V,
    /// Highest corner in metres.
    pub max: V,
}

/// Shape of a cloth in a scene.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "scene", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "plugin", derive(bevy_reflect::Reflect))]
#[cfg_attr(
    feature = "scene",
    serde(bound(
        serialize = "V: Vector + serde::Serialize",
        deserialize = "V: Vector + serde::Deserialize<'de>"
    ))
)]
pub enum ClothShape<V> {
    /// See [`ClothMesh::grid`].
    Grid {
        /// First particle in metres.
        origin: V,
        /// From a particle to the next of its row in metres.
        right: V,
        /// From a particle to the next of its column in metres.
        down: V,
        /// Particles of a row.
        columns: u32,
        /// Particles of a column.
        rows: u32,
        /// How far its middle lies off the plane in metres; see
        /// [`ClothMesh::sagging`]. Default zero.
        #[cfg_attr(feature = "scene", serde(default = "zero"))]
        sag: V,
    },
    /// See [`ClothMesh::rope`].
    Rope(Vec<V>),
}

impl<V: Vector> SceneCloth<V> {
    /// The cloth at the start of the scene.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for the first value out of range.
    pub fn build(&self) -> Result<Cloth<V>, FluidError> {
        let mesh = match &self.shape {
            ClothShape::Grid { origin, right, down, columns, rows, sag } => {
                let grid = ClothMesh::grid(*origin, *right, *down, *columns, *rows);
                grid.and_then(|grid| grid.sagging(*sag))
            }
            ClothShape::Rope(points) => ClothMesh::rope(points),
        };
        let mut mesh = mesh.map_err(|error| error.within("shape"))?;
        if !self.bending {
            mesh.constraints.retain(|constraint| constraint.kind != ConstraintKind::Bend);
        }
        check_mass("mass", self.mass)?;
        let mut cloth = Cloth::new(mesh, self.mass)?;
        let settings = cloth.set_settings(self.settings.clone());
        settings.map_err(|error| error.within("settings"))?;
        for (index, &pin) in self.pins.iter().enumerate() {
            let pinned = cloth.pin(pin);
            pinned.map_err(|error| error.within(format_args!("pins[{index}]")))?;
        }
        for (index, held) in self.pin_boxes.iter().enumerate() {
            if !(held.min.is_finite() && held.max.is_finite()) {
                let name = format_args!("pin_boxes[{index}]").to_string();
                return Err(FluidError::parameter(name, held, "finite corners, m"));
            }
            cloth.pin_where(|_, x| held.min.min(x) == held.min && held.max.max(x) == held.max);
        }
        if !self.velocity.is_finite() {
            return Err(FluidError::parameter("velocity", self.velocity, "finite components, m/s"));
        }
        cloth.velocities_mut().fill(self.velocity);
        Ok(cloth)
    }
}

/// A solid in a scene that stops cloth but not water.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "scene", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "scene",
    serde(
        deny_unknown_fields,
        bound(
            serialize = "V: Vector + serde::Serialize",
            deserialize = "V: Vector + serde::Deserialize<'de>"
        )
    )
)]
#[cfg_attr(feature = "plugin", derive(bevy_reflect::Reflect))]
pub struct SceneCollider<V> {
    /// Its shape, around its own origin.
    pub shape: ColliderShape<V>,
    /// Where that origin is, in metres.
    #[cfg_attr(feature = "scene", serde(default = "zero"))]
    pub position: V,
}

impl<V: Vector> SceneCollider<V> {
    /// The solid.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for the first value out of range.
    pub fn build(&self) -> Result<Collider<V>, FluidError> {
        let collider = Collider::new(self.shape.clone(), self.position);
        collider.validate()?;
        Ok(collider)
    }
}
