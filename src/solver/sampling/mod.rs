//! Shapes to particles: volumes to fluid, surfaces to boundary samples.

mod boundary_shape;
mod fluid_shape;
mod mesh;
mod mesh_source;
mod mesh_volume;
#[cfg(feature = "scene")]
mod obj;
mod surface;

pub use boundary_shape::{BoundaryShape, Fill};
pub use fluid_shape::FluidShape;
pub use mesh::TriangleMesh;
pub use mesh_source::MeshSource;
#[cfg(feature = "scene")]
pub use obj::MeshFileError;

use bevy_math::Vec3;

use super::error::FluidError;
use super::vector::Vector;

/// Most samples or particles that one shape may turn into: 4 million.
pub const MAX_SAMPLES: usize = 1 << 22;

/// Checks the number of samples a shape would take, before any is made.
pub(super) fn check_count(name: &str, count: f64) -> Result<usize, FluidError> {
    if count <= MAX_SAMPLES as f64 {
        Ok(count as usize)
    } else {
        Err(FluidError::parameter(
            name,
            count as f32,
            format_args!("a shape of at most {MAX_SAMPLES} samples at this particle radius"),
        ))
    }
}

/// The factor of a shape that says none.
#[cfg(feature = "scene")]
fn unscaled<V: Vector>() -> V {
    V::splat(1.0)
}

/// The mesh of a shape in a world of three dimensions.
fn scaled_mesh<V: Vector>(source: &MeshSource, scale: V) -> Result<TriangleMesh, FluidError> {
    if V::DIM == 2 {
        return Err(FluidError::parameter("mesh", source.path(), "a scene in space, Scene3d"));
    }
    source.mesh()?.scaled(Vec3::from_array(scale.to_array()))
}

/// Number of equal parts, none longer than `spacing`, of a length; at least 1.
/// A length within a thousandth of a spacing of a multiple counts as that multiple.
fn parts(length: f64, spacing: f64) -> f64 {
    (length / spacing - 1e-3).ceil().max(1.0)
}
