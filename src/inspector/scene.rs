//! Restart and the size of a scene, between the panel and the app.

use bevy::prelude::*;

use super::history::History;
use crate::fluid::FluidOf;
#[cfg(feature = "scene")]
use crate::scene_asset::FluidSceneOf;
use crate::solver::parameter::{Parameter, ParameterKind};
use crate::time::Fluid;

/// Asks for the scene to start again from its beginning.
///
/// The panel's button writes it, and a game may. The plugin answers by
/// touching every [`FluidScene2d`](crate::FluidScene2d) and
/// [`FluidScene3d`](crate::FluidScene3d), which spawns them anew; an app that
/// builds its scene in another way reads the message itself.
#[derive(Message, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RestartRequested;

/// Size of the app's block of fluid in particles.
///
/// Where the app inserts it, the panel shows an input for each number. The app
/// builds its scene anew when the resource has changed.
#[derive(Resource, Clone, Copy, Debug, PartialEq, Eq, Reflect)]
#[reflect(Resource)]
pub struct SceneSize {
    /// Particles side by side, 1 to 500; the panel refuses other numbers. Default 30.
    pub columns: u32,
    /// Particles above each other, 1 to 500; the panel refuses other numbers. Default 30.
    pub rows: u32,
}

impl Default for SceneSize {
    fn default() -> Self {
        Self { columns: 30, rows: 30 }
    }
}

/// The inputs of a [`SceneSize`].
pub(super) const SIZE: [Parameter<SceneSize>; 2] = [
    Parameter::new(
        "width",
        "Particles side by side; restarts the scene.",
        "1",
        ParameterKind::Count,
        1.0..=500.0,
        30.0,
        1.0,
        |size| size.columns as f64,
        |size, value| size.columns = value as u32,
    ),
    Parameter::new(
        "height",
        "Particles above each other; restarts the scene.",
        "1",
        ParameterKind::Count,
        1.0..=500.0,
        30.0,
        1.0,
        |size| size.rows as f64,
        |size, value| size.rows = value as u32,
    ),
];

/// Frames within which an app is expected to answer a request for a restart.
const PATIENCE: u32 = 120;

/// Starts the history where the restarted scene's bodies are there, before
/// their first step: an app may spawn them a frame or more after the request,
/// and the old ones go on until then.
pub(super) fn begin(
    flat: Query<(), Added<FluidOf<Vec2>>>,
    solid: Query<(), Added<FluidOf<Vec3>>>,
    clock: Option<Res<Time<Fluid>>>,
    mut history: ResMut<History>,
) {
    if history.awaiting == 0 {
        return;
    }
    history.awaiting -= 1;
    if !flat.is_empty() || !solid.is_empty() {
        history.restart(clock.map(|clock| clock.elapsed()).unwrap_or_default());
        history.awaiting = 0;
    }
}

/// Restarts scenes that are spawned from assets, and the panel's history.
pub(super) fn restart(
    mut requests: MessageReader<RestartRequested>,
    size: Option<Res<SceneSize>>,
    clock: Option<Res<Time<Fluid>>>,
    mut history: ResMut<History>,
    #[cfg(all(feature = "scene", feature = "2d"))] mut flat: Query<&mut FluidSceneOf<Vec2>>,
    #[cfg(all(feature = "scene", feature = "3d"))] mut solid: Query<&mut FluidSceneOf<Vec3>>,
) {
    let asked = requests.read().count() > 0;
    if !asked && !size.is_some_and(|size| size.is_changed()) {
        return;
    }
    history.restart(clock.map(|clock| clock.elapsed()).unwrap_or_default());
    history.awaiting = PATIENCE;
    if !asked {
        return;
    }
    #[cfg(all(feature = "scene", feature = "2d"))]
    flat.iter_mut().for_each(|mut scene| scene.set_changed());
    #[cfg(all(feature = "scene", feature = "3d"))]
    solid.iter_mut().for_each(|mut scene| scene.set_changed());
}
