//! Surfaces made of triangles.

use bevy_math::{DVec3, Vec3};

use crate::solver::error::FluidError;
use crate::solver::grid::{CellGrid, Rows};
use crate::solver::parallel::Threads;

/// Vertices closer than this part of the mesh's largest extent are one: what
/// the rounding of a seam leaves apart, and nothing that anyone modelled.
const WELD: f32 = 1e-6;

/// A surface made of triangles, closed or open, around its own origin.
///
/// Vertices at the same place are welded and triangles without an area left
/// out, so that what was split for the sake of normals or texture coordinates
/// is one surface again.
#[derive(Clone, Debug, PartialEq)]
pub struct TriangleMesh {
    positions: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
}

/// An edge of a mesh with the triangles at it.
pub(super) struct Edge {
    /// Its ends, the lower index first.
    pub ends: [u32; 2],
    /// The triangles that have it, and whether each runs along it from the
    /// lower end to the upper one.
    pub triangles: Vec<(u32, bool)>,
}

impl TriangleMesh {
    /// A mesh of vertices in metres and of triangles as indices of theirs.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for a vertex that is not finite, an index out of
    /// range, or if no triangle has an area.
    pub fn new(positions: &[Vec3], triangles: &[[u32; 3]]) -> Result<Self, FluidError> {
        if let Some(index) = positions.iter().position(|position| !position.is_finite()) {
            return Err(FluidError::parameter(
                format_args!("positions[{index}]"),
                positions[index],
                "finite components, m",
            ));
        }
        let in_range =
            |triangle: &[u32; 3]| triangle.iter().all(|&i| (i as usize) < positions.len());
        if let Some(index) = triangles.iter().position(|triangle| !in_range(triangle)) {
            return Err(FluidError::parameter(
                format_args!("triangles[{index}]"),
                triangles[index],
                format_args!("indices of the {} vertices", positions.len()),
            ));
        }
        let mut mesh = Self { positions: positions.to_vec(), triangles: triangles.to_vec() };
        mesh.weld();
        mesh.triangles.retain(|&[a, b, c]| a != b && b != c && c != a);
        let degenerate = |triangle: &[DVec3; 3]| area(triangle) == 0.0;
        let kept: Vec<bool> = mesh.corners().map(|corners| !degenerate(&corners)).collect();
        let mut kept = kept.into_iter();
        mesh.triangles.retain(|_| kept.next() == Some(true));
        mesh.drop_unused();
        if mesh.triangles.is_empty() {
            return Err(FluidError::parameter(
                "triangles",
                triangles.len(),
                "at least one triangle with an area",
            ));
        }
        Ok(mesh)
    }

    /// The mesh with each axis multiplied by a factor.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for a factor that is zero or not finite, or that
    /// makes a vertex infinite or all areas vanish.
    pub fn scaled(&self, scale: Vec3) -> Result<Self, FluidError> {
        if !scale.is_finite() || scale.min_element() == 0.0 && scale.to_array().contains(&0.0) {
            return Err(FluidError::parameter("scale", scale, "finite factors, none of them 0"));
        }
        let positions: Vec<Vec3> =
            self.positions.iter().map(|&position| position * scale).collect();
        Self::new(&positions, &self.triangles)
            .map_err(|_| FluidError::parameter("scale", scale, "factors that leave a finite mesh"))
    }

    /// Vertices in metres, each place once.
    pub fn positions(&self) -> &[Vec3] {
        &self.positions
    }

    /// Triangles as indices of their vertices.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// The lowest and the highest corner of the box around it, in metres.
    pub fn bounds(&self) -> (Vec3, Vec3) {
        bounds(&self.positions)
    }

    /// Whether it has no border: an even number of triangles at every edge, so
    /// that it has an inside.
    pub fn is_closed(&self) -> bool {
        self.edges().iter().all(|edge| edge.triangles.len().is_multiple_of(2))
    }

