//! Cloth in an app.

use bevy::prelude::*;
use bevy_fluid::prelude::*;
use bevy_fluid::solver::cloth::{Cloth, Surroundings};
use bevy_fluid::solver::parallel::Threads;
use bevy_fluid::solver::settings::WorldSettings;
use bevy_fluid::solver::simulation::{FluidBody, Simulation};
use bevy_fluid::solver::time_step::TimeStep;
use bevy_fluid::{FluidRefused, FluidSettings};

use crate::support::app;

/// A sheet of 10 x 8 particles, a metre wide, held at its upper row.
fn sheet() -> Cloth3d {
    let step = 1.0 / 9.0;
    let mesh = ClothMesh::grid(Vec3::ZERO, Vec3::X * step, -Vec3::Z * step, 10, 8).unwrap();
    let mut cloth = Cloth3d::new(mesh, 0.01).unwrap();
    cloth.pin_where(|particle, _| particle < 10);
    cloth
}

fn bits(cloth: &Cloth3d) -> Vec<[u32; 3]> {
    cloth.positions().iter().map(|x| x.to_array().map(f32::to_bits)).collect()
}

fn run(app: &mut App, ticks: usize) {
    (0..ticks).for_each(|_| app.update());
}

#[test]
fn cloth_in_an_app_is_the_bare_solvers_bit_for_bit() {
    let mut app = app();
    let entity = app.world_mut().spawn(sheet()).id();
    app.world_mut().resource_mut::<FluidSettings>().wind = Vec3::X * 2.0;
    run(&mut app, 40);
    let steps = app.world().resource::<Time<Fluid>>().context().steps();
    assert!(steps > 60, "{steps}");
    let mut bare = sheet();
    let around = Surroundings { wind: Vec3::X * 2.0, ..Surroundings::default() };
    let before = app.world().get::<Cloth3d>(entity).unwrap();
    for _ in 0..steps {
        bare.step(0.005, &around).unwrap();
    }
    assert_eq!(bits(before), bits(&bare));
}

#[test]
fn water_and_cloth_push_each_other_as_in_the_bare_solvers() {
    let column = FluidShape::Block { min: Vec3::new(0.2, 0.1, -0.7), size: Vec3::splat(0.4) };
    let water = || FluidParticles3d::fill(&column, 0.025).unwrap();
    let mut app = app();
    let entity = app.world_mut().spawn(sheet()).id();
    let fluid = app.world_mut().spawn((Fluid3d::default(), water())).id();
    run(&mut app, 30);
    let steps = app.world().resource::<Time<Fluid>>().context().steps();
    let settings = app.world().resource::<FluidSettings>();
    let settings = WorldSettings {
        gravity: settings.gravity,
        particle_radius: settings.particle_radius_3d,
        method: settings.method,
        dfsph: settings.dfsph.clone(),
        wcsph: settings.wcsph.clone(),
        periodic: settings.periodic,
    };
    let mut bare = Simulation::new(settings, TimeStep::Fixed(0.005)).unwrap();
    bare.add_body(FluidBody { material: default(), particles: water() }).unwrap();
    bare.companions_mut().cloths.push(sheet());
    for _ in 0..steps {
        bare.step(0.005, Threads::Serial).unwrap();
    }
    let cloth = app.world().get::<Cloth3d>(entity).unwrap();
    assert_eq!(bits(cloth), bits(&bare.companions().cloths[0]));
    assert!(!cloth.state().yielding.is_empty(), "water never touched the cloth");
    let particles = app.world().get::<FluidParticles3d>(fluid).unwrap();
    assert_eq!(particles.positions(), bare.bodies()[0].particles.positions());
}

