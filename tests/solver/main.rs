//! The solvers on their own: against the reference, and in users' hands.

mod allocation;
mod bad_input;
mod determinism;
mod edits;
mod knobs;
mod ordinary_states;
mod overlaps;
mod physics;
mod reproduction;
mod scale;
mod search;
mod smoke;
#[cfg(feature = "scene")]
mod state;
mod support;
mod surface_tension;
mod three_d;
