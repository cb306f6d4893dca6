//! What a cloth meets.

use super::collision::Collider;
use crate::solver::error::FluidError;
use crate::solver::vector::Vector;

/// Fastest wind in m/s.
const MAX_WIND: f32 = 1e6;

/// How the air moves from place to place, beside a wind that is the same everywhere.
#[derive(Clone, Copy)]
pub struct AirFlow<'a, V>(Option<&'a (dyn Fn(V) -> V + Sync)>);

impl<'a, V: Vector> AirFlow<'a, V> {
    /// Air that does not move by itself.
    pub const STILL: Self = Self(None);

    /// Air whose velocity in m/s is a function of the position in metres. What is
    /// not finite counts as still; no component gets beyond 1e6 m/s.
    pub fn new(velocity: &'a (dyn Fn(V) -> V + Sync)) -> Self {
        Self(Some(velocity))
    }

    /// Its velocity at a position in m/s.
    #[inline(always)]
    pub(super) fn at(&self, position: V) -> V {
        let Some(velocity) = self.0 else { return V::ZERO };
        let velocity = velocity(position);
        if !velocity.is_finite() {
            return V::ZERO;
        }
        let largest = velocity.to_array().into_iter().fold(0.0f32, |a, b| a.max(b.abs()));
        if largest > MAX_WIND { velocity * (MAX_WIND / largest) } else { velocity }
    }
}

impl<V> core::fmt::Debug for AirFlow<'_, V> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(if self.0.is_some() { "AirFlow(moving)" } else { "AirFlow(still)" })
    }
}

/// The world around a cloth in a step.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a, V> {
    /// Gravity in m/s², any finite vector.
    pub gravity: V,
    /// Velocity of the air in m/s, up to 1e6.
    pub wind: V,
    /// Velocity of the air from place to place, which adds to the wind.
    pub flow: AirFlow<'a, V>,
    /// What the cloth cannot enter.
    pub colliders: &'a [Collider<V>],
}

impl<V: Vector> Default for Surroundings<'_, V> {
    fn default() -> Self {
        Self {
            gravity: V::from_array([0.0, -9.81, 0.0]),
            wind: V::ZERO,
            flow: AirFlow::STILL,
            colliders: &[],
        }
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
