//! A palette: colours at places between 0 and 1, mixed in between.

use super::{Rgba, mix};
use crate::solver::error::FluidError;

/// Fewest stops of a palette.
pub const MIN_STOPS: usize = 2;

/// Most stops of a palette.
pub const MAX_STOPS: usize = 64;

/// A colour at a place of a [`Palette`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaletteStop {
    /// Its place, 0 to 1.
    pub position: f32,
    /// Its colour in sRGB.
    pub color: Rgba,
}

impl PaletteStop {
    /// A stop whose colour is written `#RRGGBB` or `#RRGGBBAA`.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] naming `color` if it is written otherwise.
    pub fn new(position: f32, color: &str) -> Result<Self, FluidError> {
        let refused = || FluidError::parameter("color", color, "#RRGGBB or #RRGGBBAA");
        let digits = color.strip_prefix('#').ok_or_else(refused)?;
        let valid = matches!(digits.len(), 6 | 8) && digits.bytes().all(|b| b.is_ascii_hexdigit());
        if !valid {
            return Err(refused());
        }
        let number = u32::from_str_radix(digits, 16).map_err(|_| refused())?;
        let number = if digits.len() == 6 { number << 8 | 0xff } else { number };
        Ok(Self { position, color: number.to_be_bytes() })
    }

    /// Its colour as `#RRGGBB`, or as `#RRGGBBAA` if it is not opaque.
    pub fn hex(&self) -> String {
        let [red, green, blue, alpha] = self.color;
        let opaque = format!("#{red:02X}{green:02X}{blue:02X}");
        if alpha == 0xff { opaque } else { format!("{opaque}{alpha:02X}") }
    }
}

/// Colours for numbers from 0 to 1: 2 to 64 stops in the order of their places.
///
/// Between two stops colours are mixed in sRGB; before the first and after the
/// last one they stay. Two stops at one place make an edge.
///
/// ```
/// use bevy_fluid::palette::{Palette, PaletteStop};
///
/// let palette =
///     Palette::new([PaletteStop::new(0.0, "#000000")?, PaletteStop::new(1.0, "#FFFFFF")?])?;
/// assert_eq!(palette.color(0.2), [51, 51, 51, 255]);
/// # Ok::<(), bevy_fluid::solver::error::FluidError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "render", derive(bevy::asset::Asset, bevy::reflect::TypePath))]
pub struct Palette {
    stops: Vec<PaletteStop>,
}

impl Palette {
    /// Number of colours of [`Palette::table`].
    pub const TABLE: usize = 256;

    /// A palette of these stops.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] naming the first stop whose place is outside 0
    /// to 1 or before that of the stop before it, or `stops` if they are too few
    /// or too many.
    pub fn new(stops: impl IntoIterator<Item = PaletteStop>) -> Result<Self, FluidError> {
        let stops: Vec<_> = stops.into_iter().collect();
        if !(MIN_STOPS..=MAX_STOPS).contains(&stops.len()) {
            let allowed = format!("{MIN_STOPS} to {MAX_STOPS} stops");
            return Err(FluidError::parameter("stops", stops.len(), allowed));
        }
        let mut least = 0.0;
        for (index, stop) in stops.iter().enumerate() {
            if !(least..=1.0).contains(&stop.position) {
                let name = format!("stops[{index}].position");
                return Err(FluidError::parameter(name, stop.position, format!("{least} to 1")));
            }
            least = stop.position;
        }
        Ok(Self { stops })
    }

    /// The stops.
    pub fn stops(&self) -> &[PaletteStop] {
        &self.stops
    }

    /// The colour at `part`; that of the nearest end for one outside 0 to 1, and
    /// that of 0 for one that is not a number.
    pub fn color(&self, part: f32) -> Rgba {
        let part = if part.is_nan() { 0.0 } else { part };
        let after = self.stops.partition_point(|stop| stop.position <= part);
        let [low, high] = [after.saturating_sub(1), after.min(self.stops.len() - 1)]
            .map(|index| self.stops[index]);
        let way = high.position - low.position;
        if way > 0.0 { mix(low.color, high.color, (part - low.position) / way) } else { low.color }
    }

    /// Colours at equal distances from 0 to 1, for a texture.
    pub fn table(&self) -> [Rgba; Self::TABLE] {
        core::array::from_fn(|index| self.color(index as f32 / (Self::TABLE - 1) as f32))
    }

