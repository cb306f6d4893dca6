//! Water on, between and under half-spaces, which have no samples.

use bevy_fluid::solver::half_space::BoundaryPlane;
use bevy_fluid::solver::parallel::Threads;
use bevy_fluid::solver::periodic::Periodic;
use bevy_fluid::solver::sampling::BoundaryShape;
use bevy_fluid::solver::scene::{Scene, SceneBoundary};
use bevy_fluid::solver::settings::{FluidMaterial, FluidMethod, NegativePressure};
use bevy_fluid::solver::simulation::Simulation;
use bevy_fluid::solver::time_step::TimeStep;
use bevy_fluid::solver::vector::Vector;
use bevy_math::{Vec2, Vec3};
use bevy_tasks::TaskPoolBuilder;

use crate::support::{D, DT, R, bits, block, positions, run, start, step, velocities, void};

fn plane<V: Vector>(position: V, normal: V) -> SceneBoundary<V> {
    let shape = BoundaryShape::HalfSpace { normal };
    SceneBoundary { shape, position, surface_velocity: V::ZERO }
}

fn axis<V: Vector>(axis: usize, length: f32) -> V {
    let mut components = [0.0; 3];
    components[axis] = length;
    V::from_array(components)
}

/// A block that fills the width of a vessel of half-spaces, which is open above.
fn vessel<V: Vector>(counts: [u32; 3], method: FluidMethod) -> Scene<V> {
    let mut scene = Scene { method, time_step: TimeStep::default(), ..void() };
    scene.fluids.push(block(V::ZERO, counts));
    for side in 0..V::DIM {
        scene.boundaries.push(plane(V::ZERO, axis(side, 3.0)));
        if side != 1 {
            let far = axis::<V>(side, counts[side] as f32 * D);
            scene.boundaries.push(plane(far, axis(side, -1.0)));
        }
    }
    scene
}

/// Nothing leaks, and the surface is where it was.
fn holds<V: Vector>(counts: [u32; 3], method: FluidMethod, seconds: f64) {
    let mut simulation = start(&vessel::<V>(counts, method));
    assert_eq!(simulation.world().boundary_len(), 0);
    while simulation.time() < seconds {
        step(&mut simulation);
    }
    let mut highest = 0.0f32;
    for x in positions(&mut simulation) {
        let x = x.to_array();
        highest = highest.max(x[1]);
        for side in 0..V::DIM {
            let width = counts[side] as f32 * D;
            let inside = x[side] > -R && (side == 1 || x[side] < width + R);
            assert!(inside, "{method:?}: {x:?} left through axis {side}");
        }
    }
    let height = counts[1] as f32 * D;
    assert!((highest + R - height).abs() < 0.06 * height, "{method:?}: {highest} of {height}");
    let measures = simulation.world().measure();
    let fastest = (9.81 * height).sqrt();
    assert!(measures.max_speed < 0.15 * fastest, "{method:?}: {measures:?}");
    assert!(measures.max_density < 1060.0, "{method:?}: {measures:?}");
}

#[test]
fn a_vessel_of_planes_holds_a_column() {
    for method in FluidMethod::ALL {
        holds::<Vec2>([12, 30, 1], method, 3.0);
        holds::<Vec3>([6, 10, 6], method, 1.5);
    }
    holds::<Vec2>([20, 100, 1], FluidMethod::Dfsph, 3.0);
}

#[test]
fn a_floor_without_end_costs_no_samples_and_keeps_what_falls_on_it() {
    for method in FluidMethod::ALL {
        let mut scene = Scene { method, time_step: TimeStep::default(), ..void() };
        scene.fluids.push(block(Vec3::new(1e3, 0.5, -0.2), [8, 8, 8]));
        scene.boundaries.push(plane(Vec3::new(-7.0, 0.1, 3.0), Vec3::Y));
        let mut simulation = start(&scene);
        while simulation.time() < 1.0 {
            step(&mut simulation);
        }
        let places = positions(&mut simulation);
        assert!(places.iter().all(|x| x.y > 0.1 - R), "{method:?}");
        let spread = places.iter().filter(|x| x.y < 0.2).count();
        assert!(spread > 400, "{method:?}: {spread} lie on the floor");
    }
}

#[test]
fn what_starts_in_the_solid_comes_out_gently() {
    for method in FluidMethod::ALL {
        let mut scene = Scene { method, time_step: TimeStep::default(), ..void() };
        scene.fluids.push(block(Vec2::new(0.0, -0.2), [10, 8, 1]));
        scene.boundaries.push(plane(Vec2::ZERO, Vec2::Y));
        let mut simulation = start(&scene);
        let mut fastest = 0.0f32;
        while simulation.time() < 2.0 {
            step(&mut simulation);
            fastest =
                velocities(&mut simulation).iter().map(|v| v.length()).fold(fastest, f32::max);
        }
        assert!(positions(&mut simulation).iter().all(|x| x.y > -R), "{method:?}");
        let limit = if method == FluidMethod::Dfsph { 10.0 } else { 40.0 };
        assert!(fastest < limit, "{method:?}: {fastest} m/s");
    }
}

