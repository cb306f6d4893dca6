//! What a scene says of smoke.

use super::{Smoke, SmokeDomain, SmokeSettings, SmokeSource};
use crate::solver::error::FluidError;
use crate::solver::vector::Vector;

/// A domain of smoke in a scene. The scene's boundaries are its obstacles.
#[derive(Clone, Debug, PartialEq)]
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
pub struct SceneSmoke<V> {
    /// The box and its cells.
    pub domain: SmokeDomain<V>,
    /// Channels of dye, 1 to 16.
    #[cfg_attr(feature = "scene", serde(default = "one"))]
    pub channels: u32,
    /// Its parameters.
    #[cfg_attr(feature = "scene", serde(default))]
    pub settings: SmokeSettings,
    /// What gives off smoke all the time.
    #[cfg_attr(feature = "scene", serde(default))]
    pub sources: Vec<SmokeSource<V>>,
}

#[cfg(feature = "scene")]
fn one() -> u32 {
    1
}

impl<V: Vector> SceneSmoke<V> {
    /// The smoke at the start of the scene, without obstacles.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for the first value out of range.
    pub fn build(&self) -> Result<Smoke<V>, FluidError> {
        let mut smoke = Smoke::new(self.domain, self.settings.clone(), self.channels as usize)?;
        smoke.set_sources(self.sources.iter().cloned())?;
        Ok(smoke)
    }
}
