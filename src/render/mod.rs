//! Drawing (feature `render`).
//!
//! - [`dots`] draws clouds of round, flat-coloured dots in 2D, each cloud in one draw call.
//!   It knows nothing of fluids and can be used on its own.
//! - [`FluidRenderPlugin`] draws the 2D world with it; [`FluidPlugin`](crate::FluidPlugin)
//!   adds it in an app that can draw.

pub mod dots;
mod particles;
mod selection;

use bevy::prelude::*;

pub use dots::{Dot2d, Dots2d, DotsPlugin, DotsSystems};
pub use particles::{ColorBy, FluidDrawing};
pub use selection::{Selection, SelectionSystems};

/// Draws particles and boundaries of the 2D world, and lets the pointer select
/// and drag them.
pub struct FluidRenderPlugin;

impl Plugin for FluidRenderPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins((DotsPlugin, particles::plugin, selection::plugin));
    }
}
