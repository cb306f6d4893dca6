//! Fans on water, cloth and smoke.

use bevy_fluid::solver::cloth::{AirFlow, Cloth, ClothMesh, Surroundings};
use bevy_fluid::solver::companions::{Companions, air_at};
use bevy_fluid::solver::fan::Fan;
use bevy_fluid::solver::parallel::Threads;
use bevy_fluid::solver::particles::FluidParticles;
use bevy_fluid::solver::settings::{FluidMaterial, WorldSettings};
use bevy_fluid::solver::simulation::{FluidBody, Simulation};
use bevy_fluid::solver::smoke::{Smoke, SmokeDomain, SmokeSettings, SmokeSource, SourceShape};
use bevy_fluid::solver::time_step::TimeStep;
use bevy_math::{Vec2, Vec3};

use crate::allocation::allocations;

const DT: f32 = 1.0 / 60.0;

/// A stream to the right from the origin.
fn fan() -> Fan<Vec2> {
    let (position, direction) = (Vec2::ZERO, Vec2::X * 3.0);
    Fan { position, direction, radius: 0.3, reach: 2.0, speed: 4.0, response: 5.0 }
}

/// A rope that hangs from a point.
fn rope(top: Vec2) -> Cloth<Vec2> {
    let points: Vec<Vec2> = (0..10).map(|k| top - Vec2::Y * (0.05 * k as f32)).collect();
    let mut rope = Cloth::new(ClothMesh::rope(&points).unwrap(), 0.005).unwrap();
    rope.pin(0).unwrap();
    rope
}

/// Mean place along x of a cloth, from where it is pinned.
fn offset(cloth: &Cloth<Vec2>) -> f32 {
    let positions = cloth.positions();
    positions.iter().map(|x| x.x - positions[0].x).sum::<f32>() / positions.len() as f32
}

fn still_domain(min: Vec2) -> Smoke<Vec2> {
    let domain = SmokeDomain { min, size: Vec2::splat(2.0), cells: [40, 40, 1] };
    Smoke::new(domain, SmokeSettings::default(), 1).unwrap()
}

#[test]
fn stream_is_strongest_in_the_middle_of_the_opening_and_ends_at_its_reach() {
    let fan = fan();
    assert_eq!(fan.stream(Vec2::ZERO), Vec2::X * 4.0);
    let half = (0.75f32 * 0.75).powi(2) * 4.0;
    let found = fan.stream(Vec2::new(1.0, 0.15));
    assert!((found.x - half).abs() < 1e-5 && found.y == 0.0, "{found} for {half}");
    for outside in [(-0.01, 0.0), (2.01, 0.0), (1.0, 0.31), (1.0, -0.31)] {
        assert_eq!(fan.stream(outside.into()), Vec2::ZERO, "{outside:?}");
        assert_eq!(fan.change(outside.into(), Vec2::Y, 0.1), Vec2::ZERO, "{outside:?}");
    }
    // As long as it blows it takes along to its speed, and never beyond.
    let mut v = Vec2::new(-3.0, 2.0);
    for _ in 0..1000 {
        v += fan.change(Vec2::ZERO, v, DT);
        assert!(v.x <= 4.0);
    }
    assert!(v.distance(Vec2::X * 4.0) < 1e-4, "{v}");
    let expected = 4.0 * (1.0 - (-5.0f32 * 0.1).exp());
    assert!((fan.change(Vec2::ZERO, Vec2::ZERO, 0.1).x - expected).abs() < 1e-5);
}

#[test]
fn every_parameter_changes_the_stream() {
    let at = Vec2::new(0.5, 0.1);
    let reference = fan();
    let edits: [fn(&mut Fan<Vec2>); 6] = [
        |fan| fan.position.y += 0.05,
        |fan| fan.direction.y += 0.5,
        |fan| fan.radius *= 1.5,
        |fan| fan.reach *= 1.5,
        |fan| fan.speed *= 1.5,
        |fan| fan.response *= 1.5,
    ];
    for (index, edit) in edits.into_iter().enumerate() {
        let mut edited = reference;
        edit(&mut edited);
        edited.validate().unwrap();
        assert_ne!(edited.change(at, Vec2::ZERO, DT), reference.change(at, Vec2::ZERO, DT));
        // The response is that of water and smoke alone.
        assert_eq!(edited.stream(at) == reference.stream(at), index == 5, "{index}");
    }
    // The length of the direction does not matter, however extreme.
    for length in [1e-30, 1e30] {
        let scaled = Fan { direction: Vec2::X * length, ..reference };
        scaled.validate().unwrap();
        assert_eq!(scaled.stream(at), reference.stream(at));
    }
}

