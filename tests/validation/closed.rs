//! Flows that fill their space: between walls or periodic borders, without a surface.

use bevy_fluid::solver::parallel::Threads;
use bevy_fluid::solver::periodic::Periodic;
use bevy_fluid::solver::settings::{FluidMaterial, NegativePressure, WorldSettings};
use bevy_fluid::solver::simulation::Simulation;
use bevy_math::Vec2;
use core::f32::consts::{PI, TAU};

use super::{Curve, Run, WALL, ideal, lattice, state, step, walls, world};

/// A fluid of a kinematic viscosity in m²/s that does not slip at walls.
fn viscous(nu: f32) -> FluidMaterial {
    let boundary_viscosity = FluidMaterial::NO_SLIP * nu;
    FluidMaterial { kinematic_viscosity: nu, boundary_viscosity, ..ideal() }
}

/// Settings for a flow without a surface.
fn without_surface() -> WorldSettings<Vec2> {
    let mut settings = WorldSettings { gravity: Vec2::ZERO, ..WorldSettings::default() };
    settings.dfsph.negative_pressure = NegativePressure::Allowed;
    settings.wcsph.negative_pressure = NegativePressure::Allowed;
    settings
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
