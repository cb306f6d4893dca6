//! Light particles that drift with the air.

use super::settings::Border;
use super::{Smoke, nearest_free};
use crate::solver::error::FluidError;
use crate::solver::parallel::{Threads, chunks_mut, for_each_chunk};
use crate::solver::time_step::check_step;
use crate::solver::vector::Vector;

/// Longest way of a tracer at once, in cells: along each axis it passes through
/// one face at most.
const LONGEST: f32 = 0.5;

/// Most parts of a step; faster air carries tracers less far than it should.
const MOST_PARTS: f32 = 4096.0;

/// Distance that a tracer keeps from closed borders and solids, in cells: more than rounding.
const GAP: f32 = 1e-3;

/// Particles without weight, such as sparks, dust or leaves: they go where the air
/// goes and do nothing to it. They never enter obstacles or pass through them.
///
/// One that leaves a domain through an open border, or is put outside, stays
/// where it is and counts as outside; [`Tracers::remove_outside`] takes it out.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "scene", derive(serde::Serialize, serde::Deserialize))]
pub struct Tracers<V> {
    /// Where they are, in metres.
    pub positions: Vec<V>,
}

impl<V: Vector> Tracers<V> {
    /// Lets all of them drift with the air of a domain for `dt` seconds, by the
    /// midpoint rule, which is of second order. Allocates nothing.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] if `dt` is not 1e-6 s to 1 s; nothing is moved.
    pub fn drift(&mut self, smoke: &Smoke<V>, dt: f32, threads: Threads) -> Result<(), FluidError> {
        check_step("time_step", dt)?;
        let threads = threads.for_particles(self.positions.len());
        for_each_chunk(threads, chunks_mut(&mut self.positions), |positions| {
            for position in positions {
                *position = smoke.drifted(*position, dt);
            }
        });
        Ok(())
    }

    /// Takes out those that are outside a domain, keeping the order of the others;
    /// returns their number.
    pub fn remove_outside(&mut self, smoke: &Smoke<V>) -> usize {
        let before = self.positions.len();
        self.positions.retain(|&position| smoke.air_at(position).is_some());
        before - self.positions.len()
    }
}

impl<V: Vector> Smoke<V> {
    /// Where a tracer is `dt` seconds later.
    fn drifted(&self, position: V, dt: f32) -> V {
        let Some(start) = self.place(position) else { return position };
        let scale = dt / self.domain.cell_size();
        let freed = self.freed(start);
        let way = |place: [f32; 3]| (self.air_in(place) * scale).to_array();
        let longest = way(freed).into_iter().fold(0.0f32, |longest, way| longest.max(way.abs()));
        // Twice as many as needed, as the air may be faster further on.
        let parts = (2.0 * longest / LONGEST).ceil().clamp(1.0, MOST_PARTS);
        let mut place = freed;
        for _ in 0..parts as u32 {
            let half = way(place).map(|way| 0.5 * way / parts);
            let middle = self.moved(place, half);
            let whole = way(middle).map(|way| way / parts);
            place = self.moved(place, whole);
            if !self.holds(place) {
                break;
            }
        }
        // Still air leaves every bit as it was.
        if place == start { position } else { self.domain.position_of(place) }
    }

    /// The end of a short way, axis by axis as far as no solid stops it.
    fn moved(&self, mut place: [f32; 3], way: [f32; 3]) -> [f32; 3] {
        let borders = self.settings.borders();
        for axis in 0..V::DIM {
            let (old, cells) = (place[axis], self.grid.cells[axis] as f32);
            let new = old + way[axis].clamp(-LONGEST, LONGEST);
            place[axis] = match borders[axis] {
                Border::Periodic => new - cells * ((new - 0.5) / cells).floor(),
                Border::Closed => new.clamp(0.5 + GAP, cells + 0.5 - GAP),
                Border::Open => new,
            };
            let mut front = place;
            front[axis] += if way[axis] > 0.0 { GAP } else { -GAP };
            let stopped = |place| self.cell_of(place).is_some_and(|at| self.solids.contains(at));
            if stopped(place) || stopped(front) {
                place[axis] = old;
            }
        }
        place
    }

    /// A place moved out of the solid that it is in, along an axis.
    fn freed(&self, mut place: [f32; 3]) -> [f32; 3] {
        let Some(at) = self.cell_of(place).filter(|&at| self.solids.contains(at)) else {
            return place;
        };
        let grid = &self.grid;
        let cell = grid.place(at);
        if let Some(free) = nearest_free(grid, &self.solids, cell) {
            let free = grid.place(free);
            for axis in (0..V::DIM).filter(|&axis| free[axis] != cell[axis]) {
                place[axis] = free[axis] as f32;
            }
        }
        place
    }

    /// Index of the cell around a place, if it is in the domain.
    fn cell_of(&self, place: [f32; 3]) -> Option<usize> {
        let nearest = |axis: usize| if axis < V::DIM { (place[axis] + 0.5) as usize } else { 0 };
        let inside = |axis: usize| (1..=self.grid.cells[axis]).contains(&nearest(axis));
        (0..V::DIM).all(inside).then(|| self.grid.index(nearest(0), nearest(1), nearest(2)))
    }
}
