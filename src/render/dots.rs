//! Many round, antialiased, flat-coloured dots in 2D, each cloud of them in one draw call.
//!
//! Spawn an entity with [`Dots2d`], refill the component whenever the dots have changed, and see it
//! drawn by any `Camera2d`:
//!
//! ```
//! use bevy::prelude::*;
//! use bevy_fluid::render::{Dot2d, Dots2d};
//!
//! fn refill(mut clouds: Query<&mut Dots2d>) {
//!     for mut dots in &mut clouds {
//!         dots.clear();
//!         let position = Vec2::new(0.5, 1.0);
//!         dots.push(Dot2d { position, radius: 0.1, color: [0, 0, 255, 255] });
//!     }
//! }
//! ```

use bevy::app::{App, Plugin};
use bevy::asset::{Asset, AssetPath, Assets, Handle, embedded_asset, embedded_path};
use bevy::camera::visibility::{NoFrustumCulling, Visibility};
use bevy::color::{Color, ColorToPacked, Srgba};
use bevy::ecs::prelude::*;
use bevy::image::Image;
use bevy::log::warn;
use bevy::math::Vec2;
use bevy::mesh::{Mesh, Mesh2d, MeshVertexBufferLayoutRef};
use bevy::reflect::TypePath;
use bevy::render::RenderApp;
use bevy::render::render_resource::{
    AsBindGroup, RenderPipelineDescriptor, SpecializedMeshPipelineError,
};
use bevy::shader::ShaderRef;
use bevy::sprite_render::{
    AlphaMode2d, Material2d, Material2dKey, Material2dPlugin, MeshMaterial2d, SpriteRenderPlugin,
};
use bevy::transform::components::Transform;

use super::cloud::{self, CORNER_AND_INDEX, Cloud, MAX_TEXELS, Texel};

/// One dot of a [`Dots2d`] cloud.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dot2d {
    /// Centre, in world units relative to the entity's `Transform`. Must be finite, else the dot is
    /// refused.
    pub position: Vec2,
    /// Radius in world units (the entity's scale applies), finite and at least 0, else the dot is
    /// refused. A dot smaller than a pixel is drawn at about one pixel.
    pub radius: f32,
    /// Red, green, blue and alpha in sRGB, alpha not multiplied in: `[0, 0, 255, 255]` comes out as
    /// `#0000FF`.
    pub color: [u8; 4],
}

impl Dot2d {
    /// A dot in any of Bevy's colours, rounded to eight bits per channel in sRGB; channels beyond 0
    /// to 1 are clamped.
    ///
    /// For many dots of one colour, convert the colour once and write the fields instead.
    pub fn new(position: Vec2, radius: f32, color: impl Into<Color>) -> Self {
        let color = Srgba::from(color.into()).to_u8_array();
        Self { position, radius, color }
    }

    /// The bytes for the GPU, or `None` for a dot that cannot be drawn.
    fn pack(&self) -> Option<Texel> {
        if !self.position.is_finite() || !self.radius.is_finite() || self.radius < 0.0 {
            return None;
        }
        // Radius bits of zero mark an empty slot.
        let radius = self.radius.max(f32::MIN_POSITIVE);
        let mut texel = [0; 16];
        texel[0..4].copy_from_slice(&self.position.x.to_le_bytes());
        texel[4..8].copy_from_slice(&self.position.y.to_le_bytes());
        texel[8..12].copy_from_slice(&self.color);
        texel[12..16].copy_from_slice(&radius.to_le_bytes());
        Some(texel)
    }
}

/// A cloud of dots, drawn in the order in which they were pushed: later ones cover earlier ones.
///
/// Refilling with [`clear`](Self::clear) and [`push`](Self::push) allocates nothing once the cloud
/// has had its greatest number of dots. Any mutable access to the component uploads the cloud
/// again, so leave it alone while nothing changes. What is changed before [`DotsSystems`] in
/// `PostUpdate` is on the screen in the same frame.
///
/// The entity's `Transform` places the cloud; its z orders it among other 2D things. Hidden by
/// `Visibility`, shown to chosen cameras by `RenderLayers`, never culled. Needs [`DotsPlugin`] to
/// be drawn.
#[derive(Component, Clone, Default)]
#[require(Transform, Visibility, NoFrustumCulling)]
pub struct Dots2d {
    texels: Vec<Texel>,
    skipped: usize,
}

impl Dots2d {
    /// The most dots in one cloud (2048 x 2048, a bit over four million); further ones are refused.
    /// A second entity takes as many again.
    pub const MAX_DOTS: usize = MAX_TEXELS;

    /// A cloud without dots.
    pub fn new() -> Self {
        Self::default()
    }

