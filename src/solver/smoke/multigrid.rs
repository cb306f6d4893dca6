//! The pressure equation on ever coarser grids.
//!
//! A coarse cell is a block of up to two cells along each axis, its equation the
//! sum of theirs with the distance across its faces doubled. Residuals go down as
//! sums. Corrections come up in one of two ways: interpolated, which makes a fast
//! solver by itself where there are no obstacles (Mohr & Wienands 2004,
//! "Cell-centred multigrid revisited"); or copied to all cells of a block, with
//! sweeps after the correction that mirror those before it, which makes a cycle a
//! symmetric positive preconditioner whatever the obstacles (McAdams, Sifakis &
//! Teran 2010).

use super::grid::Grid;
use super::packed::Level;
use super::pass::{Coarser, Pass, Stage, fill_beyond};
use super::settings::Border;
use crate::solver::parallel::Threads;

/// Cells of the coarsest grid, at most, where the axes can be halved.
const COARSEST: usize = 8;

/// Sweeps each way on the coarsest grid.
const COARSEST_SWEEPS: usize = 8;

/// From nothing to what is left for the coarser grid.
const DOWN: [Stage; 3] = [Stage::Start(0), Stage::Relax(1), Stage::Restrict];

/// The same on the finest grid, where the unknowns are not nothing.
const FIRST: [Stage; 3] = [Stage::Relax(0), Stage::Relax(1), Stage::Restrict];

/// From the correction to what the next one is for.
const ON: [Stage; 6] = [
    Stage::Prolong,
    Stage::Relax(0),
    Stage::Relax(1),
    Stage::Relax(0),
    Stage::Relax(1),
    Stage::Restrict,
];

/// From the correction to the end on a coarser grid.
const UP: [Stage; 3] = [Stage::Prolong, Stage::Relax(0), Stage::Relax(1)];

/// The mirror image of the way down.
const MIRRORED: [Stage; 3] = [Stage::Prolong, Stage::Relax(1), Stage::Relax(0)];

/// A coarse grid with its unknowns.
#[derive(Debug)]
struct Coarse {
    level: Level,
    /// Axes along which its cells are twice as long as those of the finer one.
    halved: [bool; 3],
    /// How often each axis was halved.
    halvings: [i32; 3],
    /// One over what the sum of the finer equations was divided by.
    scale: f32,
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
        let mut halvings = [0; 3];
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
                halvings[axis] += i32::from(halved[axis]);
                if halved[axis] { finer.cells[axis].div_ceil(2) } else { finer.cells[axis] }
            });
            finer = Grid::new(cells, grid.dim);
            let field = vec![0.0; finer.len()];
            let level = Level::new(finer, periodic, true);
            // Weight of a face across x between cells of which nothing is solid.
            let across = halved[1..].iter().filter(|&&halved| halved).count();
            let unit = 2f32.powi(across as i32) * if halved[0] { 0.5 } else { 1.0 };
            let (pressure, rhs) = (field.clone(), field);
            coarse.push(Coarse { level, halved, halvings, scale: 1.0 / unit, pressure, rhs });
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

    /// Whether there is a grid with fewer cells, and cycles are worth anything.
    pub(crate) fn has_coarse(&self) -> bool {
        !self.coarse.is_empty()
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
            coarsen(coarse, fine_grid, borders, weight);
            finer = Some(&coarse.level);
        }
    }

    /// One sweep and the residual after it on the finest grid; returns the largest.
    pub(crate) fn begin(&mut self, p: &mut [f32], rhs: &[f32], threads: Threads) -> f32 {
        self.finest(&FIRST, p, rhs, true, threads)
    }

    /// A cycle that interpolates, from the residual of the last one or of
    /// [`Multigrid::begin`] on; returns the largest residual left.
    pub(crate) fn go_on(&mut self, p: &mut [f32], rhs: &[f32], threads: Threads) -> f32 {
        self.correct(true, threads);
        self.finest(&ON, p, rhs, true, threads)
    }

    /// An approximate solution of the fine equation for `rhs`, by one symmetric
    /// cycle from 0.
    pub(crate) fn precondition(&mut self, out: &mut [f32], rhs: &[f32], threads: Threads) {
        if self.coarse.is_empty() {
            return solve_coarsest(&self.fine, out, rhs, threads);
        }
        self.finest(&DOWN, out, rhs, false, threads);
        self.correct(false, threads);
        self.finest(&MIRRORED, out, rhs, false, threads);
    }

    fn finest(
        &mut self,
        stages: &[Stage],
        p: &mut [f32],
        rhs: &[f32],
        smooth: bool,
        threads: Threads,
    ) -> f32 {
        let level = &self.fine;
        pass(level, self.coarse.first_mut(), &self.natural, stages, p, rhs, smooth, threads)
    }

    /// Solves the coarser equations for what was restricted to the first of them,
    /// and lays out its solution.
    fn correct(&mut self, smooth: bool, threads: Threads) {
        let Some((first, rest)) = self.coarse.split_first_mut() else { return };
        cycle(first, rest, &mut self.natural, self.borders, smooth, threads);
    }
}