    /// The corners of each triangle, in f64.
    pub(super) fn corners(&self) -> impl ExactSizeIterator<Item = [DVec3; 3]> + '_ {
        let corner = |index: u32| self.positions[index as usize].as_dvec3();
        self.triangles.iter().map(move |triangle| triangle.map(corner))
    }

    /// All edges, in the order of their ends.
    pub(super) fn edges(&self) -> Vec<Edge> {
        let mut sides: Vec<([u32; 2], u32, bool)> = Vec::with_capacity(3 * self.triangles.len());
        for (index, &[a, b, c]) in self.triangles.iter().enumerate() {
            for (from, to) in [(a, b), (b, c), (c, a)] {
                sides.push(([from.min(to), from.max(to)], index as u32, from < to));
            }
        }
        sides.sort_unstable();
        let mut edges: Vec<Edge> = Vec::new();
        for (ends, triangle, along) in sides {
            match edges.last_mut() {
                Some(edge) if edge.ends == ends => edge.triangles.push((triangle, along)),
                _ => edges.push(Edge { ends, triangles: vec![(triangle, along)] }),
            }
        }
        edges
    }

    /// Lets each vertex stand for those within the weld distance behind it.
    fn weld(&mut self) {
        let (low, high) = bounds(&self.positions);
        let extent = (high.as_dvec3() - low.as_dvec3()).max_element();
        let reach = (extent * f64::from(WELD)) as f32;
        if !(reach > 0.0 && reach.is_finite()) {
            // A point, or nothing.
            return;
        }
        let middle = 0.5 * (low.as_dvec3() + high.as_dvec3());
        let local: Vec<Vec3> =
            self.positions.iter().map(|&p| (p.as_dvec3() - middle).as_vec3()).collect();
        let ids: Vec<u32> = (0..local.len() as u32).collect();
        let mut grid = CellGrid::default();
        grid.sort(&local, &ids, reach, Threads::Serial);
        let mut stands_for: Vec<u32> = ids;
        let mut rows = Rows::default();
        for index in 0..local.len() {
            grid.rows(local[index], &mut rows);
            let near = rows.points().map(|sorted| grid.point(sorted)).filter(|&other| {
                other < index
                    && stands_for[other] as usize == other
                    && local[other].as_dvec3().distance(local[index].as_dvec3()) <= f64::from(reach)
            });
            if let Some(first) = near.min() {
                stands_for[index] = first as u32;
            }
        }
        for index in self.triangles.as_flattened_mut() {
            *index = stands_for[*index as usize];
        }
    }

    /// Leaves out the vertices that no triangle has.
    fn drop_unused(&mut self) {
        let mut place = vec![u32::MAX; self.positions.len()];
        for &index in self.triangles.as_flattened() {
            place[index as usize] = 0;
        }
        let mut count = 0;
        for (index, place) in place.iter_mut().enumerate() {
            if *place == 0 {
                *place = count;
                self.positions[count as usize] = self.positions[index];
                count += 1;
            }
        }
        self.positions.truncate(count as usize);
        for index in self.triangles.as_flattened_mut() {
            *index = place[*index as usize];
        }
    }
}

/// Area of a triangle in m².
pub(super) fn area(&[a, b, c]: &[DVec3; 3]) -> f64 {
    0.5 * (b - a).cross(c - a).length()
}

