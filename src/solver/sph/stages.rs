//! The stages of a step.

use bevy_platform::time::Instant;

use super::gauss_seidel::Corrections;
use super::pressure::SolveReport;
use super::{
    FluidWorld, dfsph, implicit_viscosity, mixed, surface_tension, viscosity, vorticity, wcsph,
};
use crate::solver::error::FluidError;
use crate::solver::neighborhood::{Results, Surroundings};
use crate::solver::neighbors::CELL_FACTOR;
use crate::solver::parallel::Threads;
use crate::solver::settings::FluidMethod;
use crate::solver::stats::{Stage, StepStats};
use crate::solver::time_step::check_step;
use crate::solver::vector::Vector;

impl<V: Vector> FluidWorld<V> {
    /// One step of `dt` seconds over all stages.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] if `dt` is not 1e-6 to 1 s; nothing is done then.
    pub fn step(&mut self, dt: f32, threads: Threads) -> Result<(), FluidError> {
        check_step("time_step", dt)?;
        threads.for_particles(self.len()).together(|threads| {
            self.neighbor_search(threads);
            self.non_pressure_forces(dt, threads);
            self.density_solve(dt, threads);
            self.integrate(dt, threads);
            self.divergence_solve(dt, threads);
        });
        Ok(())
    }

    /// First stage: sorts the particles and finds their neighbours, if anything
    /// was edited since the last step. Starts a new record of [`FluidWorld::stats`].
    pub fn neighbor_search(&mut self, threads: Threads) {
        let start = Instant::now();
        self.stats = StepStats::default();
        self.boundary.begin_step();
        threads.for_particles(self.len()).together(|threads| self.refresh(threads));
        self.stats.add_time(Stage::NeighborSearch, start);
    }

    /// Second stage: sets the accelerations to gravity, viscosity and surface tension. Add others
    /// with [`FluidWorld::accelerate`] between this and the next stage.
    pub fn non_pressure_forces(&mut self, dt: f32, threads: Threads) {
        let start = Instant::now();
        self.remove_runaways(dt);
        threads.for_particles(self.len()).together(|threads| {
            self.refresh(threads);
            viscosity::accelerations(self, dt, threads);
            viscosity::add_laplacian(self, dt, threads);
            vorticity::add(self, dt, threads);
            surface_tension::add(self, threads);
            implicit_viscosity::add(self, dt, threads);
        });
        self.hold_membranes();
        self.stats.add_time(Stage::NonPressureForces, start);
    }

    /// Third stage: applies the accelerations, then the pressure that keeps the
    /// density from rising above the rest density, or by WCSPH the pressure that
    /// follows from it.
    pub fn density_solve(&mut self, dt: f32, threads: Threads) {
        let start = Instant::now();
        self.stats.dt = dt;
        let mut report = SolveReport::default();
        threads.for_particles(self.len()).together(|threads| {
            self.refresh(threads);
            let calm = self.settings.has_coarse_grid() && self.is_deep_and_calm(threads);
            let between = !calm && !self.corrects_positions();
            self.corrections = Corrections { at_once: calm || between && self.slow, between };
            self.apply_accelerations(dt, threads);
            match self.settings.method {
                FluidMethod::Dfsph => report = dfsph::density_solve(self, dt, threads),
                FluidMethod::Wcsph => wcsph::apply_pressure(self, dt, threads),
            }
            self.slow = report.slow;
            // Where the density solve is slow the divergence solve is not.
            self.corrections.at_once = calm;
        });
        self.stats.density_iterations = report.iterations;
        self.stats.density_error = report.error;
        self.stats.applications += report.applications;
        self.last_step = dt;
        self.stats.add_time(Stage::DensitySolve, start);
    }

    /// Fourth stage: moves the particles and the boundaries. A particle that
    /// would go into a wall loses the part of its velocity that takes it there,
    /// as in an inelastic impact; how many did is in [`StepStats::held_back`].
    /// One that turns non-finite is removed, and so is, at the start of the next
    /// step, one so fast that it would cross ten thousand support radii in it.
    pub fn integrate(&mut self, dt: f32, threads: Threads) {
        let start = Instant::now();
        let threads = threads.for_particles(self.len());
        self.with_corrections(threads, |world| world.move_particles(dt, threads));
        self.wrap();
        self.remove_where(|x, v| !x.is_finite() || !v.is_finite());
        self.boundary.advance(dt);
        self.fresh = false;
        self.stats.add_time(Stage::Integrate, start);
    }

    /// Last stage: finds neighbours and densities at the new positions, then
    /// applies the pressure that keeps the velocity from compressing further,
    /// which WCSPH does without.
    pub fn divergence_solve(&mut self, dt: f32, threads: Threads) {
        let start = Instant::now();
        threads.for_particles(self.len()).together(|threads| {
            self.refresh(threads);
            // Elsewhere there is nothing to solve: the search alone is what the next step needs.
            if self.settings.method == FluidMethod::Dfsph && !self.corrects_positions() {
                let report = dfsph::divergence_solve(self, dt, threads);
                self.stats.divergence_iterations = report.iterations;
                self.stats.divergence_error = report.error;
                self.stats.applications += report.applications;
            }
        });
        self.stats.add_time(Stage::DivergenceSolve, start);
    }

    /// Brings all particles back within periodic borders.
    fn wrap(&mut self) {
        let periodic = &self.settings.periodic;
        if !periodic.is_none() {
            let positions = self.particles.positions.iter_mut();
            positions.filter(|x| x.is_finite()).for_each(|x| *x = periodic.wrap(*x));
        }
    }

    /// Sorts, finds neighbours, and computes what depends on positions alone.
    fn refresh(&mut self, threads: Threads) {
        if self.fresh {
            return;
        }
        self.corrected = false;
        // What was edited may be anywhere.
        self.wrap();
        let support_radius = self.settings.support_radius();
        self.grid.sort(
            &self.particles.positions,
            &self.particles.places,
            support_radius * CELL_FACTOR,
            threads,
        );
        let grid = &self.grid;
        let order = |sorted| grid.point(sorted);
        self.unsorted.take_in_order(&self.particles, grid.len(), order, threads);
        self.unsorted.take_derived(&mut self.particles);
        core::mem::swap(&mut self.particles, &mut self.unsorted);
        for (index, &place) in self.particles.places.iter().enumerate() {
            self.packed_of[place as usize] = index as u32;
        }
        let particles = &mut self.particles;
        let around = Surroundings {
            positions: &particles.positions,
            places: &particles.places,
            lightness: &particles.lightness,
            grid: &self.grid,
            boundary: &self.boundary,
            kernel: &self.kernel,
            volume: self.settings.spacing().powi(V::DIM as i32),
            mixed: mixed(&self.bodies),
        };
        let results = Results {
            densities: &mut particles.densities,
            gradient_sums: &mut particles.gradient_sums,
            diagonals: &mut particles.diagonals,
            counts: &mut particles.neighbor_counts,
        };
        let periodic = &self.settings.periodic;
        if periodic.is_none() {
            self.neighbors.find(threads, &around, results);
        } else {
            self.neighbors.find_wrapped(threads, &around, periodic, results);
        }
        let particles = &mut self.particles;
        let results = Results {
            densities: &mut particles.densities,
            gradient_sums: &mut particles.gradient_sums,
            diagonals: &mut particles.diagonals,
            counts: &mut particles.neighbor_counts,
        };
        let (positions, lightness) = (&particles.positions, &particles.lightness);
        self.planes.add_to(threads, positions, lightness, support_radius, results);
        self.coarse.outdate();
        self.fresh = true;
        self.searches += 1;
    }
}