    /// Blue over near-black to red: what negative and positive values of one
    /// quantity look good in, zero in the middle.
    pub fn diverging() -> Self {
        Self::of([
            (0.0, [0xd8, 0xf3, 0xff, 0xff]),
            (0.18, [0x4c, 0xa8, 0xe8, 0xff]),
            (0.36, [0x1c, 0x3f, 0x86, 0xff]),
            (0.5, [0x0b, 0x0d, 0x14, 0xff]),
            (0.64, [0x86, 0x25, 0x2a, 0xff]),
            (0.82, [0xee, 0x84, 0x42, 0xff]),
            (1.0, [0xff, 0xf0, 0xc8, 0xff]),
        ])
    }

    fn of<const N: usize>(stops: [(f32, Rgba); N]) -> Self {
        Self { stops: stops.map(|(position, color)| PaletteStop { position, color }).into() }
    }
}

impl Default for Palette {
    /// Ink: from nearly black over blue and violet to a warm white.
    fn default() -> Self {
        Self::of([
            (0.0, [0x07, 0x0a, 0x14, 0xff]),
            (0.15, [0x12, 0x1f, 0x4a, 0xff]),
            (0.35, [0x2c, 0x4f, 0xa8, 0xff]),
            (0.55, [0x7a, 0x6f, 0xd6, 0xff]),
            (0.75, [0xd4, 0x8f, 0xc8, 0xff]),
            (1.0, [0xff, 0xf3, 0xe4, 0xff]),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stop(position: f32, color: &str) -> PaletteStop {
        PaletteStop::new(position, color).unwrap()
    }

    #[test]
    fn colors_are_mixed_between_stops_and_stay_beyond_them() {
        let palette = Palette::new([
            stop(0.2, "#000000"),
            stop(0.4, "#64C8FF"),
            stop(0.4, "#FF0000"),
            stop(0.8, "#FF000000"),
        ])
        .unwrap();
        assert_eq!(palette.color(0.25), [25, 50, 64, 255]);
        assert_eq!(palette.color(0.35), [75, 150, 191, 255]);
        assert_eq!(palette.color(0.399_999), [100, 200, 255, 255]);
        assert_eq!(palette.color(0.4), [255, 0, 0, 255], "an edge");
        assert_eq!(palette.color(0.5), [255, 0, 0, 191]);
        for (part, end) in [(0.0, 0.2), (-5.0, 0.2), (f32::NAN, 0.2), (1.0, 0.8), (9.0, 0.8)] {
            assert_eq!(palette.color(part), palette.color(end), "{part}");
        }
        let table = palette.table();
        assert_eq!((table[0], table[255]), (palette.color(0.0), palette.color(1.0)));
        assert_eq!(table[51], palette.color(0.2));
        assert_eq!(table[153], palette.color(0.6));
    }

    #[test]
    fn built_in_palettes_are_valid() {
        for palette in [Palette::default(), Palette::diverging()] {
            assert_eq!(Palette::new(palette.stops().iter().copied()), Ok(palette));
        }
    }

    #[test]
    fn impossible_stops_are_refused_by_their_number() {
        let ends = |middle: f32| {
            Palette::new([
                stop(0.0, "#000000"),
                PaletteStop { position: middle, color: [1; 4] },
                stop(0.5, "#FFFFFF"),
            ])
        };
        assert!(ends(0.25).is_ok());
        for bad in [-0.1, 1.5, f32::NAN, f32::INFINITY] {
            let message = ends(bad).unwrap_err().to_string();
            assert!(message.starts_with("stops[1].position is"), "{message}");
        }
        let message = ends(0.75).unwrap_err().to_string();
        assert_eq!(message, "stops[2].position is 0.5, allowed is 0.75 to 1");
        let many = |count: usize| Palette::new((0..count).map(|_| stop(0.5, "#123456")));
        assert!(many(MIN_STOPS).is_ok() && many(MAX_STOPS).is_ok());
        for count in [0, 1, MAX_STOPS + 1] {
            let message = many(count).unwrap_err().to_string();
            assert_eq!(message, format!("stops is {count}, allowed is 2 to 64 stops"));
        }
    }

    #[test]
    fn colors_are_read_and_written_as_hexadecimal() {
        for (text, color) in [("#0A14FF", [10, 20, 255, 255]), ("#0A14FF80", [10, 20, 255, 128])] {
            assert_eq!(stop(0.0, text).color, color);
            assert_eq!(stop(0.0, text).hex(), text);
        }
        for bad in ["", "#", "0A14FF", "#0A14F", "#0A14FG", "#+A14FF", "#0A14FF8", "#é14F"] {
            let message = PaletteStop::new(0.0, bad).unwrap_err().to_string();
            assert!(message.ends_with("allowed is #RRGGBB or #RRGGBBAA"), "{message}");
        }
    }
}
