//! The example `headless`, run from outside as a user runs it.

mod bad_input;
mod companions;
mod frames;
mod overrides;
mod resume;
mod state;
mod steps;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// A scene of the repository.
fn scene(name: &str) -> String {
    format!("{}/assets/scenes/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// The program, beside the folder of this test's own executable.
fn program() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let folder = own.parent().and_then(Path::parent).unwrap();
    let program = folder.join("examples").join(format!("headless{}", std::env::consts::EXE_SUFFIX));
    assert!(
        program.exists(),
        "{} is missing: `cargo test` builds it, `cargo test --test` does not",
        program.display()
    );
    program
}

/// A folder to run the program in.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// Runs the program here.
    fn output(&self, arguments: &[&str]) -> Output {
        Command::new(program()).args(arguments).current_dir(self.folder.path()).output().unwrap()
    }

    /// Runs the program, which has to end well. Returns what it printed.
    fn run(&self, arguments: &[&str]) -> String {
        let output = self.output(arguments);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{arguments:?}: {} {errors}", output.status);
        assert_eq!(errors, "", "{arguments:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs the program, which has to refuse its input. Returns its one line.
    fn refusal(&self, arguments: &[&str]) -> String {
        let output = self.output(arguments);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
        assert_eq!(errors.lines().count(), 1, "{arguments:?}: {errors}");
        assert_eq!(output.stdout, b"", "{arguments:?}");
        assert!(errors.starts_with("error: "), "{arguments:?}: {errors}");
        errors.trim_end().to_owned()
    }

    /// The names in a folder, sorted.
    fn names(&self, folder: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(folder)).unwrap();
        let name = |entry: std::io::Result<std::fs::DirEntry>| {
            entry.unwrap().file_name().into_string().unwrap()
        };
        let mut names: Vec<String> = entries.map(name).collect();
        names.sort();
        names
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        let path = self.path(name);
        std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_slice(&self.bytes(name)).unwrap()
    }

    /// The records of a `--jsonl` file.
    fn records(&self, name: &str) -> Vec<Value> {
        let text = String::from_utf8(self.bytes(name)).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The records of a `--jsonl` file without what the clock says.
    fn records_without_ms(&self, name: &str) -> Vec<Value> {
        let mut records = self.records(name);
        for record in &mut records {
            record.as_object_mut().unwrap().remove("ms").unwrap();
        }
        records
    }
}

/// A number of a record.
fn number(record: &Value, field: &str) -> f64 {
    record[field].as_f64().unwrap_or_else(|| panic!("{field} in {record}"))
}

/// A table of a trace or a snapshot.
fn rows(table: &Value) -> Vec<Vec<f64>> {
    let row = |row: &Value| row.as_array().unwrap().iter().map(|n| n.as_f64().unwrap()).collect();
    table.as_array().unwrap().iter().map(row).collect()
}
