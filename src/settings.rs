//! The settings of all fluids of an app.

use bevy::prelude::*;

use crate::dimension::Dimension;
use crate::fluid::FluidRefused;
use crate::solver::cloth::Surroundings;
use crate::solver::error::FluidError;
use crate::solver::periodic::Periodic;
use crate::solver::settings::{DfsphSettings, FluidMethod, WcsphSettings, WorldSettings};
use crate::solver::time_step::TimeStep;

/// Gravity, step length, particle size and pressure solver of all fluids.
///
/// May be changed at any time and holds from the next tick on. A value outside
/// its range is refused as a whole: the last valid settings stay in force and
/// a [`FluidRefused`] message says why.
#[derive(Resource, Clone, Debug, PartialEq, Reflect)]
#[reflect(Resource)]
pub struct FluidSettings {
    /// Gravity in m/s², any finite vector; 2D worlds use x and y. Default: 9.81 along -y.
    pub gravity: Vec3,
    /// Velocity of the air in m/s, which cloth feels; up to 1e6, default zero.
    pub wind: Vec3,
    /// Radius of the particles of 2D worlds in metres, 1e-5 to 1e5; default 0.025.
    pub particle_radius_2d: f32,
    /// Radius of the particles of 3D worlds in metres, 1e-5 to 1e5; default 0.025.
    pub particle_radius_3d: f32,
    /// Rule for the length of a step; default [`TimeStep::Adaptive`].
    pub time_step: TimeStep,
    /// Most steps in one frame, at least 1; default 64. Steps beyond are
    /// dropped and simulated time falls behind, so that a slow machine slows
    /// down instead of standing still.
    pub max_steps_per_frame: u32,
    /// How water is kept from being compressed.
    pub method: FluidMethod,
    /// Parameters of DFSPH.
    pub dfsph: DfsphSettings,
    /// Parameters of WCSPH.
    pub wcsph: WcsphSettings,
    /// Borders at which space repeats itself, none by default; 2D worlds use
    /// those across x and y.
    pub periodic: Periodic,
}

impl Default for FluidSettings {
    fn default() -> Self {
        Self::with_length_unit(1.0)
    }
}

impl FluidSettings {
    /// The defaults for a game in which `unit` of its lengths make a metre: 100
    /// for one that counts pixels at 100 to the metre.
    pub fn with_length_unit(unit: f32) -> Self {
        Self {
            gravity: Vec3::new(0.0, -9.81 * unit, 0.0),
            wind: Vec3::ZERO,
            particle_radius_2d: 0.025 * unit,
            particle_radius_3d: 0.025 * unit,
            time_step: TimeStep::default(),
            max_steps_per_frame: 64,
            method: FluidMethod::default(),
            dfsph: DfsphSettings::default(),
            wcsph: WcsphSettings::default(),
            periodic: Periodic::NONE,
        }
    }

    /// Checks every value against its range.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for the first one outside.
    pub fn validate(&self) -> Result<(), FluidError> {
        self.world::<Vec2>().validate()?;
        self.world::<Vec3>().validate()?;
        self.time_step.validate()?;
        Surroundings { wind: self.wind, ..Surroundings::default() }.validate()?;
        if self.max_steps_per_frame == 0 {
            return Err(FluidError::parameter("max_steps_per_frame", 0, "at least 1"));
        }
        Ok(())
    }

    /// What the world of one dimension is told.
    pub(crate) fn world<V: Dimension>(&self) -> WorldSettings<V> {
        WorldSettings {
            gravity: V::from_array(self.gravity.to_array()),
            particle_radius: V::particle_radius(self),
            method: self.method,
            dfsph: self.dfsph.clone(),
            wcsph: self.wcsph.clone(),
            periodic: if V::DIM == 2 {
                Periodic { z: None, ..self.periodic }
            } else {
                self.periodic
            },
        }
    }
}

/// The last settings that were valid; what the systems read.
#[derive(Resource, Clone, Debug, Default, Deref)]
pub(crate) struct SettingsInForce(FluidSettings);

/// Takes changed settings over where they are valid.
pub(crate) fn enforce(
    settings: Res<FluidSettings>,
    mut in_force: ResMut<SettingsInForce>,
    mut refused: MessageWriter<FluidRefused>,
) {
    if !settings.is_changed() || in_force.0 == *settings {
        return;
    }
    match settings.validate() {
        Ok(()) => in_force.0.clone_from(&settings),
        Err(error) => {
            warn!("fluid settings refused, the last valid ones stay: {error}");
            refused.write(FluidRefused { entity: None, error });
        }
    }
}
