//! Particles, constraints and triangles from grids, ropes and meshes.

use core::cmp::Ordering;

use super::constraints::{ConstraintKind, DistanceConstraint};
use crate::solver::error::FluidError;
use crate::solver::vector::Vector;

/// Most particles of a cloth.
pub const MAX_PARTICLES: usize = 10_000_000;

/// Vertices nearer than this fraction of the mesh's size are one.
const WELD: f32 = 1e-6;

/// A triangle whose height over its longest edge is below this has no area.
const SLIVER: f32 = 1e-4;

/// Largest |cosine| of an angle that counts as a right one, and half the largest
/// distance between the middles of a rectangle's diagonals, over a diagonal.
const SQUARE: f32 = 0.1;

/// What a cloth is made from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClothMesh<V> {
    /// Particles at rest, in metres.
    pub positions: Vec<V>,
    /// Distances to be kept, in the order in which the scheme
    /// [`Reference`](super::ClothScheme::Reference) solves them.
    pub constraints: Vec<DistanceConstraint>,
    /// Triangles of particles, each once.
    pub triangles: Vec<[u32; 3]>,
    /// The particle of each vertex of the mesh that this was made from.
    /// Vertices welded for physics keep their own texture coordinates there.
    pub particle_of_vertex: Vec<u32>,
    /// Columns and rows, where the particles form a grid, row by row.
    pub grid: Option<[u32; 2]>,
    /// Triangles left out: without area, with a vertex twice, or there before.
    pub skipped_triangles: usize,
}

impl<V: Vector> ClothMesh<V> {
    /// A grid of `columns` times `rows` particles; particle (column, row) lies
    /// at `origin + column * right + row * down`, at index row * columns + column.
    ///
    /// Constraints: threads along rows, along columns, both diagonals of each
    /// cell, then every second neighbour along rows and columns against bending.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for no or too many particles, or steps that
    /// are not finite or have no length.
    pub fn grid(origin: V, right: V, down: V, columns: u32, rows: u32) -> Result<Self, FluidError> {
        let count = u64::from(columns) * u64::from(rows);
        for (name, value) in [("columns", columns), ("rows", rows)] {
            if value == 0 || count > MAX_PARTICLES as u64 {
                let allowed = format!("1 or more, together at most {MAX_PARTICLES} particles");
                return Err(FluidError::parameter(name, value, allowed));
            }
        }
        if !origin.is_finite() {
            return Err(FluidError::parameter("origin", origin, "finite components, m"));
        }
        for (name, step) in [("right", right), ("down", down)] {
            if !(step.length() > 0.0 && step.length().is_finite()) {
                return Err(FluidError::parameter(name, step, "a finite vector with a length, m"));
            }
        }
        let index = |column: u32, row: u32| row * columns + column;
        let cells = || {
            let across = move |row| (0..columns).map(move |column| (column, row));
            (0..rows).flat_map(across)
        };
        let positions = cells().map(|(c, r)| origin + right * c as f32 + down * r as f32).collect();
        let mut mesh = Self {
            positions,
            particle_of_vertex: (0..columns * rows).collect(),
            grid: Some([columns, rows]),
            ..Self::default()
        };
        let lengths = [right, down, right + down, right - down].map(Vector::length);
        mesh.link(cells(), [1, 0], [columns, rows], lengths[0], ConstraintKind::Stretch);
        mesh.link(cells(), [0, 1], [columns, rows], lengths[1], ConstraintKind::Stretch);
        for (c, r) in cells().filter(|&(c, r)| c + 1 < columns && r + 1 < rows) {
            let [a, b, x, y] = [index(c, r), index(c + 1, r + 1), index(c + 1, r), index(c, r + 1)];
            for (a, b, rest_length) in [(a, b, lengths[2]), (x, y, lengths[3])] {
                // Steps along one line make cells without area.
                if rest_length > 0.0 {
                    mesh.constraints.push(DistanceConstraint {
                        kind: ConstraintKind::Shear,
                        ..DistanceConstraint::link(a, b, rest_length)
                    });
                }
            }
            mesh.triangles.extend([[a, y, x], [x, y, b]]);
        }
        let size = [columns, rows];
        mesh.link(cells(), [2, 0], size, 2.0 * lengths[0], ConstraintKind::Bend);
        mesh.link(cells(), [0, 2], size, 2.0 * lengths[1], ConstraintKind::Bend);
        Ok(mesh)
    }

