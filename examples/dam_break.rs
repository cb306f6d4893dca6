//! A breaking dam to play with: the scene of the reference program from
//! `assets/scenes/dam_break.ron`, with the inspector.
//!
//! The wheel zooms at the pointer, the right or middle button drags the view,
//! the left one a particle. Space pauses, S makes one step, R restarts, F
//! changes to the scene with the fast defaults of games and back, I shows or
//! hides the inspector. Without a display or a graphics adapter the
//! scene runs headless and leaves `final.png`.

mod common;

use std::process::ExitCode;

use bevy::prelude::*;
use bevy_egui::EguiPlugin;
use bevy_egui::input::egui_wants_any_keyboard_input;
use bevy_fluid::inspector::{FluidInspectorPlugin, RestartRequested, SceneSize};
use bevy_fluid::prelude::*;
use bevy_fluid::{FluidScene2d, Scene2d, SceneAsset2d};
use bevy_pancam::{PanCam, PanCamPlugin};
use common::{headless, keys, probe};

/// The scene of the reference program, and its twin with the defaults of games.
const SCENE: &str = "scenes/dam_break.ron";
const FAST_SCENE: &str = "scenes/dam_break_fast.ron";

/// Length of a pixel at the start: 100 pixels to the metre, as in the reference.
const PIXEL: f32 = 0.01;

/// Particles along each side of the water in the scene file.
const SIZE: SceneSize = SceneSize { columns: 30, rows: 30 };

fn main() -> ExitCode {
    probe::answer_if_asked();
    match probe::screen() {
        Ok(()) => run_in_a_window(),
        Err(reason) => headless::run_instead_of_a_window(&reason, SCENE),
    }
}

fn run_in_a_window() -> ExitCode {
    let window = Window { title: "bevy_fluid: dam break".into(), ..default() };
    let exit = App::new()
        .add_plugins(DefaultPlugins.set(WindowPlugin { primary_window: Some(window), ..default() }))
        .add_plugins((EguiPlugin::default(), PanCamPlugin, FluidPlugin::default()))
        .add_plugins(FluidInspectorPlugin)
        .insert_resource(ClearColor(Color::srgb_u8(0xee, 0xee, 0xee)))
        .insert_resource(SIZE)
        .add_systems(Startup, setup)
        .add_systems(
            Update,
            (
                resize.run_if(resource_exists_and_changed::<SceneSize>),
                (keys::control, change_scene).run_if(not(egui_wants_any_keyboard_input)),
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
        Transform::from_xyz(-1.5, 2.25, 0.0),
        PanCam {
            grab_buttons: vec![MouseButton::Right, MouseButton::Middle],
            min_scale: 1e-4,
            max_scale: 1.0,
            ..default()
        },
    ));
    commands.spawn(FluidScene2d::new(assets.load(SCENE)));
}

/// Makes the scene anew at another size. The one from the file, at its own
/// size, stays what it is, hot reload included.
fn resize(
    size: Res<SceneSize>,
    mut scenes: Query<&mut FluidScene2d>,
    mut assets: ResMut<Assets<SceneAsset2d>>,
    server: Res<AssetServer>,
) {
    if size.is_added() {
        return;
    }
    for mut scene in &mut scenes {
        scene.0 = if *size == SIZE {
            server.load(SCENE)
        } else {
            assets.add(SceneAsset2d::new(Scene2d::dam_break(size.columns, size.rows)))
        };
    }
}

/// Changes to the fast scene and back.
fn change_scene(
    keys: Res<ButtonInput<KeyCode>>,
    mut scenes: Query<&mut FluidScene2d>,
    mut restart: MessageWriter<RestartRequested>,
    server: Res<AssetServer>,
) {
    if !keys.just_pressed(KeyCode::KeyF) {
        return;
    }
    for mut scene in &mut scenes {
        let fast = scene.0.path().is_some_and(|path| path.to_string() == FAST_SCENE);
        scene.0 = server.load(if fast { SCENE } else { FAST_SCENE });
    }
    // The panel's clock starts anew, too.
    restart.write_default();
}
