//! Regions in which particles are taken out of a world.

use super::error::FluidError;
use super::vector::Vector;

/// A region that removes the particles in it: the end of a channel, the hole
/// in a basin, or everything that fell off the edge of the world.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "scene", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "scene",
    serde(
        deny_unknown_fields,
        bound(
            serialize = "V: Vector + serde::Serialize",
            deserialize = "V: Vector + serde::Deserialize<'de>"
        )
    )
)]
#[cfg_attr(feature = "plugin", derive(bevy_reflect::Reflect))]
pub struct FluidDrain<V> {
    /// The region, around its own origin.
    pub shape: DrainShape<V>,
    /// Where that origin is, in metres.
    #[cfg_attr(feature = "scene", serde(default))]
    pub position: V,
}

/// The region of a [`FluidDrain`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "scene", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "scene",
    serde(
        deny_unknown_fields,
        bound(serialize = "V: serde::Serialize", deserialize = "V: serde::Deserialize<'de>")
    )
)]
#[cfg_attr(feature = "plugin", derive(bevy_reflect::Reflect))]
pub enum DrainShape<V> {
    /// A rectangle or cuboid along the axes.
    Box {
        /// Half the extent along each axis in metres, positive and finite.
        half_size: V,
    },
    /// A circle or sphere.
    Ball {
        /// Radius in metres, positive and finite.
        radius: f32,
    },
    /// Everything behind a plane through the origin.
    HalfSpace {
        /// Direction out of the region: finite and not zero, of any length.
        normal: V,
    },
}

impl<V: Vector> FluidDrain<V> {
    /// Checks every value against its range.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for the first one outside.
    pub fn validate(&self) -> Result<(), FluidError> {
        if !self.position.is_finite() {
            return Err(FluidError::parameter("position", self.position, "finite components, m"));
        }
        match self.shape {
            DrainShape::Box { half_size } => {
                let positive = half_size.to_array()[..V::DIM].iter().all(|&half| half > 0.0);
                if !(positive && half_size.is_finite()) {
                    let allowed = "positive and finite, m";
                    return Err(FluidError::parameter("shape.half_size", half_size, allowed));
                }
            }
            DrainShape::Ball { radius } => {
                if !(radius > 0.0 && radius.is_finite()) {
                    let allowed = "positive and finite, m";
                    return Err(FluidError::parameter("shape.radius", radius, allowed));
                }
            }
            DrainShape::HalfSpace { normal } => {
                super::half_space::check_normal("shape.normal", normal)?;
            }
        }
        Ok(())
    }

    /// Whether it removes a particle at a position in metres.
    pub fn contains(&self, position: V) -> bool {
        let offset = position - self.position;
        match self.shape {
            DrainShape::Box { half_size } => {
                let (offset, half) = (offset.to_array(), half_size.to_array());
                (0..V::DIM).all(|axis| offset[axis].abs() <= half[axis])
            }
            DrainShape::Ball { radius } => offset.length() <= radius,
            DrainShape::HalfSpace { normal } => offset.dot(normal) < 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy_math::Vec2;

    #[test]
    fn region_is_what_its_shape_says() {
        let at = |shape| FluidDrain { shape, position: Vec2::new(1.0, 0.0) };
        let cases = [
            (DrainShape::Box { half_size: Vec2::new(0.5, 0.1) }, [0.6, 0.05], [0.6, 0.2]),
            (DrainShape::Ball { radius: 0.5 }, [0.6, 0.2], [0.6, 0.4]),
            (DrainShape::HalfSpace { normal: Vec2::new(3.0, 3.0) }, [-9.0, 9.0], [0.5, 0.7]),
        ];
        for (shape, inside, outside) in cases {
            assert!(at(shape).validate().is_ok());
            assert!(at(shape).contains(Vec2::from(inside)), "{shape:?}");
            assert!(!at(shape).contains(Vec2::from(outside)), "{shape:?}");
        }
    }

    #[test]
    fn regions_that_cannot_be_are_refused_by_name() {
        let refused = |shape, position| {
            let error = FluidDrain { shape, position }.validate().unwrap_err().to_string();
            error.split(' ').next().map(str::to_owned)
        };
        let at = Vec2::ZERO;
        for bad in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            let half_size = Vec2::new(1.0, bad);
            let name = refused(DrainShape::Box { half_size }, at);
            assert_eq!(name.as_deref(), Some("shape.half_size"));
            let name = refused(DrainShape::Ball { radius: bad }, at);
            assert_eq!(name.as_deref(), Some("shape.radius"));
        }
        for normal in [Vec2::ZERO, Vec2::NAN] {
            let name = refused(DrainShape::HalfSpace { normal }, at);
            assert_eq!(name.as_deref(), Some("shape.normal"));
        }
        let name = refused(DrainShape::Ball { radius: 1.0 }, Vec2::NAN);
        assert_eq!(name.as_deref(), Some("position"));
    }
}
