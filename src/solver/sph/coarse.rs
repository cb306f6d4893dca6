//! A coarse-grid correction: pressures that are constant in blocks of cells,
//! found together, for what neighbours pass on too slowly.
//!
//! The blocks are aggregates of particles, and their system is the particles'
//! own restricted to them (Galerkin; plain aggregation, as in Vanek, Mandel &
//! Brezina 1996 before smoothing), so that a correction never disagrees with
//! the sweeps about the answer. It is found by conjugate gradients.

use super::packed::Packed;
use crate::solver::blocks::{
    Blocks, LAYER_COLORS, Layer, NO_BLOCK, PAIRS, Pair, SLOTS, offsets, pairs, slots,
};
use crate::solver::grid::CellGrid;
use crate::solver::neighbors::NeighborLists;
use crate::solver::parallel::{PartsMut, Threads, for_each_chunk};
use crate::solver::vector::Vector;

/// Part of the first residual at which the coarse solve stops: the sweeps leave
/// more than that.
const TOLERANCE: f64 = 0.2;

/// Most iterations of the coarse solve: enough for 200 blocks side by side.
const MAX_ITERATIONS: u32 = 60;

/// The coarse system of equations and its last solution.
#[derive(Debug, Default)]
pub(super) struct Coarse<V> {
    /// Whether the system belongs to the present neighbourhoods.
    assembled: bool,
    blocks: Blocks,
    /// For each block its row: the entries for the blocks around it. It is symmetric.
    matrix: Vec<f32>,
    /// 1/diagonal, or zero for a block without one.
    inverse: Vec<f32>,
    residual: Vec<f32>,
    solution: Vec<f32>,
    direction: Vec<f32>,
    image: Vec<f32>,
    dimension: core::marker::PhantomData<V>,
}

impl<V: Vector> Coarse<V> {
    const STENCIL: usize = Blocks::stencil(V::DIM);
    const SLOT: [u8; 220] = slots(V::DIM);
    const OFFSETS: [[i8; SLOTS]; SLOTS] = offsets(V::DIM);
    const PAIRS: [[Pair; PAIRS]; SLOTS] = pairs(V::DIM);
    const USED_PAIRS: usize = (1 << V::DIM) * ((1 << V::DIM) + 1) / 2;
    const CENTER: usize = Self::STENCIL / 2;

    /// Forgets the system: the neighbourhoods are others.
    pub(super) fn outdate(&mut self) {
        self.assembled = false;
    }

    /// Sets up the system for the particles' present neighbourhoods, if it is not yet.
    ///
    /// With e constant in blocks, the acceleration of particle i is -1/rho0
    /// times the sum over blocks b of k_i\[b\] e_b, k_i\[b\] the sum of g_ij over
    /// its neighbours in b, and of G_i for its own block. The matrix is the sum
    /// of k_i k_i^T/rho0 over all particles.
    pub(super) fn assemble(
        &mut self,
        particles: &Packed<V>,
        neighbors: &NeighborLists<V>,
        grid: &CellGrid,
        threads: Threads,
    ) {
        if self.assembled {
            return;
        }
        self.assembled = true;
        self.blocks.find::<V>(grid, threads);
        let count = self.blocks.len();
        self.matrix.clear();
        self.matrix.resize(count * Self::STENCIL, 0.0);
        let blocks = &self.blocks;
        for color in 0..LAYER_COLORS {
            let layers = blocks.layers(color);
            let rows = |layer: &Layer| {
                let entry = |block: u32| block * Self::STENCIL as u32;
                (entry(layer.reach.0), entry(layer.reach.1))
            };
            let parts = (PartsMut::new(&mut self.matrix, layers, rows), layers);
            for_each_chunk(threads, parts, |(matrix, layer)| {
                let points = layer.points.0 as usize..layer.points.1 as usize;
                for (i, list) in points.zip(neighbors.successive(layer.points.0 as usize)) {
                    let gradients = list.gradients;
                    Self::add_particle(i, gradients, particles, blocks, matrix, layer.reach.0);
                }
            });
        }
        self.mirror();
        let diagonals = self.matrix.chunks(Self::STENCIL).map(|row| row[Self::CENTER]);
        self.inverse.clear();
        self.inverse.extend(diagonals.map(|d| if d > 0.0 { 1.0 / d } else { 0.0 }));
    }

