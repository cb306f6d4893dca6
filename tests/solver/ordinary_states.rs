//! States that look odd and are ordinary: nothing, one, many at one place, far away.

use bevy_fluid::solver::parallel::Threads;
use bevy_fluid::solver::scene::Scene;
use bevy_fluid::solver::settings::FluidMethod;
use bevy_fluid::solver::simulation::Simulation;
use bevy_fluid::solver::sph::Measures;
use bevy_fluid::solver::vector::Vector;
use bevy_math::{Vec2, Vec3};

use crate::support::{
    D, DT, G, H, bits, body_of, container, mean_velocity, positions, run, start, step, tank,
    velocities, void, world_of,
};

const DOWN: Vec2 = Vec2::new(0.0, -G);

fn assert_finite<V: Vector>(simulation: &mut Simulation<V>) {
    let vectors = [positions(simulation), velocities(simulation)].concat();
    assert!(vectors.iter().all(|vector| vector.is_finite()));
}

#[test]
fn world_without_particles_has_figures_without_nan() {
    let mut empty = start(&void::<Vec2>());
    let mut no_particles = world_of::<Vec2>(DOWN, []);
    let mut walls_only = start(&Scene { boundaries: vec![container(Vec2::ONE)], ..void::<Vec2>() });
    for simulation in [&mut empty, &mut no_particles, &mut walls_only] {
        run(simulation, 5);
        assert_eq!(simulation.world().measure(), Measures::default());
        let stats = simulation.world().stats();
        assert_eq!((stats.density_iterations, stats.density_error), (0, 0.0));
        assert_eq!(simulation.steps(), 5);
        assert!(simulation.next_step() > 0.0);
    }
    assert_eq!(walls_only.world().boundary_len(), 80);
    // The same world takes particles later.
    walls_only.add_body(body_of([Vec2::splat(0.5)])).unwrap();
    step(&mut walls_only);
    assert_eq!(walls_only.world().len(), 1);
}

#[test]
fn lone_particle_falls_by_gravity_and_nothing_else() {
    let start = Vec3::new(1.0, 200.0, -3.0);
    let gravity = Vec3::new(0.3, -G, 0.1);
    let mut simulation = world_of(gravity, [start]);
    let (mut position, mut velocity) = (start, Vec3::ZERO);
    for _ in 0..500 {
        step(&mut simulation);
        velocity += gravity * DT;
        position += velocity * DT;
    }
    assert_eq!(positions(&mut simulation), [position]);
    assert_eq!(velocities(&mut simulation), [velocity]);
}

#[test]
fn particle_without_neighbors_is_in_free_fall_in_a_splash() {
    let mut scene = tank(10, 20, 40);
    scene.fluids[0].velocity = Vec2::new(8.0, 4.0);
    let mut simulation = start(&scene);
    let mut seen = 0;
    for _ in 0..250 {
        let alone = |simulation: &mut Simulation<Vec2>| -> Vec<bool> {
            let results = simulation.bodies()[0].particles.results();
            results.iter().map(|result| result.neighbors == 0).collect()
        };
        let (before, old) = (alone(&mut simulation), velocities(&mut simulation));
        step(&mut simulation);
        let (after, new) = (alone(&mut simulation), velocities(&mut simulation));
        // The results of the start are not filled in before the first step.
        let lonely = (0..old.len()).filter(|&i| simulation.steps() > 1 && before[i] && after[i]);
        for i in lonely {
            assert_eq!(new[i], old[i] + DOWN * DT, "particle {i}");
            seen += 1;
        }
    }
    assert!(seen > 100, "{seen} lonely particles seen");
}

#[test]
fn coincident_pair_stays_finite_and_keeps_its_momentum() {
    let mut simulation = world_of(DOWN, [Vec2::ZERO; 2]);
    run(&mut simulation, 120);
    assert_finite(&mut simulation);
    let [x, y, _] = mean_velocity(&mut simulation);
    assert!(x.abs() < 1e-6 && (y / f64::from(-120.0 * G * DT) - 1.0).abs() < 1e-5, "{x} {y}");
}

/// Distances in spacings between each particle and the nearest other one.
fn gaps(places: &[Vec2]) -> Vec<f32> {
    let gap = |i: usize| {
        let others = places.iter().enumerate().filter(|&(j, _)| j != i);
        others.map(|(_, x)| (*x - places[i]).length() / D).fold(f32::INFINITY, f32::min)
    };
    (0..places.len()).map(gap).collect()
}

