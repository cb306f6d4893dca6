//! The inputs, from the declarations of the parameters.

use bevy::math::{Vec2, Vec3};
use bevy::prelude::{Entity, Mut, Name, Query};
use bevy_egui::egui::{CollapsingHeader, Ui};

use super::field::{checked_field, label, parameter_field};
use crate::dimension::Dimension;
use crate::fluid::FluidOf;
use crate::settings::FluidSettings;
use crate::solver::parameter::{Parameter, ParameterKind};
use crate::solver::settings::{
    DensityCorrection, DfsphSettings, EquationOfState, FluidMaterial, FluidMethod,
    NegativePressure, PressureSolver, WcsphSettings,
};
use crate::solver::time_step::TimeStep;

type Setting = Parameter<FluidSettings>;

/// Length of a fixed step.
const FIXED_STEP: Setting = Parameter::new(
    "time step",
    "Length of every step.",
    "s",
    ParameterKind::Real,
    1e-6..=1.0,
    0.005,
    0.001,
    longest_step,
    |settings, dt| settings.time_step = TimeStep::Fixed(dt as f32),
);

/// Longest adaptive step.
const LONGEST_STEP: Setting = Parameter::new(
    "longest time step",
    "Longest step; fast particles shorten it.",
    "s",
    ParameterKind::Real,
    1e-6..=1.0,
    0.005,
    0.001,
    longest_step,
    |settings, value| {
        if let TimeStep::Adaptive { max, .. } = &mut settings.time_step {
            *max = value as f32;
        }
    },
);

/// Shortest adaptive step.
const SHORTEST_STEP: Setting = Parameter::new(
    "shortest time step",
    "Shortest step, however fast particles are.",
    "s",
    ParameterKind::Real,
    1e-6..=1.0,
    0.001,
    0.001,
    |settings| match settings.time_step {
        TimeStep::Fixed(dt) => f64::from(dt),
        TimeStep::Adaptive { min, .. } => f64::from(min),
    },
    |settings, value| {
        if let TimeStep::Adaptive { min, .. } = &mut settings.time_step {
            *min = value as f32;
        }
    },
);

/// CFL number of adaptive steps.
const CFL: Setting = Parameter::new(
    "CFL number",
    "Part of a particle spacing that the fastest particle may cross in a step.",
    "1",
    ParameterKind::Real,
    0.01..=2.0,
    0.4,
    0.05,
    |settings| match settings.time_step {
        TimeStep::Fixed(_) => 0.4,
        TimeStep::Adaptive { cfl, .. } => f64::from(cfl),
    },
    |settings, value| {
        if let TimeStep::Adaptive { cfl, .. } = &mut settings.time_step {
            *cfl = value as f32;
        }
    },
);

/// Gravity and wind are any finite vectors; fields need an end, and this one is far out.
const FAR: f64 = 1e6;

/// A component of a vector among the settings.
macro_rules! component {
    ($name:ident, $field:ident.$axis:ident, $label:literal, $doc:literal, $unit:literal, $default:literal, $step:literal) => {
        const $name: Setting = Parameter::new(
            $label,
            $doc,
            $unit,
            ParameterKind::Real,
            -FAR..=FAR,
            $default,
            $step,
            |settings| settings.$field.$axis as f64,
            |settings, value| settings.$field.$axis = value as f32,
        );
    };
}

component!(GRAVITY_X, gravity.x, "gravity x", "Gravity to the right.", "m/s^2", 0.0, 0.01);
component!(GRAVITY_Y, gravity.y, "gravity y", "Gravity upwards.", "m/s^2", -9.81, 0.01);
component!(GRAVITY_Z, gravity.z, "gravity z", "Gravity towards the viewer.", "m/s^2", 0.0, 0.01);
component!(WIND_X, wind.x, "wind x", "Air that cloth feels, to the right.", "m/s", 0.0, 0.1);
component!(WIND_Y, wind.y, "wind y", "Air that cloth feels, upwards.", "m/s", 0.0, 0.1);
component!(WIND_Z, wind.z, "wind z", "Air that cloth feels, towards the viewer.", "m/s", 0.0, 0.1);

const RADIUS_2D: Setting = Parameter::new(
    "particle radius",
    "Radius of all particles of 2D worlds; a body keeps its particles, so restart after a change.",
    "m",
    ParameterKind::Real,
    1e-5..=1e5,
    0.025,
    0.001,
    |settings| settings.particle_radius_2d as f64,
    |settings, value| settings.particle_radius_2d = value as f32,
);

const RADIUS_3D: Setting = Parameter::new(
    "particle radius in 3D",
    "Radius of all particles of 3D worlds; a body keeps its particles, so restart after a change.",
    "m",
    ParameterKind::Real,
    1e-5..=1e5,
    0.025,
    0.001,
    |settings| settings.particle_radius_3d as f64,
    |settings, value| settings.particle_radius_3d = value as f32,
);

