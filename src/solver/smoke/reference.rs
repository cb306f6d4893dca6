//! Stable fluids as first published (Stam 2003, "Real-time fluid dynamics for
//! games"), operation by operation.
//!
//! Velocities lie in the middle of cells. Sweeps run in storage order over
//! columns, and start from what the source fields hold, so a source shows twice:
//! in the field, and in the first guess of its diffusion. Values are rounded to
//! f32 only where they are stored.

use super::grid::{Grid, largest};
use super::settings::SmokeScheme;
use super::{Smoke, Work};
use crate::solver::vector::Vector;

impl<V: Vector> Smoke<V> {
    /// The whole step of the scheme as first published.
    pub(super) fn step_stable(&mut self) {
        let stable = Stable {
            grid: self.grid,
            dt: self.stats.dt,
            side: self.domain.cell_size(),
            viscosity: self.settings.viscosity,
            diffusion: self.settings.diffusion,
            iterations: self.settings.iterations,
        };
        let Work { next, ahead, .. } = &mut self.work;
        next.iter_mut().for_each(|field| field.fill(0.0));
        for source in &self.cell_sources {
            let rates = source.velocity.to_array();
            for axis in 0..V::DIM {
                next[axis][source.at] += rates[axis];
            }
        }
        self.stats.divergence_before = stable.divergence(&self.velocity);
        stable.move_velocity(&mut self.velocity, next);
        self.stats.divergence_after = stable.divergence(&self.velocity);
        self.stats.iterations = 2 * stable.iterations;
        for (channel, dye) in self.dye.iter_mut().enumerate() {
            ahead.fill(0.0);
            for source in self.cell_sources.iter().filter(|source| source.channel == channel) {
                ahead[source.at] += source.dye;
            }
            stable.move_dye(dye, ahead, &self.velocity);
        }
        self.cell_sources.clear();
        let fastest = self.velocity.iter().map(|field| largest(field));
        self.stats.max_speed = fastest.fold(0.0, f32::max);
    }

    /// Moves velocities between the middles of cells and their faces.
    pub(super) fn move_velocities(&mut self, to: SmokeScheme) {
        let grid = self.grid;
        for axis in 0..V::DIM {
            let stride = grid.stride[axis];
            let (field, out) = (&self.velocity[axis], &mut self.work.next[axis]);
            out.fill(0.0);
            for row in grid.inner_rows() {
                for i in 1..=grid.cells[0] {
                    let at = grid.index(i, row.j, row.k);
                    let place = [i, row.j, row.k][axis];
                    match to {
                        SmokeScheme::StableFluids => {
                            out[at] = 0.5 * (field[at] + field[at + stride]);
                        }
                        SmokeScheme::Staggered if place > 1 => {
                            out[at] = 0.5 * (field[at - stride] + field[at]);
                        }
                        SmokeScheme::Staggered => {}
                    }
                }
            }
        }
        core::mem::swap(&mut self.velocity, &mut self.work.next);
        if to == SmokeScheme::StableFluids {
            let stable =
                Stable { grid, dt: 0.0, side: 1.0, viscosity: 0.0, diffusion: 0.0, iterations: 0 };
            for (axis, field) in self.velocity.iter_mut().enumerate().take(V::DIM) {
                stable.border(field, Some(axis));
            }
        } else {
            self.solids.hold(&mut self.velocity);
        }
    }
}

/// One step's numbers.
#[derive(Clone, Copy)]
struct Stable {
    pub grid: Grid,
    pub dt: f32,
    /// Side of a cell in metres.
    pub side: f32,
    /// Viscosity and diffusion in m²/s.
    pub viscosity: f32,
    pub diffusion: f32,
    pub iterations: u32,
}

impl Stable {
    /// Velocity: sources, diffusion, projection, advection, projection.
    fn move_velocity(&self, velocity: &mut [Vec<f32>; 3], source: &mut [Vec<f32>; 3]) {
        let dim = self.grid.dim;
        for axis in 0..dim {
            add(&mut velocity[axis], &source[axis], self.dt);
        }
        for axis in 0..dim {
            core::mem::swap(&mut velocity[axis], &mut source[axis]);
            self.diffuse(&mut velocity[axis], &source[axis], Some(axis), self.viscosity);
        }
        self.project(velocity, source);
        core::mem::swap(velocity, source);
        for axis in 0..dim {
            self.advect(&mut velocity[axis], &source[axis], Some(axis), source);
        }
        self.project(velocity, source);
    }

    /// Dye: sources, diffusion, advection.
    fn move_dye(&self, dye: &mut Vec<f32>, source: &mut Vec<f32>, velocity: &[Vec<f32>; 3]) {
        add(dye, source, self.dt);
        core::mem::swap(dye, source);
        self.diffuse(dye, source, None, self.diffusion);
        core::mem::swap(dye, source);
        self.advect(dye, source, None, velocity);
    }

    /// The largest |divergence| in 1/s.
    fn divergence(&self, velocity: &[Vec<f32>; 3]) -> f32 {
        let mut found = 0.0f64;
        self.for_each(|at| found = found.max(self.spread(velocity, at).abs()));
        found as f32 / (2.0 * self.side)
    }

    /// Sum of the differences of the velocity across a cell.
    fn spread(&self, velocity: &[Vec<f32>; 3], at: usize) -> f64 {
        let along = |axis: usize| {
            let stride = self.grid.stride[axis];
            f64::from(velocity[axis][at + stride]) - f64::from(velocity[axis][at - stride])
        };
        if self.grid.dim == 3 { along(0) + along(1) + along(2) } else { along(0) + along(1) }
    }

