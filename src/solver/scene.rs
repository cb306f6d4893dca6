//! A scene as data: what `assets/scenes/*.ron` hold.

use std::sync::Arc;

use bevy_math::Vec2;

use super::cloth::scene::{SceneCloth, SceneCollider};
use super::drain::FluidDrain;
use super::emitter::EmitterSettings;
use super::error::FluidError;
use super::fan::Fan;
use super::half_space::{BoundaryPlane, check_normal};
use super::periodic::Periodic;
use super::sampling::{BoundaryShape, Fill, FluidShape, MeshSource, TriangleMesh};
use super::settings::{
    DfsphSettings, FluidMaterial, FluidMethod, PressureSolver, WcsphSettings, WorldSettings,
};
use super::smoke::scene::SceneSmoke;
use super::time_step::TimeStep;
use super::vector::Vector;

#[cfg(feature = "scene")]
mod file;
#[cfg(all(feature = "plugin", feature = "scene"))]
mod reflection;

#[cfg(feature = "scene")]
pub use file::{SceneError, SceneFile};
#[cfg(all(feature = "plugin", feature = "scene"))]
pub use reflection::scene_types;

/// Everything a simulation starts from. Fields that a file leaves out have
/// the defaults that games get.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "scene", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "scene",
    serde(
        default,
        deny_unknown_fields,
        bound(
            serialize = "V: Vector + serde::Serialize",
            deserialize = "V: Vector + serde::Deserialize<'de>"
        )
    )
)]
#[cfg_attr(feature = "plugin", derive(bevy_reflect::Reflect))]
pub struct Scene<V> {
    /// Gravity in m/s², any finite vector.
    pub gravity: V,
    /// Radius of all particles in metres, 1e-5 to 1e5.
    pub particle_radius: f32,
    /// Length of a step.
    pub time_step: TimeStep,
    /// How water is kept from being compressed.
    pub method: FluidMethod,
    /// Parameters of DFSPH.
    pub dfsph: DfsphSettings,
    /// Parameters of WCSPH.
    pub wcsph: WcsphSettings,
    /// Borders at which space repeats itself.
    pub periodic: Periodic,
    /// Bodies of fluid.
    pub fluids: Vec<SceneFluid<V>>,
    /// Sources of particles.
    pub emitters: Vec<SceneEmitter<V>>,
    /// Regions that remove particles.
    pub drains: Vec<FluidDrain<V>>,
    /// Walls and obstacles, of water, cloth and smoke.
    pub boundaries: Vec<SceneBoundary<V>>,
    /// Velocity of the air that cloth feels in m/s, up to 1e6.
    pub wind: V,
    /// Fans that blow on water, cloth and smoke.
    pub fans: Vec<Fan<V>>,
    /// Cloths, ropes and chains.
    pub cloths: Vec<SceneCloth<V>>,
    /// Solids that stop cloth only.
    pub colliders: Vec<SceneCollider<V>>,
    /// Domains of smoke.
    pub smokes: Vec<SceneSmoke<V>>,
}

/// A body of fluid in a scene.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "scene", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "scene",
    serde(
        default,
        deny_unknown_fields,
        bound(
            serialize = "V: Vector + serde::Serialize",
            deserialize = "V: Vector + serde::Deserialize<'de>"
        )
    )
)]
#[cfg_attr(feature = "plugin", derive(bevy_reflect::Reflect))]
pub struct SceneFluid<V> {
    /// What it is made of.
    pub material: FluidMaterial,
    /// The volumes it fills at the start, in this order.
    pub shapes: Vec<FluidShape<V>>,
    /// Velocity at the start in m/s, any finite vector.
    pub velocity: V,
}

/// A source of particles in a scene.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "scene", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "scene",
    serde(
        deny_unknown_fields,
        bound(
            serialize = "V: Vector + serde::Serialize",
            deserialize = "V: Vector + serde::Deserialize<'de>"
        )
    )
)]
#[cfg_attr(feature = "plugin", derive(bevy_reflect::Reflect))]
pub struct SceneEmitter<V> {
    /// Index of the fluid that its particles join, which may have no shapes.
    #[cfg_attr(feature = "scene", serde(default))]
    pub fluid: usize,
    /// What it pours.
    pub emitter: EmitterSettings<V>,
}

/// A boundary in a scene.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "scene", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "scene",
    serde(
        deny_unknown_fields,
        bound(
            serialize = "V: Vector + serde::Serialize",
            deserialize = "V: Vector + serde::Deserialize<'de>"
        )
    )
)]
#[cfg_attr(feature = "plugin", derive(bevy_reflect::Reflect))]
pub struct SceneBoundary<V> {
    /// Its shape, around its own origin.
    pub shape: BoundaryShape<V>,
    /// Where that origin is, in metres.
    #[cfg_attr(feature = "scene", serde(default))]
    pub position: V,
    /// Velocity of its surface along itself in m/s, any finite vector: that of
    /// a conveyor belt, which drags fluid as its `boundary_viscosity` says.
    #[cfg_attr(feature = "scene", serde(default))]
    pub surface_velocity: V,
}

