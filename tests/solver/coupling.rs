//! Water and cloth push each other.

use bevy_fluid::solver::cloth::{Cloth, ClothMesh, ClothSettings};
use bevy_fluid::solver::parallel::Threads;
use bevy_fluid::solver::particles::FluidParticles;
use bevy_fluid::solver::settings::{FluidMaterial, FluidMethod, WorldSettings};
use bevy_fluid::solver::simulation::{FluidBody, Simulation};
use bevy_fluid::solver::time_step::TimeStep;
use bevy_fluid::solver::vector::Vector;
use bevy_math::{Vec2, Vec3};

const D: f32 = 0.02;

/// A block of water particles from `low` on, `count` along each axis.
fn block<V: Vector>(low: V, count: [i32; 3], velocity: V) -> FluidParticles<V> {
    let mut particles = FluidParticles::new();
    for k in 0..count[0] * count[1] * count[2] {
        let place = [k % count[0], k / count[0] % count[1], k / count[0] / count[1]];
        let offset = V::from_array(place.map(|n| n as f32 * D));
        particles.spawn(low + offset, velocity).unwrap();
    }
    particles
}

fn world<V: Vector>(method: FluidMethod, gravity: V, water: FluidParticles<V>) -> Simulation<V> {
    let settings =
        WorldSettings { method, gravity, particle_radius: 0.5 * D, ..WorldSettings::default() };
    let mut simulation = Simulation::new(settings, TimeStep::Fixed(0.004)).unwrap();
    // XSPH exchanges velocity, and with a membrane nothing.
    let material = FluidMaterial { viscosity: 0.0, ..FluidMaterial::default() };
    simulation.add_body(FluidBody { material, particles: water }).unwrap();
    simulation
}

/// A sheet of 0.5 m around the origin, level in space, of `mass` kg/m².
fn sheet(mass: f32) -> Cloth<Vec3> {
    let (n, step) = (21, 0.025);
    let corner = Vec3::new(-0.25, 0.0, -0.25);
    let mesh = ClothMesh::grid(corner, Vec3::X * step, Vec3::Z * step, n, n).unwrap();
    Cloth::new(mesh, mass * step * step).unwrap()
}

/// A rope of 0.5 m around the origin, level, of `mass` kg/m.
fn rope(mass: f32) -> Cloth<Vec2> {
    let points: Vec<Vec2> = (0..51).map(|k| Vec2::new(0.01 * k as f32 - 0.25, 0.0)).collect();
    Cloth::new(ClothMesh::rope(&points).unwrap(), mass * 0.01).unwrap()
}

/// A cloth that meets nothing but the water.
fn without_air<V: Vector>(mut cloth: Cloth<V>) -> Cloth<V> {
    let settings = ClothSettings { damping: 0.0, drag: 0.0, lift: 0.0, ..cloth.settings().clone() };
    cloth.set_settings(settings).unwrap();
    cloth
}

/// Momentum of water and cloth, and the sum of all |m v|.
fn momentum<V: Vector>(simulation: &mut Simulation<V>) -> (V, f32) {
    let mass = 1000.0 * D.powi(V::DIM as i32);
    let (mut sum, mut size) = (V::ZERO, 0.0);
    for &velocity in simulation.bodies()[0].particles.velocities() {
        sum += velocity * mass;
        size += velocity.length() * mass;
    }
    let cloth = &simulation.companions().cloths[0];
    for (&velocity, &mass) in cloth.velocities().iter().zip(cloth.masses()) {
        sum += velocity * mass;
        size += velocity.length() * mass;
    }
    (sum, size)
}

