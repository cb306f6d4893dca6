//! Drawing (feature `render`).
//!
//! - [`dots`] draws clouds of round, flat-coloured dots in 2D, each cloud in one draw call.
//!   It knows nothing of fluids and can be used on its own.

pub mod dots;

pub use dots::{Dot2d, Dots2d, DotsPlugin, DotsSystems};
