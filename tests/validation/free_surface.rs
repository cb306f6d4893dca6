//! Water in gravity and drops: flows with a surface.

use bevy_fluid::solver::parallel::Threads;
use bevy_fluid::solver::settings::{DensityCorrection, FluidMaterial, WorldSettings};
use bevy_math::Vec2;
use core::f32::consts::{PI, TAU};

use super::{Curve, Run, ideal, interpolate, lattice, state, step, walls, world};

const G: f32 = 9.81;

/// Settings for water that is to come to rest.
fn resting(run: Run) -> WorldSettings<Vec2> {
    let mut settings = WorldSettings::default();
    if run.correction == DensityCorrection::Positions {
        settings.dfsph.warm_start = 0.9;
    }
    settings
}

/// Rows of a table whose first field is `series`; the others are numbers.
fn table(text: &str, series: &str) -> Vec<(f32, f32)> {
    let rows = text.lines().filter_map(|line| line.strip_prefix(series)?.strip_prefix(','));
    rows.map(|row| {
        let (x, y) = row.split_once(',').unwrap();
        (x.parse().unwrap(), y.parse().unwrap())
    })
    .collect()
}

/// Water at rest in a tank.
#[derive(Debug)]
pub struct Hydrostatic {
    /// Pressure at the floor over its weight.
    pub pressure: f32,
    /// Highest speed over sqrt(g H) in the last second.
    pub speed: f32,
    /// Mean two-sided density error of the bulk in the last second.
    pub density_error: f32,
}

/// A column of `run.resolution` layers, half as wide, after `seconds`.
pub fn hydrostatic(run: Run, seconds: f64) -> Hydrostatic {
    let (rows, columns, d) = (run.resolution, run.resolution / 2, 0.05);
    let height = rows as f32 * d;
    let fastest = (G * height).sqrt();
    let water = lattice(columns, rows, d).map(|x| (x, Vec2::ZERO)).collect();
    let material = FluidMaterial::default();
    let mut simulation = world(run, d, fastest, resting(run), material, water);
    simulation.set_boundary(walls(Vec2::new(columns as f32, rows as f32 + 10.0), d));
    let (mut speed, mut error, mut steps) = (0.0f32, 0.0, 0.0f32);
    // A straight line through the pressures, away from floor and surface.
    let (mut n, mut sy, mut sp, mut syy, mut syp) = (0.0f64, 0.0f64, 0.0f64, 0.0f64, 0.0f64);
    while simulation.time() < seconds - 1e-5 {
        step(&mut simulation, seconds);
        if simulation.time() < seconds - 1.0 {
            continue;
        }
        let measures = simulation.world().measure();
        speed = speed.max(measures.max_speed / fastest);
        error += measures.mean_abs_density_error;
        steps += 1.0;
        if steps as u32 % 10 != 1 {
            continue;
        }
        let particles = &simulation.bodies()[0].particles;
        for (x, result) in particles.positions().iter().zip(particles.results()) {
            if x.y > 4.0 * d && x.y < height - 4.0 * d {
                let (y, p) = (f64::from(x.y), f64::from(result.pressure()));
                (n, sy, sp, syy, syp) = (n + 1.0, sy + y, sp + p, syy + y * y, syp + y * p);
            }
        }
    }
    let slope = (n * syp - sy * sp) / (n * syy - sy * sy);
    let floor = (sp - slope * sy) / n;
    Hydrostatic {
        pressure: (floor / f64::from(1000.0 * G * height)) as f32,
        speed,
        density_error: error / steps,
    }
}

/// A breaking dam against Martin & Moyce 1952.
#[derive(Debug)]
pub struct DamBreak {
    /// Root mean square of the relative error of the front Z over .84 <= T <= 3.33.
    pub front: f32,
    /// dZ/dT from T = 1.43 to 3.33.
    pub slope: f32,
    /// Largest error of the height at the back wall, as a fraction of the first.
    pub height: f32,
    /// Front and height over time.
    pub curves: [Curve; 2],
}

