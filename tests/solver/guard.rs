//! Fast water and fast walls: nothing crosses a wall, however long the step.

use bevy_fluid::solver::half_space::BoundaryPlane;
use bevy_fluid::solver::parallel::Threads;
use bevy_fluid::solver::periodic::Periodic;
use bevy_fluid::solver::scene::Scene;
use bevy_fluid::solver::settings::{FluidMaterial, FluidMethod};
use bevy_fluid::solver::simulation::Simulation;
use bevy_fluid::solver::sph::FluidWorld;
use bevy_fluid::solver::vector::Vector;
use bevy_math::{Vec2, Vec3};
use bevy_tasks::TaskPoolBuilder;

use crate::support::{
    D, DT, bits, block, body_of, container, positions, run, start, tank, velocities, void,
};

/// Speed of what is thrown, in m/s: three spacings a step.
const FAST: f32 = 30.0;

/// A block of water in the middle of a box of one layer, thrown at `velocity`.
fn thrown<V: Vector>(velocity: V, method: FluidMethod) -> (Simulation<V>, V) {
    let size = V::splat(16.0 * D);
    let mut water = block(V::splat(5.0 * D), [6, 6, 6]);
    water.velocity = velocity;
    let scene = Scene { method, fluids: vec![water], boundaries: vec![container(size)], ..void() };
    (start(&scene), size)
}

/// Whether all of a block that is thrown stays in its box in `steps` steps of `dt`.
fn stays<V: Vector>(velocity: V, method: FluidMethod, dt: f32, steps: usize) {
    let (mut simulation, size) = thrown(velocity, method);
    let (count, mut held) = (simulation.bodies()[0].particles.len(), 0);
    for _ in 0..steps {
        assert_eq!(simulation.step(dt, Threads::Serial), Ok(vec![]));
        held += simulation.world().stats().held_back;
    }
    let size = size.to_array();
    let inside = |x: &V| {
        let x = x.to_array();
        (0..V::DIM).all(|axis| x[axis] > 0.0 && x[axis] < size[axis])
    };
    let left = positions(&mut simulation).iter().filter(|x| !inside(x)).count();
    assert_eq!(left, 0, "{method:?} {velocity:?} {dt}: of {count}");
    assert!(held > 0, "{method:?} {velocity:?} {dt}");
}

#[test]
fn block_thrown_at_walls_edges_and_corners_stays_in_its_box() {
    for (method, steps) in
        [(FluidMethod::Dfsph, [DT, 2.0 * DT]), (FluidMethod::Wcsph, [0.001, 0.002])]
    {
        for dt in steps {
            for direction in [Vec2::X, Vec2::new(-0.6, 0.8), Vec2::new(0.2, -1.0)] {
                stays(direction * FAST, method, dt, (0.4 / dt) as usize);
            }
            for direction in [Vec3::Y, Vec3::new(0.6, 0.5, -0.6), Vec3::new(0.7, -0.7, 0.1)] {
                stays(direction * FAST, method, dt, (0.15 / dt) as usize);
            }
        }
    }
}

/// A floor of one layer from -20 to 20 spacings.
fn floor() -> Vec<Vec2> {
    (-20..=20).map(|k| Vec2::new(k as f32 * D, 0.0)).collect()
}

/// A lone particle over the floor, without gravity.
fn drop_over_floor(place: Vec2, velocity: Vec2) -> Simulation<Vec2> {
    let mut simulation = start(&Scene { gravity: Vec2::ZERO, ..void() });
    let mut body = body_of([place]);
    body.particles.velocities_mut()[0] = velocity;
    simulation.add_body(body).unwrap();
    simulation.set_boundary(floor());
    simulation
}

#[test]
fn drop_loses_the_part_of_its_momentum_that_is_across_the_wall_and_no_other() {
    for way in [2.0, 2.5, 3.0, 7.3] {
        let mut simulation = drop_over_floor(Vec2::new(0.0, way * D), Vec2::new(5.0, -FAST));
        for _ in 0..3 {
            simulation.step(DT, Threads::Serial).unwrap();
        }
        let (x, v) = (positions(&mut simulation)[0], velocities(&mut simulation)[0]);
        assert!(x.y > 0.6 * D && x.y < 1.5 * D, "{way}: {x}");
        assert!((v.x - 5.0).abs() < 0.5 && v.y.abs() < 1.0, "{way}: {v}");
        assert!(simulation.world().stats().held_back <= 1);
    }
}

#[test]
fn drop_that_flies_along_a_wall_or_off_it_is_left_alone() {
    for velocity in [Vec2::new(FAST, 0.0), Vec2::new(5.0, FAST)] {
        let place = Vec2::new(-8.0 * D, 1.1 * D);
        let mut simulation = drop_over_floor(place, velocity);
        run(&mut simulation, 1);
        assert_eq!(simulation.world().stats().held_back, 0);
        assert_eq!(positions(&mut simulation)[0], place + velocities(&mut simulation)[0] * DT);
    }
}

#[test]
fn water_at_rest_is_never_held_back() {
    for method in [FluidMethod::Dfsph, FluidMethod::Wcsph] {
        let mut scene = tank(16, 24, 5);
        scene.method = method;
        let dt = if method == FluidMethod::Dfsph { DT } else { 0.001 };
        let mut simulation = start(&scene);
        for step in 0..400 {
            simulation.step(dt, Threads::Serial).unwrap();
            let held = simulation.world().stats().held_back;
            assert_eq!(held, 0, "{method:?}, step {step}");
        }
    }
}

