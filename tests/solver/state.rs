//! A saved world goes on as if it had never been saved.

use bevy_fluid::solver::drain::{DrainShape, FluidDrain};
use bevy_fluid::solver::emitter::EmitterSettings;
use bevy_fluid::solver::parallel::Threads;
use bevy_fluid::solver::sampling::BoundaryShape;
use bevy_fluid::solver::scene::{Scene, SceneBoundary, SceneEmitter};
use bevy_fluid::solver::simulation::{Simulation, SimulationState};
use bevy_fluid::solver::time_step::TimeStep;
use bevy_fluid::solver::vector::Vector;
use bevy_math::{Vec2, Vec3};
use bevy_tasks::TaskPoolBuilder;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::support::{D, bits, block, container, run, start, tank, void};

fn through_json<V>(state: &SimulationState<V>) -> SimulationState<V>
where
    V: Vector + Serialize + DeserializeOwned,
{
    serde_json::from_str(&serde_json::to_string(state).unwrap()).unwrap()
}

/// 60 steps, then 40 more: uninterrupted, from a clone of the state, from its
/// text, and from its text on a pool.
fn assert_goes_on<V>(mut simulation: Simulation<V>)
where
    V: Vector + Serialize + DeserializeOwned,
{
    run(&mut simulation, 60);
    let state = simulation.state();
    let from_text = through_json(&state);
    assert!(from_text == state, "the text holds every bit of the state");
    assert!(Simulation::from_state(from_text.clone()).unwrap().state() == state);

    run(&mut simulation, 40);
    let expected = (bits(&mut simulation), simulation.time(), simulation.steps());
    let pool = TaskPoolBuilder::new().num_threads(3).build();
    for (name, state, threads) in [
        ("clone", state, Threads::Serial),
        ("text", from_text.clone(), Threads::Serial),
        ("text on a pool", from_text, Threads::Pool(&pool)),
    ] {
        let mut restored = Simulation::from_state(state).unwrap();
        for _ in 0..40 {
            restored.step(restored.next_step(), threads).unwrap();
        }
        let found = (bits(&mut restored), restored.time(), restored.steps());
        assert!(found == expected, "{name}");
        assert!(restored.state() == simulation.state(), "{name}");
    }
}

/// The scene with a second, heavier and thicker fluid dropped on the first.
fn two_fluids() -> Scene<Vec2> {
    let mut scene = Scene::dam_break(70, 60);
    let mut other = block(Vec2::new(0.5, 1.0), [20, 20, 1]);
    other.material.rest_density = 1300.0;
    other.material.viscosity = 0.2;
    other.velocity = Vec2::new(-3.0, -3.0);
    scene.fluids.push(other);
    scene
}

#[test]
fn saved_bodies_go_on_bit_for_bit() {
    let mut simulation = start(&two_fluids());
    // Slots that were freed and used again are part of the state.
    let particles = &mut simulation.bodies_mut()[0].particles;
    particles.retain(|index| index % 97 != 5);
    particles.spawn(Vec2::new(1.0, 4.0), Vec2::NEG_Y).unwrap();
    assert_goes_on(simulation);
}

#[test]
fn saved_world_with_an_adaptive_step_goes_on_bit_for_bit() {
    let mut scene = two_fluids();
    scene.time_step = TimeStep::default();
    scene.fluids[0].shapes.clear();
    assert_goes_on(start(&scene));
}

#[test]
fn saved_world_in_3d_goes_on_bit_for_bit() {
    let scene = Scene::<Vec3> {
        fluids: vec![block(Vec3::splat(0.5 * D), [18, 17, 15])],
        boundaries: vec![container(Vec3::new(30.0, 30.0, 16.0) * D)],
        ..void()
    };
    assert_goes_on(start(&scene));
}

#[test]
fn saved_world_with_a_source_and_a_drain_goes_on_bit_for_bit() {
    let mut scene = tank(20, 10, 20);
    let emitter = EmitterSettings {
        position: Vec2::new(0.3, 1.0),
        speed: 3.0,
        max_volume: Some(0.2),
        ..EmitterSettings::default()
    };
    scene.emitters.push(SceneEmitter { fluid: 0, emitter });
    let shape = DrainShape::Ball { radius: 0.1 };
    scene.drains.push(FluidDrain { shape, position: Vec2::new(0.9, 0.0) });
    assert_goes_on(start(&scene));
}

