use bevy::app::TaskPoolPlugin;
use bevy::asset::{AssetApp, AssetPlugin};

use bevy::asset::AssetEventSystems;

use super::super::smoke_canvas::{Canvas, draw, forget};
use super::super::smoke_drawing::insert_built_in;
use super::*;
use crate::palette::{Palette, PaletteStop};
use crate::solver::sampling::{BoundaryShape, Fill};
use crate::solver::smoke::{SmokeObstacle, SmokeSettings, SmokeView};

/// 8 x 4 cells of a quarter of a metre, dye by column and row, a solid box of 2 x 2 cells.
fn smoke() -> Smoke<Vec2> {
    let domain =
        SmokeDomain { min: Vec2::new(-1.0, 0.0), size: Vec2::new(2.0, 1.0), cells: [8, 4, 1] };
    let mut smoke = Smoke::new(domain, SmokeSettings::default(), 1).unwrap();
    let half_size = Vec2::splat(0.25);
    let shape = BoundaryShape::Box { half_size, fill: Fill::Solid };
    smoke.set_obstacles([SmokeObstacle::new(shape, Vec2::new(0.0, 0.5))]).unwrap();
    smoke.fill_dye(0, |place| 10.0 * (place.x + 1.125) + place.y).unwrap();
    smoke
}

/// The main world's half of the plugin, without a GPU.
fn app() -> App {
    let mut app = App::new();
    app.add_plugins((TaskPoolPlugin::default(), AssetPlugin::default()))
        .init_asset::<Image>()
        .init_asset::<Mesh>()
        .init_asset::<Palette>()
        .init_asset::<FlatSmoke>()
        .add_systems(
            PostUpdate,
            (forget::<Vec2, FlatSmoke>, draw::<Vec2, FlatSmoke>).chain().before(AssetEventSystems),
        );
    insert_built_in(&mut app.world_mut().resource_mut::<Assets<Palette>>());
    app
}

/// Value and solidity of every texel.
fn texels(image: &Image) -> Vec<[f32; 2]> {
    let number = |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().unwrap());
    let bytes = image.data.as_ref().unwrap().chunks_exact(8);
    bytes.map(|texel| [number(&texel[..4]), number(&texel[4..])]).collect()
}

fn canvas(app: &App, entity: Entity) -> (&Canvas<Vec2, FlatSmoke>, &Image, &Image, &FlatSmoke) {
    let world = app.world();
    let canvas = world.get::<Canvas<Vec2, FlatSmoke>>(entity).unwrap();
    let image = |handle: &Handle<Image>| world.resource::<Assets<Image>>().get(handle).unwrap();
    let material = world.resource::<Assets<FlatSmoke>>().get(&canvas.material).unwrap();
    (canvas, image(&canvas.cells), image(&canvas.palette), material)
}

#[test]
fn the_texture_holds_values_and_solid_cells() {
    let (smoke, drawing) = (smoke(), SmokeDrawing::default());
    let mut image = FlatSmoke::texture(smoke.domain());
    let look = FlatSmoke::fill(&smoke, &drawing, None, image.data.as_mut().unwrap());
    assert_eq!((image.width(), image.height()), (8, 4));
    let mut highest = 0.0f32;
    for (index, [value, solid]) in texels(&image).into_iter().enumerate() {
        let (column, row) = (index % 8, index / 8);
        let inside = (3..5).contains(&column) && (1..3).contains(&row);
        assert_eq!(solid, f32::from(u8::from(inside)), "{column}, {row}");
        let dye = 10.0 * (0.25 * column as f32 + 0.25) + 0.25 * row as f32 + 0.125;
        let expected = if inside { 0.0 } else { dye };
        assert!((value - expected).abs() < 1e-4, "{column}, {row}: {value}, {expected}");
        highest = highest.max(value);
    }
    assert_eq!(look.ends, Vec4::new(0.0, highest, 0.0, 0.0));
    let still = SmokeDrawing { view: SmokeView::Vorticity, range: Some([-2.0, 3.0]), ..drawing };
    let look = FlatSmoke::fill(&smoke, &still, None, image.data.as_mut().unwrap());
    assert_eq!(look.ends, Vec4::new(-2.0, 3.0, 0.0, 0.0));
    assert!(texels(&image).iter().all(|texel| texel[0] == 0.0));
}

#[test]
fn a_domain_wider_than_a_texture_is_thinned() {
    let cells = [4098, 6, 1];
    let domain = SmokeDomain { min: Vec2::ZERO, size: Vec2::new(4098.0, 6.0), cells };
    let mut smoke = Smoke::new(domain, SmokeSettings::default(), 1).unwrap();
    smoke.fill_dye(0, |place| place.x.floor() + 10_000.0 * place.y.floor()).unwrap();
    let mut image = FlatSmoke::texture(&domain);
    assert_eq!((image.width(), image.height()), (1366, 2));
    FlatSmoke::fill(&smoke, &SmokeDrawing::default(), None, image.data.as_mut().unwrap());
    let texels = texels(&image);
    assert_eq!((texels[1][0], texels[1365][0]), (3.0, 4095.0));
    assert_eq!((texels[1366][0], texels[1367][0]), (30_000.0, 30_003.0));
}