#[test]
fn fifty_coincident_particles_spread_and_keep_their_momentum() {
    let mut simulation = world_of(DOWN, [Vec2::ZERO; 50]);
    step(&mut simulation);
    let speed = f64::from(simulation.world().max_speed());
    let [x, y, _] = mean_velocity(&mut simulation);
    // Rounding only: the sum of 50 rounded velocities, the largest of `speed`.
    let rounding = 1e-6 * speed;
    assert!(x.abs() < rounding && (y + f64::from(G * DT)).abs() < rounding, "{x} {y} {speed}");
    run(&mut simulation, 119);
    assert_finite(&mut simulation);
    let apart = gaps(&positions(&mut simulation)).iter().filter(|&&gap| gap > 0.5).count();
    // Two at one place are below the rest density, so the last pairs may stay.
    assert!(apart >= 24, "{apart} particles are farther than a radius from the others");
}

#[test]
fn overlaps_are_pushed_apart_gently() {
    let wall: Vec<Vec2> = (-10..=10).map(|k| Vec2::new(k as f32 * D, 0.0)).collect();
    let mut on_wall = world_of(Vec2::ZERO, [wall[10]]);
    on_wall.set_boundary(wall);
    let mut crowd = world_of(Vec2::ZERO, [Vec2::ZERO; 50]);
    for (name, simulation) in [("crowd", &mut crowd), ("on a wall", &mut on_wall)] {
        run(simulation, 120);
        let speed = simulation.world().max_speed();
        // 148 km/s and 25 m/s.
        assert!(speed < D / DT, "{name}: {speed} m/s");
    }
}

#[test]
fn coincident_pair_comes_apart() {
    let mut simulation = world_of(Vec2::ZERO, [Vec2::ZERO; 2]);
    run(&mut simulation, 240);
    let gap = gaps(&positions(&mut simulation))[0];
    assert!(gap > 0.8, "{gap} spacings");
}

/// A pair of particles of 1000 and 500 kg/m³, the second at `offset` from the
/// first, parts and keeps its centre of mass and its velocity.
fn parts_about_its_center_of_mass<V: Vector>(offset: V, method: FluidMethod) {
    let velocity = V::from_array([0.02, -0.01, 0.03]);
    let mut simulation = start(&Scene::<V> { method, ..void() });
    let mut settings = simulation.world().settings().clone();
    settings.gravity = V::ZERO;
    simulation.set_settings(settings).unwrap();
    for (place, rest_density) in [(V::ZERO, 1000.0), (offset, 500.0)] {
        let mut body = body_of([place]);
        body.material.rest_density = rest_density;
        body.particles.velocities_mut()[0] = velocity;
        simulation.add_body(body).unwrap();
    }
    run(&mut simulation, 20);
    let [heavy, light] = positions(&mut simulation)[..] else { panic!("two") };
    let gap = (light - heavy).length();
    assert!((gap / D - 1.0).abs() < 0.02, "{gap} m");
    let center = (heavy * 2.0 + light) * (1.0 / 3.0);
    let expected = offset * (1.0 / 3.0) + velocity * (20.0 * DT);
    assert!((center - expected).length() < 1e-5 * D, "{center:?} {expected:?}");
    for now in velocities(&mut simulation) {
        assert!((now - velocity).length() < 1e-6, "{now:?}");
    }
}

#[test]
fn coincident_pair_of_different_masses_parts_about_its_center_of_mass() {
    for method in [FluidMethod::Dfsph, FluidMethod::Wcsph] {
        for apart in [0.0, 8e-4 * D] {
            parts_about_its_center_of_mass(Vec2::new(apart, 0.0), method);
            parts_about_its_center_of_mass(Vec3::new(0.0, apart, 0.0), method);
        }
    }
}

