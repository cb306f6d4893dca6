//! Smoke on its grid.

mod advection;
mod bad_input;
mod cavity;
mod determinism;
mod diffusion;
mod knobs;
mod obstacles;
mod projection;
mod reproduction;
mod resample;
mod sources;
#[cfg(feature = "scene")]
mod state;
mod steady_state;
mod support;
mod three_d;
mod tracers;
