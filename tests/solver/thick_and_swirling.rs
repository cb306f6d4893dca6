//! Thick fluids in long steps, and swirls that last.

use bevy_fluid::solver::parallel::Threads;
use bevy_fluid::solver::periodic::Periodic;
use bevy_fluid::solver::scene::Scene;
use bevy_fluid::solver::settings::{FluidMaterial, FluidMethod, NegativePressure, WorldSettings};
use bevy_fluid::solver::simulation::Simulation;
use bevy_fluid::solver::time_step::TimeStep;
use bevy_math::Vec2;
use bevy_tasks::TaskPoolBuilder;

use crate::support::{
    D, DT, Lcg, bits, block, body_of, mean_velocity, positions, run, start, step, velocities, void,
};

/// A block of a fluid with random velocities, without gravity.
fn stirred(kinematic_viscosity: f32, side: u32) -> Simulation<Vec2> {
    let mut scene = Scene { gravity: Vec2::ZERO, ..void() };
    scene.fluids.push(block(Vec2::ZERO, [side, side, 1]));
    let mut simulation = start(&scene);
    let body = &mut simulation.bodies_mut()[0];
    body.material.viscosity = 0.0;
    body.material.kinematic_viscosity = kinematic_viscosity;
    let mut random = Lcg::new(3);
    body.particles.velocities_mut().iter_mut().for_each(|v| *v = random.point(-1.0, 1.0));
    simulation
}

#[test]
fn long_steps_of_thick_fluid_are_made_implicitly_and_short_ones_are_not() {
    // h²/(24 nu) is 0.83 ms.
    let iterations = |dt: f32| {
        let mut simulation = stirred(0.5, 12);
        simulation.step(dt, Threads::Serial).unwrap();
        simulation.world().stats().viscosity_iterations
    };
    assert_eq!(iterations(8e-4), 0);
    assert!((1..100).contains(&iterations(9e-4)), "{}", iterations(9e-4));
    // The rule of the time step does not heed it.
    let (thin, thick) = (stirred(0.0, 12), stirred(100.0, 12));
    assert_eq!(thin.world().signal_speed(), thick.world().signal_speed());
}

#[test]
fn implicit_viscosity_keeps_momentum_and_angular_momentum() {
    for kinematic_viscosity in [1.0, 30.0] {
        let mut simulation = stirred(kinematic_viscosity, 16);
        let spin = |simulation: &mut Simulation<Vec2>| {
            let all = positions(simulation).into_iter().zip(velocities(simulation));
            all.map(|(x, v)| f64::from(x.perp_dot(v))).sum::<f64>()
        };
        let (before, turned) = (mean_velocity(&mut simulation), spin(&mut simulation));
        let energy = simulation.world().measure().kinetic_energy;
        run(&mut simulation, 10);
        let (after, still_turned) = (mean_velocity(&mut simulation), spin(&mut simulation));
        for axis in 0..2 {
            assert!((before[axis] - after[axis]).abs() < 2e-6, "{before:?} {after:?}");
        }
        // 256 particles, half a metre, one metre a second.
        assert!((turned - still_turned).abs() < 0.02 * 256.0 * 0.3, "{turned} {still_turned}");
        let left = simulation.world().measure().kinetic_energy;
        assert!(left < 0.1 * energy || energy == 0.0, "{energy} J, then {left} J");
    }
}

#[test]
fn thick_blob_turns_on_as_one_piece() {
    let mut scene = Scene { gravity: Vec2::ZERO, ..void() };
    scene.fluids.push(block(Vec2::splat(-8.0 * D), [16, 16, 1]));
    let mut simulation = start(&scene);
    let body = &mut simulation.bodies_mut()[0];
    body.material =
        FluidMaterial { kinematic_viscosity: 5.0, viscosity: 0.0, ..FluidMaterial::default() };
    let places = body.particles.positions().to_vec();
    body.particles.velocities_mut().iter_mut().zip(places).for_each(|(v, x)| *v = x.perp());
    run(&mut simulation, 100);
    let all = positions(&mut simulation).into_iter().zip(velocities(&mut simulation));
    let (turn, inertia) = all.fold((0.0, 0.0), |(turn, inertia), (x, v)| {
        (turn + x.perp_dot(v), inertia + x.length_squared())
    });
    assert!((turn / inertia - 1.0).abs() < 0.05, "{} rad/s of 1", turn / inertia);
}

#[test]
fn implicit_viscosity_does_not_depend_on_threads() {
    let pool = TaskPoolBuilder::new().num_threads(3).build();
    let mut serial = stirred(2.0, 70);
    let mut parallel = Simulation::from_state(serial.state()).unwrap();
    for _ in 0..4 {
        serial.step(DT, Threads::Serial).unwrap();
        parallel.step(DT, Threads::Pool(&pool)).unwrap();
    }
    assert!(serial.world().stats().viscosity_iterations > 3);
    assert!(bits(&mut serial) == bits(&mut parallel));
}

