//! The domains of smoke: readouts, inputs and view.

use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use bevy_egui::egui::{ComboBox, DragValue, Id, Ui};

use super::field::{checked_field, label, parameter_field};
use super::palette::{self, Palettes};
use super::parameters::{body_name, choice};
use super::readouts::{row, table};
use crate::dimension::Dimension;
use crate::render::SmokeDrawing;
use crate::solver::error::FluidError;
use crate::solver::parameter::{Parameter, ParameterKind};
use crate::solver::smoke::{
    Advection, Border, Smoke, SmokeDomain, SmokePressure, SmokeScheme, SmokeSettings, SmokeStage,
    SmokeView, Splitting, TotalDye, Walls,
};

/// Everything that the section shows and changes.
#[derive(SystemParam)]
pub(super) struct Smokes<'w, 's> {
    flat: Domains<'w, 's, Vec2>,
    solid: Domains<'w, 's, Vec3>,
    drawings: Query<'w, 's, &'static mut SmokeDrawing>,
    palettes: Palettes<'w>,
}

type Domains<'w, 's, V> = Query<'w, 's, (Entity, &'static mut Smoke<V>, Option<&'static Name>)>;

impl Smokes<'_, '_> {
    pub(super) fn is_empty(&self) -> bool {
        self.flat.is_empty() && self.solid.is_empty()
    }

    /// Readouts and inputs of all domains.
    pub(super) fn show(&mut self, ui: &mut Ui) {
        let several = self.flat.iter().count() + self.solid.iter().count() > 1;
        let Self { flat, solid, drawings, palettes } = self;
        domains(ui, flat, drawings, palettes, several);
        domains(ui, solid, drawings, palettes, several);
    }
}

fn domains<V: Dimension>(
    ui: &mut Ui,
    smokes: &mut Domains<'_, '_, V>,
    drawings: &mut Query<&mut SmokeDrawing>,
    palettes: &mut Palettes,
    several: bool,
) {
    for (entity, mut smoke, name) in smokes {
        ui.push_id(entity, |ui| {
            if several {
                ui.strong(body_name(entity, name));
            }
            figures(ui, &smoke);
            if ui.button("Clear").on_hover_text("Removes all dye, heat and motion.").clicked() {
                smoke.clear();
            }
            if let Ok(mut drawing) = drawings.get_mut(entity) {
                // A draft, so that looking at it does not count as changing it.
                let mut draft = drawing.clone();
                view(ui, &mut draft, smoke.channels());
                if V::DIM == 3 {
                    light(ui, &mut draft);
                }
                palette::palette(ui, draft.palette_in_use_mut(), palettes);
                drawing.set_if_neq(draft);
            }
            resolution(ui, &mut smoke);
            let mut draft = smoke.settings().clone();
            inputs(ui, &mut draft, V::DIM);
            if draft != *smoke.settings()
                && let Err(error) = smoke.set_settings(draft)
            {
                refuse(ui, &error);
            }
            refusal(ui);
        });
    }
}

fn figures<V: Dimension>(ui: &mut Ui, smoke: &Smoke<V>) {
    let stats = smoke.stats();
    let cells = &smoke.domain().cells[..V::DIM];
    let sides: Vec<String> = cells.iter().map(u32::to_string).collect();
    table(ui, "smoke", |ui| {
        row(ui, "cells", format!("{} = {}", sides.join(" x "), smoke.domain().count()));
        row(ui, "side of a cell", format!("{:.4} m", smoke.domain().cell_size()));
        row(ui, "smoke's time", format!("{:.3} s", smoke.time()));
        row(ui, "divergence before", format!("{:.4} 1/s", stats.divergence_before));
        row(ui, "divergence after", format!("{:.4} 1/s", stats.divergence_after));
        row(ui, "projection iterations", stats.iterations.to_string());
        row(ui, "diffusion iterations", stats.diffusion_iterations.to_string());
        for (channel, total) in stats.total_dye.iter().enumerate() {
            row(ui, &format!("total dye {channel}"), format!("{total:.4}"));
        }
        row(ui, "largest velocity", format!("{:.4} m/s", stats.max_speed));
        row(ui, "time per step", format!("{:.3} ms", 1e3 * stats.total().as_secs_f64()));
        for stage in SmokeStage::ALL {
            let ms = 1e3 * stats.duration(stage).as_secs_f64();
            row(ui, stage.name(), format!("{ms:.3} ms"));
        }
    });
}

