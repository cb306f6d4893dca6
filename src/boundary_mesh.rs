//! Boundaries out of Bevy's meshes.

use bevy::ecs::entity::EntityHashMap;
use bevy::mesh::Mesh;
use bevy::prelude::*;

use crate::boundary::BoundaryOf;
use crate::fluid::FluidRefused;
use crate::solver::error::FluidError;
use crate::solver::sampling::{BoundaryShape, TriangleMesh};

/// Makes a [`Boundary3d`](crate::Boundary3d) of a mesh asset, of whatever
/// format, as soon as it is loaded, and again when it changes.
///
/// The surface gets one layer of samples, so that fluid keeps out of a closed
/// mesh, or inside of it, and on either side of an open one. A mesh without
/// triangles or with vertices that are not finite is refused with a
/// [`FluidRefused`] message and has no samples.
///
/// Its data has to be in the main world: a mesh whose `asset_usage` is the
/// render world alone is refused once it is extracted.
#[derive(Component, Clone, Debug, Default, PartialEq, Deref)]
#[require(BoundaryOf<Vec3> = BoundaryOf::points([]))]
pub struct BoundaryMesh(pub Handle<Mesh>);

impl BoundaryOf<Vec3> {
    /// The surface of a mesh, each axis multiplied by a factor; the entity's
    /// transform places it, see [`Boundary3d`](crate::Boundary3d) on its scale.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for a mesh without triangles, with vertices that
    /// are not finite, or whose data is in the render world only, and for a
    /// factor that is zero or not finite.
    pub fn from_mesh(mesh: &Mesh, scale: Vec3) -> Result<Self, FluidError> {
        let mesh = TriangleMesh::try_from(mesh)?;
        mesh.scaled(scale)?;
        Ok(Self::new(BoundaryShape::Mesh { mesh: mesh.into(), scale }))
    }
}

/// Adds what turns mesh assets into boundaries.
pub(crate) fn add(app: &mut App) {
    app.add_systems(PreUpdate, shape.run_if(resource_exists::<Assets<Mesh>>));
}

/// Shapes boundaries whose mesh is new, arrived or changed.
fn shape(
    mut boundaries: Query<(Entity, Ref<BoundaryMesh>, &mut BoundaryOf<Vec3>)>,
    meshes: Res<Assets<Mesh>>,
    mut events: MessageReader<AssetEvent<Mesh>>,
    mut refused: MessageWriter<FluidRefused>,
    mut shaped: Local<EntityHashMap<AssetId<Mesh>>>,
) {
    shaped.retain(|entity, _| boundaries.contains(*entity));
    let modified: Vec<AssetId<Mesh>> = events
        .read()
        .filter_map(|event| match event {
            AssetEvent::Modified { id } => Some(*id),
            _ => None,
        })
        .collect();
    for (entity, source, mut boundary) in &mut boundaries {
        let id = source.id();
        let known = shaped.get(&entity) == Some(&id);
        if known && !source.is_changed() && !modified.contains(&id) {
            continue;
        }
        // One that is still loading is looked at again in the next frame.
        let Some(mesh) = meshes.get(&source.0) else { continue };
        shaped.insert(entity, id);
        match TriangleMesh::try_from(mesh) {
            Ok(mesh) => {
                boundary.set_shape(BoundaryShape::Mesh { mesh: mesh.into(), scale: Vec3::ONE });
            }
            Err(error) => {
                boundary.set_shape(BoundaryShape::Points(Vec::new()));
                warn!("boundary {entity} has no samples: {error}");
                refused.write(FluidRefused { entity: Some(entity), error });
            }
        }
    }
}
