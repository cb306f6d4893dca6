//! The solvers on their own: against the reference, and in users' hands.

mod allocation;
mod bad_input;
mod cloth;
mod coupling;
mod depth;
mod determinism;
mod edits;
mod fans;
mod guard;
mod knobs;
mod meshes;
mod moving_walls;
mod ordinary_states;
mod overlaps;
mod periodic;
mod physics;
mod planes;
mod reproduction;
mod scale;
mod search;
mod smoke;
mod sources;
#[cfg(feature = "scene")]
mod state;
mod support;
mod surface_tension;
mod thick_and_swirling;
mod three_d;
mod validation;
