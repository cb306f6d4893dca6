//! A scene as data: what `assets/scenes/*.ron` hold.

use bevy_math::Vec2;

use super::error::FluidError;
use super::sampling::{BoundaryShape, Fill, FluidShape};
use super::settings::{DfsphSettings, FluidMaterial, WorldSettings};
use super::time_step::TimeStep;
use super::vector::Vector;

/// Everything a simulation starts from. Fields that a file leaves out have
/// the defaults that games get.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "scene", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "scene",
    serde(
        default,
        deny_unknown_fields,
        bound(
            serialize = "V: Vector + serde::Serialize",
            deserialize = "V: Vector + serde::Deserialize<'de>"
        )
    )
)]
#[cfg_attr(feature = "plugin", derive(bevy_reflect::Reflect))]
pub struct Scene<V> {
    /// Gravity in m/s², any finite vector.
    pub gravity: V,
    /// Radius of all particles in metres, 1e-5 to 1e5.
    pub particle_radius: f32,
    /// Length of a step.
    pub time_step: TimeStep,
    /// Parameters of the pressure solver.
    pub dfsph: DfsphSettings,
    /// Bodies of fluid.
    pub fluids: Vec<SceneFluid<V>>,
    /// Walls and obstacles.
    pub boundaries: Vec<SceneBoundary<V>>,
}

/// A body of fluid in a scene.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "scene", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "scene",
    serde(
        default,
        deny_unknown_fields,
        bound(
            serialize = "V: Vector + serde::Serialize",
            deserialize = "V: Vector + serde::Deserialize<'de>"
        )
    )
)]
#[cfg_attr(feature = "plugin", derive(bevy_reflect::Reflect))]
pub struct SceneFluid<V> {
    /// What it is made of.
    pub material: FluidMaterial,
    /// The volumes it fills at the start, in this order.
    pub shapes: Vec<FluidShape<V>>,
    /// Velocity at the start in m/s, any finite vector.
    pub velocity: V,
}

/// A boundary in a scene.
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
pub struct SceneBoundary<V> {
    /// Its shape, around its own origin.
    pub shape: BoundaryShape<V>,
    /// Where that origin is, in metres.
    #[cfg_attr(feature = "scene", serde(default))]
    pub position: V,
}

impl<V: Vector> Default for Scene<V> {
    fn default() -> Self {
        let WorldSettings { gravity, particle_radius, dfsph } = WorldSettings::default();
        Self {
            gravity,
            particle_radius,
            time_step: TimeStep::default(),
            dfsph,
            fluids: Vec::new(),
            boundaries: Vec::new(),
        }
    }
}

impl<V: Vector> Default for SceneFluid<V> {
    fn default() -> Self {
        Self { material: FluidMaterial::default(), shapes: Vec::new(), velocity: V::ZERO }
    }
}

impl<V: Vector> Scene<V> {
    /// The settings of the world.
    pub fn settings(&self) -> WorldSettings<V> {
        WorldSettings {
            gravity: self.gravity,
            particle_radius: self.particle_radius,
            dfsph: self.dfsph.clone(),
        }
    }

    /// Checks everything that can be checked without making a particle.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for the first value outside its range.
    pub fn validate(&self) -> Result<(), FluidError> {
        self.settings().validate()?;
        self.time_step.validate()?;
        for (index, fluid) in self.fluids.iter().enumerate() {
            let name = format_args!("fluids[{index}]").to_string();
            fluid.material.validate().map_err(|error| error.within(&name))?;
            if !fluid.velocity.is_finite() {
                return Err(FluidError::parameter(
                    format_args!("{name}.velocity"),
                    fluid.velocity,
                    "finite components, m/s",
                ));
            }
        }
        for (index, boundary) in self.boundaries.iter().enumerate() {
            if !boundary.position.is_finite() {
                return Err(FluidError::parameter(
                    format_args!("boundaries[{index}].position"),
                    boundary.position,
                    "finite components, m",
                ));
            }
        }
        Ok(())
    }

    /// Particle positions of a fluid, shape after shape.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for an impossible shape, and
    /// [`FluidError::UnknownBody`] if there is no such fluid.
    pub fn fluid_positions(&self, index: usize) -> Result<Vec<V>, FluidError> {
        let fluid = self
            .fluids
            .get(index)
            .ok_or(FluidError::UnknownBody { index, count: self.fluids.len() })?;
        let mut positions = Vec::new();
        for (place, shape) in fluid.shapes.iter().enumerate() {
            let more = shape
                .positions(self.particle_radius)
                .map_err(|error| error.within(format_args!("fluids[{index}].shapes[{place}]")))?;
            positions.extend(more);
        }
        Ok(positions)
    }

    /// Samples of all boundaries in the world.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for an impossible shape.
    pub fn boundary_samples(&self) -> Result<Vec<V>, FluidError> {
        let mut samples = Vec::new();
        for (index, boundary) in self.boundaries.iter().enumerate() {
            let own = boundary
                .shape
                .samples(2.0 * self.particle_radius)
                .map_err(|error| error.within(format_args!("boundaries[{index}]")))?;
            samples.extend(own.into_iter().map(|sample| boundary.position + sample));
        }
        Ok(samples)
    }
}

impl Scene<Vec2> {
    /// The reference's breaking dam: `columns` times `rows` particles at the
    /// left of a closed box three times as wide and high.
    ///
    /// At 30 times 30 it is `assets/scenes/dam_break.ron`.
    pub fn dam_break(columns: u32, rows: u32) -> Self {
        let particle_radius = 0.025f32;
        let d = 2.0 * f64::from(particle_radius);
        let (w, h) = (f64::from(columns), f64::from(rows));
        let left = -1.5 * w * d;
        let width = (3.0 * w - 1.0).max(1.0) * d;
        let height = 3.0 * h.max(1.0) * d;
        let vector = |x: f64, y: f64| Vec2::new(x as f32, y as f32);
        Self {
            gravity: Vec2::new(0.0, -9.81),
            particle_radius,
            time_step: TimeStep::Fixed(0.005),
            dfsph: DfsphSettings::default(),
            fluids: vec![SceneFluid {
                material: FluidMaterial::default(),
                shapes: vec![FluidShape::Block {
                    min: vector(left + d, d),
                    size: vector(w * d, h * d),
                }],
                velocity: Vec2::ZERO,
            }],
            boundaries: vec![SceneBoundary {
                shape: BoundaryShape::Box {
                    half_size: vector(0.5 * width, 0.5 * height),
                    fill: Fill::Container,
                },
                position: vector(left + 0.5 * width, 0.5 * height),
            }],
        }
    }
}
