//! The egui panel (feature `inspector`): readouts, inputs, plots and the
//! selected particle's values, in any app with water.
//!
//! ```no_run
//! use bevy::prelude::*;
//! use bevy_egui::EguiPlugin;
//! use bevy_fluid::FluidPlugin;
//! use bevy_fluid::inspector::{FluidInspector, FluidInspectorPlugin};
//!
//! App::new()
//!     .add_plugins((DefaultPlugins, FluidPlugin::default()))
//!     .add_plugins((EguiPlugin::default(), FluidInspectorPlugin))
//!     .add_systems(Update, |keys: Res<ButtonInput<KeyCode>>, mut panel: ResMut<FluidInspector>| {
//!         if keys.just_pressed(KeyCode::F12) {
//!             panel.open = !panel.open;
//!         }
//!     })
//!     .run();
//! ```

mod cloth;
mod drawing;
mod field;
mod history;
mod number;
mod palette;
mod panel;
mod parameters;
mod plots;
mod readouts;
mod scene;
mod smoke;

use bevy::prelude::*;
use bevy_egui::{
    EguiContexts, EguiPlugin, EguiPrimaryContextPass, egui, input::egui_wants_any_pointer_input,
};

pub use cloth::ClothSize;
pub use field::parameter_field;
pub use panel::FluidPanel;
pub use scene::{RestartRequested, SceneSize};

use crate::plugin::FluidPlugin;
use crate::render::SelectionSystems;
use crate::schedule::{FluidSchedule, FluidSystems};

/// The panel of an app, see the [module](self).
///
/// It needs [`FluidPlugin`] and bevy_egui's [`EguiPlugin`], in any order, and
/// adds neither; where one is missing, a warning says so and there is no panel.
/// While egui has the pointer, nothing is picked or dragged in the water.
pub struct FluidInspectorPlugin;

/// State of the panel.
#[derive(Resource, Clone, Copy, Debug, PartialEq, Eq)]
pub struct FluidInspector {
    /// Whether the window is shown; default true.
    pub open: bool,
    /// The window's look, or none for that of the app's other windows; default
    /// [`Light`](egui::Theme::Light).
    pub theme: Option<egui::Theme>,
}

impl Default for FluidInspector {
    fn default() -> Self {
        Self { open: true, theme: Some(egui::Theme::Light) }
    }
}

impl Plugin for FluidInspectorPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<FluidInspector>()
            .init_resource::<history::History>()
            .register_type::<SceneSize>()
            .register_type::<ClothSize>()
            .add_message::<RestartRequested>()
            .add_systems(First, scene::restart)
            .add_systems(
                RunFixedMainLoop,
                scene::begin.in_set(RunFixedMainLoopSystems::BeforeFixedMainLoop),
            );
    }

    fn finish(&self, app: &mut App) {
        if !app.is_plugin_added::<FluidPlugin>() {
            warn!("FluidInspectorPlugin shows nothing without FluidPlugin");
            return;
        }
        if !app.is_plugin_added::<EguiPlugin>() {
            warn!("FluidInspectorPlugin shows nothing without bevy_egui's EguiPlugin");
            return;
        }
        app.add_systems(EguiPrimaryContextPass, show)
            .add_systems(
                FluidSchedule,
                history::note_step.after(FluidSystems::DivergenceSolve).run_if(is_open),
            )
            .add_systems(Last, history::sample.run_if(is_open))
            .configure_sets(PreUpdate, SelectionSystems.run_if(not(egui_wants_any_pointer_input)));
    }
}

fn is_open(inspector: Res<FluidInspector>) -> bool {
    inspector.open
}

fn show(mut contexts: EguiContexts, mut panel: FluidPanel) -> Result {
    panel.window(contexts.ctx_mut()?);
    Ok(())
}
