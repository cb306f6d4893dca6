//! What can go wrong, in one line for the person who caused it.

use core::fmt::{Debug, Display};

use super::particles::ParticleId;

/// An input that was refused. Nothing was changed by the call that returned it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FluidError {
    /// A parameter lies outside its range.
    #[error("{name} is {value}, allowed is {allowed}")]
    Parameter {
        /// Name of the parameter, as written in code and in scene files.
        name: String,
        /// The value that was given.
        value: String,
        /// The allowed values in words, with their unit.
        allowed: String,
    },
    /// A particle id whose particle is gone, or that this body never had. An
    /// id of another body may name a particle of this one: keep the body with it.
    #[error("{0} no longer exists in this body")]
    StaleParticle(ParticleId),
    /// A body index that was never handed out.
    #[error("body {index} does not exist, there are {count}")]
    UnknownBody {
        /// The index that was given.
        index: usize,
        /// Number of bodies.
        count: usize,
    },
}

impl FluidError {
    /// A parameter outside its range.
    pub fn parameter(name: impl Display, value: impl Debug, allowed: impl Display) -> Self {
        Self::Parameter {
            name: name.to_string(),
            value: format!("{value:?}"),
            allowed: allowed.to_string(),
        }
    }

    /// This error with `prefix` before the parameter's name, as in `fluids[0].viscosity`.
    #[must_use]
    pub fn within(self, prefix: impl Display) -> Self {
        match self {
            Self::Parameter { name, value, allowed } => {
                Self::Parameter { name: format!("{prefix}.{name}"), value, allowed }
            }
            other => other,
        }
    }
}
