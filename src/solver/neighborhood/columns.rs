//! Vectors component by component, to be read eight at a time.

use core::marker::PhantomData;

use crate::solver::parallel::{Threads, chunks, chunks_mut, for_each_chunk};
use crate::solver::vector::Vector;
use crate::solver::wide::{EIGHT, Machine};

/// Vectors, component by component.
#[derive(Debug, Default)]
pub(crate) struct Columns([Vec<f32>; 3]);

impl Columns {
    /// Makes room for so many.
    pub(crate) fn reserve<V: Vector>(&mut self, room: usize) {
        if self.0[0].len() < room {
            self.0[..V::DIM].iter_mut().for_each(|axis| axis.resize(room, 0.0));
        }
    }

    /// Takes over the vectors, with room behind them.
    pub(crate) fn set<V: Vector>(&mut self, vectors: &[V], threads: Threads) {
        let [xs, ys, zs] = &mut self.0;
        let room = vectors.len() + EIGHT;
        xs.resize(room, 0.0);
        ys.resize(room, 0.0);
        let parts = (chunks_mut(xs), chunks_mut(ys), chunks(vectors));
        for_each_chunk(threads, parts, |(xs, ys, vectors)| {
            for ((x, y), vector) in xs.iter_mut().zip(ys).zip(vectors) {
                [*x, *y, _] = vector.to_array();
            }
        });
        if V::DIM == 3 {
            zs.resize(room, 0.0);
            for_each_chunk(threads, (chunks_mut(zs), chunks(vectors)), |(zs, vectors)| {
                zs.iter_mut().zip(vectors).for_each(|(z, vector)| *z = vector.to_array()[2]);
            });
        }
    }

    /// From `start` to `end` in groups of eight, component by component. The third is the second
    /// in the plane.
    #[inline(always)]
    pub(crate) fn groups<V: Vector>(&self, start: usize, end: usize) -> [&[[f32; EIGHT]]; 3] {
        let [x, y, z] = &self.0;
        [x, y, if V::DIM == 3 { z } else { y }].map(|axis| axis[start..end].as_chunks().0)
    }

    /// To be packed from `at` on.
    #[inline(always)]
    pub(crate) fn from(&mut self, at: usize) -> [&mut [f32]; 3] {
        self.0.each_mut().map(|axis| axis.get_mut(at..).unwrap_or_default())
    }

    /// Bytes of all buffers.
    pub(crate) fn bytes(&self) -> usize {
        4 * self.0.iter().map(Vec::capacity).sum::<usize>()
    }
}

/// Where indices and vectors are packed, one behind the other.
///
/// Invariant: from `count` on there is room for `left` groups of eight in all columns.
pub(super) struct Packer<'a, V> {
    indices: &'a mut [u32],
    columns: [&'a mut [f32]; 3],
    count: usize,
    left: usize,
    dimension: PhantomData<V>,
}

impl<'a, V: Vector> Packer<'a, V> {
    /// For so many groups.
    ///
    /// # Panics
    /// If there is no room for them.
    #[inline(always)]
    pub(super) fn new(indices: &'a mut [u32], columns: [&'a mut [f32]; 3], groups: usize) -> Self {
        let room = groups * EIGHT;
        let enough = columns[..V::DIM].iter().all(|column| column.len() >= room);
        assert!(enough && indices.len() >= room, "no room for {groups} groups");
        Self { indices, columns, count: 0, left: groups, dimension: PhantomData }
    }

    /// Packs those of eight that a mask names.
    #[inline(always)]
    pub(super) fn put<M: Machine>(
        &mut self,
        machine: M,
        indices: &[u32; EIGHT],
        vectors: [M::Eight; 3],
        mask: u32,
    ) {
        assert!(self.left > 0, "more groups than there is room for");
        let packed = machine.pack_indices(indices, mask);
        // SAFETY: there is room for a group.
        unsafe {
            self.indices.as_mut_ptr().add(self.count).cast::<[u32; EIGHT]>().write_unaligned(packed)
        };
        for axis in 0..V::DIM {
            let packed = machine.pack(vectors[axis], mask);
            let column = self.columns[axis].as_mut_ptr();
            // SAFETY: there is room for a group.
            unsafe { column.add(self.count).cast::<[f32; EIGHT]>().write_unaligned(packed) };
        }
        self.left -= 1;
        self.count += (mask as u8).count_ones() as usize;
    }

    /// Fills up the last group with an index and a vector, which takes the room of one more.
    /// Returns how many were packed before.
    #[inline(always)]
    pub(super) fn close<M: Machine>(mut self, machine: M, index: u32, vector: V) -> usize {
        let vector = vector.to_array().map(|component| machine.splat(component));
        self.put(machine, &[index; EIGHT], vector, 0);
        self.count
    }
}

/// The smallest box around some points.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent<V> {
    pub(super) low: V,
    pub(super) high: V,
}

impl<V: Vector> Extent<V> {
    /// Of at least one point.
    pub(crate) fn of(points: &[V]) -> Self {
        let first = points[0];
        let (low, high) =
            points.iter().fold((first, first), |(low, high), &x| (low.min(x), high.max(x)));
        Self { low, high }
    }

    /// Squared distance in m² from a point, zero if it is inside: never above
    /// that of any point of the box, rounding included.
    pub(crate) fn distance_squared(&self, point: V) -> f32 {
        let outside = (self.low - point).max(point - self.high).max(V::ZERO);
        outside.length_squared()
    }
}
