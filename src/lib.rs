//! Water, smoke and cloth for Bevy games.

#[cfg(feature = "frames")]
pub mod frames;
#[cfg(feature = "render")]
pub mod render;
