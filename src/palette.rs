//! Colours for quantities, the same on the screen and in frames: fixed ramps as
//! functions, and [`Palette`]s that a user makes.

#[cfg(feature = "scene")]
mod file;
mod stops;

#[cfg(feature = "scene")]
pub use file::PaletteFileError;
#[cfg(all(feature = "scene", feature = "render"))]
pub(crate) use file::PaletteLoader;
pub use stops::{MAX_STOPS, MIN_STOPS, Palette, PaletteStop};

/// Red, green, blue, alpha in sRGB.
pub type Rgba = [u8; 4];

/// Background of the reference's pictures, #EEEEEE.
pub const BACKGROUND: Rgba = [0xee, 0xee, 0xee, 0xff];

/// Boundary samples in the reference's pictures, #888888.
pub const BOUNDARY: Rgba = [0x88, 0x88, 0x88, 0xff];

/// The selected particle.
pub const SELECTED: Rgba = [0xff, 0, 0, 0xff];

/// Speed in m/s that is drawn brightest.
const BRIGHTEST_SPEED: f32 = 8.0;

/// The reference's colour of a speed in m/s: hsl(225, 100 %, 25 to 75 %),
/// brightest at 8 m/s and above.
pub fn speed(speed: f32) -> Rgba {
    let part = if speed.is_finite() { speed.clamp(0.0, BRIGHTEST_SPEED) } else { 0.0 };
    hsl(225.0, 1.0, 0.25 + 0.5 * part / BRIGHTEST_SPEED)
}

/// A ramp from blue over white to red for `part` from 0 to 1; 0.5 is white.
/// Values outside are drawn like the nearest end.
pub fn diverging(part: f32) -> Rgba {
    let part = if part.is_finite() { part.clamp(0.0, 1.0) } else { 0.5 };
    let fade = 1.0 - (2.0 * part - 1.0).abs();
    if part < 0.5 {
        mix([0x21, 0x4f, 0xc6, 0xff], [0xf4, 0xf4, 0xf4, 0xff], fade)
    } else {
        mix([0xc6, 0x28, 0x28, 0xff], [0xf4, 0xf4, 0xf4, 0xff], fade)
    }
}

/// A ramp from dark blue over green to yellow for `part` from 0 to 1.
pub fn sequential(part: f32) -> Rgba {
    let part = if part.is_finite() { part.clamp(0.0, 1.0) } else { 0.0 };
    let (dark, middle, bright) =
        ([0x2a, 0x18, 0x5e, 0xff], [0x1f, 0x92, 0x8c, 0xff], [0xf6, 0xe0, 0x3a, 0xff]);
    if part < 0.5 { mix(dark, middle, 2.0 * part) } else { mix(middle, bright, 2.0 * part - 1.0) }
}

/// A colour for the n-th body, distinct from its neighbours' in the list.
pub fn body(index: usize) -> Rgba {
    // The golden angle never comes back to the same hue.
    hsl((225.0 + 137.5 * index as f32) % 360.0, 0.75, 0.45)
}

fn mix(a: Rgba, b: Rgba, part: f32) -> Rgba {
    core::array::from_fn(|channel| {
        let (a, b) = (f32::from(a[channel]), f32::from(b[channel]));
        (a + (b - a) * part).round() as u8
    })
}

/// Hue in degrees, saturation and lightness from 0 to 1 (CSS Color 4, section 7.1).
fn hsl(hue: f32, saturation: f32, lightness: f32) -> Rgba {
    let channel = |n: f32| {
        let k = (n + hue / 30.0) % 12.0;
        let a = saturation * lightness.min(1.0 - lightness);
        let value = lightness - a * (k - 3.0).min(9.0 - k).clamp(-1.0, 1.0);
        (255.0 * value).round() as u8
    };
    [channel(0.0), channel(8.0), channel(4.0), 0xff]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_have_the_colours_of_the_reference() {
        // hsl(225, 100%, 25%), hsl(225, 100%, 50%), hsl(225, 100%, 75%) by CSS.
        assert_eq!(speed(0.0), [0, 32, 128, 255]);
        assert_eq!(speed(4.0), [0, 64, 255, 255]);
        assert_eq!(speed(8.0), [128, 159, 255, 255]);
        assert_eq!(speed(100.0), speed(8.0));
        assert_eq!(speed(f32::NAN), speed(0.0));
    }

    #[test]
    fn ramps_reach_their_ends_and_neighbouring_bodies_differ() {
        assert_ne!(diverging(0.0), diverging(1.0));
        assert_eq!(diverging(0.5), [0xf4, 0xf4, 0xf4, 0xff]);
        assert_eq!(sequential(2.0), sequential(1.0));
        assert_ne!(body(0), body(1));
    }
}
