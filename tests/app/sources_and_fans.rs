//! Sources, drains and fans as entities.

use bevy::prelude::*;
use bevy_fluid::prelude::*;
use bevy_fluid::solver::drain::{DrainShape, FluidDrain};
use bevy_fluid::solver::emitter::{EmitterSettings, FluidEmitter};
use bevy_fluid::solver::fan::Fan;
use bevy_fluid::solver::parallel::Threads;
use bevy_fluid::solver::settings::WorldSettings;
use bevy_fluid::solver::simulation::{BodyEmitter, FluidBody, Simulation};
use bevy_fluid::solver::time_step::TimeStep;
use bevy_fluid::{
    Fluid, FluidDrain2d, FluidEmitter2d, FluidParticles2d, FluidRefused, FluidSettings,
};

use crate::support::{app, bits, particles};

/// The bare solvers with the settings of an app.
fn bare(app: &App) -> Simulation<Vec2> {
    let settings = app.world().resource::<FluidSettings>();
    let settings = WorldSettings {
        gravity: settings.gravity.truncate(),
        particle_radius: settings.particle_radius_2d,
        method: settings.method,
        dfsph: settings.dfsph.clone(),
        wcsph: settings.wcsph.clone(),
        periodic: settings.periodic,
    };
    Simulation::new(settings, TimeStep::Fixed(0.005)).unwrap()
}

fn steps(app: &App) -> u64 {
    app.world().resource::<Time<Fluid>>().context().steps()
}

fn refusals(app: &App) -> Vec<String> {
    let messages = app.world().resource::<Messages<FluidRefused>>();
    messages.iter_current_update_messages().map(|refused| refused.error.to_string()).collect()
}

#[test]
fn sources_and_drains_are_the_bare_solvers_bit_for_bit() {
    let settings = EmitterSettings { radius: 0.2, speed: 3.0, ..EmitterSettings::default() };
    let mut app = app();
    let fluid = app.world_mut().spawn((Fluid2d::default(), FluidParticles2d::default())).id();
    // Turned by its entity, from downwards to the right.
    let turn = Quat::from_rotation_z(core::f32::consts::FRAC_PI_2);
    let place = Transform::from_xyz(-1.0, 0.5, 0.0).with_rotation(turn);
    let source = app.world_mut().spawn((FluidEmitter2d::new(fluid, settings.clone()), place)).id();
    let drain = DrainShape::Box { half_size: Vec2::new(5.0, 0.5) };
    app.world_mut().spawn((FluidDrain2d::new(drain), Transform::from_xyz(0.0, -1.5, 0.0)));

    let mut bare = bare(&app);
    bare.add_body(FluidBody::default()).unwrap();
    // What is left of the rotation in a matrix.
    let direction = (GlobalTransform::from(place).rotation() * Vec3::NEG_Y).truncate();
    let settings = EmitterSettings { position: Vec2::new(-1.0, 0.5), direction, ..settings };
    bare.emitters_mut().push(BodyEmitter { body: 0, emitter: FluidEmitter::new(settings) });
    bare.drains_mut().push(FluidDrain { shape: drain, position: Vec2::new(0.0, -1.5) });

    for _ in 0..60 {
        app.update();
        while bare.steps() < steps(&app) {
            bare.step(0.005, Threads::Serial).unwrap();
        }
        assert_eq!(bits(particles(&app, fluid)), bits(&bare.bodies()[0].particles));
    }
    let now = particles(&app, fluid);
    let emitted = app.world().get::<FluidEmitter2d>(source).unwrap().emitter.emitted();
    assert!(emitted > 300 && now.len() > 100, "{emitted} of which {} are left", now.len());
    assert!((now.len() as u64) < emitted, "none was ever drained");
    assert!(now.positions().iter().all(|x| x.y > -1.1));
}

#[test]
fn a_source_without_its_fluid_and_a_drain_that_is_none_are_reported_once() {
    let mut app = app();
    let fluid = app.world_mut().spawn((Fluid2d::default(), FluidParticles2d::default())).id();
    app.world_mut().spawn(FluidEmitter2d::new(fluid, EmitterSettings::default()));
    app.world_mut().spawn(FluidDrain2d::new(DrainShape::Ball { radius: f32::NAN }));
    let mut told = Vec::new();
    for tick in 0..20 {
        if tick == 10 {
            app.world_mut().despawn(fluid);
        }
        app.update();
        told.extend(refusals(&app));
    }
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].starts_with("shape.radius is NaN"), "{told:?}");
    assert!(told[1].starts_with("fluid is"), "{told:?}");
}

#[test]
fn a_turned_fan_blows_water_and_smoke_its_way_and_a_broken_one_is_reported() {
    let mut app = app();
    app.world_mut().resource_mut::<FluidSettings>().gravity = Vec3::ZERO;
    let square = FluidShape::Block { min: Vec2::new(-0.2, -0.2), size: Vec2::splat(0.4) };
    let square = FluidParticles2d::fill(&square, 0.025).unwrap();
    let fluid = app.world_mut().spawn((Fluid2d::default(), square)).id();
    let domain = SmokeDomain { min: Vec2::splat(-1.0), size: Vec2::splat(2.0), cells: [40, 40, 1] };
    let smoke = Smoke2d::new(domain, SmokeSettings::default(), 1).unwrap();
    let smoke = app.world_mut().spawn(smoke).id();
    let fan = Fan {
        position: Vec2::ZERO,
        direction: Vec2::X,
        radius: 0.4,
        reach: 2.0,
        speed: 3.0,
        response: 5.0,
    };
    // Its opening lies below both; turned, it blows upwards.
    let turn = Quat::from_rotation_z(core::f32::consts::FRAC_PI_2);
    let place = Transform::from_xyz(0.0, -0.5, 0.0).with_rotation(turn);
    let entity = app.world_mut().spawn((fan, place)).id();
    for _ in 0..30 {
        app.update();
        assert_eq!(refusals(&app), Vec::<String>::new());
    }
    let velocities = particles(&app, fluid).velocities();
    let mean = velocities.iter().sum::<Vec2>() / velocities.len() as f32;
    assert!(mean.y > 0.5 && mean.x.abs() < 0.1 * mean.y, "{mean}");
    let air = app.world().get::<Smoke2d>(smoke).unwrap().velocity_at(Vec2::ZERO);
    assert!(air.y > 0.3 && air.x.abs() < 0.1 * air.y, "{air}");
    app.world_mut().get_mut::<Fan<Vec2>>(entity).unwrap().speed = f32::INFINITY;
    app.update();
    app.update();
    let mean_of = |app: &App| particles(app, fluid).velocities().iter().sum::<Vec2>();
    let before = mean_of(&app);
    let mut told = refusals(&app);
    for _ in 0..10 {
        app.update();
        told.extend(refusals(&app));
    }
    assert!(
        told.len() <= 1 && told.iter().all(|text| text.starts_with("speed is inf")),
        "{told:?}"
    );
    assert!((mean_of(&app) - before).length() < 1e-3 * before.length(), "it blows no more");
}
