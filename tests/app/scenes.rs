//! Scene files as assets.

use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use bevy_fluid::solver::time_step::TimeStep;
use bevy_fluid::{
    Fluid, FluidParticles2d, FluidPlugin, FluidScene2d, FluidSettings, FluidWorld2d, Scene2d,
    SceneAsset2d,
};

fn app() -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, AssetPlugin::default(), TransformPlugin));
    app.add_plugins(FluidPlugin::default());
    app.insert_resource(TimeUpdateStrategy::FixedTimesteps(1));
    app.finish();
    app.cleanup();
    app
}

/// Particles of all fluids.
fn particles(app: &mut App) -> usize {
    let mut fluids = app.world_mut().query::<&FluidParticles2d>();
    fluids.iter(app.world()).map(|body| body.len()).sum()
}

/// Updates until the scene is there; loading takes as long as the disk does.
fn wait(app: &mut App) {
    for _ in 0..2000 {
        app.update();
        if particles(app) > 0 {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    panic!("the scene was not loaded");
}

#[test]
fn a_scene_file_is_spawned_with_its_settings_and_restarted_without() {
    let mut app = app();
    let handle = app.world().resource::<AssetServer>().load("scenes/dam_break.ron");
    let root = app.world_mut().spawn(FluidScene2d::new(handle)).id();
    wait(&mut app);
    assert_eq!(particles(&mut app), 900);
    assert_eq!(app.world().resource::<FluidSettings>().time_step, TimeStep::Fixed(0.005));
    assert_eq!(app.world().resource::<FluidSettings>().dfsph.warm_start, 1.0);
    for _ in 0..20 {
        app.update();
    }
    assert_eq!(app.world().resource::<FluidWorld2d>().boundary_len(), 358);
    assert!(app.world().resource::<Time<Fluid>>().context().steps() > 0);

    app.world_mut().resource_mut::<FluidSettings>().dfsph.warm_start = 0.25;
    app.world_mut().get_mut::<FluidScene2d>(root).unwrap().set_changed();
    app.update();
    assert_eq!(particles(&mut app), 900, "the old bodies are gone");
    assert_eq!(app.world().resource::<FluidSettings>().dfsph.warm_start, 0.25);
    let mut fluids = app.world_mut().query::<&FluidParticles2d>();
    let highest = fluids.iter(app.world()).flat_map(|body| body.positions()).map(|x| x.y);
    assert!(highest.fold(0.0, f32::max) > 1.51, "the water stands again");
}

#[test]
fn a_scene_made_in_code_replaces_one_and_a_despawned_root_takes_it_along() {
    let mut app = app();
    let small = SceneAsset2d::new(Scene2d::dam_break(5, 4));
    let small = app.world_mut().resource_mut::<Assets<SceneAsset2d>>().add(small);
    let root = app.world_mut().spawn(FluidScene2d::new(small)).id();
    wait(&mut app);
    assert_eq!(particles(&mut app), 20);
    let large = SceneAsset2d::new(Scene2d::dam_break(9, 9));
    let large = app.world_mut().resource_mut::<Assets<SceneAsset2d>>().add(large);
    *app.world_mut().get_mut::<FluidScene2d>(root).unwrap() = FluidScene2d::new(large);
    app.update();
    assert_eq!(particles(&mut app), 81);
    app.world_mut().entity_mut(root).despawn();
    app.update();
    app.update();
    assert_eq!(particles(&mut app), 0);
    let world = app.world().resource::<FluidWorld2d>();
    assert_eq!((world.len(), world.boundary_len()), (0, 0));
}
