//! Choosing, editing and saving palettes.

use bevy::asset::AssetServer;
use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use bevy_egui::egui::{ComboBox, DragValue, Ui};

use super::field::label;
use crate::palette::{MAX_STOPS, MIN_STOPS, Palette, PaletteStop};

/// The palettes of the app, where it has any.
#[derive(SystemParam)]
pub(super) struct Palettes<'w> {
    assets: Option<ResMut<'w, Assets<Palette>>>,
    server: Option<Res<'w, AssetServer>>,
}

impl Palettes<'_> {
    /// What the panel calls a palette.
    fn name(&self, id: AssetId<Palette>) -> String {
        let path = self.server.as_ref().and_then(|server| server.get_path(id.untyped()));
        let file = path.and_then(|path| Some(path.path().file_name()?.to_str()?.to_owned()));
        match (file, id) {
            (Some(file), _) => file.trim_end_matches(".palette.ron").to_owned(),
            (None, AssetId::Uuid { .. }) => "built in".into(),
            (None, AssetId::Index { .. }) => "custom".into(),
        }
    }
}

/// The inputs of the palette in use: which one, its stops, a file for it.
pub(super) fn palette(ui: &mut Ui, handle: &mut Handle<Palette>, palettes: &mut Palettes) {
    if palettes.assets.is_none() {
        return;
    }
    let name = palettes.name(handle.id());
    ui.horizontal(|ui| {
        label(ui, "palette");
        ComboBox::from_id_salt("palette").selected_text(&name).show_ui(ui, |ui| {
            choose(ui, handle, palettes);
        });
        let Some(assets) = &mut palettes.assets else { return };
        if ui.button("Copy").on_hover_text("Goes on with a palette of its own.").clicked()
            && let Some(copy) = assets.get(&*handle).cloned()
        {
            *handle = assets.add(copy);
        }
    });
    let Some(assets) = &mut palettes.assets else { return };
    let Some(current) = assets.get(&*handle) else { return };
    let mut stops = current.stops().to_vec();
    stop_fields(ui, &mut stops);
    if stops != current.stops()
        && let Ok(edited) = Palette::new(stops)
        && let Some(mut current) = assets.get_mut(&*handle)
    {
        *current = edited;
    }
    #[cfg(all(feature = "scene", not(target_arch = "wasm32")))]
    if let Some(current) = assets.get(&*handle) {
        save(ui, &name, current);
    }
}

fn choose(ui: &mut Ui, handle: &mut Handle<Palette>, palettes: &mut Palettes) {
    let Some(assets) = &palettes.assets else { return };
    let mut all: Vec<_> = assets.ids().map(|id| (palettes.name(id), id)).collect();
    all.sort_unstable();
    for (name, id) in all {
        if ui.selectable_label(handle.id() == id, name).clicked() {
            let Some(assets) = &mut palettes.assets else { return };
            let strong = match id {
                AssetId::Uuid { uuid } => Some(Handle::Uuid(uuid, core::marker::PhantomData)),
                AssetId::Index { .. } => assets.get_strong_handle(id),
            };
            if let Some(strong) = strong {
                *handle = strong;
            }
        }
    }
}

/// A row for each stop. What is changed stays a valid palette.
fn stop_fields(ui: &mut Ui, stops: &mut Vec<PaletteStop>) {
    let mut removed = None;
    let mut doubled = None;
    for index in 0..stops.len() {
        let low = index.checked_sub(1).map_or(0.0, |before| stops[before].position);
        let high = stops.get(index + 1).map_or(1.0, |after| after.position);
        let stop = &mut stops[index];
        ui.horizontal(|ui| {
            label(ui, format!("stop {index}"));
            // Clamping alone must not change what is only looked at.
            let field = DragValue::new(&mut stop.position).range(low..=high).speed(0.005);
            ui.add(field.fixed_decimals(3).clamp_existing_to_range(false));
            let mut color = stop.color;
            if ui.color_edit_button_srgba_unmultiplied(&mut color).changed() {
                stop.color = color;
            }
            if ui.small_button("add").on_hover_text("A stop after this one.").clicked() {
                doubled = Some(index);
            }
            if ui.small_button("remove").clicked() {
                removed = Some(index);
            }
        });
    }
    if let Some(index) = removed.filter(|_| stops.len() > MIN_STOPS) {
        stops.remove(index);
    }
    if let Some(index) = doubled.filter(|_| stops.len() < MAX_STOPS) {
        insert_after(stops, index);
    }
}

