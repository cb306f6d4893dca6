//! Cloth on its own: against the reference, against theory, in users' hands.

mod accuracy;
mod bad_input;
mod bending;
mod edges;
mod inversion;
mod knobs;
mod reproduction;
mod self_collision;
mod state;
mod stretch;
mod support;
mod tearing;
mod world;
