//! Particles and bodies come and go at any time, and the others do not notice.

use bevy_fluid::solver::error::FluidError;
use bevy_fluid::solver::parallel::Threads;
use bevy_fluid::solver::particles::{FluidParticles, ParticleId};
use bevy_fluid::solver::settings::{DensityCorrection, FluidMaterial};
use bevy_fluid::solver::simulation::Simulation;
use bevy_fluid::solver::sph::FluidWorld;
use bevy_math::Vec2;

use crate::support::{
    D, DT, G, Lcg, bits, body_of, positions, run, start, step, tank, velocities, world_of,
};

fn assert_arrays_fit(particles: &FluidParticles<Vec2>) {
    let len = particles.len();
    assert_eq!(particles.ids().len(), len);
    assert_eq!(particles.positions().len(), len);
    assert_eq!(particles.velocities().len(), len);
    assert_eq!(particles.results().len(), len);
    for (index, &id) in particles.ids().iter().enumerate() {
        assert_eq!(particles.index_of(id), Ok(index));
    }
}

#[test]
fn removing_any_particle_during_a_run_leaves_the_others_as_they_are() {
    type Which = fn(usize, usize) -> bool;
    let cases: [(&str, Which); 5] = [
        ("first", |index, _| index == 0),
        ("last", |index, len| index + 1 == len),
        ("every other", |index, _| index % 2 == 0),
        ("all", |_, _| true),
        ("none", |_, _| false),
    ];
    for (name, doomed) in cases {
        let mut simulation = start(&tank(12, 10, 5));
        run(&mut simulation, 20);
        let before = bits(&mut simulation);
        let len = before.len();
        let particles = &mut simulation.bodies_mut()[0].particles;
        particles.retain(|index| !doomed(index, len));
        let expected: Vec<_> =
            (0..len).filter(|&index| !doomed(index, len)).map(|index| before[index]).collect();
        assert_eq!(bits(&mut simulation), expected, "{name}");
        run(&mut simulation, 5);
        assert_eq!(simulation.world().len(), expected.len(), "{name}");
        let particles = &mut simulation.bodies_mut()[0].particles;
        for k in 0..7 {
            particles.spawn(Vec2::new(0.1 + 0.05 * k as f32, 1.2), Vec2::ZERO).unwrap();
        }
        run(&mut simulation, 5);
        assert_eq!(simulation.world().len(), expected.len() + 7, "{name}");
        assert_arrays_fit(&simulation.bodies()[0].particles);
    }
}

#[test]
fn adding_and_removing_at_random_for_long_keeps_arrays_and_ids_whole() {
    let mut scene = tank(18, 16, 20);
    // The crowd is never at rest: a bound on the work, not on the edits.
    scene.dfsph.max_density_iterations = 5;
    scene.dfsph.max_divergence_iterations = 5;
    let mut simulation = start(&scene);
    let mut random = Lcg::new(7);
    let mut alive: Vec<ParticleId> = simulation.bodies()[0].particles.ids().to_vec();
    let mut dead: Vec<ParticleId> = Vec::new();
    let count = alive.len();
    for round in 0..2000 {
        let particles = &mut simulation.bodies_mut()[0].particles;
        for _ in 0..20 {
            let victim = alive.swap_remove(random.below(alive.len()));
            particles.remove(victim).unwrap();
            dead.push(victim);
        }
        for _ in 0..20 {
            let place = random.point::<Vec2>(0.1, 0.8);
            alive.push(particles.spawn(place, random.point(-1.0, 1.0)).unwrap());
        }
        let stale = dead[random.below(dead.len())];
        assert_eq!(particles.remove(stale), Err(FluidError::StaleParticle(stale)), "{round}");
        for removed in simulation.step(DT, Threads::Serial).unwrap() {
            alive.retain(|&id| id != removed.id);
        }
        let particles = &simulation.bodies()[0].particles;
        assert_eq!(particles.len(), alive.len(), "{round}");
        assert!(alive.iter().all(|&id| particles.index_of(id).is_ok()), "{round}");
        if round % 100 == 0 {
            assert_arrays_fit(particles);
        }
    }
    assert_eq!(alive.len(), count, "none was lost");
    assert!(dead.iter().all(|&id| simulation.bodies()[0].particles.index_of(id).is_err()));
}

