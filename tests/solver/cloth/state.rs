//! Saved, restored, repeated.

use bevy_fluid::solver::cloth::{
    Cloth, ClothMesh, ClothScheme, ClothState, DistanceConstraint, Surroundings,
};
use bevy_math::{Vec2, Vec3};

use super::support::{bits, pinned_sheet, run, run_in, tune};

#[test]
fn restored_cloth_goes_on_as_the_saved_one_bit_for_bit() {
    for scheme in ClothScheme::ALL {
        let mut cloth = pinned_sheet(12);
        tune(&mut cloth, |settings| settings.scheme = scheme);
        // Something was in the hand, cut and pinned in between.
        cloth.grab(140).unwrap();
        cloth.drag_to(Vec3::new(0.5, -0.5, 0.3)).unwrap();
        run(&mut cloth, 0.5);
        cloth.cut(Vec3::new(0.5, -0.5, 0.0), Vec3::X, 0.2).unwrap();
        cloth.pin(70).unwrap();
        cloth.constraints_mut().push(DistanceConstraint::link(3, 90, 0.8));
        run(&mut cloth, 0.2);
        #[cfg(feature = "scene")]
        let state: ClothState<Vec3> = {
            let text = serde_json::to_string(&cloth.state()).unwrap();
            serde_json::from_str(&text).unwrap()
        };
        #[cfg(not(feature = "scene"))]
        let state: ClothState<Vec3> = cloth.state();
        let mut twin = Cloth::from_state(state).unwrap();
        let around = Surroundings { wind: Vec3::Z * 4.0, ..Surroundings::default() };
        for cloth in [&mut cloth, &mut twin] {
            run_in(cloth, 0.5, &around);
        }
        assert!(bits(&cloth) == bits(&twin), "{scheme:?}");
    }
}

#[test]
fn mirrored_cloth_moves_as_the_mirror_image() {
    let mut cloth = pinned_sheet(21);
    run(&mut cloth, 5.0);
    let at = |c: u32, r: u32| cloth.positions()[(r * 21 + c) as usize];
    for r in 0..21 {
        for c in 0..10 {
            let (left, right) = (at(c, r), at(20 - c, r));
            let mirrored = Vec3::new(1.0 - right.x, right.y, right.z);
            assert!(left.distance(mirrored) < 0.01, "{c} {r}: {left} and {mirrored}");
        }
    }
}

#[test]
fn rope_and_extra_constraints_hold_a_weight() {
    let points: Vec<Vec2> = (0..21).map(|k| Vec2::Y * (-0.05 * k as f32)).collect();
    let mut rope = Cloth::new(ClothMesh::rope(&points).unwrap(), 0.01).unwrap();
    rope.pin(0).unwrap();
    rope.set_mass(20, 1.0).unwrap();
    run(&mut rope, 5.0);
    let stretched = rope.stats().max_strain;
    assert!(stretched < 0.01, "{:?}", rope.stats());
    // A game's own link from end to end shortens it.
    rope.constraints_mut().push(DistanceConstraint::link(0, 20, 0.5));
    run(&mut rope, 5.0);
    let length = rope.positions()[20].distance(rope.positions()[0]);
    assert!((length - 0.5).abs() < 0.01, "{length}");
    rope.apply_impulse(10, Vec2::X * 0.1).unwrap();
    let velocity = rope.velocities()[10].x;
    assert!((velocity - 10.0).abs() < 0.1, "0.1 N s on 10 g: {velocity}");
    rope.apply_impulse(0, Vec2::X * 0.1).unwrap();
    assert_eq!(rope.velocities()[0], Vec2::ZERO, "a pin ignores it");
}

#[test]
fn uneven_steps_leave_a_cloth_at_rest_at_rest() {
    let mut cloth = pinned_sheet(10);
    cloth.pin_where(|particle, _| particle < 10);
    run(&mut cloth, 30.0);
    let before = cloth.positions()[95];
    for step in 0..200 {
        let dt = if step % 2 == 0 { 1.0 / 30.0 } else { 1.0 / 240.0 };
        cloth.step(dt, &Surroundings::default()).unwrap();
        assert!(cloth.stats().max_speed < 1e-3, "{step}: {:?}", cloth.stats());
    }
    assert!(cloth.positions()[95].distance(before) < 2e-3);
}
