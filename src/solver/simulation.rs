//! A world with its bodies, to be stepped without an ECS.

use super::boundary::BoundaryMotion;
use super::companions::{Companions, CompanionsState};
use super::drain::FluidDrain;
use super::emitter::{EmittedParticle, FluidEmitter};
use super::error::FluidError;
use super::half_space::BoundaryPlane;
use super::parallel::Threads;
use super::particles::FluidParticles;
use super::periodic::Periodic;
use super::scene::Scene;
use super::settings::{DfsphSettings, FluidMaterial, FluidMethod, WcsphSettings, WorldSettings};
use super::sph::{FluidWorld, RemovedParticle, Signal, signal_speed};
use super::time_step::TimeStep;
use super::vector::Vector;

#[cfg(feature = "scene")]
mod file;

#[cfg(feature = "scene")]
pub use file::StateFile;

/// A body of fluid.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "scene", derive(serde::Serialize, serde::Deserialize))]
pub struct FluidBody<V> {
    /// What it is made of.
    pub material: FluidMaterial,
    /// Its particles.
    #[cfg_attr(
        feature = "scene",
        serde(bound(
            serialize = "V: serde::Serialize",
            deserialize = "V: serde::Deserialize<'de>"
        ))
    )]
    pub particles: FluidParticles<V>,
}

/// A source and the body that its particles join.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "scene", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "scene",
    serde(bound(
        serialize = "V: Vector + serde::Serialize",
        deserialize = "V: Vector + serde::Deserialize<'de>"
    ))
)]
pub struct BodyEmitter<V> {
    /// Index of the body.
    pub body: usize,
    /// The source.
    pub emitter: FluidEmitter<V>,
}

/// A world of particles with its bodies and boundary, and the cloths and the
/// smoke beside it.
///
/// ```
/// use bevy_fluid::solver::parallel::Threads;
/// use bevy_fluid::solver::scene::Scene;
/// use bevy_fluid::solver::simulation::Simulation;
///
/// let mut simulation = Simulation::from_scene(&Scene::dam_break(10, 10))?;
/// for _ in 0..20 {
///     simulation.step(0.005, Threads::Serial)?;
/// }
/// assert_eq!(simulation.bodies()[0].particles.len(), 100);
/// # Ok::<(), bevy_fluid::solver::error::FluidError>(())
/// ```
#[derive(Debug, Default)]
pub struct Simulation<V: Vector> {
    world: FluidWorld<V>,
    bodies: Vec<FluidBody<V>>,
    emitters: Vec<BodyEmitter<V>>,
    drains: Vec<FluidDrain<V>>,
    companions: Companions<V>,
    time_step: TimeStep,
    time: f64,
    steps: u64,
    /// Whether the bodies may hold what the world has not seen.
    edited: bool,
    /// Whether the world holds what the bodies have not seen.
    behind: bool,
}

/// Everything that the next step of a [`Simulation`] reads.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "scene", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "scene",
    serde(
        deny_unknown_fields,
        bound(
            serialize = "V: Vector + serde::Serialize",
            deserialize = "V: Vector + serde::Deserialize<'de>"
        )
    )
)]
pub struct SimulationState<V> {
    /// Gravity in m/s².
    pub gravity: V,
    /// Radius of all particles in metres.
    pub particle_radius: f32,
    /// How water is kept from being compressed.
    pub method: FluidMethod,
    /// Parameters of DFSPH.
    pub dfsph: DfsphSettings,
    /// Parameters of WCSPH.
    pub wcsph: WcsphSettings,
    /// Borders at which space repeats itself.
    pub periodic: Periodic,
    /// Length of a step.
    pub time_step: TimeStep,
    /// Simulated time in seconds.
    pub time: f64,
    /// Steps done.
    pub steps: u64,
    /// Length of the last step in seconds, or zero before the first.
    pub last_step: f32,
    /// See [`FluidWorld::transition`], in seconds.
    pub transition: f32,
    /// See [`FluidWorld::settling`], in seconds.
    #[cfg_attr(feature = "scene", serde(default))]
    pub settling: f32,
    /// See [`FluidWorld::is_slow`].
    #[cfg_attr(feature = "scene", serde(default))]
    pub slow: bool,
    /// Bodies with their particles, warm start included.
    pub bodies: Vec<FluidBody<V>>,
    /// Sources with what they have poured.
    #[cfg_attr(feature = "scene", serde(default))]
    pub emitters: Vec<BodyEmitter<V>>,
    /// Regions that remove particles.
    #[cfg_attr(feature = "scene", serde(default))]
    pub drains: Vec<FluidDrain<V>>,
    /// Boundary samples in metres.
    pub boundary: Vec<V>,
    /// How they move.
    pub boundary_motion: BoundaryMotion<V>,
    /// Boundaries that are half-spaces.
    #[cfg_attr(feature = "scene", serde(default))]
    pub planes: Vec<BoundaryPlane<V>>,
    /// Cloths and smoke.
    pub companions: CompanionsState<V>,
}

