//! Distances to be kept.

use super::settings::{ClothScheme, ClothSettings};
use crate::solver::error::FluidError;
use crate::solver::vector::Vector;

/// Length in seconds of the substep that stiffnesses are given for.
const STIFFNESS_STEP: f32 = 1.0 / 1200.0;

/// What a constraint stands for; each kind has a stiffness in [`ClothSettings`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "scene", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "plugin", derive(bevy_reflect::Reflect))]
pub enum ConstraintKind {
    /// A thread, a link of a rope.
    #[default]
    Stretch,
    /// A diagonal of a cell of threads. In space it only pulls, but under the
    /// scheme [`Reference`](ClothScheme::Reference).
    Shear,
    /// Across two links or two triangles: what keeps the angle between them, by
    /// [`bend_stiffness`](ClothSettings::bend_stiffness). The distance counts
    /// under the scheme [`Reference`](ClothScheme::Reference) alone.
    Bend,
}

impl ConstraintKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Stretch, Self::Shear, Self::Bend];

    /// 1 where shortening is resisted too, 0 where only stretching is: in
    /// space a diagonal buckles, or no cloth could drape.
    pub(super) fn push<V: Vector>(self) -> f32 {
        f32::from(V::DIM == 2 || self != Self::Shear)
    }
}

/// Keeps two particles of a cloth at a distance.
///
/// Its stiffness is the product of its own and the kind's. 1 is rigid; below,
/// a substep of 1/1200 s takes back this fraction of the error, and shorter
/// ones as much less as a spring would (compliance as in Macklin et al. 2016,
/// relative to the masses), so that the material does not depend on the substeps.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "scene", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "scene", serde(deny_unknown_fields))]
#[cfg_attr(feature = "plugin", derive(bevy_reflect::Reflect))]
pub struct DistanceConstraint {
    /// One particle; an index out of range is refused by the next step.
    pub a: u32,
    /// The other particle, not the same one.
    pub b: u32,
    /// Distance in metres, positive and finite.
    pub rest_length: f32,
    /// Stiffness from 0 to 1.
    #[cfg_attr(feature = "scene", serde(default = "rigid"))]
    pub stiffness: f32,
    /// What it stands for.
    #[cfg_attr(feature = "scene", serde(default))]
    pub kind: ConstraintKind,
}

#[cfg(feature = "scene")]
fn rigid() -> f32 {
    1.0
}

impl DistanceConstraint {
    /// A rigid link of a rope or chain.
    pub fn link(a: u32, b: u32, rest_length: f32) -> Self {
        Self { a, b, rest_length, stiffness: 1.0, kind: ConstraintKind::Stretch }
    }

    /// Checks the constraint for a cloth of `particles` particles.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for an index or a value out of range.
    pub fn validate(&self, particles: usize) -> Result<(), FluidError> {
        for (name, index) in [("a", self.a), ("b", self.b)] {
            if index as usize >= particles {
                let allowed = format_args!("an index below {particles}").to_string();
                return Err(FluidError::parameter(name, index, allowed));
            }
        }
        if self.a == self.b {
            return Err(FluidError::parameter("b", self.b, "another particle than a"));
        }
        if !(self.rest_length > 0.0 && self.rest_length.is_finite()) {
            return Err(FluidError::parameter("rest_length", self.rest_length, "above 0 m"));
        }
        if !(0.0..=1.0).contains(&self.stiffness) {
            return Err(FluidError::parameter("stiffness", self.stiffness, "0 to 1"));
        }
        Ok(())
    }

    /// Stiffness at the given settings: 1 is rigid.
    pub fn total_stiffness(&self, settings: &ClothSettings) -> f32 {
        if settings.scheme == ClothScheme::Reference {
            return 1.0;
        }
        self.stiffness * settings.stiffness(self.kind)
    }
}

impl ClothSettings {
    /// Stiffness of a kind of constraint; against bending the flexural rigidity.
    pub fn stiffness(&self, kind: ConstraintKind) -> f32 {
        match kind {
            ConstraintKind::Stretch => self.stretch_stiffness,
            ConstraintKind::Shear => self.shear_stiffness,
            ConstraintKind::Bend => self.bend_stiffness,
        }
    }
}

/// The fraction of an error that one of `sweeps` projections in a substep of
/// `h` seconds takes back.
pub(super) fn fraction_per_sweep(stiffness: f32, h: f32, sweeps: u32) -> f32 {
    if stiffness >= 1.0 || stiffness <= 0.0 {
        return stiffness.clamp(0.0, 1.0);
    }
    let ratio = STIFFNESS_STEP / h;
    let whole = 1.0 / (1.0 + ratio * ratio * (1.0 / stiffness - 1.0));
    // All sweeps together take back the whole.
    1.0 - (1.0 - whole).powf(1.0 / sweeps as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stiffness_is_that_of_a_spring_whatever_the_substep() {
        let rate = |h: f32, sweeps| {
            let kept = 1.0 - fraction_per_sweep(1e-4, h, sweeps);
            (1.0 - kept.powi(sweeps as i32)) / (h * h)
        };
        let expected = 1e-4 * 1200.0 * 1200.0;
        for (h, sweeps) in [(1.0 / 1200.0, 1), (1.0 / 1200.0, 2), (1.0 / 600.0, 1), (1e-4, 2)] {
            assert!((rate(h, sweeps) / expected - 1.0).abs() < 0.02, "{}", rate(h, sweeps));
        }
        assert_eq!(fraction_per_sweep(1.0, 0.1, 2), 1.0);
        assert_eq!(fraction_per_sweep(0.0, 0.1, 2), 0.0);
    }
}
