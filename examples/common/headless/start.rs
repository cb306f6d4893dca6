//! What a run starts from: a scene file or a saved state.

use std::path::Path;

use bevy_fluid::Dimension;
use bevy_fluid::solver::sampling::TriangleMesh;
use bevy_fluid::solver::scene::{Scene, SceneFile};
use bevy_fluid::solver::simulation::{Simulation, SimulationState};
use bevy_fluid::solver::vector::Vector;
use bevy_math::{Vec2, Vec3};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::checkpoint::Saved;
use super::error::RunError;
use super::options::Options;
use super::overrides;

/// What a run begins with, in its dimension.
pub enum Start {
    /// In the plane.
    Plane(Beginning<Vec2>),
    /// In space.
    Space(Beginning<Vec3>),
}

/// What a run begins with.
pub struct Beginning<V: Vector> {
    /// The simulation that steps, seconds and the picture's view count from.
    pub first: Simulation<V>,
    /// Where an interrupted run goes on.
    pub resumed: Option<Simulation<V>>,
    /// The scene in RON, where there is one.
    pub scene: Option<String>,
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

impl TryFrom<StateFile> for SimulationState<Vec2> {
    type Error = ();

    fn try_from(file: StateFile) -> Result<Self, ()> {
        if let StateFile::State2d(state) = file { Ok(state) } else { Err(()) }
    }
}

impl TryFrom<StateFile> for SimulationState<Vec3> {
    type Error = ();

    fn try_from(file: StateFile) -> Result<Self, ()> {
        if let StateFile::State3d(state) = file { Ok(state) } else { Err(()) }
    }
}

impl Start {
    /// Reads what the options name.
    pub fn open(options: &Options) -> Result<Self, RunError> {
        if let Some(path) = &options.load {
            return match parse(path)? {
                StateFile::State2d(state) => loaded(path, state).map(Self::Plane),
                StateFile::State3d(state) => loaded(path, state).map(Self::Space),
            };
        }
        let Some(path) = &options.scene else {
            return Err(RunError::input("a scene or a saved state is needed"));
        };
        let text = read(path)?;
        let file = path.display().to_string();
        match SceneFile::parse(&file, &text).map_err(RunError::input)? {
            SceneFile::Scene2d(scene) => build(scene, path, options).map(Self::Plane),
            SceneFile::Scene3d(scene) => build(scene, path, options).map(Self::Space),
        }
    }
}

/// Reads a text file that the user named.
fn read(path: &Path) -> Result<String, RunError> {
    std::fs::read_to_string(path).map_err(|error| RunError::input_file("read", path, error))
}

/// Reads RON, a saved state or what holds one.
fn parse<T: DeserializeOwned>(path: &Path) -> Result<T, RunError> {
    ron::from_str(&read(path)?).map_err(|error| {
        let (start, code) = (error.span.start, error.code);
        RunError::input(format!("{}:{}:{}: {code}", path.display(), start.line, start.col))
    })
}

/// The simulation of a saved state.
fn restore<V: Vector>(path: &Path, state: SimulationState<V>) -> Result<Simulation<V>, RunError> {
    Simulation::from_state(state)
        .map_err(|error| RunError::input(format!("{}: {error}", path.display())))
}

/// A run that goes on from a saved state as if it had begun there.
fn loaded<V: Vector>(path: &Path, state: SimulationState<V>) -> Result<Beginning<V>, RunError> {
    Ok(Beginning { first: restore(path, state)?, resumed: None, scene: None })
}

/// A run of a scene with the overrides of the command line.
fn build<V>(mut scene: Scene<V>, path: &Path, options: &Options) -> Result<Beginning<V>, RunError>
where
    V: Dimension + Serialize + DeserializeOwned,
    SimulationState<V>: TryFrom<StateFile>,
{
    overrides::apply(&mut scene, &options.overrides).map_err(RunError::input)?;
    let text = ron::to_string(&scene).map_err(RunError::input)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    scene.load_meshes(|mesh| read_mesh(&folder.join(mesh)))?;
    let first = Simulation::from_scene(&scene).map_err(|error| {
        // The file alone was valid up to the sizes of its shapes.
        let with = if options.overrides.is_empty() { "" } else { " with --set" };
        RunError::input(format!("{}{with}: {error}", path.display()))
    })?;
    let resumed = match &options.out {
        Some(folder) if options.resume => resume(&Saved::path(folder), &text)?,
        _ => None,
    };
    Ok(Beginning { first, resumed, scene: Some(text) })
}

/// Reads a mesh that a scene names.
fn read_mesh(path: &Path) -> Result<TriangleMesh, RunError> {
    let bytes = std::fs::read(path).map_err(|error| RunError::input_file("read", path, error))?;
    TriangleMesh::from_obj(&path.display().to_string(), &bytes).map_err(RunError::input)
}

/// Where the run of a scene, given in RON, was interrupted, if it was.
fn resume<V: Vector>(path: &Path, scene: &str) -> Result<Option<Simulation<V>>, RunError>
where
    SimulationState<V>: TryFrom<StateFile>,
{
    if !path.exists() {
        return Ok(None);
    }
    let saved: Saved = parse(path)?;
    match SimulationState::try_from(saved.state) {
        Ok(state) if saved.scene == scene => restore(path, state).map(Some),
        _ => Err(RunError::input(format!(
            "{}: a run of another scene, or with another --set, was interrupted there",
            path.display()
        ))),
    }
}
