//! Water, smoke and cloth for Bevy games.
pub mod solver;
