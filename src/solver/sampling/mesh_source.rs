//! A mesh that is named by a file, or given.

use std::sync::Arc;

use super::mesh::TriangleMesh;
use crate::solver::error::FluidError;

/// Where a shape has its mesh from: a file, whose mesh is put in after the scene
/// was read, or a mesh made in code.
///
/// In a scene file it is the path, relative to the scene file.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "scene", derive(serde::Deserialize))]
#[cfg_attr(feature = "scene", serde(from = "String"))]
#[cfg_attr(feature = "plugin", derive(bevy_reflect::Reflect))]
pub struct MeshSource {
    /// Path of the file, relative to the scene file; empty for a mesh made in code.
    path: String,
    #[cfg_attr(feature = "plugin", reflect(ignore))]
    mesh: Option<Arc<TriangleMesh>>,
}

impl MeshSource {
    /// A mesh to be read from a file. It has no triangles until they are put in.
    pub fn file(path: impl Into<String>) -> Self {
        Self { path: path.into(), mesh: None }
    }

    /// Path of the file, relative to the scene file; empty for a mesh made in code.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The mesh, once it is there.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] where the file was not read.
    pub fn mesh(&self) -> Result<&Arc<TriangleMesh>, FluidError> {
        self.mesh.as_ref().ok_or_else(|| {
            FluidError::parameter("mesh", &self.path, "a mesh that was read before it is used")
        })
    }

    /// Puts the mesh of the file in.
    pub fn set_mesh(&mut self, mesh: impl Into<Arc<TriangleMesh>>) {
        self.mesh = Some(mesh.into());
    }
}

impl From<TriangleMesh> for MeshSource {
    fn from(mesh: TriangleMesh) -> Self {
        Self { path: String::new(), mesh: Some(mesh.into()) }
    }
}

impl From<String> for MeshSource {
    fn from(path: String) -> Self {
        Self::file(path)
    }
}

#[cfg(feature = "scene")]
impl serde::Serialize for MeshSource {
    /// The path; an error for a mesh made in code, which would be lost.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.path.is_empty() && self.mesh.is_some() {
            return Err(serde::ser::Error::custom("a mesh made in code has no file to name"));
        }
        serializer.serialize_str(&self.path)
    }
}
