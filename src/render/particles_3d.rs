//! Fluid particles and boundary samples of the 3D world, drawn as spheres.

use bevy::prelude::*;

use super::drawing::{DrawnBoundaries, DrawnFluids, FluidDrawing};
use super::spheres::{Spheres3d, SpheresSystems};

/// Which of the clouds a cloud of spheres is.
#[derive(Component, Clone, Copy, PartialEq, Eq)]
enum Layer {
    Boundary,
    Particles,
}

pub(super) fn plugin(app: &mut App) {
    app.add_systems(Startup, spawn_clouds)
        .add_systems(PostUpdate, (draw_boundary, draw_particles).before(SpheresSystems));
}

fn spawn_clouds(mut commands: Commands) {
    commands.spawn((Name::new("fluid boundary spheres"), Layer::Boundary, Spheres3d::default()));
    commands.spawn((Name::new("fluid particle spheres"), Layer::Particles, Spheres3d::default()));
}

fn draw_boundary(
    mut clouds: Query<(&Layer, &mut Spheres3d)>,
    mut boundaries: DrawnBoundaries<Vec3>,
    drawing: Res<FluidDrawing>,
) {
    if !boundaries.changed() {
        return;
    }
    let Some((_, mut spheres)) = clouds.iter_mut().find(|(layer, _)| **layer == Layer::Boundary)
    else {
        return;
    };
    spheres.clear();
    spheres.radius = boundaries.particle_radius() * drawing.boundary_scale_3d;
    boundaries.each(|center, [red, green, blue, _]| {
        spheres.push(center, [red, green, blue]);
    });
}

fn draw_particles(mut clouds: Query<(&Layer, &mut Spheres3d)>, fluids: DrawnFluids<Vec3>) {
    let Some((_, mut spheres)) = clouds.iter_mut().find(|(layer, _)| **layer == Layer::Particles)
    else {
        return;
    };
    // A 2D app's cloud stays empty, and unchanged.
    if spheres.is_empty() && fluids.is_empty() {
        return;
    }
    spheres.clear();
    spheres.radius = fluids.radius();
    fluids.each(|center, [red, green, blue, _]| {
        spheres.push(center, [red, green, blue]);
    });
}