    /// Visits the cells column by column, x outermost.
    fn for_each(&self, mut work: impl FnMut(usize)) {
        for i in 1..=self.grid.cells[0] {
            for j in 1..=self.grid.cells[1] {
                for k in self.grid.planes() {
                    work(self.grid.index(i, j, k));
                }
            }
        }
    }

    fn neighbors(&self, x: &[f32], at: usize) -> f64 {
        let along = |axis: usize| {
            let stride = self.grid.stride[axis];
            f64::from(x[at - stride]) + f64::from(x[at + stride])
        };
        if self.grid.dim == 3 { along(0) + along(1) + along(2) } else { along(0) + along(1) }
    }

    fn diffuse(&self, x: &mut [f32], x0: &[f32], component: Option<usize>, rate: f32) {
        let a = f64::from(self.dt * rate / (self.side * self.side));
        self.sweep(x, x0, component, a, 1.0 + 2.0 * self.grid.dim as f64 * a);
    }

    fn sweep(&self, x: &mut [f32], x0: &[f32], component: Option<usize>, a: f64, diagonal: f64) {
        for _ in 0..self.iterations {
            self.for_each(|at| {
                x[at] = ((f64::from(x0[at]) + a * self.neighbors(x, at)) / diagonal) as f32;
            });
            self.border(x, component);
        }
    }

    fn project(&self, velocity: &mut [Vec<f32>; 3], scratch: &mut [Vec<f32>; 3]) {
        let [p, divergence, _] = scratch;
        p.fill(0.0);
        let half = 0.5 * f64::from(self.side);
        self.for_each(|at| divergence[at] = (-half * self.spread(velocity, at)) as f32);
        self.border(divergence, None);
        self.sweep(p, divergence, None, 1.0, 2.0 * self.grid.dim as f64);
        for (axis, field) in velocity.iter_mut().enumerate().take(self.grid.dim) {
            let stride = self.grid.stride[axis];
            self.for_each(|at| {
                let rise = f64::from(p[at + stride]) - f64::from(p[at - stride]);
                field[at] = (f64::from(field[at]) - 0.5 * rise / f64::from(self.side)) as f32;
            });
            self.border(field, Some(axis));
        }
    }

    fn advect(
        &self,
        out: &mut [f32],
        field: &[f32],
        component: Option<usize>,
        velocity: &[Vec<f32>; 3],
    ) {
        let grid = self.grid;
        let scale = f64::from(self.dt / self.side);
        for row in grid.inner_rows() {
            for i in 1..=grid.cells[0] {
                let at = row.index * grid.stride[1] + i;
                let place = [i, row.j, row.k];
                let mut lowest = 0;
                let mut part = [0.0f64; 3];
                for axis in 0..grid.dim {
                    let high = grid.cells[axis] as f64 + 0.5;
                    let from = place[axis] as f64 - scale * f64::from(velocity[axis][at]);
                    // In this order what is not a number becomes the lowest place.
                    let from = from.max(0.5).min(high);
                    part[axis] = from - from.floor();
                    lowest += from as usize * grid.stride[axis];
                }
                let value = |at: usize| f64::from(field[at]);
                let plane = |at: usize| {
                    let column = |at: usize| {
                        (1.0 - part[1]) * value(at) + part[1] * value(at + grid.stride[1])
                    };
                    (1.0 - part[0]) * column(at) + part[0] * column(at + 1)
                };
                let mixed = if grid.dim == 3 {
                    let up = lowest + grid.stride[2];
                    (1.0 - part[2]) * plane(lowest) + part[2] * plane(up)
                } else {
                    plane(lowest)
                };
                out[at] = mixed as f32;
            }
        }
        self.border(out, component);
    }

    /// The border layer: the inner neighbour, negated for velocity into a wall;
    /// a corner is the mean of its neighbours in the layer.
    fn border(&self, x: &mut [f32], component: Option<usize>) {
        let grid = self.grid;
        for axis in 0..grid.dim {
            let stride = grid.stride[axis];
            let last = grid.cells[axis] * stride;
            let sign = if component == Some(axis) { -1.0 } else { 1.0 };
            grid.for_each_across(axis, |at| {
                x[at] = sign * x[at + stride];
                x[at + last + stride] = sign * x[at + last];
            });
        }
        // Edges are corners of planes; the corners of a box come after its edges.
        let ends = |axis: usize| [0, grid.cells[axis] + 1];
        let mut mean = |place: [usize; 3], axes: &[usize]| {
            let at = grid.index(place[0], place[1], place[2]);
            let inward = |axis: usize| {
                let stride = grid.stride[axis];
                if place[axis] == 0 { x[at + stride] } else { x[at - stride] }
            };
            x[at] = axes.iter().map(|&axis| inward(axis)).sum::<f32>() / axes.len() as f32;
        };
        for (a, b, along) in [(0, 1, 2), (0, 2, 1), (1, 2, 0)] {
            if b >= grid.dim {
                continue;
            }
            let line = if grid.dim == 3 { 1..=grid.cells[along] } else { 0..=0 };
            for place_a in ends(a) {
                for place_b in ends(b) {
                    for place in line.clone() {
                        let mut at = [0; 3];
                        (at[a], at[b], at[along]) = (place_a, place_b, place);
                        mean(at, &[a, b]);
                    }
                }
            }
        }
        if grid.dim == 3 {
            for i in ends(0) {
                for j in ends(1) {
                    for k in ends(2) {
                        mean([i, j, k], &[0, 1, 2]);
                    }
                }
            }
        }
    }
}

fn add(x: &mut [f32], source: &[f32], dt: f32) {
    for (x, source) in x.iter_mut().zip(source) {
        *x += dt * source;
    }
}
