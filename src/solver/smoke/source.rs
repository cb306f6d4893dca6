//! What a game puts into smoke.

use super::domain::SmokeDomain;
use crate::solver::error::FluidError;
use crate::solver::vector::Vector;

/// Cells across the radius of a splat up to which its weights are summed cell by
/// cell; beyond, the integral is as good.
const SUMMED: f32 = 8.0;

/// Something that gives off smoke all the time.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "scene", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "scene", serde(deny_unknown_fields))]
#[cfg_attr(feature = "plugin", derive(bevy_reflect::Reflect))]
pub struct SmokeSource<V> {
    /// Its shape.
    pub shape: SourceShape<V>,
    /// Its middle in metres.
    pub position: V,
    /// Dye that it gives off in a second, as a total over the shape, for each
    /// channel; channels left out get none. Negative takes away, down to nothing.
    #[cfg_attr(feature = "scene", serde(default))]
    pub dye_rates: Vec<f32>,
    /// Temperature in K that it holds the air at.
    #[cfg_attr(feature = "scene", serde(default = "none"))]
    pub temperature: Option<f32>,
    /// Velocity in m/s that it holds the air at.
    #[cfg_attr(feature = "scene", serde(default = "none"))]
    pub velocity: Option<V>,
}

#[cfg(feature = "scene")]
fn none<T>() -> Option<T> {
    None
}

/// Shape of a [`SmokeSource`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "scene", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "plugin", derive(bevy_reflect::Reflect))]
pub enum SourceShape<V> {
    /// A circle or sphere, strongest in the middle.
    Ball {
        /// Radius in metres, positive.
        radius: f32,
    },
    /// A rectangle or cuboid along the axes, as strong everywhere.
    Box {
        /// Half the extent along each axis in metres, positive.
        half_size: V,
    },
}

impl<V: Vector> SmokeSource<V> {
    /// Checks the numbers.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for the first one that is not finite or, for a
    /// size, not positive.
    pub fn validate(&self) -> Result<(), FluidError> {
        self.shape.validate()?;
        check_position(self.position)?;
        if let Some(rate) = self.dye_rates.iter().find(|rate| !rate.is_finite()) {
            return Err(FluidError::parameter("dye_rates", rate, "finite, 1/s"));
        }
        if let Some(temperature) = self.temperature.filter(|temperature| !temperature.is_finite()) {
            return Err(FluidError::parameter("temperature", temperature, "finite, K"));
        }
        if let Some(velocity) = self.velocity.filter(|velocity| !velocity.is_finite()) {
            return Err(FluidError::parameter("velocity", velocity, "finite components, m/s"));
        }
        Ok(())
    }
}

pub(crate) fn check_position<V: Vector>(position: V) -> Result<(), FluidError> {
    if position.is_finite() {
        Ok(())
    } else {
        Err(FluidError::parameter("position", position, "finite components, m"))
    }
}

impl<V: Vector> SourceShape<V> {
    /// Checks the size.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] if it is not positive and finite.
    pub fn validate(&self) -> Result<(), FluidError> {
        let (name, extent) = match self {
            Self::Ball { radius } => ("radius", V::splat(*radius)),
            Self::Box { half_size } => ("half_size", *half_size),
        };
        if extent.to_array()[..V::DIM].iter().all(|&side| side > 0.0 && side.is_finite()) {
            return Ok(());
        }
        Err(match self {
            Self::Ball { radius } => FluidError::parameter(name, radius, "positive and finite, m"),
            Self::Box { half_size } => {
                FluidError::parameter(name, half_size, "positive and finite, m")
            }
        })
    }
}

/// A shape as weights on places one cell apart.
///
/// A ball's weight at distance r is (1 - r²/R²)², a box's the part of a cell that
/// it covers. The weights are scaled so that their sum over all places, in the
/// domain and beyond, is the integral over the true shape: what a splat adds
/// depends neither on the cells nor on how they lie.
pub(crate) struct Splat {
    /// Middle in cells, in the counting of the places.
    center: [f32; 3],
    /// Half extent in cells, no less than what reaches a place.
    reach: [f32; 3],
    round: bool,
    scale: f32,
    dim: usize,
}

