//! What is drawn of smoke, and in which colours.

use bevy::asset::uuid_handle;
use bevy::prelude::*;

use crate::palette::Palette;
use crate::solver::smoke::SmokeView;

/// The handle of [`Palette::diverging`].
const DIVERGING: Handle<Palette> = uuid_handle!("5f1d7c1e-0a0e-4a52-9d0c-6d1c2b8f4e37");

/// How a domain of smoke is drawn. Every [`Smoke2d`](crate::Smoke2d) and
/// [`Smoke3d`](crate::Smoke3d) has one.
///
/// In 3D smoke takes and scatters light on the way through it, and is clear where its value is at
/// the start of the palette, or at the middle for views with negative values. Ambient and
/// directional lights fall on it, and it shades itself from the brightest of those. Meshes inside
/// of it need a camera with a [`DepthPrepass`](bevy::core_pipeline::prepass::DepthPrepass), or they
/// vanish behind all of the smoke in their line of sight.
#[derive(Component, Clone, Debug, PartialEq, Reflect)]
#[reflect(Component)]
pub struct SmokeDrawing {
    /// The quantity that its colours show; default the first dye.
    pub view: SmokeView,
    /// Colours of views without negative values; default [`Palette::default`].
    pub palette: Handle<Palette>,
    /// Colours of pressure, divergence and vorticity; default [`Palette::diverging`].
    pub signed_palette: Handle<Palette>,
    /// Values at the two ends of the palette, in the unit of the view; default
    /// none: from the lowest to the highest value on show, from zero for dye and
    /// speed, and as far to both sides of zero for views with negative values.
    pub range: Option<[f32; 2]>,
    /// Colour of solid cells in 2D; default #8A8F98. In 3D they are not drawn.
    pub solid: Color,
    /// What a metre of smoke at the end of the palette takes from the light in 3D, as the
    /// extinction coefficient in 1/m: 0 or more (others count as 0); default 20.
    pub extinction: f32,
    /// Whether lights fall on the smoke in 3D; default true. Without, it shines in the colours of
    /// its palette, as fire does.
    pub lit: bool,
}

impl Default for SmokeDrawing {
    fn default() -> Self {
        Self {
            view: SmokeView::Dye(0),
            palette: Handle::default(),
            signed_palette: DIVERGING,
            range: None,
            solid: Color::srgb_u8(0x8a, 0x8f, 0x98),
            extinction: 20.0,
            lit: true,
        }
    }
}

impl SmokeDrawing {
    /// The palette of the view.
    pub fn palette_in_use(&self) -> &Handle<Palette> {
        if self.view.is_signed() { &self.signed_palette } else { &self.palette }
    }

    /// The same, to be changed.
    pub fn palette_in_use_mut(&mut self) -> &mut Handle<Palette> {
        if self.view.is_signed() { &mut self.signed_palette } else { &mut self.palette }
    }

    /// The ends of the palette for values of free cells; no less than a rounding
    /// error apart.
    pub(super) fn ends(&self, values: impl Iterator<Item = f32>) -> [f32; 2] {
        if let Some(range) = self.range {
            return range;
        }
        let none = [f32::INFINITY, f32::NEG_INFINITY];
        let finite = values.filter(|value| value.is_finite());
        let [low, high] = finite.fold(none, |[low, high], value| [low.min(value), high.max(value)]);
        if self.view.is_signed() {
            let end = high.max(-low);
            return if end > 0.0 { [-end, end] } else { [-1.0, 1.0] };
        }
        if low > high {
            return [0.0, 1.0];
        }
        let low = if self.view == SmokeView::Temperature { low } else { 0.0 };
        let least = 1e-6 * high.abs().max(low.abs());
        if high - low > least { [low, high] } else { [low, low + 1.0] }
    }
}

/// Adds the palettes, built in and from files.
pub(super) fn plugin(app: &mut App) {
    app.register_type::<SmokeDrawing>().init_asset::<Palette>();
    #[cfg(feature = "scene")]
    app.register_asset_loader(crate::palette::PaletteLoader);
    insert_built_in(&mut app.world_mut().resource_mut::<Assets<Palette>>());
}

pub(super) fn insert_built_in(palettes: &mut Assets<Palette>) {
    let built_in = [(Handle::default(), Palette::default()), (DIVERGING, Palette::diverging())];
    for (handle, palette) in built_in {
        // Handles of fixed ids are never refused.
        let _ = palettes.insert(&handle, palette);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_follow_the_values_unless_they_are_given() {
        let drawing = |view| SmokeDrawing { view, ..SmokeDrawing::default() };
        let ends = |view, values: &[f32]| drawing(view).ends(values.iter().copied());
        let values = [0.5, 3.0, 2.0];
        assert_eq!(ends(SmokeView::Dye(0), &values), [0.0, 3.0]);
        assert_eq!(ends(SmokeView::Speed, &values), [0.0, 3.0]);
        assert_eq!(ends(SmokeView::Temperature, &values), [0.5, 3.0]);
        for view in SmokeView::ALL.into_iter().filter(|view| view.is_signed()) {
            assert_eq!(ends(view, &values), [-3.0, 3.0], "{view:?}");
            assert_eq!(ends(view, &[-4.0, 3.0]), [-4.0, 4.0], "{view:?}");
            // Nothing is in the middle, not at an end.
            assert_eq!(ends(view, &[0.0, 0.0]), [-1.0, 1.0], "{view:?}");
            assert_eq!(ends(view, &[]), [-1.0, 1.0], "{view:?}");
        }
        assert_eq!(ends(SmokeView::Dye(0), &[f32::NAN, 2.0, f32::INFINITY]), [0.0, 2.0]);
        for view in SmokeView::ALL {
            let none = if view.is_signed() { [-1.0, 1.0] } else { [0.0, 1.0] };
            assert_eq!(ends(view, &[f32::NAN]), none);
            let given = SmokeDrawing { range: Some([-7.0, 0.5]), ..drawing(view) };
            assert_eq!(given.ends(values.into_iter()), [-7.0, 0.5]);
        }
        assert_eq!(ends(SmokeView::Temperature, &[293.0, 293.0]), [293.0, 294.0]);
    }
}
