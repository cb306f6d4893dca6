//! Every parameter does what its line of documentation says, and about how much.

use bevy_fluid::solver::parallel::Threads;
use bevy_fluid::solver::scene::Scene;
use bevy_fluid::solver::settings::{
    DensityCorrection, DfsphSettings, EquationOfState, FluidMaterial, FluidMethod,
    NegativePressure, PressureSolver, WcsphSettings, WorldSettings,
};
use bevy_fluid::solver::simulation::Simulation;
use bevy_fluid::solver::time_step::TimeStep;
use bevy_math::Vec2;

use crate::support::{
    D, DT, G, R, body_of, positions, run, start, step, tank, velocities, world_of,
};

/// What the solves of some steps did, per step.
#[derive(Debug)]
struct Work {
    density_iterations: Vec<u32>,
    divergence_iterations: Vec<u32>,
    density_error: f32,
    divergence_error: f32,
}

impl Work {
    fn mean(iterations: &[u32]) -> f64 {
        f64::from(iterations.iter().sum::<u32>()) / iterations.len() as f64
    }

    fn density(&self) -> f64 {
        Self::mean(&self.density_iterations)
    }

    fn divergence(&self) -> f64 {
        Self::mean(&self.divergence_iterations)
    }
}

/// A pool that has come to rest, at 60 more steps of the given settings.
fn resting_pool(edit: impl FnOnce(&mut DfsphSettings)) -> Work {
    resting(&tank(20, 30, 5), edit)
}

fn resting(scene: &Scene<Vec2>, edit: impl FnOnce(&mut DfsphSettings)) -> Work {
    let mut simulation = start(scene);
    run(&mut simulation, 300);
    work(simulation, edit, 60)
}

/// A block that hits the floor of its tank at the given settings.
fn splash(edit: impl FnOnce(&mut DfsphSettings)) -> Work {
    let mut scene = tank(20, 20, 20);
    scene.fluids[0].velocity = Vec2::new(1.0, -2.0);
    work(start(&scene), edit, 40)
}

fn work(
    mut simulation: Simulation<Vec2>,
    edit: impl FnOnce(&mut DfsphSettings),
    steps: usize,
) -> Work {
    let mut settings = simulation.world().settings().clone();
    // Enough that only the errors end a solve.
    settings.dfsph.max_density_iterations = 1000;
    settings.dfsph.max_divergence_iterations = 1000;
    edit(&mut settings.dfsph);
    simulation.set_settings(settings).unwrap();
    let mut work = Work {
        density_iterations: Vec::new(),
        divergence_iterations: Vec::new(),
        density_error: 0.0,
        divergence_error: 0.0,
    };
    for _ in 0..steps {
        step(&mut simulation);
        let stats = simulation.world().stats();
        work.density_iterations.push(stats.density_iterations);
        work.divergence_iterations.push(stats.divergence_iterations);
        work.density_error += stats.density_error / steps as f32;
        work.divergence_error += stats.divergence_error / steps as f32;
    }
    work
}

