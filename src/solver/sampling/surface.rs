//! Triangle surfaces covered with samples of even spacing.
//!
//! Corners and sharp edges come first, then the faces from there inwards: of
//! the points that are far enough from every sample the next one is that which
//! lies closest to its two nearest samples, as discs are packed by hand, and
//! what is still too far from all of them is filled up. There is nothing random
//! in it, and Akinci et al. 2012 make up for what unevenness is left.

use bevy_math::{DVec3, Vec3};

use super::mesh::TriangleMesh;
use super::{MAX_SAMPLES, parts};
use crate::solver::error::FluidError;
use crate::solver::grid::{CellGrid, Rows};
use crate::solver::parallel::Threads;

/// Least distance of samples on a face, in spacings.
const PACKED: f64 = 0.95;

/// Least distance of samples on sharp edges and at corners, in spacings.
const ON_EDGES: f64 = 0.7;

/// Farthest that a place on the surface may be from all samples, in spacings.
/// A square lattice of one spacing has 0.71.
const GAP: f64 = 0.65;

/// How far from a sample its next ones are looked for, in spacings.
const REACH: f64 = 1.25;

/// Distance of the points that samples are chosen from, in spacings.
const CANDIDATES: f64 = 0.2;

/// Most points to choose from.
const MAX_CANDIDATES: f64 = 8.0 * MAX_SAMPLES as f64;

/// Most spacings along an axis.
const MAX_EXTENT: f64 = 1e6;

/// Cosine of the angle between faces from which on an edge is sharp: 30°.
const SHARP: f64 = 0.866;

impl TriangleMesh {
    /// Samples all over the surface, always the same ones, for a spacing in
    /// metres: none of its points is farther from a sample than 0.75 spacings,
    /// and no two samples are closer than 0.65.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for a surface that would take some four million
    /// samples or more, or that is a million spacings wide.
    pub fn surface_samples(&self, spacing: f32) -> Result<Vec<Vec3>, FluidError> {
        let spacing = f64::from(spacing);
        let (low, high) = self.bounds();
        let extent = (high.as_dvec3() - low.as_dvec3()).max_element();
        if extent.is_nan() || extent > MAX_EXTENT * spacing {
            return Err(FluidError::parameter(
                "mesh",
                format_args!("{extent:.3e} m wide"),
                format_args!("at most {MAX_EXTENT:e} spacings of {spacing:e} m"),
            ));
        }
        // Around its middle, where f32 is finest.
        let middle = 0.5 * (low.as_dvec3() + high.as_dvec3());
        let Candidates { points, preferred } = self.candidates(spacing, middle)?;
        let mut packing = Packing::new(points, spacing);
        for point in 0..preferred {
            packing.take_if(point, ON_EDGES);
        }
        packing.spread();
        packing.fill();
        let place = |&sample: &u32| (packing.points[sample as usize].as_dvec3() + middle).as_vec3();
        Ok(packing.samples.iter().map(place).collect())
    }

    /// Points on the surface, relative to `middle`.
    fn candidates(&self, spacing: f64, middle: DVec3) -> Result<Candidates, FluidError> {
        let step = CANDIDATES * spacing;
        let count: f64 = self.corners().map(|corners| Raster::new(&corners, step).count()).sum();
        if count.is_nan() || count + self.positions().len() as f64 > MAX_CANDIDATES {
            let most = MAX_CANDIDATES * CANDIDATES * CANDIDATES;
            return Err(FluidError::parameter(
                "mesh",
                format_args!(
                    "a surface of {:.3e} spacings squared",
                    count * CANDIDATES * CANDIDATES
                ),
                format_args!("at most {most:.3e} of spacings of {spacing:e} m"),
            ));
        }
        let place = |point: DVec3| (point - middle).as_vec3();
        let vertex = |index: u32| self.positions()[index as usize].as_dvec3();
        let normals: Vec<DVec3> = self.corners().map(|[a, b, c]| (b - a).cross(c - a)).collect();
        let mut edges = self.edges();
        edges.retain(|edge| match edge.triangles[..] {
            [(one, along), (other, back)] => {
                let (one, other) = (normals[one as usize], normals[other as usize]);
                let other = if along == back { -other } else { other };
                one.dot(other) < SHARP * one.length() * other.length()
            }
            _ => true,
        });
        let mut corners: Vec<u32> = edges.iter().flat_map(|edge| edge.ends).collect();
        corners.sort_unstable();
        corners.dedup();
        let mut points: Vec<Vec3> = corners.iter().map(|&index| place(vertex(index))).collect();
        for edge in &edges {
            let [a, b] = edge.ends.map(vertex);
            let parts = parts(a.distance(b), spacing);
            points.extend((1..parts as usize).map(|k| place(a.lerp(b, k as f64 / parts))));
        }
        let preferred = points.len();
        points.extend(self.positions().iter().map(|position| place(position.as_dvec3())));
        for corners in self.corners() {
            Raster::new(&corners, step).visit(|point| points.push(place(point)));
        }
        Ok(Candidates { points, preferred })
    }
}

