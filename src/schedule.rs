//! Schedules and sets.

use bevy::ecs::schedule::{ScheduleLabel, SingleThreadedExecutor};
use bevy::prelude::*;

/// Sets in the schedule that [`FluidPlugin`](crate::FluidPlugin) was given,
/// [`FixedPostUpdate`] by default, in this order.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FluidStepSystems {
    /// The clock decides how many steps are due, and bodies are gathered.
    Prepare,
    /// [`FluidSchedule`] runs once per step.
    Step,
    /// Bodies take the results back; messages are written.
    Writeback,
}

/// Runs once per step, inside [`FluidStepSystems::Step`]. `Res<Time>` in it is
/// the fluid clock, its delta the length of the step.
#[derive(ScheduleLabel, Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct FluidSchedule;

/// Sets in [`FluidSchedule`], in this order. A game's own system in a set runs
/// after the solver's stage of that name.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FluidSystems {
    /// Sorting and neighbour lists, where something was edited since the last step.
    NeighborSearch,
    /// Gravity and viscosity; a game adds its own accelerations here.
    NonPressureForces,
    /// Accelerations are applied, then the pressure that holds the density.
    DensitySolve,
    /// Positions move. What moves, adds or removes particles goes here.
    Integrate,
    /// Search at the new positions, then the pressure that holds the divergence.
    DivergenceSolve,
}

/// The systems of one dimension in a set of [`FluidStepSystems`], by the number
/// of the dimension: 2D before 3D, since both write the same messages.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum DimensionSystems {
    Prepare(usize),
    Writeback(usize),
    /// In [`FluidSchedule`]: what is no water.
    Companions(usize),
}

/// The solver's own system of each stage, ahead of the public set of its name.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct StageSystems(pub(crate) FluidSystems);

/// Adds the sets to the app; systems that were added before keep their place.
pub(crate) fn configure(app: &mut App, outer: impl ScheduleLabel) {
    app.edit_schedule(outer, |schedule| {
        schedule.configure_sets(
            (FluidStepSystems::Prepare, FluidStepSystems::Step, FluidStepSystems::Writeback)
                .chain(),
        );
        use DimensionSystems::*;
        schedule.configure_sets((Prepare(2), Prepare(3)).chain().in_set(FluidStepSystems::Prepare));
        schedule.configure_sets(
            (Writeback(2), Writeback(3)).chain().in_set(FluidStepSystems::Writeback),
        );
    });
    app.edit_schedule(FluidSchedule, |schedule| {
        // Each stage is parallel inside; scheduling them costs more than it gains.
        schedule.set_executor(SingleThreadedExecutor::new());
        use FluidSystems::*;
        schedule.configure_sets(
            (
                (StageSystems(NeighborSearch), NeighborSearch).chain(),
                (StageSystems(NonPressureForces), NonPressureForces).chain(),
                (StageSystems(DensitySolve), DensitySolve).chain(),
                (StageSystems(Integrate), Integrate).chain(),
                (StageSystems(DivergenceSolve), DivergenceSolve).chain(),
            )
                .chain(),
        );
        use DimensionSystems::Companions;
        schedule.configure_sets((Companions(2), Companions(3)).chain());
    });
}
