//! Frames made without a GPU or an app (feature `frames`).
//!
//! - [`Canvas`] draws antialiased dots on the CPU, as the dots of the `render` feature look on the
//!   screen, and writes PNG.

mod png;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

pub use png::Canvas;

/// Why a frame could not be made or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FrameError {
    /// A parameter is outside its range.
    #[error("{parameter} is {value}, allowed is {allowed}")]
    Parameter {
        /// The parameter's name.
        parameter: &'static str,
        /// The value that was given.
        value: String,
        /// The values that are allowed.
        allowed: String,
    },
    /// The picture could not be encoded.
    #[error("cannot encode the frame")]
    Encode {
        /// The encoder's reason.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The file could not be written. No part of it is left at that path.
    #[error("cannot write {}", path.display())]
    Write {
        /// The path that was to be written.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

/// Writes the whole file or nothing: under a temporary name beside it, then renamed, so that an
/// interrupted run leaves whole frames only. The name is always the same, so that the next run
/// overwrites what an interrupted one has left.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), FrameError> {
    let error = |source| FrameError::Write { path: path.to_owned(), source };
    let Some(name) = path.file_name() else {
        let source = io::Error::new(io::ErrorKind::InvalidInput, "the path has no file name");
        return Err(error(source));
    };
    let mut temporary = OsString::from(".");
    temporary.push(name);
    temporary.push(".tmp");
    let temporary = path.with_file_name(temporary);
    let written =
        std::fs::write(&temporary, bytes).and_then(|()| std::fs::rename(&temporary, path));
    written.map_err(|source| {
        // The first error is the one to report, whether or not this succeeds.
        let _ = std::fs::remove_file(&temporary);
        error(source)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<OsString> {
        let entries = std::fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name()).collect()
    }

    #[test]
    fn a_written_file_is_whole_and_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("frame.png");
        write_whole(&path, b"first, longer").unwrap();
        write_whole(&path, b"second").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"second");
        assert_eq!(names(folder.path()), ["frame.png"]);
    }

    #[test]
    fn a_failed_write_names_the_path_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing").join("frame.png");
        let error = write_whole(&missing, b"").unwrap_err();
        assert!(error.to_string().contains("missing"), "{error}");
        // A folder stands where the file is to go: the rename fails after the write.
        let taken = folder.path().join("taken");
        std::fs::create_dir(&taken).unwrap();
        assert!(write_whole(&taken, b"").is_err());
        assert_eq!(names(folder.path()), ["taken"]);
        assert!(write_whole(Path::new(".."), b"").is_err());
    }
}
