//! The search in a world with periodic borders: plain loops, in which a
//! particle beside a border also looks behind the other one.

use bevy_math::Vec4;

use super::{NeighborChunk, NeighborLists, Results};
use crate::solver::grid::Rows;
use crate::solver::lanes::{Apart, WIDTH};
use crate::solver::listed::Bounds;
use crate::solver::neighborhood::{LANES, Surroundings};
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
        self.for_each(threads, around, results, |chunk, first, _, results| {
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
        let reach_squared = around.reach_squared();
        // Wider than a cell, so that no image is missed by rounding.
        let reach = 1.01 * kernel.support_radius();
        let mut rows = Rows::default();
        let bounds = Bounds { lowest: 0, highest: positions.len() as u32 - 1 };
        for local in 0..results.densities.len() {
            let i = first + local;
            let x = positions[i];
            let mut density = kernel.center() * volume;
            let (mut gradient_sum, mut squares) = (V::ZERO, 0.0);
            let (mut count, walls) = (0, self.boundary.len());
            let (mut indices, mut weights) = ([i as u32; LANES], [0.0; LANES]);
            let (mut components, mut factors) = ([[0.0; LANES]; 3], [0.0; LANES]);
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
                    let lane = count % LANES;
                    if offset == plain && !kernel.is_coincident(squared) {
                        factors[lane] = kernel.factor(squared) * volume;
                    } else if V::FACTORS {
                        // No factor of the offset between the two positions.
                        self.fluid.apart.push(Apart { of: i as u32, neighbor: j as u32, gradient });
                    }
                    (indices[lane], weights[lane]) = (j as u32, weight);
                    for (component, value) in components.iter_mut().zip(gradient.to_array()) {
                        component[lane] = value;
                    }
                    count += 1;
                    if count % LANES == 0 {
                        self.push(&indices, &weights, &components, &factors);
                        (indices, weights) = ([i as u32; LANES], [0.0; LANES]);
                        (components, factors) = ([[0.0; LANES]; 3], [0.0; LANES]);
                    }
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
            if count % LANES != 0 {
                self.push(&indices, &weights, &components, &factors);
                self.fluid.used -= LANES - (count % LANES).next_multiple_of(WIDTH);
            }
            // SAFETY: every index is one of a particle.
            unsafe { self.close(self.fluid.used, count, bounds) };
            results.densities[local] = density;
            results.gradient_sums[local] = gradient_sum;
            results.diagonals[local] =
                gradient_sum.length_squared() * around.lightness[i] + squares;
            results.counts[local] = (count + self.boundary.len() - walls) as u32;
        }
    }

    /// Appends a group of entries.
    fn push(
        &mut self,
        indices: &[u32; LANES],
        weights: &[f32; LANES],
        components: &[[f32; LANES]; 3],
        factors: &[f32; LANES],
    ) {
        let lists = &mut self.fluid;
        lists.reserve(LANES);
        let (start, end) = (lists.used, lists.used + LANES);
        lists.indices[start..end].copy_from_slice(indices);
        lists.weights[start..end].copy_from_slice(weights);
        let bundles = &mut lists.gradients[start / WIDTH..end / WIDTH];
        V::bundle(components.map(Vec4::from_array), Vec4::from_array(*factors), bundles);
        lists.used = end;
    }
}
