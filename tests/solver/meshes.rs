//! Vessels, obstacles and water out of triangle meshes.

use bevy_fluid::solver::sampling::{BoundaryShape, FluidShape, MeshSource, TriangleMesh};
use bevy_fluid::solver::scene::{Scene, SceneBoundary, SceneFluid};
use bevy_fluid::solver::simulation::Simulation;
use bevy_math::{Vec2, Vec3};

use crate::support::{D, R, block, positions, start, step, void};

/// A box between two corners; without its lid it is a vessel that is open above.
fn cuboid(low: Vec3, high: Vec3, lid: bool) -> TriangleMesh {
    let corner = |i: u32| {
        let upper = Vec3::new((i & 1) as f32, (i >> 1 & 1) as f32, (i >> 2 & 1) as f32);
        low + (high - low) * upper
    };
    let quads =
        [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [0, 2, 3, 1], [4, 5, 7, 6], [2, 6, 7, 3]];
    let quads = &quads[..if lid { 6 } else { 5 }];
    let triangles: Vec<[u32; 3]> =
        quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    TriangleMesh::new(&(0..8).map(corner).collect::<Vec<_>>(), &triangles).unwrap()
}

/// A boundary of a mesh where it is.
fn wall(mesh: TriangleMesh) -> SceneBoundary<Vec3> {
    let shape = BoundaryShape::Mesh { mesh: mesh.into(), scale: Vec3::ONE };
    SceneBoundary { shape, position: Vec3::ZERO, surface_velocity: Vec3::ZERO }
}

fn run_to(simulation: &mut Simulation<Vec3>, time: f64) {
    while simulation.time() < time {
        step(simulation);
    }
}

#[test]
fn an_open_vessel_holds_its_water() {
    let size = Vec3::new(8.2, 16.0, 8.2) * D;
    let scene = Scene {
        fluids: vec![block(Vec3::splat(0.6 * D), [7, 12, 7])],
        boundaries: vec![wall(cuboid(Vec3::ZERO, size, false))],
        ..void()
    };
    let mut simulation = start(&scene);
    run_to(&mut simulation, 2.0);
    for x in positions(&mut simulation) {
        assert!(x.cmpgt(Vec3::ZERO).all() && x.cmplt(size).all(), "{x} left {size}");
    }
    let measures = simulation.world().measure();
    assert!(measures.max_speed < 0.25, "{} m/s", measures.max_speed);
    assert!(measures.max_density < 1060.0, "{}", measures.max_density);
}

#[test]
fn a_mesh_obstacle_keeps_water_out() {
    let size = Vec3::new(12.2, 18.0, 12.2) * D;
    let (low, high) = (Vec3::new(3.1, 0.0, 3.1) * D, Vec3::new(9.1, 6.0, 9.1) * D);
    let scene = Scene {
        fluids: vec![block(Vec3::new(0.6, 8.0, 0.6) * D, [11, 6, 11])],
        boundaries: vec![wall(cuboid(Vec3::ZERO, size, false)), wall(cuboid(low, high, true))],
        ..void()
    };
    let mut simulation = start(&scene);
    run_to(&mut simulation, 1.0);
    let places = positions(&mut simulation);
    let beside = places.iter().filter(|x| x.y < 5.0 * D).count();
    assert!(beside > 300, "the water has run off: {beside}");
    for x in places {
        let inside = x.cmpgt(low + 0.5 * R).all() && x.cmplt(high - 0.5 * R).all();
        assert!(!inside, "{x} is inside of the obstacle");
        assert!(x.cmpgt(Vec3::ZERO).all() && x.x.max(x.z) < size.x, "{x} left the vessel");
    }
}

#[test]
fn water_takes_the_shape_of_a_closed_mesh_only() {
    let shape = |mesh: TriangleMesh| FluidShape::Mesh {
        mesh: mesh.into(),
        position: Vec3::X,
        scale: Vec3::new(1.0, 2.0, 1.0),
    };
    let closed = shape(cuboid(Vec3::ZERO, Vec3::ONE, true));
    let same = FluidShape::Block { min: Vec3::X, size: Vec3::new(1.0, 2.0, 1.0) };
    let (points, expected) = (closed.positions(R).unwrap(), same.positions(R).unwrap());
    assert_eq!(points.len(), expected.len());
    assert!(points.iter().zip(&expected).all(|(a, b)| a.distance(*b) < 1e-5));
    let open = shape(cuboid(Vec3::ZERO, Vec3::ONE, false));
    let error = open.positions(R).unwrap_err().to_string();
    assert!(error.starts_with("mesh is open along 4 edges, allowed is a closed"), "{error}");
}

