//! What a run starts from: a scene file or a saved state.

use std::path::Path;

use bevy_fluid::Dimension;
use bevy_fluid::solver::scene::{Scene, SceneFile};
use bevy_fluid::solver::simulation::{Simulation, SimulationState};
use bevy_math::{Vec2, Vec3};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::error::RunError;
use super::options::Options;
use super::overrides;

/// A simulation before its first step, in its dimension.
pub enum Start {
    /// In the plane.
    Plane(Simulation<Vec2>),
    /// In space.
    Space(Simulation<Vec3>),
}

/// A saved state in a file. RON, as scenes are: it reads back every number bit
/// for bit, those that are not finite too.
#[derive(Serialize, Deserialize)]
pub enum StateFile {
    /// In the plane.
    State2d(SimulationState<Vec2>),
    /// In space.
    State3d(SimulationState<Vec3>),
}

impl From<SimulationState<Vec2>> for StateFile {
    fn from(state: SimulationState<Vec2>) -> Self {
        Self::State2d(state)
    }
}

impl From<SimulationState<Vec3>> for StateFile {
    fn from(state: SimulationState<Vec3>) -> Self {
        Self::State3d(state)
    }
}

impl Start {
    /// Reads what the options name.
    pub fn open(options: &Options) -> Result<Self, RunError> {
        if let Some(path) = &options.load {
            return match parse_state(path)? {
                StateFile::State2d(state) => restore(path, state).map(Self::Plane),
                StateFile::State3d(state) => restore(path, state).map(Self::Space),
            };
        }
        let Some(path) = &options.scene else {
            return Err(RunError::input("a scene or a saved state is needed"));
        };
        let text = read(path)?;
        let file = path.display().to_string();
        match SceneFile::parse(&file, &text).map_err(RunError::input)? {
            SceneFile::Scene2d(scene) => build(scene, &file, options).map(Self::Plane),
            SceneFile::Scene3d(scene) => build(scene, &file, options).map(Self::Space),
        }
    }
}

/// Reads a text file that the user named.
fn read(path: &Path) -> Result<String, RunError> {
    std::fs::read_to_string(path).map_err(|error| RunError::input_file("read", path, error))
}

/// Reads a saved state.
fn parse_state(path: &Path) -> Result<StateFile, RunError> {
    ron::from_str(&read(path)?).map_err(|error| {
        let (start, code) = (error.span.start, error.code);
        RunError::input(format!("{}:{}:{}: {code}", path.display(), start.line, start.col))
    })
}

/// The simulation of a saved state.
fn restore<V: Dimension>(
    path: &Path,
    state: SimulationState<V>,
) -> Result<Simulation<V>, RunError> {
    Simulation::from_state(state)
        .map_err(|error| RunError::input(format!("{}: {error}", path.display())))
}

/// The simulation of a scene with the overrides of the command line.
fn build<V: Dimension + DeserializeOwned>(
    mut scene: Scene<V>,
    file: &str,
    options: &Options,
) -> Result<Simulation<V>, RunError> {
    overrides::apply(&mut scene, &options.overrides).map_err(RunError::input)?;
    Simulation::from_scene(&scene).map_err(|error| {
        // The file alone was valid up to the sizes of its shapes.
        let source = if options.overrides.is_empty() {
            file.to_owned()
        } else {
            format!("{file} with --set")
        };
        RunError::input(format!("{source}: {error}"))
    })
}
