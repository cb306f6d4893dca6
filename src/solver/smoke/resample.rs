//! Smoke on another grid.

use super::Smoke;
use super::domain::SmokeDomain;
use super::settings::SmokeScheme;
use super::trace::Sampler;
use crate::solver::error::FluidError;
use crate::solver::vector::Vector;

/// Most samples along an axis of a cell of the new grid.
const MAX_SAMPLES: usize = 8;

impl<V: Vector> Smoke<V> {
    /// Puts the smoke on another grid, its content stretched to the new extent:
    /// with the same extent it stays where it is, finer or coarser. The total of
    /// each dye is kept. Obstacles and sources stay where they are.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for an impossible domain; the old one stays.
    pub fn resample(&mut self, domain: SmokeDomain<V>) -> Result<(), FluidError> {
        if domain == self.domain {
            return Ok(());
        }
        let mut new = Self::new(domain, self.settings.clone(), self.dye.len())?;
        new.obstacles = self.obstacles.clone();
        new.rebuild_solids()?;
        self.fill_borders();
        let mapping = Mapping::new(self, &new);
        for (from, to) in self.dye.iter().zip(&mut new.dye) {
            mapping.map(from, to, None);
        }
        mapping.map(&self.excess, &mut new.excess, None);
        let staggered = self.settings.scheme == SmokeScheme::Staggered;
        for axis in 0..V::DIM {
            let faces = staggered.then_some(axis);
            mapping.map(&self.velocity[axis], &mut new.velocity[axis], faces);
        }
        for channel in 0..self.dye.len() {
            for (at, value) in new.dye[channel].iter_mut().enumerate() {
                if new.solids.contains(at) {
                    *value = 0.0;
                }
            }
            let (old_total, new_total) = (self.total_dye(channel), new.total_dye(channel));
            if new_total > 0.0 {
                let scale = (old_total / new_total) as f32;
                new.dye[channel].iter_mut().for_each(|value| *value *= scale);
            }
        }
        if staggered {
            new.solids.hold(&mut new.velocity);
            new.fill_borders();
        }
        new.heated = self.heated;
        (new.time, new.steps) = (self.time, self.steps);
        new.sources = core::mem::take(&mut self.sources);
        new.stats = self.stats.clone();
        *self = new;
        Ok(())
    }
}

/// How places of a new grid lie in an old one.
struct Mapping {
    old: Sampler,
    new: super::grid::Grid,
    /// Old cells for each new one along each axis.
    ratio: [f32; 3],
    /// Samples for each new cell along each axis.
    samples: [usize; 3],
}

impl Mapping {
    fn new<V: Vector>(old: &Smoke<V>, new: &Smoke<V>) -> Self {
        let cells = |axis: usize| (old.grid.cells[axis] as f32, new.grid.cells[axis] as f32);
        let ratio: [f32; 3] = core::array::from_fn(|axis| cells(axis).0 / cells(axis).1);
        let samples = core::array::from_fn(|axis| {
            if axis < V::DIM { (ratio[axis].ceil() as usize).clamp(1, MAX_SAMPLES) } else { 1 }
        });
        Self { old: Sampler::new(old.grid, old.settings.borders()), new: new.grid, ratio, samples }
    }

    /// Mean of samples of `from` over each new cell, or around each face across an axis.
    fn map(&self, from: &[f32], to: &mut [f32], faces: Option<usize>) {
        let grid = self.new;
        let last = |axis: usize| grid.cells[axis] + usize::from(faces == Some(axis));
        let planes = if grid.dim == 3 { 1..=last(2) } else { 0..=0 };
        for k in planes {
            for j in 1..=last(1) {
                for i in 1..=last(0) {
                    to[grid.index(i, j, k)] = self.mean(from, [i, j, k], faces);
                }
            }
        }
    }

    fn mean(&self, from: &[f32], place: [usize; 3], faces: Option<usize>) -> f32 {
        let [nx, ny, nz] = self.samples;
        let mut sum = 0.0;
        for number in 0..nx * ny * nz {
            let sample = [number % nx, number / nx % ny, number / (nx * ny)];
            let point = core::array::from_fn(|axis| {
                let within = (sample[axis] as f32 + 0.5) / self.samples[axis] as f32;
                // In cells from the lower border: of the new grid, then of the old.
                let shift = if faces == Some(axis) { 1.5 } else { 1.0 };
                let new = place[axis] as f32 - shift + within;
                new * self.ratio[axis] + shift - 0.5
            });
            sum += if self.old.grid.dim == 3 {
                self.old.sample::<3>(from, point)
            } else {
                self.old.sample::<2>(from, point)
            };
        }
        sum / (nx * ny * nz) as f32
    }
}