#[test]
fn presets_are_as_thick_as_they_should_be_at_sixty_hertz() {
    // A column of a decimetre, of fine particles, that comes down in half a second.
    let spread = |material: FluidMaterial| {
        let mut scene = Scene { particle_radius: 0.0025, ..void::<Vec2>() };
        scene.time_step = TimeStep::default();
        let mut simulation = start(&scene);
        let d = 0.005;
        let places = (0..200).map(|k| Vec2::new((k % 10) as f32 + 0.5, (k / 10) as f32 + 1.1) * d);
        let mut body = body_of(places);
        body.material = material;
        simulation.add_body(body).unwrap();
        simulation.set_boundary((-300..400).map(|k| Vec2::new(k as f32 * d, 0.0)).collect());
        let mut steps = 0;
        while simulation.time() < 0.5 {
            step(&mut simulation);
            steps += 1;
        }
        let places = positions(&mut simulation);
        assert!(places.iter().all(|x| x.y > 0.0), "none leaks");
        let mean = places.iter().map(|x| x.x).sum::<f32>() / 200.0;
        let squares = places.iter().map(|x| (x.x - mean).powi(2)).sum::<f32>();
        ((squares / 200.0).sqrt() / d, steps)
    };
    let [water, oil, honey, lava] = [
        FluidMaterial::water(),
        FluidMaterial::oil(),
        FluidMaterial::honey(),
        FluidMaterial::lava(),
    ]
    .map(|material| {
        material.validate().unwrap();
        spread(material)
    });
    println!("{water:?} {oil:?} {honey:?} {lava:?}");
    assert!(water.0 > 2.0 * honey.0 && oil.0 > 1.5 * honey.0, "{water:?} {oil:?} {honey:?}");
    assert!(honey.0 > 1.1 * lava.0, "{honey:?} {lava:?}");
    // Thick fluid is slow, and takes longer steps than water does.
    assert!(lava.1 <= water.1 && honey.1 <= water.1, "{water:?} {honey:?} {lava:?}");
}

/// Part of their energy that four vortices in an endless square lose in ten steps.
fn vortices(vorticity_confinement: f32, method: FluidMethod) -> f32 {
    let side = 30.0 * D;
    let ends = Some((0.0, side));
    let periodic = Periodic { x: ends, y: ends, z: None };
    let mut scene = Scene { gravity: Vec2::ZERO, periodic, method, ..void() };
    scene.time_step = TimeStep::Fixed(0.0025);
    scene.dfsph.negative_pressure = NegativePressure::Allowed;
    scene.wcsph.negative_pressure = NegativePressure::Allowed;
    scene.wcsph.sound_speed = 10.0;
    let mut fluid = block(Vec2::ZERO, [30, 30, 1]);
    fluid.material.viscosity = 0.1;
    fluid.material.vorticity_confinement = vorticity_confinement;
    scene.fluids.push(fluid);
    let mut simulation = start(&scene);
    let k = core::f32::consts::TAU / side;
    let places = positions(&mut simulation);
    let body = &mut simulation.bodies_mut()[0];
    for (v, x) in body.particles.velocities_mut().iter_mut().zip(places) {
        let (x, y) = (k * x.x, k * x.y);
        *v = Vec2::new(-x.cos() * y.sin(), x.sin() * y.cos());
    }
    let before = simulation.bodies()[0].particles.velocities().iter().map(|v| v.length_squared());
    let before = before.sum::<f32>();
    run(&mut simulation, 10);
    let [x, y, _] = mean_velocity(&mut simulation);
    assert!(x.abs() < 1e-4 && y.abs() < 1e-4, "momentum: {x} {y}");
    let after = velocities(&mut simulation).iter().map(|v| v.length_squared()).sum::<f32>();
    1.0 - after / before
}

#[test]
fn swirls_keep_more_of_their_energy_by_confinement() {
    for method in FluidMethod::ALL {
        let [none, half, full] = [0.0, 0.05, 0.1].map(|strength| vortices(strength, method));
        assert!(none > 0.01 && half < 0.85 * none && full < 0.7 * none, "{none} {half} {full}");
        assert!(full > 0.0, "{method:?}: as much as XSPH takes does not make them grow: {full}");
    }
}

#[test]
fn confinement_keeps_the_momentum_in_a_splash() {
    let mut simulation = stirred(0.0, 16);
    simulation.bodies_mut()[0].material.vorticity_confinement = 0.05;
    let settings = simulation.world().settings().clone();
    simulation.set_settings(WorldSettings { gravity: Vec2::ZERO, ..settings }).unwrap();
    let sum = |v: Vec<Vec2>| v.into_iter().fold(Vec2::ZERO, |sum, v| sum + v);
    let before = sum(velocities(&mut simulation));
    run(&mut simulation, 40);
    let v = velocities(&mut simulation);
    let absolute: f32 = v.iter().map(|v| v.length()).sum();
    assert!((sum(v) - before).length() < 1e-5 * absolute, "{before}");
}
