//! The surface of the particles as a mesh.

use splashsurf_lib::nalgebra::Vector3;
use splashsurf_lib::{Parameters, reconstruct_surface};

use super::{FrameError, ParticleTable};

/// Edge of a marching cube in particle radii.
const CUBE: f32 = 1.0;

/// Support radius of the reconstruction in particle radii, that of the solvers.
const SUPPORT: f32 = 4.0;

/// A closed surface around particles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SurfaceMesh {
    /// Positions of the vertices in metres.
    pub positions: Vec<[f32; 3]>,
    /// Corners of each triangle, counter-clockwise from outside.
    pub triangles: Vec<[u32; 3]>,
}

impl ParticleTable {
    /// The surface around all particles of `radius` metres, by marching cubes of that edge through
    /// the density (the crate `splashsurf_lib`). Empty without particles.
    ///
    /// # Errors
    /// [`FrameError::Parameter`] for a radius that is not positive and finite or a position that is
    /// not finite, [`FrameError::Encode`] if the particles are too far apart for a grid.
    pub fn surface(&self, radius: f32) -> Result<SurfaceMesh, FrameError> {
        let refuse = |parameter, value: &dyn core::fmt::Debug, allowed: &str| {
            let (value, allowed) = (format!("{value:?}"), allowed.to_owned());
            Err(FrameError::Parameter { parameter, value, allowed })
        };
        if !(radius > 0.0 && radius.is_finite()) {
            return refuse("radius", &radius, "above 0 m");
        }
        if let Some(position) = self.positions.iter().find(|x| !x.iter().all(|c| c.is_finite())) {
            return refuse("positions", position, "finite components");
        }
        if self.is_empty() {
            return Ok(SurfaceMesh::default());
        }
        let positions: Vec<Vector3<f32>> = self.positions.iter().map(|&x| x.into()).collect();
        let parameters = Parameters::new(radius, SUPPORT * radius, CUBE * radius);
        let surface = reconstruct_surface::<i64, f32>(&positions, &parameters)
            .map_err(|error| FrameError::Encode { source: error.to_string().into() })?;
        let mesh = &surface.mesh;
        Ok(SurfaceMesh {
            positions: mesh.vertices.iter().map(|&vertex| vertex.into()).collect(),
            triangles: mesh.triangles.iter().map(|t| t.map(|corner| corner as u32)).collect(),
        })
    }
}

impl SurfaceMesh {
    /// The surface as the bytes of a binary PLY file: vertices with `x`, `y`, `z` in metres, and
    /// triangles.
    pub fn ply(&self) -> Vec<u8> {
        let mut bytes = format!(
            "ply\nformat binary_little_endian 1.0\ncomment SI units\n\
             element vertex {}\nproperty float x\nproperty float y\nproperty float z\n\
             element face {}\nproperty list uchar uint vertex_indices\nend_header\n",
            self.positions.len(),
            self.triangles.len()
        )
        .into_bytes();
        bytes.extend(self.positions.as_flattened().iter().flat_map(|real| real.to_le_bytes()));
        for triangle in &self.triangles {
            bytes.push(3);
            bytes.extend(triangle.iter().flat_map(|corner| corner.to_le_bytes()));
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(side: usize) -> ParticleTable {
        let place = |k: usize| [k % side, k / side % side, k / side / side];
        let positions = (0..side.pow(3)).map(|k| place(k).map(|n| n as f32 * 0.1)).collect();
        ParticleTable { positions, ..ParticleTable::default() }
    }

    #[test]
    fn a_block_has_a_closed_surface_around_its_volume() {
        let surface = block(10).surface(0.05).unwrap();
        let corner = |k: u32| bevy_math::Vec3::from(surface.positions[k as usize]);
        let volume: f32 = surface
            .triangles
            .iter()
            .map(|&[a, b, c]| corner(a).cross(corner(b)).dot(corner(c)) / 6.0)
            .sum();
        assert!((volume - 1.0).abs() < 0.15, "{volume} m³ of 1 m³");
        // Closed: each edge is passed once in either direction.
        let mut edges: Vec<(u32, u32)> = Vec::new();
        for &[a, b, c] in &surface.triangles {
            edges.extend([(a, b), (b, c), (c, a)]);
        }
        edges.sort_unstable();
        assert!(edges.iter().all(|&(a, b)| edges.binary_search(&(b, a)).is_ok()));
        let bytes = surface.ply();
        let end = b"end_header\n";
        let start = bytes.windows(end.len()).position(|part| part == end).unwrap() + end.len();
        assert_eq!(
            bytes.len() - start,
            12 * surface.positions.len() + 13 * surface.triangles.len()
        );
    }

    #[test]
    fn what_has_no_surface_is_told_or_empty() {
        assert_eq!(ParticleTable::default().surface(0.1).unwrap(), SurfaceMesh::default());
        for radius in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            assert!(block(2).surface(radius).is_err(), "{radius}");
        }
        let mut table = block(2);
        table.positions[3][1] = f32::NAN;
        let error = table.surface(0.05).unwrap_err().to_string();
        assert!(error.starts_with("positions is"), "{error}");
    }
}
