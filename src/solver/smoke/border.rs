//! The border layer: what lies beyond the cells.

use super::grid::Grid;
use super::settings::{Border, Walls};

/// What the border layer of a field of cells holds, at closed and open borders.
#[derive(Clone, Copy)]
pub(crate) enum Beyond {
    /// The nearest cell's value.
    Nearest,
    /// At closed borders the nearest cell's value, at open ones this.
    Value(f32),
}

/// Fills the border layer of a field of cells, edges and corners too.
pub(crate) fn fill_cells(grid: &Grid, field: &mut [f32], borders: [Border; 3], beyond: Beyond) {
    for axis in 0..grid.dim {
        let stride = grid.stride[axis];
        let last = grid.cells[axis] * stride;
        let fill = |field: &mut [f32], at: usize| {
            let (low, high) = match (borders[axis], beyond) {
                (Border::Periodic, _) => (field[at + last], field[at + stride]),
                (Border::Open, Beyond::Value(value)) => (value, value),
                _ => (field[at + stride], field[at + last]),
            };
            field[at] = low;
            field[at + last + stride] = high;
        };
        for_each_around(grid, axis, None, |at| fill(field, at));
    }
}

/// Copies the cells at periodic borders to the border layer opposite.
pub(crate) fn wrap_cells(grid: &Grid, field: &mut [f32], borders: [Border; 3]) {
    for axis in (0..grid.dim).filter(|&axis| borders[axis] == Border::Periodic) {
        let stride = grid.stride[axis];
        let last = grid.cells[axis] * stride;
        for_each_around(grid, axis, None, |at| {
            field[at] = field[at + last];
            field[at + last + stride] = field[at + stride];
        });
    }
}

/// Makes the first and last faces of periodic borders one.
pub(crate) fn wrap_faces(grid: &Grid, velocity: &mut [Vec<f32>; 3], borders: [Border; 3]) {
    for axis in (0..grid.dim).filter(|&axis| borders[axis] == Border::Periodic) {
        let stride = grid.stride[axis];
        let field = &mut velocity[axis];
        grid.for_each_across(axis, |at| {
            field[at + (grid.cells[axis] + 1) * stride] = field[at + stride];
        });
    }
}

/// Lets the flow leave through open borders as it arrives there: their faces
/// take the velocity of the faces before them.
pub(crate) fn let_out(grid: &Grid, velocity: &mut [Vec<f32>; 3], borders: [Border; 3]) {
    for axis in (0..grid.dim).filter(|&axis| borders[axis] == Border::Open) {
        let stride = grid.stride[axis];
        let last = grid.cells[axis] * stride;
        let field = &mut velocity[axis];
        grid.for_each_across(axis, |at| {
            field[at + stride] = field[at + 2 * stride];
            field[at + last + stride] = field[at + last];
        });
    }
}

/// Fills the border layer of velocities on faces, and stills closed borders.
///
/// A wall that air sticks to lies half a cell from the faces along it: beyond
/// it their velocity is reversed.
pub(crate) fn fill_faces(
    grid: &Grid,
    velocity: &mut [Vec<f32>; 3],
    borders: [Border; 3],
    walls: Walls,
) {
    for (component, field) in velocity.iter_mut().enumerate().take(grid.dim) {
        fill_component(grid, field, component, borders, walls);
    }
}

/// [`fill_faces`] for one component.
pub(crate) fn fill_component(
    grid: &Grid,
    field: &mut [f32],
    component: usize,
    borders: [Border; 3],
    walls: Walls,
) {
    for axis in 0..grid.dim {
        let stride = grid.stride[axis];
        let last = grid.cells[axis] * stride;
        let sign = match walls {
            Walls::NoSlip => -1.0,
            Walls::FreeSlip => 1.0,
        };
        for_each_around(grid, axis, Some(component), |at| {
            match (borders[axis], axis == component) {
                (Border::Closed, true) => {
                    field[at] = 0.0;
                    field[at + stride] = 0.0;
                    field[at + last + stride] = 0.0;
                }
                (Border::Open, true) => field[at] = field[at + stride],
                (Border::Periodic, true) => {
                    field[at + last + stride] = field[at + stride];
                    field[at] = field[at + last];
                }
                (Border::Closed, false) => {
                    field[at] = sign * field[at + stride];
                    field[at + last + stride] = sign * field[at + last];
                }
                (Border::Open, false) => {
                    field[at] = field[at + stride];
                    field[at + last + stride] = field[at + last];
                }
                (Border::Periodic, false) => {
                    field[at] = field[at + last];
                    field[at + last + stride] = field[at + stride];
                }
            }
        });
    }
}

/// Calls `work` with the index at place 0 along an axis of each line along it,
/// those of the border layers of the axes before it too.
/// Velocities of `component` have one more place along their own axis.
pub(crate) fn for_each_around(
    grid: &Grid,
    axis: usize,
    component: Option<usize>,
    mut work: impl FnMut(usize),
) {
    let range = |other: usize| match other {
        _ if other == axis => 0..=0,
        _ if Some(other) == component => 1..=grid.cells[other] + 1,
        _ if other < axis => 0..=grid.cells[other] + 1,
        _ => 1..=grid.cells[other],
    };
    let planes = if grid.dim == 3 { range(2) } else { 0..=0 };
    for k in planes {
        for j in range(1) {
            for i in range(0) {
                work(grid.index(i, j, k));
            }
        }
    }
}
