//! Water that comes out of sources and goes down drains.

use bevy_fluid::solver::drain::{DrainShape, FluidDrain};
use bevy_fluid::solver::emitter::EmitterSettings;
use bevy_fluid::solver::error::FluidError;
use bevy_fluid::solver::parallel::Threads;
use bevy_fluid::solver::sampling::BoundaryShape;
use bevy_fluid::solver::scene::{Scene, SceneBoundary, SceneEmitter, SceneFluid};
use bevy_fluid::solver::settings::FluidMethod;
use bevy_fluid::solver::simulation::Simulation;
use bevy_fluid::solver::time_step::TimeStep;
use bevy_fluid::solver::vector::Vector;
use bevy_math::{Vec2, Vec3};

use crate::support::{D, DT, R, WALL_GAP, positions, run, start, step, tank, velocities, void};

/// A scene of one fluid without particles, and a source.
fn source<V: Vector>(emitter: EmitterSettings<V>) -> Scene<V> {
    Scene {
        fluids: vec![SceneFluid::default()],
        emitters: vec![SceneEmitter { fluid: 0, emitter }],
        ..void()
    }
}

fn wall(points: [Vec2; 2]) -> SceneBoundary<Vec2> {
    let shape = BoundaryShape::Polyline { points: points.to_vec(), closed: false };
    SceneBoundary { shape, position: Vec2::ZERO, surface_velocity: Vec2::ZERO }
}

/// A pipe along x, ten particles wide, without gravity.
fn pipe(method: FluidMethod) -> Scene<Vec2> {
    let (speed, half) = (1.0, 5.0 * D);
    let emitter =
        EmitterSettings { direction: Vec2::X, radius: half, speed, ..EmitterSettings::default() };
    let edge = half + (WALL_GAP - 0.5) * D;
    let mut scene = Scene { gravity: Vec2::ZERO, method, ..source(emitter) };
    scene.wcsph.sound_speed = 20.0;
    scene.time_step = TimeStep::default();
    for y in [-edge, edge] {
        scene.boundaries.push(wall([Vec2::new(-0.1, y), Vec2::new(2.5, y)]));
    }
    let shape = DrainShape::HalfSpace { normal: Vec2::NEG_X };
    scene.drains.push(FluidDrain { shape, position: Vec2::new(2.0, 0.0) });
    scene
}

#[test]
fn what_flows_into_a_pipe_flows_out_of_it() {
    for method in FluidMethod::ALL {
        let mut simulation = start(&pipe(method));
        while simulation.time() < 3.0 {
            step(&mut simulation);
        }
        let (before, emitted) = (positions(&mut simulation).len(), emitted(&simulation));
        while simulation.time() < 5.0 {
            step(&mut simulation);
        }
        let came = (self::emitted(&simulation) - emitted) as f32;
        let went = came + before as f32 - positions(&mut simulation).len() as f32;
        let expected = 10.0 * 2.0 * 1.0 / D;
        assert!((came / expected - 1.0).abs() < 0.02, "{method:?}: {came} of {expected}");
        assert!((went / came - 1.0).abs() < 0.05, "{method:?}: {went} of {came}");
        let mean = velocities(&mut simulation).iter().map(|v| v.x).sum::<f32>() / before as f32;
        assert!((mean - 1.0).abs() < 0.05, "{method:?}: {mean} m/s");
    }
}

fn emitted<V: Vector>(simulation: &Simulation<V>) -> u64 {
    simulation.emitters().iter().map(|source| source.emitter.emitted()).sum()
}

/// Whatever weighs on its opening, a source in a pipe keeps its flow and pushes
/// nothing into what is there.
#[test]
fn a_source_under_water_fills_the_tank() {
    for method in FluidMethod::ALL {
        let mut scene = Scene { method, time_step: TimeStep::default(), ..tank(20, 12, 30) };
        scene.emitters.push(SceneEmitter {
            fluid: 0,
            emitter: EmitterSettings {
                position: Vec2::new(0.5, 0.06),
                direction: Vec2::Y,
                radius: 3.0 * D,
                speed: 0.4,
                ..EmitterSettings::default()
            },
        });
        for x in [0.5 - 3.6 * D, 0.5 + 3.6 * D] {
            scene.boundaries.push(wall([Vec2::new(x, 0.0), Vec2::new(x, 0.4)]));
        }
        let inside = |x: &Vec2| (x.x - 0.5).abs() < 4.7 * D && x.y < 0.4;
        let mut simulation = start(&scene);
        simulation.bodies_mut()[0].particles.clear();
        for x in scene.fluid_positions(0).unwrap().into_iter().filter(|x| !inside(x)) {
            simulation.bodies_mut()[0].particles.spawn(x, Vec2::ZERO).unwrap();
        }
        let before = positions(&mut simulation).len();
        while simulation.time() < 2.5 {
            step(&mut simulation);
        }
        let came = positions(&mut simulation).len() - before;
        assert_eq!(came as u64, emitted(&simulation));
        let expected = 6.0 * 0.4 * 2.5 / D;
        assert!((came as f32 / expected - 1.0).abs() < 0.1, "{method:?}: {came} of {expected}");
        let measures = simulation.world().measure();
        assert!(measures.max_density < 1120.0, "{method:?}: {}", measures.max_density);
        assert!(measures.mean_abs_density_error < 0.02, "{method:?}: {measures:?}");
        let size = Vec2::new(1.06, 2.16);
        assert_eq!(crate::support::outside(&mut simulation, size), 0, "{method:?}");
    }
}

