//! Balls of a 3D scene, drawn whole.

use bevy::prelude::*;
use bevy_fluid::prelude::*;
use bevy_fluid::solver::sampling::BoundaryShape;

/// A system that draws each new ball among the boundaries in a colour.
pub fn show(
    color: Color,
) -> impl FnMut(
    Commands,
    Query<(Entity, &Boundary3d), Added<Boundary3d>>,
    ResMut<Assets<Mesh>>,
    ResMut<Assets<StandardMaterial>>,
) {
    move |mut commands, boundaries, mut meshes, mut materials| {
        for (entity, boundary) in &boundaries {
            if let BoundaryShape::Ball { radius, .. } = boundary.shape() {
                commands.entity(entity).insert((
                    Mesh3d(meshes.add(Sphere::new(*radius).mesh().uv(64, 32))),
                    MeshMaterial3d(materials.add(color)),
                ));
            }
        }
    }
}