#[test]
fn a_mesh_that_was_not_read_or_lies_in_a_plane_is_refused_by_its_place() {
    let named = |mesh: MeshSource| BoundaryShape::Mesh { mesh, scale: Vec3::ONE };
    let boundary = |mesh| {
        let (position, surface_velocity) = (Vec3::ZERO, Vec3::ZERO);
        vec![SceneBoundary { shape: named(mesh), position, surface_velocity }]
    };
    let mut scene = Scene { boundaries: boundary(MeshSource::file("a.obj")), ..void() };
    let error = scene.boundary_samples().unwrap_err().to_string();
    assert!(error.starts_with("boundaries[0].shape.mesh is \"a.obj\", allowed is"), "{error}");
    let water = FluidShape::Mesh {
        mesh: MeshSource::file("a.obj"),
        position: Vec3::ZERO,
        scale: Vec3::ONE,
    };
    scene.fluids.push(SceneFluid { shapes: vec![water.clone(), water], ..SceneFluid::default() });
    let mut asked = Vec::new();
    scene
        .load_meshes(|path| {
            asked.push(path.to_owned());
            Ok::<_, ()>(cuboid(Vec3::ZERO, Vec3::ONE, true))
        })
        .unwrap();
    assert_eq!(asked, ["a.obj"], "each file once");
    assert!(scene.boundary_samples().unwrap().len() > 2400);
    assert_eq!(scene.fluid_positions(0).unwrap().len(), 16_000);
    assert_eq!(scene.load_meshes(|path| Err(path.len())), Err(5));

    let flat = BoundaryShape::<Vec2>::Mesh { mesh: MeshSource::file("a.obj"), scale: Vec2::ONE };
    let error = flat.samples(D).unwrap_err().to_string();
    assert!(error.contains("Scene3d"), "{error}");
    let squashed = BoundaryShape::Mesh {
        mesh: cuboid(Vec3::ZERO, Vec3::ONE, true).into(),
        scale: Vec3::new(1.0, 0.0, 1.0),
    };
    assert!(squashed.samples(D).unwrap_err().to_string().starts_with("scale is"));
}

#[cfg(feature = "scene")]
mod files {
    use bevy_fluid::solver::scene::SceneFile;

    use super::*;

    /// A scene of the repository with its meshes.
    fn asset(name: &str) -> Scene<Vec3> {
        let folder = format!("{}/assets/scenes", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(format!("{folder}/{name}")).unwrap();
        let SceneFile::Scene3d(mut scene) = SceneFile::parse(name, &text).unwrap() else {
            panic!("{name} is a scene in space")
        };
        let read = |path: &str| {
            TriangleMesh::from_obj(path, &std::fs::read(format!("{folder}/{path}")).unwrap())
        };
        scene.load_meshes(read).unwrap();
        scene
    }

    /// A shell without thickness: water leaves it over its rim or not at all.
    #[test]
    fn a_bowl_holds_what_does_not_splash_over_its_rim() {
        let mut scene = asset("bowl.ron");
        scene.particle_radius = 0.0125;
        scene.boundaries.truncate(1);
        scene.fluids = vec![SceneFluid {
            shapes: vec![FluidShape::Ball { center: Vec3::new(0.0, 0.18, 0.0), radius: 0.11 }],
            ..SceneFluid::default()
        }];
        let mut simulation = start(&scene);
        let count = positions(&mut simulation).len();
        let rim = 0.24;
        let outside =
            |x: &Vec3| ((*x - Vec3::Y * rim) / Vec3::new(0.25, 0.22, 0.25)).length() > 1.0;
        let mut left = vec![false; count];
        while simulation.time() < 2.0 {
            step(&mut simulation);
            for (left, x) in left.iter_mut().zip(positions(&mut simulation)) {
                if !*left && x.y < rim && outside(&x) {
                    *left = true;
                    assert!(x.y > rim - 0.02, "{x} went through the wall");
                }
            }
        }
        let splashed = left.iter().filter(|left| **left).count();
        assert!(splashed < count / 10, "{splashed} of {count}");
        let heights = positions(&mut simulation).into_iter().filter(|x| !outside(x)).map(|x| x.y);
        let (lowest, highest) = heights.fold((1.0f32, 0.0f32), |(a, b), y| (a.min(y), b.max(y)));
        assert!(lowest < 0.06 && highest > 0.1 && highest < rim, "{lowest} m to {highest} m");
    }

    #[test]
    fn scenes_in_space_run() {
        for (name, particles, samples) in [
            ("dam_break_3d.ron", 18_000..19_000, 19_000..23_000),
            ("double_dam_3d.ron", 8_000..8_001, 8_000..11_000),
            ("bowl.ron", 1_500..3_000, 10_000..20_000),
            ("floor_3d.ron", 1_700..1_900, 0..1),
        ] {
            let mut simulation = start(&asset(name));
            let found = simulation.world().boundary_len();
            assert!(samples.contains(&found), "{name}: {found} samples");
            for _ in 0..4 {
                step(&mut simulation);
            }
            let found = positions(&mut simulation).len();
            assert!(particles.contains(&found), "{name}: {found} particles");
        }
        let fine = asset("dam_break_3d_fine.ron");
        assert_eq!(fine.fluid_positions(0).unwrap().len(), 150_000);
    }
}
