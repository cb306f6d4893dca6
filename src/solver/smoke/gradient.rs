//! The pressure's gradient, taken off velocities.

use super::border::wrap_cells;
use super::grid::{Grid, Row};
use super::packed::Level;
use super::settings::Border;
use crate::solver::dispatch::wide_fn;
use crate::solver::parallel::Threads;

/// A pressure in natural order, its border layer filled.
pub(crate) struct Gradient<'a> {
    grid: Grid,
    pressure: &'a [f32],
    borders: [Border; 3],
    threads: Threads<'a>,
}

impl<'a> Gradient<'a> {
    /// The gradient of a pressure that is given by colours; `natural` is scratch.
    pub(crate) fn new(
        level: &Level,
        pressure: &[f32],
        natural: &'a mut [f32],
        borders: [Border; 3],
        threads: Threads<'a>,
    ) -> Self {
        let grid = level.grid;
        for row in (0..grid.rows()).filter(|&row| grid.row(row).is_none()) {
            natural[row * grid.stride[1]..][..grid.stride[1]].fill(0.0);
        }
        level.unpack(pressure, natural, threads);
        wrap_cells(&grid, natural, borders);
        Self { grid, pressure: natural, borders, threads }
    }

    /// Takes `part` of the differences along an axis off the velocities of all faces
    /// but those of closed borders; solid faces, and the far ones of periodic
    /// borders, which are copies, are the caller's.
    pub(crate) fn subtract(&self, axis: usize, field: &mut [f32], part: f32) {
        let (grid, pressure) = (self.grid, self.pressure);
        let closed = self.borders[axis] == Border::Closed;
        let work = |row: Row, [out]: [&mut [f32]; 1]| {
            let place = [1, row.j, row.k][axis];
            if axis > 0 && closed && place == 1 {
                return;
            }
            let first = if axis == 0 && closed { 2 } else { 1 };
            let start = row.index * grid.stride[1] + first;
            let count = (grid.cells[0] + 1).saturating_sub(first);
            let here = &pressure[start..][..count];
            let below = &pressure[start - grid.stride[axis]..][..count];
            add_difference(&mut out[first..][..count], below, here, part);
        };
        grid.for_rows(self.threads, [&mut *field], work);
        // The far faces of an open border have a row of their own.
        if self.borders[axis] == Border::Open {
            let face = grid.cells[axis] + 1;
            grid.for_each_across(axis, |at| {
                let at = at + face * grid.stride[axis];
                field[at] += part * pressure[at - grid.stride[axis]];
            });
        }
    }
}

wide_fn!(
    /// Adds a part of `plus - minus`.
    pub(super) fn add_difference[][](
        out: &mut [f32],
        plus: &[f32],
        minus: &[f32],
        part: f32,
    ) = add_difference_each
);

#[inline(always)]
fn add_difference_each(out: &mut [f32], plus: &[f32], minus: &[f32], part: f32) {
    let n = out.len();
    let (plus, minus) = (&plus[..n], &minus[..n]);
    for x in 0..n {
        out[x] += part * (plus[x] - minus[x]);
    }
}
