//! Scene files as assets, spawned into the app, with hot reload.

use bevy::asset::io::Reader;
use bevy::asset::{AssetLoader, LoadContext};
use bevy::ecs::entity::EntityHashMap;
use bevy::prelude::*;
use core::marker::PhantomData;

use crate::boundary::BoundaryOf;
use crate::cloth::ClothColliderOf;
use crate::dimension::Dimension;
use crate::emitter::{FluidDrainOf, FluidEmitterOf};
use crate::fluid::{FluidOf, FluidRefused};
use crate::settings::FluidSettings;
use crate::solver::companions::Companions;
use crate::solver::error::FluidError;
use crate::solver::particles::FluidParticles;
use crate::solver::sampling::{MeshFileError, TriangleMesh};
use crate::solver::scene::{Scene, SceneError, SceneFile};

/// A scene in one dimension, loaded from a `.ron` file or made in code.
/// Spelt [`SceneAsset2d`](crate::SceneAsset2d) or [`SceneAsset3d`](crate::SceneAsset3d).
#[derive(Asset, TypePath, Clone, Debug, PartialEq, Deref)]
pub struct SceneAssetOf<V: Dimension>(pub Scene<V>);

/// Spawns a scene's fluids and boundaries as children of its entity, and takes
/// the scene's settings over into [`FluidSettings`]. Spelt
/// [`FluidScene2d`](crate::FluidScene2d) or [`FluidScene3d`](crate::FluidScene3d).
///
/// Touching the component restarts the scene and keeps the settings as they
/// are; changing the asset restarts it with the asset's.
#[derive(Component, Clone, Debug, Default, PartialEq)]
#[require(Transform, Visibility)]
pub struct FluidSceneOf<V: Dimension>(pub Handle<SceneAssetOf<V>>);

impl<V: Dimension> SceneAssetOf<V> {
    /// A scene made in code.
    pub fn new(scene: Scene<V>) -> Self {
        Self(scene)
    }
}

impl<V: Dimension> FluidSceneOf<V> {
    /// Spawns the scene of an asset as soon as it is loaded.
    pub fn new(scene: Handle<SceneAssetOf<V>>) -> Self {
        Self(scene)
    }
}

impl<V: Dimension> Default for SceneAssetOf<V> {
    fn default() -> Self {
        Self(Scene::default())
    }
}

