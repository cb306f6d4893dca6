//! The solvers, without ECS: usable alone, and built alone without default features.

mod blocks;
pub mod boundary;
pub mod cloth;
pub mod companions;
pub mod error;
pub mod grid;
pub mod kernel;
mod lanes;
mod listed;
mod neighborhood;
pub mod neighbors;
mod offsets;
pub mod parallel;
pub mod parameter;
pub mod particles;
pub mod periodic;
pub mod sampling;
pub mod scene;
pub mod settings;
pub mod simulation;
pub mod smoke;
pub mod sph;
pub mod stats;
pub mod time_step;
pub mod vector;
mod wide;
