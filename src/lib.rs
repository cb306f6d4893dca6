//! Water, smoke and cloth for Bevy games.

pub mod solver;

#[cfg(feature = "plugin")]
mod boundary;
#[cfg(feature = "plugin")]
mod diagnostics;
#[cfg(feature = "plugin")]
mod dimension;
#[cfg(feature = "plugin")]
mod fluid;
#[cfg(feature = "frames")]
pub mod frames;
#[cfg(feature = "inspector")]
pub mod inspector;
#[cfg(any(feature = "render", feature = "frames"))]
pub mod palette;
#[cfg(feature = "plugin")]
mod plugin;
#[cfg(feature = "render")]
pub mod render;
#[cfg(all(feature = "plugin", feature = "scene"))]
mod scene_asset;
#[cfg(feature = "plugin")]
mod schedule;
#[cfg(feature = "plugin")]
mod settings;
#[cfg(feature = "plugin")]
mod time;

#[cfg(all(feature = "plugin", feature = "scene"))]
pub use scene_asset::{FluidSceneOf, SceneAssetOf, SceneLoadError};
#[cfg(feature = "plugin")]
pub use {
    boundary::{BoundaryOf, BoundaryPrimitive},
    diagnostics::FluidDiagnostics,
    dimension::Dimension,
    fluid::{FluidOf, FluidRefused, ParticleRemoved},
    plugin::{FluidPlugin, FluidWorldOf},
    schedule::{FluidSchedule, FluidStepSystems, FluidSystems},
    settings::FluidSettings,
    time::Fluid,
};

/// Declares the names of one dimension.
macro_rules! names {
    ($feature:literal, $vector:ty, $fluid:ident, $particles:ident, $boundary:ident, $world:ident, $scene:ident, $root:ident, $asset:ident) => {
        /// A body of fluid.
        #[cfg(all(feature = "plugin", feature = $feature))]
        pub type $fluid = FluidOf<$vector>;
        /// The particles of a body.
        #[cfg(feature = $feature)]
        pub type $particles = solver::particles::FluidParticles<$vector>;
        /// A wall or an obstacle.
        #[cfg(all(feature = "plugin", feature = $feature))]
        pub type $boundary = BoundaryOf<$vector>;
        /// The solver's world of all fluids.
        #[cfg(all(feature = "plugin", feature = $feature))]
        pub type $world = FluidWorldOf<$vector>;
        /// A scene as data.
        #[cfg(feature = $feature)]
        pub type $scene = solver::scene::Scene<$vector>;
        /// A scene that is spawned into the app.
        #[cfg(all(feature = "plugin", feature = "scene", feature = $feature))]
        pub type $root = FluidSceneOf<$vector>;
        /// A scene as an asset.
        #[cfg(all(feature = "plugin", feature = "scene", feature = $feature))]
        pub type $asset = SceneAssetOf<$vector>;
    };
}

names!(
    "2d",
    bevy_math::Vec2,
    Fluid2d,
    FluidParticles2d,
    Boundary2d,
    FluidWorld2d,
    Scene2d,
    FluidScene2d,
    SceneAsset2d
);
names!(
    "3d",
    bevy_math::Vec3,
    Fluid3d,
    FluidParticles3d,
    Boundary3d,
    FluidWorld3d,
    Scene3d,
    FluidScene3d,
    SceneAsset3d
);

/// What most apps use.
pub mod prelude {
    #[cfg(feature = "2d")]
    pub use crate::FluidParticles2d;
    #[cfg(feature = "3d")]
    pub use crate::FluidParticles3d;
    pub use crate::solver::sampling::FluidShape;
    pub use crate::solver::settings::FluidMaterial;
    pub use crate::solver::time_step::TimeStep;
    #[cfg(all(feature = "plugin", feature = "2d"))]
    pub use crate::{Boundary2d, Fluid2d, FluidWorld2d};
    #[cfg(all(feature = "plugin", feature = "3d"))]
    pub use crate::{Boundary3d, Fluid3d, FluidWorld3d};
    #[cfg(feature = "plugin")]
    pub use crate::{
        Fluid, FluidPlugin, FluidSchedule, FluidSettings, FluidStepSystems, FluidSystems,
    };
}
