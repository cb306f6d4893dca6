//! What a step of smoke did.

use core::time::Duration;

use bevy_platform::time::Instant;

/// The stages of a step, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmokeStage {
    /// Sources, buoyancy, confinement and viscosity.
    Forces,
    /// The projection.
    Projection,
    /// Advection of velocity, and of dye where one projection is all.
    Advection,
    /// The second projection, if any, and the rest of the dye's motion.
    Dye,
}

impl SmokeStage {
    /// All stages, in their order.
    pub const ALL: [Self; 4] = [Self::Forces, Self::Projection, Self::Advection, Self::Dye];

    /// Name in snake case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Forces => "forces",
            Self::Projection => "projection",
            Self::Advection => "advection",
            Self::Dye => "dye",
        }
    }
}

/// Figures of the last step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SmokeStats {
    /// Length of the step in seconds.
    pub dt: f32,
    /// Largest divergence before the first projection, in 1/s.
    pub divergence_before: f32,
    /// Largest divergence after the last projection, in 1/s.
    pub divergence_after: f32,
    /// Iterations of all projections of the step.
    pub iterations: u32,
    /// Iterations of all solves for viscosity and diffusion of the step.
    pub diffusion_iterations: u32,
    /// Total of each channel of dye: its integral over the domain.
    pub total_dye: Vec<f64>,
    /// Largest component of the velocity in the middle of cells, in m/s.
    pub max_speed: f32,
    /// Whether the air was stopped because it had got faster than numbers go.
    pub reset: bool,
    /// Time spent in each stage.
    pub durations: [Duration; 4],
}

impl SmokeStats {
    /// Time spent in a stage.
    pub fn duration(&self, stage: SmokeStage) -> Duration {
        self.durations[stage as usize]
    }

    /// Time spent in all stages.
    pub fn total(&self) -> Duration {
        self.durations.iter().sum()
    }

    pub(crate) fn add_time(&mut self, stage: SmokeStage, since: Instant) {
        self.durations[stage as usize] += since.elapsed();
    }
}