    /// The grid with its middle moved by `sag`, in metres, and the rest of it less,
    /// as a parabola along each row and column; the border stays. Rest lengths
    /// become those of the new shape, as if it had been sewn that way, so it is no
    /// even grid any more. What is no grid stays as it is.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] if `sag` is not finite, or brings particles to
    /// the same place.
    pub fn sagging(mut self, sag: V) -> Result<Self, FluidError> {
        let refuse =
            || Err(FluidError::parameter("sag", sag, "finite components, off the plane, m"));
        if !sag.is_finite() {
            return refuse();
        }
        let Some([columns, rows]) = self.grid else { return Ok(self) };
        if sag == V::ZERO {
            return Ok(self);
        }
        let parabola = |index: u32, count: u32| {
            let t = index as f32 / count.saturating_sub(1).max(1) as f32;
            if count > 1 { 4.0 * t * (1.0 - t) } else { 1.0 }
        };
        for (index, x) in (0..).zip(&mut self.positions) {
            *x += sag * (parabola(index % columns, columns) * parabola(index / columns, rows));
        }
        for constraint in &mut self.constraints {
            let [a, b] = [constraint.a, constraint.b].map(|end| self.positions[end as usize]);
            constraint.rest_length = (a - b).length();
            if !(constraint.rest_length > 0.0 && constraint.rest_length.is_finite()) {
                return refuse();
            }
        }
        self.grid = None;
        Ok(self)
    }

    /// Constraints from each cell to the one `step` columns and rows on.
    fn link(
        &mut self,
        cells: impl Iterator<Item = (u32, u32)>,
        step: [u32; 2],
        [columns, rows]: [u32; 2],
        rest_length: f32,
        kind: ConstraintKind,
    ) {
        for (c, r) in cells.filter(|&(c, r)| c + step[0] < columns && r + step[1] < rows) {
            let (a, b) = (r * columns + c, (r + step[1]) * columns + c + step[0]);
            self.constraints
                .push(DistanceConstraint { kind, ..DistanceConstraint::link(a, b, rest_length) });
        }
    }

    /// A rope or chain through `points`, with rigid links, and a constraint
    /// against bending across each pair of them.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for no points, a point that is not finite, or
    /// two at the same place in succession.
    pub fn rope(points: &[V]) -> Result<Self, FluidError> {
        check_positions(points)?;
        let mut mesh = Self {
            positions: points.to_vec(),
            particle_of_vertex: (0..points.len() as u32).collect(),
            ..Self::default()
        };
        for (step, kind) in [(1, ConstraintKind::Stretch), (2, ConstraintKind::Bend)] {
            for (index, (&a, &b)) in points.iter().zip(points.iter().skip(step)).enumerate() {
                let rest_length = (b - a).length();
                if rest_length > 0.0 {
                    let (a, b) = (index as u32, (index + step) as u32);
                    mesh.constraints.push(DistanceConstraint {
                        kind,
                        ..DistanceConstraint::link(a, b, rest_length)
                    });
                } else if step == 1 {
                    let name = format_args!("points[{}]", index + 1).to_string();
                    return Err(FluidError::parameter(name, b, "another place than the last, m"));
                }
            }
        }
        Ok(mesh)
    }

    /// Any triangles, `indices` three by three into `vertices`.
    ///
    /// Vertices at the same place become one particle, so that seams of a
    /// texture or of normals hold; see [`ClothMesh::particle_of_vertex`].
    /// Each edge becomes a thread. Where two triangles form a flat rectangle,
    /// their common edge and the other diagonal are shear. The opposite
    /// vertices of every two triangles get a constraint against bending.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for no vertices, one that is not finite, an
    /// index out of range or a number of indices that three does not divide.
    pub fn from_triangles(vertices: &[V], indices: &[u32]) -> Result<Self, FluidError> {
        check_positions(vertices)?;
        if !indices.len().is_multiple_of(3) {
            return Err(FluidError::parameter("indices", indices.len(), "a multiple of three"));
        }
        if let Some(at) = indices.iter().position(|&index| index as usize >= vertices.len()) {
            let allowed = format!("an index below {}", vertices.len());
            return Err(FluidError::parameter(format_args!("indices[{at}]"), indices[at], allowed));
        }
        let (positions, particle_of_vertex) = weld(vertices);
        let mut mesh = Self { positions, particle_of_vertex, ..Self::default() };
        mesh.add_triangles(indices);
        mesh.add_edges();
        Ok(mesh)
    }

