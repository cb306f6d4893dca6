//! The cloths: readouts and inputs.

use bevy::prelude::*;
use bevy_egui::egui::Ui;

use super::field::parameter_field;
use super::parameters::{body_name, choice};
use super::readouts::{percent, row, table};
use crate::dimension::Dimension;
use crate::solver::cloth::{Cloth, ClothScheme, ClothSettings, Inversion, Tethers};
use crate::solver::error::FluidError;
use crate::solver::parameter::{Parameter, ParameterKind};

/// The cloths of one dimension.
pub(super) type Cloths<'w, 's, V> =
    Query<'w, 's, (Entity, &'static mut Cloth<V>, Option<&'static Name>)>;

/// Size and pins of the app's cloth.
///
/// Where the app inserts it, the panel shows an input for each number. The app
/// builds its cloth anew when the resource has changed.
#[derive(Resource, Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Resource)]
pub struct ClothSize {
    /// Particles of a row, 2 to 200; the panel refuses other numbers. Default 40.
    pub width: u32,
    /// Particles of a column, 2 to 200; the panel refuses other numbers. Default 30.
    pub height: u32,
    /// Held corners, 1, 2 or 4; default 2.
    pub fixed: u32,
    /// Mass of a particle in kilograms, 0.001 to 1000; default 0.5.
    pub mass: f32,
}

impl Default for ClothSize {
    fn default() -> Self {
        Self { width: 40, height: 30, fixed: 2, mass: 0.5 }
    }
}

/// The inputs of a [`ClothSize`], without that of the pins.
const SIZE: [Parameter<ClothSize>; 3] = [
    Parameter::new(
        "width",
        "Particles of a row; restarts the scene.",
        "1",
        ParameterKind::Count,
        2.0..=200.0,
        40.0,
        1.0,
        |size| size.width as f64,
        |size, value| size.width = value as u32,
    ),
    Parameter::new(
        "height",
        "Particles of a column; restarts the scene.",
        "1",
        ParameterKind::Count,
        2.0..=200.0,
        30.0,
        1.0,
        |size| size.height as f64,
        |size, value| size.height = value as u32,
    ),
    Parameter::new(
        "mass",
        "Mass of a particle; restarts the scene.",
        "kg",
        ParameterKind::Real,
        0.001..=1000.0,
        0.5,
        0.1,
        |size| f64::from(size.mass),
        |size, value| size.mass = value as f32,
    ),
];

/// The inputs of the app's cloth.
pub(super) fn size(ui: &mut Ui, size: &mut ClothSize) {
    for parameter in &SIZE {
        parameter_field(ui, parameter, size);
    }
    choice(ui, "fixed particles", &mut size.fixed, [1, 2, 4], |fixed| match fixed {
        1 => "1",
        2 => "2",
        _ => "4",
    });
}

/// Readouts and inputs of all cloths of a dimension.
pub(super) fn cloths<V: Dimension>(ui: &mut Ui, cloths: &mut Cloths<'_, '_, V>) {
    let several = cloths.iter().count() > 1;
    for (entity, mut cloth, name) in cloths {
        ui.push_id(entity, |ui| {
            if several {
                ui.strong(body_name(entity, name));
            }
            figures(ui, &cloth);
            let mut draft = cloth.settings().clone();
            inputs(ui, &mut draft);
            if draft != *cloth.settings() {
                // Each input was held to its range.
                let _: Result<(), FluidError> = cloth.set_settings(draft);
            }
        });
    }
}

fn figures<V: Dimension>(ui: &mut Ui, cloth: &Cloth<V>) {
    let stats = cloth.stats();
    table(ui, "cloth", |ui| {
        row(ui, "time per step", format!("{:.3} ms", stats.total().as_secs_f64() * 1e3));
        row(ui, "length of a step", format!("{:.3} ms", 1e3 * stats.dt));
        row(ui, "particles", cloth.len().to_string());
        row(ui, "constraints", cloth.constraints().len().to_string());
        row(ui, "pins", cloth.pins().len().to_string());
        row(ui, "sweeps", stats.iterations.to_string());
        row(ui, "largest strain", percent(stats.max_strain));
        row(ui, "mean strain", percent(stats.mean_strain));
        row(ui, "kinetic energy", format!("{:.4} J", stats.kinetic_energy));
        row(ui, "largest speed", format!("{:.4} m/s", stats.max_speed));
    });
}

fn inputs(ui: &mut Ui, settings: &mut ClothSettings) {
    choice(ui, "scheme", &mut settings.scheme, ClothScheme::ALL, ClothScheme::name);
    choice(ui, "tethers", &mut settings.tethers, Tethers::ALL, Tethers::name);
    choice(ui, "inversion", &mut settings.inversion, Inversion::ALL, Inversion::name);
    for parameter in ClothSettings::PARAMETERS {
        parameter_field(ui, parameter, settings);
    }
}
