//! Dots drawn on the CPU.

use std::path::Path;
use std::sync::LazyLock;

use bevy_math::{DVec2, Rect, Vec2};
use tiny_skia::{Color, Pixmap};

use super::{FrameError, write_whole};

/// A picture of a part of the world, for dots.
///
/// The world's y points up. The part is scaled equally in both directions and centred; where its
/// shape differs from the picture's, the picture shows more of the world on two sides.
///
/// ```
/// use bevy_fluid::frames::Canvas;
/// use bevy_math::{DVec2, Rect, Vec2};
///
/// let tank = Rect::new(0.0, 0.0, 4.0, 2.0);
/// let mut canvas = Canvas::new(1280, 720, tank, [0xEE, 0xEE, 0xEE])?;
/// canvas.dot(Vec2::new(2.0, 1.0), 0.05, [0, 0, 255, 255]);
/// let png: Vec<u8> = canvas.encode_png()?;
/// # Ok::<(), bevy_fluid::frames::FrameError>(())
/// ```
#[derive(Clone)]
pub struct Canvas {
    /// Opaque throughout, so premultiplied is the same as straight.
    pixels: Pixmap,
    background: [u8; 3],
    scale: f64,
    /// The world position of the picture's top left corner.
    left: f64,
    top: f64,
}

impl Canvas {
    /// The greatest width and height, in pixels.
    pub const MAX_SIDE: u32 = 8192;

    /// A picture of `width` by `height` pixels (1 to [`MAX_SIDE`](Self::MAX_SIDE) each) that shows
    /// at least `world` (world units) on a `background` in sRGB.
    ///
    /// # Errors
    ///
    /// [`FrameError::Parameter`] if a side is zero or too large, or if `world` is not finite or its
    /// max is not greater than its min in both directions.
    pub fn new(
        width: u32,
        height: u32,
        world: Rect,
        background: [u8; 3],
    ) -> Result<Self, FrameError> {
        for (parameter, value) in [("width", width), ("height", height)] {
            if value == 0 || value > Self::MAX_SIDE {
                return Err(FrameError::Parameter {
                    parameter,
                    value: value.to_string(),
                    allowed: format!("1 to {} pixels", Self::MAX_SIDE),
                });
            }
        }
        let Rect { min, max } = world;
        if !(min.is_finite() && max.is_finite() && min.cmplt(max).all()) {
            return Err(FrameError::Parameter {
                parameter: "world",
                value: format!("{min} to {max}"),
                allowed: "a finite rectangle with min < max in x and y".into(),
            });
        }
        // Both sides are in range, so this is no error.
        let Some(pixels) = Pixmap::new(width, height) else {
            return Err(FrameError::Parameter {
                parameter: "width and height",
                value: format!("{width} and {height}"),
                allowed: format!("1 to {} pixels", Self::MAX_SIDE),
            });
        };
        // f64, so that neither the largest nor the smallest f32 rectangle overflows.
        let (min, max) = (min.as_dvec2(), max.as_dvec2());
        let (columns, rows) = (f64::from(width), f64::from(height));
        let scale = (columns / (max.x - min.x)).min(rows / (max.y - min.y));
        let center = 0.5 * (min + max);
        let mut canvas = Self {
            pixels,
            background,
            scale,
            left: center.x - 0.5 * columns / scale,
            top: center.y + 0.5 * rows / scale,
        };
        canvas.clear();
        Ok(canvas)
    }

    /// Fills the picture with its background.
    pub fn clear(&mut self) {
        let [red, green, blue] = self.background;
        self.pixels.fill(Color::from_rgba8(red, green, blue, 255));
    }

    /// The picture's width in pixels.
    pub fn width(&self) -> u32 {
        self.pixels.width()
    }

    /// The picture's height in pixels.
    pub fn height(&self) -> u32 {
        self.pixels.height()
    }

    /// The sRGB colour of a pixel, counted from the top left corner; `None` outside the picture.
    pub fn pixel(&self, x: u32, y: u32) -> Option<[u8; 3]> {
        if x >= self.width() {
            return None;
        }
        let pixel = self.pixels.pixel(x, y)?;
        Some([pixel.red(), pixel.green(), pixel.blue()])
    }

