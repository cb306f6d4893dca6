//! Dragging a particle of a cloth with the pointer, in 2D and in 3D.

use bevy::prelude::*;
use bevy::window::PrimaryWindow;

use super::selection::SelectionSystems;
use crate::dimension::Dimension;
use crate::solver::cloth::Cloth;

/// Distance from the pointer within which something is picked, in pixels.
const PICK_PIXELS: f32 = 10.0;

/// What the pointer holds.
#[derive(Resource, Default)]
struct Held {
    cloth: Option<Entity>,
    /// Distance from the camera along its view when it was taken, in metres.
    depth: f32,
}

pub(super) fn plugin<V: Dimension, C: Component>(app: &mut App) {
    app.init_resource::<Held>().add_systems(
        PreUpdate,
        (release::<V>, (pick::<V, C>, drag::<V, C>).chain().in_set(SelectionSystems))
            .chain()
            .after(bevy::input::InputSystems)
            .run_if(resource_exists::<ButtonInput<MouseButton>>),
    );
}

/// Opens the hand wherever the button is let go, over a user interface too.
fn release<V: Dimension>(
    buttons: Res<ButtonInput<MouseButton>>,
    mut cloths: Query<&mut Cloth<V>>,
    mut held: ResMut<Held>,
) {
    if buttons.pressed(MouseButton::Left) {
        return;
    }
    let Some(cloth) = held.cloth else { return };
    if let Ok(mut cloth) = cloths.get_mut(cloth) {
        cloth.release();
        held.cloth = None;
    }
}

/// Takes the particle nearest to the pointer on the screen; in 3D, of those
/// within reach, the one nearest to the camera.
fn pick<V: Dimension, C: Component>(
    buttons: Res<ButtonInput<MouseButton>>,
    windows: Query<&Window, With<PrimaryWindow>>,
    cameras: Query<(&Camera, &GlobalTransform), With<C>>,
    mut cloths: Query<(Entity, &mut Cloth<V>)>,
    mut held: ResMut<Held>,
) {
    if !buttons.just_pressed(MouseButton::Left) {
        return;
    }
    let Some(cursor) = windows.single().ok().and_then(Window::cursor_position) else { return };
    let Some((camera, view)) = cameras.iter().find(|(camera, _)| camera.is_active) else { return };
    let mut nearest: Option<(f32, Entity, u32)> = None;
    for (entity, cloth) in &cloths {
        for (particle, position) in (0..).zip(cloth.positions()) {
            let place = Vec3::from_array(position.to_array());
            let Ok(on_screen) = camera.world_to_viewport(view, place) else { continue };
            let pixels = on_screen.distance(cursor);
            if !(pixels <= PICK_PIXELS) {
                continue;
            }
            let rank = if V::DIM == 2 { pixels } else { depth(view, place) };
            if nearest.is_none_or(|(best, ..)| rank < best) {
                nearest = Some((rank, entity, particle));
            }
        }
    }
    let Some((_, entity, particle)) = nearest else { return };
    if let Ok((_, mut cloth)) = cloths.get_mut(entity)
        && cloth.grab(particle).is_ok()
    {
        let place = Vec3::from_array(cloth.positions()[particle as usize].to_array());
        *held = Held { cloth: Some(entity), depth: depth(view, place) };
    }
}

/// Holds the particle at the pointer, as far from the camera as it was.
fn drag<V: Dimension, C: Component>(
    windows: Query<&Window, With<PrimaryWindow>>,
    cameras: Query<(&Camera, &GlobalTransform), With<C>>,
    mut cloths: Query<&mut Cloth<V>>,
    held: Res<Held>,
) {
    let Some(mut cloth) = held.cloth.and_then(|cloth| cloths.get_mut(cloth).ok()) else { return };
    let Some(cursor) = windows.single().ok().and_then(Window::cursor_position) else { return };
    let Some((camera, view)) = cameras.iter().find(|(camera, _)| camera.is_active) else { return };
    let Ok(ray) = camera.viewport_to_world(view, cursor) else { return };
    let along = ray.direction.dot(*view.forward());
    let target = ray.get_point((held.depth - depth(view, ray.origin)) / along);
    if target.is_finite() {
        // Refused only where a scene took the particle away while it was held.
        let _ = cloth.drag_to(V::from_array(target.to_array()));
    }
}

/// Distance from the camera along its view.
fn depth(view: &GlobalTransform, place: Vec3) -> f32 {
    (place - view.translation()).dot(*view.forward())
}
