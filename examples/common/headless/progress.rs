//! What the person at the terminal sees.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use bevy_fluid::solver::simulation::Simulation;
use bevy_fluid::solver::vector::Vector;
use indicatif::{ProgressBar, ProgressStyle};

/// Where a run ends.
#[derive(Clone, Copy)]
pub enum End {
    /// At this step.
    Step(u64),
    /// At the first step at or past this time in seconds.
    Time(f64),
}

impl End {
    /// Whether a simulation has got there.
    pub fn reached<V: Vector>(self, simulation: &Simulation<V>) -> bool {
        match self {
            Self::Step(step) => simulation.steps() >= step,
            // A step in f32 falls short of its decimal value by up to 6e-8 of it.
            Self::Time(time) => simulation.time() * (1.0 + 1e-7) >= time,
        }
    }

    /// Where a simulation is on its way from 0 to here, in the unit of the end.
    fn position<V: Vector>(self, simulation: &Simulation<V>) -> (f64, f64) {
        match self {
            Self::Step(step) => (simulation.steps() as f64, step as f64),
            Self::Time(time) => (simulation.time(), time),
        }
    }
}

/// A bar on a terminal, nothing elsewhere, and the figures of the closing line.
pub struct Progress {
    bar: ProgressBar,
    end: End,
    first_step: u64,
    first_time: f64,
    first_position: f64,
    since: Instant,
    solver: Duration,
    density_iterations: u64,
    divergence_iterations: u64,
}

/// Parts that the bar is divided into.
const PARTS: u64 = 10_000;

impl Progress {
    /// Starts the clock. The bar stays hidden where stderr is no terminal.
    pub fn start<V: Vector>(simulation: &Simulation<V>, end: End) -> Self {
        let style = ProgressStyle::with_template("{bar:30} {percent:>3} %  {msg}, {eta} left");
        let bar = ProgressBar::new(PARTS)
            .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Self {
            bar,
            end,
            first_step: simulation.steps(),
            first_time: simulation.time(),
            first_position: end.position(simulation).0,
            since: Instant::now(),
            solver: Duration::ZERO,
            density_iterations: 0,
            divergence_iterations: 0,
        }
    }

    /// Counts a step that took `time`.
    pub fn step<V: Vector>(&mut self, simulation: &Simulation<V>, time: Duration) {
        let stats = simulation.world().stats();
        self.solver += time;
        self.density_iterations += u64::from(stats.density_iterations);
        self.divergence_iterations += u64::from(stats.divergence_iterations);
        if self.bar.is_hidden() {
            return;
        }
        let (position, end) = self.end.position(simulation);
        let part = (position - self.first_position) / (end - self.first_position);
        self.bar.set_position((part * PARTS as f64) as u64);
        let mut message = format!("step {}", simulation.steps());
        let _ = match self.end {
            End::Step(end) => write!(message, " of {end}, {:.3} s", simulation.time()),
            End::Time(end) => write!(message, ", {:.3} s of {end} s", simulation.time()),
        };
        self.bar.set_message(message);
    }

    /// Says something on stderr without tearing the bar.
    pub fn warn(&self, message: &str) {
        self.bar.suspend(|| eprintln!("{message}"));
    }

    /// Takes the bar away and returns the closing line.
    pub fn finish<V: Vector>(self, simulation: &Simulation<V>) -> String {
        self.bar.finish_and_clear();
        let steps = simulation.steps() - self.first_step;
        let each = |sum: f64| if steps > 0 { sum / steps as f64 } else { 0.0 };
        format!(
            "{steps} steps, {:.3} s simulated in {:.3} s; a step: {:.3} ms, {:.3} density and \
             {:.3} divergence iterations",
            simulation.time() - self.first_time,
            self.since.elapsed().as_secs_f64(),
            each(1e3 * self.solver.as_secs_f64()),
            each(self.density_iterations as f64),
            each(self.divergence_iterations as f64),
        )
    }
}