    /// Draws a dot over what is there: `position` and `radius` in world units, `rgba` in sRGB with
    /// alpha not multiplied in. Its edge is soft by one pixel; a dot smaller than a pixel is drawn
    /// at about one pixel.
    ///
    /// A dot outside the picture, one whose position or radius is not finite and one with a
    /// negative radius draw nothing.
    pub fn dot(&mut self, position: Vec2, radius: f32, rgba: [u8; 4]) {
        if !position.is_finite() || !radius.is_finite() || radius < 0.0 || rgba[3] == 0 {
            return;
        }
        let x = (f64::from(position.x) - self.left) * self.scale;
        let y = (self.top - f64::from(position.y)) * self.scale;
        let radius = (f64::from(radius) * self.scale).max(MIN_RADIUS);
        let paint = Paint::new(rgba);
        let width = self.pixels.width() as usize;
        let first = pixel_at_or_after(y - radius - 0.5);
        let end = pixel_at_or_after(y + radius + 0.5).min(self.pixels.height() as usize);
        let pixels = self.pixels.data_mut();
        for row in first..end {
            let dy = row as f64 + 0.5 - y;
            // A pixel's centre farther than this draws nothing, nearer than that draws all.
            let outer = half_chord(radius + 0.5, dy);
            let inner = half_chord(radius - 0.5, dy);
            let bounds = [x - outer, x - inner, x + inner, x + outer];
            let [start, inside, outside, end] = bounds.map(|x| pixel_at_or_after(x).min(width));
            let mut edge = |columns: std::ops::Range<usize>| {
                for column in columns {
                    let dx = column as f64 + 0.5 - x;
                    let distance = (dx * dx + dy * dy).sqrt();
                    let coverage = (radius + 0.5 - distance).clamp(0.0, 1.0);
                    let pixel = 4 * (row * width + column);
                    paint.blend(&mut pixels[pixel..pixel + 3], coverage as f32);
                }
            };
            edge(start..inside);
            edge(outside.max(inside)..end);
            let (inside, outside) = (4 * (row * width + inside), 4 * (row * width + outside));
            if inside < outside {
                paint.fill(&mut pixels[inside..outside]);
            }
        }
    }

    /// Draws a straight line over what is there, `width` pixels wide, at least one, from `a` to `b`
    /// in world units, `rgba` as for [`Canvas::dot`]. Its edges are soft by one pixel.
    ///
    /// A line outside the picture and one with an end or a width that is not finite draw nothing.
    pub fn line(&mut self, a: Vec2, b: Vec2, width: f32, rgba: [u8; 4]) {
        if !(a.is_finite() && b.is_finite() && width.is_finite()) || rgba[3] == 0 {
            return;
        }
        let pixel = |point: Vec2| {
            DVec2::new(
                (f64::from(point.x) - self.left) * self.scale,
                (self.top - f64::from(point.y)) * self.scale,
            )
        };
        let (a, b) = (pixel(a), pixel(b));
        let half = 0.5 * f64::from(width.max(1.0));
        let paint = Paint::new(rgba);
        let (columns, rows) = (self.pixels.width() as usize, self.pixels.height() as usize);
        let along = b - a;
        let (low, high) = (a.min(b) - half - 0.5, a.max(b) + half + 0.5);
        let pixels = self.pixels.data_mut();
        for row in pixel_at_or_after(low.y)..pixel_at_or_after(high.y).min(rows) {
            for column in pixel_at_or_after(low.x)..pixel_at_or_after(high.x).min(columns) {
                let here = DVec2::new(column as f64 + 0.5, row as f64 + 0.5);
                let part = (here - a).dot(along) / along.length_squared();
                // A line without length is a dot.
                let nearest = a + along * if part.is_nan() { 0.0 } else { part.clamp(0.0, 1.0) };
                let coverage = (half + 0.5 - here.distance(nearest)).clamp(0.0, 1.0);
                let pixel = 4 * (row * columns + column);
                paint.blend(&mut pixels[pixel..pixel + 3], coverage as f32);
            }
        }
    }

