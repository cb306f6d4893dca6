//! From [`Dots2d`] to the data texture, past the image asset: an asset would be copied and uploaded
//! whole at every change, this uploads the rows that hold dots, from memory that is kept.

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

use super::{Dots2d, DotsTexture, Texel};

pub(super) fn build(render_app: &mut SubApp) {
    render_app
        .init_resource::<Clouds>()
        .add_systems(ExtractSchedule, extract_clouds)
        .add_systems(Render, upload_clouds.in_set(RenderSystems::PrepareResources));
}

/// The render world's copy of all clouds.
#[derive(Resource, Default)]
struct Clouds(MainEntityHashMap<Cloud>);

#[derive(Default)]
struct Cloud {
    image: AssetId<Image>,
    texels: Texels,
    changed: bool,
    /// The texture that holds the dots. Another one stands in its place after growth or a lost
    /// device.
    uploaded_to: Option<TextureId>,
}

type DotsOrTextureChanged = Or<(Changed<Dots2d>, Changed<DotsTexture>)>;

fn extract_clouds(
    mut clouds: ResMut<Clouds>,
    changed: Extract<Query<(Entity, &Dots2d, &DotsTexture), DotsOrTextureChanged>>,
    mut removed: Extract<RemovedComponents<Dots2d>>,
    still_clouds: Extract<Query<(), With<Dots2d>>>,
) {
    for entity in removed.read().filter(|&entity| !still_clouds.contains(entity)) {
        clouds.0.remove(&MainEntity::from(entity));
    }
    for (entity, dots, texture) in &changed {
        let cloud = clouds.0.entry(MainEntity::from(entity)).or_default();
        cloud.image = texture.image.id();
        cloud.texels.set(&dots.texels);
        cloud.changed = true;
    }
}

fn upload_clouds(
    mut clouds: ResMut<Clouds>,
    images: Res<RenderAssets<GpuImage>>,
    queue: Res<RenderQueue>,
) {
    for cloud in clouds.0.values_mut() {
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

/// The dots, and after them the empty texels that fill up rows.
#[derive(Default)]
pub(super) struct Texels {
    texels: Vec<Texel>,
    dots: usize,
    /// Rows of the texture that may hold dots.
    written: usize,
}

impl Texels {
    pub(super) fn set(&mut self, dots: &[Texel]) {
        self.texels.clear();
        self.texels.extend_from_slice(dots);
        self.dots = dots.len();
    }

    pub(super) fn forget_written(&mut self) {
        self.written = 0;
    }

    /// The rows to upload, from the texture's first: all that hold dots now and all that held some
    /// before. Dots without room are left out, until the cloud has its greater texture in the next
    /// frame.
    pub(super) fn rows(&mut self, width: usize, height: usize) -> (usize, &[Texel]) {
        let dots = self.dots.min(width * height);
        let with_dots = dots.div_ceil(width);
        let rows = with_dots.max(self.written);
        self.texels.truncate(dots);
        self.texels.resize(rows * width, [0; 16]);
        self.written = with_dots;
        (rows, &self.texels)
    }
}
