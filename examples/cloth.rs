//! The cloth of the reference program to play with: the scene of `assets/scenes/cloth.ron`, with
//! the inspector.
//!
//! The left button drags a particle, the right or middle one the view, the wheel zooms. Space
//! pauses, S makes one step, R restarts, I shows or hides the inspector. Without a display or a
//! graphics adapter the scene runs headless and leaves `final.png`.

mod common;

use std::process::ExitCode;

use bevy::prelude::*;
use bevy_egui::EguiPlugin;
use bevy_egui::input::egui_wants_any_keyboard_input;
use bevy_fluid::inspector::{ClothSize, FluidInspectorPlugin};
use bevy_fluid::prelude::*;
use bevy_fluid::solver::cloth::scene::ClothShape;
use bevy_fluid::{FluidScene2d, Scene2d, SceneAsset2d};
use bevy_pancam::{PanCam, PanCamPlugin};
use common::{headless, keys, probe};

const SCENE: &str = "scenes/cloth.ron";

/// Length of a pixel at the start: 50 pixels to the metre, as in the reference.
const PIXEL: f32 = 0.02;

fn main() -> ExitCode {
    probe::answer_if_asked();
    match probe::screen() {
        Ok(()) => run_in_a_window(),
        Err(reason) => headless::run_instead_of_a_window(&reason, SCENE),
    }
}

fn run_in_a_window() -> ExitCode {
    let window = Window { title: "bevy_fluid: cloth".into(), ..default() };
    let exit = App::new()
        .add_plugins(DefaultPlugins.set(WindowPlugin { primary_window: Some(window), ..default() }))
        .add_plugins((EguiPlugin::default(), PanCamPlugin, FluidPlugin::default()))
        .add_plugins(FluidInspectorPlugin)
        .insert_resource(ClearColor(Color::srgb_u8(0xee, 0xee, 0xee)))
        .init_resource::<ClothSize>()
        .add_systems(Startup, setup)
        .add_systems(
            Update,
            (
                resize.run_if(resource_exists_and_changed::<ClothSize>),
                keys::control.run_if(not(egui_wants_any_keyboard_input)),
                draw_axes,
            ),
        )
        .run();
    if exit.is_success() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn setup(mut commands: Commands, assets: Res<AssetServer>) {
    let projection =
        OrthographicProjection { scale: PIXEL, ..OrthographicProjection::default_2d() };
    commands.spawn((
        Camera2d,
        Projection::Orthographic(projection),
        // The inspector stands at the left.
        Transform::from_xyz(1.0, -4.0, 0.0),
        PanCam {
            grab_buttons: vec![MouseButton::Right, MouseButton::Middle],
            min_scale: 1e-4,
            max_scale: 1.0,
            ..default()
        },
    ));
    commands.spawn(FluidScene2d::new(assets.load(SCENE)));
}

/// The axes of the world, a metre long each.
fn draw_axes(mut gizmos: Gizmos) {
    gizmos.line_2d(Vec2::ZERO, Vec2::X, Color::srgb_u8(0xff, 0, 0));
    gizmos.line_2d(Vec2::ZERO, Vec2::Y, Color::srgb_u8(0, 0xff, 0));
}

/// Makes the scene anew with a cloth of another size. The one from the file, at
/// its own size, stays what it is, hot reload included.
fn resize(
    size: Res<ClothSize>,
    mut scenes: Query<&mut FluidScene2d>,
    mut assets: ResMut<Assets<SceneAsset2d>>,
    server: Res<AssetServer>,
) {
    if size.is_added() {
        return;
    }
    for mut scene in &mut scenes {
        if *size == ClothSize::default() {
            scene.0 = server.load(SCENE);
        } else if let Some(now) = assets.get(&scene.0) {
            let other = SceneAsset2d::new(with_size(&now.0, *size));
            scene.0 = assets.add(other);
        }
    }
}

/// The scene with its cloth at another size.
fn with_size(scene: &Scene2d, size: ClothSize) -> Scene2d {
    let mut scene = scene.clone();
    for cloth in &mut scene.cloths {
        if let ClothShape::Grid { columns, rows, .. } = &mut cloth.shape {
            (*columns, *rows) = (size.width, size.height);
        }
        let last = size.width * size.height - 1;
        let corners = [0, size.width - 1, last + 1 - size.width, last];
        cloth.pins = corners[..size.fixed.min(4) as usize].to_vec();
        cloth.mass = size.mass;
    }
    scene
}