#[test]
fn plate_that_moves_a_spacing_a_step_sweeps_up_what_is_in_its_way() {
    let mut simulation = start(&Scene { gravity: Vec2::ZERO, ..void() });
    let drops = (0..40).map(|k| Vec2::new(1.5 + 1.3 * k as f32, 0.37 * (k % 9) as f32) * D);
    simulation.add_body(body_of(drops)).unwrap();
    let plate: Vec<Vec2> = (-40..=40).map(|k| Vec2::new(0.0, k as f32 * D)).collect();
    simulation.set_boundary(plate.clone());
    for step in 1..=40 {
        let way = Vec2::new(step as f32 * D, 0.0);
        let targets: Vec<Vec2> = plate.iter().map(|x| *x + way).collect();
        simulation.move_boundary(&targets, DT).unwrap();
        run(&mut simulation, 1);
        let behind = positions(&mut simulation).iter().filter(|x| x.x < way.x).count();
        assert_eq!(behind, 0, "step {step}");
    }
    assert_eq!(simulation.boundary()[0].x, 40.0 * D);
}

#[test]
fn belt_holds_back_as_a_wall_at_rest_does() {
    let impact = |belt: f32| {
        let mut simulation = drop_over_floor(Vec2::new(0.0, 2.5 * D), Vec2::new(0.0, -FAST));
        simulation.set_surface_velocities(&[Vec2::new(belt, 0.0); 41]);
        run(&mut simulation, 3);
        (positions(&mut simulation), velocities(&mut simulation))
    };
    assert_eq!(impact(0.0), impact(10.0));
}

#[test]
fn drop_stays_on_its_side_of_a_plane() {
    let mut scene = Scene { gravity: Vec2::ZERO, ..void() };
    scene.fluids.push(block(Vec2::splat(2.0 * D), [1, 1, 1]));
    scene.fluids[0].velocity = Vec2::new(2.0, -FAST);
    let mut simulation = start(&scene);
    let plane = BoundaryPlane { point: Vec2::ZERO, normal: Vec2::Y, surface_velocity: Vec2::ZERO };
    simulation.set_planes(&[plane]).unwrap();
    for _ in 0..3 {
        run(&mut simulation, 1);
        let (x, v) = (positions(&mut simulation)[0], velocities(&mut simulation)[0]);
        assert!(x.y >= 0.0 && (v.x - 2.0).abs() < 1e-5, "{x} {v}");
    }
    assert!(velocities(&mut simulation)[0].y > -1.0);
}

#[test]
fn wall_behind_a_periodic_border_holds_back_too() {
    let mut scene = Scene { gravity: Vec2::ZERO, ..void() };
    scene.periodic = Periodic { x: Some((0.0, 20.0 * D)), ..Periodic::NONE };
    let mut simulation = start(&scene);
    let mut body = body_of([Vec2::new(19.0 * D, 2.5 * D)]);
    body.particles.velocities_mut()[0] = Vec2::new(FAST, -FAST);
    simulation.add_body(body).unwrap();
    simulation.set_boundary((0..20).map(|k| Vec2::new((k as f32 + 0.5) * D, 0.0)).collect());
    for _ in 0..10 {
        run(&mut simulation, 1);
        let x = positions(&mut simulation)[0];
        assert!(x.y > 0.5 * D && x.x >= 0.0 && x.x < 20.0 * D, "{x}");
    }
    assert!(velocities(&mut simulation)[0].x > 0.8 * FAST);
}

#[test]
fn walls_hold_back_what_moves_twice_without_a_search() {
    let (mut simulation, size) = thrown(Vec2::new(FAST, 0.5 * FAST), FluidMethod::Dfsph);
    let mut world = FluidWorld::new(simulation.world().settings().clone()).unwrap();
    world.set_boundary(&simulation.state().boundary);
    let particles = simulation.bodies()[0].particles.clone();
    world.gather([(1, &FluidMaterial::default(), &particles)].into_iter()).unwrap();
    world.neighbor_search(Threads::Serial);
    for _ in 0..10 {
        world.integrate(DT, Threads::Serial);
    }
    let inside = |x: Vec2| x.cmpgt(Vec2::ZERO).all() && x.cmplt(size).all();
    assert!(world.particles().all(|particle| inside(particle.position)));
}

#[test]
fn particles_at_absurd_speeds_neither_hang_nor_cross_the_walls() {
    let (mut simulation, size) = thrown(Vec2::X * FAST, FluidMethod::Dfsph);
    let velocities = simulation.bodies_mut()[0].particles.velocities_mut();
    for (k, velocity) in velocities.iter_mut().enumerate() {
        *velocity = <Vec2 as Vector>::direction(k as u32) * 10f32.powi(1 + k as i32 % 4);
    }
    run(&mut simulation, 1);
    let inside = |x: &Vec2| x.cmpgt(Vec2::ZERO).all() && x.cmplt(size).all();
    assert!(positions(&mut simulation).iter().all(inside));
}

#[test]
fn impact_is_the_same_bits_on_any_number_of_threads() {
    let impact = |threads: Threads| {
        let size = Vec3::splat(24.0 * D);
        let mut water = block(Vec3::splat(3.0 * D), [17, 17, 17]);
        water.velocity = Vec3::new(FAST, -0.5 * FAST, 0.2 * FAST);
        let scene = Scene { fluids: vec![water], boundaries: vec![container(size)], ..void() };
        let mut simulation = start(&scene);
        let mut held = 0;
        for _ in 0..4 {
            simulation.step(DT, threads).unwrap();
            held += simulation.world().stats().held_back;
        }
        assert!(held > 100, "{held}");
        (bits(&mut simulation), held)
    };
    let pool = TaskPoolBuilder::new().num_threads(3).build();
    assert!(impact(Threads::Serial) == impact(Threads::Pool(&pool)));
}
