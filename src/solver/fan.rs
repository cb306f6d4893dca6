//! Fans: streams that water, cloth and smoke all feel.

use super::error::FluidError;
use super::vector::Vector;

/// Fastest stream in m/s.
const MAX_SPEED: f32 = 1e4;

/// A fan: a stream along an axis, strongest in the middle of its opening.
///
/// At a distance a along the axis and r from it the stream has the part
/// (1 - r²/R²)² (1 - a²/L²)² of its strength, with the radius R and the reach L;
/// there is none beyond them and none behind the opening.
///
/// What it does to water and smoke: their velocity v approaches that of the stream
/// by dv/dt = rate (speed - v), where the rate is [`Fan::response`] times that part.
/// To cloth it is a wind of that part of its speed.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "scene", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "scene", serde(deny_unknown_fields))]
#[cfg_attr(feature = "plugin", derive(bevy_reflect::Reflect))]
pub struct Fan<V> {
    /// Middle of its opening in metres, any finite vector.
    pub position: V,
    /// Direction of its stream, a finite vector that is not zero; its length does not matter.
    pub direction: V,
    /// Radius of its stream in metres, positive.
    pub radius: f32,
    /// Length of its stream in metres, positive.
    pub reach: f32,
    /// Speed of its stream in m/s, 0 to 1e4.
    pub speed: f32,
    /// Rate at which water and smoke in the middle of its opening approach its
    /// speed in 1/s, 0 to 1e4; in scenes 5 where it is left out.
    #[cfg_attr(feature = "scene", serde(default = "response"))]
    pub response: f32,
}

#[cfg(feature = "scene")]
fn response() -> f32 {
    5.0
}

impl<V: Vector> Fan<V> {
    /// Checks every value against its range.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for the first one outside.
    pub fn validate(&self) -> Result<(), FluidError> {
        if !self.position.is_finite() {
            return Err(FluidError::parameter("position", self.position, "finite components, m"));
        }
        if self.axis() == V::ZERO {
            let allowed = "finite components, not all of them zero";
            return Err(FluidError::parameter("direction", self.direction, allowed));
        }
        for (name, length) in [("radius", self.radius), ("reach", self.reach)] {
            if !(length > 0.0 && length.is_finite()) {
                return Err(FluidError::parameter(name, length, "positive and finite, m"));
            }
        }
        if !(0.0..=MAX_SPEED).contains(&self.speed) {
            return Err(FluidError::parameter("speed", self.speed, "0 to 1e4 m/s"));
        }
        if !(0.0..=MAX_SPEED).contains(&self.response) {
            return Err(FluidError::parameter("response", self.response, "0 to 1e4 1/s"));
        }
        Ok(())
    }

    /// Checks a list of them, which errors call `fans`.
    pub(crate) fn validate_all(fans: &[Self]) -> Result<(), FluidError> {
        fans.iter().enumerate().try_for_each(|(index, fan)| {
            fan.validate().map_err(|error| error.within(format_args!("fans[{index}]")))
        })
    }

    /// The direction as a unit vector; zero if it has none.
    fn axis(&self) -> V {
        // So that the squares neither vanish nor overflow.
        let largest = self.direction.to_array().into_iter().fold(0.0f32, |a, b| a.max(b.abs()));
        let scaled = self.direction * (1.0 / largest);
        let unit = scaled * (1.0 / scaled.length());
        if self.direction.is_finite() && unit.is_finite() { unit } else { V::ZERO }
    }

    /// The part of its strength that the stream has at a position, 0 to 1.
    fn part(&self, axis: V, position: V) -> f32 {
        let way = position - self.position;
        let along = way.dot(axis);
        let across = (way - axis * along).length() / self.radius;
        let along = along / self.reach;
        if (0.0..1.0).contains(&along) && across < 1.0 {
            ((1.0 - across * across) * (1.0 - along * along)).powi(2)
        } else {
            0.0
        }
    }

    /// Velocity of the stream at a position in m/s.
    pub fn stream(&self, position: V) -> V {
        let axis = self.axis();
        axis * (self.speed * self.part(axis, position))
    }

    /// Change in m/s of the velocity of water or smoke at a position in `dt` seconds.
    pub fn change(&self, position: V, velocity: V, dt: f32) -> V {
        let axis = self.axis();
        let rate = self.response * self.part(axis, position);
        (axis * self.speed - velocity) * -(-rate * dt).exp_m1()
    }

    /// Two opposite corners of a box along the axes around its stream.
    pub(crate) fn bounds(&self) -> [V; 2] {
        let end = self.position + self.axis() * self.reach;
        let radius = V::splat(self.radius);
        [self.position.min(end) - radius, self.position.max(end) + radius]
    }
}
