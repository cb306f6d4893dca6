//! Triangles out of Bevy's meshes.

use bevy::mesh::{Indices, Mesh, PrimitiveTopology, VertexAttributeValues};
use bevy::prelude::*;

use crate::solver::cloth::ClothMesh;
use crate::solver::error::FluidError;
use crate::solver::sampling::TriangleMesh;

/// The vertices of a mesh, and its triangles out of a list or a strip.
fn triangles(mesh: &Mesh) -> Result<(Vec<Vec3>, Vec<[u32; 3]>), FluidError> {
    let refused = |what: String| {
        FluidError::parameter("mesh", what, "triangles with positions, in the main world")
    };
    let positions = match mesh.try_attribute(Mesh::ATTRIBUTE_POSITION) {
        Ok(VertexAttributeValues::Float32x3(positions)) => positions,
        Ok(_) => return Err(refused("without three coordinates a vertex".into())),
        Err(error) => return Err(refused(error.to_string())),
    };
    let positions: Vec<Vec3> = positions.iter().copied().map(Vec3::from).collect();
    let indices = mesh.try_indices_option().map_err(|error| refused(error.to_string()))?;
    let indices: Vec<u32> = match indices {
        Some(Indices::U16(indices)) => indices.iter().copied().map(u32::from).collect(),
        Some(Indices::U32(indices)) => indices.clone(),
        None => (0..positions.len() as u32).collect(),
    };
    let triangles = match mesh.primitive_topology() {
        PrimitiveTopology::TriangleList => indices.as_chunks::<3>().0.to_vec(),
        PrimitiveTopology::TriangleStrip => {
            indices.array_windows().enumerate().map(unwound).collect()
        }
        other => return Err(refused(format!("{other:?}"))),
    };
    Ok((positions, triangles))
}

/// A triangle of a strip, where every second one runs the other way round.
fn unwound((index, &[a, b, c]): (usize, &[u32; 3])) -> [u32; 3] {
    if index % 2 == 0 { [a, b, c] } else { [b, a, c] }
}

impl TryFrom<&Mesh> for TriangleMesh {
    type Error = FluidError;

    /// The surface of a Bevy mesh: a list or a strip of triangles.
    fn try_from(mesh: &Mesh) -> Result<Self, FluidError> {
        let (positions, triangles) = triangles(mesh)?;
        Self::new(&positions, &triangles)
    }
}

impl TryFrom<&Mesh> for ClothMesh<Vec3> {
    type Error = FluidError;

    /// A cloth of the shape of a Bevy mesh, see [`ClothMesh::from_triangles`].
    ///
    /// An entity that has the mesh as `Mesh3d` beside its
    /// [`Cloth3d`](crate::Cloth3d) is drawn with the mesh's own texture coordinates;
    /// its positions, normals and tangents follow the cloth.
    fn try_from(mesh: &Mesh) -> Result<Self, FluidError> {
        let (positions, triangles) = triangles(mesh)?;
        if triangles.is_empty() {
            return Err(FluidError::parameter("mesh", "without triangles", "one or more"));
        }
        Self::from_triangles(&positions, triangles.as_flattened())
    }
}
