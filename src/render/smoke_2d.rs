//! Smoke in the plane: each domain is a rectangle, its cells texels of a texture.

use bevy::asset::{AssetPath, RenderAssetUsages, embedded_asset, embedded_path};
use bevy::image::ImageSampler;
use bevy::mesh::{Indices, PrimitiveTopology};
use bevy::prelude::*;
use bevy::render::render_resource::{
    AsBindGroup, Extent3d, ShaderType, TextureDimension, TextureFormat,
};
use bevy::shader::ShaderRef;
use bevy::sprite_render::{AlphaMode2d, Material2d, Material2dPlugin};

use super::smoke_canvas::{self, SmokeMaterial};
use super::smoke_drawing::SmokeDrawing;
use crate::solver::smoke::{Smoke, SmokeDomain};

/// Bytes of a texel: value and solidity.
const TEXEL: usize = 8;

/// Draws the cells of a texture.
#[derive(Asset, AsBindGroup, TypePath, Clone)]
struct FlatSmoke {
    #[texture(0, sample_type = "float", filterable = false, visibility(fragment))]
    cells: Handle<Image>,
    #[texture(1, visibility(fragment))]
    palette: Handle<Image>,
    #[uniform(2, visibility(fragment))]
    look: Look,
}

/// The numbers of a [`FlatSmoke`].
#[derive(ShaderType, Clone, Copy, Debug, Default, PartialEq)]
struct Look {
    solid: Vec4,
    ends: Vec4,
}

impl Material2d for FlatSmoke {
    fn fragment_shader() -> ShaderRef {
        let path = AssetPath::from_path_buf(embedded_path!("smoke_2d.wgsl"));
        ShaderRef::Path(path.with_source("embedded"))
    }

    fn alpha_mode(&self) -> AlphaMode2d {
        AlphaMode2d::Blend
    }
}

pub(super) fn plugin(app: &mut App) {
    embedded_asset!(app, "smoke_2d.wgsl");
    app.add_plugins((
        Material2dPlugin::<FlatSmoke>::default(),
        smoke_canvas::plugin::<Vec2, FlatSmoke>,
    ));
}

impl SmokeMaterial<Vec2> for FlatSmoke {
    type Look = Look;
    type Drawn = (Mesh2d, MeshMaterial2d<Self>);

    const MAX_SIDE: u32 = 2048;

    fn new(cells: Handle<Image>, palette: Handle<Image>, look: Look) -> Self {
        Self { cells, palette, look }
    }

    fn look(&self) -> Look {
        self.look
    }

    fn set_look(&mut self, look: Look) {
        self.look = look;
    }

    fn drawn(mesh: Handle<Mesh>, material: Handle<Self>) -> Self::Drawn {
        (Mesh2d(mesh), MeshMaterial2d(material))
    }

    /// The rectangle of a domain, its first cell at the origin of the texture.
    fn mesh(domain: &SmokeDomain<Vec2>) -> Mesh {
        let corners = [Vec2::ZERO, Vec2::X, Vec2::ONE, Vec2::Y];
        let positions =
            corners.map(|corner| (domain.min + corner * domain.size).extend(0.0).to_array());
        Mesh::new(PrimitiveTopology::TriangleList, RenderAssetUsages::default())
            .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, positions.to_vec())
            .with_inserted_attribute(Mesh::ATTRIBUTE_NORMAL, vec![[0.0, 0.0, 1.0]; 4])
            .with_inserted_attribute(Mesh::ATTRIBUTE_UV_0, corners.map(|it| it.to_array()).to_vec())
            .with_inserted_indices(Indices::U32(vec![0, 1, 2, 0, 2, 3]))
    }

    fn texture(domain: &SmokeDomain<Vec2>) -> Image {
        let [width, height, _] = Self::texels(domain);
        let mut image = Image::new(
            Extent3d { width, height, depth_or_array_layers: 1 },
            TextureDimension::D2,
            vec![0; TEXEL * (width * height) as usize],
            TextureFormat::Rg32Float,
            RenderAssetUsages::default(),
        );
        image.sampler = ImageSampler::nearest();
        image
    }

    fn fill(
        smoke: &Smoke<Vec2>,
        drawing: &SmokeDrawing,
        _light: Option<Vec2>,
        bytes: &mut [u8],
    ) -> Look {
        let cells = Self::drawn_cells(smoke, drawing.view);
        for ((value, solid), texel) in cells.zip(bytes.chunks_exact_mut(TEXEL)) {
            let value = if solid || !value.is_finite() { 0.0 } else { value };
            texel[..4].copy_from_slice(&value.to_le_bytes());
            texel[4..].copy_from_slice(&f32::from(u8::from(solid)).to_le_bytes());
        }
        let number = |texel: &[u8], at: usize| {
            f32::from_le_bytes([texel[at], texel[at + 1], texel[at + 2], texel[at + 3]])
        };
        let free = bytes.chunks_exact(TEXEL).filter(|texel| number(texel, 4) == 0.0);
        let [low, high] = drawing.ends(free.map(|texel| number(texel, 0)));
        Look { solid: drawing.solid.to_linear().to_vec4(), ends: Vec4::new(low, high, 0.0, 0.0) }
    }
}

#[cfg(test)]
mod tests;