    /// Fills a rectangle in world units: all pixels whose centres lie in it, its upper and right
    /// edge left out, `rgba` as for [`Canvas::dot`]. One that is not finite draws nothing.
    pub fn rect(&mut self, rect: Rect, rgba: [u8; 4]) {
        if !(rect.min.is_finite() && rect.max.is_finite()) || rgba[3] == 0 {
            return;
        }
        let x = |x: f32| pixel_at_or_after((f64::from(x) - self.left) * self.scale);
        let y = |y: f32| pixel_at_or_after((self.top - f64::from(y)) * self.scale);
        let paint = Paint::new(rgba);
        let (width, height) = (self.pixels.width() as usize, self.pixels.height() as usize);
        let (left, right) = (x(rect.min.x), x(rect.max.x).min(width));
        let (top, bottom) = (y(rect.max.y), y(rect.min.y).min(height));
        let pixels = self.pixels.data_mut();
        for row in top..bottom {
            if left < right {
                paint.fill(&mut pixels[4 * (row * width + left)..4 * (row * width + right)]);
            }
        }
    }

    /// The picture as the bytes of a PNG file.
    ///
    /// # Errors
    ///
    /// [`FrameError::Encode`] if the encoder fails.
    pub fn encode_png(&self) -> Result<Vec<u8>, FrameError> {
        self.pixels.encode_png().map_err(|source| FrameError::Encode { source: source.into() })
    }

    /// Writes the picture as a PNG file, replacing one that is there. The folder must exist. The
    /// file is written under a temporary name beside it (`.name.tmp`) and renamed: `path` never
    /// holds a part of a picture.
    ///
    /// # Errors
    ///
    /// [`FrameError::Write`] with the path if the file cannot be written, [`FrameError::Encode`] if
    /// the encoder fails.
    pub fn write_png(&self, path: impl AsRef<Path>) -> Result<(), FrameError> {
        let path = path.as_ref();
        write_whole(path, &self.encode_png()?)
            .map_err(|source| FrameError::Write { path: path.to_owned(), source })
    }
}

/// In pixels; what the shader of the `render` feature has, too.
const MIN_RADIUS: f64 = 0.5;

/// The first pixel whose centre lies at or after `x`, 0 for one before the picture.
fn pixel_at_or_after(x: f64) -> usize {
    // `as` saturates.
    (x - 0.5).ceil() as usize
}

/// Half the width of a circle at a distance from its centre, 0 where there is nothing of it.
fn half_chord(radius: f64, distance: f64) -> f64 {
    (radius * radius - distance * distance).max(0.0).sqrt()
}

/// A colour that blends in linear light, as a GPU does on an sRGB target.
struct Paint {
    srgb: [u8; 3],
    linear: [f32; 3],
    alpha: f32,
}

impl Paint {
    fn new([red, green, blue, alpha]: [u8; 4]) -> Self {
        let srgb = [red, green, blue];
        let linear = srgb.map(|channel| TABLES.linear[usize::from(channel)]);
        Self { srgb, linear, alpha: f32::from(alpha) / 255.0 }
    }

    /// Over whole pixels of four bytes.
    fn fill(&self, pixels: &mut [u8]) {
        for pixel in pixels.chunks_exact_mut(4) {
            if self.alpha == 1.0 {
                pixel[..3].copy_from_slice(&self.srgb);
            } else {
                self.blend(pixel, 1.0);
            }
        }
    }

    fn blend(&self, pixel: &mut [u8], coverage: f32) {
        let alpha = self.alpha * coverage;
        for (channel, paint) in pixel.iter_mut().zip(self.linear) {
            let below = TABLES.linear[usize::from(*channel)];
            *channel = TABLES.to_srgb(below + alpha * (paint - below));
        }
    }
}

/// The sRGB curve in both directions: the powers would cost more than all the rest.
struct Tables {
    linear: [f32; 256],
    srgb: Vec<u8>,
}

/// Enough that every one of the 256 values maps to itself: the darkest lie 1/3295 apart.
const STEPS: usize = 8192;

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    let linear = |srgb: f64| match srgb {
        ..=0.040_45 => srgb / 12.92,
        _ => ((srgb + 0.055) / 1.055).powf(2.4),
    };
    let srgb = |linear: f64| match linear {
        ..=0.003_130_8 => 12.92 * linear,
        _ => 1.055 * linear.powf(1.0 / 2.4) - 0.055,
    };
    Tables {
        linear: std::array::from_fn(|value| linear(value as f64 / 255.0) as f32),
        srgb: (0..=STEPS)
            .map(|step| (255.0 * srgb(step as f64 / STEPS as f64)).round() as u8)
            .collect(),
    }
});

impl Tables {
    fn to_srgb(&self, linear: f32) -> u8 {
        let step = (linear.clamp(0.0, 1.0) * STEPS as f32).round() as usize;
        self.srgb[step]
    }
}

#[cfg(test)]
mod tests;
