//! A flag in the wind over a sphere: the scene of `assets/scenes/cloth_3d.ron`, with the inspector.
//!
//! The left button drags the cloth, the right one turns the view, the middle one moves it, the
//! wheel zooms. Space pauses, S makes one step, R restarts, I shows or hides the inspector. Without
//! a display or a graphics adapter the scene runs headless and leaves `final.png`.

#[path = "common/balls.rs"]
mod balls;
mod common;

use std::process::ExitCode;

use bevy::asset::RenderAssetUsages;
use bevy::image::{ImageAddressMode, ImageSampler, ImageSamplerDescriptor};
use bevy::prelude::*;
use bevy::render::render_resource::{Extent3d, TextureDimension, TextureFormat};
use bevy_egui::EguiPlugin;
use bevy_egui::input::{egui_wants_any_keyboard_input, egui_wants_any_pointer_input};
use bevy_fluid::FluidScene3d;
use bevy_fluid::inspector::FluidInspectorPlugin;
use bevy_fluid::prelude::*;
use bevy_panorbit_camera::{PanOrbitCamera, PanOrbitCameraPlugin, PanOrbitCameraSystemSet};
use common::{headless, keys, probe};

const SCENE: &str = "scenes/cloth_3d.ron";

/// Middle of the flag, which the view turns around.
const MIDDLE: Vec3 = Vec3::new(0.6, 1.5, 0.0);

fn main() -> ExitCode {
    probe::answer_if_asked();
    match probe::screen() {
        Ok(()) => run_in_a_window(),
        Err(reason) => headless::run_instead_of_a_window(&reason, SCENE),
    }
}

fn run_in_a_window() -> ExitCode {
    let window = Window { title: "bevy_fluid: cloth 3D".into(), ..default() };
    let exit = App::new()
        .add_plugins(DefaultPlugins.set(WindowPlugin { primary_window: Some(window), ..default() }))
        .add_plugins((EguiPlugin::default(), PanOrbitCameraPlugin, FluidPlugin::default()))
        .add_plugins(FluidInspectorPlugin)
        .insert_resource(ClearColor(Color::srgb_u8(0xdd, 0xe6, 0xee)))
        // The scene brings a sphere, which is drawn whole below.
        .insert_resource(bevy_fluid::render::FluidDrawing { boundary: None, ..default() })
        .configure_sets(
            PostUpdate,
            PanOrbitCameraSystemSet.run_if(not(egui_wants_any_pointer_input)),
        )
        .add_systems(Startup, setup)
        .add_systems(
            Update,
            (
                keys::control.run_if(not(egui_wants_any_keyboard_input)),
                dress,
                balls::show(Color::srgb_u8(0x4a, 0x7a, 0xb5)),
            ),
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
        Transform::from_translation(MIDDLE + Vec3::new(-0.9, 0.5, 2.3)),
        PanOrbitCamera {
            focus: MIDDLE - 0.4 * Vec3::X,
            zoom_lower_limit: 0.1,
            button_orbit: MouseButton::Right,
            button_pan: MouseButton::Middle,
            ..default()
        },
        AmbientLight { brightness: 400.0, ..default() },
    ));
    commands.spawn((
        DirectionalLight { illuminance: 9_000.0, shadow_maps_enabled: true, ..default() },
        Transform::from_xyz(-1.0, 3.0, 2.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
    let grey = materials.add(Color::srgb_u8(0x88, 0x88, 0x88));
    commands.spawn((
        Mesh3d(meshes.add(Cylinder::new(0.012, 2.1))),
        MeshMaterial3d(grey.clone()),
        Transform::from_xyz(0.0, 1.05, 0.0),
    ));
    commands.spawn((
        Mesh3d(meshes.add(Plane3d::default().mesh().size(8.0, 8.0))),
        MeshMaterial3d(materials.add(Color::srgb_u8(0xaa, 0xb4, 0xa0))),
    ));
    commands.spawn(FluidScene3d::new(assets.load(SCENE)));
}

/// Gives the flag its pattern in place of the plain material.
fn dress(
    mut commands: Commands,
    flags: Query<Entity, Added<Cloth3d>>,
    mut images: ResMut<Assets<Image>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    for flag in &flags {
        let material = StandardMaterial {
            base_color_texture: Some(images.add(pattern())),
            perceptual_roughness: 0.8,
            double_sided: true,
            cull_mode: None,
            ..default()
        };
        commands.entity(flag).insert(MeshMaterial3d(materials.add(material)));
    }
}

/// Checks of two colours with a band along the middle.
fn pattern() -> Image {
    const SIDE: u32 = 96;
    let color = |x: u32, y: u32| {
        if (40..56).contains(&y) {
            [0xf2, 0xc1, 0x4e, 0xff]
        } else if (x / 12 + y / 12).is_multiple_of(2) {
            [0xb0, 0x2e, 0x26, 0xff]
        } else {
            [0xf4, 0xf1, 0xe8, 0xff]
        }
    };
    let pixels = (0..SIDE).flat_map(|y| (0..SIDE).flat_map(move |x| color(x, y))).collect();
    let size = Extent3d { width: SIDE, height: SIDE, depth_or_array_layers: 1 };
    let mut image = Image::new(
        size,
        TextureDimension::D2,
        pixels,
        TextureFormat::Rgba8UnormSrgb,
        RenderAssetUsages::RENDER_WORLD,
    );
    image.sampler = ImageSampler::Descriptor(ImageSamplerDescriptor {
        address_mode_u: ImageAddressMode::ClampToEdge,
        ..ImageSamplerDescriptor::linear()
    });
    image
}
