//! The pressure equation on ever coarser grids.
//!
//! A coarse cell is a block of up to two cells along each axis, its equation the
//! sum of theirs with the distance across its faces doubled. Values go down as
//! sums and up as copies, and the sweeps after the correction mirror those
//! before it, so that a cycle is a symmetric positive preconditioner whatever
//! the obstacles (McAdams, Sifakis & Teran 2010).

use super::grid::Grid;
use super::packed::Level;
use super::settings::Border;
use crate::solver::parallel::Threads;

/// Cells of the coarsest grid, at most, where the axes can be halved.
const COARSEST: usize = 8;

/// Sweeps each way on the coarsest grid.
const COARSEST_SWEEPS: usize = 8;

/// A coarse grid with its unknowns.
#[derive(Debug)]
struct Coarse {
    level: Level,
    /// Axes along which its cells are twice as long as those of the finer one.
    halved: [bool; 3],
    pressure: Vec<f32>,
    rhs: Vec<f32>,
}

/// All grids of a pressure equation.
#[derive(Debug)]
pub(crate) struct Multigrid {
    fine: Level,
    coarse: Vec<Coarse>,
    /// A coarse array in natural order.
    natural: Vec<f32>,
    borders: [Border; 3],
    /// Cells with an equation.
    equations: usize,
}

impl Multigrid {
    pub(crate) fn new(grid: Grid, borders: [Border; 3]) -> Self {
        let periodic = borders.map(|border| border == Border::Periodic);
        let mut coarse: Vec<Coarse> = Vec::new();
        let mut finer = grid;
        loop {
            // A periodic axis stays even, or the colours would meet at the seam.
            let halved: [bool; 3] = core::array::from_fn(|axis| {
                let cells = finer.cells[axis];
                axis < grid.dim && cells > 1 && (!periodic[axis] || cells.is_multiple_of(4))
            });
            if finer.count() <= COARSEST || !halved.contains(&true) {
                break;
            }
            let cells = core::array::from_fn(|axis| {
                if halved[axis] { finer.cells[axis].div_ceil(2) } else { finer.cells[axis] }
            });
            finer = Grid::new(cells, grid.dim);
            let field = vec![0.0; finer.len()];
            let level = Level::new(finer, periodic, true);
            coarse.push(Coarse { level, halved, pressure: field.clone(), rhs: field });
        }
        let natural = vec![0.0; coarse.first().map_or(0, |first| first.level.grid.len())];
        let fine = Level::new(grid, periodic, false);
        Self { fine, coarse, natural, borders, equations: 0 }
    }

    pub(crate) fn fine(&self) -> &Level {
        &self.fine
    }

    /// Cells with an equation.
    pub(crate) fn equations(&self) -> usize {
        self.equations
    }

    /// Whether a constant may be added to every solution.
    pub(crate) fn is_singular(&self) -> bool {
        !self.borders[..self.fine.grid.dim].contains(&Border::Open)
    }

    /// Bytes of all buffers.
    pub(crate) fn bytes(&self) -> usize {
        let level =
            |level: &Level| level.inverse.len() + level.weights.iter().map(Vec::len).sum::<usize>();
        let coarse = self.coarse.iter();
        let coarse: usize = coarse.map(|c| level(&c.level) + c.pressure.len() + c.rhs.len()).sum();
        4 * (level(&self.fine) + coarse + self.natural.len())
    }

    /// Takes the solid cells of the grid, given in natural order.
    pub(crate) fn rebuild(&mut self, is_solid: impl Fn(usize) -> bool) {
        let grid = self.fine.grid;
        let borders = self.borders;
        // Whether two cells next to each other along an axis exchange flow.
        let open = |axis: usize, place: [usize; 3]| {
            let [i, j, k] = place;
            let here = grid.index(i, j, k);
            let cells = grid.cells[axis];
            let mut solid = false;
            if place[axis] == 1 || place[axis] == cells + 1 {
                match borders[axis] {
                    Border::Closed => return false,
                    Border::Open if place[axis] == 1 => return !is_solid(here),
                    Border::Open => return !is_solid(here - grid.stride[axis]),
                    Border::Periodic => {
                        let first = here - (place[axis] - 1) * grid.stride[axis];
                        solid |= is_solid(first);
                        solid |= is_solid(first + (cells - 1) * grid.stride[axis]);
                    }
                }
            } else {
                solid |= is_solid(here) || is_solid(here - grid.stride[axis]);
            }
            !solid
        };
        self.equations = 0;
        self.fine.inverse.fill(0.0);
        for row in grid.inner_rows() {
            for i in 1..=grid.cells[0] {
                let place = [i, row.j, row.k];
                if is_solid(grid.index(i, row.j, row.k)) {
                    continue;
                }
                let mut diagonal = 0u8;
                for axis in 0..grid.dim {
                    let mut next = place;
                    next[axis] += 1;
                    diagonal += u8::from(open(axis, place)) + u8::from(open(axis, next));
                }
                if diagonal > 0 {
                    let at = self.fine.at(i, row.j, row.k);
                    self.fine.inverse[at] = 1.0 / f32::from(diagonal);
                    self.equations += 1;
                }
            }
        }
        let mut finer: Option<&Level> = None;
        for coarse in &mut self.coarse {
            let fine_grid = finer.map_or(grid, |level| level.grid);
            let weight = |axis: usize, place: [usize; 3]| match finer {
                Some(level) => level.weights[axis][level.at(place[0], place[1], place[2])],
                None => f32::from(u8::from(open(axis, place))),
            };
            coarsen(&mut coarse.level, coarse.halved, fine_grid, weight);
            finer = Some(&coarse.level);
        }
    }

