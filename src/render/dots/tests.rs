use bevy::app::App;
use bevy::color::LinearRgba;
use bevy::prelude::MinimalPlugins;

use super::*;

fn dot(index: usize) -> Dot2d {
    Dot2d { position: Vec2::new(index as f32, -0.5), radius: 0.25, color: [1, 2, 3, 4] }
}

fn cloud(dots: usize) -> Dots2d {
    (0..dots).map(dot).collect()
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
        assert_ne!(texel[12..16], [0; 4], "radius {radius}");
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
fn without_a_render_app_the_plugin_does_nothing() {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, DotsPlugin));
    let entity = app.world_mut().spawn(cloud(3)).id();
    app.finish();
    app.cleanup();
    app.update();
    let entity = app.world().entity(entity);
    assert_eq!(entity.get::<Dots2d>().unwrap().len(), 3);
    assert!(!entity.contains::<Mesh2d>());
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
