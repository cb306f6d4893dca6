//! The keys that all examples share.

use bevy::prelude::*;
use bevy_fluid::inspector::{FluidInspector, RestartRequested};
use bevy_fluid::prelude::*;

/// Space pauses, S makes one step, R restarts, I shows or hides the inspector.
pub fn control(
    keys: Res<ButtonInput<KeyCode>>,
    mut clock: ResMut<Time<Fluid>>,
    mut inspector: ResMut<FluidInspector>,
    mut restart: MessageWriter<RestartRequested>,
) {
    if keys.just_pressed(KeyCode::Space) {
        let clock = clock.context_mut();
        if clock.is_paused() { clock.unpause() } else { clock.pause() }
    }
    if keys.just_pressed(KeyCode::KeyS) {
        clock.context_mut().step_once();
    }
    if keys.just_pressed(KeyCode::KeyI) {
        inspector.open = !inspector.open;
    }
    if keys.just_pressed(KeyCode::KeyR) {
        restart.write_default();
    }
}
