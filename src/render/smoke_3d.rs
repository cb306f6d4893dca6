//! Smoke in space: each domain is a box through which rays gather light, its cells texels of a
//! volume.
//!
//! The light of the sun is followed through the cells here, once for each change of the smoke, not
//! for each pixel (emission and absorption as in Max 1995, *Optical Models for Direct Volume
//! Rendering*).

use bevy::asset::{AssetPath, RenderAssetUsages, embedded_asset, embedded_path};
use bevy::image::ImageSampler;
use bevy::light::{NotShadowCaster, NotShadowReceiver};
use bevy::mesh::MeshVertexBufferLayoutRef;
use bevy::pbr::{Material, MaterialPipeline, MaterialPipelineKey, MaterialPlugin};
use bevy::prelude::*;
use bevy::render::render_resource::{
    AsBindGroup, Extent3d, Face, RenderPipelineDescriptor, ShaderType,
    SpecializedMeshPipelineError, TextureDimension, TextureFormat,
};
use bevy::shader::ShaderRef;

use super::smoke_canvas::{self, SmokeMaterial};
use super::smoke_drawing::SmokeDrawing;
use crate::solver::smoke::{Smoke, SmokeDomain};

/// Bytes of a texel: its place on the palette, the part of the sun's light that
/// reaches it, whether it is solid, nothing.
const TEXEL: usize = 4;

/// Optical depth of a solid cell: nothing to speak of comes through.
const OPAQUE: f32 = 12.0;

/// Draws the cells of a volume.
#[derive(Asset, AsBindGroup, TypePath, Clone)]
struct SmokeVolume {
    #[texture(0, dimension = "3d")]
    #[sampler(1)]
    cells: Handle<Image>,
    #[texture(2)]
    palette: Handle<Image>,
    #[uniform(3)]
    look: Look,
}

/// The numbers of a [`SmokeVolume`].
#[derive(ShaderType, Clone, Copy, Debug, Default, PartialEq)]
struct Look {
    /// Lowest corner in m; extinction at the end of the palette in 1/m.
    min: Vec4,
    /// Extent in m; 1 where the middle of the palette is clear, not its start.
    size: Vec4,
    /// Towards the light that was followed through the cells, in the smoke's
    /// own space; 1 where light falls on the smoke, 0 where it shines by itself.
    light: Vec4,
}

impl Material for SmokeVolume {
    fn vertex_shader() -> ShaderRef {
        shader()
    }

    fn fragment_shader() -> ShaderRef {
        shader()
    }

    fn alpha_mode(&self) -> AlphaMode {
        AlphaMode::Blend
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
            vec![layout.0.get_layout(&[Mesh::ATTRIBUTE_POSITION.at_shader_location(0)])?];
        // The far sides, so that a camera in the smoke sees it.
        descriptor.primitive.cull_mode = Some(Face::Front);
        Ok(())
    }
}

fn shader() -> ShaderRef {
    let path = AssetPath::from_path_buf(embedded_path!("smoke_3d.wgsl"));
    ShaderRef::Path(path.with_source("embedded"))
}

pub(super) fn plugin(app: &mut App) {
    embedded_asset!(app, "smoke_3d.wgsl");
    app.add_plugins((
        MaterialPlugin::<SmokeVolume>::default(),
        smoke_canvas::plugin::<Vec3, SmokeVolume>,
    ));
}

impl SmokeMaterial<Vec3> for SmokeVolume {
    type Look = Look;
    type Drawn = (Mesh3d, MeshMaterial3d<Self>, NotShadowCaster, NotShadowReceiver);

