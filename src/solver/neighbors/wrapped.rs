//! The search in a world with periodic borders: plain loops, in which a
//! particle beside a border also looks behind the other one.

use bevy_math::Vec4;

use super::{NeighborChunk, NeighborLists, Results};
use crate::solver::grid::Rows;
use crate::solver::neighborhood::Surroundings;
use crate::solver::parallel::{CHUNK, Threads, for_each_chunk};
use crate::solver::periodic::Periodic;
use crate::solver::vector::Vector;

/// Entries that lists are written in.
const GROUP: usize = 4;

impl<V: Vector> NeighborLists<V> {
    /// [`NeighborLists::find`] within periodic borders, which the positions are wrapped into.
    pub(crate) fn find_wrapped(
        &mut self,
        threads: Threads,
        around: &Surroundings<V>,
        periodic: &Periodic,
        results: Results<V>,
    ) {
        self.used = around.positions.len().div_ceil(CHUNK);
        if self.chunks.len() < self.used {
            self.chunks.resize_with(self.used, Default::default);
        }
        let Results { densities, gradient_sums, diagonals, counts } = results;
        let chunks = self.chunks[..self.used]
            .iter_mut()
            .zip(densities.chunks_mut(CHUNK))
            .zip(gradient_sums.chunks_mut(CHUNK))
            .zip(diagonals.chunks_mut(CHUNK))
            .zip(counts.chunks_mut(CHUNK))
            .enumerate();
        for_each_chunk(threads, chunks, |(index, chunk)| {
            let ((((chunk, densities), gradient_sums), diagonals), counts) = chunk;
            let results = Results { densities, gradient_sums, diagonals, counts };
            chunk.find_wrapped(index * CHUNK, around, periodic, results);
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
        self.bundle_ends.clear();
        self.fluid_counts.clear();
        self.boundary.clear();
        self.boundary_ends.clear();
        self.fluid.used = 0;
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
            let (mut indices, mut weights) = ([i as u32; GROUP], [0.0; GROUP]);
            let mut components = [[0.0; GROUP]; 3];
            periodic.for_each_image(x, reach, |image| {
                grid.rows(image, &mut rows);
                for j in rows.points().filter(|&j| j != i) {
                    let offset = periodic.offset(x - positions[j]);
                    let squared = offset.length_squared();
                    if squared >= reach_squared {
                        continue;
                    }
                    let weight = kernel.value(squared) * volume;
                    let gradient = kernel.pair_gradient(offset, places[i], places[j]) * volume;
                    density += weight;
                    gradient_sum += gradient;
                    squares += gradient.length_squared() * around.lightness[j];
                    let lane = count % GROUP;
                    (indices[lane], weights[lane]) = (j as u32, weight);
                    for (component, value) in components.iter_mut().zip(gradient.to_array()) {
                        component[lane] = value;
                    }
                    count += 1;
                    if count % GROUP == 0 {
                        self.push(&indices, &weights, &components);
                        (indices, weights) = ([i as u32; GROUP], [0.0; GROUP]);
                        components = [[0.0; GROUP]; 3];
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
            if count % GROUP != 0 {
                self.push(&indices, &weights, &components);
                self.fluid.used -= GROUP - (count % GROUP).next_multiple_of(V::WIDTH);
            }
            self.fluid_counts.push(count as u32);
            self.bundle_ends.push((self.fluid.used / V::WIDTH) as u32);
            self.boundary_ends.push(self.boundary.len() as u32);
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
        indices: &[u32; GROUP],
        weights: &[f32; GROUP],
        components: &[[f32; GROUP]; 3],
    ) {
        let lists = &mut self.fluid;
        let (start, end) = (lists.used, lists.used + GROUP);
        if lists.indices.len() < end {
            let room = (end + end / 8).next_multiple_of(GROUP);
            lists.indices.resize(room, 0);
            lists.gradients.resize(room / V::WIDTH, V::Bundle::default());
            if V::WEIGHTS_APART {
                lists.weights.resize(room, 0.0);
            }
        }
        lists.indices[start..end].copy_from_slice(indices);
        if V::WEIGHTS_APART {
            lists.weights[start..end].copy_from_slice(weights);
        }
        let bundles = &mut lists.gradients[start / V::WIDTH..end / V::WIDTH];
        V::bundle(components.map(Vec4::from_array), Vec4::from_array(*weights), bundles);
        lists.used = end;
    }
}
