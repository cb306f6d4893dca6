//! The neighbour lists of a chunk of particles, as they grow.

use crate::solver::lanes::{Apart, WIDTH};
use crate::solver::vector::Vector;
use crate::solver::wide::EIGHT;

/// A list that is full grows by one part in so many.
const SLACK: usize = 32;

/// Where a particle's list is, and what is in it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Entry {
    /// Where the list starts.
    pub(crate) start: u32,
    /// Neighbours, without padding.
    pub(crate) count: u32,
}

/// The neighbour lists of a chunk of particles, as they grow.
#[derive(Debug, Default)]
pub(crate) struct Lists<V: Vector> {
    /// Sorted indices of neighbours.
    pub(crate) indices: Vec<u32>,
    /// V0 W.
    pub(crate) weights: Vec<f32>,
    /// What is kept of V0 grad W.
    pub(crate) numbers: Vec<f32>,
    /// Gradients that are no factor of an offset.
    pub(crate) apart: Vec<Apart<V>>,
    /// Whether any two particles of the lists are at one place.
    pub(crate) coincident: bool,
    /// Entries in use; beyond them there is room.
    pub(crate) used: usize,
}

impl<V: Vector> Lists<V> {
    /// Bytes of all buffers.
    pub(crate) fn bytes(&self) -> usize {
        4 * (self.indices.capacity() + self.weights.capacity() + self.numbers.capacity())
            + size_of::<Apart<V>>() * self.apart.capacity()
    }

    /// Appends a neighbour.
    #[inline(always)]
    pub(crate) fn push(&mut self, index: u32, weight: f32, gradient: V, factor: f32) {
        self.reserve(1);
        let at = self.used;
        (self.indices[at], self.weights[at]) = (index, weight);
        gradient.keep(factor, &mut self.numbers[at * V::NUMBERS..(at + 1) * V::NUMBERS]);
        self.used += 1;
    }

    /// Fills the list of particle `i`, the last one, up to whole pairs with the particle itself.
    #[inline(always)]
    pub(crate) fn pad(&mut self, i: usize) {
        let end = self.used.next_multiple_of(WIDTH);
        // Whether or not there is a place left: which lists are odd is not foreseen.
        self.push(i as u32, 0.0, V::ZERO, 0.0);
        self.used = end;
    }

    /// Makes room for more entries.
    #[inline(always)]
    pub(crate) fn reserve(&mut self, more: usize) {
        if self.indices.len() < self.used + more {
            self.grow(self.used + more);
        }
    }

    #[cold]
    fn grow(&mut self, least: usize) {
        fn grow<T: Clone + Default>(list: &mut Vec<T>, room: usize) {
            // Not twice as much, as a vector that grows would take.
            list.reserve_exact(room - list.len());
            list.resize(room, T::default());
        }
        let room = (least + least / SLACK).next_multiple_of(EIGHT);
        grow(&mut self.indices, room);
        grow(&mut self.weights, room);
        grow(&mut self.numbers, room * V::NUMBERS);
    }
}
