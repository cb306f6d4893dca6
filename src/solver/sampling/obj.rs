//! Meshes out of OBJ files.

use bevy_math::Vec3;

use super::mesh::TriangleMesh;
use crate::solver::error::FluidError;

/// A mesh file that cannot be used, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MeshFileError {
    /// The text is no mesh.
    #[error("{file}: no OBJ mesh: {reason}")]
    Text {
        /// Name of the file.
        file: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The mesh has no surface, or impossible vertices.
    #[error("{file}: {error}")]
    Mesh {
        /// Name of the file.
        file: String,
        /// What is wrong with it.
        error: FluidError,
    },
}

impl TriangleMesh {
    /// The mesh of all objects in an OBJ file, as Blender and others export it:
    /// polygons are cut into triangles, everything but the surface is left out.
    /// `file` is its name in errors.
    ///
    /// # Errors
    /// [`MeshFileError`] for text that is no OBJ, and for a mesh without a surface
    /// or with vertices that are not finite.
    pub fn from_obj(file: &str, text: &[u8]) -> Result<Self, MeshFileError> {
        let options = tobj::LoadOptions {
            triangulate: true,
            ignore_points: true,
            ignore_lines: true,
            ..tobj::LoadOptions::default()
        };
        let mut text = text;
        // Materials are not needed, so their files are not looked for.
        let loaded =
            tobj::load_obj_buf(&mut text, &options, |_| Err(tobj::LoadError::GenericFailure));
        let (models, _) = loaded.map_err(|error| MeshFileError::Text {
            file: file.to_owned(),
            reason: error.to_string(),
        })?;
        let mut positions: Vec<Vec3> = Vec::new();
        let mut triangles: Vec<[u32; 3]> = Vec::new();
        for model in &models {
            let first = positions.len() as u32;
            positions
                .extend(model.mesh.positions.as_chunks::<3>().0.iter().map(|&p| Vec3::from(p)));
            let own = model.mesh.indices.as_chunks::<3>().0;
            triangles.extend(own.iter().map(|triangle| triangle.map(|index| first + index)));
        }
        Self::new(&positions, &triangles)
            .map_err(|error| MeshFileError::Mesh { file: file.to_owned(), error })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Blender writes it, with a quad, a pentagon and relative indices.
    const HOUSE: &str = "# Blender\nmtllib house.mtl\no House\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0.5 1.5 0\n\
        v 0 1 0\nvn 0 0 1\nvt 0 0\ns off\nusemtl Brick\nf 1/1/1 2/1/1 3/1/1 4/1/1 5/1/1\n\
        o Yard\nv 0 0 1\nv 1 0 1\nf 1//1 2//1 7//1 6//1\nf -2 -1 -3\nl 1 2\n";

    fn refusal(text: &str) -> String {
        TriangleMesh::from_obj("x.obj", text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn objects_and_polygons_become_one_mesh() {
        let mesh = TriangleMesh::from_obj("house.obj", HOUSE.as_bytes()).unwrap();
        assert_eq!((mesh.positions().len(), mesh.triangles().len()), (7, 6));
        assert_eq!(mesh.bounds(), (Vec3::ZERO, Vec3::new(1.0, 1.5, 1.0)));
    }

    #[test]
    fn what_is_no_mesh_is_refused_with_the_file() {
        let cases = [
            ("v 0 0 zero\n", "x.obj: no OBJ mesh: "),
            ("v 0 0 0\nv 1 0 0\nf 1 2 9\n", "x.obj: no OBJ mesh: "),
            ("v 0 0 0\nv 1 0 0\nf 1 2 -9\n", "x.obj: no OBJ mesh: "),
            ("", "x.obj: triangles is 0, allowed is at least one"),
            ("v 0 0 0\nv 1 0 0\nl 1 2\n", "x.obj: triangles is 0, allowed is at least one"),
            ("v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n", "x.obj: triangles is 1, allowed is"),
            ("v 0 0 0\nv 1 nan 0\nv 2 2 0\nf 1 2 3\n", "x.obj: positions[1] is "),
        ];
        for (text, expected) in cases {
            let error = refusal(text);
            assert!(error.starts_with(expected), "{text:?}: {error}");
            assert_eq!(error.lines().count(), 1, "{error}");
        }
        assert!(TriangleMesh::from_obj("x.obj", b"\xFF\xFE\x00v").is_err());
        assert!(TriangleMesh::from_obj("x.obj", b"v 0 0 0\nv 1 0 0\nv 2 2 0\nf 1 2 3\n").is_ok());
    }
}
