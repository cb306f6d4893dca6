//! Flows with a known answer, at any resolution, for the tests and for the bench.

mod closed;
mod free_surface;

pub use closed::{cavity, channel, taylor_green};
pub use free_surface::{dam_break, hydrostatic, lobovsky, sloshing, stretching_drop};

use bevy_fluid::solver::parallel::Threads;
use bevy_fluid::solver::particles::FluidParticles;
use bevy_fluid::solver::settings::{
    DensityCorrection, DfsphSettings, FluidMaterial, FluidMethod, WcsphSettings, WorldSettings,
};
use bevy_fluid::solver::simulation::{FluidBody, Simulation};
use bevy_fluid::solver::time_step::TimeStep;
use bevy_math::Vec2;

/// Distance in spacings between samples of a wall and the nearest particles at
/// which a lattice has its rest density; half a spacing less is where the wall is.
const WALL_GAP: f32 = 1.1;
const WALL: f32 = WALL_GAP - 0.5;

/// What a flow is run with.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// Pressure solver.
    pub method: FluidMethod,
    /// What DFSPH corrects densities by.
    pub correction: DensityCorrection,
    /// Particles along the length that the flow is scaled by.
    pub resolution: u32,
}

impl Run {
    /// Both methods, DFSPH with both corrections.
    pub fn all(resolution: u32) -> [Self; 3] {
        let [velocities, positions] = DensityCorrection::ALL;
        let run = |method, correction| Self { method, correction, resolution };
        [
            run(FluidMethod::Dfsph, velocities),
            run(FluidMethod::Dfsph, positions),
            run(FluidMethod::Wcsph, velocities),
        ]
    }
}

/// A curve that was computed and the points that it should meet.
#[derive(Clone, Debug)]
pub struct Curve {
    /// What is drawn over what.
    pub name: &'static str,
    pub computed: Vec<(f32, f32)>,
    pub reference: Vec<(f32, f32)>,
}

/// A world of one fluid, of spacing `d`, in which water moves at up to `fastest` m/s.
fn world(
    run: Run,
    d: f32,
    fastest: f32,
    settings: WorldSettings<Vec2>,
    material: FluidMaterial,
    particles: Vec<(Vec2, Vec2)>,
) -> Simulation<Vec2> {
    let rule = TimeStep::Adaptive { min: 1e-6, max: 0.4 * d / fastest, cfl: 0.4 };
    let dfsph = DfsphSettings { density_correction: run.correction, ..settings.dfsph };
    let settings = WorldSettings {
        particle_radius: 0.5 * d,
        method: run.method,
        dfsph,
        wcsph: WcsphSettings { sound_speed: 10.0 * fastest, ..settings.wcsph },
        ..settings
    };
    let mut simulation = Simulation::new(settings, rule).unwrap();
    let mut body = FluidBody { material, particles: FluidParticles::new() };
    for (position, velocity) in particles {
        body.particles.spawn(position, velocity).unwrap();
    }
    simulation.add_body(body).unwrap();
    simulation
}

/// Water without viscosity.
fn ideal() -> FluidMaterial {
    FluidMaterial { viscosity: 0.0, ..FluidMaterial::default() }
}

/// A step as the rule has it, but not beyond `end` seconds.
fn step(simulation: &mut Simulation<Vec2>, end: f64) {
    let dt = simulation.next_step().min((end - simulation.time()) as f32).max(1e-6);
    assert_eq!(simulation.step(dt, Threads::Serial), Ok(vec![]), "a particle was lost");
}

/// Particles of one body: positions and velocities.
fn state(simulation: &mut Simulation<Vec2>) -> Vec<(Vec2, Vec2)> {
    let particles = &simulation.bodies()[0].particles;
    particles.positions().iter().copied().zip(particles.velocities().iter().copied()).collect()
}

/// A lattice of columns times rows whose walls would be at the axes.
fn lattice(columns: u32, rows: u32, d: f32) -> impl Iterator<Item = Vec2> + Clone {
    (0..columns * rows)
        .map(move |k| Vec2::new((k % columns) as f32 + 0.5, (k / columns) as f32 + 0.5) * d)
}

/// Samples of a box whose walls are at the axes and at `size` spacings.
fn walls(size: Vec2, d: f32) -> Vec<Vec2> {
    let (low, high) = (Vec2::splat(-WALL), size + WALL);
    let line = |from: f32, to: f32| {
        let count = (to - from).ceil() as u32;
        (0..count).map(move |k| from + (to - from) * k as f32 / count as f32)
    };
    let mut samples = Vec::new();
    samples.extend(line(low.x, high.x).map(|x| Vec2::new(x, low.y)));
    samples.extend(line(low.y, high.y).map(|y| Vec2::new(high.x, y)));
    samples.extend(line(-high.x, -low.x).map(|x| Vec2::new(-x, high.y)));
    samples.extend(line(-high.y, -low.y).map(|y| Vec2::new(low.x, -y)));
    samples.iter().map(|sample| *sample * d).collect()
}

/// The value at `x` of points in rising order, in between by a straight line.
fn interpolate(points: &[(f32, f32)], x: f32) -> f32 {
    let after = points.iter().position(|point| point.0 >= x).unwrap_or(points.len() - 1).max(1);
    let ((x0, y0), (x1, y1)) = (points[after - 1], points[after]);
    y0 + (y1 - y0) * (x - x0) / (x1 - x0)
}
