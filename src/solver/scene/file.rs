//! Scenes in files.

use bevy_math::{Vec2, Vec3};

use super::Scene;
use crate::solver::error::FluidError;

/// A scene file, of either dimension: `Scene2d(...)` or `Scene3d(...)` in RON.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum SceneFile {
    /// A scene in the plane.
    Scene2d(Scene<Vec2>),
    /// A scene in space.
    Scene3d(Scene<Vec3>),
}

/// A file of a scene or a saved state that cannot be used, and where it goes wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SceneError {
    /// The text is no such file: a syntax error, or a field that is unknown,
    /// missing or of the wrong type.
    #[error("{file}:{line}:{column}: {message}")]
    Text {
        /// Name of the file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What is wrong, with the name of the field.
        message: String,
    },
    /// A value is out of range.
    #[error("{file}: {error}")]
    Value {
        /// Name of the file.
        file: String,
        /// Name, value and allowed range.
        error: FluidError,
    },
}

impl SceneError {
    /// Of text that cannot be read.
    pub(crate) fn text(file: &str, error: &ron::error::SpannedError) -> Self {
        Self::Text {
            file: file.to_owned(),
            line: error.span.start.line,
            column: error.span.start.col,
            message: error.code.to_string(),
        }
    }
}

impl SceneFile {
    /// Reads and validates the text of a scene file; `file` is its name in errors.
    ///
    /// # Errors
    /// [`SceneError`] with the place of the first thing that is wrong.
    pub fn parse(file: &str, text: &str) -> Result<Self, SceneError> {
        let scene: Self =
            scene_format().from_str(text).map_err(|error| SceneError::text(file, &error))?;
        let valid = match &scene {
            Self::Scene2d(scene) => scene.validate(),
            Self::Scene3d(scene) => scene.validate(),
        };
        valid.map_err(|error| SceneError::Value { file: file.to_owned(), error })?;
        Ok(scene)
    }

    /// The text of a scene file, in one line.
    ///
    /// # Errors
    /// [`ron::Error`] if a value of the scene cannot be written.
    pub fn to_ron(&self) -> ron::Result<String> {
        scene_format().to_string(self)
    }
}

/// RON with the scene's fields directly inside `Scene2d(...)`.
fn scene_format() -> ron::Options {
    ron::Options::default()
        .with_default_extension(ron::extensions::Extensions::UNWRAP_VARIANT_NEWTYPES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::settings::{DfsphSettings, FluidMaterial, WcsphSettings};

    fn asset(name: &str) -> String {
        let path = format!("{}/assets/scenes/{name}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    #[test]
    fn dam_break_file_is_the_reference_scene() {
        let text = asset("dam_break.ron");
        let scene = SceneFile::parse("dam_break.ron", &text).unwrap();
        let SceneFile::Scene2d(scene) = scene else { panic!("a scene in the plane") };
        let expected = Scene::dam_break(30, 30);
        assert_eq!(scene.fluids, expected.fluids);
        assert_eq!(scene.dfsph, expected.dfsph);
        assert_eq!(scene.boundary_samples().unwrap(), expected.boundary_samples().unwrap());
        assert_eq!(scene, expected);
        // Every value spelt out: nothing in it follows a default.
        let dfsph = DfsphSettings::PARAMETERS.iter().map(|parameter| parameter.name);
        let wcsph = WcsphSettings::PARAMETERS.iter().map(|parameter| parameter.name);
        let material = FluidMaterial::PARAMETERS.iter().map(|parameter| parameter.name);
        for name in dfsph.chain(wcsph).chain(material).chain([
            "solver",
            "method",
            "equation_of_state",
            "negative_pressure",
            "density_correction",
            "surface_velocity",
            "periodic",
        ]) {
            assert!(text.contains(&format!("{name}:")), "{name} is missing");
        }
    }

    #[test]
    fn errors_name_file_line_and_field() {
        let unknown = "Scene2d(\n  gravity: (0.0, -9.81),\n  particel_radius: 0.1,\n)";
        let error = SceneFile::parse("x.ron", unknown).unwrap_err().to_string();
        assert!(error.starts_with("x.ron:3:"), "{error}");
        assert!(error.contains("particel_radius"), "{error}");
        let wrong = "Scene2d(\n  particle_radius: \"big\",\n)";
        let error = SceneFile::parse("x.ron", wrong).unwrap_err().to_string();
        assert!(error.starts_with("x.ron:2:"), "{error}");
        let range = "Scene2d(dfsph: (relaxation: 7.0))";
        let error = SceneFile::parse("x.ron", range).unwrap_err().to_string();
        assert_eq!(error, "x.ron: dfsph.relaxation is 7.0, allowed is 1e-2 to 1");
        assert!(SceneFile::parse("x.ron", "Scene2d(dfsph: (relaxation: 0.7))").is_ok());
    }

    #[test]
    fn a_written_scene_is_read_as_the_same() {
        for name in ["dam_break.ron", "cloth_3d.ron", "fountain_3d.ron", "smoke.ron"] {
            let scene = SceneFile::parse(name, &asset(name)).unwrap();
            let text = scene.to_ron().unwrap();
            assert_eq!(SceneFile::parse(name, &text), Ok(scene), "{text}");
        }
    }
}
