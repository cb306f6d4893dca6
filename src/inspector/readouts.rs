//! What the fluids do: readouts, times per stage, the selected particle.

use bevy::math::{Vec2, Vec3};
use bevy::prelude::{Entity, GlobalTransform, Name, Query};
use bevy_egui::egui::{Grid, ProgressBar, Ui};
use core::time::Duration;

use super::field::LABEL_WIDTH;
use super::history::{Figures, History, MEAN_STEPS};
use super::parameters::body_name;
use crate::boundary::BoundaryOf;
use crate::render::Selection;
use crate::solver::particles::FluidParticles;
use crate::solver::stats::Stage;
use crate::time::Fluid;

/// A row of a table of values.
pub(super) fn row(ui: &mut Ui, name: &str, value: impl Into<String>) {
    ui.label(name);
    ui.monospace(value.into());
    ui.end_row();
}

pub(super) fn table(ui: &mut Ui, id: &str, rows: impl FnOnce(&mut Ui)) {
    Grid::new(id).num_columns(2).min_col_width(LABEL_WIDTH).show(ui, rows);
}

/// A fraction in percent.
pub(super) fn percent(fraction: f32) -> String {
    format!("{:.4} %", 100.0 * fraction)
}

/// The readouts of the clock.
pub(super) fn time(ui: &mut Ui, clock: &Fluid, elapsed: Duration, history: &History) {
    table(ui, "time", |ui| {
        row(ui, "current time", format!("{:.3} s", history.scene_time(elapsed).as_secs_f64()));
        row(ui, "length of a step", format!("{:.3} ms", 1e3 * clock.dt()));
        row(ui, "steps per tick", clock.due().to_string());
        row(ui, "steps, dropped", format!("{}, {}", clock.steps(), clock.dropped_steps()));
    });
}

/// The readouts of the water.
pub(super) fn water(ui: &mut Ui, figures: &Figures, history: &History) {
    let stats = &figures.stats;
    table(ui, "water", |ui| {
        row(ui, "time per step", format!("{:.3} ms", history.mean_ms(None)));
        row(ui, "density iterations", stats.density_iterations.to_string());
        row(ui, "divergence iterations", stats.divergence_iterations.to_string());
        row(ui, "operator applications", format!("{:.1}", stats.applications));
        row(ui, "density error", percent(stats.density_error));
        row(ui, "divergence error", percent(stats.divergence_error));
        let bulk = history.bulk_error().filter(|&(_, particles)| particles > 0);
        let bulk = bulk.map_or_else(|| "no bulk".into(), |(error, _)| percent(error));
        row(ui, "two-sided error of the bulk", bulk);
        row(ui, "held back at walls", stats.held_back.to_string());
        row(ui, "particles", figures.particles.to_string());
        row(ui, "boundary samples", figures.samples.to_string());
    });
}

/// Mean wall time of each stage, with bars.
pub(super) fn stages(ui: &mut Ui, history: &History) {
    let total = history.mean_ms(None).max(f64::MIN_POSITIVE);
    Grid::new("stages").num_columns(3).min_col_width(50.0).show(ui, |ui| {
        for stage in Stage::ALL {
            let ms = history.mean_ms(Some(stage));
            ui.label(stage.name().replace('_', " "));
            ui.monospace(format!("{ms:>7.3}"));
            // Round ends would give a stage of no time a bar too.
            let bar = ProgressBar::new((ms / total) as f32).corner_radius(0.0);
            ui.add(bar.desired_width(90.0).desired_height(10.0));
            ui.end_row();
        }
    });
    ui.weak(format!("ms, mean over {MEAN_STEPS} steps"));
}

/// Bodies whose particles can be selected.
pub(super) type Bodies<'w, 's> =
    Query<'w, 's, (&'static FluidParticles<Vec2>, Option<&'static Name>)>;

/// Boundaries whose samples can be selected.
pub(super) type Boundaries<'w, 's> =
    Query<'w, 's, (&'static BoundaryOf<Vec2>, &'static GlobalTransform, Option<&'static Name>)>;

/// The values of what is selected.
pub(super) fn selected(
    ui: &mut Ui,
    selection: Selection,
    bodies: &Bodies,
    boundaries: &Boundaries,
) {
    let shown = match selection {
        Selection::None => None,
        Selection::Particle { fluid, id } => {
            bodies.get(fluid).ok().and_then(|(particles, name)| {
                let index = particles.index_of(id).ok()?;
                table(ui, "selected particle", |ui| {
                    row(ui, "id", id.to_string());
                    row(ui, "body", body_name(fluid, name));
                    particle(ui, particles, index);
                });
                Some(())
            })
        }
        Selection::Sample { boundary, index } => sample(ui, boundaries, boundary, index),
    };
    if shown.is_none() {
        ui.weak("Nothing selected. Click a particle or a boundary sample.");
    }
}

fn particle(ui: &mut Ui, particles: &FluidParticles<Vec2>, index: usize) {
    let (position, velocity) = (particles.positions()[index], particles.velocities()[index]);
    let result = &particles.results()[index];
    row(ui, "position", vector(position, "m"));
    row(ui, "velocity", vector(velocity, "m/s"));
    row(ui, "speed", format!("{:.4} m/s", velocity.length()));
    row(ui, "density", format!("{:.3} kg/m²", result.density));
    row(ui, "density pressure", pascal(result.density_pressure));
    row(ui, "divergence pressure", pascal(result.divergence_pressure));
    row(ui, "pressure", pascal(result.pressure()));
    row(ui, "neighbors", result.neighbors.to_string());
}

fn sample(ui: &mut Ui, boundaries: &Boundaries, entity: Entity, index: usize) -> Option<()> {
    let (boundary, transform, name) = boundaries.get(entity).ok()?;
    let sample: Vec3 = boundary.samples().get(index)?.extend(0.0);
    table(ui, "selected sample", |ui| {
        row(ui, "boundary sample", index.to_string());
        row(ui, "body", body_name(entity, name));
        row(ui, "position", vector(transform.transform_point(sample).truncate(), "m"));
    });
    Some(())
}

fn vector(vector: Vec2, unit: &str) -> String {
    format!("{:.4}, {:.4} {unit}", vector.x, vector.y)
}

fn pascal(pressure: f32) -> String {
    format!("{pressure:.2} Pa")
}
