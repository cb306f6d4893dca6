//! The lists of neighbours, to be read.

use core::ops::Range;

use super::NeighborChunk;
use crate::solver::lanes::{Apart, WIDTH};
use crate::solver::listed::{Bounds, Listed};
use crate::solver::neighborhood::Entry;
use crate::solver::parallel::{CHUNK, Split};
use crate::solver::vector::Vector;

/// The padded list of one particle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bundles<'a, V: Vector> {
    /// Sorted indices, whole pairs.
    pub(crate) neighbors: Listed<'a>,
    /// V0 grad W.
    pub(crate) gradients: V::Gradients<'a>,
    /// V0 W.
    pub(crate) weights: &'a [f32],
}

/// The lists of a chunk of particles, to be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChunkLists<'a, V: Vector> {
    pub(super) chunk: &'a NeighborChunk<V>,
    pub(super) points: &'a [V::Wide],
    /// The chunk's first particle.
    pub(super) first: usize,
}

/// The lists of successive chunks.
pub(crate) struct AllLists<'a, V: Vector> {
    pub(super) chunks: &'a [NeighborChunk<V>],
    pub(super) points: &'a [V::Wide],
    /// The first chunk's first particle.
    pub(super) first: usize,
}

impl<'a, V: Vector> Split for AllLists<'a, V> {
    type Item = ChunkLists<'a, V>;

    fn len(&self) -> usize {
        self.chunks.len()
    }

    fn split_at(self, count: usize) -> (Self, Self) {
        let (chunks, others) = self.chunks.split_at(count);
        (
            Self { chunks, ..self },
            Self { chunks: others, first: self.first + count * CHUNK, ..self },
        )
    }

    fn first(self) -> ChunkLists<'a, V> {
        ChunkLists { chunk: &self.chunks[0], points: self.points, first: self.first }
    }
}

fn span(ends: &[u32], local: usize) -> Range<usize> {
    let start = if local == 0 { 0 } else { ends[local - 1] };
    start as usize..ends[local] as usize
}

impl<'a, V: Vector> ChunkLists<'a, V> {
    /// Fluid neighbours of the chunk's particle `local`.
    #[inline(always)]
    pub(crate) fn fluid(&self, local: usize) -> &'a [u32] {
        let Entry { start, count } = self.chunk.entries[local];
        &self.chunk.fluid.indices[start as usize..(start + count) as usize]
    }

    /// Boundary neighbours of the chunk's particle `local`.
    #[inline(always)]
    pub(crate) fn boundary(&self, local: usize) -> &'a [u32] {
        &self.chunk.boundary[span(&self.chunk.boundary_ends, local)]
    }

    /// Fluid neighbours with their kernel values and gradients.
    #[inline(always)]
    pub(crate) fn bundles(&self, local: usize) -> Bundles<'a, V> {
        let Entry { start, count } = self.chunk.entries[local];
        let (start, count) = (start as usize, count as usize);
        let end = start + count.next_multiple_of(WIDTH);
        let fluid = &self.chunk.fluid;
        let own = self.first + local;
        let indices = &fluid.indices[start..end];
        let bounds = match (self.chunk.bounds.get(local), indices) {
            (Some(bounds), _) => *bounds,
            (None, [first, ..]) => Bounds::of(own as u32).with(*first).with(indices[count - 1]),
            (None, []) => Bounds::of(own as u32),
        };
        // SAFETY: the bounds are the list's, which ends with the particle itself where it
        // is padded; one that ascends is between its ends.
        let neighbors = unsafe { Listed::new(indices, bounds) };
        let apart = if fluid.apart.is_empty() { &[] } else { apart_of(&fluid.apart, own) };
        let numbers = &fluid.numbers[start * V::NUMBERS..end * V::NUMBERS];
        Bundles {
            neighbors,
            gradients: V::gradients(numbers, neighbors, self.points, own, apart),
            weights: &fluid.weights[start..end],
        }
    }
}

#[cold]
fn apart_of<V>(apart: &[Apart<V>], own: usize) -> &[Apart<V>] {
    let start = apart.partition_point(|apart| (apart.of as usize) < own);
    let end = apart.partition_point(|apart| apart.of as usize <= own);
    &apart[start..end]
}