impl<V: Vector> Simulation<V> {
    /// An empty world.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] if a setting is out of range.
    pub fn new(settings: WorldSettings<V>, time_step: TimeStep) -> Result<Self, FluidError> {
        time_step.validate()?;
        Ok(Self { world: FluidWorld::new(settings)?, time_step, edited: true, ..Self::default() })
    }

    /// The world of a scene, at its start.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for the first value of the scene out of range.
    pub fn from_scene(scene: &Scene<V>) -> Result<Self, FluidError> {
        V::open(scene)
    }

    /// What [`Simulation::from_scene`] does.
    pub(super) fn open(scene: &Scene<V>) -> Result<Self, FluidError> {
        scene.validate()?;
        let mut simulation = Self::new(scene.settings(), scene.time_step)?;
        for (index, fluid) in scene.fluids.iter().enumerate() {
            let mut particles = FluidParticles::new();
            for position in scene.fluid_positions(index)? {
                particles.spawn(position, fluid.velocity)?;
            }
            simulation.bodies.push(FluidBody { material: fluid.material.clone(), particles });
        }
        simulation.emitters = scene
            .emitters
            .iter()
            .map(|source| BodyEmitter {
                body: source.fluid,
                emitter: FluidEmitter::new(source.emitter.clone()),
            })
            .collect();
        simulation.drains.clone_from(&scene.drains);
        simulation.set_boundary(scene.boundary_samples()?);
        simulation.set_surface_velocities(&scene.surface_velocities()?);
        simulation.set_planes(&scene.planes()?)?;
        simulation.companions = Companions::of_scene(scene)?;
        Ok(simulation)
    }

    /// Adds a body; returns its index.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] if the material is out of range.
    pub fn add_body(&mut self, body: FluidBody<V>) -> Result<usize, FluidError> {
        body.material.validate()?;
        self.pull();
        self.edited = true;
        self.bodies.push(body);
        Ok(self.bodies.len() - 1)
    }

    /// Replaces all boundary samples, in metres. Samples that are not finite are left out.
    pub fn set_boundary(&mut self, samples: Vec<V>) {
        self.world.set_boundary(&samples);
    }

    /// Lets the boundary samples move, see [`FluidWorld::move_boundary`].
    ///
    /// # Errors
    /// [`FluidError::Parameter`] if `seconds` is not 1e-6 to 3600; nothing is
    /// done then.
    pub fn move_boundary(&mut self, targets: &[V], seconds: f32) -> Result<(), FluidError> {
        self.world.move_boundary(targets, seconds)
    }

    /// Lets the surfaces of the boundaries move along themselves, see
    /// [`FluidWorld::set_surface_velocities`].
    pub fn set_surface_velocities(&mut self, velocities: &[V]) {
        self.world.set_surface_velocities(velocities);
    }

    /// Replaces the half-spaces that are boundaries, see [`FluidWorld::set_planes`].
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for the first value out of range; the old ones stay.
    pub fn set_planes(&mut self, planes: &[BoundaryPlane<V>]) -> Result<(), FluidError> {
        self.world.set_planes(planes)
    }