    /// An approximate solution of the fine equation for `rhs`, by one V-cycle from 0.
    pub(crate) fn cycle(&mut self, out: &mut [f32], rhs: &[f32], threads: Threads) {
        descend(&self.fine, &mut self.coarse, &mut self.natural, out, rhs, threads);
    }
}

/// The weights and diagonals of a coarse grid from those of the finer one.
fn coarsen(
    level: &mut Level,
    halved: [bool; 3],
    fine: Grid,
    weight: impl Fn(usize, [usize; 3]) -> f32,
) {
    let coarse = level.grid;
    for axis in 0..fine.dim {
        level.weights[axis].fill(0.0);
        let factor = if halved[axis] { 0.5 } else { 1.0 };
        // Faces beyond the last cell along the axis, and the cells alone across it.
        let last = |other: usize| fine.cells[other] + usize::from(other == axis);
        let planes = if fine.dim == 3 { 1..=last(2) } else { 0..=0 };
        for k in planes {
            for j in 1..=last(1) {
                for i in 1..=last(0) {
                    let place = [i, j, k];
                    let along = place[axis];
                    // Faces inside a coarse cell.
                    if halved[axis] && along % 2 == 0 && along <= fine.cells[axis] {
                        continue;
                    }
                    let to = core::array::from_fn::<usize, 3, _>(|other| {
                        if other == axis && along > fine.cells[axis] {
                            coarse.cells[axis] + 1
                        } else if halved[other] {
                            place[other].div_ceil(2)
                        } else {
                            place[other]
                        }
                    });
                    let to = level.at(to[0], to[1], to[2]);
                    level.weights[axis][to] += factor * weight(axis, place);
                }
            }
        }
    }
    level.inverse.fill(0.0);
    for row in coarse.inner_rows() {
        for i in 1..=coarse.cells[0] {
            let mut diagonal = 0.0;
            for axis in 0..coarse.dim {
                let mut next = [i, row.j, row.k];
                next[axis] += 1;
                diagonal += level.weights[axis][level.at(i, row.j, row.k)]
                    + level.weights[axis][level.at(next[0], next[1], next[2])];
            }
            let at = level.at(i, row.j, row.k);
            level.inverse[at] = if diagonal > 0.0 { 1.0 / diagonal } else { 0.0 };
        }
    }
}

fn descend(
    level: &Level,
    coarser: &mut [Coarse],
    natural: &mut [f32],
    out: &mut [f32],
    rhs: &[f32],
    threads: Threads,
) {
    level.relax_from_zero(0, out, rhs, threads);
    level.relax(1, out, rhs, 1.0, threads);
    let Some((next, rest)) = coarser.split_first_mut() else {
        for _ in 1..COARSEST_SWEEPS {
            level.relax(0, out, rhs, 1.0, threads);
            level.relax(1, out, rhs, 1.0, threads);
        }
        for _ in 0..COARSEST_SWEEPS {
            level.relax(1, out, rhs, 1.0, threads);
            level.relax(0, out, rhs, 1.0, threads);
        }
        return;
    };
    let grid = next.level.grid;
    level.restrict_red(out, rhs, grid, next.halved, natural, threads);
    next.level.pack(natural, &mut next.rhs, threads);
    descend(&next.level, rest, natural, &mut next.pressure, &next.rhs, threads);
    next.level.unpack(&next.pressure, natural, threads);
    level.prolong(out, grid, next.halved, natural, threads);
    level.relax(1, out, rhs, 1.0, threads);
    level.relax(0, out, rhs, 1.0, threads);
}
