//! Many shaded spheres in 3D, each cloud of them in one draw call.
//!
//! Spawn an entity with [`Spheres3d`], refill the component whenever the spheres have changed, and
//! see it drawn by any `Camera3d`:
//!
//! ```
//! use bevy::prelude::*;
//! use bevy_fluid::render::Spheres3d;
//!
//! fn refill(mut clouds: Query<&mut Spheres3d>) {
//!     for mut spheres in &mut clouds {
//!         spheres.clear();
//!         spheres.radius = 0.1;
//!         spheres.push(Vec3::new(0.5, 1.0, 0.0), [0, 0, 255]);
//!     }
//! }
//! ```
//!
//! A sphere is an impostor: a quad that faces the camera, on which the exact sphere is found per
//! pixel, with its depth, so that spheres cut each other and other meshes as solid ones do (Gumhold
//! 2003 for the quad that covers a sphere in perspective). The app's ambient and directional lights
//! act on them; they neither cast shadows nor lie in any.

use bevy::app::{App, Plugin, PostUpdate};
use bevy::asset::{Asset, AssetPath, Assets, Handle, embedded_asset, embedded_path};
use bevy::camera::visibility::{NoFrustumCulling, Visibility};
use bevy::ecs::prelude::*;
use bevy::image::Image;
use bevy::light::NotShadowCaster;
use bevy::log::warn;
use bevy::material::AlphaMode;
use bevy::math::{Vec3, Vec4};
use bevy::mesh::{Mesh, Mesh3d, MeshVertexBufferLayoutRef};
use bevy::pbr::{
    Material, MaterialPipeline, MaterialPipelineKey, MaterialPlugin, MeshMaterial3d, PbrPlugin,
};
use bevy::reflect::TypePath;
use bevy::render::RenderApp;
use bevy::render::render_resource::{
    AsBindGroup, RenderPipelineDescriptor, SpecializedMeshPipelineError,
};
use bevy::shader::ShaderRef;
use bevy::transform::components::Transform;

use super::cloud::{self, CORNER_AND_INDEX, Cloud, MAX_TEXELS, Texel};

/// A cloud of spheres of one radius.
///
/// Refilling with [`clear`](Self::clear) and [`push`](Self::push) allocates nothing once the cloud
/// has had its greatest number of spheres. Any mutable access to the component uploads the cloud
/// again, so leave it alone while nothing changes. What is changed before [`SpheresSystems`] in
/// `PostUpdate` is on the screen in the same frame.
///
/// The entity's `Transform` places the cloud; a scale must be the same along all axes. Hidden by
/// `Visibility`, shown to chosen cameras by `RenderLayers`, never culled. Needs [`SpheresPlugin`]
/// to be drawn.
#[derive(Component, Clone, Default)]
#[require(Transform, Visibility, NoFrustumCulling, NotShadowCaster)]
pub struct Spheres3d {
    /// Radius of all spheres in world units (the entity's scale applies), finite and positive;
    /// with any other nothing is drawn.
    pub radius: f32,
    texels: Vec<Texel>,
    skipped: usize,
}

impl Spheres3d {
    /// The most spheres in one cloud (2048 x 2048, a bit over four million); further ones are
    /// refused. A second entity takes as many again.
    pub const MAX_SPHERES: usize = MAX_TEXELS;

    /// A cloud without spheres, for spheres of `radius`.
    pub fn new(radius: f32) -> Self {
        Self { radius, ..Self::default() }
    }

    /// Removes all spheres and keeps the memory.
    pub fn clear(&mut self) {
        self.texels.clear();
        self.skipped = 0;
    }

    /// Adds a sphere around `center`, in world units relative to the entity's `Transform`, of a
    /// colour in sRGB, and says whether it was taken. One whose centre is not finite, or beyond
    /// [`MAX_SPHERES`](Self::MAX_SPHERES), is refused and counted in [`skipped`](Self::skipped).
    #[inline]
    pub fn push(&mut self, center: Vec3, color: [u8; 3]) -> bool {
        if !center.is_finite() || self.texels.len() >= Self::MAX_SPHERES {
            self.skipped += 1;
            return false;
        }
        let mut texel = [0; 16];
        texel[0..4].copy_from_slice(&center.x.to_le_bytes());
        texel[4..8].copy_from_slice(&center.y.to_le_bytes());
        texel[8..12].copy_from_slice(&center.z.to_le_bytes());
        texel[12..15].copy_from_slice(&color);
        // Marks the place as filled.
        texel[15] = 0xff;
        self.texels.push(texel);
        true
    }

    /// How many spheres are drawn.
    pub fn len(&self) -> usize {
        self.texels.len()
    }

    /// Whether there is nothing to draw.
    pub fn is_empty(&self) -> bool {
        self.texels.is_empty()
    }

    /// How many spheres [`push`](Self::push) has refused since the last [`clear`](Self::clear).
    pub fn skipped(&self) -> usize {
        self.skipped
    }

    /// The radius as the shader takes it: zero where there is nothing to draw.
    fn drawn_radius(&self) -> f32 {
        if self.radius.is_finite() { self.radius.max(0.0) } else { 0.0 }
    }
}

/// Draws every [`Spheres3d`].
///
/// Add it after `DefaultPlugins` (it needs the render app and `PbrPlugin`). In an app without them,
/// as in tests on `MinimalPlugins` or on a server, it does nothing at all: `Spheres3d` stays an
/// ordinary component. Added too early it warns.
#[derive(Clone, Copy, Debug, Default)]
pub struct SpheresPlugin;

