//! Surfaces sampled at the particle spacing.

use super::mesh_source::MeshSource;
use super::{check_count, parts, scaled_mesh};
use crate::solver::error::FluidError;
use crate::solver::half_space::check_normal;
use crate::solver::vector::Vector;

/// Layers of samples of a solid: together thicker than the support radius of
/// two spacings, so that water inside the surface still feels a full wall.
const SOLID_LAYERS: usize = 3;

/// Distance in spacings between a wall's surface and its first layer of
/// samples. Water that touches the surface, its particles half a spacing away,
/// then lies at 1.1 spacings from the samples, where a one-layer wall and a
/// lattice together have the rest density.
const SURFACE_OFFSET: f64 = 0.6;

/// Which side of a closed boundary is solid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "scene", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "plugin", derive(bevy_reflect::Reflect))]
pub enum Fill {
    /// An obstacle: three layers of samples below the surface, so that fluid
    /// may lie against it from outside.
    #[default]
    Solid,
    /// A vessel: one layer of samples around the surface, so that fluid may
    /// fill it to the surface from inside.
    Container,
    /// One layer of samples exactly on the surface, for fluid on either side
    /// that keeps 1.1 spacings from it.
    Shell,
}

impl Fill {
    /// Where the outermost layer of samples lies: its half size or radius, for
    /// a surface at `extent`, in metres. What is thinner than the offset gets
    /// its samples in the middle.
    fn outermost(self, extent: f64, spacing: f64) -> f64 {
        match self {
            Self::Solid => (extent - SURFACE_OFFSET * spacing).max(0.0),
            Self::Container => extent + SURFACE_OFFSET * spacing,
            Self::Shell => extent,
        }
    }

    fn layers(self) -> usize {
        if self == Self::Solid { SOLID_LAYERS } else { 1 }
    }
}

/// A boundary in its own space, turned into samples at the particle spacing.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "scene", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "scene",
    serde(
        deny_unknown_fields,
        bound(
            serialize = "V: serde::Serialize",
            deserialize = "V: Vector + serde::Deserialize<'de>"
        )
    )
)]
#[cfg_attr(feature = "plugin", derive(bevy_reflect::Reflect))]
pub enum BoundaryShape<V> {
    /// Samples at given points in metres, each finite. Gaps wider than the
    /// particle spacing may leak.
    Points(Vec<V>),
    /// A rectangle or cuboid around the origin, along the axes.
    Box {
        /// Half the extent along each axis in metres, positive.
        half_size: V,
        /// Obstacle or vessel.
        fill: Fill,
    },
    /// A circle or sphere around the origin.
    Ball {
        /// Radius in metres, positive.
        radius: f32,
        /// Obstacle or vessel.
        fill: Fill,
    },
    /// A line through points.
    Polyline {
        /// At least one point, in metres.
        points: Vec<V>,
        /// Whether the last point is joined to the first.
        closed: bool,
    },
    /// Everything behind a plane through the origin is solid: a floor without
    /// end. It has no samples and costs nothing where no water is; water takes
    /// it for a solid that reaches to the surface, as of [`Fill::Solid`].
    HalfSpace {
        /// Direction out of the solid: finite and not zero, of any length.
        normal: V,
    },
    /// A surface in space, closed or open: one layer of samples exactly on it,
    /// for fluid on either side that keeps 1.1 spacings from it.
    Mesh {
        /// Its triangles, in metres.
        mesh: MeshSource,
        /// Factor along each axis, finite and not 0.
        #[cfg_attr(feature = "scene", serde(default = "super::unscaled"))]
        scale: V,
    },
}

impl<V: Vector> BoundaryShape<V> {
    /// Samples at most `spacing` metres apart, always the same ones; none for a
    /// half-space, which is a [`BoundaryPlane`](crate::solver::half_space::BoundaryPlane).
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for a size that is not positive and finite, a
    /// point that is not finite, a polyline without points, a mesh that was not
    /// read or stands in a plane, or a shape that would take more than
    /// [`MAX_SAMPLES`](super::MAX_SAMPLES).
    pub fn samples(&self, spacing: f32) -> Result<Vec<V>, FluidError> {
        match self {
            Self::Points(points) => {
                check_points(points)?;
                Ok(points.clone())
            }
            Self::Box { half_size, fill } => box_samples(*half_size, *fill, spacing),
            Self::Ball { radius, fill } => ball_samples(*radius, *fill, spacing),
            Self::Polyline { points, closed } => polyline_samples(points, *closed, spacing),
            Self::HalfSpace { normal } => {
                check_normal("normal", *normal)?;
                Ok(Vec::new())
            }
            Self::Mesh { mesh, scale } => {
                let samples = scaled_mesh(mesh, *scale)?.surface_samples(spacing)?;
                Ok(samples.into_iter().map(|sample| V::from_array(sample.to_array())).collect())
            }
        }
    }
}