#[test]
fn every_parameter_of_the_pressure_solver_matters() {
    let default = splash(|_| ());
    for parameter in DfsphSettings::PARAMETERS {
        match parameter.name {
            "max_density_error" => {
                let tight = splash(|dfsph| dfsph.max_density_error = 1e-4);
                assert!(tight.density() > 1.5 * default.density(), "{tight:?}");
                assert!(tight.density_error <= 1e-4 && default.density_error <= 1e-3);
                assert!(default.density_error > 1e-4, "{default:?}");
            }
            "max_divergence_error" => {
                let tight = splash(|dfsph| dfsph.max_divergence_error = 5e-4);
                assert!(tight.divergence() > 1.5 * default.divergence(), "{tight:?}");
                // The step of the impact takes more than the most iterations.
                assert!(tight.divergence_error < 0.5 * default.divergence_error);
                assert!(default.divergence_error > 5e-4 && default.divergence_error <= 5e-3);
            }
            "min_density_iterations" => {
                let more = resting_pool(|dfsph| dfsph.min_density_iterations = 17);
                assert!(more.density_iterations.iter().all(|&n| n >= 17), "{more:?}");
                // Even where the most are fewer.
                let both = resting_pool(|dfsph| {
                    dfsph.min_density_iterations = 17;
                    dfsph.max_density_iterations = 3;
                });
                assert!(both.density_iterations.iter().all(|&n| n == 17), "{both:?}");
            }
            "max_density_iterations" => {
                let few = splash(|dfsph| {
                    dfsph.max_density_error = 1e-6;
                    dfsph.max_density_iterations = 5;
                });
                assert_eq!(few.density_iterations.iter().max(), Some(&5));
                assert!(default.density_iterations.iter().any(|&n| n > 5), "{default:?}");
            }
            "min_divergence_iterations" => {
                let more = resting_pool(|dfsph| dfsph.min_divergence_iterations = 17);
                assert!(more.divergence_iterations.iter().all(|&n| n >= 17), "{more:?}");
            }
            "max_divergence_iterations" => {
                let few = splash(|dfsph| {
                    dfsph.max_divergence_error = 1e-6;
                    dfsph.max_divergence_iterations = 4;
                });
                assert_eq!(few.divergence_iterations.iter().max(), Some(&4));
                assert!(default.divergence_iterations.iter().any(|&n| n > 4), "{default:?}");
            }
            "relaxation" => {
                let jacobi = |relaxation: f32| {
                    splash(|dfsph| {
                        dfsph.solver = PressureSolver::Jacobi;
                        dfsph.relaxation = relaxation;
                    })
                };
                let (fast, slow) = (jacobi(0.5), jacobi(0.2));
                assert!(slow.density() > 1.5 * fast.density(), "{slow:?} {fast:?}");
            }
            "over_relaxation" => {
                let sweeps = |over_relaxation: f32| {
                    resting_pool(|dfsph| {
                        dfsph.solver = PressureSolver::GaussSeidel;
                        dfsph.over_relaxation = over_relaxation;
                    })
                };
                let (fast, slow) = (sweeps(1.3), sweeps(0.5));
                assert!(slow.density() > 1.5 * fast.density(), "{slow:?} {fast:?}");
            }
            "warm_start" => {
                let sweeps = |warm_start: f32| {
                    resting_pool(|dfsph| {
                        dfsph.solver = PressureSolver::GaussSeidel;
                        dfsph.warm_start = warm_start;
                    })
                };
                let (warm, cold) = (sweeps(0.5), sweeps(0.0));
                assert!(warm.density() < 0.7 * cold.density(), "{warm:?} {cold:?}");
            }
            "initial_compression" => {
                // A column whose walls are a little too near: how fast does it start?
                let begin = |initial_compression: f32| {
                    let mut simulation = start(&tank(10, 40, 5));
                    let particles = &mut simulation.bodies_mut()[0].particles;
                    particles.positions_mut().iter_mut().for_each(|x| *x *= 0.9995);
                    let mut settings = simulation.world().settings().clone();
                    settings.dfsph.initial_compression = initial_compression;
                    simulation.set_settings(settings).unwrap();
                    step(&mut simulation);
                    simulation.world().max_speed()
                };
                let (burst, rest) = (begin(0.0), begin(0.01));
                assert!(burst > 0.2 && rest < 0.1, "{burst} m/s, {rest} m/s");
            }
            "max_correction" => {
                // Two lattices on top of each other: twice the rest density.
                let burst = |max_correction: f32| {
                    let places = (0..200).map(|k| Vec2::new((k % 10) as f32, (k / 20) as f32) * D);
                    let mut simulation = world_of(Vec2::ZERO, places);
                    let mut settings = simulation.world().settings().clone();
                    settings.dfsph.max_correction = max_correction;
                    simulation.set_settings(settings).unwrap();
                    step(&mut simulation);
                    simulation.world().max_speed()
                };
                let (gentle, full) = (burst(0.02), burst(1000.0));
                assert!(full > 10.0 * gentle && gentle > 0.0, "{full} {gentle}");
            }
            other => panic!("no case for {other}"),
        }
    }
}

#[test]
fn each_pressure_solver_takes_fewer_iterations_than_the_one_before() {
    let [jacobi, sweeps, coarse] =
        [PressureSolver::Jacobi, PressureSolver::GaussSeidel, PressureSolver::TwoLevel]
            .map(|solver| resting(&tank(20, 60, 5), |dfsph| dfsph.solver = solver).density());
    assert!(sweeps < 0.5 * jacobi && coarse < 0.5 * sweeps, "{jacobi} {sweeps} {coarse}");
}

