//! The command line.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

use super::error::one_line;
use super::overrides::Override;

/// Length of a run that is given neither steps nor seconds.
const DEFAULT_SECONDS: f64 = 2.0;

/// Most threads that can be asked for.
const MAX_THREADS: u64 = 1024;

/// What to run, for how long, and what to write down.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "headless",
    about = "Runs a fluid scene without a window or a GPU and writes down what happens.",
    after_help = "\
Units are SI: metres, seconds, kilograms. Errors are fractions, not percent.

Files appear whole or not at all, except FILE of --jsonl, which grows by whole lines. Ctrl-C
stops after the current step, saves the state where --save asks for it and for --resume, and exits
with 130; bad input exits with 2 and one line that says what is wrong.

Examples:
  headless assets/scenes/dam_break.ron --steps 400 --jsonl steps.jsonl
  headless assets/scenes/dam_break.ron --seconds 5 --out out --frames 60
  headless assets/scenes/dam_break.ron --set dfsph.max_density_error=0.0005 \\
      --set 'fluids[0].material.viscosity=0.1' --set 'time_step=Fixed(0.002)'
  headless assets/scenes/dam_break_3d.ron --seconds 1 --out out --frames 60 --format vtk"
)]
pub struct Options {
    /// Scene file, such as assets/scenes/dam_break.ron.
    ///
    /// Needed unless --load gives a saved state, which holds everything that
    /// the next step reads: then neither a scene nor --set can be given.
    #[arg(value_name = "SCENE.ron", required_unless_present = "load", conflicts_with = "load")]
    pub scene: Option<PathBuf>,

    /// Run for this much simulated time, in seconds, 0 or more: to the end of
    /// the first step at or past it [default: 2].
    #[arg(long, value_name = "S", value_parser = seconds, allow_negative_numbers = true,
        conflicts_with = "steps")]
    pub seconds: Option<f64>,

    /// Run this many steps.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub steps: Option<u64>,

    /// Folder for frames and snapshots; made if it is missing. Without either
    /// of them a picture of the end is left there, final.png.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Write one line of JSON per step: time and step in s, iterations and
    /// errors of both solves, densities in kg/m^3 (2D: kg/m^2), energies in J,
    /// center of mass in m, highest speed in m/s, milliseconds by stage.
    #[arg(long, value_name = "FILE")]
    pub jsonl: Option<PathBuf>,

    /// Write all particles after these steps, 0 is the start, as
    /// snapshot_000010.json in --out: position in m, velocity in m/s, density
    /// in kg/m^3 (2D: kg/m^2) and the pressures of both solves in Pa, one row
    /// per particle in the order of their ids; with several fluids, fluid after
    /// fluid and its index in a last column.
    #[arg(long, value_name = "STEP,...", value_delimiter = ',', requires = "out")]
    pub snapshots: Vec<u64>,

    /// Write this many frames per simulated second, 0.001 to 10000, to --out.
    /// Frame k shows the first step at or past k/FPS seconds, frame_000000 the
    /// start.
    #[arg(long, value_name = "FPS", value_parser = rate, allow_negative_numbers = true,
        requires = "out")]
    pub frames: Option<f64>,

    /// What a frame is: a picture (3D from the front), the particles as in a
    /// snapshot, or the particles for ParaView (vtk) or Blender (ply) with
    /// position in m, velocity in m/s, density in kg/m^3 (2D: kg/m^2), pressure
    /// in Pa, id and index of the fluid [default: png].
    #[arg(long, value_enum, requires = "frames")]
    pub format: Option<Format>,

    /// Override a field of the scene. VALUE is written as in a scene file; in
    /// a struct, fields left out have their defaults. Repeatable, in order.
    #[arg(long = "set", value_name = "PATH=VALUE", conflicts_with = "load")]
    pub overrides: Vec<Override>,

    /// Threads to compute on, 1 to 1024 [default: one per core]. The result is
    /// the same bit for bit.
    #[arg(long, value_name = "N", allow_negative_numbers = true,
        value_parser = clap::value_parser!(u64).range(1..=MAX_THREADS))]
    pub threads: Option<u64>,

    /// Save the whole state at the end, to be continued with --load.
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,

    /// Continue a saved state, bit for bit as if it had never stopped. --steps
    /// and --seconds count from there; the numbers of steps, snapshots and
    /// frames go on.
    #[arg(long, value_name = "FILE")]
    pub load: Option<PathBuf>,

    /// Go on with a run that was interrupted, from the last state it saved in
    /// --out, to the same result bit for bit as if it had not been. The other
    /// arguments stay as they were. Where no state is, it starts anew.
    #[arg(long, requires = "out", conflicts_with = "load")]
    pub resume: bool,

    /// Save the state in --out, as resume.ron, every so many seconds of wall
    /// time, 0 to 1e9; 0 is after every step. Runs that write frames or
    /// snapshots do it by themselves. It is gone at the end [default: 60].
    #[arg(long, value_name = "S", value_parser = pause, allow_negative_numbers = true,
        requires = "out", conflicts_with = "load")]
    pub save_every: Option<f64>,
}

/// What a frame is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// A picture.
    #[default]
    Png,
    /// All particles, as in a snapshot.
    Json,
    /// All particles, for ParaView.
    Vtk,
    /// All particles, for Blender.
    Ply,
    /// The surface of the water as a mesh, in PLY.
    #[cfg(feature = "surface")]
    Surface,
}

impl Options {
    /// A plain run of a scene.
    #[allow(dead_code, reason = "for the examples that run headless without a display")]
    pub fn of_scene(scene: impl Into<PathBuf>) -> Self {
        Self {
            scene: Some(scene.into()),
            seconds: None,
            steps: None,
            out: None,
            jsonl: None,
            snapshots: Vec::new(),
            frames: None,
            format: None,
            overrides: Vec::new(),
            threads: None,
            save: None,
            load: None,
            resume: false,
            save_every: None,
        }
    }

    /// The options of this process. Otherwise it is over with a code: help was
    /// printed, or one line on what is wrong.
    pub fn from_command_line() -> Result<Self, ExitCode> {
        Self::try_parse().map_err(|error| match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
                // Nobody is there to read why the help could not be printed.
                let _ = error.print();
                ExitCode::SUCCESS
            }
            _ => {
                eprintln!("{}", in_one_line(&error.to_string()));
                ExitCode::from(2)
            }
        })
    }

    /// Simulated seconds to run, where no number of steps is given.
    pub fn duration(&self) -> f64 {
        self.seconds.unwrap_or(DEFAULT_SECONDS)
    }
}

/// The message of a clap error, without the usage that follows it.
fn in_one_line(message: &str) -> String {
    let lines = message.lines().take_while(|line| !line.starts_with("Usage:"));
    let told = lines.filter(|line| !line.starts_with("For more information"));
    one_line(&told.collect::<Vec<_>>().join(" "))
}

/// Reads a length of time.
fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.0..f64::INFINITY).contains(&seconds) => Ok(seconds),
        _ => Err("allowed is a number of seconds, 0 or more".into()),
    }
}

/// Reads a time between two saved states.
fn pause(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(pause) if (0.0..=1e9).contains(&pause) => Ok(pause),
        _ => Err("allowed is 0 to 1e9 seconds".into()),
    }
}

/// Reads a frame rate.
fn rate(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(rate) if (0.001..=10_000.0).contains(&rate) => Ok(rate),
        _ => Err("allowed is 0.001 to 10000 frames per second".into()),
    }
}
