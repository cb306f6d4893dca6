//! Smoothed particle hydrodynamics: the packed world of all bodies and the
//! stages of a step.
//!
//! A step is, in this order: [`FluidWorld::neighbor_search`],
//! [`FluidWorld::non_pressure_forces`], [`FluidWorld::density_solve`],
//! [`FluidWorld::integrate`], [`FluidWorld::divergence_solve`]. Positions move
//! in `integrate`; the search at the new positions opens `divergence_solve`,
//! so that the next step's `neighbor_search` finds the lists fresh.

mod coarse;
mod depth;
mod dfsph;
mod exchange;
mod gauss_seidel;
mod implicit_viscosity;
mod jacobi;
mod measure;
pub(super) mod membrane;
mod packed;
mod pressure;
mod surface_tension;
mod viscosity;
mod vorticity;
mod walls;
mod wcsph;

use bevy_platform::time::Instant;

use super::boundary::{BoundaryMotion, BoundarySet};
use super::error::FluidError;
use super::fan::Fan;
use super::grid::CellGrid;
use super::half_space::{BoundaryPlane, Planes};
use super::kernel::CubicSpline;
use super::neighborhood::Surroundings;
use super::neighbors::{CELL_FACTOR, NeighborLists, Results};
use super::parallel::Threads;
use super::particles::ParticleId;
use super::settings::{FluidMaterial, FluidMethod, WorldSettings};
use super::stats::{Stage, StepStats};
use super::time_step::check_step;
use super::vector::Vector;
use coarse::Coarse;
use implicit_viscosity::ThickSolver;
use membrane::Membrane;
use packed::Packed;
use pressure::{SolveReport, Workspace};
use vorticity::Vorticity;

pub use exchange::{BodyKey, RemovedParticle};
pub use measure::Measures;
pub(super) use measure::{Signal, signal_speed};

/// A body as the packed world knows it.
#[derive(Clone, Debug)]
struct Body {
    key: BodyKey,
    material: FluidMaterial,
    /// Range of the body's particles in the concatenation of all bodies.
    start: usize,
    end: usize,
    /// Whether it is the samples of all membranes, which come last.
    membrane: bool,
}

/// Whether particles differ in their lightness.
fn mixed(bodies: &[Body]) -> bool {
    if bodies.iter().any(|body| body.membrane) {
        return true;
    }
    let mut densities = bodies.iter().map(|body| body.material.rest_density);
    let first = densities.next();
    densities.any(|density| Some(density) != first)
}

/// All particles of all bodies in one packed copy, sorted by cell.
///
/// Bodies are gathered before a step and scattered after it, see
/// [`FluidWorld::gather`] and [`FluidWorld::scatter`].
#[derive(Debug)]
pub struct FluidWorld<V: Vector> {
    settings: WorldSettings<V>,
    kernel: CubicSpline<V>,
    bodies: Vec<Body>,
    /// Ids of all bodies' particles, body after body.
    ids: Vec<ParticleId>,
    /// Packed index of each of them, or `packed::GONE`.
    packed_of: Vec<u32>,
    particles: Packed<V>,
    /// The other half of the double buffer that sorting moves the particles into.
    unsorted: Packed<V>,
    boundary: BoundarySet<V>,
    membrane: Membrane<V>,
    planes: Planes<V>,
    grid: CellGrid,
    neighbors: NeighborLists<V>,
    workspace: Workspace<V>,
    coarse: Coarse<V>,
    /// Whether the coarse grid belongs to the present lists.
    assembled: bool,
    /// Whether the water is deep and calm in the present step.
    deep: bool,
    thick: ThickSolver<V>,
    vorticity: Vorticity,
    removed: Vec<RemovedParticle>,
    /// Whether lists, densities and diagonal belong to the present positions.
    fresh: bool,
    /// Length of the step that the pressure impulses are of, or zero.
    last_step: f32,
    /// Seconds for which DFSPH still goes easy on what WCSPH left compressed.
    transition: f32,
    /// Seconds for which fresh water still keeps some of its first compression.
    settling: f32,
    stats: StepStats,
    searches: u64,
}

