//! One neighbour search a step, and never a stale list.

use bevy_fluid::solver::parallel::Threads;
use bevy_fluid::solver::simulation::Simulation;
use bevy_math::Vec2;

use crate::support::{D, R, bits, positions, run, start, step, tank, world_of};

/// Searches that one step takes after `edit`.
fn searches_after(edit: impl FnOnce(&mut Simulation<Vec2>)) -> u64 {
    let mut simulation = start(&tank(10, 10, 5));
    run(&mut simulation, 3);
    let before = simulation.world().searches();
    edit(&mut simulation);
    step(&mut simulation);
    simulation.world().searches() - before
}

#[test]
fn steady_state_searches_once_a_step() {
    let mut simulation = start(&tank(10, 10, 5));
    run(&mut simulation, 20);
    // One at the start, which no step has left a list for.
    assert_eq!(simulation.world().searches(), 21);
}

#[test]
fn looking_at_the_world_costs_no_search() {
    assert_eq!(searches_after(|_| ()), 1);
    let look = |simulation: &mut Simulation<Vec2>| {
        assert!(!simulation.bodies().is_empty());
        assert!(!simulation.bodies_mut().is_empty());
        let _ = simulation.world().measure();
        simulation.state();
        simulation.prepare(Threads::Serial).unwrap();
    };
    assert_eq!(searches_after(look), 1);
}

#[test]
fn edits_that_move_nothing_cost_no_search() {
    let velocity = |simulation: &mut Simulation<Vec2>| {
        simulation.bodies_mut()[0].particles.velocities_mut()[7] += Vec2::X;
    };
    assert_eq!(searches_after(velocity), 1);
    let gravity = |simulation: &mut Simulation<Vec2>| {
        let settings = simulation.world().settings().clone();
        let settings = bevy_fluid::solver::settings::WorldSettings { gravity: Vec2::X, ..settings };
        simulation.set_settings(settings).unwrap();
    };
    assert_eq!(searches_after(gravity), 1);
    let same_walls = |simulation: &mut Simulation<Vec2>| {
        let walls = simulation.state().boundary;
        simulation.set_boundary(walls);
    };
    assert_eq!(searches_after(same_walls), 1);
}

#[test]
fn each_kind_of_edit_costs_exactly_one_search_more() {
    type Edit = fn(&mut Simulation<Vec2>);
    let edits: [(&str, Edit); 8] = [
        ("position", |simulation| {
            simulation.bodies_mut()[0].particles.positions_mut()[7].y += 1e-5;
        }),
        ("positions of all", |simulation| {
            let particles = &mut simulation.bodies_mut()[0].particles;
            particles.positions_mut().iter_mut().for_each(|x| x.y += 1e-5);
        }),
        ("spawn", |simulation| {
            let particles = &mut simulation.bodies_mut()[0].particles;
            particles.spawn(Vec2::splat(5.0 * D), Vec2::ZERO).unwrap();
        }),
        ("remove", |simulation| {
            let particles = &mut simulation.bodies_mut()[0].particles;
            particles.remove(particles.ids()[50]).unwrap();
        }),
        ("body", |simulation| {
            simulation.add_body(crate::support::body_of([Vec2::splat(0.3)])).unwrap();
        }),
        ("rest density", |simulation| {
            simulation.bodies_mut()[0].material.rest_density = 900.0;
        }),
        ("walls", |simulation| {
            let mut walls = simulation.state().boundary;
            walls.pop();
            simulation.set_boundary(walls);
        }),
        ("particle radius", |simulation| {
            let mut settings = simulation.world().settings().clone();
            settings.particle_radius = 0.99 * R;
            simulation.set_settings(settings).unwrap();
        }),
    ];
    for (name, edit) in edits {
        assert_eq!(searches_after(edit), 2, "{name}");
    }
}

#[test]
fn densities_after_an_edit_are_those_of_a_fresh_world() {
    let mut simulation = start(&tank(20, 20, 5));
    run(&mut simulation, 20);
    let particles = &mut simulation.bodies_mut()[0].particles;
    // Into others, past cells.
    let target = particles.positions()[45];
    for index in [0, 133, 399] {
        particles.positions_mut()[index] = target + Vec2::splat(1e-4 * (1 + index) as f32);
    }
    simulation.prepare(Threads::Serial).unwrap();

    let mut fresh = world_of(Vec2::ZERO, positions(&mut simulation));
    fresh.set_boundary(simulation.state().boundary);
    fresh.prepare(Threads::Serial).unwrap();
    let density = |simulation: &mut Simulation<Vec2>| -> Vec<[u32; 2]> {
        bits(simulation).iter().map(|bits| [bits[6], bits[9]]).collect()
    };
    let edited = density(&mut simulation);
    assert_eq!(edited, density(&mut fresh));
    // Densities beside the moved particles did change.
    let density = f32::from_bits(edited[0][0]);
    assert!(density > 1200.0, "{density}");
}

#[test]
fn step_after_an_edit_equals_the_step_of_a_restored_state() {
    let mut simulation = start(&tank(20, 20, 5));
    run(&mut simulation, 20);
    simulation.bodies_mut()[0].particles.positions_mut()[200] += Vec2::new(0.01, 0.2);
    let mut fresh = Simulation::from_state(simulation.state()).unwrap();
    run(&mut simulation, 3);
    run(&mut fresh, 3);
    assert_eq!(bits(&mut simulation), bits(&mut fresh));
}
