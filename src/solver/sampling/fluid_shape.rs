//! Volumes filled with particles on a regular grid.

use super::mesh_source::MeshSource;
use super::{check_count, scaled_mesh};
use crate::solver::error::FluidError;
use crate::solver::vector::Vector;

/// A volume that is filled with particles, one per cube of the spacing.
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
pub enum FluidShape<V> {
    /// A box along the axes. Each axis holds the whole number of particles
    /// nearest to its size over the spacing.
    Block {
        /// Lowest corner in metres: the first particle lies a radius inside it.
        min: V,
        /// Extent along each axis in metres, not negative.
        size: V,
    },
    /// A circle or sphere: the grid points around its centre that lie inside.
    Ball {
        /// Centre in metres.
        center: V,
        /// Radius in metres, not negative.
        radius: f32,
    },
    /// A closed mesh in space: the points of a regular grid that lie inside.
    Mesh {
        /// Its triangles, in metres.
        mesh: MeshSource,
        /// Where the mesh's origin is, in metres.
        #[cfg_attr(feature = "scene", serde(default))]
        position: V,
        /// Factor along each axis, finite and not 0.
        #[cfg_attr(feature = "scene", serde(default = "super::unscaled"))]
        scale: V,
    },
}

impl<V: Vector> FluidShape<V> {
    /// Particle positions at the spacing of `particle_radius` metres; x runs
    /// fastest.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for a position that is not finite, a negative
    /// or non-finite size, a mesh that is open, was not read or stands in a
    /// plane, or a shape that would take more than
    /// [`MAX_SAMPLES`](super::MAX_SAMPLES).
    pub fn positions(&self, particle_radius: f32) -> Result<Vec<V>, FluidError> {
        let spacing = 2.0 * f64::from(particle_radius);
        match *self {
            Self::Mesh { ref mesh, position, scale } => {
                check_position("position", position)?;
                let points = scaled_mesh(mesh, scale)?.volume_points(spacing as f32)?;
                Ok(points.iter().map(|point| position + V::from_array(point.to_array())).collect())
            }
            Self::Block { min, size } => {
                check_position("min", min)?;
                let mut counts = [1.0f64; 3];
                for (count, extent) in counts.iter_mut().zip(size.to_array()).take(V::DIM) {
                    if !(extent >= 0.0 && extent.is_finite()) {
                        return Err(FluidError::parameter("size", size, "0 or more, finite, m"));
                    }
                    *count = (f64::from(extent) / spacing).round();
                }
                check_count("size", counts.iter().product())?;
                let first = min.to_array().map(|c| f64::from(c) + 0.5 * spacing);
                Ok(lattice(first, counts, spacing).collect())
            }
            Self::Ball { center, radius } => {
                check_position("center", center)?;
                if !(radius >= 0.0 && radius.is_finite()) {
                    return Err(FluidError::parameter("radius", radius, "0 or more, finite, m"));
                }
                let half = (f64::from(radius) / spacing).floor();
                let mut counts = [1.0f64; 3];
                counts[..V::DIM].fill(2.0 * half + 1.0);
                check_count("radius", counts.iter().product())?;
                let mut first = center.to_array().map(f64::from);
                first[..V::DIM].iter_mut().for_each(|c| *c -= half * spacing);
                Ok(lattice(first, counts, spacing)
                    .filter(|x: &V| (*x - center).length() <= radius * (1.0 + 1e-6))
                    .collect())
            }
        }
    }
}

fn check_position<V: Vector>(name: &str, position: V) -> Result<(), FluidError> {
    if position.is_finite() {
        Ok(())
    } else {
        Err(FluidError::parameter(name, position, "finite components, m"))
    }
}

/// The points of a lattice, in f64 so that far ones keep their spacing.
fn lattice<V: Vector>(first: [f64; 3], counts: [f64; 3], spacing: f64) -> impl Iterator<Item = V> {
    let [columns, rows, layers] = counts.map(|count| count as u32);
    (0..layers).flat_map(move |k| {
        (0..rows).flat_map(move |i| {
            (0..columns).map(move |j| {
                let at =
                    |axis: usize, index: u32| (first[axis] + f64::from(index) * spacing) as f32;
                V::from_array([at(0, j), at(1, i), at(2, k)])
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy_math::{Vec2, Vec3};

    #[test]
    fn block_is_centered_in_its_cells() {
        let block = FluidShape::Block { min: Vec2::new(-1.0, 0.0), size: Vec2::new(0.15, 0.1) };
        let positions = block.positions(0.025).unwrap();
        assert_eq!(positions.len(), 6);
        assert!(Vector::length(positions[0] - Vec2::new(-0.975, 0.025)) < 1e-6);
        assert!(Vector::length(positions[5] - Vec2::new(-0.875, 0.075)) < 1e-6);
    }

    #[test]
    fn ball_fills_its_volume() {
        let ball = FluidShape::Ball { center: Vec3::ONE, radius: 0.5 };
        let count = ball.positions(0.025).unwrap().len() as f32;
        let expected = 4.0 / 3.0 * core::f32::consts::PI * 1000.0;
        assert!((count / expected - 1.0).abs() < 0.02, "{count}");
    }

    #[test]
    fn impossible_shapes_are_refused_and_empty_ones_are_empty() {
        for bad in [-1.0, f32::NAN, f32::INFINITY, 1e9] {
            let block = FluidShape::Block { min: Vec2::ZERO, size: Vec2::splat(bad) };
            assert!(block.positions(0.025).is_err(), "{bad}");
            let ball = FluidShape::Ball { center: Vec3::ZERO, radius: bad };
            assert!(ball.positions(0.025).is_err(), "{bad}");
        }
        let block = FluidShape::Block { min: Vec2::NAN, size: Vec2::ONE };
        assert!(block.positions(0.025).is_err());
        let block = FluidShape::Block { min: Vec2::ZERO, size: Vec2::new(0.0, 1.0) };
        assert_eq!(block.positions(0.025).unwrap(), []);
    }
}
