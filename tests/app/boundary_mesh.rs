//! Boundaries from mesh assets.

use bevy::asset::RenderAssetUsages;
use bevy::mesh::{MeshPlugin, PrimitiveTopology};
use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use bevy_fluid::solver::sampling::TriangleMesh;
use bevy_fluid::{
    Boundary3d, BoundaryMesh, FluidPlugin, FluidRefused, FluidScene3d, FluidWorld3d, SceneAsset3d,
};

fn app() -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, AssetPlugin::default(), TransformPlugin, MeshPlugin));
    app.add_plugins(FluidPlugin::default());
    app.insert_resource(TimeUpdateStrategy::FixedTimesteps(1));
    app.finish();
    app.cleanup();
    app
}

fn add(app: &mut App, mesh: impl Into<Mesh>) -> Handle<Mesh> {
    app.world_mut().resource_mut::<Assets<Mesh>>().add(mesh.into())
}

/// Samples of all boundaries after two ticks.
fn samples(app: &mut App) -> usize {
    app.update();
    app.update();
    app.world().resource::<FluidWorld3d>().boundary_len()
}

fn refusals(app: &mut App) -> Vec<String> {
    let mut refused = app.world_mut().resource_mut::<Messages<FluidRefused>>();
    refused.drain().map(|refused| refused.error.to_string()).collect()
}

#[test]
fn bevys_own_meshes_are_closed_surfaces() {
    for (name, mesh) in [
        ("cuboid", Mesh::from(Cuboid::from_length(1.0))),
        ("sphere", Sphere::new(0.5).into()),
        ("sphere of rings", Sphere::new(0.5).mesh().uv(32, 18)),
        ("cylinder", Cylinder::new(0.3, 1.0).into()),
        ("torus", Torus::new(0.2, 0.5).into()),
        ("capsule", Capsule3d::new(0.2, 0.5).into()),
    ] {
        let surface = TriangleMesh::try_from(&mesh).unwrap();
        assert!(surface.is_closed(), "{name}");
        assert!(surface.surface_samples(0.05).unwrap().len() > 300, "{name}");
        assert!(Boundary3d::from_mesh(&mesh, Vec3::ONE).is_ok(), "{name}");
        assert!(Boundary3d::from_mesh(&mesh, Vec3::ZERO).is_err(), "{name}");
    }
}

#[test]
fn a_boundary_follows_its_mesh() {
    let mut app = app();
    let cube = add(&mut app, Cuboid::from_length(1.0));
    let entity = app.world_mut().spawn(BoundaryMesh(cube.clone())).id();
    let whole = samples(&mut app);
    assert!((2400..3300).contains(&whole), "6 m² at a spacing of 5 cm: {whole}");
    *app.world_mut().resource_mut::<Assets<Mesh>>().get_mut(&cube).unwrap() =
        Cuboid::from_length(0.5).into();
    let quarter = samples(&mut app);
    assert!(quarter < whole / 3 && quarter > whole / 5, "{quarter} of {whole}");
    let ball = add(&mut app, Sphere::new(0.5));
    app.world_mut().entity_mut(entity).insert(BoundaryMesh(ball));
    let ball = samples(&mut app);
    assert!(ball > 2 * quarter && ball < whole, "{ball}");
    app.world_mut().entity_mut(entity).despawn();
    assert_eq!(samples(&mut app), 0);
    assert_eq!(refusals(&mut app), [""; 0]);
}

#[test]
fn a_mesh_without_a_surface_is_refused_and_a_good_one_stands() {
    let mut app = app();
    let mesh = |topology, positions: Vec<[f32; 3]>| {
        Mesh::new(topology, RenderAssetUsages::default())
            .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, positions)
    };
    let good = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let mut spoilt = good.clone();
    spoilt[1][2] = f32::NAN;
    let list = PrimitiveTopology::TriangleList;
    for (mesh, expected) in [
        (mesh(PrimitiveTopology::LineList, good.clone()), "mesh is \"LineList\""),
        (mesh(list, spoilt), "positions[1] is "),
        (mesh(list, vec![[0.0; 3]; 3]), "triangles is 1, allowed is at least one"),
        (mesh(list, vec![]), "triangles is 0, allowed is at least one"),
        (Mesh::new(list, RenderAssetUsages::default()), "mesh is "),
    ] {
        let handle = add(&mut app, mesh);
        let entity = app.world_mut().spawn(BoundaryMesh(handle)).id();
        assert_eq!(samples(&mut app), 0);
        let refusals = refusals(&mut app);
        assert!(refusals.len() == 1 && refusals[0].starts_with(expected), "{refusals:?}");
        app.world_mut().entity_mut(entity).despawn();
    }
    for topology in [list, PrimitiveTopology::TriangleStrip] {
        let handle = add(&mut app, mesh(topology, good.clone()));
        app.world_mut().spawn(BoundaryMesh(handle));
    }
    assert!(samples(&mut app) > 400);
    assert_eq!(refusals(&mut app), [""; 0]);
}

#[test]
fn a_scene_file_brings_its_meshes() {
    let mut app = app();
    let handle: Handle<SceneAsset3d> =
        app.world().resource::<AssetServer>().load("scenes/double_dam_3d.ron");
    app.world_mut().spawn(FluidScene3d::new(handle));
    for _ in 0..2000 {
        app.update();
        if app.world().resource::<FluidWorld3d>().boundary_len() > 0 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    assert!(samples(&mut app) > 8000);
    assert_eq!(app.world().resource::<FluidWorld3d>().len(), 8000);
}