    fn add_triangles(&mut self, indices: &[u32]) {
        let mut seen: Vec<([u32; 3], usize)> = Vec::with_capacity(indices.len() / 3);
        let corners =
            |three: &[u32; 3]| three.map(|vertex| self.particle_of_vertex[vertex as usize]);
        let all: Vec<[u32; 3]> = indices.as_chunks::<3>().0.iter().map(corners).collect();
        for (index, triangle) in all.iter().enumerate() {
            let mut key = *triangle;
            key.sort_unstable();
            let [a, b, c] = triangle.map(|corner| self.positions[corner as usize]);
            let edges = [b - a, c - b, a - c];
            let longest = edges.iter().map(|edge| edge.length_squared()).fold(0.0, f32::max);
            // Twice the area over the longest edge, squared, is the height.
            let dot = edges[0].dot(edges[2]);
            let area = edges[0].length_squared() * edges[2].length_squared() - dot * dot;
            if key[0] != key[1] && key[1] != key[2] && area > SLIVER * SLIVER * longest * longest {
                seen.push((key, index));
            }
        }
        seen.sort_unstable();
        seen.dedup_by_key(|&mut (key, _)| key);
        seen.sort_unstable_by_key(|&(_, index)| index);
        self.triangles = seen.iter().map(|&(_, index)| all[index]).collect();
        self.skipped_triangles = all.len() - self.triangles.len();
    }

    fn add_edges(&mut self) {
        // Each edge with the corner opposite to it, equal edges side by side.
        let mut edges: Vec<([u32; 2], u32)> = Vec::with_capacity(3 * self.triangles.len());
        for &[a, b, c] in &self.triangles {
            for (from, to, opposite) in [(a, b, c), (b, c, a), (c, a, b)] {
                edges.push(([from.min(to), from.max(to)], opposite));
            }
        }
        edges.sort_unstable();
        let mut across = Vec::new();
        for group in edges.chunk_by(|a, b| a.0 == b.0) {
            let [a, b] = group[0].0;
            let opposite: Vec<u32> = group.iter().map(|&(_, corner)| corner).collect();
            let mut kind = ConstraintKind::Stretch;
            if let [c, d] = opposite[..] {
                let quad = self.is_rectangle([a, b, c, d]);
                kind = if quad { ConstraintKind::Shear } else { kind };
                across.push((c.min(d), c.max(d), quad));
            }
            self.constraints.push(self.constraint(a, b, kind));
        }
        across.sort_unstable();
        across.dedup_by_key(|&mut (a, b, _)| (a, b));
        let known: Vec<[u32; 2]> = edges.iter().map(|&(edge, _)| edge).collect();
        for (a, b, quad) in across {
            if a != b && known.binary_search(&[a, b]).is_err() {
                let diagonal = quad.then_some(ConstraintKind::Shear);
                for kind in diagonal.into_iter().chain([ConstraintKind::Bend]) {
                    self.constraints.push(self.constraint(a, b, kind));
                }
            }
        }
    }

    fn constraint(&self, a: u32, b: u32, kind: ConstraintKind) -> DistanceConstraint {
        let apart = self.positions[a as usize] - self.positions[b as usize];
        // Opposite corners of a closed fold may coincide.
        let rest_length = apart.length().max(f32::MIN_POSITIVE);
        DistanceConstraint { kind, ..DistanceConstraint::link(a, b, rest_length) }
    }

    /// Whether the triangles (a, b, c) and (b, a, d) form a flat rectangle.
    fn is_rectangle(&self, corners: [u32; 4]) -> bool {
        let [a, b, c, d] = corners.map(|corner| self.positions[corner as usize]);
        let cosine = |u: V, v: V| u.dot(v) / (u.length() * v.length());
        // In a rectangle the diagonals are equal and halve each other.
        let middle = (a + b - c - d).length() < 2.0 * SQUARE * (a - b).length();
        middle && cosine(a - c, b - c).abs() < SQUARE && cosine(a - d, b - d).abs() < SQUARE
    }
}

fn check_positions<V: Vector>(positions: &[V]) -> Result<(), FluidError> {
    if positions.is_empty() || positions.len() > MAX_PARTICLES {
        let allowed = format!("1 to {MAX_PARTICLES} vertices");
        return Err(FluidError::parameter("vertices", positions.len(), allowed));
    }
    match positions.iter().position(|position| !position.is_finite()) {
        Some(index) => Err(FluidError::parameter(
            format_args!("vertices[{index}]"),
            positions[index],
            "finite components, m",
        )),
        None => Ok(()),
    }
}

