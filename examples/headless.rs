//! Runs a scene without a window or a GPU; `--help` tells the rest:
//!
//! ```text
//! cargo run --release --example headless -- assets/scenes/dam_break.ron --seconds 2 --out out/
//! ```

#[path = "common/headless/mod.rs"]
mod headless;

/// Reads the command line and runs it.
fn main() -> std::process::ExitCode {
    headless::main()
}
