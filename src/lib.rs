//! Water, cloth and smoke for Bevy games through one [`FluidPlugin`], in 2D and
//! 3D: divergence-free SPH (Bender & Koschier 2015, 2017), weakly compressible
//! SPH (Becker & Teschner 2007), impulse-based cloth (Bender & Schmitt 2006) and
//! stable fluids (Stam 1999).
//!
//! ```no_run
//! use bevy::prelude::*;
//! use bevy_fluid::prelude::*;
//!
//! fn main() {
//!     App::new()
//!         .add_plugins((DefaultPlugins, FluidPlugin::default()))
//!         .add_systems(Startup, setup)
//!         .run();
//! }
//!
//! fn setup(mut commands: Commands) -> Result {
//!     commands.spawn((Camera2d, Transform::from_scale(Vec3::splat(0.01))));
//!     commands.spawn(Boundary2d::container(Rectangle::new(6.0, 4.0)));
//!     let column = FluidShape::Block { min: Vec2::new(-3.0, -2.0), size: Vec2::new(2.0, 3.0) };
//!     commands.spawn((Fluid2d::default(), FluidParticles2d::fill(&column, 0.025)?));
//!     Ok(())
//! }
//! ```
//!
//! Units are SI: metres, seconds, kilograms; in 2D a density is kg/m².
//!
//! # A game's own forces
//!
//! Systems in the sets of [`FluidSchedule`] run once per step, after the
//! solver's stage of that name:
//!
//! ```no_run
//! # use bevy::prelude::*;
//! # use bevy_fluid::prelude::*;
//! fn wind(mut water: ResMut<FluidWorld2d>) {
//!     water.accelerate(|p| if p.position.y > 1.0 { Vec2::X * 3.0 } else { Vec2::ZERO });
//! }
//!
//! fn plugin(app: &mut App) {
//!     app.add_systems(FluidSchedule, wind.in_set(FluidSystems::NonPressureForces));
//! }
//! ```
//!
//! # Where things are
//!
//! | what | type |
//! |---|---|
//! | a body of fluid, its particles | [`Fluid2d`] with [`FluidParticles2d`] |
//! | a wall or an obstacle | [`Boundary2d`], [`BoundaryMesh`] |
//! | water that comes and goes | [`FluidEmitter2d`], [`FluidDrain2d`] |
//! | a stream of air or water | [`Fan2d`] |
//! | a cloth, a rope or a chain | [`Cloth2d`], [`ClothAttachments`], [`ClothCollider2d`] |
//! | smoke and what feeds it | [`Smoke2d`], [`SmokeSource2d`], [`SmokePlace`] |
//! | gravity, step length, solver parameters | [`FluidSettings`] |
//! | pause, speed, single step | [`Fluid`], the context of `Time<Fluid>` |
//! | all particles inside a step | [`FluidWorld2d`] |
//! | a scene file, spawned | [`FluidScene2d`] |
//! | what was refused or removed | [`FluidRefused`], [`ParticleRemoved`] |
//! | figures | [`FluidDiagnostics`] |
//! | drawing, selecting, dragging | [`render`] |
//! | the egui panel | [`inspector`] |
//! | the solver without an ECS | [`solver`] |
//!
//! | plugin | what it adds |
//! |---|---|
//! | [`FluidPlugin`] | the simulation, and drawing where the app can draw |
//! | [`inspector::FluidInspectorPlugin`] | the panel, in an app that has `EguiPlugin` |
//!
//! | set | what happens |
//! |---|---|
//! | [`FluidStepSystems`] | in the app's schedule: gather, steps, write back |
//! | [`FluidSystems`] | in [`FluidSchedule`], once per step: the solver's stages |
//! | [`render::SelectionSystems`] | picking and dragging by the pointer |
//!
//! # Features
//!
//! | feature | default | what it adds |
//! |---|---|---|
//! | `2d`, `3d` | yes | the concrete names of a dimension |
//! | `plugin` | yes | the ECS layer |
//! | `mesh` | yes | boundaries from Bevy's meshes |
//! | `render` | yes | drawing |
//! | `inspector` | yes | the egui panel |
//! | `scene` | yes | scene files with meshes in OBJ, serde on what they hold |
//! | `frames` | yes | pictures drawn on the CPU, particles as VTK and PLY |
//! | `surface` | no | the surface of the water as a mesh, by `splashsurf_lib` |
//! | `multi_threaded` | yes | solver stages on several threads |
//! | `wayland` | no | native Wayland windows |

pub mod solver;

#[cfg(feature = "plugin")]
mod boundary;
#[cfg(all(feature = "mesh", feature = "3d"))]
mod boundary_mesh;
#[cfg(feature = "plugin")]
mod cloth;
#[cfg(feature = "plugin")]
mod diagnostics;
#[cfg(feature = "plugin")]
mod dimension;
#[cfg(feature = "plugin")]
mod emitter;
#[cfg(feature = "plugin")]
mod fan;
#[cfg(feature = "plugin")]
mod fluid;
#[cfg(feature = "frames")]
pub mod frames;
#[cfg(feature = "inspector")]
pub mod inspector;
#[cfg(feature = "plugin")]
mod motion;
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
mod smoke;
#[cfg(feature = "plugin")]
mod time;
#[cfg(all(feature = "mesh", feature = "3d"))]
mod triangles;