/// Figures of a column of twenty rows by WCSPH: mean of the highest density over
/// the second half of three seconds, and height of the centre at the end.
fn weakly_compressible(sound_speed: f32, equation: EquationOfState) -> (f32, f32) {
    let mut scene = tank(10, 20, 5);
    scene.time_step = TimeStep::Adaptive { min: 1e-5, max: 5e-3, cfl: 0.4 };
    scene.method = FluidMethod::Wcsph;
    scene.wcsph =
        WcsphSettings { sound_speed, equation_of_state: equation, ..WcsphSettings::default() };
    let mut simulation = start(&scene);
    let (mut sum, mut count) = (0.0, 0.0);
    while simulation.time() < 3.0 {
        step(&mut simulation);
        if simulation.time() > 1.5 {
            sum += simulation.world().measure().max_density;
            count += 1.0;
        }
    }
    (sum / count, simulation.world().measure().center_of_mass.y)
}

#[test]
fn every_parameter_of_weakly_compressible_sph_matters() {
    assert_eq!(WcsphSettings::PARAMETERS.len(), 1, "a case for each below");
    let compression =
        |sound_speed: f32, equation| weakly_compressible(sound_speed, equation).0 / 1000.0 - 1.0;
    // A metre of water: g h/c² at its floor.
    let soft = compression(15.0, EquationOfState::Linear);
    let hard = compression(40.0, EquationOfState::Linear);
    assert!(soft > 0.03 && soft < 0.12, "{soft}");
    assert!(hard < 0.4 * soft, "{hard} {soft}");
    let tait = compression(15.0, EquationOfState::Tait);
    assert!(tait < 0.95 * soft && tait > 0.5 * soft, "{tait} {soft}");
}

/// Pressure in Pa m in the middle of a block that was stretched by a hundredth
/// each way, and how fast its edge moves inwards, after one step.
fn stretched(edit: impl FnOnce(&mut WorldSettings<Vec2>)) -> (f32, f32) {
    let places = (0..441).map(|k| Vec2::new((k % 21) as f32, (k / 21) as f32) * (1.01 * D));
    let mut simulation = world_of(Vec2::ZERO, places);
    let mut settings = simulation.world().settings().clone();
    edit(&mut settings);
    simulation.set_settings(settings).unwrap();
    simulation.step(1e-3, Threads::Serial).unwrap();
    let body = &simulation.bodies()[0].particles;
    (body.results()[220].pressure(), body.velocities()[10 * 21].x)
}

#[test]
fn negative_pressure_pulls_stretched_water_together_where_it_is_allowed() {
    for method in FluidMethod::ALL {
        for solver in PressureSolver::ALL {
            let [clamped, allowed] = NegativePressure::ALL.map(|rule| {
                stretched(|settings| {
                    settings.method = method;
                    settings.dfsph.solver = solver;
                    settings.dfsph.negative_pressure = rule;
                    settings.wcsph.negative_pressure = rule;
                })
            });
            assert_eq!(clamped, (0.0, 0.0), "{method:?}, {solver:?}");
            assert!(allowed.0 < 0.0 && allowed.1 > 0.01, "{method:?}, {solver:?}: {allowed:?}");
            if method == FluidMethod::Wcsph {
                // c² (rho - rho0), rho0/1.01² being two percent short.
                assert!((allowed.0 / -17_600.0 - 1.0).abs() < 0.1, "{allowed:?}");
            }
        }
    }
}

/// Highest speed and density after a step of a block in which everything is one
/// percent too close.
fn pressed(correction: DensityCorrection) -> (f32, f32) {
    let places = (0..441).map(|k| Vec2::new((k % 21) as f32, (k / 21) as f32) * (0.995 * D));
    let mut simulation = world_of(Vec2::ZERO, places);
    let mut settings = simulation.world().settings().clone();
    settings.dfsph.density_correction = correction;
    settings.dfsph.max_density_error = 1e-5;
    simulation.set_settings(settings).unwrap();
    simulation.step(1e-3, Threads::Serial).unwrap();
    let measures = simulation.world().measure();
    (measures.max_speed, measures.max_density)
}

#[test]
fn density_corrected_by_positions_leaves_no_speed() {
    let [by_velocities, by_positions] = DensityCorrection::ALL.map(pressed);
    assert!(by_positions.0 < 0.1 * by_velocities.0, "{by_positions:?} {by_velocities:?}");
    // 1.01 before; both make up for it.
    assert!((by_velocities.1 - 1000.0).abs() < 1.0, "{by_velocities:?}");
    assert!((by_positions.1 - 1000.0).abs() < 1.0, "{by_positions:?}");
}