/// The box around points; both corners are zero for none.
fn bounds(points: &[Vec3]) -> (Vec3, Vec3) {
    let first = points.first().copied().unwrap_or_default();
    points.iter().fold((first, first), |(low, high), &p| (low.min(p), high.max(p)))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A box between two corners, twelve triangles, outward.
    pub fn cuboid(low: Vec3, high: Vec3) -> TriangleMesh {
        let (positions, triangles) = cuboid_parts(low, high);
        TriangleMesh::new(&positions, &triangles).unwrap()
    }

    fn cuboid_parts(low: Vec3, high: Vec3) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let corner = |i: u32| {
            Vec3::new(
                if i & 1 == 0 { low.x } else { high.x },
                if i & 2 == 0 { low.y } else { high.y },
                if i & 4 == 0 { low.z } else { high.z },
            )
        };
        let quads =
            [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        let triangles = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
        ((0..8).map(corner).collect(), triangles)
    }

    /// A sphere of rings, whose seam has its vertices twice.
    pub fn sphere(radius: f32, rings: u32) -> TriangleMesh {
        let mut positions = Vec::new();
        let columns = 2 * rings;
        for ring in 0..=rings {
            let (sin, cos) = (core::f32::consts::PI * ring as f32 / rings as f32).sin_cos();
            for column in 0..=columns {
                let angle = core::f32::consts::TAU * column as f32 / columns as f32;
                positions.push(radius * Vec3::new(sin * angle.cos(), cos, sin * angle.sin()));
            }
        }
        let mut triangles = Vec::new();
        for ring in 0..rings {
            for column in 0..columns {
                let a = ring * (columns + 1) + column;
                let b = a + columns + 1;
                triangles.extend([[a, b, a + 1], [a + 1, b, b + 1]]);
            }
        }
        TriangleMesh::new(&positions, &triangles).unwrap()
    }

    #[test]
    fn split_vertices_are_welded_and_flat_triangles_dropped() {
        let (positions, triangles) = cuboid_parts(Vec3::ZERO, Vec3::ONE);
        // As a renderer wants it: each triangle with vertices of its own, some of them off by
        // the rounding of a transform; and vertices without a triangle.
        let split: Vec<Vec3> = triangles
            .iter()
            .flatten()
            .enumerate()
            .map(|(k, &i)| positions[i as usize] + Vec3::X * if k % 3 == 1 { 1e-7 } else { 0.0 })
            .chain([Vec3::splat(0.5)])
            .collect();
        let mut indices: Vec<[u32; 3]> = (0..12).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
        indices.push([0, 0, 1]);
        indices.push([0, 1, 0]);
        let mesh = TriangleMesh::new(&split, &indices).unwrap();
        assert_eq!((mesh.positions().len(), mesh.triangles().len()), (8, 12));
        assert!(mesh.is_closed());
        assert_eq!(mesh.edges().len(), 18);
        let open = TriangleMesh::new(&split, &indices[1..]).unwrap();
        assert!(!open.is_closed());
        assert!(sphere(1.0, 12).is_closed(), "the seam and the poles are closed");
    }

    #[test]
    fn impossible_meshes_are_refused_by_name() {
        let (positions, triangles) = cuboid_parts(Vec3::ZERO, Vec3::ONE);
        let refused = |positions: &[Vec3], triangles: &[[u32; 3]]| {
            TriangleMesh::new(positions, triangles).unwrap_err().to_string()
        };
        let none = refused(&positions, &[]);
        assert_eq!(none, "triangles is 0, allowed is at least one triangle with an area");
        assert!(refused(&[], &[]).starts_with("triangles is 0"));
        assert!(refused(&[], &[[0, 1, 2]]).starts_with("triangles[0] is [0, 1, 2]"));
        let line = [[0, 1, 1], [0, 0, 0]];
        assert!(refused(&positions, &line).starts_with("triangles is 2"));
        let beyond = [triangles[0], [0, 1, 8]];
        let error = refused(&positions, &beyond);
        assert_eq!(error, "triangles[1] is [0, 1, 8], allowed is indices of the 8 vertices");
        for bad in [f32::NAN, f32::INFINITY] {
            let mut spoilt = positions.clone();
            spoilt[3].y = bad;
            assert!(refused(&spoilt, &triangles).starts_with("positions[3] is"));
        }
        assert!(TriangleMesh::new(&positions, &[[0, 1, 7]]).is_ok());
    }

    #[test]
    fn scale_is_checked() {
        let mesh = cuboid(Vec3::ZERO, Vec3::ONE);
        for bad in [0.0, f32::NAN, f32::INFINITY] {
            assert!(mesh.scaled(Vec3::new(1.0, bad, 1.0)).is_err(), "{bad}");
        }
        let large = cuboid(Vec3::ZERO, Vec3::splat(1e30));
        assert!(large.scaled(Vec3::splat(1e10)).is_err());
        let scaled = mesh.scaled(Vec3::new(2.0, -3.0, 1.0)).unwrap();
        assert_eq!(scaled.bounds(), (Vec3::new(0.0, -3.0, 0.0), Vec3::new(2.0, 0.0, 1.0)));
    }
}