fn check_points<V: Vector>(points: &[V]) -> Result<(), FluidError> {
    match points.iter().position(|point| !point.is_finite()) {
        Some(index) => Err(FluidError::parameter(
            format_args!("points[{index}]"),
            points[index],
            "finite components, m",
        )),
        None => Ok(()),
    }
}

/// The surface points of a lattice in the box, and for a solid the layers below.
fn box_samples<V: Vector>(half_size: V, fill: Fill, spacing: f32) -> Result<Vec<V>, FluidError> {
    let spacing = f64::from(spacing);
    let mut half = half_size.to_array().map(f64::from);
    let mut cells = [0usize; 3];
    let (mut all, mut inner) = (1.0f64, 1.0f64);
    for axis in 0..V::DIM {
        if !(half[axis] > 0.0 && half[axis].is_finite()) {
            return Err(FluidError::parameter("half_size", half_size, "positive and finite, m"));
        }
        half[axis] = fill.outermost(half[axis], spacing);
        let count = if half[axis] > 0.0 { parts(2.0 * half[axis], spacing) } else { 0.0 };
        all *= count + 1.0;
        inner *= (count - 1.0).max(0.0);
        cells[axis] = count.min(f64::from(u32::MAX)) as usize;
    }
    check_count("half_size", all - inner)?;
    let layers = fill.layers();
    let coordinate = |axis: usize, index: usize| {
        let cells = cells[axis].max(1) as f64;
        if axis < V::DIM {
            (2.0 * half[axis] * index as f64 / cells - half[axis]) as f32
        } else {
            0.0
        }
    };
    let outer = |axis: usize, index: usize| {
        axis < V::DIM && (index < layers || index + layers > cells[axis])
    };
    let mut samples = Vec::new();
    for z in 0..=cells[2] {
        for y in 0..=cells[1] {
            let mut push = |x: usize| {
                samples.push(V::from_array([coordinate(0, x), coordinate(1, y), coordinate(2, z)]));
            };
            if outer(1, y) || outer(2, z) || cells[0] < 2 * layers {
                (0..=cells[0]).for_each(&mut push);
            } else {
                (0..layers).for_each(&mut push);
                (cells[0] + 1 - layers..=cells[0]).for_each(&mut push);
            }
        }
    }
    Ok(samples)
}

/// Evenly spaced rings in 2D, spherical Fibonacci spirals in 3D.
fn ball_samples<V: Vector>(radius: f32, fill: Fill, spacing: f32) -> Result<Vec<V>, FluidError> {
    use core::f64::consts::{PI, TAU};
    if !(radius > 0.0 && radius.is_finite()) {
        return Err(FluidError::parameter("radius", radius, "positive and finite, m"));
    }
    let spacing = f64::from(spacing);
    let outermost = fill.outermost(f64::from(radius), spacing);
    let mut samples = Vec::new();
    for layer in 0..fill.layers() {
        let r = outermost - spacing * layer as f64;
        if r < 0.25 * spacing {
            // What is left is a point: the middle, where no layer is near it.
            if layer == 0 || r > -0.5 * spacing {
                samples.push(V::ZERO);
            }
            break;
        }
        if V::DIM == 2 {
            let count = check_count("radius", parts(TAU * r, spacing).max(3.0))?;
            for k in 0..count {
                let (sin, cos) = (TAU * k as f64 / count as f64).sin_cos();
                samples.push(V::from_array([(r * cos) as f32, (r * sin) as f32, 0.0]));
            }
        } else {
            // A sample covers a hexagon of side distance `spacing`.
            let hexagon = spacing * spacing * 0.866;
            let count = check_count("radius", (4.0 * PI * r * r / hexagon).ceil().max(6.0))?;
            let golden = PI * (5f64.sqrt() - 1.0);
            for k in 0..count {
                let height = 1.0 - 2.0 * (k as f64 + 0.5) / count as f64;
                let ring = (1.0 - height * height).sqrt();
                let (sin, cos) = (golden * k as f64).sin_cos();
                samples
                    .push(V::from_array([ring * cos, ring * sin, height].map(|c| (r * c) as f32)));
            }
        }
    }
    Ok(samples)
}

