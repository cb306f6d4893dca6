//! What of a cloth can touch something: triangles and threads.

use super::constraints::{ConstraintKind, DistanceConstraint};
use crate::solver::vector::Vector;

/// A triangle or a thread: as many corners, by slot, as count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub slots: [u32; 3],
    pub corners: u8,
    /// The inside, and those corners and edges that no face before it has, by the
    /// bits of [`owns`].
    pub owned: u8,
}

/// Whether what the corners with the bits of `touched` span, a corner, an edge or
/// all of a face, is among what is `owned`.
#[inline(always)]
pub(super) fn owns(owned: u8, touched: u8) -> bool {
    // Corners 0, 1, 2 have the bits 1, 2, 4, so that what they span is 1 to 7.
    owned & (1 << touched) != 0
}

/// Corners and edges that belong to a face.
struct Taken {
    corners: Vec<bool>,
    edges: Vec<bool>,
}

impl Taken {
    /// Takes the corners of a face, and returns the bits of those that were free.
    fn corners(&mut self, corners: &[u32]) -> u8 {
        let free = |&(_, &corner): &(usize, &u32)| {
            !core::mem::replace(&mut self.corners[corner as usize], true)
        };
        corners.iter().enumerate().filter(free).map(|(k, _)| 1 << (1 << k)).sum()
    }

    /// Takes edges, each with what its corners span and its place among all edges.
    fn edges(&mut self, edges: [(u8, Option<usize>); 3]) -> u8 {
        let free = |&(_, place): &(u8, Option<usize>)| {
            place.is_some_and(|place| !core::mem::replace(&mut self.edges[place], true))
        };
        edges.into_iter().filter(free).map(|(touched, _)| 1 << touched).sum()
    }
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts<V> {
    /// Triangles, and in the plane threads.
    pub faces: Vec<Part>,
    /// In space, all threads and edges.
    pub threads: Vec<Part>,
    /// Those of them that belong to no triangle.
    pub loose: Vec<Part>,
    /// Positions at rest by slot.
    pub rest: Vec<V>,
    /// Slots of the particles.
    pub slots: Vec<u32>,
    /// Mean and largest length of a thread or edge at rest.
    pub mean: f32,
    pub longest: f32,
    /// Whether the slots are those of the plan; none before any.
    by_slot: Option<bool>,
}

impl<V: Vector> Parts<V> {
    /// Forgets everything, as the cloth has changed.
    pub fn forget(&mut self) {
        self.by_slot = None;
    }

    /// Lists the parts, unless they are known; `slot` are the places of the
    /// particles among `slots` of them, or none for their own order.
    pub fn update(
        &mut self,
        rest: &[V],
        constraints: &[DistanceConstraint],
        triangles: &[[u32; 3]],
        slot: Option<&[u32]>,
        slots: usize,
    ) {
        if self.by_slot == Some(slot.is_some()) {
            return;
        }
        self.by_slot = Some(slot.is_some());
        let place = |particle: u32| slot.map_or(particle, |slot| slot[particle as usize]);
        self.slots.clear();
        self.slots.extend((0..rest.len() as u32).map(place));
        self.rest.clear();
        self.rest.resize(slots, V::ZERO);
        for (&slot, &rest) in self.slots.iter().zip(rest) {
            self.rest[slot as usize] = rest;
        }
        let ordered = |a: u32, b: u32| [a.min(b), a.max(b)];
        let mut borders: Vec<[u32; 2]> = Vec::new();
        if V::DIM == 3 {
            let edges = |&[a, b, c]: &[u32; 3]| [ordered(a, b), ordered(b, c), ordered(c, a)];
            borders.extend(triangles.iter().flat_map(edges));
            borders.sort_unstable();
            borders.dedup();
        }
        let threads = constraints.iter().filter(|c| c.kind == ConstraintKind::Stretch);
        let mut loose: Vec<[u32; 2]> = threads.map(|c| ordered(c.a, c.b)).collect();
        loose.retain(|thread| borders.binary_search(thread).is_err());
        loose.sort_unstable();
        loose.dedup();
        let count = (borders.len() + loose.len()) as f32;
        (self.mean, self.longest) = (0.0, 0.0);
        for &[a, b] in borders.iter().chain(&loose) {
            let length = (rest[a as usize] - rest[b as usize]).length();
            self.mean += length / count;
            self.longest = self.longest.max(length);
        }
        let part = |&[a, b]: &[u32; 2]| {
            let (a, b) = (place(a), place(b));
            Part { slots: [a, b, b], corners: 2, owned: 0 }
        };
        let mut taken =
            Taken { corners: vec![false; rest.len()], edges: vec![false; borders.len()] };
        for list in [&mut self.faces, &mut self.threads, &mut self.loose] {
            list.clear();
        }
        if V::DIM == 3 {
            self.faces.extend(triangles.iter().map(|&[a, b, c]| {
                let edge = |a, b| borders.binary_search(&ordered(a, b)).ok();
                let edges = [(3, edge(a, b)), (5, edge(a, c)), (6, edge(b, c))];
                let owned = 1 << 7 | taken.corners(&[a, b, c]) | taken.edges(edges);
                Part { slots: [a, b, c].map(place), corners: 3, owned }
            }));
            self.threads.extend(borders.iter().chain(&loose).map(part));
            self.loose.extend(loose.iter().map(part));
        } else {
            self.faces.extend(loose.iter().map(|ends| {
                let owned = 1 << 3 | taken.corners(ends);
                Part { owned, ..part(ends) }
            }));
        }
    }
}
