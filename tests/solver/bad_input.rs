//! Bad input is refused by name and harms nothing; its valid twin is taken.

use bevy_fluid::solver::error::FluidError;
use bevy_fluid::solver::parallel::Threads;
use bevy_fluid::solver::scene::Scene;
use bevy_fluid::solver::settings::{DfsphSettings, FluidMaterial, WorldSettings};
use bevy_fluid::solver::simulation::Simulation;
use bevy_fluid::solver::sph::RemovedParticle;
use bevy_fluid::solver::time_step::TimeStep;
use bevy_math::Vec2;

use crate::support::{DT, bits, body_of, positions, run, start, tank, velocities};

const NOT_POSITIVE: [f32; 5] = [0.0, -1.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
const NOT_FINITE: [f32; 3] = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY];

/// The name of the parameter that was refused.
fn refused<T>(result: Result<T, FluidError>) -> String {
    match result {
        Err(FluidError::Parameter { name, .. }) => name,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("accepted"),
    }
}

#[test]
fn world_settings_out_of_range_are_refused_and_the_old_ones_stay() {
    let mut simulation = start(&tank(5, 5, 2));
    run(&mut simulation, 2);
    let old = simulation.world().settings().clone();
    let mut refuse = |settings: WorldSettings<Vec2>, name: &str| {
        assert_eq!(refused(Simulation::new(settings.clone(), TimeStep::Fixed(DT))), name);
        assert_eq!(refused(simulation.set_settings(settings)), name);
        assert_eq!(*simulation.world().settings(), old);
    };
    for bad in NOT_POSITIVE {
        refuse(WorldSettings { particle_radius: bad, ..old.clone() }, "particle_radius");
    }
    for bad in NOT_FINITE {
        refuse(WorldSettings { gravity: Vec2::new(0.0, bad), ..old.clone() }, "gravity");
    }
    for parameter in DfsphSettings::PARAMETERS {
        let (low, high) = (*parameter.range.start(), *parameter.range.end());
        let mut dfsph = DfsphSettings::default();
        for bad in [low - 1.0, high + 1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(refused(parameter.set(&mut dfsph, bad)), parameter.name);
        }
        assert_eq!(dfsph, DfsphSettings::default());
        // The ends of the range are inside it.
        for good in [low, high] {
            parameter.set(&mut dfsph, good).unwrap();
            simulation.set_settings(WorldSettings { dfsph: dfsph.clone(), ..old.clone() }).unwrap();
        }
    }
    let mut with = |edit: fn(&mut DfsphSettings), name: &str| {
        let mut settings = old.clone();
        edit(&mut settings.dfsph);
        assert_eq!(refused(simulation.set_settings(settings)), name);
    };
    with(|dfsph| dfsph.max_density_error = f32::NAN, "dfsph.max_density_error");
    with(|dfsph| dfsph.max_divergence_error = 0.0, "dfsph.max_divergence_error");
    with(|dfsph| dfsph.min_density_iterations = 0, "dfsph.min_density_iterations");
    with(|dfsph| dfsph.max_density_iterations = 0, "dfsph.max_density_iterations");
    with(|dfsph| dfsph.min_divergence_iterations = 0, "dfsph.min_divergence_iterations");
    with(|dfsph| dfsph.max_divergence_iterations = u32::MAX, "dfsph.max_divergence_iterations");
    with(|dfsph| dfsph.relaxation = f32::INFINITY, "dfsph.relaxation");
    with(|dfsph| dfsph.warm_start = -0.1, "dfsph.warm_start");
}

#[test]
fn time_step_out_of_range_is_refused_and_nothing_is_done() {
    let mut simulation = start(&tank(5, 5, 2));
    run(&mut simulation, 2);
    let before = (bits(&mut simulation), simulation.time(), simulation.steps());
    for bad in NOT_POSITIVE.into_iter().chain([1e-7, 1.5, f32::MIN_POSITIVE, f32::MAX]) {
        assert_eq!(refused(simulation.step(bad, Threads::Serial)), "time_step", "{bad}");
        assert_eq!(
            refused(Simulation::<Vec2>::new(WorldSettings::default(), TimeStep::Fixed(bad))),
            "time_step"
        );
    }
    assert_eq!((bits(&mut simulation), simulation.time(), simulation.steps()), before);
    for good in [1e-6, 1.0] {
        assert_eq!(simulation.step(good, Threads::Serial), Ok(vec![]), "{good}");
    }
    assert_eq!(simulation.steps(), 4);
}

