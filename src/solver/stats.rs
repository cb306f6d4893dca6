//! What a step did, for diagnostics, panels and the headless runner.

use core::time::Duration;

use bevy_platform::time::Instant;

/// The stages of a step, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Sorting and neighbour lists, where not fresh from the last step.
    NeighborSearch,
    /// Gravity and viscosity.
    NonPressureForces,
    /// The constant-density solve.
    DensitySolve,
    /// The motion of the particles.
    Integrate,
    /// Search at the new positions and the divergence-free solve.
    DivergenceSolve,
}

impl Stage {
    /// All stages, in their order.
    pub const ALL: [Self; 5] = [
        Self::NeighborSearch,
        Self::NonPressureForces,
        Self::DensitySolve,
        Self::Integrate,
        Self::DivergenceSolve,
    ];

    /// Name in snake case.
    pub fn name(self) -> &'static str {
        match self {
            Self::NeighborSearch => "neighbor_search",
            Self::NonPressureForces => "non_pressure_forces",
            Self::DensitySolve => "density_solve",
            Self::Integrate => "integrate",
            Self::DivergenceSolve => "divergence_solve",
        }
    }
}

/// Figures of the last step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepStats {
    /// Length of the step in seconds.
    pub dt: f32,
    /// Iterations of the density solve.
    pub density_iterations: u32,
    /// Iterations of the divergence solve.
    pub divergence_iterations: u32,
    /// Iterations of the implicit viscosity; 0 where the explicit one is stable.
    pub viscosity_iterations: u32,
    /// Applications of the pressure operator in both solves: an iteration is
    /// one, the start of the Gauss-Seidel sweeps half of one, and each coarse
    /// correction one more. The set-up of the coarse grid, which takes the time of half of
    /// one in a step, is left out: a state that is loaded has to do it again.
    pub applications: f32,
    /// Mean compression that the density solve stopped at, as a fraction of the
    /// rest density; by the Gauss-Seidel solvers its mean error either way.
    pub density_error: f32,
    /// Mean growth of density in a step that the divergence solve stopped at, as a fraction.
    pub divergence_error: f32,
    /// Particles that would have gone into a wall and were held back: in steps
    /// short enough for the speed of the water there are none.
    pub held_back: u32,
    /// Time spent in each stage.
    pub durations: [Duration; 5],
}

impl StepStats {
    /// Time spent in a stage.
    pub fn duration(&self, stage: Stage) -> Duration {
        self.durations[stage as usize]
    }

    /// Time spent in all stages.
    pub fn total(&self) -> Duration {
        self.durations.iter().sum()
    }

    pub(crate) fn add_time(&mut self, stage: Stage, since: Instant) {
        self.durations[stage as usize] += since.elapsed();
    }
}