impl Splat {
    /// The splat of a shape on places that lie `shift` cells higher than the
    /// middles of cells.
    pub(crate) fn new<V: Vector>(
        domain: &SmokeDomain<V>,
        shape: SourceShape<V>,
        position: V,
        shift: [f32; 3],
    ) -> Self {
        let side = domain.cell_size();
        let mut center = domain.place_of(position);
        for axis in 0..V::DIM {
            center[axis] -= shift[axis];
        }
        let (extent, round) = match shape {
            SourceShape::Ball { radius } => ([radius / side; 3], true),
            SourceShape::Box { half_size } => (half_size.to_array().map(|half| half / side), false),
        };
        // A ball of one cell's radius reaches at least one place.
        let reach = extent.map(|extent| if round { extent.max(1.0) } else { extent });
        let mut splat = Self { center, reach, round, scale: 1.0, dim: V::DIM };
        if !round {
            return splat;
        }
        let volume = |radius: f32| {
            if V::DIM == 2 {
                core::f32::consts::PI / 3.0 * radius.powi(2)
            } else {
                32.0 / 105.0 * core::f32::consts::PI * radius.powi(3)
            }
        };
        if reach[0] <= SUMMED {
            let mut sum = 0.0;
            splat.for_each(|_, weight| sum += weight);
            splat.scale = volume(extent[0]) / sum;
        }
        splat
    }

    /// The splat with weights of 1 in the middle, however small the shape.
    pub(crate) fn unscaled(mut self) -> Self {
        self.scale = 1.0;
        self
    }

    /// Sum of the weights over all places.
    pub(crate) fn volume(&self) -> f32 {
        if !self.round {
            return self.reach[..self.dim].iter().map(|half| 2.0 * half).product();
        }
        let mut sum = 0.0;
        if self.reach[0] <= SUMMED {
            self.for_each(|_, weight| sum += weight);
            return sum;
        }
        if self.dim == 2 {
            core::f32::consts::PI / 3.0 * self.reach[0].powi(2)
        } else {
            32.0 / 105.0 * core::f32::consts::PI * self.reach[0].powi(3)
        }
    }

    /// Calls `work` with each place and its weight, those outside the domain too.
    pub(crate) fn for_each(&self, work: impl FnMut([i32; 3], f32)) {
        self.for_each_within([[i32::MIN, i32::MAX]; 3], work);
    }

    /// [`Splat::for_each`] for the places between two along each axis.
    pub(crate) fn for_each_within(
        &self,
        within: [[i32; 2]; 3],
        mut work: impl FnMut([i32; 3], f32),
    ) {
        let margin = if self.round { 0.0 } else { 0.5 };
        let range = |axis: usize| {
            if axis >= self.dim {
                return 0..=0;
            }
            let (center, reach) = (self.center[axis], self.reach[axis] + margin);
            // Casts saturate: what lies far outside gives an empty range.
            let from = ((center - reach).ceil() as i32).max(within[axis][0]);
            let to = ((center + reach).floor() as i32).min(within[axis][1]);
            from..=to
        };
        for k in range(2) {
            for j in range(1) {
                for i in range(0) {
                    let weight = self.weight([i, j, k]);
                    if weight > 0.0 {
                        work([i, j, k], weight);
                    }
                }
            }
        }
    }

    fn weight(&self, place: [i32; 3]) -> f32 {
        let mut distance_squared = 0.0;
        let mut covered = 1.0f32;
        for axis in 0..self.dim {
            let offset = (place[axis] as f32 - self.center[axis]).abs();
            let relative = offset / self.reach[axis];
            distance_squared += relative * relative;
            // Overlap of a cell and the box along this axis.
            let overlap = (self.reach[axis] - offset + 0.5).min(2.0 * self.reach[axis]);
            covered *= overlap.clamp(0.0, 1.0);
        }
        if self.round { self.scale * (1.0 - distance_squared).max(0.0).powi(2) } else { covered }
    }
}