    /// The boundary samples in metres, in the order they were given in.
    pub fn boundary(&self) -> &[V] {
        self.world.boundary_state().0
    }

    /// Replaces the settings.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] if one is out of range; the old ones stay.
    pub fn set_settings(&mut self, settings: WorldSettings<V>) -> Result<(), FluidError> {
        self.world.set_settings(settings)
    }

    /// The bodies, as the last step left them.
    pub fn bodies(&mut self) -> &[FluidBody<V>] {
        self.pull();
        &self.bodies
    }

    /// The bodies, to be edited in any way.
    pub fn bodies_mut(&mut self) -> &mut Vec<FluidBody<V>> {
        self.pull();
        self.edited = true;
        &mut self.bodies
    }

    /// The sources.
    pub fn emitters(&self) -> &[BodyEmitter<V>] {
        &self.emitters
    }

    /// The sources, to be changed between steps.
    pub fn emitters_mut(&mut self) -> &mut Vec<BodyEmitter<V>> {
        &mut self.emitters
    }

    /// The regions that remove particles, to be changed between steps.
    pub fn drains_mut(&mut self) -> &mut Vec<FluidDrain<V>> {
        &mut self.drains
    }

    /// The cloths and the smoke.
    pub fn companions(&self) -> &Companions<V> {
        &self.companions
    }

    /// The cloths and the smoke, to be edited between steps.
    pub fn companions_mut(&mut self) -> &mut Companions<V> {
        &mut self.companions
    }

    /// The packed world.
    pub fn world(&self) -> &FluidWorld<V> {
        &self.world
    }

    /// Simulated time in seconds.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Length of the last step in seconds, or zero before the first.
    pub fn last_step(&self) -> f32 {
        self.world.last_step()
    }

    /// Steps done.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Length of the next step in seconds by the scene's rule, when nothing
    /// else cuts it shorter.
    pub fn next_step(&self) -> f32 {
        let rule = self.time_step.under(self.world.settings().method);
        match rule {
            TimeStep::Fixed(dt) => dt,
            TimeStep::Adaptive { max, .. } => {
                let spacing = self.world.settings().spacing();
                rule.split(f64::from(max), spacing, self.signal_speed()).1 as f32
            }
        }
    }

    /// Signal speed that the next step starts from.
    fn signal_speed(&self) -> f32 {
        if !self.edited {
            return self.world.signal_speed();
        }
        // The world has not seen these particles yet; one that is not finite it never will.
        let particles = self.bodies.iter().flat_map(|body| {
            let particles = &body.particles;
            let state = particles.positions().iter().zip(particles.velocities());
            state.zip(particles.results()).map(|((&position, &velocity), result)| Signal {
                position,
                velocity,
                density_impulse: result.density_impulse,
                divergence_impulse: result.divergence_impulse,
                lightness: 1.0 / body.material.rest_density,
            })
        });
        let finite = particles.filter(|p| p.position.is_finite() && p.velocity.is_finite());
        let fluid = signal_speed(finite, self.world.settings(), self.world.last_step());
        fluid.max(self.world.wall_speed())
    }

    /// One step of `dt` seconds. Returns the particles that turned non-finite
    /// in it and were removed.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] if `dt`, a body's material, a source or a drain
    /// is out of range, and [`FluidError::UnknownBody`] for a source of a body
    /// that is not there; nothing is done then.
    pub fn step(&mut self, dt: f32, threads: Threads) -> Result<Vec<RemovedParticle>, FluidError> {
        V::advance(self, dt, threads)
    }

