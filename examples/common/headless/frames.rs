//! Frames at a rate of their own, and snapshots of chosen steps.

use std::path::{Path, PathBuf};

use bevy_fluid::frames::{ParticleTable, check_writable, write_whole};
use bevy_fluid::solver::simulation::Simulation;
use bevy_fluid::solver::vector::Vector;

use super::error::RunError;
use super::options::{Format, Options};
use super::picture::Picture;
use super::record::snapshot;

/// The files that a run leaves in its folder.
pub struct Frames {
    folder: PathBuf,
    /// Frames per simulated second.
    rate: Option<f64>,
    format: Format,
    /// Number of the frame that comes next.
    next: u64,
    /// Draws the frames, and the end where nothing else is asked for.
    picture: Option<Picture>,
    /// Steps to write down, rising.
    snapshots: Vec<u64>,
}

impl Frames {
    /// Makes the folder, for a run that begins at this state. `None` where no
    /// folder is asked for.
    pub fn open<V: Vector>(
        options: &Options,
        simulation: &Simulation<V>,
    ) -> Result<Option<Self>, RunError> {
        let Some(folder) = options.out.clone() else { return Ok(None) };
        std::fs::create_dir_all(&folder)
            .and_then(|()| check_writable(&folder.join("final.png")))
            .map_err(|error| RunError::input_file("write to", &folder, error))?;
        let mut snapshots = options.snapshots.clone();
        snapshots.sort_unstable();
        snapshots.dedup();
        let format = options.format.unwrap_or_default();
        let drawn = match options.frames {
            Some(_) => format == Format::Png,
            None => snapshots.is_empty(),
        };
        let picture = drawn.then(|| Picture::new(simulation)).transpose();
        let picture = picture.map_err(RunError::input)?;
        Ok(Some(Self { folder, rate: options.frames, format, next: 0, picture, snapshots }))
    }

    /// Writes what is due at the state that this run goes on from.
    pub fn begin<V: Vector>(&mut self, simulation: &mut Simulation<V>) -> Result<(), RunError> {
        if simulation.steps() > 0 {
            // The run that was saved has written these.
            self.next = self.due(simulation.time());
            self.snapshots.retain(|&step| step > simulation.steps());
        }
        self.write(simulation)
    }

    /// Writes what is due after a step.
    pub fn write<V: Vector>(&mut self, simulation: &mut Simulation<V>) -> Result<(), RunError> {
        let steps = simulation.steps();
        if self.snapshots.first() == Some(&steps) {
            self.snapshots.remove(0);
            let path = self.folder.join(format!("snapshot_{steps:06}.json"));
            save(&path, snapshot(simulation))?;
        }
        let due = self.due(simulation.time());
        if self.next < due {
            let (bytes, kind) = self.frame(simulation).map_err(RunError::Output)?;
            for frame in self.next..due {
                let path = self.folder.join(format!("frame_{frame:06}.{kind}"));
                save(&path, Ok::<_, String>(&bytes))?;
            }
            self.next = due;
        }
        Ok(())
    }

    /// The bytes of a frame and the ending of its name.
    fn frame<V: Vector>(
        &mut self,
        simulation: &mut Simulation<V>,
    ) -> Result<(Vec<u8>, &'static str), String> {
        let table = |simulation: &mut Simulation<V>| ParticleTable::new(simulation.bodies());
        Ok(match (self.format, &mut self.picture) {
            (Format::Vtk, _) => (table(simulation).vtk().map_err(told)?, "vtk"),
            (Format::Ply, _) => (table(simulation).ply(), "ply"),
            #[cfg(feature = "surface")]
            (Format::Surface, _) => {
                let radius = simulation.world().settings().particle_radius;
                (table(simulation).surface(radius).map_err(told)?.ply(), "ply")
            }
            (Format::Png, Some(picture)) => (picture.png(simulation).map_err(told)?, "png"),
            _ => (snapshot(simulation).map_err(told)?, "json"),
        })
    }

    /// Leaves a picture of the end where nothing else was asked for.
    pub fn finish<V: Vector>(mut self, simulation: &mut Simulation<V>) -> Result<(), RunError> {
        match &mut self.picture {
            Some(picture) if self.rate.is_none() => {
                save(&self.folder.join("final.png"), picture.png(simulation))
            }
            _ => Ok(()),
        }
    }

    /// Snapshots of steps that are still to come.
    pub fn missing(&self) -> &[u64] {
        &self.snapshots
    }

    /// Number of frames up to a time, frame 0 at time 0 included.
    fn due(&self, time: f64) -> u64 {
        // A step in f32 falls short of its decimal value by up to 6e-8 of it.
        self.rate.map_or(0, |rate| (time * (1.0 + 1e-7) * rate) as u64 + 1)
    }
}

fn told(error: impl ToString) -> String {
    error.to_string()
}

/// Writes a whole file of what was made for it.
fn save<E: ToString>(path: &Path, made: Result<impl AsRef<[u8]>, E>) -> Result<(), RunError> {
    let bytes = made.map_err(|error| RunError::output_file(path, error))?;
    write_whole(path, bytes.as_ref()).map_err(|error| RunError::output_file(path, error))
}
