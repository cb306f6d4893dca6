//! What a run starts from: a scene file or a saved state.

use std::path::Path;

use bevy_fluid::solver::sampling::TriangleMesh;
use bevy_fluid::solver::scene::{Scene, SceneFile};
use bevy_fluid::solver::simulation::{Simulation, SimulationState, StateFile};
use bevy_fluid::solver::vector::Vector;
use bevy_math::{Vec2, Vec3};

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

impl Start {
    /// Reads what the options name.
    pub fn open(options: &Options) -> Result<Self, RunError> {
        if let Some(path) = &options.load {
            let file = StateFile::parse(&path.display().to_string(), &read(path)?);
            return match file.map_err(RunError::input)? {
                StateFile::State2d(state) => loaded(path, state).map(Self::Plane),
                StateFile::State3d(state) => loaded(path, state).map(Self::Space),
            };
        }
        let Some(path) = &options.scene else {
            return Err(RunError::input("a scene or a saved state is needed"));
        };
        let text = read(path)?;
        let file = path.display().to_string();
        let mut scene = SceneFile::parse(&file, &text).map_err(RunError::input)?;
        overrides::apply(&mut scene, &options.overrides).map_err(RunError::input)?;
        let text = scene.to_ron().map_err(RunError::input)?;
        match scene {
            SceneFile::Scene2d(scene) => build(scene, text, path, options).map(Self::Plane),
            SceneFile::Scene3d(scene) => build(scene, text, path, options).map(Self::Space),
        }
    }
}

/// Reads a text file that the user named.
fn read(path: &Path) -> Result<String, RunError> {
    std::fs::read_to_string(path).map_err(|error| RunError::input_file("read", path, error))
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

/// A run of a scene whose `text` has the overrides of the command line.
fn build<V: Vector>(
    mut scene: Scene<V>,
    text: String,
    path: &Path,
    options: &Options,
) -> Result<Beginning<V>, RunError>
where
    SimulationState<V>: TryFrom<StateFile>,
{
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
    let saved = Saved::parse(path, &read(path)?)?;
    match SimulationState::try_from(saved.state(path)?) {
        Ok(state) if saved.scene == scene => restore(path, state).map(Some),
        _ => Err(RunError::input(format!(
            "{}: a run of another scene, or with another --set, was interrupted there",
            path.display()
        ))),
    }
}
