//! Runs a scene without a window or a GPU and writes down what happens.
//!
//! The example `headless` is this and nothing else; another example calls
//! [`run_instead_of_a_window`] where it finds no display.

mod checkpoint;
mod error;
mod frames;
mod interrupt;
mod options;
mod overrides;
mod picture;
mod progress;
mod record;
mod runner;
mod start;

use std::path::PathBuf;
use std::process::ExitCode;

pub use error::RunError;
pub use options::Options;

use start::Start;

/// Runs the scene or the saved state that the options name, to its end.
pub fn run(options: &Options) -> Result<(), RunError> {
    match Start::open(options)? {
        Start::Plane(beginning) => runner::run(beginning, options),
        Start::Space(beginning) => runner::run(beginning, options),
    }
}

/// Says why there is no window, runs two seconds of a scene in `assets`, and leaves a picture of the
/// end, `final.png`.
#[allow(dead_code, reason = "for the examples that have a window")]
pub fn run_instead_of_a_window(reason: &str, scene: &str) -> ExitCode {
    println!("{reason}; running headless instead, look at final.png");
    let assets = std::env::var_os("BEVY_ASSET_ROOT")
        .or_else(|| std::env::var_os("CARGO_MANIFEST_DIR"))
        .map_or_else(PathBuf::new, PathBuf::from);
    let scene = assets.join("assets").join(scene);
    exit_code(run(&Options { out: Some(".".into()), ..Options::of_scene(scene) }))
}

/// A command line program around [`run`]: reads the arguments, says what went
/// wrong in one line, and tells the shell.
pub fn main() -> ExitCode {
    let options = match Options::from_command_line() {
        Ok(options) => options,
        Err(code) => return code,
    };
    exit_code(run(&options))
}

/// Tells an error in a line, and the shell.
fn exit_code(result: Result<(), RunError>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            error.exit_code()
        }
    }
}
