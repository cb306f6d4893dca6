//! Which cells are solid, how far the next one is, and how its faces move.

use super::grid::Grid;
use super::settings::Border;

/// The solid cells of a grid.
#[derive(Clone, Debug, Default)]
pub(crate) struct Solids {
    /// Steps from cell to cell through faces to the nearest solid one, at most
    /// 255; 0 in solid cells.
    distance: Vec<u8>,
    /// Faces of solid cells along each axis: index and velocity in m/s.
    faces: [Vec<(u32, f32)>; 3],
    any: bool,
    dim: usize,
}

impl Solids {
    pub(crate) fn new(grid: Grid) -> Self {
        let distance = vec![u8::MAX; grid.len()];
        Self { distance, faces: [const { Vec::new() }; 3], any: false, dim: grid.dim }
    }

    /// Whether any cell is solid.
    pub(crate) fn any(&self) -> bool {
        self.any
    }

    /// Whether a cell is solid.
    #[inline(always)]
    pub(crate) fn contains(&self, at: usize) -> bool {
        self.distance[at] == 0
    }

    /// Whether a line of so many cells along any axis, and the places around
    /// its ends, meet no solid.
    #[inline(always)]
    pub(crate) fn is_far(&self, at: usize, cells: f32) -> bool {
        f32::from(self.distance[at]) > self.dim as f32 * (cells + 2.0)
    }

    /// Bytes of all buffers.
    pub(crate) fn bytes(&self) -> usize {
        self.distance.capacity()
            + self.faces.iter().map(|faces| 8 * faces.capacity()).sum::<usize>()
    }

    /// Forgets all solids.
    pub(crate) fn clear(&mut self) {
        self.distance.fill(u8::MAX);
        self.faces.iter_mut().for_each(Vec::clear);
        self.any = false;
    }

    /// Makes a cell solid.
    pub(crate) fn add(&mut self, at: usize) {
        self.distance[at] = 0;
        self.any = true;
    }

    /// Gives a face of a solid cell a velocity; the last one counts.
    pub(crate) fn add_face(&mut self, axis: usize, at: usize, velocity: f32) {
        self.faces[axis].push((at as u32, velocity));
    }

    /// Gives the faces of solid cells their velocities.
    pub(crate) fn hold(&self, velocity: &mut [Vec<f32>; 3]) {
        for (axis, field) in velocity.iter_mut().enumerate() {
            self.hold_axis(axis, field);
        }
    }

    /// [`Solids::hold`] for the faces across one axis.
    pub(crate) fn hold_axis(&self, axis: usize, field: &mut [f32]) {
        for &(at, velocity) in &self.faces[axis] {
            field[at as usize] = velocity;
        }
    }

    /// Measures the distances after cells were added.
    pub(crate) fn measure(&mut self, grid: &Grid, borders: [Border; 3]) {
        if !self.any {
            return;
        }
        let distance = &mut self.distance;
        for axis in 0..grid.dim {
            let stride = grid.stride[axis];
            let cells = grid.cells[axis];
            // Around a periodic axis twice: the second time with what came over the seam.
            let turns = if borders[axis] == Border::Periodic { 2 } else { 1 };
            grid.for_each_across(axis, |at| {
                let mut near = u8::MAX;
                let mut pass = |distance: &mut [u8], place: usize| {
                    let here = &mut distance[at + place * stride];
                    near = near.saturating_add(1).min(*here);
                    *here = near;
                };
                for _ in 0..turns {
                    (1..=cells).for_each(|place| pass(distance, place));
                }
                for _ in 0..turns {
                    (1..=cells).rev().for_each(|place| pass(distance, place));
                }
            });
        }
        // The border layer is as its nearest cell, or as the one opposite.
        for axis in 0..grid.dim {
            let stride = grid.stride[axis];
            let last = grid.cells[axis] * stride;
            super::border::for_each_around(grid, axis, None, |at| {
                let (low, high) = (distance[at + stride], distance[at + last]);
                let periodic = borders[axis] == Border::Periodic;
                distance[at] = if periodic { high } else { low };
                distance[at + last + stride] = if periodic { low } else { high };
            });
        }
    }
}
