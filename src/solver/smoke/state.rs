//! Everything that the next step reads.

use super::edit::CellSource;
use super::{Smoke, SmokeDomain, SmokeObstacle, SmokeSettings, SmokeSource};
use crate::solver::error::FluidError;
use crate::solver::vector::Vector;

/// A saved domain of smoke: restored, it goes on bit for bit.
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
pub struct SmokeState<V> {
    /// The domain.
    pub domain: SmokeDomain<V>,
    /// The settings.
    pub settings: SmokeSettings,
    /// The solid bodies.
    pub obstacles: Vec<SmokeObstacle<V>>,
    /// The lasting sources.
    pub sources: Vec<SmokeSource<V>>,
    cell_sources: Vec<CellSource<V>>,
    velocity: [Vec<f32>; 3],
    dye: Vec<Vec<f32>>,
    excess: Vec<f32>,
    heated: bool,
    pressure: Vec<f32>,
    last_step: f32,
    /// Simulated time in seconds.
    pub time: f64,
    /// Steps since the start.
    pub steps: u64,
    unspent: f64,
}

impl<V: Vector> Smoke<V> {
    /// Everything that the next step reads.
    pub fn state(&self) -> SmokeState<V> {
        SmokeState {
            domain: self.domain,
            settings: self.settings.clone(),
            obstacles: self.obstacles.clone(),
            sources: self.sources.clone(),
            cell_sources: self.cell_sources.clone(),
            velocity: self.velocity.clone(),
            dye: self.dye.clone(),
            excess: self.excess.clone(),
            heated: self.heated,
            pressure: self.pressure.clone(),
            last_step: self.stats.dt,
            time: self.time,
            steps: self.steps,
            unspent: self.unspent,
        }
    }

    /// Smoke that goes on from `state`, bit for bit.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] if anything in the state is out of range, of the
    /// wrong length or not finite.
    pub fn from_state(state: SmokeState<V>) -> Result<Self, FluidError> {
        let mut smoke = Self::new(state.domain, state.settings, state.dye.len())?;
        let length = smoke.grid.len();
        let check = |name: &str, field: &[f32], length: usize| {
            if field.len() != length {
                let allowed = format_args!("{length} numbers").to_string();
                return Err(FluidError::parameter(name, field.len(), allowed));
            }
            match field.iter().find(|value| !value.is_finite()) {
                Some(value) => Err(FluidError::parameter(name, value, "finite numbers")),
                None => Ok(()),
            }
        };
        for (axis, field) in state.velocity.iter().enumerate() {
            check("velocity", field, if axis < V::DIM { length } else { 0 })?;
        }
        state.dye.iter().try_for_each(|field| check("dye", field, length))?;
        check("excess", &state.excess, length)?;
        check("pressure", &state.pressure, length)?;
        let cell = |source: &CellSource<V>| {
            source.at < length
                && smoke.grid.holds(source.at)
                && source.channel < smoke.dye.len()
                && source.dye.is_finite()
                && source.velocity.is_finite()
        };
        if !state.cell_sources.iter().all(cell) {
            let count = state.cell_sources.len();
            return Err(FluidError::parameter("cell_sources", count, "sources in cells"));
        }
        if state.last_step != 0.0 {
            crate::solver::time_step::check_step("last_step", state.last_step)?;
        }
        if !(0.0..=1.0).contains(&state.unspent) {
            return Err(FluidError::parameter("unspent", state.unspent, "0 s to 1 s"));
        }
        smoke.set_sources(state.sources)?;
        smoke.set_obstacles(state.obstacles)?;
        smoke.velocity = state.velocity;
        smoke.dye = state.dye;
        smoke.excess = state.excess;
        smoke.heated = state.heated;
        smoke.pressure = state.pressure;
        smoke.cell_sources = state.cell_sources;
        smoke.stats.dt = state.last_step;
        for channel in 0..smoke.dye.len() {
            smoke.stats.total_dye[channel] = smoke.total_dye(channel);
        }
        (smoke.time, smoke.steps, smoke.unspent) = (state.time, state.steps, state.unspent);
        Ok(smoke)
    }
}