    /// Sets the entries before the diagonal to those behind it.
    fn mirror(&mut self) {
        let neighbors = self.blocks.neighbors();
        for (row, around) in neighbors.chunks_exact(Self::STENCIL).enumerate() {
            for offset in 1..=Self::CENTER {
                let other = around[Self::CENTER + offset];
                if other != NO_BLOCK {
                    let entry = self.matrix[row * Self::STENCIL + Self::CENTER + offset];
                    self.matrix[other as usize * Self::STENCIL + Self::CENTER - offset] = entry;
                }
            }
        }
    }

    /// Adds k_i k_i^T/rho0 to the rows from block `first` on, its diagonal and what is
    /// behind it.
    #[inline(always)]
    fn add_particle(
        i: usize,
        gradients: V::Gradients<'_>,
        particles: &Packed<V>,
        blocks: &Blocks,
        matrix: &mut [f32],
        first: u32,
    ) {
        // By turns: a sum waits until the last one in its place was written.
        let mut sums = [[V::ZERO; SLOTS]; 2];
        sums[0][0] = particles.gradient_sums[i];
        let mut turn = 1;
        V::for_each_gradient(gradients, |j, gradient| {
            let slot = usize::from(Self::SLOT[blocks.step(i, j)]);
            sums[turn][slot % SLOTS] += gradient;
            turn ^= 1;
        });
        let [mut sums, others] = sums;
        sums.iter_mut().zip(others).for_each(|(sum, other)| *sum += other);
        let sides = blocks.sides(i) % SLOTS;
        let own = blocks.of()[i] as usize;
        let around = &blocks.neighbors()[own * Self::STENCIL..][..Self::STENCIL];
        // Where there is no block the sum is zero, and may be added anywhere.
        let mut rows = [0; SLOTS];
        for (row, offset) in rows.iter_mut().zip(Self::OFFSETS[sides]).take(1 << V::DIM) {
            let block = around[(Self::CENTER as i32 + i32::from(offset)) as usize];
            let block = if block == NO_BLOCK { own } else { block as usize };
            *row = (block - first as usize) * Self::STENCIL + Self::CENTER;
        }
        let lightness = particles.lightness[i];
        for pair in &Self::PAIRS[sides][..Self::USED_PAIRS] {
            let [row, column] = [pair.first, pair.second].map(|slot| usize::from(slot) % SLOTS);
            let product = sums[row].dot(sums[column]);
            matrix[rows[row] + usize::from(pair.offset)] += lightness * product;
        }
    }

    /// Finds the pressures of the blocks that meet the particles' `residuals`, in 1/s².
    pub(super) fn solve(&mut self, residuals: &[f32]) {
        let count = self.blocks.len();
        self.residual.clear();
        self.residual.resize(count, 0.0);
        for (&block, residual) in self.blocks.of().iter().zip(residuals) {
            self.residual[block as usize] += residual;
        }
        self.solution.clear();
        self.solution.resize(count, 0.0);
        self.image.resize(count, 0.0);
        let Self { matrix, inverse, residual, solution, direction, image, blocks, .. } = self;
        direction.clear();
        direction.extend(residual.iter().zip(&*inverse).map(|(r, inverse)| r * inverse));
        let product = |a: &[f32], b: &[f32]| -> f64 {
            a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum()
        };
        let mut norm = product(residual, direction);
        let target = norm * TOLERANCE * TOLERANCE;
        for _ in 0..MAX_ITERATIONS {
            let rows = matrix.chunks_exact(Self::STENCIL);
            let around = blocks.neighbors().chunks_exact(Self::STENCIL);
            for ((image, row), around) in image.iter_mut().zip(rows).zip(around) {
                let mut sum = 0.0;
                for (entry, &block) in row.iter().zip(around) {
                    if block != NO_BLOCK {
                        sum += entry * direction[block as usize];
                    }
                }
                *image = sum;
            }
            let curvature = product(direction, image);
            // Also where everything is zero, or no number.
            if !(norm > target && curvature > 0.0) {
                break;
            }
            let length = (norm / curvature) as f32;
            let mut next = 0.0;
            for row in 0..count {
                solution[row] += length * direction[row];
                residual[row] -= length * image[row];
                next += f64::from(residual[row] * residual[row] * inverse[row]);
            }
            let keep = (next / norm) as f32;
            for ((direction, residual), inverse) in
                direction.iter_mut().zip(&*residual).zip(&*inverse)
            {
                *direction = residual * inverse + keep * *direction;
            }
            norm = next;
        }
    }