    /// What [`Simulation::step`] does.
    pub(super) fn advance(
        &mut self,
        dt: f32,
        threads: Threads,
    ) -> Result<Vec<RemovedParticle>, FluidError> {
        super::time_step::check_step("time_step", dt)?;
        self.check_sources()?;
        for (index, source) in self.emitters.iter().enumerate() {
            let fits = source.emitter.check(dt, self.world.settings().particle_radius);
            fits.map_err(|error| error.within(format_args!("emitters[{index}]")))?;
        }
        self.gather()?;
        self.companions.check_air()?;
        self.companions.immerse(&mut self.world);
        let mut done = Ok(());
        threads.for_particles(self.world.len()).together(|threads| {
            done = self.move_water(dt, threads);
        });
        done.and(self.companions.step_smokes(dt, threads))?;
        self.time += f64::from(dt);
        self.steps += 1;
        self.behind = true;
        if self.world.removed().is_empty() {
            return Ok(Vec::new());
        }
        let removed = self.world.removed().to_vec();
        self.pull();
        self.world.clear_removed();
        // The world keeps the places of removed particles until it gathers anew.
        self.edited = true;
        Ok(removed)
    }

    /// One step of water, and of cloth in it.
    fn move_water(&mut self, dt: f32, threads: Threads) -> Result<(), FluidError> {
        self.world.neighbor_search(threads);
        self.world.non_pressure_forces(dt, threads);
        self.world.blow(dt, &self.companions.fans);
        self.world.density_solve(dt, threads);
        let cloths = self.companions.step_cloths(&mut self.world, dt);
        self.pump();
        self.world.integrate(dt, threads);
        self.pour(dt)?;
        self.companions.immerse(&mut self.world);
        self.world.divergence_solve(dt, threads);
        self.companions.push_cloths(&mut self.world);
        cloths
    }

    /// Sorts and finds neighbours without moving anything, so that densities
    /// and [`FluidWorld::measure`] describe the present positions.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] if a body's material is out of range.
    pub fn prepare(&mut self, threads: Threads) -> Result<(), FluidError> {
        self.gather()?;
        self.world.neighbor_search(threads);
        self.behind = true;
        Ok(())
    }

    /// Everything that the next step reads.
    pub fn state(&mut self) -> SimulationState<V> {
        V::save(self)
    }

    /// What [`Simulation::state`] does.
    pub(super) fn save(&mut self) -> SimulationState<V> {
        self.pull();
        let settings = self.world.settings().clone();
        SimulationState {
            gravity: settings.gravity,
            particle_radius: settings.particle_radius,
            method: settings.method,
            dfsph: settings.dfsph,
            wcsph: settings.wcsph,
            periodic: settings.periodic,
            time_step: self.time_step,
            time: self.time,
            steps: self.steps,
            last_step: self.world.last_step(),
            transition: self.world.transition(),
            settling: self.world.settling(),
            slow: self.world.is_slow(),
            bodies: self.bodies.clone(),
            emitters: self.emitters.clone(),
            drains: self.drains.clone(),
            boundary: self.world.boundary_state().0.to_vec(),
            boundary_motion: self.world.boundary_state().1.clone(),
            planes: self.world.planes().to_vec(),
            companions: self.companions.state(),
        }
    }

    /// A simulation that goes on from `state`, bit for bit.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] if a setting or a body of the state is out of range.
    pub fn from_state(state: SimulationState<V>) -> Result<Self, FluidError> {
        V::resume(state)
    }

    /// What [`Simulation::from_state`] does.
    pub(super) fn resume(state: SimulationState<V>) -> Result<Self, FluidError> {
        let settings = WorldSettings {
            gravity: state.gravity,
            particle_radius: state.particle_radius,
            method: state.method,
            dfsph: state.dfsph,
            wcsph: state.wcsph,
            periodic: state.periodic,
        };
        let mut simulation = Self::new(settings, state.time_step)?;
        for (index, body) in state.bodies.into_iter().enumerate() {
            let added = simulation.add_body(body);
            added.map_err(|error| error.within(format_args!("bodies[{index}]")))?;
        }
        (simulation.emitters, simulation.drains) = (state.emitters, state.drains);
        simulation.check_sources()?;
        simulation.set_boundary(state.boundary);
        state.boundary_motion.validate(simulation.boundary().len())?;
        simulation.world.resume_boundary(state.boundary_motion);
        simulation.set_planes(&state.planes)?;
        simulation.companions = Companions::from_state(state.companions)?;
        simulation.time = state.time;
        simulation.steps = state.steps;
        if state.last_step != 0.0 {
            super::time_step::check_step("last_step", state.last_step)?;
        }
        for (name, value) in [("transition", state.transition), ("settling", state.settling)] {
            if !(0.0..=1.0).contains(&value) {
                return Err(FluidError::parameter(name, value, "0 s to 1 s"));
            }
        }
        simulation.world.set_past(state.last_step, state.transition, state.settling, state.slow);
        Ok(simulation)
    }

