//! What ends a run early.

use std::path::Path;
use std::process::ExitCode;

/// Why a run did not come to its end, in one line.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Something that the user gave: an argument, a file, a value in it.
    #[error("{0}")]
    Input(String),
    /// A file that could no longer be written.
    #[error("{0}")]
    Output(String),
    /// The user.
    #[error("stopped by Ctrl-C")]
    Interrupted,
}

impl RunError {
    /// An input that was refused.
    pub fn input(reason: impl ToString) -> Self {
        Self::Input(one_line(&reason.to_string()))
    }

    /// A file that the user named and that cannot be read or written.
    pub fn input_file(verb: &str, path: &Path, reason: impl ToString) -> Self {
        Self::input(format!("cannot {verb} {}: {}", path.display(), reason.to_string()))
    }

    /// A file that turned out not to be writable during the run.
    pub fn output_file(path: &Path, reason: impl ToString) -> Self {
        let reason = one_line(&reason.to_string());
        Self::Output(format!("cannot write {}: {reason}", path.display()))
    }

    /// 2 for bad input, 130 after Ctrl-C as shells have it, else 1.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::Input(_) => 2,
            Self::Output(_) => 1,
            Self::Interrupted => 130,
        })
    }
}

/// The words of a message without its line breaks.
pub fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}