/// Why a scene file was not loaded.
#[derive(Debug, thiserror::Error)]
pub enum SceneLoadError {
    /// The file could not be read.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// The file holds no valid scene.
    #[error("{0}")]
    Scene(#[from] SceneError),
    /// A mesh that it names could not be read.
    #[error("cannot read {path}: {reason}")]
    Mesh {
        /// Path of the mesh, relative to the scene.
        path: String,
        /// What the asset reader says.
        reason: String,
    },
    /// A mesh that it names is none.
    #[error("{0}")]
    MeshFile(#[from] MeshFileError),
    /// The scene is of the other dimension.
    #[error("{file} holds a scene of the other dimension")]
    Dimension {
        /// Name of the file.
        file: String,
    },
}

/// Loads `.ron` scenes of one dimension.
#[derive(TypePath)]
struct SceneLoader<V: Dimension> {
    dimension: PhantomData<V>,
}

/// Picks the scene of a dimension out of a file.
pub(crate) trait SceneDimension: Dimension {
    /// The scene, if the file is of this dimension.
    fn scene(file: SceneFile) -> Option<Scene<Self>>;
}

impl SceneDimension for Vec2 {
    fn scene(file: SceneFile) -> Option<Scene<Self>> {
        match file {
            SceneFile::Scene2d(scene) => Some(scene),
            SceneFile::Scene3d(_) => None,
        }
    }
}

impl SceneDimension for Vec3 {
    fn scene(file: SceneFile) -> Option<Scene<Self>> {
        match file {
            SceneFile::Scene3d(scene) => Some(scene),
            SceneFile::Scene2d(_) => None,
        }
    }
}

impl<V: SceneDimension> AssetLoader for SceneLoader<V> {
    type Asset = SceneAssetOf<V>;
    type Settings = ();
    type Error = SceneLoadError;

    async fn load(
        &self,
        reader: &mut dyn Reader,
        _settings: &(),
        context: &mut LoadContext<'_>,
    ) -> Result<Self::Asset, SceneLoadError> {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).await?;
        let file = context.path().to_string();
        let text = String::from_utf8_lossy(&bytes);
        let scene = SceneFile::parse(&file, &text)?;
        let mut scene = V::scene(scene).ok_or(SceneLoadError::Dimension { file })?;
        let mut meshes = Vec::new();
        for path in scene.mesh_paths() {
            let refused = |reason: String| SceneLoadError::Mesh { path: path.clone(), reason };
            let place = context.path().resolve_embed_str(&path);
            let place = place.map_err(|error| refused(error.to_string()))?;
            let bytes = context.read_asset_bytes(place).await;
            meshes.push(bytes.map_err(|error| refused(error.to_string()))?);
        }
        let mut meshes = meshes.iter();
        scene.load_meshes(|path| {
            // In the order of the paths, each once.
            let bytes = meshes.next().map_or(&[][..], Vec::as_slice);
            TriangleMesh::from_obj(path, bytes)
        })?;
        Ok(SceneAssetOf(scene))
    }

    fn extensions(&self) -> &[&str] {
        &["ron"]
    }
}

/// Adds loader and spawner of one dimension, in an app that has assets.
pub(crate) fn add<V: SceneDimension>(app: &mut App) {
    if !app.world().contains_resource::<AssetServer>() {
        return;
    }
    app.init_asset::<SceneAssetOf<V>>()
        .register_asset_loader(SceneLoader::<V> { dimension: PhantomData })
        .add_systems(PreUpdate, respawn::<V>);
}

/// Spawns scenes that are new, were touched, or whose asset arrived or changed.
///
/// A scene's settings are taken over when it first appears and when its asset
/// changes; a restart keeps what was tuned since.
fn respawn<V: SceneDimension>(
    mut commands: Commands,
    scenes: Query<(Entity, Ref<FluidSceneOf<V>>)>,
    assets: Res<Assets<SceneAssetOf<V>>>,
    mut events: MessageReader<AssetEvent<SceneAssetOf<V>>>,
    mut settings: ResMut<FluidSettings>,
    mut refused: MessageWriter<FluidRefused>,
    mut spawned: Local<EntityHashMap<AssetId<SceneAssetOf<V>>>>,
) {
    spawned.retain(|entity, _| scenes.contains(*entity));
    let modified: Vec<AssetId<SceneAssetOf<V>>> = events
        .read()
        .filter_map(|event| match event {
            AssetEvent::Modified { id } => Some(*id),
            _ => None,
        })
        .collect();
    for (entity, root) in &scenes {
        let asset_id = root.0.id();
        let reloaded = modified.contains(&asset_id);
        let arrived = spawned.get(&entity) != Some(&asset_id);
        if !root.is_changed() && !reloaded && !arrived {
            continue;
        }
        // One that is still loading is looked at again in the next frame.
        let Some(asset) = assets.get(&root.0) else { continue };
        let takes_settings = reloaded || !spawned.contains_key(&entity);
        spawned.insert(entity, asset_id);
        commands.entity(entity).despawn_children();
        let settings = takes_settings.then_some(&mut *settings);
        if let Err(error) = spawn(&mut commands, entity, &asset.0, settings) {
            warn!("scene {entity} refused: {error}");
            refused.write(FluidRefused { entity: Some(entity), error });
        }
    }
}

fn spawn<V: SceneDimension>(
    commands: &mut Commands,
    root: Entity,
    scene: &Scene<V>,
    settings: Option<&mut FluidSettings>,
) -> Result<(), FluidError> {
    scene.validate()?;
    let mut bodies = Vec::new();
    for (index, fluid) in scene.fluids.iter().enumerate() {
        let mut particles = FluidParticles::new();
        for position in scene.fluid_positions(index)? {
            particles.spawn(position, fluid.velocity)?;
        }
        bodies.push((FluidOf::<V>::new(fluid.material.clone()), particles));
    }
    let Companions { cloths, smokes, fans, .. } = Companions::of_scene(scene)?;
    if let Some(settings) = settings {
        settings.gravity = Vec3::from_array(scene.gravity.to_array());
        settings.wind = Vec3::from_array(scene.wind.to_array());
        *V::particle_radius_mut(settings) = scene.particle_radius;
        settings.time_step = scene.time_step;
        settings.method = scene.method;
        settings.dfsph = scene.dfsph.clone();
        settings.wcsph = scene.wcsph.clone();
        settings.periodic = scene.periodic;
    }
    let fluids: Vec<Entity> =
        bodies.into_iter().map(|body| commands.spawn((body, ChildOf(root))).id()).collect();
    for source in &scene.emitters {
        // A valid scene has the fluid.
        let Some(&fluid) = fluids.get(source.fluid) else { continue };
        commands.spawn((FluidEmitterOf::new(fluid, source.emitter.clone()), ChildOf(root)));
    }
    for drain in &scene.drains {
        let position = Vec3::from_array(drain.position.to_array());
        commands.spawn((
            FluidDrainOf::<V>(drain.shape),
            Transform::from_translation(position),
            ChildOf(root),
        ));
    }
    fans.into_iter().for_each(|fan| {
        commands.spawn((fan, ChildOf(root)));
    });
    cloths.into_iter().for_each(|cloth| {
        commands.spawn((cloth, Transform::default(), ChildOf(root)));
    });
    smokes.into_iter().for_each(|smoke| {
        commands.spawn((smoke, Transform::default(), ChildOf(root)));
    });
    for collider in &scene.colliders {
        let position = Vec3::from_array(collider.position.to_array());
        commands.spawn((
            ClothColliderOf::<V>(collider.shape.clone()),
            Transform::from_translation(position),
            ChildOf(root),
        ));
    }
    for boundary in &scene.boundaries {
        let position = Vec3::from_array(boundary.position.to_array());
        commands.spawn((
            BoundaryOf::<V>::new(boundary.shape.clone())
                .with_surface_velocity(boundary.surface_velocity),
            Transform::from_translation(position),
            ChildOf(root),
        ));
    }
    Ok(())
}
