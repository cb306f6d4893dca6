//! Smoke in the plane: each domain is a rectangle, its cells texels of a data texture.
//!
//! A data texture works on every target that Bevy draws on, WebGL2 included.

use bevy::asset::{AssetEventSystems, AssetPath, RenderAssetUsages, embedded_asset, embedded_path};
use bevy::camera::visibility::VisibilitySystems;
use bevy::image::ImageSampler;
use bevy::mesh::{Indices, PrimitiveTopology};
use bevy::prelude::*;
use bevy::render::render_resource::{
    AsBindGroup, Extent3d, ShaderType, TextureDimension, TextureFormat,
};
use bevy::shader::ShaderRef;
use bevy::sprite_render::{AlphaMode2d, Material2d, Material2dPlugin};

use super::smoke_drawing::SmokeDrawing;
use crate::palette::Palette;
use crate::solver::smoke::{Smoke, SmokeDomain};

/// Most texels along a side: what WebGL2 guarantees. Of domains with more cells
/// than that, every second, third, … one is drawn.
const MAX_SIDE: u32 = 2048;

/// Bytes of a texel: value and solidity.
const TEXEL: usize = 8;

/// What a domain is drawn with. Beside the smoke, so that looking after it does
/// not mark the smoke as changed.
#[derive(Component)]
struct Canvas {
    domain: SmokeDomain<Vec2>,
    cells: Handle<Image>,
    palette: Handle<Image>,
    material: Handle<SmokeMaterial>,
}

/// Draws the cells of a texture.
#[derive(Asset, AsBindGroup, TypePath, Clone)]
struct SmokeMaterial {
    #[texture(0, sample_type = "float", filterable = false, visibility(fragment))]
    cells: Handle<Image>,
    #[texture(1, visibility(fragment))]
    palette: Handle<Image>,
    #[uniform(2, visibility(fragment))]
    look: Look,
}

/// The numbers of a [`SmokeMaterial`].
#[derive(ShaderType, Clone, Copy, Debug, Default, PartialEq)]
struct Look {
    solid: Vec4,
    ends: Vec4,
}

impl Material2d for SmokeMaterial {
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
    app.add_plugins(Material2dPlugin::<SmokeMaterial>::default()).add_systems(
        PostUpdate,
        (forget, draw)
            .chain()
            // So that new textures are drawn in the frame that asks for them.
            .before(AssetEventSystems)
            .before(VisibilitySystems::VisibilityPropagate)
            .before(VisibilitySystems::CheckVisibility),
    );
}

/// Takes the drawing from entities that are no smoke any more.
fn forget(
    mut commands: Commands,
    mut removed: RemovedComponents<Smoke<Vec2>>,
    smokes: Query<(), With<Smoke<Vec2>>>,
) {
    for entity in removed.read().filter(|&entity| !smokes.contains(entity)) {
        if let Ok(mut entity) = commands.get_entity(entity) {
            entity.try_remove::<(Canvas, Mesh2d, MeshMaterial2d<SmokeMaterial>)>();
        }
    }
}

