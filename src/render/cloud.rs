//! What clouds of dots and of spheres share: one data texture per cloud, read
//! by the vertex shader, and a mesh of as many quads.
//!
//! A data texture works on every target that Bevy draws on, WebGL2 included.
//! Only the rows of it that hold something are uploaded, and only after the
//! component has been changed.

mod upload;

use bevy::app::{App, PostUpdate};
use bevy::asset::{Asset, AssetEventSystems, Assets, Handle, RenderAssetUsages};
use bevy::camera::visibility::VisibilitySystems;
use bevy::ecs::component::Mutable;
use bevy::ecs::prelude::*;
use bevy::image::Image;
use bevy::mesh::{
    Indices, Mesh, MeshVertexAttribute, PrimitiveTopology, VertexAttributeValues, VertexFormat,
};
use bevy::render::RenderApp;
use bevy::render::render_resource::{Extent3d, TextureDimension, TextureFormat};

/// One element of a cloud as the shader reads it: four words of four bytes,
/// lowest byte first. A last word of zero marks an empty place.
pub(super) type Texel = [u8; 16];

/// Texels in a row of the data texture. Also the greatest number of rows: 2048
/// is what WebGL2 guarantees.
const MAX_SIDE: usize = 2048;

/// The most elements of a cloud.
pub(super) const MAX_TEXELS: usize = MAX_SIDE * MAX_SIDE;

/// Room in the smallest cloud, so that small ones do not grow one by one.
const MIN_CAPACITY: usize = 64;

/// Two bits of corner (bit 0: right, bit 1: top), then the element's index. In an attribute,
/// because the built-in vertex index counts from wherever the mesh allocator has put the mesh.
pub(super) const CORNER_AND_INDEX: MeshVertexAttribute = MeshVertexAttribute::new(
    "Vertex_CloudCornerAndIndex",
    0x646f_7473_3264_0001,
    VertexFormat::Uint32,
);

/// A component that is drawn as a cloud.
pub(super) trait Cloud: Component<Mutability = Mutable> {
    /// What its quads are drawn with.
    type Material: Asset;
    /// The components that draw them.
    type Drawn: Bundle;

    /// Its elements in the order in which they are drawn.
    fn texels(&self) -> &[Texel];

    /// The material that reads them from `texture`.
    fn material(&self, texture: Handle<Image>) -> Self::Material;

    /// Mesh and material as components.
    fn drawn(mesh: Handle<Mesh>, material: Handle<Self::Material>) -> Self::Drawn;
}

/// Readies the clouds of a kind for drawing in the system set `set`.
pub(super) fn build<C: Cloud>(app: &mut App, set: impl SystemSet) {
    app.add_systems(
        PostUpdate,
        grow::<C>
            .in_set(set)
            // So that a new mesh and texture are drawn in the frame that asks for them.
            .before(AssetEventSystems)
            .before(VisibilitySystems::VisibilityPropagate)
            .before(VisibilitySystems::CheckVisibility),
    );
    if let Some(render_app) = app.get_sub_app_mut(RenderApp) {
        upload::build::<C>(render_app);
    }
}

/// What the GPU has room for. Beside the cloud, so that looking after it does not mark the cloud
/// as changed.
#[derive(Component)]
pub(super) struct CloudTexture {
    image: Handle<Image>,
    capacity: usize,
}

/// Gives each cloud a texture and a mesh with room for all of it: a power of two, which never
/// shrinks. Takes them from an entity that is no cloud any more.
pub(super) fn grow<C: Cloud>(
    mut commands: Commands,
    mut images: ResMut<Assets<Image>>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<C::Material>>,
    clouds: Query<(Entity, &C, Option<&CloudTexture>), Changed<C>>,
    mut removed: RemovedComponents<C>,
    still_clouds: Query<(), With<C>>,
) {
    for entity in removed.read().filter(|&entity| !still_clouds.contains(entity)) {
        if let Ok(mut entity) = commands.get_entity(entity) {
            entity.try_remove::<(C::Drawn, CloudTexture)>();
        }
    }
    for (entity, cloud, texture) in &clouds {
        let capacity = capacity_for(cloud.texels().len());
        if texture.is_some_and(|texture| texture.capacity >= capacity) {
            continue;
        }
        let image = images.add(data_texture(capacity));
        let material = materials.add(cloud.material(image.clone()));
        commands.entity(entity).try_insert((
            C::drawn(meshes.add(quads(capacity)), material),
            CloudTexture { image, capacity },
        ));
    }
}

fn capacity_for(texels: usize) -> usize {
    texels.clamp(MIN_CAPACITY, MAX_TEXELS).next_power_of_two()
}

/// A texture for `capacity` texels. Without data, because the GPU's starts as zeros, which are
/// empty places.
fn data_texture(capacity: usize) -> Image {
    let width = capacity.min(MAX_SIDE);
    let size = Extent3d {
        width: width as u32,
        height: (capacity / width) as u32,
        depth_or_array_layers: 1,
    };
    Image::new_uninit(
        size,
        TextureDimension::D2,
        TextureFormat::Rgba32Uint,
        RenderAssetUsages::default(),
    )
}

/// `capacity` quads of two triangles.
fn quads(capacity: usize) -> Mesh {
    let vertices: Vec<u32> = (0..4 * capacity as u32).collect();
    let mut indices = Vec::with_capacity(6 * capacity);
    for first in (0..4 * capacity as u32).step_by(4) {
        indices.extend([0, 1, 2, 2, 1, 3].map(|corner| first + corner));
    }
    Mesh::new(PrimitiveTopology::TriangleList, RenderAssetUsages::default())
        .with_inserted_attribute(CORNER_AND_INDEX, VertexAttributeValues::Uint32(vertices))
        .with_inserted_indices(Indices::U32(indices))
}

#[cfg(test)]
mod tests;
