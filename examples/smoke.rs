//! Smoke to play with: a warm source under a disc, all of it yours to stir.
//!
//! Dragging with the left button, or with fingers, adds dye and wind; the disc can be dragged, too.
//! Arrows or WASD fly a jet. Space pauses, N makes one step, R restarts, C clears the air, P takes
//! the next palette, V the next view, T the other scheme, M changes to jets that follow a list of
//! band levels as a music visualiser's would, I shows or hides the inspector, H the help. The right
//! or middle button drags the view, the wheel zooms. Without a display or a graphics adapter the
//! scene runs headless and leaves `final.png`.

mod common;

use std::process::ExitCode;

use bevy::asset::LoadedFolder;
use bevy::prelude::*;
use bevy::window::PrimaryWindow;
use bevy_egui::input::{egui_wants_any_keyboard_input, egui_wants_any_pointer_input};
use bevy_egui::{EguiContexts, EguiPlugin, EguiPrimaryContextPass, egui};
use bevy_fluid::inspector::{FluidInspector, FluidInspectorPlugin, RestartRequested};
use bevy_fluid::palette::Palette;
use bevy_fluid::prelude::*;
use bevy_fluid::render::{FluidDrawing, SmokeDrawing};
use bevy_fluid::solver::error::FluidError;
use bevy_fluid::solver::smoke::{Border, SmokeScheme, SmokeView};
use bevy_pancam::{DirectionKeys, PanCam, PanCamPlugin, PanCamSystems};
use common::{headless, probe};

const SCENE: &str = "scenes/smoke.ron";

/// Extent of the air in metres, and its cells.
const SIZE: Vec2 = Vec2::new(4.0, 2.25);
const CELLS: [u32; 3] = [256, 144, 1];

/// Length of a pixel at the start.
const PIXEL: f32 = 0.0033;

/// Radius of the disc, and its middle.
const DISC: f32 = 0.24;
const DISC_PLACE: Vec2 = Vec2::new(0.06, 0.1);

/// Where the jet starts from.
const JET_PLACE: Vec2 = Vec2::new(-1.5, -0.2);

/// Dye for each m² that is drawn brightest.
const BRIGHTEST: f32 = 1.0;

/// The views that V goes through.
const VIEWS: [SmokeView; 5] = [
    SmokeView::Dye(0),
    SmokeView::Speed,
    SmokeView::Pressure,
    SmokeView::Divergence,
    SmokeView::Vorticity,
];

/// The palettes that P goes through where folders cannot be listed.
const PALETTES: [&str; 6] = ["ink", "fire", "ice", "viridis", "grey", "paper"];

fn main() -> ExitCode {
    probe::answer_if_asked();
    match probe::screen() {
        Ok(()) => run_in_a_window(),
        Err(reason) => headless::run_instead_of_a_window(&reason, SCENE),
    }
}