impl<V: Vector> Default for Scene<V> {
    fn default() -> Self {
        let WorldSettings { gravity, particle_radius, method, dfsph, wcsph, periodic } =
            WorldSettings::default();
        Self {
            gravity,
            particle_radius,
            time_step: TimeStep::default(),
            method,
            dfsph,
            wcsph,
            periodic,
            fluids: Vec::new(),
            emitters: Vec::new(),
            drains: Vec::new(),
            boundaries: Vec::new(),
            wind: V::ZERO,
            fans: Vec::new(),
            cloths: Vec::new(),
            colliders: Vec::new(),
            smokes: Vec::new(),
        }
    }
}

impl<V: Vector> Default for SceneFluid<V> {
    fn default() -> Self {
        Self { material: FluidMaterial::default(), shapes: Vec::new(), velocity: V::ZERO }
    }
}

impl<V: Vector> Scene<V> {
    /// The settings of the world.
    pub fn settings(&self) -> WorldSettings<V> {
        WorldSettings {
            gravity: self.gravity,
            particle_radius: self.particle_radius,
            method: self.method,
            dfsph: self.dfsph.clone(),
            wcsph: self.wcsph.clone(),
            periodic: self.periodic,
        }
    }

    /// Checks everything that can be checked without making a particle.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for the first value outside its range.
    pub fn validate(&self) -> Result<(), FluidError> {
        self.settings().validate()?;
        self.time_step.validate()?;
        Fan::validate_all(&self.fans)?;
        for (index, fluid) in self.fluids.iter().enumerate() {
            let name = format_args!("fluids[{index}]").to_string();
            let material = fluid.material.validate();
            material.map_err(|error| error.within(format_args!("{name}.material")))?;
            if !fluid.velocity.is_finite() {
                return Err(FluidError::parameter(
                    format_args!("{name}.velocity"),
                    fluid.velocity,
                    "finite components, m/s",
                ));
            }
        }
        for (index, source) in self.emitters.iter().enumerate() {
            let valid = source.emitter.validate();
            valid.map_err(|error| error.within(format_args!("emitters[{index}].emitter")))?;
            if source.fluid >= self.fluids.len() {
                let allowed = format_args!("an index below {}", self.fluids.len()).to_string();
                let name = format_args!("emitters[{index}].fluid").to_string();
                return Err(FluidError::parameter(name, source.fluid, allowed));
            }
        }
        for (index, drain) in self.drains.iter().enumerate() {
            let valid = drain.validate();
            valid.map_err(|error| error.within(format_args!("drains[{index}]")))?;
        }
        for (index, boundary) in self.boundaries.iter().enumerate() {
            if !boundary.position.is_finite() {
                return Err(FluidError::parameter(
                    format_args!("boundaries[{index}].position"),
                    boundary.position,
                    "finite components, m",
                ));
            }
            if !boundary.surface_velocity.is_finite() {
                return Err(FluidError::parameter(
                    format_args!("boundaries[{index}].surface_velocity"),
                    boundary.surface_velocity,
                    "finite components, m/s",
                ));
            }
        }
        Ok(())
    }

    /// Paths of the mesh files it names, each once, in their order.
    pub fn mesh_paths(&self) -> Vec<String> {
        let mut scene = self.clone();
        let mut paths: Vec<String> = Vec::new();
        for source in scene.mesh_sources() {
            if !source.path().is_empty() && !paths.iter().any(|path| path == source.path()) {
                paths.push(source.path().to_owned());
            }
        }
        paths
    }

    /// Puts in the meshes of its files, for each of which `load` is called once.
    /// Needed before particles and samples can be made of a scene that names one.
    ///
    /// # Errors
    /// The first error of `load`; meshes after it are not there then.
    pub fn load_meshes<E>(
        &mut self,
        mut load: impl FnMut(&str) -> Result<TriangleMesh, E>,
    ) -> Result<(), E> {
        for path in self.mesh_paths() {
            let mesh = Arc::new(load(&path)?);
            let sources = self.mesh_sources().filter(|source| source.path() == path);
            sources.for_each(|source| source.set_mesh(mesh.clone()));
        }
        Ok(())
    }

    fn mesh_sources(&mut self) -> impl Iterator<Item = &mut MeshSource> {
        let fluids = self.fluids.iter_mut().flat_map(|fluid| &mut fluid.shapes);
        let fluids = fluids.filter_map(|shape| match shape {
            FluidShape::Mesh { mesh, .. } => Some(mesh),
            _ => None,
        });
        let boundaries =
            self.boundaries.iter_mut().filter_map(|boundary| match &mut boundary.shape {
                BoundaryShape::Mesh { mesh, .. } => Some(mesh),
                _ => None,
            });
        fluids.chain(boundaries)
    }