#[test]
fn a_source_whose_tank_is_full_stops_by_itself() {
    let mut scene = tank(12, 12, 0);
    scene.emitters.push(SceneEmitter {
        fluid: 0,
        emitter: EmitterSettings {
            position: Vec2::new(0.33, 0.33),
            radius: 2.0 * D,
            ..EmitterSettings::default()
        },
    });
    let mut simulation = start(&scene);
    run(&mut simulation, 400);
    assert!(emitted(&simulation) < 20, "{} came", emitted(&simulation));
    let speeds = velocities(&mut simulation).into_iter().map(Vec2::length);
    assert!(speeds.fold(0.0, f32::max) < 5.0);
}

#[test]
fn sources_and_drains_take_no_search_of_their_own() {
    let mut simulation = start(&pipe(FluidMethod::Dfsph));
    run(&mut simulation, 500);
    assert!(positions(&mut simulation).len() > 300);
    assert_eq!(simulation.world().searches(), 501);
}

#[test]
fn a_drain_empties_a_tank_without_a_word_and_ids_stay() {
    let mut scene = tank(20, 20, 5);
    let shape = DrainShape::Box { half_size: Vec2::new(0.2, 0.1) };
    scene.drains.push(FluidDrain { shape, position: Vec2::new(0.5, 0.0) });
    let mut simulation = start(&scene);
    let ids = simulation.bodies()[0].particles.ids().to_vec();
    run(&mut simulation, 600);
    let particles = &simulation.bodies()[0].particles;
    assert!(particles.len() < 100, "{} are left", particles.len());
    assert!(particles.ids().iter().all(|id| ids.contains(id)));
}

#[test]
fn sources_and_drains_out_of_range_are_refused_by_name() {
    let name = |scene: &Scene<Vec3>| match Simulation::from_scene(scene) {
        Err(FluidError::Parameter { name, .. }) => name,
        other => panic!("{other:?}"),
    };
    let good = source(EmitterSettings::<Vec3>::default());
    let mut bad = good.clone();
    bad.emitters[0].fluid = 1;
    assert_eq!(name(&bad), "emitters[0].fluid");
    let mut bad = good.clone();
    bad.emitters[0].emitter.speed = -1.0;
    assert_eq!(name(&bad), "emitters[0].emitter.speed");
    let mut bad = good.clone();
    let shape = DrainShape::Ball { radius: 0.0 };
    bad.drains.push(FluidDrain { shape, position: Vec3::ZERO });
    assert_eq!(name(&bad), "drains[0].shape.radius");

    // Changed between two steps: refused as well, and nothing is done.
    let mut simulation = start(&good);
    run(&mut simulation, 5);
    simulation.emitters_mut()[0].emitter.settings.radius = 1e9;
    let error = simulation.step(DT, Threads::Serial).unwrap_err().to_string();
    assert!(error.starts_with("emitters[0].radius is"), "{error}");
    simulation.emitters_mut()[0].emitter.settings.radius = R;
    simulation.emitters_mut()[0].body = 3;
    let unknown = FluidError::UnknownBody { index: 3, count: 1 };
    assert_eq!(simulation.step(DT, Threads::Serial), Err(unknown));
    assert_eq!(simulation.steps(), 5);
    simulation.emitters_mut().clear();
    run(&mut simulation, 1);
}

/// The fountain of a scene file, after a second.
#[cfg(feature = "scene")]
fn fountain<V: Vector>(scene: Scene<V>, low: V, high: V) {
    let mut simulation = start(&scene);
    let mut highest = 0.0f32;
    while simulation.time() < 1.0 {
        step(&mut simulation);
        for x in positions(&mut simulation) {
            let inside = |axis: usize| {
                let (x, low, high) = (x.to_array(), low.to_array(), high.to_array());
                x[axis] > low[axis] && x[axis] < high[axis]
            };
            assert!((0..V::DIM).all(inside), "{x:?} left the basin at {} s", simulation.time());
            highest = highest.max(x.to_array()[1]);
        }
    }
    let (left, came) = (positions(&mut simulation).len() as f32, emitted(&simulation) as f32);
    let settings = &scene.emitters[0].emitter;
    let volume = (2.0 * scene.particle_radius).powi(V::DIM as i32);
    let expected = settings.full_flow(scene.particle_radius) / volume;
    assert!((came / expected - 1.0).abs() < 0.02, "{came} of {expected}");
    assert!(left < 0.98 * came, "the drain took nothing: {left} of {came}");
    // As high as a stone would fly.
    let fly = settings.speed * settings.speed / (2.0 * 9.81);
    assert!(highest > 0.8 * fly && highest < 1.5 * fly + 0.1, "{highest} m, {fly} m");
}

#[cfg(feature = "scene")]
#[test]
fn fountains_rise_and_fall_into_their_basins() {
    use bevy_fluid::solver::sampling::TriangleMesh;
    use bevy_fluid::solver::scene::SceneFile;

    let folder = format!("{}/assets/scenes", env!("CARGO_MANIFEST_DIR"));
    let read = |name: &str| {
        let text = std::fs::read_to_string(format!("{folder}/{name}")).unwrap();
        SceneFile::parse(name, &text).unwrap()
    };
    let SceneFile::Scene2d(scene) = read("fountain.ron") else { panic!("a scene in the plane") };
    // Particles touch the walls with their edge, and strike them harder than that.
    let r = scene.particle_radius;
    fountain(scene, Vec2::new(-1.0 - r, -r), Vec2::new(1.0 + r, 1.0 + r));
    let SceneFile::Scene3d(mut scene) = read("fountain_3d.ron") else { panic!("in space") };
    let mesh = |path: &str| {
        TriangleMesh::from_obj(path, &std::fs::read(format!("{folder}/{path}")).unwrap())
    };
    scene.load_meshes(mesh).unwrap();
    let (side, top) = (0.4 + scene.particle_radius, 0.7 + scene.particle_radius);
    fountain(scene, Vec3::new(-side, -r, -side), Vec3::new(side, top, side));
}