/// Brings textures and colours up to date where smoke, drawing or palette changed.
fn draw(
    mut commands: Commands,
    smokes: Query<(Entity, Ref<Smoke<Vec2>>, Ref<SmokeDrawing>, Option<&Canvas>)>,
    mut images: ResMut<Assets<Image>>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<SmokeMaterial>>,
    palettes: Res<Assets<Palette>>,
    mut events: MessageReader<AssetEvent<Palette>>,
) {
    let repainted: Vec<AssetId<Palette>> = events
        .read()
        .filter_map(|event| match event {
            AssetEvent::Added { id } | AssetEvent::Modified { id } => Some(*id),
            _ => None,
        })
        .collect();
    for (entity, smoke, drawing, canvas) in &smokes {
        let palette = drawing.palette_in_use().id();
        // Until a file has been read, the colours are those of the default palette.
        let colors = || palettes.get(palette).map_or_else(Palette::default, Palette::clone).table();
        let Some(canvas) = canvas.filter(|canvas| canvas.domain == *smoke.domain()) else {
            let mut cells = cell_texture(smoke.domain());
            let look = fill(&smoke, &drawing, cells.data.get_or_insert_default());
            let cells = images.add(cells);
            let palette = images.add(palette_texture(&colors()));
            let material = SmokeMaterial { cells: cells.clone(), palette: palette.clone(), look };
            let material = materials.add(material);
            commands.entity(entity).try_insert((
                Mesh2d(meshes.add(rectangle(smoke.domain()))),
                MeshMaterial2d(material.clone()),
                Canvas { domain: *smoke.domain(), cells, palette, material },
            ));
            continue;
        };
        if (drawing.is_changed() || repainted.contains(&palette))
            && let Some(mut image) = images.get_mut(&canvas.palette)
        {
            image.data.get_or_insert_default().copy_from_slice(colors().as_flattened());
        }
        if !smoke.is_changed() && !drawing.is_changed() {
            continue;
        }
        let Some(mut image) = images.get_mut(&canvas.cells) else { continue };
        let look = fill(&smoke, &drawing, image.data.get_or_insert_default());
        if let Some(mut material) = materials.get_mut(&canvas.material)
            && material.look != look
        {
            material.look = look;
        }
    }
}

/// How many cells along each axis share a texel.
fn stride(domain: &SmokeDomain<Vec2>) -> usize {
    domain.cells[..2].iter().map(|cells| cells.div_ceil(MAX_SIDE)).max().unwrap_or(1) as usize
}

/// A texture for the cells of a domain.
fn cell_texture(domain: &SmokeDomain<Vec2>) -> Image {
    let stride = stride(domain) as u32;
    let [width, height] = [0, 1].map(|axis| domain.cells[axis].div_ceil(stride));
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

/// A texture of colours.
fn palette_texture(colors: &[[u8; 4]; Palette::TABLE]) -> Image {
    Image::new(
        Extent3d { width: Palette::TABLE as u32, height: 1, depth_or_array_layers: 1 },
        TextureDimension::D2,
        colors.as_flattened().to_vec(),
        TextureFormat::Rgba8UnormSrgb,
        RenderAssetUsages::default(),
    )
}

/// The rectangle of a domain, its first cell at the origin of the texture.
fn rectangle(domain: &SmokeDomain<Vec2>) -> Mesh {
    let corners = [Vec2::ZERO, Vec2::X, Vec2::ONE, Vec2::Y];
    let positions =
        corners.map(|corner| (domain.min + corner * domain.size).extend(0.0).to_array());
    Mesh::new(PrimitiveTopology::TriangleList, RenderAssetUsages::default())
        .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, positions.to_vec())
        .with_inserted_attribute(Mesh::ATTRIBUTE_NORMAL, vec![[0.0, 0.0, 1.0]; 4])
        .with_inserted_attribute(Mesh::ATTRIBUTE_UV_0, corners.map(|it| it.to_array()).to_vec())
        .with_inserted_indices(Indices::U32(vec![0, 1, 2, 0, 2, 3]))
}

/// Writes the cells into the bytes of their texture; returns how they are drawn.
fn fill(smoke: &Smoke<Vec2>, drawing: &SmokeDrawing, bytes: &mut [u8]) -> Look {
    let (stride, [columns, ..]) = (stride(smoke.domain()), smoke.domain().cells);
    let drawn = move |&(index, _): &(usize, _)| {
        let (row, column) = (index / columns as usize, index % columns as usize);
        row.is_multiple_of(stride) && column.is_multiple_of(stride)
    };
    let cells = || {
        let values = smoke.view(drawing.view).zip(smoke.solid_cells()).enumerate();
        values.filter(drawn).map(|(_, cell)| cell)
    };
    for ((value, solid), texel) in cells().zip(bytes.chunks_exact_mut(TEXEL)) {
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

#[cfg(test)]
mod tests;
