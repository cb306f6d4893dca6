//! Borders at which space repeats itself.

use super::error::FluidError;
use super::vector::Vector;

/// Fewest support radii from border to border: fewer, and a particle could see
/// another from both sides.
const LEAST_SUPPORTS: f32 = 4.01;

/// Periodic borders: for each axis the lower and the upper end in metres, what
/// leaves by one enters by the other, or `None` where space goes on.
///
/// The neighbours of a particle beside a border are those behind the other one.
/// Flows without beginning or end fit into them: channels, Taylor-Green
/// vortices, a cut out of an endless sea.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "scene", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "scene", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "plugin", derive(bevy_reflect::Reflect))]
pub struct Periodic {
    /// Borders across x.
    pub x: Option<(f32, f32)>,
    /// Borders across y.
    pub y: Option<(f32, f32)>,
    /// Borders across z, in space only.
    pub z: Option<(f32, f32)>,
}

impl Periodic {
    /// No borders: space goes on everywhere.
    pub const NONE: Self = Self { x: None, y: None, z: None };

    /// Whether there are none.
    #[inline(always)]
    pub fn is_none(&self) -> bool {
        self.x.is_none() && self.y.is_none() && self.z.is_none()
    }

    /// Whether space repeats itself along each of the first `axes` axes.
    pub(crate) fn is_everywhere(&self, axes: usize) -> bool {
        self.axes()[..axes].iter().all(Option::is_some)
    }

    fn axes(&self) -> [Option<(f32, f32)>; 3] {
        [self.x, self.y, self.z]
    }

    /// Checks the borders of a world of particles with a support radius in metres.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for borders that are not finite, are closer
    /// than four support radii, or are across z in the plane.
    pub fn validate<V: Vector>(&self, support_radius: f32) -> Result<(), FluidError> {
        for (axis, name) in ["periodic.x", "periodic.y", "periodic.z"].into_iter().enumerate() {
            let Some((low, high)) = self.axes()[axis] else { continue };
            if axis >= V::DIM {
                return Err(FluidError::parameter(name, high, "None in the plane"));
            }
            let least = LEAST_SUPPORTS * support_radius;
            // Coarser than this, and positions beside a border have no digits left.
            let fine = low.abs().max(high.abs()) <= 1e4 * (high - low);
            if !(high - low).is_finite() || high - low < least || !fine {
                return Err(FluidError::parameter(
                    name,
                    format_args!("({low:?}, {high:?})"),
                    format_args!(
                        "finite ends at least {least} m apart (4.01 support radii), not more than 1e4 periods from zero"
                    ),
                ));
            }
        }
        Ok(())
    }

    /// A position within the borders.
    #[inline]
    pub(crate) fn wrap<V: Vector>(&self, position: V) -> V {
        let mut components = position.to_array();
        for (component, ends) in components.iter_mut().zip(self.axes()) {
            let Some((low, high)) = ends else { continue };
            if *component >= low && *component < high {
                continue;
            }
            let period = high - low;
            let inside = *component - period * ((*component - low) / period).floor();
            // By rounding it can still be outside.
            *component = if inside >= low && inside < high { inside } else { low };
        }
        V::from_array(components)
    }

    /// The shortest of an offset between two wrapped positions and its images.
    #[inline(always)]
    pub(crate) fn offset<V: Vector>(&self, offset: V) -> V {
        if self.is_none() { offset } else { self.shortest(offset) }
    }

    fn shortest<V: Vector>(&self, offset: V) -> V {
        let mut components = offset.to_array();
        for (component, ends) in components.iter_mut().zip(self.axes()) {
            if let Some((low, high)) = ends {
                // The opposite offset gives the opposite, bit for bit.
                *component -= (high - low) * (*component / (high - low)).round();
            }
        }
        V::from_array(components)
    }