/// A column of `run.resolution` particles and twice as high.
pub fn dam_break(run: Run) -> DamBreak {
    const FRONT: &str = include_str!("dam_break_front.csv");
    const HEIGHT: &str = include_str!("dam_break_height.csv");
    let (columns, d) = (run.resolution, 0.05);
    let a = columns as f32 * d;
    let water = lattice(columns, 2 * columns, d).map(|x| (x, Vec2::ZERO)).collect();
    let fastest = 2.0 * (2.0 * G * a).sqrt();
    let mut simulation =
        world(run, d, fastest, WorldSettings::default(), FluidMaterial::default(), water);
    simulation.set_boundary(walls(Vec2::new(6.0 * columns as f32, 2.5 * columns as f32), d));
    let (mut front, mut height) = (Vec::new(), Vec::new());
    let end = f64::from(3.4 * (0.5 * a / G).sqrt());
    while simulation.time() < end - 1e-5 {
        step(&mut simulation, end);
        let time = simulation.time() as f32;
        let particles = &simulation.bodies()[0].particles;
        let all = particles.positions().iter().zip(particles.results());
        // Spray counts neither as front nor as height.
        let body = all.filter(|(_, result)| result.neighbors >= 5).map(|(x, _)| *x);
        let x = body.clone().map(|x| x.x).fold(0.0, f32::max) + 0.5 * d;
        // Four columns at the wall, as high as their water would stand.
        let back = body.filter(|x| x.x < 4.0 * d).count() as f32 * 0.25 * d;
        front.push((time * (2.0 * G / a).sqrt(), x / a));
        height.push((time * (G / a).sqrt(), back / (2.0 * a)));
    }
    let reference = table(FRONT, "MM1952_Table2_n2=2_a=2.25in");
    let window = |t: f32| (0.84..=3.33).contains(&t);
    let errors = reference.iter().filter(|(t, _)| window(*t));
    let errors: Vec<f32> =
        errors.map(|&(t, z)| (interpolate(&front, t) / z - 1.0).powi(2)).collect();
    let levels = table(HEIGHT, "MM1952_Table6_n2=2_a=2.25in");
    let last = height.last().unwrap().0;
    let before_end = levels.iter().filter(|(t, _)| *t < last);
    let missed = before_end.map(|&(t, h)| (interpolate(&height, t) - h).abs());
    DamBreak {
        front: (errors.iter().sum::<f32>() / errors.len() as f32).sqrt(),
        slope: (interpolate(&front, 3.33) - interpolate(&front, 1.43)) / 1.9,
        height: missed.fold(0.0, f32::max),
        curves: [
            Curve { name: "front x/a over t sqrt(2g/a)", computed: front, reference },
            Curve { name: "height h/2a over t sqrt(g/a)", computed: height, reference: levels },
        ],
    }
}

/// When the water of Lobovsky et al. 2014, 0.3 m high, comes to the probes H2,
/// H3 and H4, in sqrt(H/g). `run.resolution` particles over the height.
pub fn lobovsky(run: Run) -> [f32; 3] {
    let (rows, h) = (run.resolution, 0.3);
    let d = h / rows as f32;
    let water = lattice(2 * rows, rows, d).map(|x| (x, Vec2::ZERO)).collect();
    let fastest = 2.0 * (G * h).sqrt();
    let mut simulation =
        world(run, d, fastest, WorldSettings::default(), FluidMaterial::default(), water);
    simulation.set_boundary(walls(Vec2::new(1.61, 0.6) / d, d));
    let mut arrivals = [f32::NAN; 3];
    let end = f64::from(2.6 * (h / G).sqrt());
    while simulation.time() < end - 1e-5 {
        step(&mut simulation, end);
        let time = simulation.time() as f32 * (G / h).sqrt();
        let particles = &simulation.bodies()[0].particles;
        let all = particles.positions().iter().zip(particles.results());
        let body = all.filter(|(_, result)| result.neighbors >= 5);
        let front = body.map(|(x, _)| x.x).fold(0.0, f32::max) + 0.5 * d;
        for (arrival, probe) in arrivals.iter_mut().zip([0.865, 1.114, 1.3625]) {
            if arrival.is_nan() && front >= probe {
                *arrival = time;
            }
        }
    }
    arrivals
}

