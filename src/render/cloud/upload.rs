//! From a cloud's component to the data texture, past the image asset: an asset would be copied and uploaded
//! whole at every change, this uploads the rows that hold something, from memory that is kept.

use bevy::app::SubApp;
use bevy::asset::AssetId;
use bevy::ecs::prelude::*;
use bevy::image::Image;
use bevy::render::render_asset::RenderAssets;
use bevy::render::render_resource::{Extent3d, TexelCopyBufferLayout, TextureId};
use bevy::render::renderer::RenderQueue;
use bevy::render::sync_world::{MainEntity, MainEntityHashMap};
use bevy::render::texture::GpuImage;
use bevy::render::{Extract, ExtractSchedule, Render, RenderSystems};

use super::{Cloud, CloudTexture, Texel};
use core::marker::PhantomData;

pub(super) fn build<C: Cloud>(render_app: &mut SubApp) {
    render_app
        .init_resource::<Clouds<C>>()
        .add_systems(ExtractSchedule, extract_clouds::<C>)
        .add_systems(Render, upload_clouds::<C>.in_set(RenderSystems::PrepareResources));
}

/// The render world's copy of all clouds of a kind.
#[derive(Resource)]
struct Clouds<C> {
    copies: MainEntityHashMap<Copied>,
    kind: PhantomData<C>,
}

impl<C> Default for Clouds<C> {
    fn default() -> Self {
        Self { copies: MainEntityHashMap::default(), kind: PhantomData }
    }
}

#[derive(Default)]
struct Copied {
    image: AssetId<Image>,
    texels: Texels,
    changed: bool,
    /// The texture that holds the texels. Another one stands in its place after growth or a lost
    /// device.
    uploaded_to: Option<TextureId>,
}

type CloudOrTextureChanged<C> = Or<(Changed<C>, Changed<CloudTexture>)>;

fn extract_clouds<C: Cloud>(
    mut clouds: ResMut<Clouds<C>>,
    changed: Extract<Query<(Entity, &C, &CloudTexture), CloudOrTextureChanged<C>>>,
    mut removed: Extract<RemovedComponents<C>>,
    still_clouds: Extract<Query<(), With<C>>>,
) {
    for entity in removed.read().filter(|&entity| !still_clouds.contains(entity)) {
        clouds.copies.remove(&MainEntity::from(entity));
    }
    for (entity, cloud, texture) in &changed {
        let copy = clouds.copies.entry(MainEntity::from(entity)).or_default();
        copy.image = texture.image.id();
        copy.texels.set(cloud.texels());
        copy.changed = true;
    }
}

fn upload_clouds<C: Cloud>(
    mut clouds: ResMut<Clouds<C>>,
    images: Res<RenderAssets<GpuImage>>,
    queue: Res<RenderQueue>,
) {
    for cloud in clouds.copies.values_mut() {
        let Some(image) = images.get(cloud.image) else {
            continue;
        };
        let texture = Some(image.texture.id());
        if cloud.uploaded_to != texture {
            cloud.texels.forget_written();
        } else if !cloud.changed {
            continue;
        }
        let Extent3d { width, height, .. } = image.texture_descriptor.size;
        let (rows, texels) = cloud.texels.rows(width as usize, height as usize);
        if rows > 0 {
            queue.write_texture(
                image.texture.as_image_copy(),
                texels.as_flattened(),
                TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(width * size_of::<Texel>() as u32),
                    rows_per_image: None,
                },
                Extent3d { width, height: rows as u32, depth_or_array_layers: 1 },
            );
        }
        cloud.uploaded_to = texture;
        cloud.changed = false;
    }
}

/// The cloud's texels, and after them the empty ones that fill up rows.
#[derive(Default)]
pub(super) struct Texels {
    texels: Vec<Texel>,
    /// How many of them are the cloud's.
    filled: usize,
    /// Rows of the texture that may hold some.
    written: usize,
}

impl Texels {
    pub(super) fn set(&mut self, texels: &[Texel]) {
        self.texels.clear();
        self.texels.extend_from_slice(texels);
        self.filled = texels.len();
    }

    pub(super) fn forget_written(&mut self) {
        self.written = 0;
    }

    /// The rows to upload, from the texture's first: all that are filled now and all that were
    /// before. What has no room is left out, until the cloud has its greater texture in the next
    /// frame.
    pub(super) fn rows(&mut self, width: usize, height: usize) -> (usize, &[Texel]) {
        let filled = self.filled.min(width * height);
        let needed = filled.div_ceil(width);
        let rows = needed.max(self.written);
        self.texels.truncate(filled);
        self.texels.resize(rows * width, [0; 16]);
        self.written = needed;
        (rows, &self.texels)
    }
}
