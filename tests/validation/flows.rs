//! Flows with a known answer, at any resolution, for the tests and for the bench.

use bevy_fluid::solver::parallel::Threads;
use bevy_fluid::solver::particles::FluidParticles;
use bevy_fluid::solver::periodic::Periodic;
use bevy_fluid::solver::settings::{
    DensityCorrection, DfsphSettings, FluidMaterial, FluidMethod, NegativePressure, WcsphSettings,
    WorldSettings,
};
use bevy_fluid::solver::simulation::{FluidBody, Simulation};
use bevy_fluid::solver::time_step::TimeStep;
use bevy_math::Vec2;
use core::f32::consts::{PI, TAU};

const G: f32 = 9.81;

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

/// A fluid of a kinematic viscosity in m²/s, also at walls.
fn viscous(nu: f32) -> FluidMaterial {
    FluidMaterial { kinematic_viscosity: nu, boundary_viscosity: nu, ..ideal() }
}

/// Settings for a flow without a surface.
fn without_surface() -> WorldSettings<Vec2> {
    let mut settings = WorldSettings { gravity: Vec2::ZERO, ..WorldSettings::default() };
    settings.dfsph.negative_pressure = NegativePressure::Allowed;
    settings.wcsph.negative_pressure = NegativePressure::Allowed;
    settings
}

/// Settings for water that is to come to rest.
fn resting(run: Run) -> WorldSettings<Vec2> {
    let mut settings = WorldSettings::default();
    if run.correction == DensityCorrection::Positions {
        settings.dfsph.warm_start = 0.9;
    }
    settings
}

/// A step as the rule has it, but not beyond `end` seconds.
fn step(simulation: &mut Simulation<Vec2>, end: f64) {
    let dt = simulation.next_step().min((end - simulation.time()) as f32).max(1e-6);
    assert_eq!(simulation.step(dt, Threads::Serial), Ok(vec![]), "a particle was lost");
}

fn set_gravity(simulation: &mut Simulation<Vec2>, gravity: Vec2) {
    let settings = simulation.world().settings().clone();
    simulation.set_settings(WorldSettings { gravity, ..settings }).unwrap();
}

