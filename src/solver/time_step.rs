//! How a stretch of time is cut into steps.

use super::error::FluidError;
use super::settings::FluidMethod;

/// Most substeps that an adaptive tick is ever cut into.
const MAX_SUBSTEPS: f32 = 1000.0;

/// The shortest step of all, in seconds.
const SHORTEST: f32 = 1e-6;

/// The rule for the length of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "scene", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "plugin", derive(bevy_reflect::Reflect))]
pub enum TimeStep {
    /// Every step lasts this many seconds: 1e-6 to 1 s. Time that does not
    /// fill a step is kept for the next tick.
    ///
    /// In steps in which the fastest water crosses more than a spacing or so, water can
    /// collapse into a point: a breaking dam of 100 layers, 12 m/s fast, at spacings of
    /// 5 cm does so in steps of 8 ms, and in steps of 5 ms where densities are corrected
    /// by positions.
    Fixed(f32),
    /// Each tick is cut into equal steps, as few as the CFL condition allows:
    /// dt <= cfl d / max(|v|, sqrt(p/rho0)), d the particle spacing. The pressure
    /// counts because deep water leaks through its floor in steps that are too
    /// long, still as it may be.
    Adaptive {
        /// Shortest step in seconds, 1e-6 to `max`. Under WCSPH, which explodes in
        /// steps beyond its acoustic bound, steps may be shorter.
        min: f32,
        /// Longest step in seconds, up to 1 s.
        max: f32,
        /// Part of a particle spacing that the fastest particle may cross in a
        /// step, 0.01 to 2.
        cfl: f32,
    },
}

impl Default for TimeStep {
    /// Steps of 1 to 5 ms at a CFL number of 0.4.
    fn default() -> Self {
        Self::Adaptive { min: 1e-3, max: 5e-3, cfl: 0.4 }
    }
}

impl TimeStep {
    /// Checks every number against its range.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for the first one outside.
    pub fn validate(&self) -> Result<(), FluidError> {
        match *self {
            Self::Fixed(dt) => check_step("time_step", dt),
            Self::Adaptive { min, max, cfl } => {
                check_step("time_step.max", max)?;
                if !(min >= SHORTEST && min <= max) {
                    return Err(FluidError::parameter(
                        "time_step.min",
                        min,
                        format_args!("1e-6 s to time_step.max, here {max:?} s"),
                    ));
                }
                if !(0.01..=2.0).contains(&cfl) {
                    return Err(FluidError::parameter("time_step.cfl", cfl, "0.01 to 2"));
                }
                Ok(())
            }
        }
    }

    /// The rule as it holds under a method: without a shortest step where longer
    /// ones than the signal speed allows are unstable, not merely inexact.
    pub fn under(self, method: FluidMethod) -> Self {
        match (self, method) {
            (Self::Adaptive { min, max, cfl }, FluidMethod::Wcsph) => {
                Self::Adaptive { min: min.min(SHORTEST), max, cfl }
            }
            _ => self,
        }
    }

    /// Steps that fit into `available` seconds, for particles of spacing
    /// `spacing` metres and a signal speed of `speed` m/s: how many, and how
    /// long each is in seconds.
    ///
    /// An adaptive rule uses all of `available`; a fixed one leaves the rest.
    pub fn split(&self, available: f64, spacing: f32, speed: f32) -> (u32, f64) {
        match *self {
            Self::Fixed(dt) => {
                let dt = f64::from(dt);
                // A tick that is a whole number of steps up to rounding is not cut short.
                ((available / dt + 1e-6).floor() as u32, dt)
            }
            Self::Adaptive { min, max, cfl } => {
                if available <= 0.0 {
                    return (0, f64::from(max));
                }
                let courant = cfl * spacing / speed.max(f32::MIN_POSITIVE);
                let longest = courant.clamp(min, max);
                let count = (available as f32 / longest - 1e-4).ceil().clamp(1.0, MAX_SUBSTEPS);
                (count as u32, available / f64::from(count))
            }
        }
    }
}

/// Checks the length of a single step in seconds.
pub(crate) fn check_step(name: &str, dt: f32) -> Result<(), FluidError> {
    if (SHORTEST..=1.0).contains(&dt) {
        Ok(())
    } else {
        Err(FluidError::parameter(name, dt, "1e-6 s to 1 s"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_steps_leave_the_remainder() {
        let (count, dt) = TimeStep::Fixed(0.005).split(0.0167, 0.05, 3.0);
        assert_eq!((count, dt as f32), (3, 0.005));
        assert_eq!(TimeStep::Fixed(0.005).split(0.004, 0.05, 3.0).0, 0);
        assert_eq!(TimeStep::Fixed(0.005).split(f64::from(0.005f32) * 4.0, 0.05, 3.0).0, 4);
    }

    #[test]
    fn adaptive_steps_fill_the_tick_and_shrink_with_speed() {
        let rule = TimeStep::Adaptive { min: 1e-3, max: 5e-3, cfl: 0.4 };
        assert_eq!(rule.split(0.015, 0.05, 0.0).0, 3);
        let (count, dt) = rule.split(0.015, 0.05, 10.0);
        assert_eq!(count, 8);
        assert!((dt * 8.0 - 0.015).abs() < 1e-12);
        assert_eq!(rule.split(0.015, 0.05, 1e9).0, 15);
    }

    #[test]
    fn numbers_out_of_range_are_refused() {
        for bad in [0.0, -1.0, f32::NAN, f32::INFINITY, 2.0] {
            assert!(TimeStep::Fixed(bad).validate().is_err(), "{bad}");
            assert!(TimeStep::Adaptive { min: 1e-3, max: bad, cfl: 0.4 }.validate().is_err());
            assert!(TimeStep::Adaptive { min: bad, max: 5e-3, cfl: 0.4 }.validate().is_err());
        }
        assert!(TimeStep::Adaptive { min: 1e-3, max: 5e-3, cfl: 0.0 }.validate().is_err());
        assert!(TimeStep::Fixed(0.005).validate().is_ok());
        assert!(TimeStep::default().validate().is_ok());
    }
}
