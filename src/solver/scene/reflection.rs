//! Scenes by reflection, for tools that reach any field of them by its path.

use bevy_math::{Vec2, Vec3};
use bevy_reflect::{Reflect, ReflectDeserialize, TypeRegistry};

use super::{Scene, SceneBoundary, SceneFile, SceneFluid};
use crate::solver::cloth::collision::ColliderShape;
use crate::solver::cloth::scene::{ClothShape, SceneCloth, SceneCollider};
use crate::solver::cloth::{ClothScheme, ClothSettings, Inversion, Tethers};
use crate::solver::fan::Fan;
use crate::solver::periodic::Periodic;
use crate::solver::sampling::{BoundaryShape, Fill, FluidShape, MeshSource};
use crate::solver::settings::{
    DensityCorrection, DfsphSettings, EquationOfState, FluidMaterial, FluidMethod,
    NegativePressure, PressureSolver, WcsphSettings,
};
use crate::solver::smoke::scene::SceneSmoke;
use crate::solver::smoke::{
    Advection, Border, SmokeDomain, SmokePressure, SmokeScheme, SmokeSettings, SmokeSource,
    Splitting, TotalDye, Walls,
};
use crate::solver::time_step::TimeStep;

/// The types of scenes of both dimensions, each to be read from text as serde reads it in a scene
/// file.
pub fn scene_types() -> TypeRegistry {
    let mut registry = TypeRegistry::default();
    macro_rules! read_by_serde {
        ($($type:ty),* $(,)?) => {
            $(
                registry.register::<$type>();
                registry.register_type_data::<$type, ReflectDeserialize>();
            )*
        };
    }
    macro_rules! of_dimension {
        ($vector:ty) => {
            registry.register::<Scene<$vector>>();
            read_by_serde!(
                SceneFluid<$vector>,
                SceneBoundary<$vector>,
                FluidShape<$vector>,
                BoundaryShape<$vector>,
                SceneCloth<$vector>,
                ClothShape<$vector>,
                SceneCollider<$vector>,
                ColliderShape<$vector>,
                Fan<$vector>,
                SceneSmoke<$vector>,
                SmokeDomain<$vector>,
                SmokeSource<$vector>,
            );
        };
    }
    of_dimension!(Vec2);
    of_dimension!(Vec3);
    read_by_serde!(
        Fill,
        MeshSource,
        FluidMaterial,
        DfsphSettings,
        PressureSolver,
        FluidMethod,
        WcsphSettings,
        EquationOfState,
        NegativePressure,
        DensityCorrection,
        Periodic,
        TimeStep,
        ClothSettings,
        ClothScheme,
        Tethers,
        Inversion,
        SmokeSettings,
        SmokeScheme,
        SmokePressure,
        Advection,
        Splitting,
        TotalDye,
        Walls,
        Border,
        [u32; 3],
    );
    registry
}

impl SceneFile {
    /// The scene in it, to be changed by paths such as `fluids[0].material.viscosity`.
    pub fn as_reflect_mut(&mut self) -> &mut dyn Reflect {
        match self {
            Self::Scene2d(scene) => scene,
            Self::Scene3d(scene) => scene,
        }
    }
}
