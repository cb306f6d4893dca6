//! Selecting and dragging a particle or a boundary sample with the pointer.

use bevy::prelude::*;
use bevy::window::PrimaryWindow;

use crate::boundary::BoundaryOf;
use crate::fluid::FluidOf;
use crate::solver::particles::{FluidParticles, ParticleId};

/// What the user has selected in the 2D world.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Selection {
    /// Nothing.
    #[default]
    None,
    /// A fluid particle.
    Particle {
        /// The fluid.
        fluid: Entity,
        /// The particle's id in it.
        id: ParticleId,
    },
    /// A boundary sample.
    Sample {
        /// The boundary.
        boundary: Entity,
        /// Index of the sample in it.
        index: usize,
    },
}

/// Picking and dragging by the left button, in [`PreUpdate`]. Give it a run
/// condition to keep clicks on a user interface from reaching the water.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SelectionSystems;

/// Whether the selection follows the pointer.
#[derive(Resource, Default)]
struct Dragging(bool);

/// Distance from the pointer within which something is picked, in pixels.
const PICK_PIXELS: f32 = 10.0;

pub(super) fn plugin(app: &mut App) {
    app.init_resource::<Selection>().init_resource::<Dragging>().add_systems(
        PreUpdate,
        (release, (pick, drag).chain().in_set(SelectionSystems))
            .chain()
            .after(bevy::input::InputSystems)
            .run_if(resource_exists::<ButtonInput<MouseButton>>),
    );
}

/// The pointer in the world of the first active 2D camera, and the length of a pixel there.
fn pointer(
    windows: &Query<&Window, With<PrimaryWindow>>,
    cameras: &Query<(&Camera, &GlobalTransform), With<Camera2d>>,
) -> Option<(Vec2, f32)> {
    let cursor = windows.single().ok()?.cursor_position()?;
    let (camera, transform) = cameras.iter().find(|(camera, _)| camera.is_active)?;
    let at = |cursor: Vec2| camera.viewport_to_world_2d(transform, cursor).ok();
    let position = at(cursor)?;
    let pixel = position.distance(at(cursor + Vec2::X)?);
    (position.is_finite() && pixel.is_finite()).then_some((position, pixel))
}

/// Ends a drag wherever the button is let go, over a user interface too.
fn release(buttons: Res<ButtonInput<MouseButton>>, mut dragging: ResMut<Dragging>) {
    if !buttons.pressed(MouseButton::Left) {
        dragging.0 = false;
    }
}

fn pick(
    buttons: Res<ButtonInput<MouseButton>>,
    windows: Query<&Window, With<PrimaryWindow>>,
    cameras: Query<(&Camera, &GlobalTransform), With<Camera2d>>,
    fluids: Query<(Entity, &FluidParticles<Vec2>), With<FluidOf<Vec2>>>,
    boundaries: Query<(Entity, &BoundaryOf<Vec2>, &GlobalTransform)>,
    mut selection: ResMut<Selection>,
    mut dragging: ResMut<Dragging>,
) {
    if !buttons.just_pressed(MouseButton::Left) {
        return;
    }
    let Some((pointer, pixel)) = pointer(&windows, &cameras) else { return };
    let mut nearest = (PICK_PIXELS * pixel).powi(2);
    *selection = Selection::None;
    for (fluid, particles) in &fluids {
        for (position, &id) in particles.positions().iter().zip(particles.ids()) {
            let distance = position.distance_squared(pointer);
            if distance <= nearest {
                nearest = distance;
                *selection = Selection::Particle { fluid, id };
            }
        }
    }
    for (entity, boundary, transform) in &boundaries {
        for (index, sample) in boundary.samples().iter().enumerate() {
            let position = transform.transform_point(sample.extend(0.0)).truncate();
            let distance = position.distance_squared(pointer);
            if distance < nearest {
                nearest = distance;
                *selection = Selection::Sample { boundary: entity, index };
            }
        }
    }
    dragging.0 = *selection != Selection::None;
}

/// Holds the selection at the pointer. A held particle is at rest, so that
/// letting it go does not release the fall it was kept from.
fn drag(
    windows: Query<&Window, With<PrimaryWindow>>,
    cameras: Query<(&Camera, &GlobalTransform), With<Camera2d>>,
    mut fluids: Query<&mut FluidParticles<Vec2>>,
    mut boundaries: Query<(&mut BoundaryOf<Vec2>, &GlobalTransform)>,
    selection: Res<Selection>,
    dragging: Res<Dragging>,
) {
    if !dragging.0 {
        return;
    }
    let Some((pointer, _)) = pointer(&windows, &cameras) else { return };
    match *selection {
        Selection::None => {}
        Selection::Particle { fluid, id } => {
            let Ok(mut particles) = fluids.get_mut(fluid) else { return };
            if let Ok(index) = particles.index_of(id) {
                particles.positions_mut()[index] = pointer;
                particles.velocities_mut()[index] = Vec2::ZERO;
            }
        }
        Selection::Sample { boundary, index } => {
            let Ok((mut boundary, transform)) = boundaries.get_mut(boundary) else { return };
            let own = transform.affine().inverse().transform_point3(pointer.extend(0.0)).truncate();
            if let Some(sample) = boundary.samples_mut().get_mut(index)
                && own.is_finite()
            {
                *sample = own;
            }
        }
    }
}
