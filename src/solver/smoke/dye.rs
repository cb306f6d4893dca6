//! Dye and heat in a step: diffused, carried along, faded.

use super::advect::{Carry, Room};
use super::border::{Beyond, fill_cells};
use super::diffuse::Place;
use super::grid::{Grid, total};
use super::settings::{Border, TotalDye};
use super::trace::{Flow, Sampler};
use super::{Smoke, Work};
use crate::solver::parallel::{Threads, ordered_sum};
use crate::solver::vector::Vector;

/// What lies beyond the borders for dye and excess temperature: none of it.
pub(super) const FRESH: Beyond = Beyond::Value(0.0);

impl<V: Vector> Smoke<V> {
    /// Diffuses, carries and fades dye and heat along the trace.
    pub(super) fn move_dye(&mut self, threads: Threads) {
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