    /// Particle positions of a fluid, shape after shape.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for an impossible shape, and
    /// [`FluidError::UnknownBody`] if there is no such fluid.
    pub fn fluid_positions(&self, index: usize) -> Result<Vec<V>, FluidError> {
        let fluid = self
            .fluids
            .get(index)
            .ok_or(FluidError::UnknownBody { index, count: self.fluids.len() })?;
        let mut positions = Vec::new();
        for (place, shape) in fluid.shapes.iter().enumerate() {
            let more = shape
                .positions(self.particle_radius)
                .map_err(|error| error.within(format_args!("fluids[{index}].shapes[{place}]")))?;
            positions.extend(more);
        }
        Ok(positions)
    }

    /// Samples of all boundaries in the world.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for an impossible shape.
    pub fn boundary_samples(&self) -> Result<Vec<V>, FluidError> {
        self.collect_samples(|boundary, sample| boundary.position + sample)
    }

    /// Its boundaries that are half-spaces.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for an impossible normal.
    pub fn planes(&self) -> Result<Vec<BoundaryPlane<V>>, FluidError> {
        let mut planes = Vec::new();
        for (index, boundary) in self.boundaries.iter().enumerate() {
            if let BoundaryShape::HalfSpace { normal } = boundary.shape {
                check_normal("normal", normal)
                    .map_err(|error| error.within(format_args!("boundaries[{index}].shape")))?;
                planes.push(BoundaryPlane {
                    point: boundary.position,
                    normal,
                    surface_velocity: boundary.surface_velocity,
                });
            }
        }
        Ok(planes)
    }

    /// Surface velocities in m/s of the samples of all boundaries.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for an impossible shape.
    pub fn surface_velocities(&self) -> Result<Vec<V>, FluidError> {
        if self.boundaries.iter().all(|boundary| boundary.surface_velocity == V::ZERO) {
            return Ok(Vec::new());
        }
        self.collect_samples(|boundary, _| boundary.surface_velocity)
    }

    /// A vector for each sample of each boundary.
    fn collect_samples(
        &self,
        of: impl Fn(&SceneBoundary<V>, V) -> V,
    ) -> Result<Vec<V>, FluidError> {
        let mut all = Vec::new();
        for (index, boundary) in self.boundaries.iter().enumerate() {
            let own = boundary
                .shape
                .samples(2.0 * self.particle_radius)
                .map_err(|error| error.within(format_args!("boundaries[{index}].shape")))?;
            all.extend(own.into_iter().map(|sample| of(boundary, sample)));
        }
        Ok(all)
    }
}

impl Scene<Vec2> {
    /// The reference's breaking dam: `columns` times `rows` particles at the
    /// left of a closed box three times as wide and high.
    ///
    /// At 30 times 30 it is `assets/scenes/dam_break.ron`.
    pub fn dam_break(columns: u32, rows: u32) -> Self {
        // In decimal, so that rounding gives the numbers one would write.
        let (particle_radius, d) = (0.025, 0.05);
        let (w, h) = (f64::from(columns), f64::from(rows));
        let left = -1.5 * w * d;
        let width = (3.0 * w - 1.0).max(1.0) * d;
        let height = 3.0 * h.max(1.0) * d;
        let vector = |x: f64, y: f64| Vec2::new(x as f32, y as f32);
        Self {
            gravity: Vec2::new(0.0, -9.81),
            particle_radius,
            time_step: TimeStep::Fixed(0.005),
            dfsph: DfsphSettings {
                solver: PressureSolver::Jacobi,
                min_divergence_iterations: 1,
                warm_start: 1.0,
                max_correction: 1000.0,
                initial_compression: 0.0,
                ..DfsphSettings::default()
            },
            fluids: vec![SceneFluid {
                material: FluidMaterial::default(),
                shapes: vec![FluidShape::Block {
                    min: vector(left + d, d),
                    size: vector(w * d, h * d),
                }],
                velocity: Vec2::ZERO,
            }],
            method: FluidMethod::Dfsph,
            wcsph: WcsphSettings::default(),
            periodic: Periodic::NONE,
            emitters: Vec::new(),
            drains: Vec::new(),
            boundaries: vec![SceneBoundary {
                shape: BoundaryShape::Box {
                    half_size: vector(0.5 * width, 0.5 * height),
                    fill: Fill::Shell,
                },
                position: vector(left + 0.5 * width, 0.5 * height),
                surface_velocity: Vec2::ZERO,
            }],
            wind: Vec2::ZERO,
            fans: Vec::new(),
            cloths: Vec::new(),
            colliders: Vec::new(),
            smokes: Vec::new(),
        }
    }
}