    const MAX_SIDE: u32 = 256;

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
        (Mesh3d(mesh), MeshMaterial3d(material), NotShadowCaster, NotShadowReceiver)
    }

    fn mesh(domain: &SmokeDomain<Vec3>) -> Mesh {
        let middle = domain.min + 0.5 * domain.size;
        Mesh::from(Cuboid::from_size(domain.size)).translated_by(middle)
    }

    fn texture(domain: &SmokeDomain<Vec3>) -> Image {
        let [width, height, depth] = Self::texels(domain);
        let mut image = Image::new(
            Extent3d { width, height, depth_or_array_layers: depth },
            TextureDimension::D3,
            vec![0; TEXEL * (width * height * depth) as usize],
            TextureFormat::Rgba8Unorm,
            RenderAssetUsages::default(),
        );
        image.sampler = ImageSampler::linear();
        image
    }

    fn fill(
        smoke: &Smoke<Vec3>,
        drawing: &SmokeDrawing,
        light: Option<Vec3>,
        bytes: &mut [u8],
    ) -> Look {
        let cells = || Self::drawn_cells(smoke, drawing.view);
        let free = cells().filter(|&(_, solid)| !solid).map(|(value, _)| value);
        let [low, high] = drawing.ends(free);
        let signed = drawing.view.is_signed();
        let clear = if signed { 0.5 } else { 0.0 };
        for ((value, solid), texel) in cells().zip(bytes.chunks_exact_mut(TEXEL)) {
            let part = (value - low) / (high - low);
            let part = if solid || !part.is_finite() { clear } else { part.clamp(0.0, 1.0) };
            // Thin smoke needs the finer steps.
            let coded = if signed { part } else { part.sqrt() };
            texel.copy_from_slice(&[byte(coded), 255, byte(f32::from(u8::from(solid))), 0]);
        }
        let domain = smoke.domain();
        let extinction = drawing.extinction;
        let extinction = if extinction.is_finite() { extinction.max(0.0) } else { 0.0 };
        if let Some(light) = light.filter(|_| drawing.lit) {
            let side = domain.cell_size() * Self::stride(domain) as f32;
            let sun = Sun { toward: light, optical_depth: extinction * side, signed };
            sun.shine(Self::texels(domain), bytes);
        }
        Look {
            min: domain.min.extend(extinction),
            size: domain.size.extend(f32::from(u8::from(signed))),
            light: light.unwrap_or(Vec3::Y).extend(f32::from(u8::from(drawing.lit))),
        }
    }
}

/// A part from 0 to 1 as a byte.
fn byte(part: f32) -> u8 {
    (part * 255.0).round() as u8
}

/// Light from one direction.
struct Sun {
    /// Direction towards it, of length 1.
    toward: Vec3,
    /// Optical depth of a texel at the end of the palette.
    optical_depth: f32,
    signed: bool,
}

impl Sun {
    /// Writes into every texel which part of the light reaches its middle: slice after slice away
    /// from the light, each by what came through the slice before.
    fn shine(&self, [width, height, depth]: [u32; 3], texels: &mut [u8]) {
        let count = [width, height, depth].map(|count| count as usize);
        let stride = [1, count[0], count[0] * count[1]];
        let toward = self.toward.to_array();
        let axis = self.toward.abs().max_position();
        let [across, along] = [(axis + 1) % 3, (axis + 2) % 3];
        if !(toward[axis].abs() > 0.0) {
            return;
        }
        let shift = [across, along].map(|it| toward[it] / toward[axis].abs());
        let half = 0.5 * self.optical_depth / toward[axis].abs();
        let mut before = vec![0.0f32; count[across] * count[along]];
        let mut through = before.clone();
        for step in 0..count[axis] {
            let slice = if toward[axis] > 0.0 { count[axis] - 1 - step } else { step };
            for row in 0..count[along] {
                for column in 0..count[across] {
                    let cell = slice * stride[axis] + row * stride[along] + column * stride[across];
                    let texel = &mut texels[TEXEL * cell..][..TEXEL];
                    let place = [column as f32 + shift[0], row as f32 + shift[1]];
                    let depth = bilinear(&before, [count[across], count[along]], place);
                    let own = half * self.strength(texel[0]);
                    texel[1] = byte((-depth - own).exp());
                    let solid = OPAQUE * f32::from(texel[2]) / 255.0;
                    through[row * count[across] + column] = depth + 2.0 * own + solid;
                }
            }
            core::mem::swap(&mut before, &mut through);
        }
    }

    /// How strongly a texel absorbs, 0 to 1.
    fn strength(&self, coded: u8) -> f32 {
        let part = f32::from(coded) / 255.0;
        if self.signed { (2.0 * part - 1.0).abs() } else { part * part }
    }
}

/// Values of a grid between its points, 0 beyond its rim.
fn bilinear(values: &[f32], [columns, rows]: [usize; 2], [x, y]: [f32; 2]) -> f32 {
    let at = |column: f32, row: f32| {
        let inside = column >= 0.0 && row >= 0.0;
        let (column, row) = (column as usize, row as usize);
        if inside && column < columns && row < rows { values[row * columns + column] } else { 0.0 }
    };
    let (left, low) = (x.floor(), y.floor());
    let (right_part, high_part) = (x - left, y - low);
    let mix = |a: f32, b: f32, part: f32| a + part * (b - a);
    mix(
        mix(at(left, low), at(left + 1.0, low), right_part),
        mix(at(left, low + 1.0), at(left + 1.0, low + 1.0), right_part),
        high_part,
    )
}

#[cfg(test)]
mod tests;
