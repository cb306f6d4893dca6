//! Runs a scene without a window or a GPU and writes down what happens.
//!
//! The example `headless` is this and nothing else; another example calls
//! [`run`] with [`Options::of_scene`] where it finds no display.

mod error;
mod files;
mod frames;
mod interrupt;
mod options;
mod overrides;
mod picture;
mod progress;
mod record;
mod runner;
mod start;

use std::process::ExitCode;

pub use error::RunError;
pub use options::Options;

use start::Start;

/// Runs the scene or the saved state that the options name, to its end.
pub fn run(options: &Options) -> Result<(), RunError> {
    match Start::open(options)? {
        Start::Plane(simulation) => runner::run(simulation, options),
        Start::Space(simulation) => runner::run(simulation, options),
    }
}

/// A command line program around [`run`]: reads the arguments, says what went
/// wrong in one line, and tells the shell.
pub fn main() -> ExitCode {
    let options = match Options::from_command_line() {
        Ok(options) => options,
        Err(code) => return code,
    };
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            error.exit_code()
        }
    }
}
