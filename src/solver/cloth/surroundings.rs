//! What a cloth meets.

use super::collision::Collider;
use crate::solver::error::FluidError;
use crate::solver::vector::Vector;

/// Fastest wind in m/s.
const MAX_WIND: f32 = 1e6;

/// The world around a cloth in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surroundings<'a, V> {
    /// Gravity in m/s², any finite vector.
    pub gravity: V,
    /// Velocity of the air in m/s, up to 1e6.
    pub wind: V,
    /// What the cloth cannot enter.
    pub colliders: &'a [Collider<V>],
}

impl<V: Vector> Default for Surroundings<'_, V> {
    fn default() -> Self {
        Self { gravity: V::from_array([0.0, -9.81, 0.0]), wind: V::ZERO, colliders: &[] }
    }
}

impl<V: Vector> Surroundings<'_, V> {
    /// Checks every value against its range.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for the first one outside.
    pub fn validate(&self) -> Result<(), FluidError> {
        if !self.gravity.is_finite() {
            return Err(FluidError::parameter("gravity", self.gravity, "finite components, m/s^2"));
        }
        if !(self.wind.is_finite() && self.wind.length() <= MAX_WIND) {
            return Err(FluidError::parameter("wind", self.wind, "up to 1e6 m/s"));
        }
        for (index, collider) in self.colliders.iter().enumerate() {
            let valid = collider.validate();
            valid.map_err(|error| error.within(format_args!("colliders[{index}]")))?;
        }
        Ok(())
    }
}
