//! Closed meshes filled with particles.

use bevy_math::{DVec2, DVec3, Vec3, Vec3Swizzles};

use super::check_count;
use super::mesh::TriangleMesh;
use crate::solver::error::FluidError;

/// Most lines looked at per allowed point: what takes a second or so.
const MAX_TESTS: f64 = 32.0;

impl TriangleMesh {
    /// Points inside of a closed mesh on a regular grid of `spacing` metres; x
    /// runs fastest. A box along the axes holds what a block of its size does.
    /// Where parts of the mesh overlap, twice inside counts as outside.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for a mesh with a border, or one that would take
    /// more than [`MAX_SAMPLES`](super::MAX_SAMPLES) points.
    pub fn volume_points(&self, spacing: f32) -> Result<Vec<Vec3>, FluidError> {
        let borders = self.edges().iter().filter(|edge| edge.triangles.len() % 2 == 1).count();
        if borders > 0 {
            return Err(FluidError::parameter(
                "mesh",
                format_args!("open along {borders} edges"),
                "a closed surface, two triangles at every edge",
            ));
        }
        let spacing = f64::from(spacing);
        let (low, high) = self.bounds();
        let (low, high) = (low.as_dvec3(), high.as_dvec3());
        let counts = ((high - low) / spacing).round();
        // The columns along x are looked at one by one, wherever the mesh is.
        check_count("mesh", counts.y * counts.z)?;
        let first = low + 0.5 * spacing;
        let row = |y: usize, z: usize| first.yz() + spacing * DVec2::new(y as f64, z as f64);

        // The rows of the grid that a triangle may lie across.
        let reach = |corners: &[DVec3; 3]| {
            let flat = corners.map(|corner| (corner.yz() - first.yz()) / spacing);
            let low = flat[0].min(flat[1]).min(flat[2]).ceil().max(DVec2::ZERO);
            let high = flat[0].max(flat[1]).max(flat[2]).floor() + 1.0;
            (low, high.min(counts.yz()).max(low))
        };
        let tests = self.corners().map(|corners| {
            let (low, high) = reach(&corners);
            (high - low).element_product()
        });
        check_count("mesh", tests.sum::<f64>() / MAX_TESTS)?;

        // Where the line through each row meets the surface.
        let rows = counts.y as usize;
        let mut crossings: Vec<(u32, f64)> = Vec::new();
        for (triangle, corners) in self.corners().enumerate() {
            let (low, high) = reach(&corners);
            for z in low.y as usize..high.y as usize {
                for y in low.x as usize..high.x as usize {
                    if let Some(weights) = self.weights(triangle, row(y, z)) {
                        let x: f64 = (0..3).map(|k| weights[k] * corners[k].x).sum();
                        crossings.push(((z * rows + y) as u32, (x - first.x) / spacing));
                    }
                }
            }
        }
        crossings.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let columns = |[enter, leave]: &[(u32, f64); 2]| {
            let from = enter.1.ceil().max(0.0);
            (from, (leave.1.floor() + 1.0).min(counts.x).max(from))
        };
        let lines = || crossings.chunk_by(|a, b| a.0 == b.0);
        let inside = || lines().flat_map(|line| line.as_chunks::<2>().0);
        let count: f64 = inside().map(columns).map(|(from, to)| to - from).sum();
        let mut points = Vec::with_capacity(check_count("mesh", count)?);
        for pair in inside() {
            let line = pair[0].0 as usize;
            let across = row(line % rows, line / rows);
            let (from, to) = columns(pair);
            points.extend((from as u32..to as u32).map(|column| {
                let x = first.x + spacing * f64::from(column);
                Vec3::new(x as f32, across.x as f32, across.y as f32)
            }));
        }
        Ok(points)
    }

