//! A coarse-grid correction: pressures that are constant in blocks of cells,
//! found together, for what neighbours pass on too slowly.
//!
//! The blocks are aggregates of particles, and their system is the particles'
//! own restricted to them (Galerkin; plain aggregation, as in Vanek, Mandel &
//! Brezina 1996 before smoothing), so that a correction never disagrees with
//! the sweeps about the answer. It is found by conjugate gradients.

use super::packed::Packed;
use crate::solver::blocks::{Blocks, LAYER_COLORS, Layer, NO_BLOCK, Step, steps};
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
    /// For each block its row: the entries for the blocks around it.
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
    const STEPS: [Step; 220] = steps(V::DIM);

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
                for i in layer.points.0 as usize..layer.points.1 as usize {
                    Self::add_particle(i, particles, neighbors, blocks, matrix, layer.reach.0);
                }
            });
        }
        let diagonals = self.matrix.chunks(Self::STENCIL).map(|row| row[Self::STENCIL / 2]);
        self.inverse.clear();
        self.inverse.extend(diagonals.map(|d| if d > 0.0 { 1.0 / d } else { 0.0 }));
    }

    /// Adds k_i k_i^T/rho0 to the rows from block `first` on.
    #[inline(always)]
    fn add_particle(
        i: usize,
        particles: &Packed<V>,
        neighbors: &NeighborLists<V>,
        blocks: &Blocks,
        matrix: &mut [f32],
        first: u32,
    ) {
        const SLOTS: usize = 8;
        let (chunk, local) = neighbors.of(i);
        let list = chunk.bundles(local);
        let mut sums = [V::ZERO; SLOTS];
        let mut offsets = [0i8; SLOTS];
        let mut used = 1u32;
        sums[0] = particles.gradient_sums[i];
        V::for_each_gradient(list.gradients, |j, gradient| {
            let Step { slot, offset } = Self::STEPS[blocks.step(i, j)];
            let slot = usize::from(slot) % SLOTS;
            sums[slot] += gradient;
            offsets[slot] = offset;
            used |= 1 << slot;
        });
        let lightness = particles.lightness[i];
        let center = (Self::STENCIL / 2) as i32;
        let around = blocks.of()[i] as usize * Self::STENCIL;
        let around = &blocks.neighbors()[around..around + Self::STENCIL];
        for (slot, &left) in sums.iter().enumerate() {
            if used & 1 << slot == 0 {
                continue;
            }
            let left = left * lightness;
            let from = i32::from(offsets[slot]);
            let row = around[(center + from) as usize].wrapping_sub(first) as usize;
            let row = &mut matrix[row * Self::STENCIL..][..Self::STENCIL];
            for (slot, &right) in sums.iter().enumerate() {
                if used & 1 << slot != 0 {
                    row[(center + i32::from(offsets[slot]) - from) as usize] += left.dot(right);
                }
            }
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