#[test]
fn list_of_ids_taken_before_a_removal_never_hits_a_wrong_particle() {
    let mut simulation = start(&tank(10, 10, 5));
    run(&mut simulation, 3);
    let particles = &mut simulation.bodies_mut()[0].particles;
    let queried = particles.ids().to_vec();
    for &id in &queried[..50] {
        particles.remove(id).unwrap();
    }
    // The freed slots are used again before the old list is.
    for k in 0..50 {
        particles.spawn(Vec2::new(0.1 + 0.05 * (k % 10) as f32, 1.5), Vec2::ZERO).unwrap();
    }
    for &id in &queried[..50] {
        assert_eq!(particles.remove(id), Err(FluidError::StaleParticle(id)));
    }
    assert_eq!(particles.len(), 100);
    step(&mut simulation);
    for &id in &queried[..50] {
        assert!(simulation.world().particle(0, id).is_err());
    }
    let view = simulation.world().particle(0, queried[77]).unwrap();
    let particles = &simulation.bodies()[0].particles;
    assert_eq!(view.position, particles.positions()[particles.index_of(queried[77]).unwrap()]);
    assert!(simulation.world().particle(1, queried[77]).is_err(), "no such body");
}

#[test]
fn bodies_come_and_go_during_a_run() {
    let mut simulation = start(&tank(10, 10, 20));
    run(&mut simulation, 5);
    let drop = |y: f32| {
        body_of((0..25).map(|k| Vec2::new(0.15 + 0.05 * (k % 5) as f32, y + 0.05 * (k / 5) as f32)))
    };
    assert_eq!(simulation.add_body(drop(0.8)), Ok(1));
    run(&mut simulation, 5);
    assert_eq!(simulation.world().len(), 125);
    let pool = bits(&mut simulation);
    let removed = simulation.bodies_mut().remove(1);
    assert_eq!(removed.particles.len(), 25);
    assert_eq!(bits(&mut simulation), pool[..100]);
    run(&mut simulation, 5);
    assert_eq!(simulation.world().len(), 100);
    assert_eq!(simulation.add_body(drop(1.0)), Ok(1));
    // The first body goes: the second takes its place, with its own particles.
    let drop_before = bits(&mut simulation)[100..].to_vec();
    simulation.bodies_mut().remove(0);
    assert_eq!(bits(&mut simulation), drop_before);
    run(&mut simulation, 5);
    let fallen = velocities(&mut simulation);
    assert_eq!(fallen.len(), 25);
    assert!(fallen.iter().all(|v| (v.y + 5.0 * G * DT).abs() < 0.05), "{fallen:?}");
    simulation.bodies_mut().clear();
    run(&mut simulation, 2);
    assert!(simulation.world().is_empty());
}

#[test]
fn reordered_bodies_keep_their_particles_and_materials() {
    let two = || {
        let mut simulation = start(&tank(10, 10, 20));
        // As many particles as the other body, hence the same ids.
        let mut heavy = body_of(
            (0..100)
                .map(|k| Vec2::new(0.055 + 0.05 * (k % 10) as f32, 0.7 + 0.05 * (k / 10) as f32)),
        );
        heavy.material.rest_density = 3000.0;
        simulation.add_body(heavy).unwrap();
        run(&mut simulation, 10);
        simulation
    };
    let (mut plain, mut reordered) = (two(), two());
    reordered.bodies_mut().swap(0, 1);
    run(&mut plain, 5);
    run(&mut reordered, 5);
    reordered.bodies_mut().swap(0, 1);
    // Sums run in another order, no more.
    let (plain, reordered) = (positions(&mut plain), positions(&mut reordered));
    for (a, b) in plain.iter().zip(&reordered) {
        assert!((*a - *b).length() < 1e-3 * D, "{a} {b}");
    }
}

#[test]
fn material_changed_at_run_time_acts_at_once() {
    let shear = |change: bool| {
        let mut simulation =
            world_of(Vec2::ZERO, (0..400).map(|k| Vec2::new((k % 20) as f32, (k / 20) as f32) * D));
        for (k, v) in simulation.bodies_mut()[0].particles.velocities_mut().iter_mut().enumerate() {
            v.x = if k < 200 { -0.2 } else { 0.2 };
        }
        step(&mut simulation);
        if change {
            simulation.bodies_mut()[0].material.viscosity = 1.0;
        }
        step(&mut simulation);
        let v = velocities(&mut simulation);
        v[210].x - v[190].x
    };
    let (as_it_was, thicker) = (shear(false), shear(true));
    assert!(thicker < 0.9 * as_it_was, "{thicker} against {as_it_was}");
}

/// A world that is stepped stage by stage, as the ECS layer does.
struct Staged {
    world: FluidWorld<Vec2>,
    particles: FluidParticles<Vec2>,
}

impl Staged {
    fn new(simulation: &mut Simulation<Vec2>) -> Self {
        let mut world = FluidWorld::new(simulation.world().settings().clone()).unwrap();
        world.set_boundary(&simulation.state().boundary);
        Self { world, particles: simulation.bodies()[0].particles.clone() }
    }

    fn step(&mut self, wind: impl FnMut(bevy_fluid::solver::sph::ParticleView<Vec2>) -> Vec2) {
        let material = FluidMaterial::default();
        let world = &mut self.world;
        world.gather([(9, &material, &self.particles)].into_iter()).unwrap();
        world.neighbor_search(Threads::Serial);
        world.non_pressure_forces(DT, Threads::Serial);
        world.accelerate(wind);
        world.density_solve(DT, Threads::Serial);
        world.integrate(DT, Threads::Serial);
        world.divergence_solve(DT, Threads::Serial);
        world.scatter(9, &mut self.particles).unwrap();
    }
}