    /// Checks sources and drains.
    fn check_sources(&self) -> Result<(), FluidError> {
        for (index, source) in self.emitters.iter().enumerate() {
            let valid = source.emitter.validate();
            valid.map_err(|error| error.within(format_args!("emitters[{index}]")))?;
            if source.body >= self.bodies.len() {
                let (index, count) = (source.body, self.bodies.len());
                return Err(FluidError::UnknownBody { index, count });
            }
        }
        for (index, drain) in self.drains.iter().enumerate() {
            let valid = drain.validate();
            valid.map_err(|error| error.within(format_args!("drains[{index}]")))?;
        }
        Ok(())
    }

    /// Holds the water before the openings of the sources at their velocity.
    fn pump(&mut self) {
        let radius = self.world.settings().particle_radius;
        for source in &self.emitters {
            if let Some(mouth) = source.emitter.mouth(radius) {
                self.world.steer(|particle| mouth.velocity_at(particle.position));
            }
        }
    }

    /// Removes what is in a drain, and spawns what comes out of the sources.
    /// Before the search at the new positions, which is the only one of a step then.
    fn pour(&mut self, dt: f32) -> Result<(), FluidError> {
        let Self { world, emitters, drains, .. } = self;
        let radius = world.settings().particle_radius;
        let mut new = Vec::new();
        for (index, source) in emitters.iter_mut().enumerate() {
            let present = world.particles().map(|particle| particle.position);
            let before =
                new.iter().map(|(_, particle): &(_, EmittedParticle<V>)| particle.position);
            let poured = source.emitter.step(dt, radius, present.chain(before));
            let poured = poured.map_err(|error| error.within(format_args!("emitters[{index}]")))?;
            let body = source.body;
            new.extend(poured.into_iter().map(|particle| (body, particle)));
        }
        let drained = |x: V| drains.iter().any(|drain| drain.contains(x));
        let drains_any =
            !drains.is_empty() && world.particles().any(|particle| drained(particle.position));
        if new.is_empty() && !drains_any {
            return Ok(());
        }
        self.behind = true;
        self.pull();
        let Self { bodies, drains, .. } = self;
        let drained = |x: V| drains.iter().any(|drain| drain.contains(x));
        for particles in bodies.iter_mut().map(|body| &mut body.particles) {
            let gone: Vec<bool> = particles.positions().iter().map(|&x| drained(x)).collect();
            particles.retain(|particle| !gone[particle]);
        }
        for (body, particle) in new {
            bodies[body].particles.spawn(particle.position, particle.velocity)?;
        }
        self.edited = true;
        self.gather()
    }

    fn gather(&mut self) -> Result<(), FluidError> {
        if self.edited {
            let bodies = self.bodies.iter().enumerate();
            self.world.gather(
                bodies.map(|(index, body)| (index as u64, &body.material, &body.particles)),
            )?;
            self.edited = false;
        }
        Ok(())
    }

    /// Brings the bodies up to date with the world.
    fn pull(&mut self) {
        if !self.behind {
            return;
        }
        for (index, body) in self.bodies.iter_mut().enumerate() {
            // A body that the world has not gathered yet has nothing to take back.
            let _ = self.world.scatter(index as u64, &mut body.particles);
        }
        self.behind = false;
    }
}