#[test]
fn corrections_are_switched_without_a_jump_in_energy() {
    let mut scene = tank(10, 20, 5);
    scene.time_step = TimeStep::Fixed(0.002);
    scene.dfsph.max_divergence_error = 5e-5;
    scene.dfsph.warm_start = 0.9;
    let mut simulation = start(&scene);
    run(&mut simulation, 1000);
    let [by_velocities, by_positions] = DensityCorrection::ALL;
    for correction in [by_positions, by_velocities, by_positions] {
        let mut settings = simulation.world().settings().clone();
        settings.dfsph.density_correction = correction;
        simulation.set_settings(settings).unwrap();
        run(&mut simulation, 500);
        let measures = simulation.world().measure();
        assert!(measures.max_speed < 0.1, "{correction:?}: {measures:?}");
        assert!(measures.mean_abs_density_error < 1e-3, "{correction:?}: {measures:?}");
    }
}

#[test]
fn both_methods_hold_the_same_column() {
    let (density, height) = weakly_compressible(30.0, EquationOfState::Linear);
    let mut simulation = start(&tank(10, 20, 5));
    run(&mut simulation, 400);
    let strict = simulation.world().measure();
    let sunk = (strict.center_of_mass.y - height) / D;
    assert!(sunk.abs() < 0.3, "{sunk} spacings lower by WCSPH");
    assert!(density > strict.max_density, "{density} {strict:?}");
}

#[test]
fn methods_are_switched_without_a_jump_in_energy() {
    let mut scene = tank(10, 20, 5);
    scene.time_step = TimeStep::Fixed(0.001);
    let mut simulation = start(&scene);
    let energy = |simulation: &Simulation<Vec2>| {
        let measures = simulation.world().measure();
        measures.kinetic_energy + measures.potential_energy
    };
    for method in [FluidMethod::Wcsph, FluidMethod::Dfsph, FluidMethod::Wcsph] {
        run(&mut simulation, 500);
        let before = energy(&simulation);
        let settings = simulation.world().settings().clone();
        simulation.set_settings(WorldSettings { method, ..settings }).unwrap();
        let mut highest = before;
        for _ in 0..200 {
            step(&mut simulation);
            highest = highest.max(energy(&simulation));
        }
        // 500 kg half a metre up are 2,450 J.
        assert!(highest - before < 25.0, "{method:?}: {before} J, then {highest} J");
    }
}

/// Two particles beside each other, at opposite velocities across their line.
fn pair(viscosity: f32, dt: f32) -> f32 {
    let mut simulation = world_of(Vec2::ZERO, [Vec2::ZERO, Vec2::new(D, 0.0)]);
    let body = &mut simulation.bodies_mut()[0];
    body.material.viscosity = viscosity;
    body.particles.velocities_mut()[0].y = 1.0;
    body.particles.velocities_mut()[1].y = -1.0;
    simulation.step(dt, Threads::Serial).unwrap();
    velocities(&mut simulation)[0].y
}