    /// Calls `visit` with a wrapped position and its images beyond the borders
    /// that are within `reach` metres of it.
    pub(crate) fn for_each_image<V: Vector>(
        &self,
        position: V,
        reach: f32,
        mut visit: impl FnMut(V),
    ) {
        let mut shifts = [0.0f32; 3];
        let components = position.to_array();
        for (axis, ends) in self.axes().into_iter().enumerate() {
            if let Some((low, high)) = ends {
                if components[axis] - low < reach {
                    shifts[axis] = high - low;
                } else if high - components[axis] < reach {
                    shifts[axis] = low - high;
                }
            }
        }
        for image in 0..8u32 {
            let moved = |axis: usize| image & 1 << axis != 0;
            if (0..3).all(|axis| !moved(axis) || shifts[axis] != 0.0) {
                let along = |axis: usize| if moved(axis) { shifts[axis] } else { 0.0 };
                visit(position + V::from_array([along(0), along(1), along(2)]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy_math::{Vec2, Vec3};

    const BOX: Periodic = Periodic { x: Some((-1.0, 2.0)), y: None, z: Some((0.0, 1.0)) };

    #[test]
    fn positions_come_back_by_the_other_border() {
        for (x, expected) in [(-1.0, -1.0), (2.0, -1.0), (2.5, -0.5), (-1.5, 1.5), (31.0, 1.0)] {
            let wrapped = BOX.wrap(Vec3::new(x, 7.0, 0.5));
            assert!((wrapped - Vec3::new(expected, 7.0, 0.5)).length() < 1e-5, "{x}: {wrapped}");
        }
        for x in [-1e-9 - 1.0, 1e30, f32::MAX, f32::MIN] {
            let wrapped = BOX.wrap(Vec3::splat(x));
            assert!(wrapped.x >= -1.0 && wrapped.x < 2.0 && wrapped.y == x, "{x}: {wrapped}");
        }
    }

    #[test]
    fn offsets_are_the_shortest_and_opposite_ones_are_opposite() {
        let offset = BOX.offset(Vec3::new(2.9, 9.0, -0.9));
        assert!((offset - Vec3::new(-0.1, 9.0, 0.1)).length() < 1e-6, "{offset}");
        assert_eq!(BOX.offset(Vec3::new(-2.9, -9.0, 0.9)), -offset);
    }

    #[test]
    fn images_are_beyond_the_borders_that_are_near() {
        let images = |x: Vec3| {
            let mut all = Vec::new();
            BOX.for_each_image(x, 0.2, |image| all.push(image));
            all
        };
        assert_eq!(images(Vec3::new(0.0, 0.0, 0.5)).len(), 1);
        assert_eq!(images(Vec3::new(-0.9, 0.0, 0.5)).len(), 2);
        let corner = images(Vec3::new(1.9, 5.0, 0.1));
        assert_eq!(corner.len(), 4);
        assert!(corner.iter().any(|x| (*x - Vec3::new(-1.1, 5.0, 1.1)).length() < 1e-6));
    }

    #[test]
    fn borders_that_cannot_be_are_refused() {
        let x = |low: f32, high: f32| Periodic { x: Some((low, high)), ..Periodic::NONE };
        for bad in [x(0.0, 0.3), x(1.0, 0.0), x(0.0, f32::NAN), x(0.0, f32::INFINITY), x(1e9, 2e9)]
        {
            let error = bad.validate::<Vec2>(0.1);
            if bad == x(1e9, 2e9) {
                assert!(error.is_ok());
            } else {
                assert!(error.unwrap_err().to_string().starts_with("periodic.x is ("));
            }
        }
        assert!(x(1e6, 1e6 + 1.0).validate::<Vec2>(0.1).is_err());
        assert!(BOX.validate::<Vec2>(0.1).unwrap_err().to_string().starts_with("periodic.z"));
        assert!(BOX.validate::<Vec3>(0.1).is_ok());
        assert!(x(0.0, 0.5).validate::<Vec2>(0.1).is_ok());
    }
}