/// Where samples may be.
struct Candidates {
    points: Vec<Vec3>,
    /// Number of those at sharp edges and corners, which come first.
    preferred: usize,
}

/// Points of a triangle in rows along its longest side, its corners left out.
struct Raster {
    /// Ends of the longest side, and the corner opposite to it.
    corners: [DVec3; 3],
    rows: f64,
    columns: f64,
    step: f64,
}

impl Raster {
    fn new(&[a, b, c]: &[DVec3; 3], step: f64) -> Self {
        let turned = [[a, b, c], [b, c, a], [c, a, b]];
        let length = |corners: &[DVec3; 3]| corners[0].distance(corners[1]);
        let corners = turned.into_iter().max_by(|x, y| length(x).total_cmp(&length(y)));
        let corners = corners.unwrap_or([a, b, c]);
        let base = length(&corners);
        let height = 2.0 * super::mesh::area(&corners) / base;
        Self { corners, rows: (height / step).ceil(), columns: (base / step).ceil(), step }
    }

    /// Number of points or more.
    fn count(&self) -> f64 {
        0.5 * self.rows * self.columns + self.rows + self.columns
    }

    fn visit(&self, mut push: impl FnMut(DVec3)) {
        let [a, b, c] = self.corners;
        for row in 0..self.rows as usize {
            let up = row as f64 / self.rows;
            let (left, right) = (a.lerp(c, up), b.lerp(c, up));
            let columns = (left.distance(right) / self.step).ceil().max(1.0);
            let count = columns as usize;
            let ends = if row == 0 { 1..count } else { 0..count + 1 };
            for column in ends {
                push(left.lerp(right, column as f64 / columns));
            }
        }
    }
}

/// Samples being chosen among candidates.
struct Packing {
    spacing: f64,
    /// Candidates, as given.
    points: Vec<Vec3>,
    grid: CellGrid,
    rows: Rows,
    /// Distances in spacings of each candidate to its two nearest samples, each
    /// at most [`REACH`].
    near: Vec<[f32; 2]>,
    /// Chosen candidates, in their order.
    samples: Vec<u32>,
}

impl Packing {
    fn new(points: Vec<Vec3>, spacing: f64) -> Self {
        let ids: Vec<u32> = (0..points.len() as u32).collect();
        let mut grid = CellGrid::default();
        grid.sort(&points, &ids, (1.001 * REACH * spacing) as f32, Threads::Serial);
        let near = vec![[REACH as f32; 2]; points.len()];
        Self { spacing, points, grid, rows: Rows::default(), near, samples: Vec::new() }
    }

    /// Makes a candidate a sample if it keeps its distance from the others.
    fn take_if(&mut self, point: usize, distance: f64) {
        if f64::from(self.near[point][0]) >= distance {
            self.take(point);
        }
    }

    fn take(&mut self, point: usize) {
        let at = self.points[point];
        let scale = (1.0 / self.spacing) as f32;
        self.samples.push(point as u32);
        self.grid.rows(at, &mut self.rows);
        for sorted in self.rows.points() {
            let other = self.grid.point(sorted);
            let distance = scale * self.points[other].distance(at);
            let [first, second] = &mut self.near[other];
            if distance < *first {
                *second = *first;
                *first = distance;
            } else if distance < *second {
                *second = distance;
            }
        }
    }

    /// Goes on from every sample to places next to it until none is free.
    fn spread(&mut self) {
        let mut front = 0;
        let mut free = Vec::new();
        for start in 0..self.points.len() {
            // A part of the surface that no sample leads to starts with its first candidate.
            if front == self.samples.len() {
                self.take_if(start, REACH);
            }
            while let Some(&sample) = self.samples.get(front) {
                front += 1;
                let at = self.points[sample as usize];
                self.grid.rows(at, &mut self.rows);
                free.clear();
                free.extend(self.rows.points().map(|sorted| self.grid.point(sorted)));
                loop {
                    free.retain(|&point| {
                        let nearest = f64::from(self.near[point][0]);
                        (PACKED..REACH).contains(&nearest)
                    });
                    let cost = |point: &usize| self.near[*point][0] + self.near[*point][1];
                    let next = free
                        .iter()
                        .copied()
                        .min_by(|a, b| cost(a).total_cmp(&cost(b)).then(a.cmp(b)));
                    let Some(next) = next else { break };
                    self.take(next);
                }
            }
        }
    }

