//! Apps to test with.

use std::time::Duration;

use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use bevy_fluid::solver::time_step::TimeStep;
use bevy_fluid::{Boundary2d, Fluid2d, FluidParticles2d, FluidPlugin, FluidSettings, Scene2d};

/// An app without window and assets that makes one fixed tick per update, in
/// fixed steps of 5 ms.
pub fn app() -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, TransformPlugin, FluidPlugin::default()));
    app.insert_resource(TimeUpdateStrategy::FixedTimesteps(1));
    app.world_mut().resource_mut::<FluidSettings>().time_step = TimeStep::Fixed(0.005);
    app.finish();
    app.cleanup();
    // The first update only starts the clocks.
    app.update();
    app
}

/// An app whose every frame lasts `frame` seconds.
pub fn app_with_frames(frame: f64) -> App {
    let mut app = app();
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f64(frame)));
    app
}

/// Spawns the fluid and boundary of a scene and sets its solver parameters;
/// returns the fluid.
pub fn spawn(app: &mut App, scene: &Scene2d) -> Entity {
    app.world_mut().resource_mut::<FluidSettings>().dfsph = scene.dfsph.clone();
    for boundary in &scene.boundaries {
        app.world_mut().spawn((
            Boundary2d::new(boundary.shape.clone()),
            Transform::from_translation(boundary.position.extend(0.0)),
        ));
    }
    let positions = scene.fluid_positions(0).unwrap();
    let particles = FluidParticles2d::from_positions(positions).unwrap();
    app.world_mut().spawn((Fluid2d::new(scene.fluids[0].material.clone()), particles)).id()
}

/// The particles of a fluid.
pub fn particles(app: &App, fluid: Entity) -> &FluidParticles2d {
    app.world().get::<FluidParticles2d>(fluid).unwrap()
}

/// Positions and velocities as bits.
pub fn bits(particles: &FluidParticles2d) -> Vec<[u32; 4]> {
    let vectors = particles.positions().iter().zip(particles.velocities());
    vectors.map(|(x, v)| [x.x, x.y, v.x, v.y].map(f32::to_bits)).collect()
}
