//! Cloth on its own: against the reference, against theory, in users' hands.

mod accuracy;
mod inversion;
mod reproduction;
mod stretch;
mod support;
mod world;