#[test]
fn every_parameter_of_the_material_matters() {
    for parameter in FluidMaterial::PARAMETERS {
        match parameter.name {
            "rest_density" => {
                let mut simulation = start(&tank(10, 10, 5));
                simulation.bodies_mut()[0].material.rest_density = 1300.0;
                simulation.prepare(Threads::Serial).unwrap();
                let mean = simulation.world().measure().mean_density;
                let mut plain = start(&tank(10, 10, 5));
                plain.prepare(Threads::Serial).unwrap();
                let ratio = mean / plain.world().measure().mean_density;
                assert!((ratio - 1.3).abs() < 1e-5, "{ratio}");
            }
            "viscosity" => {
                assert_eq!(pair(0.0, DT), 1.0, "no viscosity, no change");
                // W(q = 1/2)/W(0) = 1/4, and V0 W(0)/(rho/rho0) = 1/(1 + 1/4).
                let part = |viscosity: f32| viscosity * 2.0 * 0.25 / 1.25;
                for viscosity in [0.05, 0.5, 1.0] {
                    // Part of the velocity per step, whatever the step lasts.
                    for dt in [DT, 0.1 * DT] {
                        let left = pair(viscosity, dt);
                        assert!((left - 1.0 + part(viscosity)).abs() < 1e-5, "{viscosity} {left}");
                    }
                }
            }
            "kinematic_viscosity" => {
                for (viscosity, dt) in [(0.02, DT), (0.05, DT), (0.05, 0.2 * DT)] {
                    // The block expands a little and carries some velocity along.
                    let decay = shear_decay(viscosity, dt) - shear_decay(0.0, dt);
                    // A standing shear wave of wavelength 2 m decays at nu k².
                    let expected = viscosity * core::f32::consts::PI.powi(2);
                    assert!((decay / expected - 1.0).abs() < 0.15, "{decay} {expected}");
                }
                // Far beyond what an explicit step can take, and nothing is left of the wave.
                let left = shear_left(100.0, DT);
                assert!(left.abs() < 1e-3, "{left}");
            }
            // See surface_tension.rs.
            "cohesion" | "adhesion" => {}
            // See thick_and_swirling.rs.
            "vorticity_confinement" => {}
            "boundary_viscosity" => {
                let [free, sticky] = [0.0, 0.05].map(|boundary_viscosity| {
                    let mut simulation = start(&tank(20, 10, 5));
                    let body = &mut simulation.bodies_mut()[0];
                    body.material.viscosity = 0.0;
                    body.material.boundary_viscosity = boundary_viscosity;
                    for v in body.particles.velocities_mut() {
                        v.x = 0.5;
                    }
                    run(&mut simulation, 10);
                    let lowest = &velocities(&mut simulation)[..20];
                    lowest.iter().map(|v| v.x).sum::<f32>() / 20.0
                });
                assert!(sticky < 0.8 * free && sticky > 0.0, "{sticky} {free}");
            }
            other => panic!("no case for {other}"),
        }
    }
}

/// Rate in 1/s at which the middle of a shear wave v_x = cos(k y) loses its
/// amplitude, k = pi per metre, in 0.2 s.
fn shear_decay(kinematic_viscosity: f32, dt: f32) -> f32 {
    -shear_left(kinematic_viscosity, dt).ln() / 0.2
}

/// The part of the amplitude that is left then.
fn shear_left(kinematic_viscosity: f32, dt: f32) -> f32 {
    let places = (0..1600).map(|k| Vec2::new((k % 40) as f32, (k / 40) as f32 - 19.5) * D);
    let mut simulation = world_of(Vec2::ZERO, places);
    let body = &mut simulation.bodies_mut()[0];
    body.material.viscosity = 0.0;
    body.material.kinematic_viscosity = kinematic_viscosity;
    let wave = |x: Vec2| (core::f32::consts::PI * x.y).cos();
    let positions = body.particles.positions().to_vec();
    for (v, x) in body.particles.velocities_mut().iter_mut().zip(&positions) {
        v.x = 0.1 * wave(*x);
    }
    let steps = (0.2 / dt).round() as u32;
    for _ in 0..steps {
        simulation.step(dt, Threads::Serial).unwrap();
    }
    // Rows near the middle, columns far from the ends.
    let (mut sum, mut expected) = (0.0, 0.0);
    for (x, v) in positions.iter().zip(simulation.bodies()[0].particles.velocities()) {
        if x.y.abs() < 0.3 && x.x > 0.5 && x.x < 1.5 {
            sum += v.x;
            expected += 0.1 * wave(*x);
        }
    }
    sum / expected
}

#[test]
fn viscosity_evens_out_a_shear_flow() {
    let shear = |viscosity: f32| {
        let places = (0..400).map(|k| Vec2::new((k % 20) as f32, (k / 20) as f32) * D);
        let mut simulation = world_of(Vec2::ZERO, places);
        simulation.bodies_mut()[0].material.viscosity = viscosity;
        for (k, v) in simulation.bodies_mut()[0].particles.velocities_mut().iter_mut().enumerate() {
            v.x = if k < 200 { -0.2 } else { 0.2 };
        }
        run(&mut simulation, 40);
        let v = velocities(&mut simulation);
        v.iter().enumerate().map(|(k, v)| if k < 200 { -v.x } else { v.x }).sum::<f32>() / 400.0
    };
    let left = [0.0, 0.05, 0.5].map(shear);
    assert!(left[0] > 0.199, "{left:?}");
    assert!(left[1] < 0.97 * left[0] && left[2] < 0.87 * left[1], "{left:?}");
}

