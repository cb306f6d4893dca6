//! The state that an interrupted run goes on from, in the folder of its frames.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bevy_fluid::frames::write_whole;
use bevy_fluid::solver::simulation::{Simulation, SimulationState, StateFile};
use bevy_fluid::solver::vector::Vector;
use ron::value::RawValue;
use serde::{Deserialize, Serialize};

use super::error::RunError;
use super::options::Options;

/// Name of the file.
const NAME: &str = "resume.ron";

/// Seconds of wall time between two states where nothing else is asked for.
const DEFAULT_PAUSE: f64 = 60.0;

/// What the file holds.
#[derive(Serialize, Deserialize)]
pub struct Saved {
    /// The scene of the run in RON, overrides included.
    pub scene: String,
    /// Where it was, the text of a state's file.
    state: Box<RawValue>,
}

impl Saved {
    /// The file's place in a folder.
    pub fn path(folder: &Path) -> PathBuf {
        folder.join(NAME)
    }

    /// Reads the text of the file at `path`.
    pub fn parse(path: &Path, text: &str) -> Result<Self, RunError> {
        ron::from_str(text).map_err(|error| {
            let (start, code) = (error.span.start, error.code);
            RunError::input(format!("{}:{}:{}: {code}", path.display(), start.line, start.col))
        })
    }

    /// Where the run was; `path` is the file's name in errors.
    pub fn state(&self, path: &Path) -> Result<StateFile, RunError> {
        let file = path.display().to_string();
        StateFile::parse(&file, self.state.get_ron()).map_err(RunError::input)
    }
}

/// Saves the state from time to time.
pub struct Checkpoint {
    path: PathBuf,
    scene: String,
    pause: Duration,
    last: Instant,
}

impl Checkpoint {
    /// For a run of a scene, given in RON, that leaves frames or asks for it.
    pub fn new(options: &Options, scene: Option<String>) -> Option<Self> {
        let wanted = options.save_every.is_some()
            || options.resume
            || options.frames.is_some()
            || !options.snapshots.is_empty();
        let (Some(folder), Some(scene), true) = (&options.out, scene, wanted) else { return None };
        let pause = Duration::from_secs_f64(options.save_every.unwrap_or(DEFAULT_PAUSE));
        Some(Self { path: Saved::path(folder), scene, pause, last: Instant::now() })
    }

    /// Saves the state if it is time to.
    pub fn step<V: Vector>(&mut self, simulation: &mut Simulation<V>) -> Result<(), RunError>
    where
        StateFile: From<SimulationState<V>>,
    {
        if self.last.elapsed() < self.pause {
            return Ok(());
        }
        self.save(simulation)?;
        self.last = Instant::now();
        Ok(())
    }

    /// Saves the state.
    pub fn save<V: Vector>(&self, simulation: &mut Simulation<V>) -> Result<(), RunError>
    where
        StateFile: From<SimulationState<V>>,
    {
        let text = StateFile::from(simulation.state()).to_ron();
        let text = text.and_then(|text| {
            let state = RawValue::from_boxed_ron(text.into()).map_err(ron::Error::from)?;
            ron::to_string(&Saved { scene: self.scene.clone(), state })
        });
        let text = text.map_err(|error| RunError::output_file(&self.path, error))?;
        write_whole(&self.path, text.as_bytes())
            .map_err(|error| RunError::output_file(&self.path, error))
    }

    /// Takes the state away after the run has come to its end.
    pub fn finish(self) {
        // None was saved, most often; one that stays only makes --resume do nothing.
        let _ = std::fs::remove_file(&self.path);
    }
}