#[cfg(all(feature = "mesh", feature = "3d"))]
pub use boundary_mesh::BoundaryMesh;
#[cfg(all(feature = "plugin", feature = "scene"))]
pub use scene_asset::{FluidSceneOf, SceneAssetOf, SceneLoadError};
#[cfg(feature = "plugin")]
pub use {
    boundary::{BoundaryOf, BoundaryPrimitive},
    cloth::{ClothAttachment, ClothAttachments, ClothColliderOf},
    diagnostics::FluidDiagnostics,
    dimension::Dimension,
    emitter::{FluidDrainOf, FluidEmitterOf},
    fluid::{FluidOf, FluidRefused, ParticleRemoved, TickStart},
    plugin::{FluidPlugin, FluidWorldOf},
    schedule::{FluidSchedule, FluidStepSystems, FluidSystems},
    settings::FluidSettings,
    smoke::SmokePlace,
    time::Fluid,
};

/// Declares the names of one dimension.
macro_rules! names {
    ($feature:literal, $vector:ty, $fluid:ident, $particles:ident, $emitter:ident, $drain:ident, $boundary:ident, $fan:ident, $cloth:ident, $collider:ident, $smoke:ident, $source:ident, $world:ident, $scene:ident, $root:ident, $asset:ident) => {
        /// A body of fluid.
        #[cfg(all(feature = "plugin", feature = $feature))]
        pub type $fluid = FluidOf<$vector>;
        /// The particles of a body.
        #[cfg(feature = $feature)]
        pub type $particles = solver::particles::FluidParticles<$vector>;
        /// A source of particles.
        #[cfg(all(feature = "plugin", feature = $feature))]
        pub type $emitter = FluidEmitterOf<$vector>;
        /// A region that takes particles out.
        #[cfg(all(feature = "plugin", feature = $feature))]
        pub type $drain = FluidDrainOf<$vector>;
        /// A stream that water, cloth and smoke feel.
        #[cfg(feature = $feature)]
        pub type $fan = solver::fan::Fan<$vector>;
        /// A wall or an obstacle.
        #[cfg(all(feature = "plugin", feature = $feature))]
        pub type $boundary = BoundaryOf<$vector>;
        /// A cloth, a rope or a chain.
        #[cfg(feature = $feature)]
        pub type $cloth = solver::cloth::Cloth<$vector>;
        /// A solid that cloth meets.
        #[cfg(all(feature = "plugin", feature = $feature))]
        pub type $collider = ClothColliderOf<$vector>;
        /// A domain of smoke.
        #[cfg(feature = $feature)]
        pub type $smoke = solver::smoke::Smoke<$vector>;
        /// A source of smoke.
        #[cfg(feature = $feature)]
        pub type $source = solver::smoke::SmokeSource<$vector>;
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
    FluidEmitter2d,
    FluidDrain2d,
    Boundary2d,
    Fan2d,
    Cloth2d,
    ClothCollider2d,
    Smoke2d,
    SmokeSource2d,
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
    FluidEmitter3d,
    FluidDrain3d,
    Boundary3d,
    Fan3d,
    Cloth3d,
    ClothCollider3d,
    Smoke3d,
    SmokeSource3d,
    FluidWorld3d,
    Scene3d,
    FluidScene3d,
    SceneAsset3d
);

/// What most apps use.
pub mod prelude {
    pub use crate::solver::cloth::{
        ClothMesh, ClothScheme, ClothSettings, DistanceConstraint, collision::ColliderShape,
    };
    pub use crate::solver::drain::DrainShape;
    pub use crate::solver::emitter::EmitterSettings;
    pub use crate::solver::periodic::Periodic;
    pub use crate::solver::sampling::FluidShape;
    pub use crate::solver::settings::{
        DensityCorrection, DfsphSettings, EquationOfState, FluidMaterial, FluidMethod,
        NegativePressure, PressureSolver, WcsphSettings,
    };
    pub use crate::solver::smoke::{SmokeDomain, SmokeSettings, SourceShape};
    pub use crate::solver::time_step::TimeStep;
    #[cfg(all(feature = "plugin", feature = "2d"))]
    pub use crate::{
        Boundary2d, ClothCollider2d, Fluid2d, FluidDrain2d, FluidEmitter2d, FluidWorld2d,
    };
    #[cfg(all(feature = "plugin", feature = "3d"))]
    pub use crate::{
        Boundary3d, ClothCollider3d, Fluid3d, FluidDrain3d, FluidEmitter3d, FluidWorld3d,
    };
    #[cfg(feature = "2d")]
    pub use crate::{Cloth2d, Fan2d, FluidParticles2d, Smoke2d, SmokeSource2d};
    #[cfg(feature = "3d")]
    pub use crate::{Cloth3d, Fan3d, FluidParticles3d, Smoke3d, SmokeSource3d};
    #[cfg(feature = "plugin")]
    pub use crate::{
        ClothAttachment, ClothAttachments, Fluid, FluidPlugin, FluidSchedule, FluidSettings,
        FluidStepSystems, FluidSystems, SmokePlace,
    };
}
