//! What moving walls do to the fluid beside them.

use super::FluidWorld;
use super::pressure::Workspace;
use crate::solver::parallel::{CHUNK, Threads, chunks_mut, for_each_chunk, numbers};
use crate::solver::vector::Vector;

impl<V: Vector> FluidWorld<V> {
    /// Adds to the right-hand side what walls that move change of the relative
    /// density: the sum of V_k v_k.grad W_ik, the velocity v_k being a wall's
    /// share of v_i - v_k in the rate of the density.
    pub(super) fn add_wall_sources(&mut self, threads: Threads) {
        let FluidWorld { settings, kernel, particles, neighbors, workspace, boundary, .. } = self;
        let velocities = boundary.velocities();
        if velocities.is_empty() {
            return;
        }
        let Workspace { source, .. } = workspace;
        let (positions, places) = (&particles.positions, &particles.places);
        let (kernel, boundary) = (&*kernel, &*boundary);
        let periodic = &settings.periodic;
        let parts = (numbers(), chunks_mut(source), neighbors.chunks());
        for_each_chunk(threads, parts, |(index, source, chunk)| {
            for (local, source) in source.iter_mut().enumerate() {
                let i = index * CHUNK + local;
                for &k in chunk.boundary(local) {
                    let offset = periodic.offset(positions[i] - boundary.positions()[k as usize]);
                    let gradient = kernel.pair_gradient(offset, places[i], u32::MAX - k);
                    let volume = boundary.volumes()[k as usize];
                    *source += velocities[k as usize].dot(gradient) * volume;
                }
            }
        });
    }
}