/// A particle in the packed world.
#[derive(Clone, Copy, Debug)]
pub struct ParticleView<V> {
    /// The body it belongs to.
    pub body: BodyKey,
    /// Its id in that body.
    pub id: ParticleId,
    /// Position in metres.
    pub position: V,
    /// Velocity in m/s.
    pub velocity: V,
    /// Density in kg/m³ (kg/m² in 2D) at the last search.
    pub density: f32,
}

impl<V: Vector> Default for FluidWorld<V> {
    fn default() -> Self {
        let settings = WorldSettings::default();
        Self {
            kernel: CubicSpline::new(settings.support_radius()),
            settings,
            bodies: Vec::new(),
            ids: Vec::new(),
            packed_of: Vec::new(),
            particles: Packed::default(),
            unsorted: Packed::default(),
            boundary: BoundarySet::default(),
            membrane: Membrane::default(),
            planes: Planes::default(),
            grid: CellGrid::default(),
            neighbors: NeighborLists::default(),
            workspace: Workspace::default(),
            coarse: Coarse::default(),
            assembled: false,
            deep: false,
            thick: ThickSolver::default(),
            vorticity: Vorticity::default(),
            removed: Vec::new(),
            fresh: false,
            last_step: 0.0,
            transition: 0.0,
            settling: 0.0,
            stats: StepStats::default(),
            searches: 0,
        }
    }
}

impl<V: Vector> FluidWorld<V> {
    /// An empty world.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] if a setting is out of range.
    pub fn new(settings: WorldSettings<V>) -> Result<Self, FluidError> {
        let mut world = Self::default();
        world.set_settings(settings)?;
        Ok(world)
    }

    /// The settings in force.
    pub fn settings(&self) -> &WorldSettings<V> {
        &self.settings
    }

    /// Replaces the settings; costs nothing where they are the same.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] if one is out of range; the old ones stay.
    pub fn set_settings(&mut self, settings: WorldSettings<V>) -> Result<(), FluidError> {
        if settings == self.settings {
            return Ok(());
        }
        settings.validate()?;
        if settings.particle_radius != self.settings.particle_radius {
            self.kernel = CubicSpline::new(settings.support_radius());
            self.boundary.set_support_radius(settings.support_radius());
            self.fresh = false;
        }
        if settings.periodic != self.settings.periodic {
            self.boundary.set_periodic(settings.periodic);
            self.fresh = false;
        }
        if (self.settings.method, settings.method) == (FluidMethod::Wcsph, FluidMethod::Dfsph) {
            self.transition = dfsph::TRANSITION;
        }
        self.settings = settings;
        Ok(())
    }

    /// Replaces the samples of all boundaries, in metres, which stand still
    /// then; costs a comparison where they are the same. Samples that are not
    /// finite are left out. Returns how many were.
    pub fn set_boundary(&mut self, samples: &[V]) -> usize {
        let finite;
        let mut left_out = 0;
        let samples = if samples.iter().all(|sample| sample.is_finite()) {
            samples
        } else {
            finite =
                samples.iter().copied().filter(|sample| sample.is_finite()).collect::<Vec<V>>();
            left_out = samples.len() - finite.len();
            &finite
        };
        if self.boundary.rebuild(samples, self.settings.support_radius()) {
            self.fresh = false;
        }
        self.boundary.stop();
        left_out
    }