#[test]
fn wind_in_the_upper_half_moves_only_the_particles_there() {
    // Far apart, so that none passes it on to another.
    let mut still = world_of(Vec2::ZERO, (0..40).map(|k| Vec2::new(0.0, k as f32)));
    let mut staged = Staged::new(&mut still);
    for _ in 0..10 {
        staged.step(
            |particle| {
                if particle.position.y >= 20.0 { Vec2::new(3.0, 0.0) } else { Vec2::ZERO }
            },
        );
    }
    for (k, v) in staged.particles.velocities().iter().enumerate() {
        let expected = if k >= 20 { 10.0 * 3.0 * DT } else { 0.0 };
        assert!((v.x - expected).abs() < 1e-6 && v.y == 0.0, "{k}: {v}");
    }
}

#[test]
fn acceleration_that_is_not_finite_counts_as_zero() {
    let mut simulation = start(&tank(10, 10, 5));
    let (mut calm, mut stormy) = (Staged::new(&mut simulation), Staged::new(&mut simulation));
    for _ in 0..10 {
        calm.step(|_| Vec2::ZERO);
        let mut k = 0;
        stormy.step(|_| {
            k += 1;
            [Vec2::NAN, Vec2::new(f32::INFINITY, 1.0), Vec2::ZERO][k % 3]
        });
    }
    assert_eq!(calm.particles, stormy.particles);
    assert!(stormy.world.removed().is_empty());
}

#[test]
fn stages_one_by_one_equal_a_whole_step() {
    let mut simulation = start(&tank(10, 10, 5));
    let mut staged = Staged::new(&mut simulation);
    for _ in 0..10 {
        staged.step(|_| Vec2::ZERO);
    }
    run(&mut simulation, 10);
    assert_eq!(simulation.bodies()[0].particles, staged.particles);
}

#[test]
fn corrections_of_positions_are_not_for_particles_edited_after_they_were_found() {
    // Away from walls, and a twentieth too dense.
    let crowd = (0..100).map(|k| Vec2::new((k % 10) as f32, (k / 10) as f32) * 0.975 * D);
    let mut simulation = world_of(Vec2::ZERO, crowd);
    let mut settings = simulation.world().settings().clone();
    settings.dfsph.density_correction = DensityCorrection::Positions;
    simulation.set_settings(settings).unwrap();
    let material = FluidMaterial::default();
    // Farthest from where its velocity alone takes a particle.
    let mut farthest = |edited: bool| {
        let mut staged = Staged::new(&mut simulation);
        let Staged { world, particles } = &mut staged;
        world.gather([(9, &material, &*particles)].into_iter()).unwrap();
        world.neighbor_search(Threads::Serial);
        world.non_pressure_forces(DT, Threads::Serial);
        world.density_solve(DT, Threads::Serial);
        world.scatter(9, particles).unwrap();
        if edited {
            // The others keep their places in the arrays.
            particles.positions_mut()[0] -= Vec2::splat(5.0);
            world.gather([(9, &material, &*particles)].into_iter()).unwrap();
        }
        let before = particles.clone();
        world.integrate(DT, Threads::Serial);
        world.scatter(9, particles).unwrap();
        let moves = before.positions().iter().zip(before.velocities()).zip(particles.positions());
        moves.map(|((x, v), after)| (*after - *x - *v * DT).length()).fold(0.0, f32::max)
    };
    assert!(farthest(false) > 0.01 * D, "{}", farthest(false));
    assert!(farthest(true) < 1e-5 * D, "{}", farthest(true));
}

#[test]
fn particle_is_found_after_the_removal_of_another_in_the_same_step() {
    let mut simulation = start(&tank(10, 10, 5));
    let mut staged = Staged::new(&mut simulation);
    staged.step(|_| Vec2::ZERO);
    let ids = staged.particles.ids().to_vec();
    // Finite, and no longer so after the second second.
    staged.particles.velocities_mut()[33] = Vec2::splat(f32::MAX);
    let material = FluidMaterial::default();
    let world = &mut staged.world;
    world.gather([(9, &material, &staged.particles)].into_iter()).unwrap();
    world.neighbor_search(Threads::Serial);
    world.integrate(1.0, Threads::Serial);
    world.integrate(1.0, Threads::Serial);
    assert_eq!(world.removed().len(), 1);
    // A game's own system in the stage's set looks at the particles now.
    for &id in &ids {
        match world.particle(9, id) {
            Ok(view) => assert_eq!(view.id, id),
            Err(error) => assert_eq!((error, id), (FluidError::StaleParticle(ids[33]), ids[33])),
        }
    }
}