fn run_in_a_window() -> ExitCode {
    let window = Window { title: "bevy_fluid: smoke".into(), ..default() };
    let exit = App::new()
        .add_plugins(DefaultPlugins.set(WindowPlugin { primary_window: Some(window), ..default() }))
        .add_plugins((EguiPlugin::default(), PanCamPlugin, FluidPlugin::default()))
        .add_plugins(FluidInspectorPlugin)
        .insert_resource(ClearColor(Color::srgb_u8(0x05, 0x06, 0x0a)))
        // The disc has a picture of its own.
        .insert_resource(FluidDrawing { boundary: None, ..default() })
        .insert_resource(FluidInspector { open: false, ..default() })
        .insert_resource(Help(true))
        .init_resource::<Strokes>()
        .init_resource::<Music>()
        .add_systems(Startup, (set_up_camera, load_palettes, spawn))
        .configure_sets(Update, PanCamSystems.run_if(not(egui_wants_any_pointer_input)))
        .add_systems(
            Update,
            (
                point,
                drag_disc,
                (control_time, change_look, change_air).run_if(not(egui_wants_any_keyboard_input)),
                restart,
            )
                .chain(),
        )
        .add_systems(
            FluidSchedule,
            (stir, fly_jet.run_if(not(egui_wants_any_keyboard_input)), listen, play)
                .chain()
                .in_set(FluidSystems::NonPressureForces),
        )
        .add_systems(EguiPrimaryContextPass, show_help)
        .run();
    if exit.is_success() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn set_up_camera(mut commands: Commands) {
    let projection =
        OrthographicProjection { scale: PIXEL, ..OrthographicProjection::default_2d() };
    commands.spawn((
        Camera2d,
        Projection::Orthographic(projection),
        PanCam {
            grab_buttons: vec![MouseButton::Right, MouseButton::Middle],
            // Those fly the jet.
            move_keys: DirectionKeys::NONE,
            min_scale: 1e-5,
            max_scale: 0.1,
            ..default()
        },
    ));
}

/// What a restart replaces.
#[derive(Component)]
struct Actor;

/// The disc in the smoke's way.
#[derive(Component)]
struct Disc;

/// The jet that keys fly.
#[derive(Component)]
struct Jet;

fn settings() -> SmokeSettings {
    SmokeSettings {
        vorticity_confinement: 0.6,
        dissipation: 0.12,
        border_y: Border::Open,
        ..default()
    }
}

fn spawn(
    commands: Commands,
    meshes: ResMut<Assets<Mesh>>,
    materials: ResMut<Assets<ColorMaterial>>,
) -> Result {
    let drawing = SmokeDrawing { range: Some([0.0, BRIGHTEST]), ..default() };
    spawn_scene(commands, meshes, materials, settings(), drawing)
}

fn spawn_scene(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<ColorMaterial>>,
    settings: SmokeSettings,
    drawing: SmokeDrawing,
) -> Result {
    let domain = SmokeDomain { min: -0.5 * SIZE, size: SIZE, cells: CELLS };
    commands.spawn((Actor, Smoke2d::new(domain, settings, 1)?, drawing));
    commands.spawn((Actor, source(false)));
    let color = Color::srgb_u8(0x8a, 0x8f, 0x98);
    commands.spawn((
        Actor,
        Disc,
        Boundary2d::solid(Circle::new(DISC)),
        Transform::from_translation(DISC_PLACE.extend(1.0)),
        // A smooth edge, where the cells have steps.
        Mesh2d(meshes.add(Circle::new(1.04 * DISC).mesh().resolution(96))),
        MeshMaterial2d(materials.add(color)),
    ));
    commands.spawn((
        Actor,
        Jet,
        Transform::from_translation(JET_PLACE.extend(1.0)),
        Mesh2d(meshes.add(Circle::new(0.02))),
        MeshMaterial2d(materials.add(Color::srgba_u8(0xff, 0xff, 0xff, 0x90))),
    ));
    Ok(())
}

/// The source of warm smoke at the bottom; it rests while there is music.
fn source(music: bool) -> SmokeSource2d {
    SmokeSource2d {
        shape: SourceShape::Ball { radius: 0.16 },
        position: Vec2::new(0.0, -0.95),
        dye_rates: vec![if music { 0.0 } else { 0.22 }],
        temperature: (!music).then_some(345.0),
        velocity: None,
    }
}

fn restart(
    mut requests: MessageReader<RestartRequested>,
    mut commands: Commands,
    actors: Query<Entity, With<Actor>>,
    smokes: Query<(&Smoke2d, &SmokeDrawing)>,
    meshes: ResMut<Assets<Mesh>>,
    materials: ResMut<Assets<ColorMaterial>>,
    mut music: ResMut<Music>,
) -> Result {
    if requests.read().count() == 0 {
        return Ok(());
    }
    // The scene starts anew; settings and colours stay as they were tuned.
    let kept = smokes.iter().next();
    let (settings, drawing) = kept.map_or_else(
        || (settings(), SmokeDrawing::default()),
        |(smoke, drawing)| (smoke.settings().clone(), drawing.clone()),
    );
    actors.iter().for_each(|actor| commands.entity(actor).despawn());
    *music = Music::default();
    spawn_scene(commands, meshes, materials, settings, drawing)
}

// ------------------------------------------------------------------------------------------------
// Pointers

/// Where pointers were and are, in metres, and how fast they go, in m/s.
#[derive(Resource, Default)]
struct Strokes {
    strokes: Vec<Stroke>,
    /// Where the left button was in the last frame in which it was down.
    last: Option<Vec2>,
    /// What holds the disc.
    holder: Option<Pointer>,
    /// How far the disc is pulled.
    pull: Vec2,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Pointer {
    Mouse,
    Finger(u64),
}

impl Strokes {
    /// Pulls the disc or stirs the air, as the pointer began.
    fn take(&mut self, pointer: Pointer, stroke: Stroke) {
        if self.holder == Some(pointer) {
            self.pull += stroke.to - stroke.from;
        } else {
            self.strokes.push(stroke);
        }
    }
}

#[derive(Clone, Copy)]
struct Stroke {
    from: Vec2,
    to: Vec2,
    velocity: Vec2,
}

/// Follows the mouse and the fingers.
fn point(
    buttons: Res<ButtonInput<MouseButton>>,
    touches: Res<Touches>,
    time: Res<Time<Real>>,
    windows: Query<&Window, With<PrimaryWindow>>,
    cameras: Query<(&Camera, &GlobalTransform)>,
    discs: Query<&Transform, With<Disc>>,
    mut strokes: ResMut<Strokes>,
    mut contexts: EguiContexts,
) -> Result {
    strokes.strokes.clear();
    strokes.pull = Vec2::ZERO;
    let taken = contexts.ctx_mut()?.egui_wants_pointer_input();
    let (Ok(window), Ok((camera, view))) = (windows.single(), cameras.single()) else {
        return Ok(());
    };
    let in_world = |pixel: Vec2| camera.viewport_to_world_2d(view, pixel).ok();
    let seconds = time.delta_secs().max(1e-3);
    let stroke = |from: Vec2, to: Vec2| Stroke { from, to, velocity: (to - from) / seconds };
    let on_disc =
        |place: Vec2| discs.iter().any(|disc| disc.translation.truncate().distance(place) < DISC);
    let pressed = buttons.pressed(MouseButton::Left) && !taken;
    let holds = match strokes.holder {
        Some(Pointer::Mouse) => pressed,
        Some(Pointer::Finger(id)) => touches.get_pressed(id).is_some(),
        None => false,
    };
    strokes.holder = strokes.holder.filter(|_| holds);
    if !pressed {
        strokes.last = None;
    } else if let Some(now) = window.cursor_position().and_then(in_world) {
        if strokes.last.is_none() && strokes.holder.is_none() && on_disc(now) {
            strokes.holder = Some(Pointer::Mouse);
        }
        let from = strokes.last.unwrap_or(now);
        strokes.take(Pointer::Mouse, stroke(from, now));
        strokes.last = Some(now);
    }
    for touch in touches.iter().filter(|_| !taken) {
        let ends = [touch.previous_position(), touch.position()].map(in_world);
        let [Some(from), Some(to)] = ends else { continue };
        let finger = Pointer::Finger(touch.id());
        if touches.just_pressed(touch.id()) && strokes.holder.is_none() && on_disc(to) {
            strokes.holder = Some(finger);
        }
        strokes.take(finger, stroke(from, to));
    }
    Ok(())
}

/// Moves the disc where a pointer holds it.
fn drag_disc(strokes: Res<Strokes>, mut discs: Query<&mut Transform, With<Disc>>) {
    if strokes.pull == Vec2::ZERO {
        return;
    }
    for mut disc in &mut discs {
        let room = 0.5 * SIZE - DISC;
        let place = disc.translation.truncate() + strokes.pull;
        disc.translation = place.clamp(-room, room).extend(disc.translation.z);
    }
}

/// Adds dye and wind along the strokes.
fn stir(
    time: Res<Time>,
    strokes: Res<Strokes>,
    mut smokes: Query<(&mut Smoke2d, &GlobalTransform)>,
) -> Result {
    const RADIUS: f32 = 0.12;
    let dt = time.delta_secs();
    for (mut smoke, transform) in &mut smokes {
        let place = SmokePlace::new(transform);
        for stroke in &strokes.strokes {
            // A fast stroke is a row of splats.
            let way = stroke.to - stroke.from;
            let splats = (2.0 * way.length() / RADIUS).ceil().clamp(1.0, 64.0);
            for splat in 0..splats as u32 {
                let part = (splat as f32 + 1.0) / splats;
                let position = place.to_local(stroke.from + part * way);
                smoke.add_dye(0, position, RADIUS, 0.35 * dt / splats)?;
                blow(&mut smoke, position, RADIUS, place.turn_to_local(stroke.velocity), dt)?;
            }
        }
    }
    Ok(())
}

/// Draws the air at a place towards a velocity, by two thirds in 50 ms.
fn blow(
    smoke: &mut Smoke2d,
    position: Vec2,
    radius: f32,
    velocity: Vec2,
    dt: f32,
) -> Result<(), FluidError> {
    let missing = velocity - smoke.velocity_at(position);
    smoke.add_velocity(position, radius, missing * (1.0 - (-dt / 0.05).exp()))
}

// ------------------------------------------------------------------------------------------------
// Keys

/// The direction that arrows or WASD ask for.
fn steering(keys: &ButtonInput<KeyCode>) -> Vec2 {
    let axis = |less: [KeyCode; 2], more: [KeyCode; 2]| {
        f32::from(u8::from(keys.any_pressed(more))) - f32::from(u8::from(keys.any_pressed(less)))
    };
    let x = axis([KeyCode::ArrowLeft, KeyCode::KeyA], [KeyCode::ArrowRight, KeyCode::KeyD]);
    let y = axis([KeyCode::ArrowDown, KeyCode::KeyS], [KeyCode::ArrowUp, KeyCode::KeyW]);
    Vec2::new(x, y).normalize_or_zero()
}

/// Flies the jet, which blows the way it goes.
fn fly_jet(
    keys: Res<ButtonInput<KeyCode>>,
    time: Res<Time>,
    mut jets: Query<&mut Transform, With<Jet>>,
    mut smokes: Query<(&mut Smoke2d, &GlobalTransform), Without<Jet>>,
) -> Result {
    const SPEED: f32 = 0.7;
    const RADIUS: f32 = 0.08;
    let (direction, dt) = (steering(&keys), time.delta_secs());
    if direction == Vec2::ZERO {
        return Ok(());
    }
    for mut jet in &mut jets {
        let room = 0.5 * SIZE - 0.05;
        let position = jet.translation.truncate() + direction * SPEED * dt;
        jet.translation = position.clamp(-room, room).extend(jet.translation.z);
        for (mut smoke, transform) in &mut smokes {
            let place = SmokePlace::new(transform);
            let position = place.to_local(jet.translation.truncate());
            smoke.add_dye(0, position, RADIUS, 0.15 * dt)?;
            blow(&mut smoke, position, RADIUS, place.turn_to_local(3.0 * direction), dt)?;
        }
    }
    Ok(())
}

fn control_time(
    keys: Res<ButtonInput<KeyCode>>,
    mut clock: ResMut<Time<Fluid>>,
    mut inspector: ResMut<FluidInspector>,
    mut help: ResMut<Help>,
    mut restart: MessageWriter<RestartRequested>,
) {
    let clock = clock.context_mut();
    if keys.just_pressed(KeyCode::Space) {
        if clock.is_paused() { clock.unpause() } else { clock.pause() }
    }
    if keys.just_pressed(KeyCode::KeyN) {
        clock.pause();
        clock.step_once();
    }
    if keys.just_pressed(KeyCode::KeyR) {
        restart.write_default();
    }
    if keys.just_pressed(KeyCode::KeyI) {
        inspector.open = !inspector.open;
    }
    if keys.just_pressed(KeyCode::KeyH) {
        help.0 = !help.0;
    }
}

/// The palettes of the assets; those that the inspector saves come with the folder.
#[derive(Resource)]
struct Palettes {
    folder: Option<Handle<LoadedFolder>>,
    known: Vec<Handle<Palette>>,
}

fn load_palettes(mut commands: Commands, server: Res<AssetServer>) {
    let load = |name| server.load(format!("palettes/{name}.palette.ron"));
    commands.insert_resource(Palettes {
        folder: (!cfg!(target_arch = "wasm32")).then(|| server.load_folder("palettes")),
        known: PALETTES.into_iter().map(load).collect(),
    });
}

fn change_look(
    keys: Res<ButtonInput<KeyCode>>,
    palettes: Res<Palettes>,
    folders: Res<Assets<LoadedFolder>>,
    mut drawings: Query<&mut SmokeDrawing>,
) {
    for mut drawing in &mut drawings {
        if keys.just_pressed(KeyCode::KeyV) {
            let now = VIEWS.iter().position(|&view| view == drawing.view);
            drawing.view = VIEWS[now.map_or(0, |now| (now + 1) % VIEWS.len())];
            let dye = matches!(drawing.view, SmokeView::Dye(_));
            drawing.range = dye.then_some([0.0, BRIGHTEST]);
        }
        if keys.just_pressed(KeyCode::KeyP) {
            let folder = palettes.folder.as_ref().and_then(|folder| folders.get(folder));
            let saved = folder.into_iter().flat_map(|folder| &folder.handles);
            let saved = saved.filter_map(|handle| handle.clone().try_typed::<Palette>().ok());
            let mut all = palettes.known.clone();
            all.extend(saved.filter(|handle| !palettes.known.contains(handle)));
            let palette = drawing.palette_in_use_mut();
            // The built-in ones stand before the first; ink is one of them.
            let now = all.iter().position(|handle| handle == palette).unwrap_or(0);
            *palette = all[(now + 1) % all.len()].clone();
        }
    }
}

fn change_air(
    keys: Res<ButtonInput<KeyCode>>,
    mut smokes: Query<&mut Smoke2d>,
    mut sources: Query<&mut SmokeSource2d>,
    mut music: ResMut<Music>,
) -> Result {
    if keys.just_pressed(KeyCode::KeyC) {
        smokes.iter_mut().for_each(|mut smoke| smoke.clear());
    }
    if keys.just_pressed(KeyCode::KeyT) {
        for mut smoke in &mut smokes {
            let scheme = match smoke.settings().scheme {
                SmokeScheme::Staggered => SmokeScheme::StableFluids,
                SmokeScheme::StableFluids => SmokeScheme::Staggered,
            };
            let settings = SmokeSettings { scheme, ..smoke.settings().clone() };
            smoke.set_settings(settings)?;
        }
    }
    if keys.just_pressed(KeyCode::KeyM) {
        music.on = !music.on;
        sources.iter_mut().for_each(|mut it| *it = source(music.on));
    }
    Ok(())
}

// ------------------------------------------------------------------------------------------------
// Music

/// Number of frequency bands.
const BANDS: usize = 16;

/// Levels of frequency bands from 0 to 1, lowest first, as an analyser would give them.
#[derive(Resource, Default)]
struct Music {
    on: bool,
    levels: [f32; BANDS],
}

/// Stands in for an analyser: a beat in the low bands, a melody that wanders over the others.
fn listen(time: Res<Time>, mut music: ResMut<Music>) {
    if !music.on {
        return;
    }
    let seconds = time.elapsed_secs_wrapped();
    let beat = (1.0 - (2.0 * seconds).fract()).powi(3);
    let tune = 0.5 + 0.3 * (0.9 * seconds).sin() + 0.2 * (2.3 * seconds).sin();
    for (band, level) in music.levels.iter_mut().enumerate() {
        let height = band as f32 / (BANDS - 1) as f32;
        let low = beat * (-6.0 * height).exp();
        let high = (-40.0 * (height - tune).powi(2)).exp();
        let shimmer = 0.5 + 0.5 * (7.0 * seconds + 9.0 * height).sin();
        *level = (low + high * shimmer).min(1.0);
    }
}

/// Blows a jet for each band from a row at the bottom.
fn play(time: Res<Time>, music: Res<Music>, mut smokes: Query<&mut Smoke2d>) -> Result {
    const RADIUS: f32 = 0.09;
    if !music.on {
        return Ok(());
    }
    let dt = time.delta_secs();
    for mut smoke in &mut smokes {
        for (band, level) in music.levels.iter().enumerate() {
            let along = (band as f32 + 0.5) / BANDS as f32 - 0.5;
            let position = Vec2::new(0.92 * along * SIZE.x, 0.12 - 0.5 * SIZE.y);
            smoke.add_dye(0, position, RADIUS, 0.2 * level * dt)?;
            blow(&mut smoke, position, RADIUS, Vec2::Y * 2.6 * level, dt)?;
        }
    }
    Ok(())
}

// ------------------------------------------------------------------------------------------------
// Help

/// Whether the help is shown.
#[derive(Resource)]
struct Help(bool);

/// A line of help for each key.
const HELP: [(&str, &str); 12] = [
    ("drag, touch", "smoke and wind; the disc moves, too"),
    ("arrows, WASD", "fly the jet"),
    ("Space", "pause"),
    ("N", "one step"),
    ("R", "restart"),
    ("C", "clear the air"),
    ("P", "next palette"),
    ("V", "next view"),
    ("T", "other scheme"),
    ("M", "music"),
    ("I", "inspector"),
    ("H", "hide this"),
];

fn show_help(
    mut contexts: EguiContexts,
    help: Res<Help>,
    music: Res<Music>,
    server: Res<AssetServer>,
    smokes: Query<(&Smoke2d, &SmokeDrawing)>,
) -> Result {
    let ctx = contexts.ctx_mut()?;
    let Some((smoke, drawing)) = smokes.iter().next().filter(|_| help.0) else { return Ok(()) };
    let palette = server.get_path(drawing.palette_in_use().id());
    let palette = palette.and_then(|path| Some(path.path().file_name()?.to_str()?.to_owned()));
    let palette = palette.map_or("built in".into(), |name| name.replace(".palette.ron", ""));
    let dark = egui::Color32::from_rgba_unmultiplied(10, 12, 18, 190);
    let (bright, pale) = (egui::Color32::from_gray(235), egui::Color32::from_gray(165));
    egui::Area::new("help".into())
        .anchor(egui::Align2::RIGHT_TOP, [-12.0, 12.0])
        // The pointer goes through to the smoke.
        .interactable(false)
        .show(ctx, |ui| {
            egui::Frame::new().fill(dark).corner_radius(6).inner_margin(10).show(ui, |ui| {
                egui::Grid::new("keys").spacing([14.0, 3.0]).show(ui, |ui| {
                    for (key, what) in HELP {
                        ui.colored_label(bright, key);
                        ui.colored_label(pale, what);
                        ui.end_row();
                    }
                });
                ui.separator();
                let mode = if music.on { ", music" } else { "" };
                let scheme = smoke.settings().scheme.name();
                let view = drawing.view.name();
                ui.colored_label(bright, format!("{view}, {palette}, {scheme}{mode}"));
            });
        });
    Ok(())
}