const STEPS_PER_FRAME: Setting = Parameter::new(
    "steps per frame",
    "Most steps in one frame; those beyond are dropped and simulated time falls behind.",
    "1",
    ParameterKind::Count,
    1.0..=10_000.0,
    64.0,
    1.0,
    |settings| settings.max_steps_per_frame as f64,
    |settings, value| settings.max_steps_per_frame = value as u32,
);

fn longest_step(settings: &FluidSettings) -> f64 {
    match settings.time_step {
        TimeStep::Fixed(dt) => f64::from(dt),
        TimeStep::Adaptive { max, .. } => f64::from(max),
    }
}

/// The limits of the pressure solves come first, what else there is lies under "More".
fn is_limit(parameter: &Parameter<DfsphSettings>) -> bool {
    parameter.name.starts_with("max_")
}

/// A field of the settings; changes them only to valid ones.
fn field(ui: &mut Ui, parameter: &Setting, settings: &mut FluidSettings) {
    checked_field(ui, parameter, settings, FluidSettings::validate);
}

/// The inputs of the time steps.
pub(super) fn steps(ui: &mut Ui, settings: &mut FluidSettings) {
    mode(ui, &mut settings.time_step);
    match settings.time_step {
        TimeStep::Fixed(_) => field(ui, &FIXED_STEP, settings),
        TimeStep::Adaptive { .. } => field(ui, &LONGEST_STEP, settings),
    }
}

/// The inputs of the water's method, those that matter most.
pub(super) fn solver(ui: &mut Ui, settings: &mut FluidSettings) {
    choice(ui, "method", &mut settings.method, FluidMethod::ALL, FluidMethod::name);
    if settings.method == FluidMethod::Dfsph {
        let solver = &mut settings.dfsph.solver;
        choice(ui, "pressure solver", solver, PressureSolver::ALL, PressureSolver::name);
        for parameter in DfsphSettings::PARAMETERS.iter().filter(|parameter| is_limit(parameter)) {
            parameter_field(ui, parameter, &mut settings.dfsph);
        }
    } else {
        let equation = &mut settings.wcsph.equation_of_state;
        choice(ui, "equation of state", equation, EquationOfState::ALL, EquationOfState::name);
        for parameter in WcsphSettings::PARAMETERS {
            parameter_field(ui, parameter, &mut settings.wcsph);
        }
    }
}

/// The inputs of gravity.
pub(super) fn gravity(ui: &mut Ui, settings: &mut FluidSettings, solid: bool) {
    let axes = [&GRAVITY_X, &GRAVITY_Y, &GRAVITY_Z];
    axes[..if solid { 3 } else { 2 }].iter().for_each(|axis| field(ui, axis, settings));
}

/// The inputs of the wind, which cloth feels.
pub(super) fn wind(ui: &mut Ui, settings: &mut FluidSettings, solid: bool) {
    let axes = [&WIND_X, &WIND_Y, &WIND_Z];
    axes[..if solid { 3 } else { 2 }].iter().for_each(|axis| field(ui, axis, settings));
}

/// The inputs that are seldom wanted, folded.
pub(super) fn more(ui: &mut Ui, settings: &mut FluidSettings, solid: bool, water: bool) {
    let dfsph = settings.method == FluidMethod::Dfsph;
    CollapsingHeader::new("More").id_salt("more settings").show(ui, |ui| {
        if matches!(settings.time_step, TimeStep::Adaptive { .. }) {
            field(ui, &SHORTEST_STEP, settings);
            field(ui, &CFL, settings);
        }
        if water {
            let others = DfsphSettings::PARAMETERS.iter().filter(|parameter| !is_limit(parameter));
            for parameter in others.filter(|_| dfsph) {
                parameter_field(ui, parameter, &mut settings.dfsph);
            }
            let FluidSettings { dfsph: strict, wcsph: weak, .. } = settings;
            let below =
                if dfsph { &mut strict.negative_pressure } else { &mut weak.negative_pressure };
            choice(ui, "negative pressure", below, NegativePressure::ALL, NegativePressure::name);
            if dfsph {
                let by = &mut strict.density_correction;
                choice(ui, "correction by", by, DensityCorrection::ALL, DensityCorrection::name);
            }
            field(ui, if solid { &RADIUS_3D } else { &RADIUS_2D }, settings);
        }
        field(ui, &STEPS_PER_FRAME, settings);
    });
}

/// A choice of one among a few.
pub(super) fn choice<T: Copy + PartialEq, const N: usize>(
    ui: &mut Ui,
    name: &str,
    value: &mut T,
    all: [T; N],
    text: fn(T) -> &'static str,
) {
    ui.horizontal(|ui| {
        label(ui, name);
        for choice in all {
            ui.selectable_value(value, choice, text(choice));
        }
    });
}