#[test]
fn every_setting_of_the_world_matters() {
    // A field more, and this line asks for its case.
    // See periodic.rs for the borders.
    let WorldSettings::<Vec2> {
        gravity: _,
        particle_radius: _,
        method: _,
        dfsph: _,
        wcsph: _,
        periodic: _,
    } = WorldSettings::default();

    for gravity in [Vec2::new(3.0, 0.0), Vec2::new(-1.0, 2.0), Vec2::ZERO] {
        let mut simulation = start(&tank(10, 10, 10));
        simulation.set_boundary(Vec::new());
        let before = simulation.world().settings().clone();
        simulation.set_settings(WorldSettings { gravity, ..before }).unwrap();
        simulation.prepare(Threads::Serial).unwrap();
        let from = simulation.world().measure().center_of_mass;
        run(&mut simulation, 100);
        let moved = simulation.world().measure().center_of_mass - from;
        // Steps of v += dt g, x += dt v.
        let expected = gravity * (0.5 * 100.0 * 101.0 * DT * DT);
        assert!((moved - expected).length() < 1e-4, "{moved} {expected}");
    }

    // Gravity to the side carries the water of a tank to that side.
    let sideways = |gravity: Vec2| {
        let mut simulation = start(&tank(20, 10, 20));
        let before = simulation.world().settings().clone();
        simulation.set_settings(WorldSettings { gravity, ..before }).unwrap();
        run(&mut simulation, 400);
        simulation.world().measure().center_of_mass
    };
    let (left, right) = (sideways(Vec2::new(-G, 0.0)), sideways(Vec2::new(G, 0.0)));
    assert!(left.x < 7.0 * D && right.x > 14.0 * D, "{left} {right}");

    let neighbors = |particle_radius: f32| {
        let mut simulation =
            world_of(Vec2::ZERO, (0..81).map(|k| Vec2::new((k % 9) as f32, (k / 9) as f32) * D));
        let before = simulation.world().settings().clone();
        simulation.set_settings(WorldSettings { particle_radius, ..before }).unwrap();
        simulation.prepare(Threads::Serial).unwrap();
        let result = simulation.bodies()[0].particles.results()[40];
        (result.neighbors, result.density / 1000.0)
    };
    let center = 40.0 / (7.0 * core::f32::consts::PI) / 4.0;
    let (count, density) = neighbors(0.4 * R);
    assert!(count == 0 && (density - center).abs() < 1e-5, "{count} {density}");
    let (count, density) = neighbors(R);
    assert!(count == 12 && (density - 1.0).abs() < 0.01, "{count} {density}");
    let (count, density) = neighbors(1.5 * R);
    assert!(count > 20 && (density - 2.25).abs() < 0.05, "{count} {density}");
}

#[test]
fn both_rules_of_the_time_step_matter() {
    let thrown = |time_step: TimeStep, speed: f32| {
        let scene = bevy_fluid::solver::scene::Scene {
            time_step,
            gravity: Vec2::ZERO,
            ..crate::support::void()
        };
        let mut simulation = start(&scene);
        let mut body = body_of([Vec2::ZERO]);
        body.particles.velocities_mut()[0].x = speed;
        simulation.add_body(body).unwrap();
        let dt = simulation.next_step();
        step(&mut simulation);
        // The step is what moved the particle and the clock.
        assert!((positions(&mut simulation)[0].x - speed * dt).abs() < 1e-6 * speed);
        assert!((simulation.time() - f64::from(dt)).abs() < 1e-9);
        // The rule goes on, with the velocities of the packed world.
        assert_eq!(simulation.next_step(), dt);
        dt
    };
    for dt in [1e-4, DT, 0.02] {
        assert_eq!(thrown(TimeStep::Fixed(dt), 30.0), dt);
    }
    let rule = |min: f32, max: f32, cfl: f32| TimeStep::Adaptive { min, max, cfl };
    assert_eq!(thrown(rule(1e-3, 5e-3, 0.4), 0.1), 5e-3, "slow: the longest");
    assert_eq!(thrown(rule(1e-3, 2e-3, 0.4), 0.1), 2e-3);
    // Equal parts of the longest step: 0.4 d/v = 2 ms rounds down to a third of it.
    let dt = thrown(rule(1e-3, 5e-3, 0.4), 10.0);
    assert!((dt - 5e-3 / 3.0).abs() < 1e-8, "{dt}");
    let dt = thrown(rule(1e-3, 5e-3, 0.2), 10.0);
    assert!((dt - 1e-3).abs() < 1e-8, "half the CFL number: {dt}");
    let dt = thrown(rule(1e-4, 5e-3, 0.4), 1e3);
    assert!((dt - 1e-4).abs() < 1e-8, "fast: the shortest, {dt}");
}