#[test]
fn impossible_fans_are_refused_by_name() {
    let bad: [(fn(&mut Fan<Vec2>), &str); 10] = [
        (|fan| fan.position.x = f32::NAN, "fans[0].position is "),
        (|fan| fan.direction = Vec2::ZERO, "fans[0].direction is "),
        (|fan| fan.direction.y = f32::INFINITY, "fans[0].direction is "),
        (|fan| fan.radius = 0.0, "fans[0].radius is "),
        (|fan| fan.reach = -1.0, "fans[0].reach is "),
        (|fan| fan.reach = f32::NAN, "fans[0].reach is "),
        (|fan| fan.speed = -1.0, "fans[0].speed is "),
        (|fan| fan.speed = 2e4, "fans[0].speed is "),
        (|fan| fan.response = f32::NAN, "fans[0].response is "),
        (|fan| fan.response = 2e4, "fans[0].response is "),
    ];
    for (edit, name) in bad {
        let mut fan = fan();
        edit(&mut fan);
        let mut simulation = Simulation::<Vec2>::default();
        simulation.companions_mut().fans.push(fan);
        let mut smoke = still_domain(Vec2::ZERO);
        let errors = [
            simulation.step(DT, Threads::Serial).unwrap_err(),
            smoke.blow(&[fan], DT).unwrap_err(),
            smoke.advance_with(DT, &[fan], Threads::Serial).unwrap_err(),
            Companions::from_state(simulation.companions().state()).unwrap_err(),
        ];
        for error in errors.map(|error| error.to_string()) {
            assert!(error.starts_with(name), "{error}");
        }
        assert_eq!(simulation.time(), 0.0);
    }
    let mut smoke = still_domain(Vec2::ZERO);
    assert!(smoke.blow(&[fan()], 0.0).is_err());
    // Far away and huge is possible, and quick.
    let far = Fan { position: Vec2::splat(-1e30), radius: 1e20, reach: 1e20, ..fan() };
    smoke.blow(&[far], DT).unwrap();
    let huge = Fan { radius: 1e20, reach: 1e20, ..fan() };
    smoke.blow(&[huge], DT).unwrap();
    assert!(smoke.velocity_at(Vec2::ONE).x > 0.0);
}

#[test]
fn water_in_the_stream_approaches_its_speed() {
    let run = |fans: Vec<Fan<Vec2>>| {
        let settings = WorldSettings { gravity: Vec2::ZERO, ..WorldSettings::default() };
        let mut simulation = Simulation::new(settings, TimeStep::Fixed(DT)).unwrap();
        let mut particles = FluidParticles::new();
        // Far from each other.
        for x in [Vec2::new(0.1, 0.0), Vec2::new(0.1, 0.15), Vec2::new(-1.0, 0.0)] {
            particles.spawn(x, Vec2::ZERO).unwrap();
        }
        let material = FluidMaterial::default();
        simulation.add_body(FluidBody { material, particles }).unwrap();
        simulation.companions_mut().fans = fans;
        simulation.step(DT, Threads::Serial).unwrap();
        simulation.bodies()[0].particles.velocities().to_vec()
    };
    let expected = |y: f32| fan().change(Vec2::new(0.1, y), Vec2::ZERO, DT);
    let blown = run(vec![fan()]);
    assert!((blown[0] - expected(0.0)).length() < 1e-4, "{blown:?}");
    assert!((blown[1] - expected(0.15)).length() < 1e-4, "{blown:?}");
    assert_eq!(blown[2], Vec2::ZERO);
    assert!(blown[0].x > 0.2 && run(Vec::new()).iter().all(|v| *v == Vec2::ZERO));
}

#[test]
fn cloth_feels_the_stream_where_it_is() {
    let mut simulation = Simulation::<Vec2>::default();
    let companions = simulation.companions_mut();
    companions.fans.push(fan());
    companions.cloths = vec![rope(Vec2::new(0.5, 0.25)), rope(Vec2::new(0.5, 2.0))];
    for _ in 0..120 {
        simulation.step(DT, Threads::Serial).unwrap();
    }
    let companions = simulation.companions();
    let [blown, still] = [&companions.cloths[0], &companions.cloths[1]].map(offset);
    assert!(blown > 0.02, "{blown}");
    assert!(still.abs() < 1e-5, "{still}");
}