#[test]
fn the_rectangle_covers_the_domain_with_the_first_cell_at_the_textures_origin() {
    let mesh = FlatSmoke::mesh(smoke().domain());
    let attribute = |id| mesh.attribute(id).unwrap().get_bytes().to_vec();
    let floats = |bytes: Vec<u8>| -> Vec<f32> {
        bytes.chunks(4).map(|it| f32::from_le_bytes(it.try_into().unwrap())).collect()
    };
    let positions = floats(attribute(Mesh::ATTRIBUTE_POSITION.id));
    let uvs = floats(attribute(Mesh::ATTRIBUTE_UV_0.id));
    for (position, uv) in positions.chunks(3).zip(uvs.chunks(2)) {
        assert_eq!(position, [2.0 * uv[0] - 1.0, uv[1], 0.0]);
    }
    assert_eq!(uvs.iter().filter(|&&it| it == 1.0).count(), 4);
}

#[test]
fn textures_are_kept_until_the_grid_is_another() {
    let mut app = app();
    let entity = app.world_mut().spawn(smoke()).id();
    app.update();
    let before =
        (canvas(&app, entity).0.cells.id(), app.world().get::<Mesh2d>(entity).unwrap().0.id());
    let mut smoke = app.world_mut().get_mut::<Smoke<Vec2>>(entity).unwrap();
    smoke.fill_dye(0, |_| 7.0).unwrap();
    app.update();
    let (now, image, ..) = canvas(&app, entity);
    assert_eq!(now.cells.id(), before.0);
    assert_eq!(texels(image)[0], [7.0, 0.0]);
    let mut smoke = app.world_mut().get_mut::<Smoke<Vec2>>(entity).unwrap();
    let domain = SmokeDomain { cells: [16, 8, 1], ..*smoke.domain() };
    smoke.resample(domain).unwrap();
    app.update();
    let (now, image, ..) = canvas(&app, entity);
    assert_ne!(now.cells.id(), before.0);
    assert_eq!((image.width(), image.height()), (16, 8));
}

#[test]
fn nothing_is_written_while_nothing_changes() {
    let mut app = app();
    let entity = app.world_mut().spawn(smoke()).id();
    app.update();
    app.update();
    let written = |app: &mut App| {
        app.update();
        app.world_mut().resource_mut::<Messages<AssetEvent<Image>>>().drain().count()
    };
    written(&mut app);
    assert_eq!(written(&mut app), 0);
    app.world_mut().get_mut::<Smoke<Vec2>>(entity).unwrap().set_changed();
    assert_eq!(written(&mut app), 1);
    app.world_mut().get_mut::<SmokeDrawing>(entity).unwrap().solid = Color::BLACK;
    assert_eq!(written(&mut app), 2);
    assert_eq!(written(&mut app), 0);
}

#[test]
fn an_edited_palette_is_seen_at_once_and_that_of_the_view_is_taken() {
    let mut app = app();
    let colors = [("#102030", "#405060"), ("#FF0000", "#00FF00")].map(|(low, high)| {
        let stops = [PaletteStop::new(0.0, low).unwrap(), PaletteStop::new(1.0, high).unwrap()];
        Palette::new(stops).unwrap()
    });
    let palette = app.world_mut().resource_mut::<Assets<Palette>>().add(colors[0].clone());
    let drawing = SmokeDrawing { palette: palette.clone(), ..SmokeDrawing::default() };
    let entity = app.world_mut().spawn((smoke(), drawing)).id();
    let seen = |app: &App| canvas(app, entity).2.data.clone().unwrap();
    app.update();
    assert_eq!(seen(&app), colors[0].table().as_flattened());
    app.update();
    let mut palettes = app.world_mut().resource_mut::<Assets<Palette>>();
    *palettes.get_mut(&palette).unwrap() = colors[1].clone();
    // The event of the change is sent at the end of a frame.
    app.update();
    app.update();
    assert_eq!(seen(&app), colors[1].table().as_flattened());
    app.world_mut().get_mut::<SmokeDrawing>(entity).unwrap().view = SmokeView::Pressure;
    app.update();
    assert_eq!(seen(&app), Palette::diverging().table().as_flattened());
}

#[test]
fn an_entity_that_loses_its_smoke_is_not_drawn_any_more() {
    let mut app = app();
    let entity = app.world_mut().spawn(smoke()).id();
    app.update();
    assert!(app.world().entity(entity).contains::<Mesh2d>());
    app.world_mut().entity_mut(entity).remove::<Smoke<Vec2>>();
    app.update();
    let entity = app.world().entity(entity);
    assert!(!entity.contains::<Mesh2d>() && !entity.contains::<Canvas<Vec2, FlatSmoke>>());
}