/// The choice between fixed and adaptive steps, which keeps the longest step.
fn mode(ui: &mut Ui, rule: &mut TimeStep) {
    ui.horizontal(|ui| {
        label(ui, "time steps");
        match *rule {
            TimeStep::Fixed(dt) => {
                let _ = ui.selectable_label(true, "Fixed");
                if ui.selectable_label(false, "Adaptive").clicked() {
                    *rule = TimeStep::Adaptive { min: dt.min(1e-3), max: dt, cfl: 0.4 };
                }
            }
            TimeStep::Adaptive { max, .. } => {
                if ui.selectable_label(false, "Fixed").clicked() {
                    *rule = TimeStep::Fixed(max);
                }
                let _ = ui.selectable_label(true, "Adaptive");
            }
        }
    });
}

/// The fluids of one dimension.
pub(super) type Fluids<'w, 's, V> =
    Query<'w, 's, (Entity, &'static mut FluidOf<V>, Option<&'static Name>)>;

/// The inputs of every fluid's material.
pub(super) fn materials(
    ui: &mut Ui,
    flat: &mut Fluids<'_, '_, Vec2>,
    solid: &mut Fluids<'_, '_, Vec3>,
) {
    let several = flat.iter().count() + solid.iter().count() > 1;
    for (entity, fluid, name) in flat {
        material(ui, entity, fluid, name, several);
    }
    for (entity, fluid, name) in solid {
        material(ui, entity, fluid, name, several);
    }
}

fn material<V: Dimension>(
    ui: &mut Ui,
    entity: Entity,
    mut fluid: Mut<'_, FluidOf<V>>,
    name: Option<&Name>,
    several: bool,
) {
    ui.push_id(entity, |ui| {
        if several {
            ui.strong(body_name(entity, name));
        }
        // A copy, so that looking at a fluid does not count as changing it.
        let mut material = fluid.material.clone();
        for parameter in FluidMaterial::PARAMETERS {
            parameter_field(ui, parameter, &mut material);
        }
        if material != fluid.material {
            fluid.material = material;
        }
    });
}

/// What the panel calls a body.
pub(super) fn body_name(entity: Entity, name: Option<&Name>) -> String {
    name.map_or_else(|| format!("body {entity}"), |name| name.to_string())
}

#[cfg(test)]
mod tests {
    use super::super::number::{allowed, commit};
    use super::*;

    #[test]
    fn settings_outside_the_declarations_are_held_to_their_ranges_too() {
        let mut settings = FluidSettings::default();
        let mut put = |parameter: &Setting, text: &str| {
            commit(parameter, &mut settings, text, FluidSettings::validate)
        };
        assert_eq!(put(&GRAVITY_Y, "-5"), Ok(()));
        assert_eq!(put(&RADIUS_2D, "0.05"), Ok(()));
        assert_eq!(put(&LONGEST_STEP, "0.004"), Ok(()));
        assert_eq!(put(&CFL, "0.3"), Ok(()));
        let all = [&GRAVITY_X, &GRAVITY_Y, &GRAVITY_Z, &WIND_X, &WIND_Y, &WIND_Z];
        for parameter in all.into_iter().chain([&RADIUS_2D, &RADIUS_3D, &CFL]) {
            assert_eq!(put(parameter, "1e9"), Err(allowed(parameter)));
            assert_eq!(put(parameter, "nan"), Err(allowed(parameter)));
        }
        // Inside its own range, but longer than the longest step.
        let message = put(&SHORTEST_STEP, "0.5").unwrap_err();
        assert!(message.contains("to time_step.max"), "{message}");
        assert_eq!(settings.gravity.y, -5.0);
        assert_eq!(settings.particle_radius_2d, 0.05);
        assert_eq!(settings.time_step, TimeStep::Adaptive { min: 1e-3, max: 0.004, cfl: 0.3 });
    }

    #[test]
    fn ends_of_the_ad_hoc_ranges_pass_the_validation() {
        let adaptive =
            [&LONGEST_STEP, &GRAVITY_X, &GRAVITY_Y, &GRAVITY_Z, &WIND_X, &WIND_Y, &WIND_Z];
        for parameter in adaptive.into_iter().chain([&RADIUS_2D, &RADIUS_3D, &STEPS_PER_FRAME]) {
            let mut settings = FluidSettings::default();
            parameter.set(&mut settings, *parameter.range.end()).unwrap();
            settings.validate().unwrap();
        }
        for parameter in [&FIXED_STEP, &SHORTEST_STEP, &CFL, &RADIUS_2D, &STEPS_PER_FRAME] {
            let mut settings = FluidSettings::default();
            parameter.set(&mut settings, *parameter.range.start()).unwrap();
            settings.validate().unwrap();
        }
    }
}