/// Throws water against a free cloth without gravity. Returns how far down the
/// water and the cloth got.
fn throw<V: Vector>(mut simulation: Simulation<V>, cloth: Cloth<V>, dt: f32) -> [f32; 2] {
    simulation.companions_mut().cloths.push(without_air(cloth));
    let (before, _) = momentum(&mut simulation);
    for _ in 0..(0.15 / dt) as u32 {
        simulation.step(dt, Threads::Serial).unwrap();
    }
    let (after, size) = momentum(&mut simulation);
    let change = (after - before).length();
    assert!(change < 1e-5 * size, "momentum changed by {change} of {size}");
    let height = |x: &V| x.to_array()[1];
    let lowest = |places: &[V]| places.iter().map(height).fold(f32::MAX, f32::min);
    let water = lowest(simulation.bodies()[0].particles.positions());
    [water, lowest(simulation.companions().cloths[0].positions())]
}

#[test]
fn water_thrown_on_a_free_cloth_takes_it_along_and_keeps_the_momentum() {
    for (method, dt) in [(FluidMethod::Dfsph, 0.004), (FluidMethod::Wcsph, 0.0005)] {
        for mass in [0.2, 5.0, 100.0] {
            let water = || block(Vec3::new(-0.11, 0.03, -0.11), [12, 6, 12], -Vec3::Y);
            let simulation = world(method, Vec3::ZERO, water());
            let [low, cloth] = throw(simulation, sheet(mass), dt);
            assert!(low > cloth - 0.5 * D, "{method:?}, {mass}: water {low}, cloth {cloth}");
            // Together they have the momentum that the water had.
            let expected = -0.15 * 120.0 / (120.0 + mass);
            assert!(cloth < 0.4 * expected, "{method:?}, {mass}: cloth {cloth}");

            let water = || block(Vec2::new(-0.11, 0.03), [12, 6, 1], -Vec2::Y);
            let simulation = world(method, Vec2::ZERO, water());
            let [low, cloth] = throw(simulation, rope(mass), dt);
            assert!(low > cloth - 0.5 * D, "2D {method:?}, {mass}: water {low}, cloth {cloth}");
            assert!(cloth < 0.4 * expected, "2D {method:?}, {mass}: cloth {cloth}");
        }
    }
}

/// Lowers water onto a cloth that is held at its rim, and waits. Returns how many
/// particles are below the cloth, and how many there are.
fn hold<V: Vector>(mut simulation: Simulation<V>, mut cloth: Cloth<V>) -> (usize, usize) {
    let rim = |x: V| {
        let [x, _, z] = x.to_array();
        x.abs() > 0.249 || (V::DIM == 3 && z.abs() > 0.249)
    };
    cloth.pin_where(|_, x| rim(x));
    let pins = cloth.pins().to_vec();
    simulation.companions_mut().cloths.push(cloth);
    for step in 1..=500 {
        // The rim comes together, so that the cloth sags.
        let closer = 1.0 - 0.2 * (step as f32 / 100.0).min(1.0);
        let cloth = &mut simulation.companions_mut().cloths[0];
        for pin in &pins {
            cloth.move_pin(pin.particle, pin.target * closer).unwrap();
        }
        simulation.step(0.004, Threads::Serial).unwrap();
    }
    let lowest = simulation.companions().cloths[0].bounds().0.to_array()[1];
    let water = simulation.bodies()[0].particles.positions();
    let below = water.iter().filter(|x| x.to_array()[1] < lowest - D);
    (below.count(), water.len())
}

#[test]
fn a_cloth_holds_many_times_its_weight_of_water() {
    let gravity = -9.81 * Vec3::Y;
    let water = block(Vec3::new(-0.09, 0.02, -0.09), [10, 4, 10], Vec3::ZERO);
    let (below, count) = hold(world(FluidMethod::Dfsph, gravity, water), sheet(1.0));
    assert!(below * 100 <= count, "{below} of {count} fell through the sheet");
    let gravity = -9.81 * Vec2::Y;
    let water = block(Vec2::new(-0.09, 0.02), [10, 4, 1], Vec2::ZERO);
    let (below, count) = hold(world(FluidMethod::Dfsph, gravity, water), rope(10.0));
    assert!(below * 20 <= count, "{below} of {count} fell through the rope");
}

