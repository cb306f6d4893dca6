//! What drawing smoke in the plane and in space share: textures that follow the cells and the
//! palette.
//!
//! A data texture works on every target that Bevy draws on, WebGL2 included.

use bevy::asset::{AssetEventSystems, RenderAssetUsages};
use bevy::camera::visibility::VisibilitySystems;
use bevy::prelude::*;
use bevy::render::render_resource::{Extent3d, TextureDimension, TextureFormat};

use super::smoke_drawing::SmokeDrawing;
use crate::dimension::Dimension;
use crate::palette::Palette;
use crate::smoke::SmokePlace;
use crate::solver::smoke::{Smoke, SmokeDomain, SmokeView};

/// A material that draws smoke.
pub(super) trait SmokeMaterial<V: Dimension>: Asset + Sized {
    /// The numbers that the shader reads beside the textures.
    type Look: Copy + PartialEq;

    /// The components by which an entity is drawn.
    type Drawn: Bundle;

    /// Most texels along a side, so that WebGL2 takes the texture. Of domains with more cells than
    /// that, every second, third, … one is drawn.
    const MAX_SIDE: u32;

    fn new(cells: Handle<Image>, palette: Handle<Image>, look: Self::Look) -> Self;

    fn look(&self) -> Self::Look;

    fn set_look(&mut self, look: Self::Look);

    fn drawn(mesh: Handle<Mesh>, material: Handle<Self>) -> Self::Drawn;

    /// What the smoke is drawn on.
    fn mesh(domain: &SmokeDomain<V>) -> Mesh;

    /// A texture for the cells of a domain.
    fn texture(domain: &SmokeDomain<V>) -> Image;

    /// Writes the cells into the bytes of their texture; returns how they are drawn. `light` is
    /// the direction towards the brightest light in the smoke's own space.
    fn fill(
        smoke: &Smoke<V>,
        drawing: &SmokeDrawing,
        light: Option<V>,
        bytes: &mut [u8],
    ) -> Self::Look;

    /// Value and solidity of the cells that have a texel, x fastest, then y.
    fn drawn_cells(smoke: &Smoke<V>, view: SmokeView) -> impl Iterator<Item = (f32, bool)> + '_ {
        let (stride, [columns, rows, _]) = (Self::stride(smoke.domain()), smoke.domain().cells);
        let cells = smoke.view(view).zip(smoke.solid_cells()).zip(0u32..);
        let drawn = cells.filter(move |&(_, index)| {
            if stride == 1 {
                return true;
            }
            let place = [index % columns, index / columns % rows, index / columns / rows];
            place.iter().all(|it| it.is_multiple_of(stride))
        });
        drawn.map(|(cell, _)| cell)
    }

    /// How many cells along each axis share a texel.
    fn stride(domain: &SmokeDomain<V>) -> u32 {
        let cells = domain.cells[..V::DIM].iter();
        cells.map(|cells| cells.div_ceil(Self::MAX_SIDE)).max().unwrap_or(1)
    }

    /// Texels along each axis.
    fn texels(domain: &SmokeDomain<V>) -> [u32; 3] {
        let stride = Self::stride(domain);
        [0, 1, 2].map(|axis| domain.cells[axis].div_ceil(stride))
    }
}

/// What a domain is drawn with. Beside the smoke, so that looking after it does
/// not mark the smoke as changed.
#[derive(Component)]
pub(super) struct Canvas<V: Dimension, M: SmokeMaterial<V>> {
    domain: SmokeDomain<V>,
    light: Option<V>,
    pub cells: Handle<Image>,
    pub palette: Handle<Image>,
    pub material: Handle<M>,
}

/// Draws the smoke of a dimension by a material, whose own plugin is there.
pub(super) fn plugin<V: Dimension, M: SmokeMaterial<V>>(app: &mut App) {
    app.add_systems(
        PostUpdate,
        (forget::<V, M>, draw::<V, M>)
            .chain()
            .after(TransformSystems::Propagate)
            // So that new textures are drawn in the frame that asks for them.
            .before(AssetEventSystems)
            .before(VisibilitySystems::VisibilityPropagate)
            .before(VisibilitySystems::CheckVisibility),
    );
}

/// Takes the drawing from entities that are no smoke any more.
pub(super) fn forget<V: Dimension, M: SmokeMaterial<V>>(
    mut commands: Commands,
    mut removed: RemovedComponents<Smoke<V>>,
    smokes: Query<(), With<Smoke<V>>>,
) {
    for entity in removed.read().filter(|&entity| !smokes.contains(entity)) {
        if let Ok(mut entity) = commands.get_entity(entity) {
            entity.try_remove::<(Canvas<V, M>, M::Drawn)>();
        }
    }
}

/// Brings textures and colours up to date where smoke, drawing, palette or light changed.
pub(super) fn draw<V: Dimension, M: SmokeMaterial<V>>(
    mut commands: Commands,
    mut smokes: Query<(
        Entity,
        Ref<Smoke<V>>,
        Ref<SmokeDrawing>,
        Option<&mut Canvas<V, M>>,
        &GlobalTransform,
    )>,
    lights: Query<(&DirectionalLight, &GlobalTransform)>,
    mut images: ResMut<Assets<Image>>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<M>>,
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
    let brightest = lights.iter().max_by(|(a, _), (b, _)| a.illuminance.total_cmp(&b.illuminance));
    let brightest = brightest.filter(|_| V::DIM == 3).map(|(_, place)| *place.back());
    for (entity, smoke, drawing, canvas, transform) in &mut smokes {
        let palette = drawing.palette_in_use().id();
        // Until a file has been read, the colours are those of the default palette.
        let colors = || palettes.get(palette).map_or_else(Palette::default, Palette::clone).table();
        let place = SmokePlace::new(transform);
        let light = brightest.map(|light| place.turn_to_local(V::from_array(light.to_array())));
        let Some(mut canvas) = canvas.filter(|canvas| canvas.domain == *smoke.domain()) else {
            let mut cells = M::texture(smoke.domain());
            let look = M::fill(&smoke, &drawing, light, cells.data.get_or_insert_default());
            let cells = images.add(cells);
            let palette = images.add(palette_texture(&colors()));
            let material = materials.add(M::new(cells.clone(), palette.clone(), look));
            commands.entity(entity).try_insert((
                M::drawn(meshes.add(M::mesh(smoke.domain())), material.clone()),
                Canvas { domain: *smoke.domain(), light, cells, palette, material },
            ));
            continue;
        };
        if (drawing.is_changed() || repainted.contains(&palette))
            && let Some(mut image) = images.get_mut(&canvas.palette)
        {
            image.data.get_or_insert_default().copy_from_slice(colors().as_flattened());
        }
        if !smoke.is_changed() && !drawing.is_changed() && canvas.light == light {
            continue;
        }
        canvas.light = light;
        let Some(mut image) = images.get_mut(&canvas.cells) else { continue };
        let look = M::fill(&smoke, &drawing, light, image.data.get_or_insert_default());
        if let Some(mut material) = materials.get_mut(&canvas.material)
            && material.look() != look
        {
            material.set_look(look);
        }
    }
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