    /// Lets the samples of the boundaries move evenly to `targets`, the k-th to
    /// the k-th in the order of [`FluidWorld::set_boundary`], within the next
    /// `seconds`: the fluid is pushed and dragged by the velocity that follows.
    ///
    /// They move in [`FluidWorld::integrate`] and stand still when they have
    /// arrived. One that is farther than sixteen support radii from its target
    /// is put there at once, as is every one if there are more or fewer than
    /// before: whoever puts a wall elsewhere does not mean to make a wave. A
    /// target that is not finite lets its sample stay.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] if `seconds` is not 1e-6 to 3600; nothing is
    /// done then.
    pub fn move_boundary(&mut self, targets: &[V], seconds: f32) -> Result<(), FluidError> {
        if !(1e-6..=3600.0).contains(&seconds) {
            return Err(FluidError::parameter("seconds", seconds, "1e-6 s to 3600 s"));
        }
        if targets.len() != self.boundary.len() {
            self.set_boundary(targets);
        } else if self.boundary.move_to(targets, seconds) {
            self.fresh = false;
        }
        Ok(())
    }

    /// Lets the surfaces of the boundaries move along themselves, as that of a
    /// conveyor belt or of the lid of a cavity does: one velocity in m/s for
    /// each sample, in the order of [`FluidWorld::set_boundary`], which forgets
    /// them when the samples are others. Missing and non-finite ones are zero.
    ///
    /// Fluid is dragged along as its `boundary_viscosity` says.
    pub fn set_surface_velocities(&mut self, velocities: &[V]) {
        self.boundary.set_surface(velocities);
    }

    /// Replaces the boundaries that fill all of space behind a plane; costs a
    /// comparison where they are the same. They have no samples, and are not
    /// among [`FluidWorld::boundary_samples`]. Where two of them, or one and
    /// samples, overlap, both count.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for the first value out of range; the old ones
    /// stay then.
    pub fn set_planes(&mut self, planes: &[BoundaryPlane<V>]) -> Result<(), FluidError> {
        if self.planes.set(planes, surface_tension::adhesion_spline)? {
            self.fresh = false;
        }
        Ok(())
    }

    /// The boundaries that fill all of space behind a plane.
    pub fn planes(&self) -> &[BoundaryPlane<V>] {
        self.planes.given()
    }

    /// One step of `dt` seconds over all stages.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] if `dt` is not 1e-6 to 1 s; nothing is done then.
    pub fn step(&mut self, dt: f32, threads: Threads) -> Result<(), FluidError> {
        check_step("time_step", dt)?;
        self.neighbor_search(threads);
        self.non_pressure_forces(dt, threads);
        self.density_solve(dt, threads);
        self.integrate(dt);
        self.divergence_solve(dt, threads);
        Ok(())
    }

    /// First stage: sorts the particles and finds their neighbours, if anything
    /// was edited since the last step. Starts a new record of [`FluidWorld::stats`].
    pub fn neighbor_search(&mut self, threads: Threads) {
        let start = Instant::now();
        self.stats = StepStats::default();
        self.boundary.begin_step();
        self.refresh(threads);
        self.stats.add_time(Stage::NeighborSearch, start);
    }

    /// Second stage: sets the accelerations to gravity, viscosity and surface tension. Add others
    /// with [`FluidWorld::accelerate`] between this and the next stage.
    pub fn non_pressure_forces(&mut self, dt: f32, threads: Threads) {
        let start = Instant::now();
        let threads = threads.for_particles(self.len());
        self.remove_runaways(dt);
        self.refresh(threads);
        viscosity::accelerations(self, dt, threads);
        viscosity::add_laplacian(self, dt, threads);
        vorticity::add(self, dt, threads);
        surface_tension::add(self, threads);
        implicit_viscosity::add(self, dt, threads);
        self.hold_membranes();
        self.stats.add_time(Stage::NonPressureForces, start);
    }

    /// Third stage: applies the accelerations, then the pressure that keeps the
    /// density from rising above the rest density, or by WCSPH the pressure that
    /// follows from it.
    pub fn density_solve(&mut self, dt: f32, threads: Threads) {
        let start = Instant::now();
        let threads = threads.for_particles(self.len());
        self.refresh(threads);
        self.stats.dt = dt;
        self.deep = self.settings.has_coarse_grid() && self.is_deep_and_calm(threads);
        self.apply_accelerations(dt, threads);
        let report = match self.settings.method {
            FluidMethod::Dfsph => dfsph::density_solve(self, dt, threads),
            FluidMethod::Wcsph => {
                wcsph::apply_pressure(self, dt, threads);
                SolveReport::default()
            }
        };
        self.stats.density_iterations = report.iterations;
        self.stats.density_error = report.error;
        self.stats.applications += report.applications;
        self.last_step = dt;
        self.stats.add_time(Stage::DensitySolve, start);
    }