/// Flow between a plane at rest and one that moves along itself, in the end:
/// mean error of the velocity over that of the plane.
fn couette(viscosity: f32, dt: f32, method: FluidMethod) -> f32 {
    let (rows, columns, speed) = (12, 12, 1.0);
    let width = rows as f32 * D;
    let mut scene = Scene { gravity: Vec2::ZERO, method, ..void() };
    scene.time_step = TimeStep::Fixed(dt);
    scene.periodic = Periodic { x: Some((0.0, columns as f32 * D)), ..Periodic::NONE };
    scene.dfsph.negative_pressure = NegativePressure::Allowed;
    scene.wcsph.negative_pressure = NegativePressure::Allowed;
    let mut water = block(Vec2::ZERO, [columns, rows, 1]);
    water.material.viscosity = 0.0;
    water.material.kinematic_viscosity = viscosity;
    water.material.boundary_viscosity = FluidMaterial::NO_SLIP * viscosity;
    scene.fluids.push(water);
    scene.boundaries.push(plane(Vec2::ZERO, Vec2::Y));
    let mut upper = plane(Vec2::new(0.0, width), Vec2::NEG_Y);
    upper.surface_velocity = Vec2::new(speed, 7.0);
    scene.boundaries.push(upper);
    let mut simulation = start(&scene);
    while simulation.time() < f64::from(width * width / viscosity) {
        step(&mut simulation);
    }
    let (x, v) = (positions(&mut simulation), velocities(&mut simulation));
    let error = |(x, v): (&Vec2, &Vec2)| (v.x - speed * x.y / width).abs();
    x.iter().zip(&v).map(error).sum::<f32>() / x.len() as f32
}

#[test]
fn a_plane_drags_fluid_as_far_as_its_viscosity_says() {
    // Explicit, then in steps that are too long for that.
    for (viscosity, dt) in [(0.05, 0.001), (2.0, 0.005)] {
        let error = couette(viscosity, dt, FluidMethod::Dfsph);
        assert!(error < 0.025, "{viscosity} m²/s: {error}");
    }
    let error = couette(0.05, 0.0005, FluidMethod::Wcsph);
    assert!(error < 0.025, "WCSPH: {error}");
}

#[test]
fn a_drop_hangs_from_a_plane_only_by_adhesion() {
    let lowest = |adhesion: f32| {
        let mut scene = void();
        let mut drop = block(Vec2::new(0.0, -4.0 * D), [6, 4, 1]);
        drop.material.adhesion = adhesion;
        drop.material.cohesion = 20.0;
        scene.fluids.push(drop);
        scene.boundaries.push(plane(Vec2::ZERO, Vec2::NEG_Y));
        scene.gravity.y = -0.5;
        let mut simulation = start(&scene);
        run(&mut simulation, 200);
        positions(&mut simulation).iter().map(|x| x.y).fold(f32::INFINITY, f32::min)
    };
    let (free, held) = (lowest(0.0), lowest(200.0));
    assert!(free < -0.55, "{free}");
    assert!(held > -0.4, "{held}");
}

#[test]
fn water_beside_planes_is_the_same_for_every_number_of_threads() {
    let scene = vessel::<Vec2>([60, 40, 1], FluidMethod::Dfsph);
    let mut alone = start(&scene);
    run(&mut alone, 20);
    for threads in [1, 3] {
        let pool = TaskPoolBuilder::new().num_threads(threads).build();
        let mut simulation = start(&scene);
        for _ in 0..20 {
            simulation.step(simulation.next_step(), Threads::Pool(&pool)).unwrap();
        }
        assert!(bits(&mut simulation) == bits(&mut alone), "{threads} threads");
    }
}

#[test]
fn impossible_planes_are_refused_by_name_and_the_old_ones_stay() {
    let mut scene = vessel::<Vec2>([4, 4, 1], FluidMethod::Dfsph);
    let mut simulation = start(&scene);
    let before = simulation.world().planes().to_vec();
    for bad in [Vec2::ZERO, Vec2::new(0.0, f32::NAN), Vec2::splat(f32::INFINITY)] {
        let shape = BoundaryShape::HalfSpace { normal: bad };
        assert!(shape.samples(D).unwrap_err().to_string().starts_with("normal is"));
        scene.boundaries[1].shape = shape;
        let error = Simulation::from_scene(&scene).unwrap_err().to_string();
        assert!(error.starts_with("boundaries[1].shape.normal is"), "{error}");
        let plane = BoundaryPlane { normal: bad, ..before[0] };
        let error = simulation.set_planes(&[before[0], plane]).unwrap_err().to_string();
        assert!(error.starts_with("planes[1].normal is"), "{error}");
        let mut state = simulation.state();
        state.planes.push(plane);
        assert!(Simulation::from_state(state).is_err());
    }
    for edit in [
        |plane: &mut BoundaryPlane<Vec2>| plane.point.x = f32::NAN,
        |plane: &mut BoundaryPlane<Vec2>| plane.surface_velocity.y = f32::INFINITY,
    ] {
        let mut plane = before[0];
        edit(&mut plane);
        assert!(simulation.set_planes(&[plane]).is_err());
    }
    assert_eq!(simulation.world().planes(), before);
    assert_eq!(simulation.step(DT, Threads::Serial), Ok(vec![]));
}