#[test]
fn smoke_in_the_stream_approaches_its_speed() {
    let mut smoke = still_domain(Vec2::new(-0.5, -1.0));
    smoke.blow(&[fan()], DT).unwrap();
    let middle = smoke.velocity_at(Vec2::new(0.1, 0.0));
    let expected = fan().change(Vec2::new(0.1, 0.0), Vec2::ZERO, DT);
    assert!((middle - expected).length() < 0.03 * expected.length(), "{middle} for {expected}");
    assert_eq!(smoke.velocity_at(Vec2::new(0.5, 0.6)), Vec2::ZERO);
    // It keeps blowing in a step after the other, and the air goes round.
    let mut still = still_domain(Vec2::new(-0.5, -1.0));
    let mut smoke = still_domain(Vec2::new(-0.5, -1.0));
    for _ in 0..120 {
        smoke.advance_with(DT, &[fan()], Threads::Serial).unwrap();
        still.advance(DT, Threads::Serial).unwrap();
    }
    let jet = smoke.velocity_at(Vec2::new(0.6, 0.0)).x;
    assert!((1.0..=4.0).contains(&jet), "{jet}");
    assert!(smoke.velocity_at(Vec2::new(0.6, 0.8)).x < -0.1);
    assert_eq!(still.stats().max_speed, 0.0);
}

/// A closed domain of smoke with a jet to the right in its middle.
fn jet() -> Smoke<Vec2> {
    let mut smoke = still_domain(Vec2::new(-1.0, -1.0));
    let source = SmokeSource {
        shape: SourceShape::Ball { radius: 0.3 },
        position: Vec2::ZERO,
        dye_rates: Vec::new(),
        temperature: None,
        velocity: Some(Vec2::X * 3.0),
    };
    smoke.set_sources([source]).unwrap();
    smoke
}

#[test]
fn cloth_hangs_in_the_air_of_the_smoke_around_it() {
    let run = |smokes: Vec<Smoke<Vec2>>| {
        let mut simulation = Simulation::<Vec2>::default();
        let companions = simulation.companions_mut();
        companions.smokes = smokes;
        companions.cloths = vec![rope(Vec2::new(0.1, 0.2)), rope(Vec2::new(4.0, 0.2))];
        let mut path = Vec::new();
        for _ in 0..120 {
            simulation.step(DT, Threads::Serial).unwrap();
            path.push(simulation.companions().cloths[0].positions()[9].x);
        }
        let companions = simulation.companions();
        (offset(&companions.cloths[0]), offset(&companions.cloths[1]), path)
    };
    let (inside, outside, path) = run(vec![jet()]);
    assert!(inside > 0.02, "{inside}");
    assert!(outside.abs() < 1e-5, "{outside}");
    let turns = path.windows(3).filter(|x| (x[1] - x[0]) * (x[2] - x[1]) < 0.0).count();
    assert!(turns > 1, "it does not flutter");
    assert!(run(Vec::new()).0.abs() < 1e-5);
    // Domains at the same place add up.
    let mut smoke = jet();
    smoke.step(DT, Threads::Serial).unwrap();
    let at = Vec2::new(0.1, 0.05);
    assert!(smoke.velocity_at(at).x > 0.5);
    assert_eq!(air_at([&smoke, &smoke], &[], at), smoke.velocity_at(at) * 2.0);
}

#[test]
fn fan_reaches_cloth_in_smoke_by_way_of_the_smoke_alone() {
    let smokes = [still_domain(Vec2::new(-0.5, -1.0))];
    let inside = Vec2::new(0.5, 0.0);
    assert_eq!(air_at(&smokes, &[fan()], inside), Vec2::ZERO);
    assert_eq!(air_at([], &[fan()], inside), fan().stream(inside));
    let outside = Vec2::new(1.8, 0.0);
    assert_eq!(air_at(&smokes, &[fan()], outside), fan().stream(outside));
}

