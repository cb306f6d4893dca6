//! What is refused, and what is an ordinary state.

use bevy_fluid::solver::cloth::collision::{Collider, ColliderShape, HalfSpace};
use bevy_fluid::solver::cloth::{
    Cloth, ClothMesh, ClothSettings, DistanceConstraint, Surroundings,
};
use bevy_math::{Vec2, Vec3};

use super::support::{FRAME, pinned_sheet, run, sheet};

fn square() -> ClothMesh<Vec2> {
    ClothMesh::grid(Vec2::ZERO, Vec2::X, -Vec2::Y, 2, 2).unwrap()
}

#[test]
fn meshes_that_make_no_cloth_are_refused() {
    let corners = [Vec3::ZERO, Vec3::X, Vec3::Y];
    assert!(ClothMesh::from_triangles(&corners, &[0, 1, 2]).is_ok());
    assert!(ClothMesh::<Vec3>::from_triangles(&[], &[]).is_err());
    assert!(ClothMesh::from_triangles(&corners, &[0, 1]).is_err());
    let error = ClothMesh::from_triangles(&corners, &[0, 1, 3]).unwrap_err().to_string();
    assert_eq!(error, "indices[2] is 3, allowed is an index below 3");
    let bad = [Vec3::ZERO, Vec3::X, Vec3::new(0.0, f32::NAN, 0.0)];
    let error = ClothMesh::from_triangles(&bad, &[0, 1, 2]).unwrap_err().to_string();
    assert!(error.starts_with("vertices[2] is "), "{error}");
    assert!(ClothMesh::grid(Vec2::ZERO, Vec2::X, Vec2::Y, 0, 5).is_err());
    assert!(ClothMesh::grid(Vec2::ZERO, Vec2::X, Vec2::Y, 100_000, 100_000).is_err());
    assert!(ClothMesh::grid(Vec2::ZERO, Vec2::ZERO, Vec2::Y, 5, 5).is_err());
    assert!(ClothMesh::grid(Vec2::ZERO, Vec2::X, Vec2::Y, 1, 5).is_ok());
    let grid = |sag| ClothMesh::grid(Vec2::ZERO, Vec2::X, Vec2::Y, 3, 1).unwrap().sagging(sag);
    let error = grid(Vec2::NAN).unwrap_err().to_string();
    assert!(error.starts_with("sag is "), "{error}");
    assert!(grid(Vec2::X).is_err() && grid(Vec2::Y * 1e30).is_err() && grid(-Vec2::Y).is_ok());
    assert!(ClothMesh::rope(&[Vec2::ZERO, Vec2::ZERO]).is_err());
    assert!(ClothMesh::<Vec2>::rope(&[]).is_err());
    assert!(Cloth::new(ClothMesh::<Vec2>::default(), 1.0).is_err());
}

#[test]
fn masses_pins_and_constraints_out_of_range_are_refused() {
    for mass in [0.0, -1.0, f32::NAN, f32::INFINITY, 1e-20] {
        let error = Cloth::new(square(), mass).unwrap_err().to_string();
        assert!(error.starts_with("masses[0] is "), "{error}");
    }
    let mut cloth = Cloth::new(square(), 1.0).unwrap();
    assert!(cloth.set_mass(3, 0.0).is_err() && cloth.set_mass(4, 1.0).is_err());
    cloth.set_mass(3, 2.0).unwrap();
    let error = cloth.pin(4).unwrap_err().to_string();
    assert_eq!(error, "pin is 4, allowed is an index below 4");
    cloth.pin(3).unwrap();
    assert!(cloth.move_pin(2, Vec2::ZERO).is_err() && cloth.move_pin(3, Vec2::NAN).is_err());
    assert!(cloth.grab(9).is_err());
    let good = DistanceConstraint::link(0, 3, 1.0);
    for bad in [
        DistanceConstraint { b: 4, ..good },
        DistanceConstraint { b: 0, ..good },
        DistanceConstraint { rest_length: 0.0, ..good },
        DistanceConstraint { rest_length: f32::NAN, ..good },
        DistanceConstraint { stiffness: 1.5, ..good },
    ] {
        let before = cloth.positions().to_vec();
        cloth.constraints_mut().push(bad);
        let error = cloth.step(FRAME, &Surroundings::default()).unwrap_err().to_string();
        assert!(error.starts_with("constraints["), "{error}");
        assert_eq!(cloth.positions(), before);
        cloth.constraints_mut().pop();
    }
    cloth.constraints_mut().push(good);
    cloth.step(FRAME, &Surroundings::default()).unwrap();
    for dt in [0.0, -0.1, f32::NAN, f32::INFINITY, 2.0] {
        assert!(cloth.step(dt, &Surroundings::default()).is_err());
    }
    let settings = ClothSettings { substeps: 0, ..ClothSettings::default() };
    assert!(cloth.set_settings(settings).is_err());
    let gravity = Vec2::new(f32::NAN, 0.0);
    assert!(cloth.step(FRAME, &Surroundings { gravity, ..Surroundings::default() }).is_err());
}