    /// The solution's pressure at a particle.
    #[inline(always)]
    pub(super) fn pressure(&self, particle: usize) -> f32 {
        self.solution[self.blocks.of()[particle] as usize]
    }

    /// Bytes of all buffers.
    pub(super) fn bytes(&self) -> usize {
        let vectors = [
            &self.matrix,
            &self.inverse,
            &self.residual,
            &self.solution,
            &self.direction,
            &self.image,
        ];
        self.blocks.bytes() + vectors.iter().map(|vector| 4 * vector.capacity()).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::sampling::{BoundaryShape, Fill, FluidShape};
    use crate::solver::scene::{Scene, SceneBoundary, SceneFluid};
    use crate::solver::simulation::Simulation;
    use bevy_math::{Vec2, Vec3};

    /// A block of `counts` particles that falls into a box, a while later.
    fn splash<V: Vector>(counts: [f32; 3], steps: usize) -> Simulation<V> {
        let size = V::from_array(counts) * 0.05;
        let block = FluidShape::Block { min: V::splat(0.1), size };
        let half_size = size + V::splat(0.1);
        let shape = BoundaryShape::Box { half_size, fill: Fill::Container };
        let boundary = SceneBoundary { shape, position: half_size, surface_velocity: V::ZERO };
        let mut simulation = Simulation::from_scene(&Scene {
            fluids: vec![SceneFluid { shapes: vec![block], ..SceneFluid::default() }],
            boundaries: vec![boundary],
            ..Scene::default()
        })
        .unwrap();
        for _ in 0..steps {
            simulation.step(0.004, Threads::Serial).unwrap();
        }
        simulation.prepare(Threads::Serial).unwrap();
        simulation
    }

    /// Twice the energy of the accelerations by pressures that are constant in blocks, by
    /// the particles and by the matrix.
    fn energies<V: Vector>(simulation: &Simulation<V>) -> [f64; 2] {
        let world = simulation.world();
        let mut coarse = Coarse::<V>::default();
        coarse.assemble(&world.particles, &world.neighbors, &world.grid, Threads::Serial);
        let pressure = |block: u32| (block.wrapping_mul(2_654_435_761) >> 8) as f32 * 1e-6;
        let of = coarse.blocks.of();
        let mut by_particles = 0.0;
        for (i, &block) in of.iter().enumerate() {
            let (chunk, local) = world.neighbors.of(i);
            let mut sum = world.particles.gradient_sums[i] * pressure(block);
            V::for_each_gradient(chunk.bundles(local).gradients, |j, gradient| {
                sum += gradient * pressure(of[j]);
            });
            by_particles += f64::from(sum.dot(sum) * world.particles.lightness[i]);
        }
        let rows = coarse.matrix.chunks_exact(Coarse::<V>::STENCIL);
        let around = coarse.blocks.neighbors().chunks_exact(Coarse::<V>::STENCIL);
        let mut by_matrix = 0.0;
        for (block, (row, around)) in rows.zip(around).enumerate() {
            for (&entry, &other) in row.iter().zip(around).filter(|(_, other)| **other != NO_BLOCK)
            {
                by_matrix += f64::from(entry * pressure(block as u32) * pressure(other));
            }
        }
        [by_particles, by_matrix]
    }

    #[test]
    fn the_matrix_is_that_of_the_particles_restricted_to_blocks() {
        for steps in [0, 100] {
            let flat = energies::<Vec2>(&splash([30.0, 40.0, 0.0], steps));
            let solid = energies::<Vec3>(&splash([9.0, 14.0, 11.0], steps));
            for [by_particles, by_matrix] in [flat, solid] {
                assert!(by_particles > 0.0);
                let off = (by_matrix / by_particles - 1.0).abs();
                assert!(off < 1e-4, "{by_matrix} against {by_particles}");
            }
        }
    }
}