/// Puts a stop half-way to the next one, in the colour that is there.
fn insert_after(stops: &mut Vec<PaletteStop>, index: usize) {
    let next = stops.get(index + 1).map_or(1.0, |stop| stop.position);
    let position = 0.5 * (stops[index].position + next);
    let color = Palette::new(stops.iter().copied())
        .map_or(stops[index].color, |palette| palette.color(position));
    stops.insert(index + 1, PaletteStop { position, color });
}

/// The button that writes a file, and what came of it.
#[cfg(all(feature = "scene", not(target_arch = "wasm32")))]
fn save(ui: &mut Ui, name: &str, palette: &Palette) {
    let id = ui.make_persistent_id("palette file");
    let remembered = ui.data(|data| data.get_temp::<(String, String, String)>(id));
    // The field starts with the name of the palette that is chosen.
    let fresh = || (name.to_owned(), name.replace(' ', "_"), String::new());
    let (of, mut file, mut said) = remembered.filter(|it| it.0 == name).unwrap_or_else(fresh);
    ui.horizontal(|ui| {
        label(ui, "file name");
        ui.add(bevy_egui::egui::TextEdit::singleline(&mut file).desired_width(100.0));
        let hint = "Writes assets/palettes/NAME.palette.ron.";
        if ui.button("Save").on_hover_text(hint).clicked() {
            said = match write(&file, palette) {
                Ok(path) => format!("written: {}", path.display()),
                Err(error) => format!("not written: {error}"),
            };
        }
    });
    if !said.is_empty() {
        ui.label(&said);
    }
    ui.data_mut(|data| data.insert_temp(id, (of, file, said)));
}

/// Writes a palette file into the app's assets.
#[cfg(all(feature = "scene", not(target_arch = "wasm32")))]
fn write(name: &str, palette: &Palette) -> std::io::Result<std::path::PathBuf> {
    let folder = bevy::asset::io::file::FileAssetReader::get_base_path().join("assets/palettes");
    write_into(&folder, name, palette)
}

#[cfg(all(feature = "scene", not(target_arch = "wasm32")))]
fn write_into(
    folder: &std::path::Path,
    name: &str,
    palette: &Palette,
) -> std::io::Result<std::path::PathBuf> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() || name.len() > 64 || !name.chars().all(plain) {
        let message = "a name is 1 to 64 letters, digits, _ and -";
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, message));
    }
    std::fs::create_dir_all(folder)?;
    let path = folder.join(format!("{name}.palette.ron"));
    // Renamed when it is whole, so that a reload never sees half of it.
    let half = folder.join(format!("{name}.palette.ron.part"));
    std::fs::write(&half, palette.to_ron())?;
    std::fs::rename(&half, &path)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_stop_leaves_the_colors_as_they_are() {
        let palette = Palette::default();
        for index in 0..palette.stops().len() {
            let mut stops = palette.stops().to_vec();
            insert_after(&mut stops, index);
            let more = Palette::new(stops).unwrap();
            assert_eq!(more.stops().len(), palette.stops().len() + 1);
            for (a, b) in more.table().iter().zip(palette.table()) {
                assert!(a.iter().zip(b).all(|(&a, b)| a.abs_diff(b) <= 1), "{a:?}, {b:?}");
            }
        }
    }

    #[cfg(all(feature = "scene", not(target_arch = "wasm32")))]
    #[test]
    fn a_saved_palette_is_read_again_and_names_stay_in_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let palette = Palette::diverging();
        let path = write_into(folder.path(), "my-own_2", &palette).unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        assert_eq!(Palette::parse("my-own_2", &text).unwrap(), palette);
        for bad in ["", "../up", "a/b", "a b", "ä", &"x".repeat(65)] {
            assert!(write_into(folder.path(), bad, &palette).is_err(), "{bad}");
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