#[test]
fn colliders_out_of_range_are_refused() {
    let mut cloth = sheet(4, 1.0);
    let half =
        |normal: Vec3, offset: f32| ColliderShape::Convex(vec![HalfSpace { normal, offset }]);
    let bad = [
        ColliderShape::Ball { radius: 0.0 },
        ColliderShape::Capsule { half_length: -1.0, radius: 1.0 },
        ColliderShape::Box { half_size: Vec3::new(1.0, 0.0, 1.0) },
        ColliderShape::Convex(Vec::new()),
        half(Vec3::ZERO, 1.0),
        half(Vec3::X, f32::NAN),
    ];
    let mut refused = |collider: Collider<Vec3>| {
        let around = Surroundings { colliders: &[collider], ..Surroundings::default() };
        cloth.step(FRAME, &around).err()
    };
    for shape in bad {
        let error = refused(Collider::new(shape, Vec3::ZERO)).unwrap().to_string();
        assert!(error.starts_with("colliders[0]."), "{error}");
    }
    let ball = Collider::new(ColliderShape::Ball { radius: 1.0 }, Vec3::Y * -3.0);
    let skewed = Collider { axes: [Vec3::X, Vec3::X, Vec3::Z], ..ball.clone() };
    assert!(refused(skewed).is_some());
    assert!(refused(Collider { position: Vec3::NAN, ..ball.clone() }).is_some());
    assert!(refused(ball).is_none());
}

#[test]
fn broken_numbers_are_refused_and_put_right() {
    let mut cloth = pinned_sheet(5);
    cloth.positions_mut()[12].y = f32::NAN;
    let error = cloth.step(FRAME, &Surroundings::default()).unwrap_err().to_string();
    assert!(error.starts_with("positions[12] is "), "{error}");
    cloth.reset();
    cloth.velocities_mut()[12] = Vec3::splat(1e30);
    run(&mut cloth, 3.0);
    assert!(cloth.positions().iter().all(|x| x.is_finite() && x.length() < 5.0));
    assert!(cloth.stats().max_strain < 0.01, "{:?}", cloth.stats());
}

#[test]
fn one_particle_no_edges_and_all_pinned_are_ordinary() {
    let one = ClothMesh { positions: vec![Vec2::ZERO], ..ClothMesh::default() };
    let mut cloth = Cloth::new(one, 1.0).unwrap();
    run(&mut cloth, 1.0);
    assert!(cloth.positions()[0].y < -2.0, "{:?}", cloth.positions());
    let mut pair = Cloth::new(ClothMesh::rope(&[Vec2::ZERO, Vec2::X]).unwrap(), 1.0).unwrap();
    run(&mut pair, 1.0);
    assert!(pair.positions()[0].y < -2.0 && pair.stats().max_strain < 1e-4);
    let mut held = pinned_sheet(6);
    held.pin_where(|_, _| true);
    let before = held.positions().to_vec();
    run(&mut held, 1.0);
    assert_eq!(held.positions(), before);
    assert_eq!(held.stats().max_speed, 0.0);
    // A particle that no triangle and no constraint holds falls.
    let loose = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::ONE];
    let mut cloth =
        Cloth::new(ClothMesh::from_triangles(&loose, &[0, 1, 2]).unwrap(), 1.0).unwrap();
    cloth.pin_where(|particle, _| particle < 3);
    run(&mut cloth, 1.0);
    assert!(cloth.positions()[3].y < -1.0);
    assert_eq!(cloth.positions()[1], Vec3::X);
}
