//! The input field of a declared parameter.

use bevy_egui::egui::{self, Color32, Id, Key, Layout, RichText, TextEdit, Ui};

use super::number::{commit, stepped, text_of, unit};
use crate::solver::error::FluidError;
use crate::solver::parameter::Parameter;

/// Width of the labels, so that fields stand below each other.
pub(super) const LABEL_WIDTH: f32 = 150.0;

/// Colour of refused input, readable on light and dark.
const REFUSED: Color32 = Color32::from_rgb(0xd0, 0x20, 0x20);

/// What a field remembers from frame to frame.
#[derive(Clone, Default)]
struct Field {
    text: String,
    /// The text when the user began to edit, or none while nobody does.
    start: Option<String>,
    refused: Option<String>,
}

/// A label of the width of all labels.
pub(super) fn label(ui: &mut Ui, text: impl Into<RichText>) -> egui::Response {
    let size = egui::vec2(LABEL_WIDTH, ui.spacing().interact_size.y);
    let layout = Layout::left_to_right(egui::Align::Center);
    ui.allocate_ui_with_layout(size, layout, |ui| {
        ui.set_min_width(LABEL_WIDTH);
        ui.label(text.into())
    })
    .inner
}

/// An input field for `parameter` of `settings`: text, a button for a step
/// down and up, and the arrow keys for the same. Input outside the range is
/// refused with the range in red; the old value stays.
///
/// Takes effect on Enter or when the field is left; Escape drops the input.
/// Fields of several objects of a type need [`Ui::push_id`] around them.
pub fn parameter_field<T: Clone>(ui: &mut Ui, parameter: &Parameter<T>, settings: &mut T) {
    checked_field(ui, parameter, settings, |_| Ok(()));
}

/// The same for settings of which `check` may refuse a combination.
pub(super) fn checked_field<T: Clone>(
    ui: &mut Ui,
    parameter: &Parameter<T>,
    settings: &mut T,
    check: impl Fn(&T) -> Result<(), FluidError>,
) {
    let id = ui.make_persistent_id(parameter.name);
    let mut field = ui.data(|data| data.get_temp::<Field>(id)).unwrap_or_default();
    ui.horizontal(|ui| {
        label(ui, parameter.name.replace(['_', '.'], " ")).on_hover_text(parameter.doc);
        let mut step = 0.0;
        if ui.small_button("-").clicked() {
            step -= 1.0;
        }
        step += edit(ui, id, &mut field, parameter, settings, &check);
        if ui.small_button("+").clicked() {
            step += 1.0;
        }
        ui.label(unit(parameter));
        if step != 0.0 {
            let text = stepped(parameter, parameter.get(settings), step);
            field.refused = commit(parameter, settings, &text, &check).err();
            if field.start.is_some() {
                field.text = text_of(parameter, parameter.get(settings));
                field.start = Some(field.text.clone());
            }
        }
    });
    if let Some(refused) = &field.refused {
        ui.colored_label(REFUSED, refused);
    }
    ui.data_mut(|data| data.insert_temp(id, field));
}

/// The text of a field; returns the step that the arrow keys ask for.
fn edit<T: Clone>(
    ui: &mut Ui,
    id: Id,
    field: &mut Field,
    parameter: &Parameter<T>,
    settings: &mut T,
    check: impl Fn(&T) -> Result<(), FluidError>,
) -> f64 {
    if field.start.is_none() {
        field.text = text_of(parameter, parameter.get(settings));
    }
    let mut text = TextEdit::singleline(&mut field.text).id(id.with("text")).desired_width(64.0);
    if field.start.is_some() && field.refused.is_some() {
        text = text.text_color(REFUSED);
    }
    let response = ui.add(text).on_hover_text(parameter.doc);
    if response.changed() {
        // Tried on a copy: half of a number must not become a setting.
        field.refused = commit(parameter, &mut settings.clone(), &field.text, &check).err();
    }
    if response.has_focus() {
        field.start.get_or_insert_with(|| field.text.clone());
        let pressed = |key| ui.input(|input| input.key_pressed(key));
        return f64::from(u8::from(pressed(Key::ArrowUp)))
            - f64::from(u8::from(pressed(Key::ArrowDown)));
    }
    if let Some(start) = field.start.take() {
        let dropped = ui.input(|input| input.key_pressed(Key::Escape));
        field.refused = if dropped || field.text == start {
            None
        } else {
            commit(parameter, settings, &field.text, &check).err()
        };
    }
    0.0
}