#[test]
fn material_out_of_range_is_refused_when_added_and_when_edited() {
    for parameter in FluidMaterial::PARAMETERS {
        let mut simulation = start(&tank(5, 5, 2));
        run(&mut simulation, 2);
        let before = bits(&mut simulation);
        let (low, high) = (*parameter.range.start(), *parameter.range.end());
        for bad in [low - 1.0, high * 2.0, f64::NAN, f64::INFINITY] {
            let mut body = body_of([Vec2::ONE]);
            // Fields are public: nothing keeps a game from writing this.
            match parameter.name {
                "rest_density" => body.material.rest_density = bad as f32,
                "viscosity" => body.material.viscosity = bad as f32,
                "kinematic_viscosity" => body.material.kinematic_viscosity = bad as f32,
                "boundary_viscosity" => body.material.boundary_viscosity = bad as f32,
                "vorticity_confinement" => body.material.vorticity_confinement = bad as f32,
                "cohesion" => body.material.cohesion = bad as f32,
                "adhesion" => body.material.adhesion = bad as f32,
                other => panic!("no case for {other}"),
            }
            let material = body.material.clone();
            assert_eq!(refused(simulation.add_body(body)), parameter.name);
            assert_eq!(simulation.bodies().len(), 1);
            let good = core::mem::replace(&mut simulation.bodies_mut()[0].material, material);
            let name = format!("fluids[0].{}", parameter.name);
            assert_eq!(refused(simulation.step(DT, Threads::Serial)), name);
            simulation.bodies_mut()[0].material = good;
        }
        assert_eq!(bits(&mut simulation), before, "refused steps did nothing");
        for good in [low, high] {
            let mut body = body_of([Vec2::splat(20.0)]);
            parameter.set(&mut body.material, good).unwrap();
            simulation.add_body(body).unwrap();
        }
        run(&mut simulation, 1);
    }
}

#[test]
fn scene_out_of_range_is_refused_by_name() {
    let good = tank(5, 5, 2);
    assert!(Simulation::from_scene(&good).is_ok());
    let refuse = |edit: &dyn Fn(&mut Scene<Vec2>), name: &str| {
        let mut scene = good.clone();
        edit(&mut scene);
        assert_eq!(refused(Simulation::from_scene(&scene)), name);
    };
    for bad in NOT_FINITE {
        refuse(&|scene| scene.gravity.x = bad, "gravity");
        refuse(&|scene| scene.fluids[0].velocity.y = bad, "fluids[0].velocity");
        refuse(&|scene| scene.boundaries[0].position.x = bad, "boundaries[0].position");
        let surface = |scene: &mut Scene<Vec2>| scene.boundaries[0].surface_velocity.y = bad;
        refuse(&surface, "boundaries[0].surface_velocity");
    }
    for bad in NOT_POSITIVE {
        refuse(&|scene| scene.particle_radius = bad, "particle_radius");
        refuse(&|scene| scene.time_step = TimeStep::Fixed(bad), "time_step");
        let material = |scene: &mut Scene<Vec2>| scene.fluids[0].material.rest_density = bad;
        refuse(&material, "fluids[0].material.rest_density");
        refuse(&|scene| scene.dfsph.max_density_error = bad, "dfsph.max_density_error");
    }
    refuse(&|scene| scene.fluids[0].material.viscosity = -0.1, "fluids[0].material.viscosity");
    refuse(&|scene| scene.dfsph.max_density_iterations = 0, "dfsph.max_density_iterations");
}

