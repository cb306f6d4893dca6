//! The panel itself.

use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use bevy_egui::egui::{self, CollapsingHeader, Slider, Ui};

use super::FluidInspector;
use super::cloth::{self, ClothSize, Cloths};
use super::field::{label, parameter_field};
use super::history::{History, on_show, shows_3d};
use super::parameters::Fluids;
use super::readouts::{Bodies, Boundaries};
use super::scene::{RestartRequested, SIZE, SceneSize};
use super::smoke::Smokes;
use super::{drawing, parameters, plots, readouts};
use crate::plugin::{FluidWorld2d, FluidWorld3d};
use crate::render::{FluidDrawing, Selection};
use crate::settings::FluidSettings;
use crate::time::Fluid;

/// Everything that the panel shows and changes, to draw it from a system of
/// the app's own: as a window with [`FluidPanel::window`], or its contents in a
/// panel or tab of the app with [`FluidPanel::contents`].
///
/// [`FluidInspectorPlugin`](super::FluidInspectorPlugin) must be there; close
/// its own window with [`FluidInspector::open`] then.
#[derive(SystemParam)]
pub struct FluidPanel<'w, 's> {
    inspector: ResMut<'w, FluidInspector>,
    settings: ResMut<'w, FluidSettings>,
    clock: ResMut<'w, Time<Fluid>>,
    history: Res<'w, History>,
    restart: MessageWriter<'w, RestartRequested>,
    size: Option<ResMut<'w, SceneSize>>,
    drawing: Option<ResMut<'w, FluidDrawing>>,
    selection: Option<Res<'w, Selection>>,
    flat: Option<Res<'w, FluidWorld2d>>,
    solid: Option<Res<'w, FluidWorld3d>>,
    fluids_2d: Fluids<'w, 's, Vec2>,
    fluids_3d: Fluids<'w, 's, Vec3>,
    bodies: Bodies<'w, 's>,
    boundaries: Boundaries<'w, 's>,
    cloth_size: Option<ResMut<'w, ClothSize>>,
    cloths_2d: Cloths<'w, 's, Vec2>,
    cloths_3d: Cloths<'w, 's, Vec3>,
    smokes: Smokes<'w, 's>,
}

impl FluidPanel<'_, '_> {
    /// The panel as a window of its own, while [`FluidInspector::open`] is true.
    pub fn window(&mut self, ctx: &egui::Context) {
        let mut open = self.inspector.open;
        // The window has the look asked for; the app's own keep theirs.
        let app = ctx.options(|options| options.theme_preference);
        if let Some(theme) = self.inspector.theme {
            ctx.set_theme(theme);
        }
        egui::Window::new("Fluid")
            .open(&mut open)
            .default_pos([8.0, 8.0])
            .default_size([370.0, 640.0])
            .vscroll(true)
            .show(ctx, |ui| self.contents(ui));
        ctx.set_theme(app);
        if open != self.inspector.open {
            self.inspector.open = open;
        }
    }

    /// The panel's contents.
    pub fn contents(&mut self, ui: &mut Ui) {
        self.controls(ui);
        let cloth = !self.cloths_2d.is_empty() || !self.cloths_3d.is_empty();
        // An app with smoke or cloth alone is spared the rows of water.
        let water = !self.fluids_2d.is_empty()
            || !self.fluids_3d.is_empty()
            || !cloth && self.smokes.is_empty();
        section(ui, "Readouts", true, |ui| {
            let (clock, elapsed) = (self.clock.context(), self.clock.elapsed());
            readouts::time(ui, clock, elapsed, &self.history);
            if water {
                let figures = on_show(self.flat.as_deref(), self.solid.as_deref());
                readouts::water(ui, &figures, &self.history);
            }
        });
        section(ui, "Inputs", true, |ui| self.inputs(ui, water, cloth));
        if cloth {
            section(ui, "Cloth", true, |ui| {
                if let Some(size) = &mut self.cloth_size {
                    let mut draft = **size;
                    cloth::size(ui, &mut draft);
                    size.set_if_neq(draft);
                }
                cloth::cloths(ui, &mut self.cloths_2d);
                cloth::cloths(ui, &mut self.cloths_3d);
            });
        }
        if !self.smokes.is_empty() {
            section(ui, "Smoke", true, |ui| self.smokes.show(ui));
        }
        if water {
            section(ui, "Selected", true, |ui| {
                let selection = self.selection.as_deref().copied().unwrap_or_default();
                readouts::selected(ui, selection, &self.bodies, &self.boundaries);
            });
            section(ui, "Plots", false, |ui| plots::plots(ui, &self.history));
            section(ui, "Time per stage", false, |ui| readouts::stages(ui, &self.history));
        }
        if let Some(current) = &mut self.drawing {
            section(ui, "Drawing", false, |ui| {
                let mut draft = FluidDrawing::clone(current);
                drawing::drawing(ui, &mut draft);
                current.set_if_neq(draft);
            });
        }
    }

    fn controls(&mut self, ui: &mut Ui) {
        ui.horizontal(|ui| {
            if ui.button("Restart").on_hover_text("Starts the scene again.").clicked() {
                self.restart.write_default();
            }
            let paused = self.clock.context().is_paused();
            if ui.button(if paused { "Resume" } else { "Pause" }).clicked() {
                let clock = self.clock.context_mut();
                if paused { clock.unpause() } else { clock.pause() }
            }
            let hint = "Makes one step and pauses.";
            if ui.button("Step").on_hover_text(hint).clicked() {
                let clock = self.clock.context_mut();
                clock.pause();
                clock.step_once();
            }
        });
        ui.horizontal(|ui| {
            label(ui, "speed").on_hover_text("Simulated seconds per second.");
            let mut speed = self.clock.context().speed();
            let slider = Slider::new(&mut speed, 0.0..=4.0).show_value(false);
            if ui.add(slider).changed() {
                // The slider's ends lie inside the clock's.
                let _ = self.clock.context_mut().set_speed(speed);
            }
            ui.monospace(format!("{speed:.2}"));
        });
    }

    fn inputs(&mut self, ui: &mut Ui, water: bool, cloth: bool) {
        // Drafts, so that looking at settings does not count as changing them.
        if let Some(size) = &mut self.size {
            let mut draft = **size;
            for parameter in &SIZE {
                parameter_field(ui, parameter, &mut draft);
            }
            size.set_if_neq(draft);
        }
        let solid = shows_3d(self.flat.as_deref(), self.solid.as_deref())
            || !water && !self.cloths_3d.is_empty();
        let mut draft = self.settings.clone();
        parameters::steps(ui, &mut draft);
        if water {
            parameters::solver(ui, &mut draft);
        }
        parameters::gravity(ui, &mut draft, solid);
        if cloth {
            parameters::wind(ui, &mut draft, solid);
        }
        parameters::more(ui, &mut draft, solid, water);
        self.settings.set_if_neq(draft);
        parameters::materials(ui, &mut self.fluids_2d, &mut self.fluids_3d);
    }
}

fn section(ui: &mut Ui, name: &str, open: bool, contents: impl FnOnce(&mut Ui)) {
    CollapsingHeader::new(name).default_open(open).show(ui, contents);
}
