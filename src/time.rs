//! The fluid clock: when a step is due, and how long it is.

use bevy::prelude::*;
use core::time::Duration;

use crate::plugin::FluidWorld2d;
use crate::plugin::FluidWorld3d;
use crate::schedule::FluidSchedule;
use crate::settings::SettingsInForce;
use crate::solver::error::FluidError;
use crate::solver::time_step::TimeStep;

/// Context of the fluid clock `Time<Fluid>`.
///
/// The clock follows the schedule that the plugin runs in, times its own
/// speed; it never changes the app's clocks. While
/// [`FluidSchedule`] runs, `Res<Time>` is this clock.
#[derive(Clone, Copy, Debug, PartialEq, Reflect)]
pub struct Fluid {
    paused: bool,
    speed: f64,
    requested: u32,
    /// Time not yet spent in steps, in seconds.
    remainder: f64,
    due: u32,
    /// Steps of the last tick that had any.
    due_last: u32,
    /// Length of the last tick in seconds, by the app's clock.
    elapsed: f64,
    dt: f32,
    steps: u64,
    dropped: u64,
    made_in_frame: u32,
}

impl Default for Fluid {
    fn default() -> Self {
        Self {
            paused: false,
            speed: 1.0,
            requested: 0,
            remainder: 0.0,
            due: 0,
            due_last: 0,
            elapsed: 0.0,
            dt: 0.0,
            steps: 0,
            dropped: 0,
            made_in_frame: 0,
        }
    }
}

/// Highest speed of the clock.
const MAX_SPEED: f64 = 100.0;

impl Fluid {
    /// Stops the clock. The state stays bit for bit what it is.
    pub fn pause(&mut self) {
        self.paused = true;
    }

    /// Lets the clock run on; no time is made up for.
    pub fn unpause(&mut self) {
        self.paused = false;
    }

    /// Whether the clock is stopped.
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// Runs one step at the next tick, paused or not.
    pub fn step_once(&mut self) {
        self.requested = self.requested.saturating_add(1);
    }

    /// Simulated seconds per second of the app's clock; default 1.
    pub fn speed(&self) -> f64 {
        self.speed
    }

    /// Sets the speed, 0 to 100. It changes how many steps are made, never
    /// how long a fixed step is.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for any other value; the old speed stays.
    pub fn set_speed(&mut self, speed: f64) -> Result<(), FluidError> {
        if !(0.0..=MAX_SPEED).contains(&speed) {
            return Err(FluidError::parameter("speed", speed, "0 to 100"));
        }
        self.speed = speed;
        Ok(())
    }

    /// Length of the present or last step in seconds.
    pub fn dt(&self) -> f32 {
        self.dt
    }

    /// Steps so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Steps dropped so far because a frame's budget was used up.
    pub fn dropped_steps(&self) -> u64 {
        self.dropped
    }

    /// Steps that the present tick makes.
    pub fn due(&self) -> u32 {
        self.due
    }

    /// Where between the start and the end of the last tick with a step the
    /// present moment is drawn, one tick behind: 0 to 1, a little more where
    /// steps do not divide the tick. `overstep` is the time in seconds since
    /// the last tick, that of [`Time<Fixed>`] in its schedules. 1 while paused.
    pub fn interpolation(&self, overstep: f64) -> f32 {
        let span = f64::from(self.due_last) * f64::from(self.dt);
        if self.paused || span <= 0.0 {
            return 1.0;
        }
        let behind = (self.elapsed * self.speed).max(f64::from(self.dt));
        let at = span + self.remainder + overstep * self.speed - behind;
        (at / span).clamp(0.0, 1.5) as f32
    }

    /// Plans the steps of a tick that lasts `elapsed` seconds.
    fn plan(&mut self, elapsed: f64, rule: TimeStep, budget: u32, spacing: f32, speed: f32) {
        self.due = 0;
        self.elapsed = elapsed;
        if !self.paused {
            self.remainder += elapsed * self.speed;
            let (count, dt) = match rule {
                TimeStep::Adaptive { min, .. } if self.remainder < f64::from(min) => (0, 0.0),
                _ => rule.split(self.remainder, spacing, speed),
            };
            if count > 0 {
                self.remainder = (self.remainder - f64::from(count) * dt).max(0.0);
                self.dt = dt as f32;
                self.due = count.min(budget.saturating_sub(self.made_in_frame));
                self.dropped += u64::from(count - self.due);
            }
        }
        if self.requested > 0 {
            if self.due == 0 {
                self.dt = match rule {
                    TimeStep::Fixed(dt) => dt,
                    TimeStep::Adaptive { max, .. } => {
                        rule.split(f64::from(max), spacing, speed).1 as f32
                    }
                };
            }
            self.due += self.requested;
            self.requested = 0;
        }
        if self.due > 0 {
            self.due_last = self.due;
        }
        self.made_in_frame = self.made_in_frame.saturating_add(self.due);
    }
}