    /// Closes the gaps that are left.
    fn fill(&mut self) {
        for point in 0..self.points.len() {
            self.take_if(point, GAP);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::mesh::area;
    use super::super::mesh::tests::{cuboid, sphere};
    use super::*;

    const D: f32 = 0.1;

    /// The least distance between two samples and the farthest that a point of the surface is
    /// from a sample, in spacings.
    fn evenness(mesh: &TriangleMesh, samples: &[Vec3], spacing: f32) -> (f32, f32) {
        let ids: Vec<u32> = (0..samples.len() as u32).collect();
        let mut grid = CellGrid::default();
        grid.sort(samples, &ids, spacing, Threads::Serial);
        let mut rows = Rows::default();
        let mut nearest = |at: Vec3, except: usize| {
            grid.rows(at, &mut rows);
            let others = rows.points().map(|k| grid.point(k)).filter(|&k| k != except);
            others.map(|k| samples[k].distance(at)).fold(f32::INFINITY, f32::min) / spacing
        };
        let least = (0..samples.len()).map(|k| nearest(samples[k], k)).fold(9.0, f32::min);
        let mut widest = 0.0f32;
        for corners in mesh.corners() {
            let step = 0.07 * f64::from(spacing);
            Raster::new(&corners, step).visit(|p| {
                widest = widest.max(nearest(p.as_vec3(), usize::MAX));
            });
        }
        (least, widest)
    }

    #[test]
    fn surfaces_of_all_kinds_are_covered_evenly() {
        let sliver = |k: u32| [0, k + 1, k + 2];
        let ends = (0..=80).map(|k| Vec3::new(2.0, 0.0, 0.01 * k as f32));
        let fan: Vec<Vec3> = [Vec3::ZERO].into_iter().chain(ends).collect();
        let fan = TriangleMesh::new(&fan, &(0..80).map(sliver).collect::<Vec<_>>()).unwrap();
        for (name, mesh) in [
            ("box", cuboid(Vec3::ZERO, Vec3::new(2.0, 1.53, 1.04))),
            ("a few large triangles", sphere(1.0, 5)),
            ("triangles of a spacing", sphere(1.0, 30)),
            ("many tiny triangles", sphere(1.0, 300)),
            ("thin triangles", fan),
            ("far away", cuboid(Vec3::splat(3e3), Vec3::new(3e3 + 1.0, 3e3 + 1.0, 3e3 + 0.5))),
        ] {
            let samples = mesh.surface_samples(D).unwrap();
            let (closest, gap) = evenness(&mesh, &samples, D);
            assert!(closest > 0.649, "{name}: two samples {closest} spacings apart");
            assert!(gap < 0.75, "{name}: {gap} spacings from the nearest sample");
            let total: f64 = mesh.corners().map(|corners| area(&corners)).sum();
            let each = total / (samples.len() as f64 * f64::from(D) * f64::from(D));
            assert!((0.55..1.0).contains(&each), "{name}: {each} spacings squared a sample");
        }
    }

    #[test]
    fn a_thin_plate_takes_no_more_than_its_larger_side_needs() {
        let sheet = cuboid(Vec3::ZERO, Vec3::new(1.0, 1e-3, 1.0)).surface_samples(D).unwrap();
        assert!((100..170).contains(&sheet.len()), "{}", sheet.len());
        let wire = cuboid(Vec3::ZERO, Vec3::new(1.0, 1e-3, 1e-3)).surface_samples(D).unwrap();
        assert!((11..16).contains(&wire.len()), "{}", wire.len());
        let grain = cuboid(Vec3::ZERO, Vec3::splat(1e-3)).surface_samples(D).unwrap();
        assert_eq!(grain.len(), 1);
    }

    #[test]
    fn corners_and_sharp_edges_have_samples_of_their_own() {
        let samples = cuboid(Vec3::ZERO, Vec3::ONE).surface_samples(D).unwrap();
        for corner in [Vec3::ZERO, Vec3::X, Vec3::ONE] {
            assert!(samples.iter().any(|sample| sample.distance(corner) < 1e-6), "{corner}");
        }
        let on_edge = samples.iter().filter(|sample| sample.x < 1e-6 && sample.y < 1e-6);
        assert_eq!(on_edge.count(), 11);
    }

    #[test]
    fn samples_are_always_the_same() {
        let mesh = sphere(1.0, 20);
        let samples = mesh.surface_samples(D).unwrap();
        assert_eq!(mesh.surface_samples(D).unwrap(), samples);
        // Welding makes a mesh of split vertices the same surface.
        let split: Vec<Vec3> =
            mesh.triangles().iter().flatten().map(|&i| mesh.positions()[i as usize]).collect();
        let own: Vec<[u32; 3]> = (0..mesh.triangles().len() as u32)
            .map(|triangle| [3 * triangle, 3 * triangle + 1, 3 * triangle + 2])
            .collect();
        let count = TriangleMesh::new(&split, &own).unwrap().surface_samples(D).unwrap().len();
        assert!(count.abs_diff(samples.len()) < samples.len() / 20, "{count} {}", samples.len());
    }

    #[test]
    fn sizes_without_measure_are_refused_at_once() {
        let flat = |size: f32| cuboid(Vec3::ZERO, Vec3::new(size, size, D));
        for size in [1e4, 1e6, 1e30] {
            let error = flat(size).surface_samples(D).unwrap_err().to_string();
            assert!(error.contains("allowed is at most"), "{error}");
        }
        assert!(cuboid(Vec3::ZERO, Vec3::new(2e5, 5.0 * D, 5.0 * D)).surface_samples(D).is_err());
        assert!(flat(10.0).surface_samples(D).is_ok());
    }
}
