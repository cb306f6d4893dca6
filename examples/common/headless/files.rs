//! Files that are whole or not there.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// The name under which a file is written before it takes its own.
fn temporary(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(".tmp");
    Ok(path.with_file_name(hidden))
}

/// Writes a file under a temporary name beside it, then renames it, so that a
/// run that is stopped at any moment leaves no part of a file under its name.
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
pub fn check_writable(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let temporary = temporary(path)?;
    std::fs::write(&temporary, b"")?;
    std::fs::remove_file(&temporary)
}