#[test]
fn a_strip_in_a_stream_bends_with_it() {
    // A rope that hangs into a channel, and water that comes from the left.
    let tip = |speed: f32| {
        let water = block(Vec2::new(-0.45, -0.29), [20, 15, 1], Vec2::X * speed);
        let mut simulation = world(FluidMethod::Dfsph, Vec2::ZERO, water);
        let points: Vec<Vec2> = (0..26).map(|k| Vec2::new(0.0, -0.01 * k as f32)).collect();
        let mut rope = Cloth::new(ClothMesh::rope(&points).unwrap(), 0.01).unwrap();
        rope.pin(0).unwrap();
        simulation.companions_mut().cloths.push(rope);
        for _ in 0..100 {
            simulation.step(0.004, Threads::Serial).unwrap();
        }
        simulation.companions().cloths[0].positions()[25].x
    };
    assert_eq!(tip(0.0), 0.0);
    assert!(tip(1.0) > 0.05, "the tip moved {} m", tip(1.0));
}

#[test]
fn a_drop_below_a_cloth_falls() {
    let gravity = -9.81 * Vec3::Y;
    let water = block(Vec3::new(-0.03, -0.056, -0.03), [4, 2, 4], Vec3::ZERO);
    let mut simulation = world(FluidMethod::Dfsph, gravity, water);
    let mut cloth = sheet(1.0);
    cloth.pin_where(|_, _| true);
    simulation.companions_mut().cloths.push(cloth);
    for _ in 0..50 {
        simulation.step(0.004, Threads::Serial).unwrap();
    }
    let water = simulation.bodies()[0].particles.positions();
    let fallen = 0.5 * 9.81 * 0.2 * 0.2;
    let highest = water.iter().map(|x| x.y).fold(f32::MIN, f32::max);
    assert!(highest < -0.036 - 0.8 * fallen, "{highest}");
}

#[test]
fn a_cloth_away_from_water_is_as_if_there_were_none() {
    let run = |water: FluidParticles<Vec3>| {
        let mut simulation = world(FluidMethod::Dfsph, -9.81 * Vec3::Y, water);
        let mut cloth = sheet(1.0);
        cloth.pin(0).unwrap();
        simulation.companions_mut().cloths.push(cloth);
        for _ in 0..20 {
            simulation.step(0.004, Threads::Serial).unwrap();
        }
        simulation.companions().cloths[0].clone().state()
    };
    let far = block(Vec3::new(3.0, 0.0, 0.0), [4, 4, 4], Vec3::ZERO);
    assert_eq!(run(FluidParticles::new()), run(far));
}

#[test]
fn a_wet_cloth_goes_on_from_its_state_bit_for_bit() {
    let water = block(Vec3::new(-0.11, 0.02, -0.11), [12, 4, 12], Vec3::ZERO);
    let mut simulation = world(FluidMethod::Dfsph, -9.81 * Vec3::Y, water);
    let mut cloth = sheet(1.0);
    cloth.pin_where(|_, x| x.x.abs() > 0.249);
    simulation.companions_mut().cloths.push(cloth);
    let steps = |simulation: &mut Simulation<Vec3>| {
        (0..20).for_each(|_| drop(simulation.step(0.004, Threads::Serial).unwrap()));
    };
    steps(&mut simulation);
    let mut other = Simulation::from_state(simulation.state()).unwrap();
    steps(&mut simulation);
    steps(&mut other);
    assert_eq!(simulation.state(), other.state());
    assert!(simulation.companions().cloths[0].state().yielding.iter().any(|&part| part < 0.5));
}