/// Gives the frame its budget of steps.
pub(crate) fn start_frame(mut clock: ResMut<Time<Fluid>>) {
    clock.context_mut().made_in_frame = 0;
}

/// Decides how many steps the tick makes.
pub(crate) fn plan(
    mut clock: ResMut<Time<Fluid>>,
    time: Res<Time>,
    settings: Res<SettingsInForce>,
    flat: Option<Res<FluidWorld2d>>,
    solid: Option<Res<FluidWorld3d>>,
) {
    // The world that asks for the shortest step sets the pace.
    let pace = |speed: f32, spacing: f32| (speed / spacing, spacing, speed);
    let worlds = [
        flat.map(|world| pace(world.signal_speed(), world.settings().spacing())),
        solid.map(|world| pace(world.signal_speed(), world.settings().spacing())),
    ];
    let fastest = worlds.into_iter().flatten().max_by(|a, b| a.0.total_cmp(&b.0));
    let (_, spacing, speed) = fastest.unwrap_or((0.0, 1.0, 0.0));
    let rule = settings.time_step.under(settings.method);
    let budget = settings.max_steps_per_frame;
    clock.context_mut().plan(time.delta_secs_f64(), rule, budget, spacing, speed);
}

/// Runs [`FluidSchedule`] once per due step, under the fluid clock.
pub(crate) fn run_steps(world: &mut World) {
    let due = world.resource::<Time<Fluid>>().context().due;
    if due == 0 {
        return;
    }
    let outer = *world.resource::<Time>();
    for _ in 0..due {
        let mut clock = world.resource_mut::<Time<Fluid>>();
        let dt = clock.context().dt;
        clock.advance_by(Duration::from_secs_f32(dt));
        clock.context_mut().steps += 1;
        let inner = clock.as_generic();
        *world.resource_mut::<Time>() = inner;
        world.run_schedule(FluidSchedule);
    }
    *world.resource_mut::<Time>() = outer;
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: TimeStep = TimeStep::Fixed(0.005);

    fn ticks(clock: &mut Fluid, count: u32) -> u32 {
        (0..count)
            .map(|_| {
                clock.made_in_frame = 0;
                clock.plan(1.0 / 64.0, RULE, 64, 0.05, 1.0);
                clock.due()
            })
            .sum()
    }

    #[test]
    fn steps_follow_the_time_and_the_speed() {
        let mut clock = Fluid::default();
        assert_eq!(ticks(&mut clock, 64), 200);
        clock.set_speed(0.1).unwrap();
        assert_eq!(ticks(&mut clock, 64), 20);
        clock.set_speed(0.0).unwrap();
        assert_eq!(ticks(&mut clock, 64), 0);
        for bad in [-1.0, f64::NAN, f64::INFINITY, 101.0] {
            assert!(clock.set_speed(bad).is_err());
        }
        assert_eq!(clock.speed(), 0.0);
    }

    #[test]
    fn a_paused_clock_makes_only_the_steps_asked_for() {
        let mut clock = Fluid::default();
        clock.pause();
        assert_eq!(ticks(&mut clock, 10), 0);
        clock.step_once();
        assert_eq!(ticks(&mut clock, 10), 1);
        clock.unpause();
        assert!(ticks(&mut clock, 1) <= 4, "no time is made up for");
    }

    #[test]
    fn drawn_time_runs_evenly_through_ticks_of_three_and_four_steps() {
        let mut clock = Fluid::default();
        ticks(&mut clock, 10);
        let tick = 1.0 / 64.0;
        for _ in 0..20 {
            let end = 1.0;
            let span = f64::from(clock.due()) * f64::from(clock.dt());
            for part in [0.0, 0.5, 0.99] {
                let drawn = end - span + span * f64::from(clock.interpolation(part * tick));
                let now = end + clock.remainder + part * tick;
                assert!((now - drawn - tick).abs() < 1e-6, "{drawn} at {now}");
            }
            ticks(&mut clock, 1);
        }
        clock.pause();
        assert_eq!(clock.interpolation(0.01), 1.0);
    }

    #[test]
    fn a_long_tick_is_cut_to_the_budget_and_forgotten() {
        let mut clock = Fluid::default();
        clock.plan(60.0, RULE, 10, 0.05, 1.0);
        assert_eq!(clock.due(), 10);
        assert_eq!(clock.dropped_steps(), 11_990);
        assert!(ticks(&mut clock, 1) <= 4);
    }
}
