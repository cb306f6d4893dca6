//! A step of smoke, stage by stage.

use bevy_platform::time::Instant;

use super::advect::Carry;
use super::border::{Beyond, fill_cells, fill_component, fill_faces, let_out};
use super::diffuse::{Diffusion, Place};
use super::dye::{FRESH, sum};
use super::forces::{Confinement, add_buoyancy};
use super::settings::{SmokeScheme, Splitting};
use super::stats::{SmokeStage, SmokeStats};
use super::trace::{Flow, Sampler};
use super::{Smoke, Work};
use crate::solver::error::FluidError;
use crate::solver::fan::Fan;
use crate::solver::parallel::Threads;
use crate::solver::time_step::check_step;
use crate::solver::vector::Vector;

/// Part of the tolerance of projections that diffusion is solved to.
const DIFFUSION_TOLERANCE: f32 = 0.1;

/// Part of the last pressure's gradient that air takes along where splitting is of
/// second order. With all of it the pressure after a push would swing for ever.
const CARRIED: f32 = 0.9;

/// Most steps that [`Smoke::advance`] makes at once.
const MOST_STEPS: u32 = 8;

impl<V: Vector> Smoke<V> {
    /// Lets `elapsed` seconds pass: as many steps of
    /// [`time_step`](super::SmokeSettings::time_step) as fit into them and what
    /// was left before. Beyond eight steps it drops time and falls behind.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] if `elapsed` is not 0 s to 1 s; nothing is done.
    pub fn advance(&mut self, elapsed: f32, threads: Threads) -> Result<(), FluidError> {
        self.advance_with(elapsed, &[], threads)
    }

    /// [`Smoke::advance`] while fans blow.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] if `elapsed` is not 0 s to 1 s or a fan is out of
    /// range; nothing is done.
    pub fn advance_with(
        &mut self,
        elapsed: f32,
        fans: &[Fan<V>],
        threads: Threads,
    ) -> Result<(), FluidError> {
        V::advance_smoke(self, elapsed, fans, threads)
    }

    /// What [`Smoke::advance_with`] does.
    pub(in crate::solver) fn catch_up(
        &mut self,
        elapsed: f32,
        fans: &[Fan<V>],
        threads: Threads,
    ) -> Result<(), FluidError> {
        Fan::validate_all(fans)?;
        if !(0.0..=1.0).contains(&elapsed) {
            return Err(FluidError::parameter("elapsed", elapsed, "0 s to 1 s"));
        }
        let dt = self.settings.time_step;
        let length = f64::from(dt);
        self.unspent += f64::from(elapsed);
        // A sum of steps in f32 falls short of its decimal value.
        let due = (self.unspent / length + 1e-6) as u32;
        for _ in 0..due.min(MOST_STEPS) {
            if !fans.is_empty() {
                self.blow(fans, dt)?;
            }
            self.step(dt, threads)?;
        }
        self.unspent = (self.unspent - f64::from(due) * length).clamp(0.0, length);
        Ok(())
    }

    /// One step of `dt` seconds.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] if `dt` is not within 1e-6 s to 1 s; nothing is done.
    pub fn step(&mut self, dt: f32, threads: Threads) -> Result<(), FluidError> {
        V::step_smoke(self, dt, threads)
    }

    /// What [`Smoke::step`] does.
    pub(in crate::solver) fn run_stages(
        &mut self,
        dt: f32,
        threads: Threads,
    ) -> Result<(), FluidError> {
        self.begin_step(dt)?;
        self.grid.threads(threads).together(|threads| {
            self.apply_forces(threads);
            self.project(threads);
            self.advect(threads);
            self.finish_step(threads);
        });
        Ok(())
    }

    /// Starts a step of `dt` seconds, for those who call its stages one by one,
    /// as [`Smoke::step`] does: [`Smoke::apply_forces`], [`Smoke::project`],
    /// [`Smoke::advect`], [`Smoke::finish_step`].
    ///
    /// # Errors
    /// [`FluidError::Parameter`] if `dt` is not within 1e-6 s to 1 s; nothing is done.
    pub fn begin_step(&mut self, dt: f32) -> Result<(), FluidError> {
        check_step("time_step", dt)?;
        let total_dye = core::mem::take(&mut self.stats.total_dye);
        self.stats = SmokeStats { dt, total_dye, ..SmokeStats::default() };
        Ok(())
    }