#[test]
fn the_samples_of_a_cloth_are_nobodys_particles() {
    let water = block(Vec3::new(-0.11, 0.02, -0.11), [12, 4, 12], Vec3::ZERO);
    let count = water.len();
    let mut simulation = world(FluidMethod::Dfsph, -9.81 * Vec3::Y, water);
    simulation.companions_mut().cloths.push(sheet(1.0));
    for _ in 0..3 {
        simulation.step(0.004, Threads::Serial).unwrap();
    }
    let measures = simulation.world().measure();
    assert_eq!(simulation.world().len(), count);
    assert_eq!(simulation.world().particles().count(), count);
    assert!((measures.mean_density - 1000.0).abs() < 200.0, "{}", measures.mean_density);
    let falling = 0.5 * count as f32 * 0.008 * (9.81 * 0.012f32).powi(2);
    assert!((measures.kinetic_energy / falling - 1.0).abs() < 0.05);
    // The cloth is gone, and so are its samples.
    simulation.companions_mut().cloths.clear();
    simulation.step(0.004, Threads::Serial).unwrap();
    assert_eq!(simulation.world().len(), count);
}

#[cfg(feature = "scene")]
fn scene(name: &str) -> bevy_fluid::solver::scene::SceneFile {
    let path = format!("{}/assets/scenes/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    bevy_fluid::solver::scene::SceneFile::parse(name, &text).unwrap()
}

#[cfg(feature = "scene")]
fn play<V: Vector>(
    scene: &bevy_fluid::solver::scene::Scene<V>,
    seconds: f64,
) -> (Simulation<V>, usize) {
    let mut simulation = Simulation::from_scene(scene).unwrap();
    let count = simulation.bodies()[0].particles.len();
    while simulation.time() < seconds {
        simulation.step(simulation.next_step(), Threads::Serial).unwrap();
    }
    (simulation, count)
}

/// How many particles lie above a cloth within its rim.
#[cfg(feature = "scene")]
fn lie_in<V: Vector>(simulation: &mut Simulation<V>) -> usize {
    let water = simulation.bodies()[0].particles.positions().to_vec();
    let cloth = &simulation.companions().cloths[0];
    let (low, high) = cloth.bounds();
    let level = |x: V| x - V::from_array([0.0, x.to_array()[1], 0.0]);
    let lies = |&x: &V| {
        let apart = |p: &&V| level(**p - x).length_squared();
        let below = cloth.positions().iter().min_by(|p, q| apart(p).total_cmp(&apart(q)));
        let within = level(x.max(low).min(high) - x) == V::ZERO;
        within && x.to_array()[1] > below.unwrap().to_array()[1] - D
    };
    water.iter().filter(|&x| lies(x)).count()
}

#[cfg(feature = "scene")]
#[test]
fn water_stays_in_the_sagging_cloths_of_the_scenes() {
    use bevy_fluid::solver::scene::SceneFile;

    let SceneFile::Scene2d(rope) = scene("wet_rope.ron") else { panic!("a scene in the plane") };
    let (mut simulation, count) = play(&rope, 2.0);
    let held = lie_in(&mut simulation);
    assert!(held * 10 >= count * 9, "the rope holds {held} of {count}");
    let SceneFile::Scene3d(sheet) = scene("wet_sheet_3d.ron") else { panic!("in space") };
    // What gets out does so while the water still swings.
    let (mut simulation, count) = play(&sheet, 0.7);
    let held = lie_in(&mut simulation);
    assert!(held * 10 >= count * 9, "the sheet holds {held} of {count}");
}

#[cfg(feature = "scene")]
#[test]
fn the_flags_of_the_scenes_bend_with_the_stream() {
    use bevy_fluid::solver::scene::SceneFile;

    let SceneFile::Scene2d(flag) = scene("flag.ron") else { panic!("a scene in the plane") };
    let (simulation, _) = play(&flag, 1.0);
    let cloth = &simulation.companions().cloths[0];
    let tip = cloth.positions()[cloth.len() - 1];
    assert!(tip.x > 0.1, "the strip's end is at {tip}");
    let SceneFile::Scene3d(flag) = scene("flag_3d.ron") else { panic!("in space") };
    let (simulation, _) = play(&flag, 0.5);
    let cloth = &simulation.companions().cloths[0];
    // 0.2 m long, it starts across the stream.
    let tip = cloth.positions()[cloth.len() - 1];
    assert!(tip.x > -0.1 && tip.z < 0.05, "the flag's end is at {tip}");
}