fn polyline_samples<V: Vector>(
    points: &[V],
    closed: bool,
    spacing: f32,
) -> Result<Vec<V>, FluidError> {
    check_points(points)?;
    let Some(&first) = points.first() else {
        return Err(FluidError::parameter("points", points.len(), "at least one point"));
    };
    let mut ends: Vec<V> = points[1..].to_vec();
    if closed && points.len() > 2 {
        ends.push(first);
    }
    let length = |a: V, b: V| f64::from((b - a).length());
    let mut total = 1.0;
    let mut from = first;
    for &to in &ends {
        total += parts(length(from, to), f64::from(spacing));
        from = to;
    }
    check_count("points", total)?;
    let mut samples = vec![first];
    let mut from = first;
    for &to in &ends {
        let count = parts(length(from, to), f64::from(spacing)) as usize;
        if from != to {
            samples.extend((1..=count).map(|k| from + (to - from) * (k as f32 / count as f32)));
        }
        from = to;
    }
    if closed && samples.len() > 1 && samples.last() == samples.first() {
        samples.pop();
    }
    Ok(samples)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy_math::{Vec2, Vec3};

    /// Largest distance from a sample to its nearest neighbour.
    fn widest_gap<V: Vector>(samples: &[V]) -> f32 {
        samples
            .iter()
            .map(|a| {
                let others = samples.iter().filter(|b| *b != a);
                others.map(|b| (*a - *b).length()).fold(f32::INFINITY, f32::min)
            })
            .fold(0.0, f32::max)
    }

    #[test]
    fn shell_is_one_closed_layer_at_the_spacing() {
        let shape = BoundaryShape::Box { half_size: Vec2::new(0.7, 0.75), fill: Fill::Shell };
        let samples = shape.samples(0.05).unwrap();
        assert_eq!(samples.len(), 2 * (28 + 30));
        assert!(widest_gap(&samples) <= 0.050_01);
        let cube = BoundaryShape::Box { half_size: Vec3::splat(0.2), fill: Fill::Shell };
        assert_eq!(cube.samples(0.1).unwrap().len(), 5 * 5 * 5 - 3 * 3 * 3);
    }

    #[test]
    fn solid_has_three_layers() {
        let shape = BoundaryShape::Box { half_size: Vec2::splat(0.56), fill: Fill::Solid };
        assert_eq!(shape.samples(0.1).unwrap().len(), 11 * 11 - 5 * 5);
        let thin = BoundaryShape::Box { half_size: Vec2::new(0.56, 0.04), fill: Fill::Solid };
        assert_eq!(thin.samples(0.1).unwrap().len(), 11);
        let stone = BoundaryShape::<Vec3>::Ball { radius: 0.02, fill: Fill::Solid };
        assert_eq!(stone.samples(0.1).unwrap(), [Vec3::ZERO]);
    }

    #[test]
    fn fluid_against_a_surface_keeps_its_distance_from_the_samples() {
        let half_size = Vec2::splat(0.5);
        let extent = |fill: Fill| {
            let samples = BoundaryShape::Box { half_size, fill }.samples(0.05).unwrap();
            samples.iter().map(|s| s.x).fold(0.0, f32::max)
        };
        assert!((extent(Fill::Container) - 0.53).abs() < 1e-6);
        assert!((extent(Fill::Solid) - 0.47).abs() < 1e-6);
        assert!((extent(Fill::Shell) - 0.5).abs() < 1e-6);
    }

    #[test]
    fn balls_lie_on_their_surface_without_gaps() {
        let ring = BoundaryShape::<Vec2>::Ball { radius: 0.5, fill: Fill::Shell };
        let samples = ring.samples(0.05).unwrap();
        assert!(widest_gap(&samples) <= 0.05);
        assert!(samples.iter().all(|s| (Vector::length(*s) - 0.5).abs() < 1e-6));
        let sphere = BoundaryShape::<Vec3>::Ball { radius: 0.5, fill: Fill::Shell };
        let samples = sphere.samples(0.05).unwrap();
        assert!(widest_gap(&samples) <= 0.055);
        assert!(samples.iter().all(|s| (Vector::length(*s) - 0.5).abs() < 1e-6));
    }

    #[test]
    fn polyline_keeps_its_corners_once() {
        let corners = vec![Vec2::ZERO, Vec2::X, Vec2::ONE];
        let open = BoundaryShape::Polyline { points: corners.clone(), closed: false };
        assert_eq!(open.samples(0.25).unwrap().len(), 9);
        let closed = BoundaryShape::Polyline { points: corners, closed: true };
        let samples = closed.samples(0.25).unwrap();
        assert_eq!(samples.len(), 14);
        assert!(widest_gap(&samples) > 0.0);
        let dot = BoundaryShape::Polyline { points: vec![Vec2::ONE; 3], closed: true };
        assert_eq!(dot.samples(0.1).unwrap().len(), 1);
    }

    #[test]
    fn impossible_shapes_are_refused() {
        let half = |x: f32| BoundaryShape::Box { half_size: Vec2::new(x, 1.0), fill: Fill::Solid };
        for bad in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            assert!(half(bad).samples(0.1).is_err(), "{bad}");
            let ball = BoundaryShape::<Vec3>::Ball { radius: bad, fill: Fill::Solid };
            assert!(ball.samples(0.1).is_err(), "{bad}");
        }
        let error = half(1e7).samples(0.05).unwrap_err().to_string();
        assert!(error.contains("at most"), "{error}");
        assert!(half(1.0).samples(0.1).is_ok());
        let none = BoundaryShape::<Vec2>::Polyline { points: vec![], closed: true };
        assert!(none.samples(0.1).is_err());
        assert!(BoundaryShape::Points(vec![Vec2::NAN]).samples(0.1).is_err());
        assert_eq!(BoundaryShape::<Vec2>::Points(vec![]).samples(0.1).unwrap(), []);
    }
}