fn view(ui: &mut Ui, drawing: &mut SmokeDrawing, channels: usize) {
    ui.horizontal(|ui| {
        label(ui, "view");
        ComboBox::from_id_salt("view").selected_text(drawing.view.name()).show_ui(ui, |ui| {
            for view in SmokeView::ALL {
                let chosen =
                    core::mem::discriminant(&view) == core::mem::discriminant(&drawing.view);
                if ui.selectable_label(chosen, view.name()).clicked() && !chosen {
                    drawing.view = view;
                    // Ends in another unit would say nothing.
                    drawing.range = None;
                }
            }
        });
    });
    if let SmokeView::Dye(channel) = &mut drawing.view
        && channels > 1
    {
        ui.horizontal(|ui| {
            label(ui, "channel");
            ui.add(DragValue::new(channel).range(0..=channels - 1).speed(0.05));
        });
    }
    ui.horizontal(|ui| {
        label(ui, "range");
        let mut automatic = drawing.range.is_none();
        if ui.checkbox(&mut automatic, "automatic").changed() {
            drawing.range = if automatic { None } else { Some([0.0, 1.0]) };
        }
        if let Some([low, high]) = &mut drawing.range {
            ui.add(DragValue::new(low).speed(0.01));
            ui.add(DragValue::new(high).speed(0.01));
        }
    });
}

/// How smoke in space meets the light.
fn light(ui: &mut Ui, drawing: &mut SmokeDrawing) {
    ui.horizontal(|ui| {
        label(ui, "light");
        ui.checkbox(&mut drawing.lit, "falls on it");
    });
    ui.horizontal(|ui| {
        label(ui, "extinction").on_hover_text("At the end of the palette.");
        ui.add(DragValue::new(&mut drawing.extinction).range(0.0..=1e4).speed(0.1).suffix(" 1/m"));
    });
}

fn inputs(ui: &mut Ui, settings: &mut SmokeSettings, dim: usize) {
    choice(ui, "scheme", &mut settings.scheme, SmokeScheme::ALL, SmokeScheme::name);
    choice(ui, "advection", &mut settings.advection, Advection::ALL, Advection::name);
    choice(ui, "splitting", &mut settings.splitting, Splitting::ALL, Splitting::name);
    choice(ui, "pressure", &mut settings.pressure, SmokePressure::ALL, SmokePressure::name);
    choice(ui, "total dye", &mut settings.total_dye, TotalDye::ALL, TotalDye::name);
    choice(ui, "walls", &mut settings.walls, Walls::ALL, Walls::name);
    choice(ui, "border x", &mut settings.border_x, Border::ALL, Border::name);
    choice(ui, "border y", &mut settings.border_y, Border::ALL, Border::name);
    if dim == 3 {
        choice(ui, "border z", &mut settings.border_z, Border::ALL, Border::name);
    }
    for parameter in SmokeSettings::PARAMETERS {
        parameter_field(ui, parameter, settings);
    }
}

/// Cells along x as asked for.
#[derive(Clone)]
struct Resolution(u32);

/// The input of the resolution.
const RESOLUTION: Parameter<Resolution> = Parameter::new(
    "cells along x",
    "Cells along x; smoke is resampled and keeps its dye.",
    "1",
    ParameterKind::Count,
    3.0..=2048.0,
    256.0,
    16.0,
    |resolution| resolution.0 as f64,
    |resolution, value| resolution.0 = value as u32,
);

/// The extent that was resampled, and to which: whole cells round it, and coarse
/// ones would do so for good.
#[derive(Clone, Copy)]
struct Extent<V> {
    asked: V,
    fitted: V,
}

fn resolution<V: Dimension>(ui: &mut Ui, smoke: &mut Mut<Smoke<V>>) {
    let id = ui.make_persistent_id("extent");
    let now = smoke.domain().size;
    let extent = ui.data(|data| data.get_temp::<Extent<V>>(id));
    let asked = extent.filter(|it| it.fitted == now).map_or(now, |it| it.asked);
    let min = smoke.domain().min;
    let mut draft = Resolution(smoke.domain().cells[0]);
    let fitting = |cells: &Resolution| SmokeDomain::fitting(min, asked, cells.0);
    checked_field(ui, &RESOLUTION, &mut draft, |cells| fitting(cells).validate());
    if draft.0 == smoke.domain().cells[0] {
        return;
    }
    let domain = fitting(&draft);
    if let Err(error) = smoke.resample(domain) {
        refuse(ui, &error);
        return;
    }
    ui.data_mut(|data| data.insert_temp(id, Extent { asked, fitted: domain.size }));
}

fn refusal_id(ui: &Ui) -> Id {
    ui.make_persistent_id("refusal")
}

/// Remembers why something was refused.
fn refuse(ui: &Ui, error: &FluidError) {
    let id = refusal_id(ui);
    ui.data_mut(|data| data.insert_temp(id, error.to_string()));
}

/// Shows why something was refused, until it is clicked away.
fn refusal(ui: &mut Ui) {
    let id = refusal_id(ui);
    let Some(text) = ui.data(|data| data.get_temp::<String>(id)) else { return };
    if ui.button(text).on_hover_text("Refused; click to hide.").clicked() {
        ui.data_mut(|data| data.remove_temp::<String>(id));
    }
}
