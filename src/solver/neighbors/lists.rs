//! The lists of neighbours, to be read.

use core::ops::Range;

use super::{NeighborChunk, NeighborLists};
use crate::solver::lanes::{Apart, WIDTH};
use crate::solver::listed::{Bounds, Listed};
use crate::solver::neighborhood::{Entry, Lists};
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

    /// Fluid neighbours of the chunk's particle `local` with their kernel values and gradients.
    #[inline(always)]
    pub(crate) fn bundles(&self, local: usize) -> Bundles<'a, V> {
        let bounds = self.chunk.bounds.get(local);
        self.arrays().own_bundles(self.chunk.entries[local], self.first + local, bounds)
    }

    /// Fluid neighbours of the chunk's particles, one after the other. Lists are within the
    /// bounds of all of the chunk's.
    #[inline(always)]
    pub(crate) fn all(self) -> impl Iterator<Item = Bundles<'a, V>> {
        let (arrays, reach) = (self.arrays(), self.chunk.reach);
        self.chunk.entries.iter().zip(self.first..).map(move |(&entry, own)| {
            // SAFETY: so are those of each list.
            unsafe { arrays.bundles(entry, own, reach) }
        })
    }

    #[inline(always)]
    fn arrays(&self) -> Arrays<'a, V> {
        let Lists { indices, weights, numbers, apart, used, .. } = &self.chunk.fluid;
        Arrays {
            used: *used,
            indices: &indices[..*used],
            weights: &weights[..*used],
            numbers: &numbers[..*used * V::NUMBERS],
            apart,
            points: self.points,
        }
    }
}

/// The lists of successive particles, whichever chunks they are in.
#[derive(Clone, Debug)]
pub(crate) struct Successive<'a, V: Vector> {
    lists: &'a NeighborLists<V>,
    arrays: Arrays<'a, V>,
    /// Those left in the chunk.
    entries: core::slice::Iter<'a, Entry>,
    /// Theirs, or none.
    bounds: core::slice::Iter<'a, Bounds>,
    /// The next particle.
    own: usize,
}

impl<'a, V: Vector> Successive<'a, V> {
    /// From the particle `first` on.
    pub(super) fn new(lists: &'a NeighborLists<V>, first: usize) -> Self {
        let (chunk, local) = lists.of(first);
        let bounds = chunk.chunk.bounds.get(local..).unwrap_or_default();
        Self {
            lists,
            arrays: chunk.arrays(),
            entries: chunk.chunk.entries[local..].iter(),
            bounds: bounds.iter(),
            own: first,
        }
    }
}

impl<'a, V: Vector> Iterator for Successive<'a, V> {
    type Item = Bundles<'a, V>;

    #[inline(always)]
    fn next(&mut self) -> Option<Bundles<'a, V>> {
        if self.entries.len() == 0 {
            *self = Self::new(self.lists, self.own);
        }
        let entry = *self.entries.next()?;
        let own = self.own;
        self.own += 1;
        Some(self.arrays.own_bundles(entry, own, self.bounds.next()))
    }
}

/// The lists of a chunk in one piece each. Invariant: `used` entries long.
#[derive(Clone, Copy, Debug)]
struct Arrays<'a, V: Vector> {
    used: usize,
    indices: &'a [u32],
    weights: &'a [f32],
    numbers: &'a [f32],
    apart: &'a [Apart<V>],
    points: &'a [V::Wide],
}

impl<'a, V: Vector> Arrays<'a, V> {
    /// The list of the particle `own` within bounds of its own: those given, or its ends.
    #[inline(always)]
    fn own_bundles(&self, entry: Entry, own: usize, bounds: Option<&Bounds>) -> Bundles<'a, V> {
        let (start, count) = (entry.start as usize, entry.count as usize);
        let bounds = match (bounds, count) {
            (Some(bounds), _) => *bounds,
            (None, 0) => Bounds::of(own as u32),
            (None, _) => {
                let indices = &self.indices[start..start + count];
                Bounds::of(own as u32).with(indices[0]).with(indices[count - 1])
            }
        };
        // SAFETY: the bounds are the list's, which ends with the particle itself where it
        // is padded; one that ascends is between its ends.
        unsafe { self.bundles(entry, own, bounds) }
    }

    /// The list of the particle `own`.
    ///
    /// # Safety
    /// Every index in the list, padding included, must be within the bounds.
    #[inline(always)]
    unsafe fn bundles(&self, entry: Entry, own: usize, bounds: Bounds) -> Bundles<'a, V> {
        let (start, count) = (entry.start as usize, entry.count as usize);
        let end = start + count.next_multiple_of(WIDTH);
        assert!(end <= self.used, "a list reaches beyond its chunk");
        // SAFETY: `start` is not behind `end`, which is within the `used` entries of all three;
        // as to the bounds, see above.
        let (neighbors, weights, numbers) = unsafe {
            let numbers = start * V::NUMBERS..end * V::NUMBERS;
            (
                Listed::new(self.indices.get_unchecked(start..end), bounds),
                self.weights.get_unchecked(start..end),
                self.numbers.get_unchecked(numbers),
            )
        };
        let apart = if self.apart.is_empty() { &[] } else { apart_of(self.apart, own) };
        let gradients = V::gradients(numbers, neighbors, self.points, own, apart);
        Bundles { neighbors, gradients, weights }
    }
}

#[cold]
fn apart_of<V>(apart: &[Apart<V>], own: usize) -> &[Apart<V>] {
    let start = apart.partition_point(|apart| (apart.of as usize) < own);
    let end = apart.partition_point(|apart| apart.of as usize <= own);
    &apart[start..end]
}
