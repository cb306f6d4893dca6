//! A step of smoke, stage by stage.

use bevy_platform::time::Instant;

use super::advect::{Carry, Room};
use super::border::{Beyond, fill_cells, fill_faces, let_out};
use super::diffuse::{Diffusion, Place};
use super::forces::{Confinement, add_buoyancy};
use super::grid::{Grid, total};
use super::reference::Stable;
use super::settings::{Border, SmokeScheme, TotalDye};
use super::stats::{SmokeStage, SmokeStats};
use super::trace::{Flow, Sampler};
use super::{Smoke, Work};
use crate::solver::error::FluidError;
use crate::solver::fan::Fan;
use crate::solver::parallel::{Threads, ordered_sum};
use crate::solver::time_step::check_step;
use crate::solver::vector::Vector;

/// What lies beyond the borders for dye and excess temperature: none of it.
const FRESH: Beyond = Beyond::Value(0.0);

/// Part of the tolerance of projections that diffusion is solved to.
const DIFFUSION_TOLERANCE: f32 = 0.1;

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
        self.begin_step(dt)?;
        self.apply_forces(threads);
        self.project(threads);
        self.advect(threads);
        self.finish_step(threads);
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

    fn diffusion<'a>(&'a self, coefficient: f32, threads: Threads<'a>) -> Diffusion<'a> {
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
        let Work { next, trace, ahead, .. } = &mut self.work;
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
            carry.faces(axis, ahead, next);
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

    /// Diffuses, carries and fades dye and heat along the trace.
    fn move_dye(&mut self, threads: Threads) {
        let (grid, borders, dt) = (self.grid, self.settings.borders(), self.stats.dt);
        let mut work = core::mem::take(&mut self.work);
        let mut dye = core::mem::take(&mut self.dye);
        let mut excess = core::mem::take(&mut self.excess);
        let diffusion = self.diffusion(self.settings.diffusion, threads);
        let mut iterations = 0;
        let Work { next, trace, ahead, carried, sums, .. } = &mut work;
        let carry = Carry {
            flow: Flow {
                sampler: Sampler::new(grid, borders),
                velocity: &self.velocity,
                scale: dt / self.domain.cell_size(),
                solids: self.solids.any().then_some(&self.solids),
                threads,
            },
            trace,
            advection: self.settings.advection,
            borders,
            walls: self.settings.walls,
        };
        let [above, below, _] = next;
        let fade = (-dt * self.settings.dissipation).exp();
        for field in &mut dye {
            // Both are scratch of the diffusion, and after it the room for correction.
            iterations = diffusion.run(Place::Cells(FRESH), field, above, below);
            fill_cells(&grid, field, borders, FRESH);
            let kept = self.settings.total_dye == TotalDye::Kept;
            if kept {
                let expected = sum(&grid, field, sums, threads) - self.outflow(field);
                let room = Room { above: &mut *above, below: &mut *below };
                carry.cells(field, FRESH, ahead, carried, Some(room));
                let lost = expected - sum(&grid, carried, sums, threads);
                let room: &[f32] = if lost > 0.0 { above } else { below };
                let most = sum(&grid, room, sums, threads);
                let part = if most > 0.0 { (lost / most).clamp(-1.0, 1.0) as f32 } else { 0.0 };
                correct(&grid, carried, room, part, fade, threads);
            } else {
                carry.cells(field, FRESH, ahead, carried, None);
                correct(&grid, carried, below, 0.0, fade, threads);
            }
            core::mem::swap(field, carried);
            fill_cells(&grid, field, borders, FRESH);
        }
        if self.heated {
            iterations =
                iterations.max(diffusion.run(Place::Cells(FRESH), &mut excess, above, below));
            fill_cells(&grid, &mut excess, borders, FRESH);
            carry.cells(&excess, FRESH, ahead, carried, None);
            let fade = (-dt * self.settings.cooling).exp();
            correct(&grid, carried, below, 0.0, fade, threads);
            core::mem::swap(&mut excess, carried);
            fill_cells(&grid, &mut excess, borders, FRESH);
        }
        self.stats.diffusion_iterations += iterations;
        (self.work, self.dye, self.excess) = (work, dye, excess);
    }

    /// Dye, times cells, that leaves through open borders in this step.
    fn outflow(&self, field: &[f32]) -> f64 {
        let grid = self.grid;
        let scale = self.stats.dt / self.domain.cell_size();
        let mut total = 0.0f64;
        for axis in 0..V::DIM {
            if self.settings.borders()[axis] != Border::Open {
                continue;
            }
            let (stride, velocity) = (grid.stride[axis], &self.velocity[axis]);
            grid.for_each_across(axis, |at| {
                let last = at + grid.cells[axis] * stride;
                let low = (-velocity[at + stride]).max(0.0) * field[at + stride];
                let high = velocity[last + stride].max(0.0) * field[last];
                total += f64::from(scale * (low + high));
            });
        }
        total
    }

    /// The whole step of the scheme as first published.
    fn step_stable(&mut self) {
        let stable = Stable {
            grid: self.grid,
            dt: self.stats.dt,
            side: self.domain.cell_size(),
            viscosity: self.settings.viscosity,
            diffusion: self.settings.diffusion,
            iterations: self.settings.iterations,
        };
        let Work { next, ahead, .. } = &mut self.work;
        next.iter_mut().for_each(|field| field.fill(0.0));
        for source in &self.cell_sources {
            let rates = source.velocity.to_array();
            for axis in 0..V::DIM {
                next[axis][source.at] += rates[axis];
            }
        }
        self.stats.divergence_before = stable.divergence(&self.velocity);
        stable.move_velocity(&mut self.velocity, next);
        self.stats.divergence_after = stable.divergence(&self.velocity);
        self.stats.iterations = 2 * stable.iterations;
        for (channel, dye) in self.dye.iter_mut().enumerate() {
            ahead.fill(0.0);
            for source in self.cell_sources.iter().filter(|source| source.channel == channel) {
                ahead[source.at] += source.dye;
            }
            stable.move_dye(dye, ahead, &self.velocity);
        }
        self.cell_sources.clear();
        let fastest = self.velocity.iter().map(|field| super::grid::largest(field));
        self.stats.max_speed = fastest.fold(0.0, f32::max);
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

    /// Moves velocities between the middles of cells and their faces.
    pub(super) fn move_velocities(&mut self, to: SmokeScheme) {
        let grid = self.grid;
        for axis in 0..V::DIM {
            let stride = grid.stride[axis];
            let (field, out) = (&self.velocity[axis], &mut self.work.next[axis]);
            out.fill(0.0);
            for row in grid.inner_rows() {
                for i in 1..=grid.cells[0] {
                    let at = grid.index(i, row.j, row.k);
                    let place = [i, row.j, row.k][axis];
                    match to {
                        SmokeScheme::StableFluids => {
                            out[at] = 0.5 * (field[at] + field[at + stride]);
                        }
                        SmokeScheme::Staggered if place > 1 => {
                            out[at] = 0.5 * (field[at - stride] + field[at]);
                        }
                        SmokeScheme::Staggered => {}
                    }
                }
            }
        }
        core::mem::swap(&mut self.velocity, &mut self.work.next);
        if to == SmokeScheme::StableFluids {
            let stable =
                Stable { grid, dt: 0.0, side: 1.0, viscosity: 0.0, diffusion: 0.0, iterations: 0 };
            for (axis, field) in self.velocity.iter_mut().enumerate().take(V::DIM) {
                stable.border(field, Some(axis));
            }
        } else {
            self.solids.hold(&mut self.velocity);
        }
    }
}

/// Sum over all cells, the same on any number of threads.
pub(super) fn sum(grid: &Grid, field: &[f32], sums: &mut [f64], threads: Threads) -> f64 {
    sums.fill(0.0);
    grid.for_rows_with::<0, f64>(threads, grid.stride[1], [], sums, |row, [], sum| {
        *sum += total(&field[row.index * grid.stride[1] + 1..][..grid.cells[0]]);
    });
    ordered_sum(sums)
}

/// Adds a part of its room to each cell, and fades the result.
fn correct(grid: &Grid, field: &mut [f32], room: &[f32], part: f32, fade: f32, threads: Threads) {
    if part == 0.0 && fade == 1.0 {
        return;
    }
    grid.for_rows(threads, [field], |row, [out]| {
        let room = &room[row.index * grid.stride[1] + 1..][..grid.cells[0]];
        for (value, room) in out[1..].iter_mut().zip(room) {
            *value = (*value + part * room) * fade;
        }
    });
}