/// Lets particles find their places: steps of up to `longest` seconds that each
/// start from rest.
fn settle(simulation: &mut Simulation<Vec2>, longest: f32, steps: u32) {
    for _ in 0..steps {
        let dt = simulation.next_step().min(longest);
        assert_eq!(simulation.step(dt, Threads::Serial), Ok(vec![]), "a particle was lost");
        simulation.bodies_mut()[0].particles.velocities_mut().fill(Vec2::ZERO);
    }
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

/// Decaying Taylor-Green vortices at Reynolds number 100.
#[derive(Debug)]
pub struct TaylorGreen {
    /// Decay rate of the kinetic energy over the exact one.
    pub rate: f32,
    /// Relative L2 error of the velocity, the largest up to t = 2.
    pub velocity: f32,
}

/// Vortices in a periodic square of `run.resolution` particles a side.
pub fn taylor_green(run: Run, end: f64) -> TaylorGreen {
    let (n, nu) = (run.resolution, 0.01);
    let d = 1.0 / n as f32;
    let exact = |x: Vec2, t: f32| {
        let decay = (-2.0 * TAU * TAU * nu * t).exp();
        let (x, y) = (TAU * x.x, TAU * x.y);
        Vec2::new(-x.cos() * y.sin(), x.sin() * y.cos()) * decay
    };
    let mut settings = without_surface();
    settings.periodic = Periodic { x: Some((0.0, 1.0)), y: Some((0.0, 1.0)), z: None };
    let start = lattice(n, n, d).map(|x| (x, exact(x, 0.0))).collect();
    let mut simulation = world(run, d, 2.0, settings, viscous(nu), start);
    let energy = |all: &[(Vec2, Vec2)]| all.iter().map(|(_, v)| v.length_squared()).sum::<f32>();
    let first = energy(&state(&mut simulation));
    let mut velocity = 0.0f32;
    let mut next = 0.0;
    while simulation.time() < end - 1e-5 {
        step(&mut simulation, end);
        if simulation.time() < next {
            continue;
        }
        next += 0.1;
        let time = simulation.time() as f32;
        let all = state(&mut simulation);
        let error: f32 = all.iter().map(|(x, v)| (*v - exact(*x, time)).length_squared()).sum();
        let norm: f32 = all.iter().map(|(x, _)| exact(*x, time).length_squared()).sum();
        velocity = velocity.max((error / norm).sqrt());
    }
    let last = energy(&state(&mut simulation));
    let rate = -(last / first).ln() / end as f32;
    TaylorGreen { rate: rate / (4.0 * TAU * TAU * nu), velocity }
}

/// Flow between plates at a Reynolds number of 0.0125 (Morris et al. 1997, at a
/// thousand times the size): driven by the upper plate (Couette), or by a force
/// along it (Poiseuille).
#[derive(Debug)]
pub struct Channel {
    /// Largest error of the mean velocity of a row of particles at any of five times,
    /// over the steady maximum.
    pub error: f32,
    /// The profiles, velocity over distance from the lower plate.
    pub curve: Curve,
}

/// The flow until `end` seconds, 1 for all times, with `run.resolution` particles across.
pub fn channel(run: Run, driven_by_plate: bool, end: f64) -> Channel {
    let (rows, nu, width) = (run.resolution, 1.0f32, 1.0f32);
    // The plates are where their samples are.
    let (columns, d) = (12, width / (rows as f32 + 2.0 * WALL));
    let steady = 0.0125;
    let mut settings = without_surface();
    settings.periodic = Periodic { x: Some((0.0, columns as f32 * d)), ..Periodic::NONE };
    settings.dfsph.max_density_error = 1e-6;
    settings.dfsph.max_divergence_error = 1e-6;
    if !driven_by_plate {
        settings.gravity.x = 8.0 * nu * steady / (width * width);
    }
    let start = lattice(columns, rows, d).map(|x| (x + Vec2::Y * (WALL * d), Vec2::ZERO)).collect();
    // Such slow flow is limited by its viscosity alone; the speed of sound follows.
    let mut simulation = world(run, d, 40.0 * steady, settings, viscous(nu), start);
    let plate = |y: f32| (0..columns).map(move |k| Vec2::new(k as f32 + 0.5, y) * d);
    let samples: Vec<Vec2> = plate(0.0).chain(plate(rows as f32 + 2.0 * WALL)).collect();
    simulation.set_boundary(samples);
    // What the lattice has to give way to the plates is faster than the flow.
    let gravity = simulation.world().settings().gravity;
    set_gravity(&mut simulation, Vec2::ZERO);
    settle(&mut simulation, 0.15 * d * d / nu, 1000);
    set_gravity(&mut simulation, gravity);
    let begin = simulation.time();
    if driven_by_plate {
        let mut velocities = vec![Vec2::ZERO; columns as usize];
        velocities.resize(2 * columns as usize, Vec2::new(steady, 0.0));
        simulation.set_surface_velocities(&velocities);
    }
    let exact = |y: f32, t: f32| {
        let (s, fourier) = (y / width, nu * t / (width * width));
        let mut sum = if driven_by_plate { s } else { 4.0 * s * (1.0 - s) };
        for n in 1..60 {
            let k = n as f32 * PI;
            let decay = (-k * k * fourier).exp();
            if driven_by_plate {
                let sign = if n % 2 == 0 { 1.0 } else { -1.0 };
                sum += 2.0 / k * sign * (k * s).sin() * decay;
            } else if n % 2 == 1 {
                sum -= 32.0 / (k * k * k) * (k * s).sin() * decay;
            }
        }
        steady * sum
    };
    let mut worst = 0.0f32;
    let (mut computed, mut reference) = (Vec::new(), Vec::new());
    for time in [0.0225, 0.045, 0.1125, 0.225, 1.0] {
        if time > end {
            break;
        }
        while simulation.time() - begin < time - 2e-6 {
            // Explicit viscosity: nu dt <= h²/24.
            let left = begin + time - simulation.time();
            let dt = (0.15 * d * d / nu).min(left as f32).max(1e-6);
            let dt = dt.min(simulation.next_step());
            assert_eq!(simulation.step(dt, Threads::Serial), Ok(vec![]));
        }
        for row in state(&mut simulation).chunks(columns as usize) {
            let sum = row.iter().fold(Vec2::ZERO, |sum, (x, v)| sum + Vec2::new(x.y, v.x));
            let mean = sum / row.len() as f32;
            let (found, right) = (mean.y / steady, exact(mean.x, time as f32) / steady);
            worst = worst.max((found - right).abs());
            computed.push((mean.x, found));
            reference.push((mean.x, right));
        }
    }
    let curve = Curve { name: "u over the steady maximum, over y", computed, reference };
    Channel { error: worst, curve }
}

/// The lid-driven cavity at Reynolds number 100 against Ghia et al. 1982.
#[derive(Debug)]
pub struct Cavity {
    /// Largest error of u on the vertical and of v on the horizontal centre line.
    pub errors: [f32; 2],
    /// The profiles there.
    pub curves: [Curve; 2],
}

/// The cavity after `end` seconds, with `run.resolution` particles a side.
pub fn cavity(run: Run, end: f64) -> Cavity {
    const U: &str = include_str!("ghia1982_u.csv");
    const V: &str = include_str!("ghia1982_v.csv");
    let (n, nu) = (run.resolution, 0.01);
    // The walls are where their samples are.
    let d = 1.0 / (n as f32 + 2.0 * WALL);
    let corner = Vec2::splat(WALL * d);
    let settings = without_surface();
    let start = lattice(n, n, d).map(|x| (x + corner, Vec2::ZERO)).collect();
    let mut simulation = world(run, d, 2.0, settings, viscous(nu), start);
    let samples: Vec<Vec2> = walls(Vec2::splat(n as f32), d).iter().map(|x| *x + corner).collect();
    let lid = |x: &Vec2| if x.y > 1.0 - 0.1 * d { Vec2::X } else { Vec2::ZERO };
    let lid: Vec<Vec2> = samples.iter().map(lid).collect();
    simulation.set_boundary(samples);
    settle(&mut simulation, 0.2 * d, 300);
    let end = simulation.time() + end;
    simulation.set_surface_velocities(&lid);
    // Mean profiles of the last two seconds, by a Gaussian over a spacing.
    let read = |text: &str| -> Vec<(f32, f32)> {
        let rows = text.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit()));
        rows.map(|line| {
            let mut fields = line.split(',').map(|field| field.parse().unwrap());
            (fields.next().unwrap(), fields.next().unwrap())
        })
        .collect()
    };
    let (u, v) = (read(U), read(V));
    let mut sums = vec![[0.0f32; 4]; u.len().max(v.len())];
    let mut next = end - 2.0;
    while simulation.time() < end - 1e-5 {
        step(&mut simulation, end);
        if simulation.time() < next {
            continue;
        }
        next += 0.1;
        for (x, velocity) in state(&mut simulation) {
            for (k, sum) in sums.iter_mut().enumerate() {
                let weight = |at: Vec2| (-(x - at).length_squared() / (d * d)).exp();
                if let Some(&(y, _)) = u.get(k) {
                    let w = weight(Vec2::new(0.5, y));
                    (sum[0], sum[1]) = (sum[0] + w * velocity.x, sum[1] + w);
                }
                if let Some(&(x, _)) = v.get(k) {
                    let w = weight(Vec2::new(x, 0.5));
                    (sum[2], sum[3]) = (sum[2] + w * velocity.y, sum[3] + w);
                }
            }
        }
    }
    // On the walls themselves there are no particles.
    let inner = |at: f32| at > d && at < 1.0 - d;
    let error = |reference: &[(f32, f32)], first: usize| {
        let points = reference.iter().zip(&sums).filter(|(point, _)| inner(point.0));
        let errors = points.map(|(point, sum)| (sum[first] / sum[first + 1] - point.1).abs());
        errors.fold(0.0, f32::max)
    };
    let errors = [error(&u, 0), error(&v, 2)];
    let computed = |reference: &[(f32, f32)], first: usize| -> Vec<(f32, f32)> {
        let points = reference.iter().zip(&sums).filter(|(point, _)| inner(point.0));
        points.map(|(point, sum)| (point.0, sum[first] / sum[first + 1])).collect()
    };
    let (of_u, of_v) = (computed(&u, 0), computed(&v, 2));
    let curves = [
        Curve { name: "u over y on the vertical centre line", computed: of_u, reference: u },
        Curve { name: "v over x on the horizontal centre line", computed: of_v, reference: v },
    ];
    Cavity { errors, curves }
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
