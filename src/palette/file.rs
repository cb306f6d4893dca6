//! Palettes in RON files.

use serde::Deserialize;

use super::stops::{Palette, PaletteStop};
use crate::solver::error::FluidError;

/// Why a palette file was not read.
#[derive(Debug, thiserror::Error)]
pub enum PaletteFileError {
    /// The file could not be read.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// The file is not a palette in RON.
    #[error("{file}:{line}:{column}: {reason}")]
    Syntax {
        /// Name of the file.
        file: String,
        /// Line, counted from 1.
        line: usize,
        /// Column, counted from 1.
        column: usize,
        /// What is wrong there.
        reason: String,
    },
    /// A stop is impossible.
    #[error("{file}: {error}")]
    Stop {
        /// Name of the file.
        file: String,
        /// The stop, the value and what is allowed.
        error: FluidError,
    },
}

/// A palette as written.
#[derive(Deserialize)]
#[serde(rename = "Palette", deny_unknown_fields)]
struct Written {
    stops: Vec<WrittenStop>,
}

/// A stop as written.
#[derive(Deserialize)]
#[serde(rename = "Stop", deny_unknown_fields)]
struct WrittenStop {
    position: f32,
    color: String,
}

impl Palette {
    /// Reads a palette from the text of a `.palette.ron` file; `file` is its name
    /// in errors.
    ///
    /// ```
    /// use bevy_fluid::palette::Palette;
    ///
    /// let text = r##"(stops: [
    ///     (position: 0.0, color: "#000000"),
    ///     (position: 1.0, color: "#FFFFFF"),
    /// ])"##;
    /// let palette = Palette::parse("grey.palette.ron", text)?;
    /// assert_eq!(palette.to_ron().split_whitespace().count(), text.split_whitespace().count());
    /// # Ok::<(), bevy_fluid::palette::PaletteFileError>(())
    /// ```
    ///
    /// # Errors
    /// [`PaletteFileError`] naming the line, or the stop that is refused.
    pub fn parse(file: &str, text: &str) -> Result<Self, PaletteFileError> {
        let written: Written = ron::from_str(text).map_err(|error| PaletteFileError::Syntax {
            file: file.into(),
            line: error.span.start.line,
            column: error.span.start.col,
            reason: error.code.to_string(),
        })?;
        let stops = written.stops.iter().enumerate().map(|(index, stop)| {
            PaletteStop::new(stop.position, &stop.color)
                .map_err(|error| error.within(format_args!("stops[{index}]")))
        });
        let palette = stops.collect::<Result<Vec<_>, _>>().and_then(Self::new);
        palette.map_err(|error| PaletteFileError::Stop { file: file.into(), error })
    }

    /// The text of a `.palette.ron` file.
    pub fn to_ron(&self) -> String {
        let stop = |stop: &PaletteStop| {
            format!("    (position: {:?}, color: \"{}\"),\n", stop.position, stop.hex())
        };
        let stops: String = self.stops().iter().map(stop).collect();
        format!("(stops: [\n{stops}])\n")
    }
}

/// Loads `.palette.ron` files.
#[cfg(feature = "render")]
#[derive(bevy::reflect::TypePath)]
pub(crate) struct PaletteLoader;

#[cfg(feature = "render")]
impl bevy::asset::AssetLoader for PaletteLoader {
    type Asset = Palette;
    type Settings = ();
    type Error = PaletteFileError;

    async fn load(
        &self,
        reader: &mut dyn bevy::asset::io::Reader,
        _settings: &(),
        context: &mut bevy::asset::LoadContext<'_>,
    ) -> Result<Palette, PaletteFileError> {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).await?;
        Palette::parse(&context.path().to_string(), &String::from_utf8_lossy(&bytes))
    }

    fn extensions(&self) -> &[&str] {
        &["palette.ron"]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_palette_of_the_assets_is_read_and_written_again() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/palettes");
        let mut count = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            assert!(name.ends_with(".palette.ron"), "{name}");
            let text = std::fs::read_to_string(&path).unwrap();
            let palette = Palette::parse(&name, &text).unwrap();
            assert_eq!(Palette::parse(&name, &palette.to_ron()).unwrap(), palette);
            if name == "ink.palette.ron" {
                assert_eq!(palette, Palette::default());
            }
            count += 1;
        }
        assert!(count >= 5, "{count}");
    }

    #[test]
    fn errors_name_the_file_and_the_line_or_the_stop() {
        let good = "(stops: [\n (position: 0, color: \"#000000\"),\n (position: 1, color: \"#FFFFFF\"),\n])";
        assert!(Palette::parse("a", good).is_ok());
        for (from, to, message) in [
            ("position: 1", "place: 1", "a:3:"),
            ("#FFFFFF", "#FFFFF", "a: stops[1].color is \"#FFFFF\", allowed is #RRGGBB"),
            ("position: 1", "position: 2", "a: stops[1].position is 2.0, allowed is 0 to 1"),
            ("])", "]", "a:4:"),
        ] {
            let error = Palette::parse("a", &good.replace(from, to)).unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}");
        }
    }
}