#[test]
fn coincident_pair_beside_a_wall_parts_on_its_side() {
    let wall: Vec<Vec2> = (-10..=10).map(|k| Vec2::new(k as f32 * D, 0.0)).collect();
    for k in 0..20 {
        // Ids decide on the direction.
        let place = Vec2::new(0.1 * k as f32 * D, 0.3 * D);
        let idle = (0..k).map(|far| Vec2::new(100.0 + far as f32, 0.0));
        let mut simulation = world_of(Vec2::ZERO, idle.chain([place; 2]));
        simulation.set_boundary(wall.clone());
        run(&mut simulation, 1);
        let pair = positions(&mut simulation).split_off(k);
        assert!(pair.iter().all(|x| x.y > 0.0), "{k}: {pair:?}");
    }
}

#[test]
fn coincident_particles_inside_water_come_apart() {
    let mut simulation = start(&tank(12, 12, 10));
    run(&mut simulation, 200);
    let particles = &mut simulation.bodies_mut()[0].particles;
    let place = particles.positions()[6 * 12 + 6];
    particles.positions_mut()[0] = place;
    let mut speed = 0.0f32;
    for _ in 0..40 {
        step(&mut simulation);
        speed = speed.max(simulation.world().max_speed());
    }
    let gap = gaps(&positions(&mut simulation))[0];
    assert!(gap > 0.6, "{gap} spacings");
    assert!(speed < D / DT, "{speed} m/s");
}

#[test]
fn particle_on_a_boundary_sample_is_pushed_off_it() {
    let wall: Vec<Vec2> = (-10..=10).map(|k| Vec2::new(k as f32 * D, 0.0)).collect();
    let mut simulation = world_of(Vec2::ZERO, [wall[10]]);
    simulation.set_boundary(wall);
    run(&mut simulation, 60);
    assert_finite(&mut simulation);
    // A wall of one layer has no inner side, so either will do.
    let place = positions(&mut simulation)[0];
    assert!(place.y.abs() > 0.9 * D && place.y.abs() > place.x.abs(), "{place}");
}

#[test]
fn crowd_at_one_point_with_one_beside_it_does_not_stop_the_world() {
    let mut places = vec![Vec2::ZERO; 5000];
    places.push(Vec2::new(0.4 * H, 0.0));
    let mut simulation = world_of(DOWN, places);
    simulation.prepare(Threads::Serial).unwrap();
    // No cap on neighbours: the crowd and the one see all others.
    let results = simulation.bodies()[0].particles.results();
    assert!(results.iter().all(|result| result.neighbors == 5000));
    run(&mut simulation, 3);
    assert_finite(&mut simulation);
}

#[test]
fn particles_far_away_leave_the_others_alone() {
    let mut near = start(&tank(12, 12, 4));
    let mut with_far = start(&tank(12, 12, 4));
    let far = [
        Vec2::splat(1e6 * H),
        Vec2::splat(-1e6 * H),
        Vec2::new(f32::MAX, 0.0),
        Vec2::new(0.5, f32::MIN),
        Vec2::new(-1e30, 1e30),
    ];
    for place in far {
        with_far.bodies_mut()[0].particles.spawn(place, Vec2::ZERO).unwrap();
    }
    // The same number of particles, so that the mean errors are the same.
    for k in 0..far.len() {
        let place = Vec2::new(50.0 + k as f32, 50.0);
        near.bodies_mut()[0].particles.spawn(place, Vec2::ZERO).unwrap();
    }
    run(&mut near, 30);
    run(&mut with_far, 30);
    let (near, with_far) = (bits(&mut near), bits(&mut with_far));
    assert_eq!(near[..144], with_far[..144]);
    assert!(with_far[144..].iter().all(|bits| bits[9] == 0), "they have no neighbours");
}

#[test]
fn body_of_any_place_in_the_order_may_be_empty() {
    let mut simulation = start(&tank(6, 6, 4));
    simulation.bodies_mut().insert(0, body_of([]));
    simulation.add_body(body_of([])).unwrap();
    let mut plain = start(&tank(6, 6, 4));
    run(&mut simulation, 10);
    run(&mut plain, 10);
    assert_eq!(bits(&mut simulation), bits(&mut plain));
}

#[test]
fn pool_serves_a_world_smaller_than_its_threads() {
    let pool = bevy_tasks::TaskPoolBuilder::new().num_threads(4).build();
    for count in [0, 1, 3] {
        let mut simulation = world_of(DOWN, (0..count).map(|k| Vec2::splat(k as f32)));
        simulation.step(DT, Threads::Pool(&pool)).unwrap();
        assert_eq!(simulation.world().len(), count);
    }
}