/// Runs, spoils some particles by `edit`, and expects those to be reported, and
/// the others to go on as if those had been removed in an orderly way.
fn only_these_go(spoiled: &[usize], edit: impl Fn(&mut Simulation<Vec2>, usize)) {
    let mut simulation = start(&tank(40, 30, 5));
    run(&mut simulation, 10);
    let mut orderly = Simulation::from_state(simulation.state()).unwrap();
    let ids = simulation.bodies()[0].particles.ids().to_vec();
    for &index in spoiled {
        edit(&mut simulation, index);
    }
    let mut reported = simulation.step(DT, Threads::Serial).unwrap();
    let mut expected: Vec<RemovedParticle> =
        spoiled.iter().map(|&index| RemovedParticle { body: 0, id: ids[index] }).collect();
    reported.sort_by_key(|removed| removed.id);
    expected.sort_by_key(|removed| removed.id);
    assert_eq!(reported, expected);

    orderly.bodies_mut()[0].particles.retain(|index| !spoiled.contains(&index));
    run(&mut orderly, 1);
    assert_eq!(simulation.bodies()[0].particles.len(), ids.len() - spoiled.len());
    for &index in spoiled {
        assert!(simulation.bodies()[0].particles.index_of(ids[index]).is_err());
    }
    assert!(bits(&mut simulation) == bits(&mut orderly));
    run(&mut simulation, 20);
    run(&mut orderly, 20);
    assert!(bits(&mut simulation) == bits(&mut orderly));
}

#[test]
fn particle_edited_to_a_position_that_is_not_finite_is_removed_alone() {
    for bad in NOT_FINITE {
        only_these_go(&[0, 611, 1199], |simulation, index| {
            simulation.bodies_mut()[0].particles.positions_mut()[index].x = bad;
        });
    }
}

#[test]
fn particle_edited_to_a_velocity_that_is_not_finite_is_removed_alone() {
    for bad in NOT_FINITE {
        only_these_go(&[0, 611, 1199], |simulation, index| {
            simulation.bodies_mut()[0].particles.velocities_mut()[index].y = bad;
        });
    }
}

#[test]
fn body_of_nothing_but_bad_particles_becomes_empty() {
    let mut simulation = start(&tank(40, 30, 5));
    for x in simulation.bodies_mut()[0].particles.positions_mut() {
        *x = Vec2::NAN;
    }
    assert_eq!(simulation.step(DT, Threads::Serial).unwrap().len(), 1200);
    assert!(simulation.bodies()[0].particles.is_empty());
    run(&mut simulation, 2);
}

#[test]
fn warm_start_that_is_not_finite_counts_as_none() {
    let mut simulation = start(&tank(10, 10, 5));
    run(&mut simulation, 30);
    let mut none = Simulation::from_state(simulation.state()).unwrap();
    for result in simulation.bodies_mut()[0].particles.results_mut() {
        result.density_impulse = f32::NAN;
        result.divergence_impulse = f32::INFINITY;
    }
    for result in none.bodies_mut()[0].particles.results_mut() {
        *result = Default::default();
    }
    run(&mut simulation, 2);
    run(&mut none, 2);
    assert_eq!(bits(&mut simulation), bits(&mut none));
}

/// A particle in the middle of a pool gets `speed`; then a few steps.
/// Returns how many others were removed, and how many are outside the tank.
fn hurl(speed: f32) -> (usize, usize) {
    let mut simulation = start(&tank(40, 30, 5));
    run(&mut simulation, 100);
    let id = simulation.bodies()[0].particles.ids()[611];
    simulation.bodies_mut()[0].particles.velocities_mut()[611] = Vec2::new(0.0, speed);
    let mut gone = 0;
    for _ in 0..5 {
        let removed = simulation.step(DT, Threads::Serial).unwrap();
        gone += removed.iter().filter(|removed| removed.id != id).count();
    }
    let (positions, velocities) = (positions(&mut simulation), velocities(&mut simulation));
    assert!(positions.iter().chain(&velocities).all(|vector| vector.is_finite()));
    let inside = |x: &Vec2| x.cmpge(Vec2::ZERO).all() && x.cmple(Vec2::new(2.1, 1.85)).all();
    let outside = positions.iter().filter(|x| !inside(x)).count();
    (gone, outside)
}

#[test]
fn particle_hurled_at_any_speed_leaves_only_finite_particles() {
    for speed in [1e2, 1e6, 1e12, 1e25, f32::MAX] {
        hurl(speed);
    }
}

#[test]
fn particle_hurled_at_huge_speed_leaves_the_others_in_place() {
    for speed in [1e12, f32::MAX] {
        let (gone, outside) = hurl(speed);
        assert_eq!(gone, 0, "removed at {speed:e}");
        assert!(outside <= 1, "{outside} outside at {speed:e}");
    }
}