    /// Weights of a triangle's corners at the point where the line along x
    /// through `at` meets it, if it does.
    ///
    /// A line through an edge or a corner is taken as if it ran beside it by a
    /// shift too small to be written, the same one for all triangles, so that it
    /// meets a closed surface an even number of times.
    fn weights(&self, triangle: usize, at: DVec2) -> Option<[f64; 3]> {
        let [a, b, c] = self.triangles()[triangle];
        let sides = [(b, c), (c, a), (a, b)].map(|(from, to)| self.side(from, to, at));
        let signs = sides.map(|(_, positive)| positive);
        if signs != [true; 3] && signs != [false; 3] {
            return None;
        }
        let total: f64 = sides.iter().map(|(value, _)| value).sum();
        // Zero where the triangle is seen from its edge.
        (total != 0.0).then(|| sides.map(|(value, _)| value / total))
    }

    /// On which side of the edge from one vertex to another a point is, seen
    /// along x: twice the signed area, and its sign after the shift.
    fn side(&self, from: u32, to: u32, at: DVec2) -> (f64, bool) {
        // Always from the lower index, so that both triangles at an edge get the same bits.
        let place = |index: u32| self.positions()[index as usize].as_dvec3().yz();
        let (low, high) = (place(from.min(to)), place(from.max(to)));
        let along = high - low;
        let value = along.perp_dot(at - low);
        let positive = if value != 0.0 {
            value > 0.0
        } else if along.y != 0.0 {
            along.y < 0.0
        } else {
            along.x > 0.0
        };
        if from < to { (value, positive) } else { (-value, !positive) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::mesh::tests::{cuboid, sphere};
    use super::*;
    use crate::solver::sampling::FluidShape;

    #[test]
    fn a_box_holds_what_a_block_holds() {
        let (low, size) = (Vec3::new(-1.0, 0.2, 3.0), Vec3::new(0.6, 0.34, 0.47));
        let mesh = cuboid(low, low + size);
        let block = FluidShape::Block { min: low, size }.positions(0.025).unwrap();
        let points = mesh.volume_points(0.05).unwrap();
        assert_eq!(points.len(), block.len());
        assert!(points.iter().zip(&block).all(|(a, b)| a.distance(*b) < 1e-5));
    }

    #[test]
    fn a_sphere_holds_its_volume_and_nothing_outside() {
        // The lines of the grid run through vertices and along edges of this one.
        for (rings, radius) in [(10, 0.5), (40, 0.525), (150, 0.5)] {
            let mesh = sphere(radius, rings);
            let points = mesh.volume_points(0.05).unwrap();
            assert!(points.iter().all(|point| point.length() < radius), "{rings}");
            let volume: f64 =
                mesh.corners().map(|[a, b, c]| a.dot(b.cross(c)) / 6.0).sum::<f64>().abs();
            let expected = volume / 0.05f64.powi(3);
            let count = points.len() as f64;
            assert!((count / expected - 1.0).abs() < 0.03, "{rings}: {count}, {expected}");
        }
    }

    #[test]
    fn a_hole_through_a_body_stays_empty() {
        let outer = cuboid(Vec3::ZERO, Vec3::ONE);
        let inner = cuboid(Vec3::splat(0.3), Vec3::splat(0.7));
        let positions = [outer.positions(), inner.positions()].concat();
        let more = inner.triangles().iter().map(|triangle| triangle.map(|index| index + 8));
        let triangles: Vec<_> = outer.triangles().iter().copied().chain(more).collect();
        let hollow = TriangleMesh::new(&positions, &triangles).unwrap();
        assert_eq!(hollow.volume_points(0.1).unwrap().len(), 1000 - 64);
    }

    #[test]
    fn an_open_mesh_is_refused_and_says_so() {
        let closed = cuboid(Vec3::ZERO, Vec3::ONE);
        let open = TriangleMesh::new(closed.positions(), &closed.triangles()[2..]).unwrap();
        let error = open.volume_points(0.1).unwrap_err().to_string();
        assert!(error.starts_with("mesh is open along 4 edges"), "{error}");
        assert!(closed.volume_points(0.1).is_ok());
    }

    #[test]
    fn volumes_beyond_measure_are_refused_at_once() {
        let cube = |size: f32| cuboid(Vec3::ZERO, Vec3::splat(size));
        for size in [100.0, 1e4, 1e30] {
            assert!(cube(size).volume_points(0.1).is_err(), "{size}");
        }
        assert_eq!(cube(0.01).volume_points(0.1).unwrap(), []);
    }
}