    /// First stage: sources, buoyancy, confinement and viscosity.
    pub fn apply_forces(&mut self, threads: Threads) {
        let since = Instant::now();
        self.emit();
        if self.settings.scheme == SmokeScheme::Staggered {
            self.accelerate(threads);
        }
        self.stats.add_time(SmokeStage::Forces, since);
    }

    fn accelerate(&mut self, threads: Threads) {
        let (grid, dt, borders) = (self.grid, self.stats.dt, self.settings.borders());
        let Work { next, ahead, .. } = &mut self.work;
        if self.heated && self.settings.buoyancy != 0.0 {
            fill_cells(&grid, &mut self.excess, borders, FRESH);
            let gain = dt * self.settings.buoyancy;
            add_buoyancy(grid, &self.excess, &mut self.velocity, borders, gain, threads);
        }
        self.solids.hold(&mut self.velocity);
        fill_faces(&grid, &mut self.velocity, borders, self.settings.walls);
        if self.settings.vorticity_confinement > 0.0 {
            let gain = dt * self.settings.vorticity_confinement;
            let side = self.domain.cell_size();
            let solids = &self.solids;
            let confinement = Confinement { borders, solids, gain, side, threads };
            confinement.add(grid, &mut self.velocity, ahead, next);
        }
        let mut velocity = core::mem::take(&mut self.velocity);
        let mut work = core::mem::take(&mut self.work);
        let diffusion = self.diffusion(self.settings.viscosity, threads);
        let mut iterations = 0;
        for (axis, field) in velocity.iter_mut().enumerate().take(V::DIM) {
            let count =
                diffusion.run(Place::Faces(axis), field, &mut work.next[axis], &mut work.ahead);
            iterations = iterations.max(count);
        }
        (self.velocity, self.work) = (velocity, work);
        self.stats.diffusion_iterations += iterations;
        self.solids.hold(&mut self.velocity);
        fill_faces(&grid, &mut self.velocity, borders, self.settings.walls);
    }

    pub(super) fn diffusion<'a>(&'a self, coefficient: f32, threads: Threads<'a>) -> Diffusion<'a> {
        let side = self.domain.cell_size();
        Diffusion {
            grid: self.grid,
            borders: self.settings.borders(),
            walls: self.settings.walls,
            solids: &self.solids,
            rate: self.stats.dt * coefficient / (side * side),
            tolerance: DIFFUSION_TOLERANCE * self.settings.tolerance,
            limit: self.settings.iterations,
            threads,
        }
    }

    /// Second stage: the projection.
    pub fn project(&mut self, threads: Threads) {
        if self.settings.scheme == SmokeScheme::StableFluids {
            return;
        }
        let since = Instant::now();
        let done = self.free_from_divergence(threads);
        self.stats.divergence_before = done;
        self.stats.add_time(SmokeStage::Projection, since);
    }

    /// Projects; returns the largest divergence before.
    fn free_from_divergence(&mut self, threads: Threads) -> f32 {
        let Work { next, trace, .. } = &mut self.work;
        let [first, second, _] = next;
        let scratch = [&mut first[..], &mut second[..], &mut trace[0][..]];
        let done = self.projection.project(
            &mut self.velocity,
            &mut self.pressure,
            scratch,
            &self.settings,
            &self.solids,
            threads,
        );
        let per_second = 1.0 / self.domain.cell_size();
        self.stats.divergence_after = done.after * per_second;
        self.stats.iterations += done.iterations;
        let borders = self.settings.borders();
        fill_faces(&self.grid, &mut self.velocity, borders, self.settings.walls);
        done.before * per_second
    }

