//! The solvers on their own: against the reference, and in users' hands.

mod bad_input;
mod determinism;
mod edits;
mod ordinary_states;
mod reproduction;
mod search;
mod state;
mod support;
