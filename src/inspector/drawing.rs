//! How the water is drawn.

use bevy_egui::egui::{ComboBox, Ui};

use super::field::label;
use crate::render::{ColorBy, FluidDrawing};

/// The inputs for the drawing.
pub(super) fn drawing(ui: &mut Ui, drawing: &mut FluidDrawing) {
    ui.horizontal(|ui| {
        label(ui, "color by");
        ComboBox::from_id_salt("color by")
            .selected_text(format!("{:?}", drawing.color_by))
            .show_ui(ui, |ui| {
                for color in ColorBy::ALL {
                    ui.selectable_value(&mut drawing.color_by, color, format!("{color:?}"));
                }
            });
    });
    ui.checkbox(&mut drawing.particles, "particles");
    let mut boundary = drawing.boundary.is_some();
    if ui.checkbox(&mut boundary, "boundary").changed() {
        drawing.boundary = if boundary { FluidDrawing::default().boundary } else { None };
    }
    ui.checkbox(&mut drawing.interpolate, "interpolate between ticks");
}