    /// Third stage: advection of velocity, and of dye unless a second projection follows.
    pub fn advect(&mut self, threads: Threads) {
        let since = Instant::now();
        if self.settings.scheme == SmokeScheme::StableFluids {
            self.step_stable();
            self.stats.add_time(SmokeStage::Advection, since);
            return;
        }
        let (grid, borders) = (self.grid, self.settings.borders());
        self.trace(threads);
        if self.settings.projections == 1 {
            self.move_dye(threads);
        }
        let second_order = self.settings.splitting == Splitting::SecondOrder;
        let gradient =
            second_order.then(|| self.projection.gradient(&self.pressure, borders, threads));
        let Work { next, trace, ahead, carried, .. } = &mut self.work;
        let carry = Carry {
            flow: Flow {
                sampler: Sampler::new(grid, borders),
                velocity: &self.velocity,
                scale: self.stats.dt / self.domain.cell_size(),
                solids: self.solids.any().then_some(&self.solids),
                threads,
            },
            trace,
            advection: self.settings.advection,
            borders,
            walls: self.settings.walls,
        };
        for (axis, next) in next.iter_mut().enumerate().take(V::DIM) {
            let own = &self.velocity[axis];
            let Some(gradient) = &gradient else {
                carry.faces(axis, own, ahead, next);
                continue;
            };
            carried.copy_from_slice(own);
            gradient.subtract(axis, carried, CARRIED);
            self.solids.hold_axis(axis, carried);
            fill_component(&grid, carried, axis, borders, self.settings.walls);
            carry.faces(axis, carried, ahead, next);
        }
        core::mem::swap(&mut self.velocity, next);
        let_out(&grid, &mut self.velocity, borders);
        self.solids.hold(&mut self.velocity);
        fill_faces(&grid, &mut self.velocity, borders, self.settings.walls);
        self.stats.add_time(SmokeStage::Advection, since);
    }

    /// Last stage: the second projection and dye's way along it, if asked for.
    pub fn finish_step(&mut self, threads: Threads) {
        let since = Instant::now();
        if self.settings.scheme == SmokeScheme::Staggered && self.settings.projections > 1 {
            self.free_from_divergence(threads);
            self.trace(threads);
            self.move_dye(threads);
        }
        for (channel, dye) in self.dye.iter().enumerate() {
            let amount = sum(&self.grid, dye, &mut self.work.sums, threads);
            self.stats.total_dye[channel] = amount * f64::from(self.domain.cell_volume());
        }
        if !self.stats.max_speed.is_finite() || !self.stats.divergence_before.is_finite() {
            self.stats.reset = true;
            self.still();
        }
        self.time += f64::from(self.stats.dt);
        self.steps += 1;
        self.stats.add_time(SmokeStage::Dye, since);
    }

    /// Stops air that has got faster than numbers go.
    fn still(&mut self) {
        self.velocity.iter_mut().for_each(|field| field.fill(0.0));
        self.pressure.fill(0.0);
        for field in self.dye.iter_mut().chain([&mut self.excess]) {
            field.iter_mut().filter(|value| !value.is_finite()).for_each(|value| *value = 0.0);
        }
        self.solids.hold(&mut self.velocity);
        self.fill_borders();
    }

    fn trace(&mut self, threads: Threads) {
        let (grid, borders) = (self.grid, self.settings.borders());
        let scale = self.stats.dt / self.domain.cell_size();
        let Work { trace, longest, .. } = &mut self.work;
        let flow = Flow {
            sampler: Sampler::new(grid, borders),
            velocity: &self.velocity,
            scale,
            solids: self.solids.any().then_some(&self.solids),
            threads,
        };
        self.stats.max_speed = flow.trace(trace, longest) / scale;
        for field in trace.iter_mut().take(V::DIM) {
            fill_cells(&grid, field, borders, Beyond::Nearest);
        }
    }

    /// Fills the border layer of every field.
    pub(super) fn fill_borders(&mut self) {
        let (grid, borders) = (self.grid, self.settings.borders());
        if self.settings.scheme == SmokeScheme::StableFluids {
            return;
        }
        fill_faces(&grid, &mut self.velocity, borders, self.settings.walls);
        for field in self.dye.iter_mut().chain([&mut self.excess]) {
            fill_cells(&grid, field, borders, FRESH);
        }
    }
}