    /// A cloud without dots, with memory for `dots` of them (more than [`MAX_DOTS`](Self::MAX_DOTS)
    /// count as that many).
    pub fn with_capacity(dots: usize) -> Self {
        Self { texels: Vec::with_capacity(dots.min(Self::MAX_DOTS)), skipped: 0 }
    }

    /// Removes all dots and keeps the memory.
    pub fn clear(&mut self) {
        self.texels.clear();
        self.skipped = 0;
    }

    /// Adds a dot and says whether it was taken. A dot with a position or a radius that is not
    /// finite, with a negative radius, or beyond [`MAX_DOTS`](Self::MAX_DOTS) is refused and
    /// counted in [`skipped`](Self::skipped).
    #[inline]
    pub fn push(&mut self, dot: Dot2d) -> bool {
        match dot.pack() {
            Some(texel) if self.texels.len() < Self::MAX_DOTS => {
                self.texels.push(texel);
                true
            }
            _ => {
                self.skipped += 1;
                false
            }
        }
    }

    /// How many dots are drawn.
    pub fn len(&self) -> usize {
        self.texels.len()
    }

    /// Whether there is nothing to draw.
    pub fn is_empty(&self) -> bool {
        self.texels.is_empty()
    }

    /// How many dots [`push`](Self::push) has refused since the last [`clear`](Self::clear).
    pub fn skipped(&self) -> usize {
        self.skipped
    }
}

impl Extend<Dot2d> for Dots2d {
    fn extend<T: IntoIterator<Item = Dot2d>>(&mut self, dots: T) {
        for dot in dots {
            self.push(dot);
        }
    }
}

impl FromIterator<Dot2d> for Dots2d {
    fn from_iter<T: IntoIterator<Item = Dot2d>>(dots: T) -> Self {
        let mut cloud = Self::new();
        cloud.extend(dots);
        cloud
    }
}

/// Draws every [`Dots2d`].
///
/// Add it after `DefaultPlugins` (it needs the render app and `SpriteRenderPlugin`). In an app
/// without them, as in tests on `MinimalPlugins` or on a server, it does nothing at all: `Dots2d`
/// stays an ordinary component. Added too early it warns.
#[derive(Clone, Copy, Debug, Default)]
pub struct DotsPlugin;

/// In `PostUpdate`: readies the clouds that have changed for drawing. Fill [`Dots2d`] before it.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DotsSystems;

fn can_draw(app: &App) -> bool {
    app.get_sub_app(RenderApp).is_some() && app.is_plugin_added::<SpriteRenderPlugin>()
}

impl Plugin for DotsPlugin {
    fn build(&self, app: &mut App) {
        if !can_draw(app) {
            return;
        }
        embedded_asset!(app, "dots.wgsl");
        app.add_plugins(Material2dPlugin::<DotsMaterial>::default());
        cloud::build::<Dots2d>(app, DotsSystems);
    }

    fn finish(&self, app: &mut App) {
        if can_draw(app) && !app.world().contains_resource::<Assets<DotsMaterial>>() {
            warn!(
                "DotsPlugin draws nothing, as it came before the render plugins: \
                 add it after DefaultPlugins"
            );
        }
    }
}

impl Cloud for Dots2d {
    type Material = DotsMaterial;
    type Drawn = (Mesh2d, MeshMaterial2d<DotsMaterial>);

    fn texels(&self) -> &[Texel] {
        &self.texels
    }

    fn material(&self, dots: Handle<Image>) -> DotsMaterial {
        DotsMaterial { dots }
    }

    fn drawn(mesh: Handle<Mesh>, material: Handle<DotsMaterial>) -> Self::Drawn {
        (Mesh2d(mesh), MeshMaterial2d(material))
    }
}

/// Draws the dots of a texture.
#[derive(Asset, AsBindGroup, TypePath, Clone)]
pub(super) struct DotsMaterial {
    #[texture(0, sample_type = "u_int", visibility(vertex))]
    dots: Handle<Image>,
}

fn shader() -> ShaderRef {
    ShaderRef::Path(AssetPath::from_path_buf(embedded_path!("dots.wgsl")).with_source("embedded"))
}

impl Material2d for DotsMaterial {
    fn vertex_shader() -> ShaderRef {
        shader()
    }

    fn fragment_shader() -> ShaderRef {
        shader()
    }

    fn alpha_mode(&self) -> AlphaMode2d {
        AlphaMode2d::Blend
    }

    fn specialize(
        descriptor: &mut RenderPipelineDescriptor,
        layout: &MeshVertexBufferLayoutRef,
        _key: Material2dKey<Self>,
    ) -> Result<(), SpecializedMeshPipelineError> {
        descriptor.vertex.buffers =
            vec![layout.0.get_layout(&[CORNER_AND_INDEX.at_shader_location(0)])?];
        Ok(())
    }
}

#[cfg(test)]
mod tests;
