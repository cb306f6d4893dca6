//! A breaking dam in space: the scene of `assets/scenes/dam_break_3d_small.ron`, with the inspector,
//! or another 3D scene of the assets, such as `scenes/wet_sheet_3d.ron`, as the only argument.
//!
//! The right button turns the view, the middle one moves it, the wheel zooms. Space
//! pauses, S makes one step, R restarts, I shows or hides the inspector. Without a display or a
//! graphics adapter the scene runs headless and leaves `final.png`.

mod common;

use std::process::ExitCode;

use bevy::prelude::*;
use bevy_egui::EguiPlugin;
use bevy_egui::input::{egui_wants_any_keyboard_input, egui_wants_any_pointer_input};
use bevy_fluid::FluidScene3d;
use bevy_fluid::inspector::FluidInspectorPlugin;
use bevy_fluid::prelude::*;
use bevy_panorbit_camera::{PanOrbitCamera, PanOrbitCameraPlugin, PanOrbitCameraSystemSet};
use common::{headless, keys, probe};

const SCENE: &str = "scenes/dam_break_3d_small.ron";

/// Middle of the tank, which the view turns around.
const MIDDLE: Vec3 = Vec3::new(0.8, 0.5, 0.35);

fn main() -> ExitCode {
    probe::answer_if_asked();
    match probe::screen() {
        Ok(()) => run_in_a_window(),
        Err(reason) => headless::run_instead_of_a_window(&reason, &scene()),
    }
}

/// The scene to show, a path in the assets.
fn scene() -> String {
    std::env::args().nth(1).unwrap_or_else(|| SCENE.into())
}

fn run_in_a_window() -> ExitCode {
    let window = Window { title: "bevy_fluid: dam break 3D".into(), ..default() };
    let exit = App::new()
        .add_plugins(DefaultPlugins.set(WindowPlugin { primary_window: Some(window), ..default() }))
        .add_plugins((EguiPlugin::default(), PanOrbitCameraPlugin, FluidPlugin::default()))
        .add_plugins(FluidInspectorPlugin)
        .insert_resource(ClearColor(Color::srgb_u8(0xee, 0xee, 0xee)))
        .configure_sets(
            PostUpdate,
            PanOrbitCameraSystemSet.run_if(not(egui_wants_any_pointer_input)),
        )
        .add_systems(Startup, setup)
        .add_systems(Update, keys::control.run_if(not(egui_wants_any_keyboard_input)))
        .run();
    if exit.is_success() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn setup(mut commands: Commands, assets: Res<AssetServer>) {
    commands.spawn((
        Transform::from_translation(MIDDLE + Vec3::new(1.0, 0.9, 2.2)),
        PanOrbitCamera {
            focus: MIDDLE,
            zoom_lower_limit: 0.05,
            button_orbit: MouseButton::Right,
            button_pan: MouseButton::Middle,
            ..default()
        },
        AmbientLight { brightness: 600.0, ..default() },
    ));
    commands.spawn((
        DirectionalLight { illuminance: 9_000.0, ..default() },
        Transform::from_xyz(-0.5, 2.0, 1.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
    commands.spawn(FluidScene3d::new(assets.load(scene())));
}
