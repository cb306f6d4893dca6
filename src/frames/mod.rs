//! Frames made without a GPU or an app (feature `frames`).
//!
//! - [`Canvas`] draws antialiased dots on the CPU, as the dots of the `render` feature look on the
//!   screen, and writes PNG.
//! - [`ParticleTable`] holds all particles of a moment and writes VTK for ParaView and PLY for
//!   Blender.
//! - `ParticleTable::surface` (feature `surface`) is the surface of the water as a mesh.
//! - [`write_whole`] leaves whole files only.

mod files;
mod particle_table;
mod ply;
mod png;
#[cfg(feature = "surface")]
mod surface;
mod vtk;

use std::io;
use std::path::PathBuf;

use thiserror::Error;

pub use files::{check_writable, write_whole};
pub use particle_table::ParticleTable;
pub use png::Canvas;
#[cfg(feature = "surface")]
pub use surface::SurfaceMesh;

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
