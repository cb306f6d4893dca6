//! Scenes and comparisons that several tests share.

use bevy_fluid::solver::parallel::Threads;
use bevy_fluid::solver::particles::FluidParticles;
use bevy_fluid::solver::sampling::{BoundaryShape, Fill, FluidShape};
use bevy_fluid::solver::scene::{Scene, SceneBoundary, SceneFluid};
use bevy_fluid::solver::settings::FluidMaterial;
use bevy_fluid::solver::simulation::{FluidBody, Simulation};
use bevy_fluid::solver::time_step::TimeStep;
use bevy_fluid::solver::vector::Vector;
use bevy_math::Vec2;

/// Particle radius, spacing and support radius of every scene here, in metres.
pub const R: f32 = 0.025;
pub const D: f32 = 2.0 * R;
pub const H: f32 = 4.0 * R;

/// Fixed step of the scenes here, in seconds.
pub const DT: f32 = 0.005;

/// Gravity in m/s².
pub const G: f32 = 9.81;

/// A reproducible source of numbers.
pub struct Lcg(u64);

impl Lcg {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number in [0, 1).
    pub fn unit(&mut self) -> f32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1u64 << 24) as f32
    }

    /// An index below `len`.
    pub fn below(&mut self, len: usize) -> usize {
        ((self.unit() * len as f32) as usize).min(len - 1)
    }

    /// A point with components in [low, high).
    pub fn point<V: Vector>(&mut self, low: f32, high: f32) -> V {
        let mut next = || low + (high - low) * self.unit();
        V::from_array([next(), next(), next()])
    }
}

/// A scene without bodies or walls: default material parameters, fixed step.
pub fn void<V: Vector>() -> Scene<V> {
    Scene { time_step: TimeStep::Fixed(DT), particle_radius: R, ..Scene::default() }
}

/// A block of `counts` particles whose lowest corner is at `min`.
pub fn block<V: Vector>(min: V, counts: [u32; 3]) -> SceneFluid<V> {
    let size = V::from_array(counts.map(|count| count as f32 * D));
    SceneFluid { shapes: vec![FluidShape::Block { min, size }], ..SceneFluid::default() }
}

/// Walls of one layer from the origin to `size`.
pub fn container<V: Vector>(size: V) -> SceneBoundary<V> {
    let half_size = size * 0.5;
    SceneBoundary {
        shape: BoundaryShape::Box { half_size, fill: Fill::Shell },
        position: half_size,
        surface_velocity: V::ZERO,
    }
}

/// Distance in spacings between a wall's samples and the nearest particles at
/// which a lattice at a one-layer wall has its rest density.
pub const WALL_GAP: f32 = 1.1;

/// A block of columns times rows that fills the width of its tank, which is
/// `headroom` rows higher.
pub fn tank(columns: u32, rows: u32, headroom: u32) -> Scene<Vec2> {
    let counts = Vec2::new(columns as f32, (rows + headroom) as f32);
    let size = (counts + Vec2::splat(2.0 * WALL_GAP - 1.0)) * D;
    Scene {
        fluids: vec![block(Vec2::splat((WALL_GAP - 0.5) * D), [columns, rows, 1])],
        boundaries: vec![container(size)],
        ..void()
    }
}

/// The scene's world at its start.
pub fn start<V: Vector>(scene: &Scene<V>) -> Simulation<V> {
    Simulation::from_scene(scene).unwrap()
}

/// A world of one body at rest at the given places, without walls.
pub fn world_of<V: Vector>(gravity: V, positions: impl IntoIterator<Item = V>) -> Simulation<V> {
    let mut simulation = start(&Scene { gravity, ..void() });
    simulation.add_body(body_of(positions)).unwrap();
    simulation
}

/// A body of default material at rest at the given places.
pub fn body_of<V: Vector>(positions: impl IntoIterator<Item = V>) -> FluidBody<V> {
    FluidBody {
        material: FluidMaterial::default(),
        particles: FluidParticles::from_positions(positions).unwrap(),
    }
}

/// `steps` steps by the scene's rule on this thread.
pub fn run<V: Vector>(simulation: &mut Simulation<V>, steps: usize) {
    for _ in 0..steps {
        step(simulation);
    }
}

/// One step by the scene's rule on this thread, in which no particle is lost.
pub fn step<V: Vector>(simulation: &mut Simulation<V>) {
    let removed = simulation.step(simulation.next_step(), Threads::Serial).unwrap();
    assert_eq!(removed, [], "a particle turned non-finite");
}

/// Positions of all bodies' particles.
pub fn positions<V: Vector>(simulation: &mut Simulation<V>) -> Vec<V> {
    simulation.bodies().iter().flat_map(|body| body.particles.positions().to_vec()).collect()
}

/// Velocities of all bodies' particles.
pub fn velocities<V: Vector>(simulation: &mut Simulation<V>) -> Vec<V> {
    simulation.bodies().iter().flat_map(|body| body.particles.velocities().to_vec()).collect()
}

/// Mean velocity of all bodies' particles, in f64.
pub fn mean_velocity<V: Vector>(simulation: &mut Simulation<V>) -> [f64; 3] {
    mean(&velocities(simulation))
}

/// Mean of vectors, in f64.
pub fn mean<V: Vector>(vectors: &[V]) -> [f64; 3] {
    let mut sum = [0.0f64; 3];
    for vector in vectors {
        for (sum, component) in sum.iter_mut().zip(vector.to_array()) {
            *sum += f64::from(component);
        }
    }
    sum.map(|sum| sum / vectors.len().max(1) as f64)
}

/// Every bit of what a step leaves behind, particle by particle.
pub fn bits<V: Vector>(simulation: &mut Simulation<V>) -> Vec<[u32; 10]> {
    let mut all = Vec::new();
    for body in simulation.bodies() {
        let particles = &body.particles;
        for index in 0..particles.len() {
            let [x, y, z] = particles.positions()[index].to_array().map(f32::to_bits);
            let [u, v, w] = particles.velocities()[index].to_array().map(f32::to_bits);
            let result = &particles.results()[index];
            all.push([
                x,
                y,
                z,
                u,
                v,
                w,
                result.density.to_bits(),
                result.density_impulse.to_bits(),
                result.divergence_impulse.to_bits(),
                result.neighbors,
            ]);
        }
    }
    all
}

/// Particles outside the box from the origin to `size`.
pub fn outside(simulation: &mut Simulation<Vec2>, size: Vec2) -> usize {
    let inside = |x: &&Vec2| x.cmpgt(Vec2::ZERO).all() && x.cmplt(size).all();
    let places = positions(simulation);
    places.len() - places.iter().filter(inside).count()
}