/// Runs stages over a level, whose coarser one is `next`.
fn pass(
    level: &Level,
    next: Option<&mut Coarse>,
    natural: &[f32],
    stages: &[Stage],
    p: &mut [f32],
    rhs: &[f32],
    smooth: bool,
    threads: Threads,
) -> f32 {
    let (coarser, coarse) = match next {
        Some(Coarse { level, halved, scale, rhs, .. }) => {
            (Some(Coarser { level, halved: *halved, scale: *scale, smooth }), &mut rhs[..])
        }
        None => (None, &mut [][..]),
    };
    Pass { level, stages, rhs, coarser, correction: natural, threads }.run(p, coarse)
}

/// Solves the equation of a coarse grid roughly, from 0, and lays its solution
/// out in natural order.
fn cycle(
    coarse: &mut Coarse,
    coarser: &mut [Coarse],
    natural: &mut [f32],
    borders: [Border; 3],
    smooth: bool,
    threads: Threads,
) {
    let Coarse { level, pressure, rhs, halved, halvings, .. } = coarse;
    if let Some((next, rest)) = coarser.split_first_mut() {
        pass(level, Some(&mut *next), natural, &DOWN, pressure, rhs, smooth, threads);
        cycle(next, rest, natural, borders, smooth, threads);
        let up = if smooth { &UP } else { &MIRRORED };
        pass(level, Some(next), natural, up, pressure, rhs, smooth, threads);
    } else {
        if !borders[..level.grid.dim].contains(&Border::Open) {
            balance(level, rhs);
        }
        solve_coarsest(level, pressure, rhs, threads);
    }
    level.unpack(pressure, natural, threads);
    if !smooth {
        return;
    }
    for axis in (0..level.grid.dim).filter(|&axis| halved[axis]) {
        let mirror = match borders[axis] {
            Border::Periodic => None,
            Border::Closed => Some(1.0),
            // Zero lies half a cell of the finest grid beyond the border.
            Border::Open => {
                let cells = 2f32.powi(halvings[axis]);
                Some((1.0 - cells) / (1.0 + cells))
            }
        };
        fill_beyond(&level.grid, natural, axis, mirror);
    }
}

/// Takes the mean off a right-hand side that has no solution otherwise: rounding
/// left it, and sweeps would add it to the solution again and again.
fn balance(level: &Level, rhs: &mut [f32]) {
    let equations = level.inverse.iter().filter(|&&inverse| inverse > 0.0).count();
    let mean = rhs.iter().sum::<f32>() / equations.max(1) as f32;
    for (value, inverse) in rhs.iter_mut().zip(&level.inverse) {
        if *inverse > 0.0 {
            *value -= mean;
        }
    }
}

/// Sweeps there and back again, as many as a handful of cells need.
fn solve_coarsest(level: &Level, p: &mut [f32], rhs: &[f32], threads: Threads) {
    let run = |stages: &[Stage], p: &mut [f32]| {
        pass(level, None, &[], stages, p, rhs, false, threads);
    };
    run(&[Stage::Start(0), Stage::Relax(1)], p);
    for _ in 1..COARSEST_SWEEPS {
        run(&[Stage::Relax(0), Stage::Relax(1)], p);
    }
    for _ in 0..COARSEST_SWEEPS {
        run(&[Stage::Relax(1), Stage::Relax(0)], p);
    }
}

/// The weights and diagonals of a coarse grid from those of the finer one.
fn coarsen(
    coarse: &mut Coarse,
    fine: Grid,
    borders: [Border; 3],
    weight: impl Fn(usize, [usize; 3]) -> f32,
) {
    let Coarse { level, halved, halvings, scale, .. } = coarse;
    let coarse = level.grid;
    for axis in 0..fine.dim {
        level.weights[axis].fill(0.0);
        let factor = *scale * if halved[axis] { 0.5 } else { 1.0 };
        // Beyond an open border p = 0 stays as far away as on the finest grid.
        let at_border = if halved[axis] && borders[axis] == Border::Open {
            let cells = 2f32.powi(halvings[axis]);
            (2.0 + cells) / (1.0 + cells)
        } else {
            1.0
        };
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
                    let ends = along == 1 || along == fine.cells[axis] + 1;
                    let factor = if ends { factor * at_border } else { factor };
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
    let differs = |axis: usize, place: [usize; 3]| {
        let mut below = place;
        below[axis] = match (place[axis], borders[axis]) {
            (1, Border::Periodic) => coarse.cells[axis],
            (1, _) => return false,
            (along, _) => along - 1,
        };
        let [at, below] = [place, below].map(|[i, j, k]| level.at(i, j, k));
        let joined = level.inverse[at] > 0.0 && level.inverse[below] > 0.0;
        joined && level.weights[axis][at] != 1.0
    };
    level.weighted = coarse.inner_rows().any(|row| {
        let mut places = (1..=coarse.cells[0]).map(|i| [i, row.j, row.k]);
        places.any(|place| (0..coarse.dim).any(|axis| differs(axis, place)))
    });
}