#[test]
fn attached_particles_follow_their_entity_and_are_free_when_it_is_gone() {
    let mut app = app();
    let hand = app.world_mut().spawn(Transform::from_xyz(0.0, 1.0, 0.0)).id();
    let attachments = ClothAttachments(vec![ClothAttachment {
        particle: 75,
        entity: hand,
        offset: Vec3::new(0.5, 0.0, 0.0),
    }]);
    let mut cloth = sheet();
    cloth.unpin_all();
    let cloth = app.world_mut().spawn((cloth, attachments)).id();
    run(&mut app, 60);
    let place = |app: &App| app.world().get::<Cloth3d>(cloth).unwrap().positions()[75];
    assert!(place(&app).distance(Vec3::new(0.5, 1.0, 0.0)) < 1e-3, "{}", place(&app));
    for tick in 0..40 {
        app.world_mut().get_mut::<Transform>(hand).unwrap().translation.x = 0.01 * tick as f32;
        app.update();
    }
    assert!(place(&app).distance(Vec3::new(0.89, 1.0, 0.0)) < 1e-3, "{}", place(&app));
    app.world_mut().despawn(hand);
    run(&mut app, 40);
    assert!(place(&app).y < 0.5, "{}", place(&app));
}

#[test]
fn solid_boundaries_and_colliders_stop_a_falling_sheet() {
    let bottom = |spawn: &dyn Fn(&mut World)| {
        let mut app = app();
        let mut cloth = sheet();
        cloth.unpin_all();
        let cloth = app.world_mut().spawn(cloth).id();
        spawn(app.world_mut());
        run(&mut app, 120);
        let (low, _) = app.world().get::<Cloth3d>(cloth).unwrap().bounds();
        low.y
    };
    let nothing = bottom(&|_| {});
    assert!(nothing < -5.0, "{nothing}");
    let boundary = bottom(&|world| {
        let place = Transform::from_xyz(0.5, -1.0, -0.4);
        world.spawn((Boundary3d::solid(Cuboid::new(4.0, 0.5, 4.0)), place));
    });
    assert!((-0.76..-0.7).contains(&boundary), "{boundary}");
    // Twice as large by its transform.
    let collider = bottom(&|world| {
        let place = Transform::from_xyz(0.5, -1.0, -0.4).with_scale(Vec3::splat(2.0));
        world.spawn((
            ClothCollider3d::new(ColliderShape::Box { half_size: Vec3::splat(1.0) }),
            place,
        ));
    });
    assert!((0.0..1.1).contains(&collider), "{collider}");
}

#[test]
fn a_cloth_that_cannot_be_stepped_is_reported_once_and_goes_on_when_mended() {
    let mut app = app();
    let entity = app.world_mut().spawn(sheet()).id();
    run(&mut app, 10);
    app.world_mut().get_mut::<Cloth3d>(entity).unwrap().positions_mut()[40].x = f32::NAN;
    let mut told = 0;
    for _ in 0..10 {
        app.update();
        told +=
            app.world().resource::<Messages<FluidRefused>>().iter_current_update_messages().count();
    }
    assert_eq!(told, 1);
    app.world_mut().get_mut::<Cloth3d>(entity).unwrap().reset();
    let start = app.world().get::<Cloth<Vec3>>(entity).unwrap().positions()[79];
    run(&mut app, 10);
    assert_ne!(app.world().get::<Cloth3d>(entity).unwrap().positions()[79], start);
}

#[test]
fn one_step_a_tick_stretches_no_more_than_several() {
    for rule in [TimeStep::Fixed(1.0 / 64.0), TimeStep::default()] {
        let mut app = app();
        app.world_mut().resource_mut::<FluidSettings>().time_step = rule;
        let entity = app.world_mut().spawn(sheet()).id();
        run(&mut app, 200);
        let strain = app.world().get::<Cloth3d>(entity).unwrap().stats().max_strain;
        assert!(strain < 0.01, "{rule:?} {strain}");
    }
}

#[test]
fn a_mesh_of_bevy_becomes_a_cloth_with_its_seams_welded() {
    let mesh = Mesh::from(Cuboid::new(1.0, 1.0, 1.0));
    let cloth = Cloth3d::new(ClothMesh::try_from(&mesh).unwrap(), 0.01).unwrap();
    assert_eq!(cloth.len(), 8, "corners");
    assert_eq!(cloth.particle_of_vertex().len(), 24, "vertices");
    assert_eq!(cloth.triangles().len(), 12);
    let points = Mesh::new(bevy::mesh::PrimitiveTopology::PointList, default());
    let error = ClothMesh::try_from(&points).unwrap_err().to_string();
    assert!(error.starts_with("mesh is"), "{error}");
}