    /// Fourth stage: moves the particles and the boundaries. A particle that turns non-finite is removed,
    /// and so is, at the start of the next step, one so fast that it would
    /// cross ten thousand support radii in it.
    pub fn integrate(&mut self, dt: f32) {
        let start = Instant::now();
        let particles = &mut self.particles;
        for (position, velocity) in particles.positions.iter_mut().zip(&particles.velocities) {
            *position += *velocity * dt;
        }
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
        let threads = threads.for_particles(self.len());
        self.refresh(threads);
        let report = match self.settings.method {
            FluidMethod::Dfsph => dfsph::divergence_solve(self, dt, threads),
            // Nothing to solve: the search alone is what the next step needs.
            FluidMethod::Wcsph => SolveReport::default(),
        };
        self.stats.divergence_iterations = report.iterations;
        self.stats.divergence_error = report.error;
        self.stats.applications += report.applications;
        self.stats.add_time(Stage::DivergenceSolve, start);
    }

    /// Adds an acceleration in m/s² to each particle, from a function of it.
    /// Holds for the present step; call it after
    /// [`FluidWorld::non_pressure_forces`]. One that is not finite counts as zero.
    pub fn accelerate(&mut self, mut acceleration: impl FnMut(ParticleView<V>) -> V) {
        for index in 0..self.particles.positions.len() {
            if self.is_membrane(index) {
                continue;
            }
            let added = acceleration(self.view(index));
            if added.is_finite() {
                self.particles.accelerations[index] += added;
            }
        }
    }

    /// Accelerates the particles in the streams of fans towards their speeds, for a
    /// step of `dt` seconds. Like [`FluidWorld::accelerate`] it holds for the present
    /// step, and comes after [`FluidWorld::non_pressure_forces`].
    pub fn blow(&mut self, dt: f32, fans: &[Fan<V>]) {
        for fan in fans {
            self.accelerate(|particle| {
                fan.change(particle.position, particle.velocity, dt) * (1.0 / dt)
            });
        }
    }

    /// Replaces velocities, in m/s, by a function of the particle: `None` and what
    /// is not finite change nothing.
    ///
    /// Called between [`FluidWorld::density_solve`] and [`FluidWorld::integrate`]
    /// it moves particles whatever the pressure says, as a pump or a hand does.
    pub fn steer(&mut self, velocity: impl Fn(ParticleView<V>) -> Option<V>) {
        for index in 0..self.particles.positions.len() {
            if self.is_membrane(index) {
                continue;
            }
            if let Some(velocity) = velocity(self.view(index)).filter(|v| v.is_finite()) {
                self.particles.velocities[index] = velocity;
            }
        }
    }

