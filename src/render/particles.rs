//! Fluid particles and boundary samples of the 2D world, drawn as round dots.

use bevy::prelude::*;

use super::dots::{Dot2d, Dots2d, DotsSystems};
use super::drawing::{DrawnBoundaries, DrawnFluids, FluidDrawing};
use super::selection::Selection;
use crate::palette;

/// Which of the clouds a dot cloud is.
#[derive(Component, Clone, Copy, PartialEq, Eq)]
enum Layer {
    Boundary,
    Particles,
}

/// Height of the clouds: boundary behind the water.
const BOUNDARY_Z: f32 = -1.0;

/// The selected particle is drawn this many times as large.
const SELECTED_SCALE: f32 = 3.0;

pub(super) fn plugin(app: &mut App) {
    app.add_systems(Startup, spawn_clouds)
        .add_systems(PostUpdate, (draw_boundary, draw_particles).before(DotsSystems));
}

fn spawn_clouds(mut commands: Commands) {
    commands.spawn((
        Name::new("fluid boundary dots"),
        Layer::Boundary,
        Dots2d::default(),
        Transform::from_xyz(0.0, 0.0, BOUNDARY_Z),
    ));
    commands.spawn((Name::new("fluid particle dots"), Layer::Particles, Dots2d::default()));
}

fn draw_boundary(
    mut clouds: Query<(&Layer, &mut Dots2d)>,
    mut boundaries: DrawnBoundaries<Vec2>,
    drawing: Res<FluidDrawing>,
) {
    if !boundaries.changed() {
        return;
    }
    let Some((_, mut dots)) = clouds.iter_mut().find(|(layer, _)| **layer == Layer::Boundary)
    else {
        return;
    };
    dots.clear();
    let radius = boundaries.particle_radius() * drawing.scale;
    boundaries.each(|position, color| {
        dots.push(Dot2d { position, radius, color });
    });
}

fn draw_particles(
    mut clouds: Query<(&Layer, &mut Dots2d)>,
    fluids: DrawnFluids<Vec2>,
    boundaries: DrawnBoundaries<Vec2>,
    selection: Res<Selection>,
) {
    let Some((_, mut dots)) = clouds.iter_mut().find(|(layer, _)| **layer == Layer::Particles)
    else {
        return;
    };
    dots.clear();
    let radius = fluids.radius();
    fluids.each(|position, color| {
        dots.push(Dot2d { position, radius, color });
    });
    let selected = match *selection {
        Selection::None => None,
        Selection::Particle { fluid, id } => fluids.position(fluid, id),
        Selection::Sample { boundary, index } => boundaries.position(boundary, index),
    };
    if let Some(position) = selected {
        // Last, so that nothing covers it.
        let radius = boundaries.particle_radius() * SELECTED_SCALE;
        dots.push(Dot2d { position, radius, color: palette::SELECTED });
    }
}
