//! The packed arrays that the solver's loops run over.

use crate::solver::parallel::{CHUNK, Threads, chunks_mut, for_each_chunk, numbers};
use crate::solver::vector::Vector;

/// Packed index of a particle that was removed.
pub(super) const GONE: u32 = u32::MAX;

/// Particles of all bodies, one array per quantity, in the order of the grid.
#[derive(Debug, Default)]
pub(super) struct Packed<V> {
    pub(super) positions: Vec<V>,
    pub(super) velocities: Vec<V>,
    /// Place in the concatenation of all bodies: the particle's id in the world.
    pub(super) places: Vec<u32>,
    /// Index of the body.
    pub(super) bodies: Vec<u32>,
    /// 1/rho0 in m³/kg (m²/kg in 2D).
    pub(super) lightness: Vec<f32>,
    /// p dt² of the density solve in Pa s².
    pub(super) density_impulses: Vec<f32>,
    /// p dt of the divergence solve in Pa s.
    pub(super) divergence_impulses: Vec<f32>,

    /// Density over rest density.
    pub(super) densities: Vec<f32>,
    /// G: the sum of all neighbours' V grad W, in 1/m.
    pub(super) gradient_sums: Vec<V>,
    /// D: the diagonal of the pressure operator, in m/kg (1/kg in 2D).
    pub(super) diagonals: Vec<f32>,
    /// Number of neighbours, boundary samples included.
    pub(super) neighbor_counts: Vec<u32>,
    /// Non-pressure accelerations of the present step, in m/s².
    pub(super) accelerations: Vec<V>,
}

impl<V: Vector> Packed<V> {
    /// Forgets all particles.
    pub(super) fn clear(&mut self) {
        self.positions.clear();
        self.velocities.clear();
        self.places.clear();
        self.bodies.clear();
        self.lightness.clear();
        self.density_impulses.clear();
        self.divergence_impulses.clear();
        self.resize_derived(0);
    }

    /// Replaces the particles by `len` of `source` in a new order: the k-th is
    /// the old `order(k)`-th. Leaves out what depends on the neighbours.
    pub(super) fn take_in_order(
        &mut self,
        source: &Self,
        len: usize,
        order: impl Fn(usize) -> usize + Sync,
        threads: Threads,
    ) {
        self.positions.resize(len, V::ZERO);
        self.velocities.resize(len, V::ZERO);
        self.places.resize(len, 0);
        self.bodies.resize(len, 0);
        self.lightness.resize(len, 0.0);
        self.density_impulses.resize(len, 0.0);
        self.divergence_impulses.resize(len, 0.0);
        self.accelerations.resize(len, V::ZERO);
        let parts = (
            numbers(),
            chunks_mut(&mut self.positions),
            chunks_mut(&mut self.velocities),
            chunks_mut(&mut self.places),
            chunks_mut(&mut self.bodies),
            chunks_mut(&mut self.lightness),
            chunks_mut(&mut self.density_impulses),
            chunks_mut(&mut self.divergence_impulses),
            chunks_mut(&mut self.accelerations),
        );
        for_each_chunk(threads, parts, |part| {
            let (index, positions, velocities, places, bodies, lightness, ..) = part;
            let (.., density_impulses, divergence_impulses, accelerations) = part;
            for local in 0..positions.len() {
                let old = order(index * CHUNK + local);
                positions[local] = source.positions[old];
                velocities[local] = source.velocities[old];
                places[local] = source.places[old];
                bodies[local] = source.bodies[old];
                lightness[local] = source.lightness[old];
                density_impulses[local] = source.density_impulses[old];
                divergence_impulses[local] = source.divergence_impulses[old];
                // An edit between two stages must not lose the forces added so far.
                accelerations[local] = source.accelerations[old];
            }
        });
    }

    /// Bytes of all arrays.
    pub(super) fn bytes(&self) -> usize {
        let vectors = [
            self.positions.capacity(),
            self.velocities.capacity(),
            self.gradient_sums.capacity(),
            self.accelerations.capacity(),
        ];
        let numbers = [
            self.places.capacity(),
            self.bodies.capacity(),
            self.lightness.capacity(),
            self.density_impulses.capacity(),
            self.divergence_impulses.capacity(),
            self.densities.capacity(),
            self.diagonals.capacity(),
            self.neighbor_counts.capacity(),
        ];
        size_of::<V>() * vectors.iter().sum::<usize>() + 4 * numbers.iter().sum::<usize>()
    }

    /// Takes over the arrays of what depends on the neighbours, to be computed anew.
    pub(super) fn take_derived(&mut self, source: &mut Self) {
        self.densities = core::mem::take(&mut source.densities);
        self.gradient_sums = core::mem::take(&mut source.gradient_sums);
        self.diagonals = core::mem::take(&mut source.diagonals);
        self.neighbor_counts = core::mem::take(&mut source.neighbor_counts);
        self.resize_derived(self.positions.len());
    }

    /// Gives the arrays of what is computed the length of the others.
    pub(super) fn resize_derived(&mut self, len: usize) {
        self.densities.resize(len, 0.0);
        self.gradient_sums.resize(len, V::ZERO);
        self.diagonals.resize(len, 0.0);
        self.neighbor_counts.resize(len, 0);
        self.accelerations.resize(len, V::ZERO);
    }

    /// Makes room in empty arrays for `count` particles and few more: a vector
    /// that grows by itself would take up to twice as much.
    pub(super) fn reserve(&mut self, count: usize) {
        if self.positions.capacity() >= count {
            return;
        }
        let room = count + count / 16;
        self.positions.reserve_exact(room);
        self.velocities.reserve_exact(room);
        self.places.reserve_exact(room);
        self.bodies.reserve_exact(room);
        self.lightness.reserve_exact(room);
        self.density_impulses.reserve_exact(room);
        self.divergence_impulses.reserve_exact(room);
    }
}