    /// All particles, in the packed order.
    pub fn particles(&self) -> impl Iterator<Item = ParticleView<V>> + '_ {
        let packed = 0..self.particles.positions.len();
        packed.filter(|&index| !self.is_membrane(index)).map(|index| self.view(index))
    }

    /// One particle of a body.
    ///
    /// # Errors
    /// [`FluidError::StaleParticle`] if it is not in the world.
    pub fn particle(&self, body: BodyKey, id: ParticleId) -> Result<ParticleView<V>, FluidError> {
        self.fluid_bodies()
            .find(|entry| entry.key == body)
            .and_then(|entry| {
                let ids = &self.ids[entry.start..entry.end];
                let place = entry.start + ids.iter().position(|&other| other == id)?;
                let index = self.packed_of[place];
                (index != packed::GONE).then(|| self.view(index as usize))
            })
            .ok_or(FluidError::StaleParticle(id))
    }

    /// Number of particles.
    pub fn len(&self) -> usize {
        self.particles.positions.len() - self.membrane_indices().len()
    }

    /// True if there is no particle.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of boundary samples.
    pub fn boundary_len(&self) -> usize {
        self.boundary.len()
    }

    /// Positions of the boundary samples in metres, and their volumes V_k in
    /// m³ (m² in 2D). A sample's pseudo-mass is its volume times the rest density.
    pub fn boundary_samples(&self) -> impl ExactSizeIterator<Item = (V, f32)> + '_ {
        self.boundary.positions().iter().copied().zip(self.boundary.volumes().iter().copied())
    }

    /// Samples of all boundaries in the order they were given in, and how they move.
    pub(crate) fn boundary_state(&self) -> (&[V], &BoundaryMotion<V>) {
        (self.boundary.given(), self.boundary.motion())
    }

    /// Takes over the motion of a restored boundary.
    pub(crate) fn resume_boundary(&mut self, motion: BoundaryMotion<V>) {
        self.boundary.resume(motion);
    }

    /// Length of the last step in seconds, or zero before the first.
    pub fn last_step(&self) -> f32 {
        self.last_step
    }

    /// Seconds for which DFSPH still goes easy on what WCSPH left compressed.
    pub fn transition(&self) -> f32 {
        self.transition
    }

    /// Seconds for which fresh water still keeps some of its first compression.
    pub fn settling(&self) -> f32 {
        self.settling
    }

    /// Tells a restored world what step its pressures are of, and how much of a
    /// transition and of the settling is left.
    pub(crate) fn set_past(&mut self, last_step: f32, transition: f32, settling: f32) {
        (self.last_step, self.transition, self.settling) = (last_step, transition, settling);
    }

    /// Figures of the step that is under way or done.
    pub fn stats(&self) -> &StepStats {
        &self.stats
    }

    /// Number of neighbour searches so far: one a step unless something was edited.
    pub fn searches(&self) -> u64 {
        self.searches
    }

    /// Bytes of all buffers, room for growth included.
    pub fn memory(&self) -> usize {
        self.particles.bytes()
            + self.unsorted.bytes()
            + size_of::<ParticleId>() * self.ids.capacity()
            + size_of::<u32>() * self.packed_of.capacity()
            + self.boundary.bytes()
            + self.membrane.bytes()
            + self.planes.bytes()
            + self.grid.bytes()
            + self.neighbors.bytes()
            + self.workspace.bytes()
            + self.coarse.bytes()
            + self.thick.bytes()
            + self.vorticity.bytes()
    }

    /// The bodies of fluid.
    fn fluid_bodies(&self) -> impl Iterator<Item = &Body> {
        self.bodies.iter().filter(|body| !body.membrane)
    }

    /// Brings all particles back within periodic borders.
    fn wrap(&mut self) {
        let periodic = &self.settings.periodic;
        if !periodic.is_none() {
            let positions = self.particles.positions.iter_mut();
            positions.filter(|x| x.is_finite()).for_each(|x| *x = periodic.wrap(*x));
        }
    }

    fn view(&self, index: usize) -> ParticleView<V> {
        let particles = &self.particles;
        let body = &self.bodies[particles.bodies[index] as usize];
        ParticleView {
            body: body.key,
            id: self.ids[particles.places[index] as usize],
            position: particles.positions[index],
            velocity: particles.velocities[index],
            density: particles.densities[index] * body.material.rest_density,
        }
    }

    /// Sorts, finds neighbours, and computes what depends on positions alone.
    fn refresh(&mut self, threads: Threads) {
        if self.fresh {
            return;
        }
        let threads = threads.for_particles(self.len());
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
        self.assembled = false;
        self.fresh = true;
        self.searches += 1;
    }

    /// Sets up the coarse grid of the present lists, if it is not yet.
    fn assemble(&mut self, threads: Threads) {
        if !self.assembled {
            self.coarse.assemble(&self.particles, &self.neighbors, &self.grid, threads);
            self.stats.applications += 0.5;
            self.assembled = true;
        }
    }
}