#[test]
fn air_that_is_no_number_is_still_and_none_breaks_a_cloth() {
    let step = |flow: &(dyn Fn(Vec2) -> Vec2 + Sync)| {
        let mut cloth = rope(Vec2::ZERO);
        let around = Surroundings { flow: AirFlow::new(flow), ..Surroundings::default() };
        (0..60).for_each(|_| cloth.step(DT, &around).unwrap());
        assert!(cloth.positions().iter().all(|x| x.is_finite()));
        assert_eq!(cloth.stats().restored, 0);
        cloth.positions().to_vec()
    };
    let still = step(&|_| Vec2::ZERO);
    assert_eq!(step(&|_| Vec2::new(f32::NAN, 0.0)), still);
    assert_eq!(step(&|_| Vec2::new(0.0, f32::INFINITY)), still);
    assert_ne!(step(&|_| Vec2::new(1e30, -1e38)), still);
}

#[test]
fn step_with_fans_allocates_nothing() {
    let mut simulation = Simulation::<Vec2>::default();
    let companions = simulation.companions_mut();
    companions.fans.push(fan());
    companions.cloths.push(rope(Vec2::new(0.1, 0.2)));
    companions.smokes.push(jet());
    let mut step = || drop(simulation.step(DT, Threads::Serial).unwrap());
    (0..5).for_each(|_| step());
    assert_eq!(allocations(|| (0..3).for_each(|_| step())), 0);
}

#[test]
fn fan_in_space_blows_along_its_direction() {
    let direction = Vec3::new(1.0, 2.0, 2.0);
    let fan =
        Fan { position: Vec3::ONE, direction, radius: 0.3, reach: 2.0, speed: 3.0, response: 5.0 };
    let stream = fan.stream(Vec3::ONE + direction / 6.0);
    let expected = direction * (1.0f32 - 0.0625).powi(2);
    assert!(stream.distance(expected) < 1e-5, "{stream} for {expected}");
    let domain = SmokeDomain { min: Vec3::ZERO, size: Vec3::splat(3.0), cells: [24; 3] };
    let mut smoke = Smoke::new(domain, SmokeSettings::default(), 1).unwrap();
    smoke.blow(&[fan], DT).unwrap();
    let found = smoke.velocity_at(Vec3::ONE + direction * 0.05);
    assert!(found.normalize().dot(direction / 3.0) > 0.99 && found.length() > 0.1, "{found}");
}

#[cfg(feature = "scene")]
#[test]
fn scene_with_fans_steps_and_goes_on_from_its_state() {
    use bevy_fluid::solver::scene::SceneFile;
    let text = "Scene2d(
        particle_radius: 0.025,
        time_step: Fixed(0.005),
        fluids: [(shapes: [Block(min: (0.0, 0.0), size: (0.2, 0.2))])],
        fans: [(position: (-0.5, 0.1), direction: (1.0, 0.0), radius: 0.3, reach: 2.0, speed: 5.0)],
        smokes: [(domain: (min: (-1.0, -1.0), size: (2.0, 2.0), cells: (16, 16, 1)))],
    )";
    let SceneFile::Scene2d(scene) = SceneFile::parse("fan.ron", text).unwrap() else {
        panic!("a scene in the plane")
    };
    assert_eq!(scene.fans[0].response, 5.0);
    let mut simulation = Simulation::from_scene(&scene).unwrap();
    let step = |simulation: &mut Simulation<Vec2>| {
        (0..10).for_each(|_| assert!(simulation.step(0.005, Threads::Serial).unwrap().is_empty()));
    };
    step(&mut simulation);
    let state = simulation.state();
    let mut resumed = Simulation::from_state(state).unwrap();
    step(&mut simulation);
    step(&mut resumed);
    assert_eq!(simulation.state(), resumed.state());
    let drift = |simulation: &mut Simulation<Vec2>| {
        let velocities = simulation.bodies()[0].particles.velocities();
        velocities.iter().map(|v| v.x).sum::<f32>() / velocities.len() as f32
    };
    assert!(drift(&mut simulation) > 0.3, "{}", drift(&mut simulation));
    assert!(simulation.companions().smokes[0].stats().max_speed > 0.3);
    let bad = text.replace("radius: 0.3", "radius: 0.0");
    let error = SceneFile::parse("fan.ron", &bad).unwrap_err().to_string();
    assert!(error.starts_with("fan.ron: fans[0].radius is "), "{error}");
}
