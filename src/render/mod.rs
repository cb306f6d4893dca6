//! Drawing (feature `render`).
//!
//! - [`dots`] draws clouds of round, flat-coloured dots in 2D, [`spheres`] clouds of shaded
//!   spheres in 3D, each cloud in one draw call. They know nothing of fluids and can be used on
//!   their own.
//! - [`FluidRenderPlugin`] draws the worlds with them; [`FluidPlugin`](crate::FluidPlugin)
//!   adds it in an app that can draw.

#[cfg(feature = "2d")]
mod cloth_2d;
#[cfg(feature = "3d")]
mod cloth_3d;
mod cloth_drag;
mod cloud;
pub mod dots;
mod drawing;
#[cfg(feature = "2d")]
mod particles;
#[cfg(feature = "3d")]
mod particles_3d;
mod selection;
#[cfg(feature = "2d")]
mod smoke_2d;
#[cfg(feature = "3d")]
mod smoke_3d;
mod smoke_canvas;
mod smoke_drawing;
pub mod spheres;

use bevy::pbr::PbrPlugin;
use bevy::prelude::*;
use bevy::sprite_render::SpriteRenderPlugin;

#[cfg(feature = "2d")]
pub use cloth_2d::ClothDrawing;
#[cfg(feature = "3d")]
pub use cloth_3d::ClothMeshSystems;
pub use dots::{Dot2d, Dots2d, DotsPlugin, DotsSystems};
pub use drawing::{ColorBy, FluidDrawing};
pub use selection::{Selection, SelectionSystems};
pub use smoke_drawing::SmokeDrawing;
pub use spheres::{Spheres3d, SpheresPlugin, SpheresSystems};

/// Draws particles, boundaries, cloths and smoke of the worlds, and lets the pointer drag cloth, and
/// select and drag particles of the 2D world.
pub struct FluidRenderPlugin;

impl Plugin for FluidRenderPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<FluidDrawing>().register_type::<FluidDrawing>();
        smoke_drawing::plugin(app);
        #[cfg(feature = "2d")]
        if app.is_plugin_added::<SpriteRenderPlugin>() {
            app.add_plugins((DotsPlugin, particles::plugin, selection::plugin))
                .add_plugins((cloth_2d::plugin, smoke_2d::plugin))
                .add_plugins(cloth_drag::plugin::<Vec2, Camera2d>);
        }
        #[cfg(feature = "3d")]
        if app.is_plugin_added::<PbrPlugin>() {
            app.add_plugins((
                SpheresPlugin,
                particles_3d::plugin,
                cloth_3d::plugin,
                smoke_3d::plugin,
            ))
            .add_plugins(cloth_drag::plugin::<Vec3, Camera3d>);
        }
    }
}
