//! The search in a world with periodic borders: plain loops, in which a
//! particle beside a border also looks behind the other one.

use super::{NeighborChunk, NeighborLists};
use crate::solver::grid::Rows;
use crate::solver::lanes::Apart;
use crate::solver::listed::Bounds;
use crate::solver::neighborhood::{Results, Surroundings};
use crate::solver::parallel::Threads;
use crate::solver::periodic::Periodic;
use crate::solver::vector::Vector;

impl<V: Vector> NeighborLists<V> {
    /// [`NeighborLists::find`] within periodic borders, which the positions are wrapped into.
    pub(crate) fn find_wrapped(
        &mut self,
        threads: Threads,
        around: &Surroundings<V>,
        periodic: &Periodic,
        results: Results<V>,
    ) {
        self.for_each(threads, around, results, |chunk, first, results| {
            chunk.find_wrapped(first, around, periodic, results);
        });
    }
}

impl<V: Vector> NeighborChunk<V> {
    fn find_wrapped(
        &mut self,
        first: usize,
        around: &Surroundings<V>,
        periodic: &Periodic,
        results: Results<V>,
    ) {
        let Surroundings { positions, places, grid, boundary, kernel, volume, .. } = *around;
        self.clear();
        self.reach = Bounds::of(first as u32);
        let reach_squared = around.reach_squared();
        // Wider than a cell, so that no image is missed by rounding.
        let reach = 1.01 * kernel.support_radius();
        let mut rows = Rows::default();
        for local in 0..results.densities.len() {
            let i = first + local;
            let x = positions[i];
            let mut density = kernel.center() * volume;
            let (mut gradient_sum, mut squares) = (V::ZERO, 0.0);
            let (mut count, walls) = (0, self.boundary.len());
            let start = self.fluid.used;
            // Images come one after the other, and so the indices do not ascend.
            let mut bounds = Bounds::of(i as u32);
            periodic.for_each_image(x, reach, |image| {
                grid.rows(image, &mut rows);
                for j in rows.points().filter(|&j| j != i) {
                    let plain = x - positions[j];
                    let offset = periodic.offset(plain);
                    let squared = offset.length_squared();
                    if squared >= reach_squared {
                        continue;
                    }
                    let weight = kernel.value(squared) * volume;
                    let gradient = kernel.pair_gradient(offset, places[i], places[j]) * volume;
                    density += weight;
                    gradient_sum += gradient;
                    squares += gradient.length_squared() * around.lightness[j];
                    let mut factor = kernel.factor(squared) * volume;
                    let coincident = kernel.is_coincident(squared);
                    self.fluid.coincident |= coincident;
                    if offset != plain || coincident {
                        // None of the offset between the two positions.
                        factor = 0.0;
                        if V::FACTORS {
                            let (of, neighbor) = (i as u32, j as u32);
                            self.fluid.apart.push(Apart { of, neighbor, gradient });
                        }
                    }
                    self.fluid.push(j as u32, weight, gradient, factor);
                    bounds = bounds.with(j as u32);
                    count += 1;
                }
                boundary.grid().rows(image, &mut rows);
                for k in rows.points() {
                    let offset = periodic.offset(x - boundary.positions()[k]);
                    let squared = offset.length_squared();
                    if squared < reach_squared {
                        self.boundary.push(k as u32);
                        let volume = boundary.volumes()[k];
                        density += volume * kernel.value(squared);
                        let other = u32::MAX - k as u32;
                        gradient_sum += kernel.pair_gradient(offset, places[i], other) * volume;
                    }
                }
            });
            self.fluid.pad(i);
            self.bounds.push(bounds);
            self.reach = self.reach.and(bounds);
            self.close(start, count as u32);
            results.densities[local] = density;
            results.gradient_sums[local] = gradient_sum;
            results.diagonals[local] =
                gradient_sum.length_squared() * around.lightness[i] + squares;
            results.counts[local] = (count + self.boundary.len() - walls) as u32;
        }
    }
}
