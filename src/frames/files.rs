//! Files that are whole or not there.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// The name under which a file is written before it takes its own. It is always the same, so that
/// the next run overwrites what an interrupted one has left.
fn temporary(path: &Path) -> io::Result<PathBuf> {
    let name = path
        .file_name()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the path has no file name"))?;
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(".tmp");
    Ok(path.with_file_name(hidden))
}

/// Writes the whole file or nothing: under a temporary name beside it (`.name.tmp`), then renamed,
/// so that a run that is stopped at any moment leaves no part of a file under its name.
///
/// # Errors
/// What the system says; nothing is left behind then, and a file that was there stays as it was.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = temporary(path)?;
    let written =
        std::fs::write(&temporary, bytes).and_then(|()| std::fs::rename(&temporary, path));
    if written.is_err() {
        // The first error is the one to report, whether or not this succeeds.
        let _ = std::fs::remove_file(&temporary);
    }
    written
}

/// Fails now where [`write_whole`] would fail at the end of a long run.
///
/// # Errors
/// What the system says.
pub fn check_writable(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let temporary = temporary(path)?;
    std::fs::write(&temporary, b"")?;
    std::fs::remove_file(&temporary)
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
    fn a_failed_write_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing").join("frame.png");
        assert!(write_whole(&missing, b"").is_err());
        // A folder stands where the file is to go: the rename fails after the write.
        let taken = folder.path().join("taken");
        std::fs::create_dir(&taken).unwrap();
        assert!(write_whole(&taken, b"").is_err());
        assert_eq!(names(folder.path()), ["taken"]);
        assert!(write_whole(Path::new(".."), b"").is_err());
    }

    #[test]
    fn what_cannot_be_written_is_known_before() {
        let folder = tempfile::tempdir().unwrap();
        assert!(check_writable(folder.path()).is_err(), "a folder");
        assert!(check_writable(&folder.path().join("missing").join("state")).is_err());
        assert!(check_writable(&folder.path().join("state")).is_ok());
        assert_eq!(names(folder.path()), [""; 0]);
    }
}