/// A drop of radius 1 that is stretched at 100/s, at t = 0.0076 (Monaghan 1994).
#[derive(Debug)]
pub struct StretchingDrop {
    /// Semi-major axis over the exact 1.94452.
    pub axis: f32,
    /// Area over pi.
    pub area: f32,
}

/// `run.resolution` particles over the radius.
pub fn stretching_drop(run: Run) -> StretchingDrop {
    let d = 1.0 / run.resolution as f32;
    let side = 2 * run.resolution;
    let start: Vec<(Vec2, Vec2)> = lattice(side, side, d)
        .map(|x| x - Vec2::ONE)
        .filter(|x| x.length() < 1.0)
        .map(|x| (x, Vec2::new(100.0 * x.x, -100.0 * x.y)))
        .collect();
    let count = start.len() as f32;
    let settings = WorldSettings { gravity: Vec2::ZERO, ..WorldSettings::default() };
    let mut simulation = world(run, d, 150.0, settings, ideal(), start);
    while simulation.time() < 0.0076 - 2e-6 {
        step(&mut simulation, 0.0076);
    }
    simulation.prepare(Threads::Serial).unwrap();
    let all = state(&mut simulation);
    let reach = all.iter().map(|(x, _)| x.x.abs()).fold(0.0, f32::max);
    // The density of the bulk, which the surface does not lower.
    let inside = |x: &Vec2| (x.x / 1.94).powi(2) + (x.y / 0.514).powi(2) < 0.6;
    let densities = simulation.bodies()[0].particles.results().iter();
    let bulk = all.iter().zip(densities).filter(|((x, _), _)| inside(x));
    let bulk: Vec<f32> = bulk.map(|(_, result)| result.density / 1000.0).collect();
    let mean = bulk.iter().sum::<f32>() / bulk.len() as f32;
    StretchingDrop { axis: (reach + 0.5 * d) / 1.94452, area: count * d * d / mean / PI }
}

/// Period of the first sloshing mode of a tank 1 m wide and 0.5 m deep over the
/// exact one, `run.resolution` particles over the width.
pub fn sloshing(run: Run, periods: usize) -> f32 {
    let n = run.resolution;
    let d = 1.0 / n as f32;
    let omega = (PI * G * (0.5 * PI).tanh()).sqrt();
    let start = lattice(n, n / 2, d).map(|x| (x, Vec2::ZERO)).collect();
    let mut simulation = world(run, d, 3.0, resting(run), ideal(), start);
    simulation.set_boundary(walls(Vec2::new(n as f32, 0.9 * n as f32), d));
    // To rest first, then the velocities of a wave of two centimetres at its zero.
    simulation.bodies_mut()[0].material.viscosity = 0.05;
    while simulation.time() < 1.5 {
        step(&mut simulation, 1.5);
    }
    let body = &mut simulation.bodies_mut()[0];
    body.material.viscosity = 0.0;
    let positions = body.particles.positions().to_vec();
    let speed = 0.02 * omega / (0.5 * PI).sinh();
    for (v, x) in body.particles.velocities_mut().iter_mut().zip(positions) {
        let (x, y) = (PI * x.x, PI * x.y);
        *v += Vec2::new(-x.sin() * y.cosh(), x.cos() * y.sinh()) * speed;
    }
    let (mut crossings, mut last) = (Vec::new(), (0.0, 0.0));
    while crossings.len() < 2 * periods + 1 {
        step(&mut simulation, f64::MAX);
        let all = state(&mut simulation);
        let now = all.iter().map(|(x, _)| x.x - 0.5).sum::<f32>() / all.len() as f32;
        let time = simulation.time() as f32;
        if last.1 * now < 0.0 {
            crossings.push(last.0 + (time - last.0) * last.1 / (last.1 - now));
        }
        last = (time, now);
        assert!(simulation.time() < 20.0, "it stopped sloshing");
    }
    (crossings[2 * periods] - crossings[0]) / periods as f32 / (TAU / omega)
}
