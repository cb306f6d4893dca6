use bevy::app::TaskPoolPlugin;
use bevy::asset::{AssetApp, AssetPlugin};
use bevy::math::Vec2;
use bevy::mesh::Mesh2d;

use super::upload::Texels;
use super::*;
use crate::render::dots::{Dot2d, Dots2d};

const COUNTS: [(usize, usize); 5] = [(0, 64), (1, 64), (65, 128), (1025, 2048), (65_537, 131_072)];

fn cloud(dots: usize) -> Dots2d {
    let dot = |index: usize| Dot2d {
        position: Vec2::new(index as f32, -0.5),
        radius: 0.25,
        color: [1, 2, 3, 4],
    };
    (0..dots).map(dot).collect()
}

/// What the shader would draw of these texels.
fn drawn(texels: &[Texel]) -> usize {
    texels.iter().filter(|texel| texel[12..16] != [0; 4]).count()
}

/// The main world's half of the plugin, without a GPU.
fn app() -> App {
    let mut app = App::new();
    app.add_plugins((TaskPoolPlugin::default(), AssetPlugin::default()))
        .init_asset::<Image>()
        .init_asset::<Mesh>()
        .init_asset::<<Dots2d as Cloud>::Material>()
        .add_systems(PostUpdate, grow::<Dots2d>);
    app
}

#[test]
fn every_element_is_drawn_and_no_other() {
    for (count, capacity) in COUNTS {
        assert_eq!(capacity_for(count), capacity);
        let size = data_texture(capacity).texture_descriptor.size;
        assert_eq!((size.width * size.height) as usize, capacity);
        let mut texels = Texels::default();
        texels.set(cloud(count).texels());
        let (rows, uploaded) = texels.rows(size.width as usize, size.height as usize);
        assert_eq!(uploaded.len(), rows * size.width as usize);
        assert!(rows <= size.height as usize);
        assert_eq!(drawn(uploaded), count);
        assert_eq!(uploaded[..count], *cloud(count).texels());
    }
}

#[test]
fn rows_that_held_something_before_are_emptied() {
    let mut texels = Texels::default();
    texels.set(cloud(100).texels());
    assert_eq!(texels.rows(16, 8).0, 7);
    texels.set(cloud(17).texels());
    let (rows, uploaded) = texels.rows(16, 8);
    assert_eq!((rows, drawn(uploaded)), (7, 17));
    texels.set(&[]);
    let (rows, uploaded) = texels.rows(16, 8);
    assert_eq!((rows, drawn(uploaded)), (2, 0));
    assert_eq!(texels.rows(16, 8).0, 0);
}

#[test]
fn a_new_texture_gets_the_cloud_again() {
    let mut texels = Texels::default();
    texels.set(cloud(20).texels());
    texels.rows(16, 2);
    texels.forget_written();
    let (rows, uploaded) = texels.rows(32, 2);
    assert_eq!((rows, drawn(uploaded)), (1, 20));
}

#[test]
fn more_than_the_texture_holds_do_not_overflow_it() {
    let mut texels = Texels::default();
    texels.set(cloud(100).texels());
    let (rows, uploaded) = texels.rows(16, 4);
    assert_eq!((rows, drawn(uploaded)), (4, 64));
}

#[test]
fn the_largest_cloud_fits_the_smallest_texture_limit() {
    assert_eq!(capacity_for(usize::MAX), MAX_TEXELS);
    let size = data_texture(MAX_TEXELS).texture_descriptor.size;
    assert_eq!((size.width, size.height), (2048, 2048));
}

#[test]
fn the_mesh_has_a_quad_for_each_element() {
    let mesh = quads(128);
    let Some(VertexAttributeValues::Uint32(vertices)) = mesh.attribute(CORNER_AND_INDEX) else {
        panic!("no corners");
    };
    assert_eq!(vertices.len(), 4 * 128);
    let indices: Vec<usize> = mesh.indices().unwrap().iter().collect();
    assert_eq!(indices.len(), 6 * 128);
    for (index, quad) in indices.chunks(6).enumerate() {
        let mut corners: Vec<u32> = quad.iter().map(|&vertex| vertices[vertex]).collect();
        assert!(corners.iter().all(|corner| corner >> 2 == index as u32));
        corners.sort_unstable();
        corners.dedup();
        assert_eq!(corners.len(), 4);
    }
}

#[test]
fn clouds_grow_and_do_not_shrink() {
    let mut app = app();
    let entity = app.world_mut().spawn(Dots2d::new()).id();
    let capacity = |app: &mut App, dots: usize| {
        *app.world_mut().get_mut::<Dots2d>(entity).unwrap() = cloud(dots);
        app.update();
        let world = app.world();
        let mesh =
            world.resource::<Assets<Mesh>>().get(&world.get::<Mesh2d>(entity).unwrap().0).unwrap();
        let texture = world.get::<CloudTexture>(entity).unwrap();
        let size =
            world.resource::<Assets<Image>>().get(&texture.image).unwrap().texture_descriptor.size;
        assert_eq!(mesh.count_vertices(), 4 * texture.capacity);
        assert_eq!((size.width * size.height) as usize, texture.capacity);
        texture.capacity
    };
    for (count, expected) in COUNTS {
        assert_eq!(capacity(&mut app, count), expected);
    }
    assert_eq!(capacity(&mut app, 3), 131_072);
}

#[test]
fn a_cloud_with_room_keeps_its_texture_and_mesh() {
    let mut app = app();
    let entity = app.world_mut().spawn(cloud(10)).id();
    app.update();
    let before = app.world().get::<Mesh2d>(entity).unwrap().0.id();
    *app.world_mut().get_mut::<Dots2d>(entity).unwrap() = cloud(64);
    app.update();
    assert_eq!(app.world().get::<Mesh2d>(entity).unwrap().0.id(), before);
    *app.world_mut().get_mut::<Dots2d>(entity).unwrap() = cloud(65);
    app.update();
    assert_ne!(app.world().get::<Mesh2d>(entity).unwrap().0.id(), before);
}

#[test]
fn an_entity_that_loses_its_cloud_is_not_drawn_any_more() {
    let mut app = app();
    let entity = app.world_mut().spawn(cloud(10)).id();
    app.update();
    // Taken and given back between two updates: still a cloud.
    app.world_mut().entity_mut(entity).remove::<Dots2d>().insert(cloud(5));
    app.update();
    assert!(app.world().entity(entity).contains::<Mesh2d>());
    app.world_mut().entity_mut(entity).remove::<Dots2d>();
    app.update();
    let entity = app.world().entity(entity);
    assert!(!entity.contains::<Mesh2d>());
    assert!(!entity.contains::<CloudTexture>());
}
