use bevy::app::TaskPoolPlugin;
use bevy::asset::{AssetApp, AssetPlugin};
use bevy::color::LinearRgba;
use bevy::prelude::MinimalPlugins;

use super::upload::Texels;
use super::*;

const COUNTS: [(usize, usize); 5] = [(0, 64), (1, 64), (65, 128), (1025, 2048), (65_537, 131_072)];

fn dot(index: usize) -> Dot2d {
    Dot2d { position: Vec2::new(index as f32, -0.5), radius: 0.25, color: [1, 2, 3, 4] }
}

fn cloud(dots: usize) -> Dots2d {
    (0..dots).map(dot).collect()
}

/// What the shader would draw from a texture of `capacity` dots.
fn drawn(texels: &[Texel]) -> usize {
    texels.iter().filter(|texel| texel[12..16] != [0; 4]).count()
}

/// The main world's half of the plugin, without a GPU.
fn app() -> App {
    let mut app = App::new();
    app.add_plugins((TaskPoolPlugin::default(), AssetPlugin::default()))
        .init_asset::<Image>()
        .init_asset::<Mesh>()
        .init_asset::<DotsMaterial>()
        .add_systems(PostUpdate, grow_clouds);
    app
}

#[test]
fn a_texel_holds_the_bits_that_the_shader_reads() {
    let texel =
        Dot2d { position: Vec2::new(1.5, -2.0), radius: 0.25, color: [0x11, 0x22, 0x33, 0x44] }
            .pack();
    let texel = texel.unwrap();
    let word = |i: usize| u32::from_le_bytes(texel[4 * i..4 * i + 4].try_into().unwrap());
    assert_eq!(word(0), 1.5f32.to_bits());
    assert_eq!(word(1), (-2.0f32).to_bits());
    assert_eq!(word(2), 0x4433_2211, "red in the lowest byte, as unpack4x8unorm has it");
    assert_eq!(word(3), 0.25f32.to_bits());
}

#[test]
fn dots_that_cannot_be_drawn_are_refused_and_counted() {
    let mut dots = Dots2d::new();
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        assert!(!dots.push(Dot2d { position: Vec2::new(bad, 0.0), ..dot(0) }));
        assert!(!dots.push(Dot2d { position: Vec2::new(0.0, bad), ..dot(0) }));
        assert!(!dots.push(Dot2d { radius: bad, ..dot(0) }));
    }
    assert!(!dots.push(Dot2d { radius: -0.1, ..dot(0) }));
    assert_eq!((dots.len(), dots.skipped()), (0, 10));
    assert!(dots.push(dot(0)));
    assert_eq!((dots.len(), dots.skipped()), (1, 10));
    dots.clear();
    assert_eq!((dots.len(), dots.skipped()), (0, 0));
}

#[test]
fn a_dot_of_radius_zero_is_drawn() {
    for radius in [0.0, -0.0, f32::from_bits(1)] {
        let texel = Dot2d { radius, ..dot(0) }.pack().unwrap();
        assert_eq!(drawn(&[texel]), 1, "radius {radius}");
    }
}

#[test]
fn colours_are_stored_in_srgb() {
    let blue = Dot2d::new(Vec2::ZERO, 1.0, LinearRgba::rgb(0.0, 0.0, 1.0));
    assert_eq!(blue.color, [0, 0, 255, 255]);
    let grey = Dot2d::new(Vec2::ZERO, 1.0, LinearRgba::new(0.215_861, 2.0, -1.0, 0.5));
    assert_eq!(grey.color, [128, 255, 0, 128]);
}

#[test]
fn every_dot_is_drawn_and_no_other() {
    for (count, capacity) in COUNTS {
        assert_eq!(capacity_for(count), capacity);
        let size = data_texture(capacity).texture_descriptor.size;
        assert_eq!((size.width * size.height) as usize, capacity);
        let mut texels = Texels::default();
        texels.set(&cloud(count).texels);
        let (rows, uploaded) = texels.rows(size.width as usize, size.height as usize);
        assert_eq!(uploaded.len(), rows * size.width as usize);
        assert!(rows <= size.height as usize);
        assert_eq!(drawn(uploaded), count);
        assert_eq!(uploaded[..count], cloud(count).texels);
    }
}

#[test]
fn rows_that_held_dots_before_are_emptied() {
    let mut texels = Texels::default();
    texels.set(&cloud(100).texels);
    assert_eq!(texels.rows(16, 8).0, 7);
    texels.set(&cloud(17).texels);
    let (rows, uploaded) = texels.rows(16, 8);
    assert_eq!((rows, drawn(uploaded)), (7, 17));
    texels.set(&[]);
    let (rows, uploaded) = texels.rows(16, 8);
    assert_eq!((rows, drawn(uploaded)), (2, 0));
    assert_eq!(texels.rows(16, 8).0, 0);
}

#[test]
fn a_new_texture_gets_the_dots_again() {
    let mut texels = Texels::default();
    texels.set(&cloud(20).texels);
    texels.rows(16, 2);
    texels.forget_written();
    let (rows, uploaded) = texels.rows(32, 2);
    assert_eq!((rows, drawn(uploaded)), (1, 20));
}

#[test]
fn more_dots_than_the_texture_holds_do_not_overflow_it() {
    let mut texels = Texels::default();
    texels.set(&cloud(100).texels);
    let (rows, uploaded) = texels.rows(16, 4);
    assert_eq!((rows, drawn(uploaded)), (4, 64));
}

#[test]
fn the_largest_cloud_fits_the_smallest_texture_limit() {
    assert_eq!(capacity_for(usize::MAX), Dots2d::MAX_DOTS);
    let size = data_texture(Dots2d::MAX_DOTS).texture_descriptor.size;
    assert_eq!((size.width, size.height), (2048, 2048));
}

#[test]
fn the_mesh_has_a_quad_for_each_dot() {
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
        let texture = world.get::<DotsTexture>(entity).unwrap();
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
fn an_entity_that_loses_its_dots_is_not_drawn_any_more() {
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
    assert!(!entity.contains::<DotsTexture>());
}

#[test]
fn without_a_render_app_the_plugin_does_nothing() {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, DotsPlugin));
    let entity = app.world_mut().spawn(cloud(3)).id();
    app.finish();
    app.cleanup();
    app.update();
    let entity = app.world().entity(entity);
    assert_eq!(entity.get::<Dots2d>().unwrap().len(), 3);
    assert!(!entity.contains::<DotsTexture>());
    assert!(entity.contains::<Visibility>() && entity.contains::<NoFrustumCulling>());
}

#[test]
fn refilling_keeps_the_memory() {
    let mut dots = cloud(1000);
    let before = dots.texels.as_ptr();
    dots.clear();
    dots.extend((0..1000).map(dot));
    assert_eq!(dots.texels.as_ptr(), before);
}