/// In `PostUpdate`: readies the clouds that have changed for drawing. Fill [`Spheres3d`] before it.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SpheresSystems;

fn can_draw(app: &App) -> bool {
    app.get_sub_app(RenderApp).is_some() && app.is_plugin_added::<PbrPlugin>()
}

impl Plugin for SpheresPlugin {
    fn build(&self, app: &mut App) {
        if !can_draw(app) {
            return;
        }
        embedded_asset!(app, "spheres.wgsl");
        app.add_plugins(MaterialPlugin::<SpheresMaterial>::default());
        cloud::build::<Spheres3d>(app, SpheresSystems);
        app.add_systems(PostUpdate, follow_radius.in_set(SpheresSystems));
    }

    fn finish(&self, app: &mut App) {
        if can_draw(app) && !app.world().contains_resource::<Assets<SpheresMaterial>>() {
            warn!(
                "SpheresPlugin draws nothing, as it came before the render plugins: \
                 add it after DefaultPlugins"
            );
        }
    }
}

/// Brings the radius of a cloud that is drawn already to its material.
fn follow_radius(
    clouds: Query<(&Spheres3d, &MeshMaterial3d<SpheresMaterial>), Changed<Spheres3d>>,
    mut materials: ResMut<Assets<SpheresMaterial>>,
) {
    for (spheres, material) in &clouds {
        let radius = Vec4::splat(spheres.drawn_radius());
        if materials.get(&material.0).is_some_and(|material| material.radius != radius)
            && let Some(mut material) = materials.get_mut(&material.0)
        {
            material.radius = radius;
        }
    }
}

impl Cloud for Spheres3d {
    type Material = SpheresMaterial;
    type Drawn = (Mesh3d, MeshMaterial3d<SpheresMaterial>);

    fn texels(&self) -> &[Texel] {
        &self.texels
    }

    fn material(&self, spheres: Handle<Image>) -> SpheresMaterial {
        SpheresMaterial { radius: Vec4::splat(self.drawn_radius()), spheres }
    }

    fn drawn(mesh: Handle<Mesh>, material: Handle<SpheresMaterial>) -> Self::Drawn {
        (Mesh3d(mesh), MeshMaterial3d(material))
    }
}

/// Draws the spheres of a texture.
#[derive(Asset, AsBindGroup, TypePath, Clone)]
pub(super) struct SpheresMaterial {
    /// In the first component; four of them, because WebGL2 has no smaller uniform.
    #[uniform(0)]
    radius: Vec4,
    #[texture(1, sample_type = "u_int", visibility(vertex))]
    spheres: Handle<Image>,
}

fn shader() -> ShaderRef {
    ShaderRef::Path(
        AssetPath::from_path_buf(embedded_path!("spheres.wgsl")).with_source("embedded"),
    )
}

impl Material for SpheresMaterial {
    fn vertex_shader() -> ShaderRef {
        shader()
    }

    fn fragment_shader() -> ShaderRef {
        shader()
    }

    /// Soft edges where the camera has more samples than pixels.
    fn alpha_mode(&self) -> AlphaMode {
        AlphaMode::AlphaToCoverage
    }

    fn enable_prepass() -> bool {
        false
    }

    fn enable_shadows() -> bool {
        false
    }

    fn specialize(
        _pipeline: &MaterialPipeline,
        descriptor: &mut RenderPipelineDescriptor,
        layout: &MeshVertexBufferLayoutRef,
        _key: MaterialPipelineKey<Self>,
    ) -> Result<(), SpecializedMeshPipelineError> {
        descriptor.vertex.buffers =
            vec![layout.0.get_layout(&[CORNER_AND_INDEX.at_shader_location(0)])?];
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_texel_holds_the_bits_that_the_shader_reads() {
        let mut spheres = Spheres3d::new(0.5);
        assert!(spheres.push(Vec3::new(1.5, -2.0, 0.25), [0x11, 0x22, 0x33]));
        let texel = spheres.texels()[0];
        let word = |i: usize| u32::from_le_bytes(texel[4 * i..4 * i + 4].try_into().unwrap());
        assert_eq!(word(0), 1.5f32.to_bits());
        assert_eq!(word(1), (-2.0f32).to_bits());
        assert_eq!(word(2), 0.25f32.to_bits());
        assert_eq!(word(3), 0xff33_2211, "red in the lowest byte, as unpack4x8unorm has it");
    }

    #[test]
    fn spheres_that_cannot_be_drawn_are_refused_and_counted() {
        let mut spheres = Spheres3d::new(0.5);
        for bad in [f32::NAN, f32::INFINITY] {
            assert!(!spheres.push(Vec3::new(0.0, bad, 0.0), [1, 2, 3]));
            spheres.radius = bad;
            assert_eq!(spheres.drawn_radius(), 0.0);
        }
        assert_eq!((spheres.len(), spheres.skipped()), (0, 2));
        assert!(spheres.push(Vec3::ONE, [0, 0, 0]), "black is a colour too");
        spheres.radius = 0.25;
        assert_eq!((spheres.len(), spheres.drawn_radius()), (1, 0.25));
        spheres.clear();
        assert_eq!((spheres.len(), spheres.skipped()), (0, 0));
    }
}
