//! The smallest app with water.

use bevy::prelude::*;
use bevy_fluid::prelude::*;

fn main() {
    App::new()
        .add_plugins((DefaultPlugins, FluidPlugin::default()))
        .insert_resource(ClearColor(Color::WHITE))
        .add_systems(Startup, setup)
        .run();
}

/// A box of 6 m by 4 m with a column of water at its left; lengths are metres.
fn setup(mut commands: Commands) -> Result {
    commands.spawn((Camera2d, Transform::from_scale(Vec3::splat(0.01))));
    commands.spawn(Boundary2d::container(Rectangle::new(6.0, 4.0)));
    let column = FluidShape::Block { min: Vec2::new(-3.0, -2.0), size: Vec2::new(2.0, 3.0) };
    commands.spawn((Fluid2d::default(), FluidParticles2d::fill(&column, 0.025)?));
    Ok(())
}
