//! Figures of the fluids in Bevy's diagnostics store.

use bevy::diagnostic::{Diagnostic, DiagnosticPath, Diagnostics, RegisterDiagnostic};
use bevy::ecs::intern::Interned;
use bevy::ecs::schedule::ScheduleLabel;
use bevy::prelude::*;

use crate::dimension::Dimension;
use crate::fluid::scatter;
use crate::plugin::FluidWorldOf;
use crate::schedule::DimensionSystems;
use crate::solver::stats::Stage;
use crate::time::Fluid;

/// Names of the diagnostics, one set for each dimension.
///
/// Every tick with a step adds the figures of its last step.
pub struct FluidDiagnostics;

impl FluidDiagnostics {
    /// Wall time of a step in ms, all stages together.
    pub const STEP: &'static str = "step";
    /// Number of particles.
    pub const PARTICLES: &'static str = "particles";
    /// Iterations of the density solve.
    pub const DENSITY_ITERATIONS: &'static str = "density_iterations";
    /// Iterations of the divergence solve.
    pub const DIVERGENCE_ITERATIONS: &'static str = "divergence_iterations";
    /// Mean compression that the density solve stopped at, as a fraction.
    pub const DENSITY_ERROR: &'static str = "density_error";
    /// Mean growth of density that the divergence solve stopped at, as a fraction.
    pub const DIVERGENCE_ERROR: &'static str = "divergence_error";

    /// Path of a figure in 2D, as `fluid_2d/step`. The wall time of a
    /// [`Stage`] in ms is under its name, as `fluid_2d/density_solve`.
    pub fn path_2d(name: &str) -> DiagnosticPath {
        path::<Vec2>(name)
    }

    /// Path of a figure in 3D, as `fluid_3d/step`.
    pub fn path_3d(name: &str) -> DiagnosticPath {
        path::<Vec3>(name)
    }
}

const FIGURES: [&str; 6] = [
    FluidDiagnostics::STEP,
    FluidDiagnostics::PARTICLES,
    FluidDiagnostics::DENSITY_ITERATIONS,
    FluidDiagnostics::DIVERGENCE_ITERATIONS,
    FluidDiagnostics::DENSITY_ERROR,
    FluidDiagnostics::DIVERGENCE_ERROR,
];

fn path<V: Dimension>(name: &str) -> DiagnosticPath {
    DiagnosticPath::from_components([V::NAME, name])
}

/// The paths of one dimension, made once.
struct Paths {
    figures: [DiagnosticPath; 6],
    stages: [DiagnosticPath; 5],
}

/// Registers the diagnostics of one dimension.
pub(crate) fn add<V: Dimension>(app: &mut App, outer: Interned<dyn ScheduleLabel>) {
    for name in FIGURES {
        let suffix = if name == FluidDiagnostics::STEP { "ms" } else { "" };
        app.register_diagnostic(Diagnostic::new(path::<V>(name)).with_suffix(suffix));
    }
    for stage in Stage::ALL {
        app.register_diagnostic(Diagnostic::new(path::<V>(stage.name())).with_suffix("ms"));
    }
    app.add_systems(
        outer,
        measure::<V>.after(scatter::<V>).in_set(DimensionSystems::Writeback(V::DIM)),
    );
}

fn measure<V: Dimension>(
    world: Res<FluidWorldOf<V>>,
    clock: Res<Time<Fluid>>,
    mut diagnostics: Diagnostics,
    mut paths: Local<Option<Paths>>,
) {
    if clock.context().due() == 0 {
        return;
    }
    let paths = paths.get_or_insert_with(|| Paths {
        figures: FIGURES.map(path::<V>),
        stages: Stage::ALL.map(|stage| path::<V>(stage.name())),
    });
    let stats = world.stats();
    let ms = |duration: core::time::Duration| duration.as_secs_f64() * 1e3;
    let figures = [
        ms(stats.total()),
        world.len() as f64,
        f64::from(stats.density_iterations),
        f64::from(stats.divergence_iterations),
        f64::from(stats.density_error),
        f64::from(stats.divergence_error),
    ];
    for (path, figure) in paths.figures.iter().zip(figures) {
        diagnostics.add_measurement(path, || figure);
    }
    for (path, stage) in paths.stages.iter().zip(Stage::ALL) {
        diagnostics.add_measurement(path, || ms(stats.duration(stage)));
    }
}