/// Size of the box around points, corner to corner, in metres.
pub(super) fn extent<V: Vector>(positions: &[V]) -> f32 {
    let Some(&first) = positions.first() else { return 0.0 };
    let (low, high) =
        positions.iter().fold((first, first), |(low, high), &x| (low.min(x), high.max(x)));
    (high - low).length()
}

/// The distinct places among `vertices` in the order of their first vertices,
/// and the place of each vertex.
fn weld<V: Vector>(vertices: &[V]) -> (Vec<V>, Vec<u32>) {
    let near = WELD * extent(vertices);
    let mut order: Vec<u32> = (0..vertices.len() as u32).collect();
    let x = |vertex: u32| vertices[vertex as usize].to_array()[0];
    order.sort_unstable_by(|&a, &b| match x(a).total_cmp(&x(b)) {
        Ordering::Equal => {
            let [p, q] = [a, b].map(|vertex| vertices[vertex as usize].to_array());
            p[1].total_cmp(&q[1]).then(p[2].total_cmp(&q[2])).then(a.cmp(&b))
        }
        other => other,
    });
    // The first vertex at each place, by the vertex.
    let mut first: Vec<u32> = (0..vertices.len() as u32).collect();
    for (at, &vertex) in order.iter().enumerate() {
        if first[vertex as usize] != vertex {
            continue;
        }
        for &other in order[at + 1..].iter().take_while(|&&other| x(other) - x(vertex) <= near) {
            let apart = vertices[other as usize] - vertices[vertex as usize];
            if apart.length() <= near {
                first[other as usize] = vertex;
            }
        }
    }
    // Which of a place's vertices the sort met first does not matter: its
    // lowest index gives the particle its place in the order.
    let mut lowest: Vec<u32> = (0..vertices.len() as u32).collect();
    for (vertex, &group) in first.iter().enumerate() {
        lowest[group as usize] = lowest[group as usize].min(vertex as u32);
    }
    let mut particle = vec![u32::MAX; vertices.len()];
    let mut positions = Vec::new();
    for vertex in 0..vertices.len() {
        let root = lowest[first[vertex] as usize] as usize;
        if particle[root] == u32::MAX {
            particle[root] = positions.len() as u32;
            positions.push(vertices[root]);
        }
        particle[vertex] = particle[root];
    }
    (positions, particle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy_math::{Vec2, Vec3};

    fn count<V>(mesh: &ClothMesh<V>, kind: ConstraintKind) -> usize {
        mesh.constraints.iter().filter(|constraint| constraint.kind == kind).count()
    }

    #[test]
    fn grid_has_the_constraints_of_the_reference_in_its_order() {
        let mesh = ClothMesh::grid(Vec2::ZERO, Vec2::X, -Vec2::Y, 3, 2).unwrap();
        let expected = [(0, 1), (1, 2), (3, 4), (4, 5), (0, 3), (1, 4), (2, 5)];
        let diagonals = [(0, 4), (1, 3), (1, 5), (2, 4)];
        let links = mesh.constraints.iter().map(|constraint| (constraint.a, constraint.b));
        let bends = [(0, 2), (3, 5)];
        let all = expected.into_iter().chain(diagonals).chain(bends);
        assert!(links.eq(all), "{:?}", mesh.constraints);
        assert_eq!(mesh.positions[5], Vec2::new(2.0, -1.0));
        assert_eq!(mesh.triangles.len(), 4);
    }

    #[test]
    fn mesh_is_welded_and_bad_triangles_are_left_out() {
        // Two unit squares side by side, their seam given twice, and one
        // triangle each: there before, with a corner twice, without area.
        let vertices = [[0, 0], [1, 0], [1, 1], [0, 1], [1, 0], [2, 0], [2, 1], [1, 1], [3, 0]];
        let vertices = vertices.map(|[x, y]| Vec3::new(x as f32, y as f32, 0.0));
        let indices = [
            0, 1, 2, 0, 2, 3, 4, 5, 6, 4, 6, 7, 2, 1, 0, 3, 3, 0, 0, 1, 5, //
        ];
        let mesh = ClothMesh::from_triangles(&vertices, &indices).unwrap();
        assert_eq!(mesh.particle_of_vertex, [0, 1, 2, 3, 1, 4, 5, 2, 6]);
        assert_eq!((mesh.positions.len(), mesh.triangles.len()), (7, 4));
        assert_eq!(mesh.skipped_triangles, 3);
        // Seven threads, two diagonals for each square, and one against bending
        // in each square and across the seam.
        let counts = ConstraintKind::ALL.map(|kind| count(&mesh, kind));
        assert_eq!(counts, [7, 4, 3]);
    }
}