#[test]
fn saved_world_on_a_plane_goes_on_bit_for_bit() {
    let mut scene = Scene { fluids: vec![block(Vec2::ZERO, [20, 20, 1])], ..void() };
    scene.boundaries.push(SceneBoundary {
        shape: BoundaryShape::HalfSpace { normal: Vec2::new(0.2, 2.0) },
        position: Vec2::new(0.0, -0.1),
        surface_velocity: Vec2::X,
    });
    scene.fluids[0].material.boundary_viscosity = 0.01;
    assert_goes_on(start(&scene));
}

#[test]
fn ids_of_a_saved_world_name_the_same_particles() {
    let mut simulation = start(&tank(5, 5, 2));
    let particles = &mut simulation.bodies_mut()[0].particles;
    let ids = particles.ids().to_vec();
    particles.remove(ids[3]).unwrap();
    let mut restored = Simulation::from_state(through_json(&simulation.state())).unwrap();
    let particles = &mut restored.bodies_mut()[0].particles;
    assert!(particles.index_of(ids[3]).is_err());
    assert_eq!(particles.index_of(ids[4]), Ok(3));
    // A new one gets the same id in both worlds, and not the removed one's.
    let id = particles.spawn(Vec2::ONE, Vec2::ZERO).unwrap();
    assert_ne!(id, ids[3]);
    assert_eq!(simulation.bodies_mut()[0].particles.spawn(Vec2::ONE, Vec2::ZERO), Ok(id));
}

#[test]
fn warm_start_is_part_of_the_state() {
    let mut simulation = start(&tank(10, 20, 5));
    run(&mut simulation, 60);
    let mut cold = simulation.state();
    for result in cold.bodies[0].particles.results_mut() {
        *result = Default::default();
    }
    let mut cold = Simulation::from_state(cold).unwrap();
    run(&mut simulation, 1);
    run(&mut cold, 1);
    assert_ne!(bits(&mut simulation), bits(&mut cold));
}

#[test]
fn boundary_samples_that_are_not_finite_are_not_saved() {
    let mut simulation = start(&tank(5, 5, 2));
    let walls = simulation.state().boundary;
    let mut with_bad = walls.clone();
    with_bad.insert(3, Vec2::new(f32::NAN, 0.0));
    with_bad.push(Vec2::new(0.0, f32::INFINITY));
    simulation.set_boundary(with_bad);
    assert_eq!(simulation.world().boundary_len(), walls.len());
    assert_eq!(through_json(&simulation.state()).boundary, walls);
}

#[test]
fn damaged_state_is_refused() {
    let mut simulation = start(&tank(3, 3, 2));
    run(&mut simulation, 2);
    let whole = serde_json::to_value(simulation.state()).unwrap();
    let load = |json: Value| {
        serde_json::from_value::<SimulationState<Vec2>>(json)
            .map_err(|error| error.to_string())
            .and_then(|state| Simulation::from_state(state).map_err(|error| error.to_string()))
    };
    assert!(load(whole.clone()).is_ok());

    let damage = |edit: &dyn Fn(&mut Value)| {
        let mut json = whole.clone();
        edit(&mut json);
        load(json)
    };
    for field in ["positions", "velocities", "results", "ids", "slots"] {
        let shorter = damage(&|json| {
            json["bodies"][0]["particles"][field].as_array_mut().unwrap().pop();
        });
        assert!(shorter.is_err(), "{field} too short");
    }
    let aliased = damage(&|json| {
        let ids = json["bodies"][0]["particles"]["ids"].as_array_mut().unwrap();
        ids[1] = ids[0].clone();
    });
    assert!(aliased.is_err(), "two particles of one id");
    let free = damage(&|json| {
        json["bodies"][0]["particles"]["free"] = serde_json::json!([99]);
    });
    assert!(free.is_err(), "a free slot that does not exist");
    let radius = damage(&|json| json["particle_radius"] = (-1.0).into());
    assert!(radius.unwrap_err().starts_with("particle_radius is -1"));
    assert!(damage(&|json| json["wind"] = 1.into()).is_err(), "an unknown field");
}
