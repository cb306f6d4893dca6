//! Smoke that rises around a ball: the scene of `assets/scenes/smoke_3d.ron`, with the inspector.
//!
//! The right button turns the view, the middle one moves it, the wheel zooms. F changes between
//! smoke and fire. Space pauses, S makes one step, R restarts, I shows or hides the inspector.
//! Without a display or a graphics adapter the scene runs headless and leaves `final.png`.

#[path = "common/balls.rs"]
mod balls;
mod common;

use std::process::ExitCode;

use bevy::core_pipeline::prepass::DepthPrepass;
use bevy::prelude::*;
use bevy_egui::EguiPlugin;
use bevy_egui::input::{egui_wants_any_keyboard_input, egui_wants_any_pointer_input};
use bevy_fluid::FluidScene3d;
use bevy_fluid::inspector::{FluidInspector, FluidInspectorPlugin};
use bevy_fluid::palette::{Palette, PaletteStop};
use bevy_fluid::prelude::*;
use bevy_fluid::render::{FluidDrawing, SmokeDrawing};
use bevy_panorbit_camera::{PanOrbitCamera, PanOrbitCameraPlugin, PanOrbitCameraSystemSet};
use common::{headless, keys, probe};

const SCENE: &str = "scenes/smoke_3d.ron";

/// What the view turns around.
const MIDDLE: Vec3 = Vec3::new(0.0, 0.85, 0.0);

/// Dye for each m³ that is drawn thickest.
const THICKEST: f32 = 8.0;

fn main() -> ExitCode {
    probe::answer_if_asked();
    match probe::screen() {
        Ok(()) => run_in_a_window(),
        Err(reason) => headless::run_instead_of_a_window(&reason, SCENE),
    }
}

fn run_in_a_window() -> ExitCode {
    let window = Window { title: "bevy_fluid: smoke 3D".into(), ..default() };
    let exit = App::new()
        .add_plugins(DefaultPlugins.set(WindowPlugin { primary_window: Some(window), ..default() }))
        .add_plugins((EguiPlugin::default(), PanOrbitCameraPlugin, FluidPlugin::default()))
        .add_plugins(FluidInspectorPlugin)
        .insert_resource(ClearColor(Color::srgb_u8(0x1c, 0x22, 0x2b)))
        // The scene brings a ball, which is drawn whole below.
        .insert_resource(FluidDrawing { boundary: None, ..default() })
        .insert_resource(FluidInspector { open: false, ..default() })
        .init_resource::<Fire>()
        .configure_sets(
            PostUpdate,
            PanOrbitCameraSystemSet.run_if(not(egui_wants_any_pointer_input)),
        )
        .add_systems(Startup, setup)
        .add_systems(
            Update,
            (
                (keys::control, kindle).run_if(not(egui_wants_any_keyboard_input)),
                (dress, balls::show(Color::srgb_u8(0xc4, 0x5a, 0x3c))),
            )
                .chain(),
        )
        .run();
    if exit.is_success() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn setup(
    mut commands: Commands,
    assets: Res<AssetServer>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    commands.spawn((
        Transform::from_translation(MIDDLE + Vec3::new(0.85, 0.35, 1.7)),
        PanOrbitCamera {
            focus: MIDDLE,
            zoom_lower_limit: 0.1,
            button_orbit: MouseButton::Right,
            button_pan: MouseButton::Middle,
            ..default()
        },
        // So that the smoke is in front of the ball and behind it; with one sample to a pixel, as
        // WebGL2 reads depths of no other.
        (DepthPrepass, Msaa::Off),
        AmbientLight { brightness: 250.0, ..default() },
    ));
    commands.spawn((
        DirectionalLight { illuminance: 8_000.0, shadow_maps_enabled: true, ..default() },
        Transform::from_xyz(-2.0, 3.0, 1.5).looking_at(Vec3::ZERO, Vec3::Y),
    ));
    commands.spawn((
        Mesh3d(meshes.add(Plane3d::default().mesh().size(1.2, 1.2))),
        MeshMaterial3d(materials.add(Color::srgb_u8(0x5a, 0x5f, 0x66))),
    ));
    commands.spawn(FluidScene3d::new(assets.load(SCENE)));
}

/// Whether the smoke is drawn as fire.
#[derive(Resource, Default)]
struct Fire(bool);

/// F: fire and smoke.
fn kindle(keys: Res<ButtonInput<KeyCode>>, mut fire: ResMut<Fire>) {
    if keys.just_pressed(KeyCode::KeyF) {
        fire.0 = !fire.0;
    }
}

/// Gives the smoke its colours, when it comes and when they change.
fn dress(
    fire: Res<Fire>,
    assets: Res<AssetServer>,
    mut palettes: ResMut<Assets<Palette>>,
    mut smokes: Query<(&mut SmokeDrawing, Ref<Smoke3d>)>,
) -> Result {
    for (mut drawing, smoke) in &mut smokes {
        if !fire.is_changed() && !smoke.is_added() {
            continue;
        }
        let palette = if fire.0 {
            assets.load("palettes/fire.palette.ron")
        } else {
            let stops = [PaletteStop::new(0.0, "#D8DCE2")?, PaletteStop::new(1.0, "#F6F4F0")?];
            palettes.add(Palette::new(stops)?)
        };
        let range = Some([0.0, THICKEST]);
        *drawing = SmokeDrawing { palette, range, lit: !fire.0, ..default() };
    }
    Ok(())
}
