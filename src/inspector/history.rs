//! What the panel remembers of past steps. Filled outside of the panel's own
//! system, which may run twice a frame, and only while the panel is open.

use std::collections::VecDeque;

use bevy::prelude::*;
use core::time::Duration;

use crate::dimension::Dimension;
use crate::plugin::{FluidWorld2d, FluidWorld3d, FluidWorldOf};
use crate::solver::stats::{Stage, StepStats};
use crate::time::Fluid;

/// Steps that times are averaged over.
pub(super) const MEAN_STEPS: usize = 50;

/// Points of a plot.
const SAMPLES: usize = 600;

/// Real time between two measurements of the whole world, which cost a pass
/// over all particles and their neighbours.
const MEASURE_EVERY: Duration = Duration::from_millis(100);

/// A point of the plots.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sample {
    /// Simulated time since the start of the scene in seconds.
    pub time: f64,
    /// Figures of the last step up to then.
    pub stats: StepStats,
    /// Kinetic and potential energy in J, where they were measured.
    pub energy: Option<[f32; 2]>,
}

/// What is known of the world on show.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Figures {
    pub stats: StepStats,
    pub particles: usize,
    pub samples: usize,
}

/// What measuring the world told.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Measured {
    bulk_error: f32,
    bulk: usize,
    energy: [f32; 2],
}

/// The past of the world on show.
#[derive(Resource, Debug, Default)]
pub(super) struct History {
    steps: VecDeque<StepStats>,
    samples: VecDeque<Sample>,
    bulk: Option<(f32, usize)>,
    measured_at: Option<Duration>,
    seen: u64,
    origin: Duration,
    /// Frames in which new bodies still count as those of a restarted scene.
    pub awaiting: u32,
}

impl History {
    /// Forgets everything; the scene's time starts at `now` of the fluid clock.
    pub fn restart(&mut self, now: Duration) {
        self.steps.clear();
        self.samples.clear();
        self.bulk = None;
        self.measured_at = None;
        self.origin = now;
    }

    /// Simulated time since the start of the scene.
    pub fn scene_time(&self, now: Duration) -> Duration {
        now.saturating_sub(self.origin)
    }

    pub fn samples(&self) -> impl Iterator<Item = &Sample> {
        self.samples.iter()
    }

    /// Mean |rho - rho0|/rho0 over the bulk, and its particles, as last measured.
    pub fn bulk_error(&self) -> Option<(f32, usize)> {
        self.bulk
    }

    /// Mean wall time per step in ms, of a stage or of all together.
    pub fn mean_ms(&self, stage: Option<Stage>) -> f64 {
        let time = |step: &StepStats| stage.map_or_else(|| step.total(), |it| step.duration(it));
        let sum: f64 = self.steps.iter().map(|step| time(step).as_secs_f64()).sum();
        // An empty sum is -0.0, which would be shown.
        1e3 * sum.abs() / self.steps.len().max(1) as f64
    }

    fn add_step(&mut self, stats: StepStats) {
        push(&mut self.steps, MEAN_STEPS, stats);
    }

    fn add_sample(&mut self, now: Duration, stats: StepStats, energy: Option<[f32; 2]>) {
        let time = self.scene_time(now).as_secs_f64();
        push(&mut self.samples, SAMPLES, Sample { time, stats, energy });
    }

    /// Whether another measurement may be made at `real` time.
    fn may_measure(&mut self, real: Duration) -> bool {
        let due = self.measured_at.is_none_or(|at| real.saturating_sub(at) >= MEASURE_EVERY);
        if due {
            self.measured_at = Some(real);
        }
        due
    }
}

fn push<T>(ring: &mut VecDeque<T>, most: usize, item: T) {
    if ring.len() >= most {
        ring.pop_front();
    }
    ring.push_back(item);
}

fn figures<V: Dimension>(world: &FluidWorldOf<V>) -> Figures {
    Figures { stats: *world.stats(), particles: world.len(), samples: world.boundary_len() }
}

fn measure<V: Dimension>(world: &FluidWorldOf<V>) -> Measured {
    let measures = world.measure();
    Measured {
        bulk_error: measures.mean_abs_density_error,
        bulk: measures.bulk,
        energy: [measures.kinetic_energy, measures.potential_energy],
    }
}

/// Whether the 3D world is on show: the 2D one has nothing in it.
pub(super) fn shows_3d(flat: Option<&FluidWorld2d>, solid: Option<&FluidWorld3d>) -> bool {
    flat.is_none_or(|flat| flat.is_empty()) && solid.is_some_and(|solid| !solid.is_empty())
}

/// The figures of the world on show.
pub(super) fn on_show(flat: Option<&FluidWorld2d>, solid: Option<&FluidWorld3d>) -> Figures {
    if shows_3d(flat, solid) { solid.map(figures) } else { flat.map(figures) }.unwrap_or_default()
}

/// Notes the times of each step.
pub(super) fn note_step(
    flat: Option<Res<FluidWorld2d>>,
    solid: Option<Res<FluidWorld3d>>,
    mut history: ResMut<History>,
) {
    history.add_step(on_show(flat.as_deref(), solid.as_deref()).stats);
}

/// Adds a point to the plots after a frame with a step.
pub(super) fn sample(
    flat: Option<Res<FluidWorld2d>>,
    solid: Option<Res<FluidWorld3d>>,
    clock: Res<Time<Fluid>>,
    real: Res<Time<Real>>,
    mut history: ResMut<History>,
) {
    let steps = clock.context().steps();
    if steps == history.seen {
        return;
    }
    history.seen = steps;
    let (flat, solid) = (flat.as_deref(), solid.as_deref());
    let measured = history.may_measure(real.elapsed()).then(|| {
        if shows_3d(flat, solid) { solid.map(measure) } else { flat.map(measure) }
            .unwrap_or_default()
    });
    if let Some(measured) = measured {
        history.bulk = Some((measured.bulk_error, measured.bulk));
    }
    let stats = on_show(flat, solid).stats;
    history.add_sample(clock.elapsed(), stats, measured.map(|it| it.energy));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn history_keeps_the_last_points_and_a_restart_forgets_them() {
        let mut history = History::default();
        for step in 0..2 * SAMPLES as u64 {
            history.add_step(StepStats {
                durations: [
                    Duration::from_millis(1),
                    Duration::ZERO,
                    Duration::ZERO,
                    Duration::ZERO,
                    Duration::from_millis(3),
                ],
                ..Default::default()
            });
            history.add_sample(Duration::from_secs(step), StepStats::default(), None);
        }
        assert_eq!(history.samples().count(), SAMPLES);
        assert_eq!(history.samples().next().map(|sample| sample.time), Some(SAMPLES as f64));
        assert!((history.mean_ms(None) - 4.0).abs() < 1e-9);
        assert!((history.mean_ms(Some(Stage::DivergenceSolve)) - 3.0).abs() < 1e-9);
        history.restart(Duration::from_secs(5));
        assert_eq!(history.samples().count(), 0);
        assert_eq!(history.mean_ms(None), 0.0);
        assert_eq!(history.scene_time(Duration::from_secs(7)), Duration::from_secs(2));
    }

    #[test]
    fn the_world_is_measured_ten_times_a_second_at_most() {
        let mut history = History::default();
        let due = (0..1000).filter(|&ms| history.may_measure(Duration::from_millis(ms))).count();
        assert_eq!(due, 10);
    }
}
