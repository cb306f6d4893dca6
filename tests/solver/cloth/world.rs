//! Pins, hands, wind and solids.

use bevy_fluid::solver::cloth::collision::{Collider, ColliderShape, HalfSpace};
use bevy_fluid::solver::cloth::{Cloth, ClothMesh, Surroundings};
use bevy_math::{Quat, Vec2, Vec3};

use super::support::{FRAME, pinned_sheet, run, run_in, sheet, tune};

#[test]
fn pins_hold_move_and_let_go() {
    let mut cloth = sheet(10, 1.0);
    assert!(cloth.pin(3).unwrap());
    assert!(!cloth.pin(3).unwrap(), "pinned twice is pinned once");
    assert_eq!(cloth.pin_where(|_, x| x.z == 0.0), 9);
    assert_eq!(cloth.pin_where(|_, _| false), 0);
    let before = cloth.positions()[5];
    run(&mut cloth, 1.0);
    assert_eq!(cloth.positions()[5], before);
    // Prescribed motion: a pin is where it was sent, and moves evenly.
    cloth.move_pin(5, before + Vec3::Y * 0.02).unwrap();
    run(&mut cloth, FRAME);
    assert!(cloth.positions()[5].distance(before + Vec3::Y * 0.02) < 1e-6);
    assert!((cloth.velocities()[5].y - 0.02 / FRAME).abs() < 1e-3);
    assert!(cloth.unpin(5) && !cloth.unpin(5));
    let fallen = cloth.positions()[5].y;
    run(&mut cloth, 0.5);
    assert!(cloth.positions()[5].y < fallen - 0.001);
    cloth.unpin_all();
    run(&mut cloth, 1.0);
    assert!(cloth.positions().iter().all(|x| x.y < -1.0), "a free cloth falls");
}

#[test]
fn whole_cloth_follows_pins_that_jump_far_and_back() {
    let mut cloth = pinned_sheet(10);
    run(&mut cloth, 4.0);
    let rest = cloth.positions().to_vec();
    let far = Vec3::new(100.0, 20.0, -50.0);
    for target in [far, Vec3::ZERO] {
        for pin in [0, 9] {
            cloth.move_pin(pin, rest[pin as usize] + target).unwrap();
        }
        run(&mut cloth, FRAME);
        assert!(cloth.stats().max_strain < 0.01, "{:?}", cloth.stats());
        assert!(cloth.positions()[0].distance(rest[0] + target) < 1e-3);
    }
    run(&mut cloth, 1.0);
    assert!(cloth.stats().max_strain < 0.01 && cloth.stats().max_speed < 0.5);
}

#[test]
fn dragged_particle_follows_the_pointer_within_the_reach_of_the_pins() {
    let mut cloth = pinned_sheet(20);
    run(&mut cloth, 1.0);
    let hand = 19 * 20 + 10;
    cloth.grab(hand).unwrap();
    let near = cloth.positions()[hand as usize] + Vec3::new(0.0, 0.1, 0.1);
    cloth.drag_to(near).unwrap();
    run(&mut cloth, 0.2);
    assert!(cloth.positions()[hand as usize].distance(near) < 1e-3);
    for target in [Vec3::splat(100.0), Vec3::splat(-1e30), Vec3::ZERO] {
        cloth.drag_to(target).unwrap();
        run(&mut cloth, 0.5);
        let stats = cloth.stats();
        assert!(stats.max_strain < 0.3 && stats.max_speed < 30.0, "{target}: {stats:?}");
        assert!(cloth.positions()[hand as usize].length() < 2.0);
    }
    cloth.release();
    run(&mut cloth, 5.0);
    // It may be left with a fold through itself.
    assert!(cloth.stats().max_strain < 0.05, "{:?}", cloth.stats());
    assert!(cloth.drag_to(Vec3::ZERO).is_err(), "nothing in the hand");
}

#[test]
fn pins_moved_at_ten_metres_a_second_stretch_the_cloth_little() {
    for n in [10, 40] {
        let mut cloth = pinned_sheet(n);
        run(&mut cloth, 2.0);
        let (mut worst, mut mean) = (0.0f32, 0.0f32);
        let frames = 120;
        for frame in 0..frames {
            let way = if frame / 30 % 2 == 0 { 1.0 } else { -1.0 };
            for pin in [0, n - 1] {
                let target = cloth.positions()[pin as usize] + Vec3::Z * (10.0 * FRAME * way);
                cloth.move_pin(pin, target).unwrap();
            }
            run(&mut cloth, FRAME);
            worst = worst.max(cloth.stats().max_strain);
            mean += cloth.stats().mean_strain / frames as f32;
        }
        println!("{n}: {worst} at a reversal, {mean} in the mean");
        assert!(mean < 0.02, "{n}: {mean}");
        run(&mut cloth, 6.0);
        // It may be left with a fold through itself.
        let most = if n == 10 { 0.01 } else { 0.1 };
        assert!(cloth.stats().max_strain < most, "{n} recovers: {:?}", cloth.stats());
    }
}

#[test]
fn wind_carries_a_flag_along_and_lift_raises_it() {
    let flag = |wind: Vec3, drag: f32, lift: f32| {
        let mut cloth = pinned_sheet(10);
        tune(&mut cloth, |s| (s.drag, s.lift) = (drag, lift));
        run_in(&mut cloth, 5.0, &Surroundings { wind, ..Surroundings::default() });
        let mean = cloth.positions().iter().copied().sum::<Vec3>() / 100.0;
        assert!(cloth.stats().max_strain < 0.2, "{:?}", cloth.stats());
        mean
    };
    let still = flag(Vec3::ZERO, 1.0, 0.5);
    let (breeze, gale) = (flag(Vec3::Z * 2.0, 1.0, 0.0), flag(Vec3::Z * 6.0, 1.0, 0.0));
    assert!(still.z.abs() < 0.02 && breeze.z > still.z + 0.05 && gale.z > breeze.z + 0.1);
    let lifted = flag(Vec3::Z * 6.0, 1.0, 1.0);
    assert!(lifted.distance(gale) > 0.01, "{lifted} and {gale}");
    // Along the wind the air takes a light sheet to its own speed, not beyond.
    let mut free = sheet(10, 1.0);
    let around =
        Surroundings { gravity: Vec3::ZERO, wind: Vec3::Y * 5.0, ..Surroundings::default() };
    tune(&mut free, |settings| settings.damping = 0.0);
    run_in(&mut free, 10.0, &around);
    // In the mean: each particle has its own motion within the sheet.
    let speed = free.velocities().iter().map(|v| v.y).sum::<f32>() / 100.0;
    assert!(speed > 4.5 && speed <= 5.0, "{speed} m/s in a wind of 5 m/s");
    // In the plane the wind acts on the edges.
    let points: Vec<Vec2> = (0..10).map(|k| Vec2::Y * (-0.1 * k as f32)).collect();
    let mut rope = Cloth::new(ClothMesh::rope(&points).unwrap(), 0.01).unwrap();
    rope.pin(0).unwrap();
    let around = Surroundings { wind: Vec2::X * 5.0, ..Surroundings::default() };
    run_in(&mut rope, 5.0, &around);
    assert!(rope.positions()[9].x > 0.2, "{:?}", rope.positions()[9]);
}

#[test]
fn no_wind_breaks_a_cloth_and_a_reset_restores_it() {
    let mut cloth = pinned_sheet(10);
    let start = cloth.positions().to_vec();
    for wind in [1e4, 1e6] {
        let around = Surroundings { wind: Vec3::Z * wind, ..Surroundings::default() };
        run_in(&mut cloth, 2.0, &around);
        assert!(cloth.positions().iter().all(|x| x.is_finite() && x.length() < 10.0));
        assert_eq!(cloth.stats().restored, 0);
    }
    for wind in [1e20, f32::INFINITY, f32::NAN] {
        let around = Surroundings { wind: Vec3::Z * wind, ..Surroundings::default() };
        let error = cloth.step(FRAME, &around).unwrap_err().to_string();
        assert!(error.starts_with("wind is "), "{error}");
    }
    cloth.reset();
    assert_eq!(cloth.positions(), start);
    run(&mut cloth, 10.0);
    assert!(cloth.stats().max_strain < 0.01, "{:?}", cloth.stats());
}

/// A cube of half size 0.25 m given by its planes.
fn cube_of_planes() -> ColliderShape<Vec3> {
    let normals = [Vec3::X, -Vec3::X, Vec3::Y, -Vec3::Y, Vec3::Z, -Vec3::Z];
    ColliderShape::Convex(normals.map(|normal| HalfSpace { normal, offset: 0.25 }).to_vec())
}

#[test]
fn cloth_comes_to_rest_on_solids_without_entering_them() {
    let middle = Vec3::new(0.5, -0.5, 0.5);
    let floor = Collider::new(ColliderShape::Plane, Vec3::Y * -0.8);
    let shapes = [
        ColliderShape::Ball { radius: 0.3 },
        ColliderShape::Capsule { half_length: 0.2, radius: 0.2 },
        ColliderShape::Box { half_size: Vec3::splat(0.25) },
        cube_of_planes(),
    ];
    for shape in shapes {
        for n in [10, 20] {
            // The coarse and the fine case of each kind of surface.
            let round = matches!(shape, ColliderShape::Ball { .. } | ColliderShape::Box { .. });
            if n == 20 && !round {
                continue;
            }
            let mut solid = Collider::new(shape.clone(), middle);
            if matches!(shape, ColliderShape::Capsule { .. }) {
                solid = solid.rotated(Quat::from_rotation_z(core::f32::consts::FRAC_PI_2));
            }
            let colliders = [solid, floor.clone()];
            let mut cloth = sheet(n, 1.0);
            let around = Surroundings { colliders: &colliders, ..Surroundings::default() };
            for _ in 0..400 {
                cloth.step(FRAME, &around).unwrap();
                for &x in cloth.positions() {
                    let thickness = cloth.settings().thickness;
                    let p = x - middle;
                    let outside = match &shape {
                        ColliderShape::Ball { radius } => p.length() - radius,
                        ColliderShape::Capsule { half_length, radius } => {
                            let along = p.x.clamp(-half_length, *half_length);
                            (p - Vec3::X * along).length() - radius
                        }
                        _ => p.abs().max_element() - 0.25,
                    };
                    // Corners are rounded, where they are so by the distance.
                    assert!(outside > 0.5 * thickness, "{shape:?}: {x} is {outside} away");
                    assert!(x.y > -0.8 + 0.9 * thickness, "{shape:?}: {x} is below the floor");
                }
            }
            let stats = cloth.stats();
            assert!(stats.max_speed < 0.2, "{shape:?} {n}: {stats:?}");
            let highest = cloth.positions().iter().map(|x| x.y).fold(f32::MIN, f32::max);
            assert!(highest > -0.3, "{shape:?} {n}: slipped off, {highest}");
        }
    }
}

/// How far a small sheet slides down a slope of 30 degrees in a second.
fn slide(friction: f32) -> f32 {
    let tilt = Quat::from_rotation_z(-core::f32::consts::FRAC_PI_6);
    let floor = Collider::new(ColliderShape::Plane, Vec3::ZERO).rotated(tilt);
    let mut cloth = sheet(5, 0.2);
    for x in cloth.positions_mut() {
        *x = tilt * (*x + Vec3::Y * 0.0101);
    }
    tune(&mut cloth, |settings| {
        settings.friction = friction;
        settings.damping = 0.0;
        settings.drag = 0.0;
        settings.lift = 0.0;
    });
    let start = cloth.positions()[12];
    let around = Surroundings { colliders: &[floor], ..Surroundings::default() };
    run_in(&mut cloth, 1.0, &around);
    cloth.positions()[12].distance(start)
}

#[test]
fn friction_holds_a_cloth_on_a_slope_as_coulomb_says() {
    let (sin, cos) = core::f32::consts::FRAC_PI_6.sin_cos();
    for friction in [0.0, 0.3] {
        let expected = 0.5 * 9.81 * (sin - friction * cos);
        let slid = slide(friction);
        assert!((slid / expected - 1.0).abs() < 0.03, "{slid} m, {expected} m expected");
    }
    // Above tan 30 degrees it stays.
    assert!(slide(0.7) < 1e-3, "{}", slide(0.7));
}

#[test]
fn moving_solid_takes_the_cloth_along() {
    let mut floor = Collider::new(ColliderShape::Plane, Vec3::ZERO);
    let mut cloth = sheet(5, 0.2);
    cloth.positions_mut().iter_mut().for_each(|x| x.y += 0.01);
    floor.velocity = Vec3::X * 0.5;
    for _ in 0..60 {
        floor.position += floor.velocity * FRAME;
        let around = Surroundings { colliders: &[floor.clone()], ..Surroundings::default() };
        cloth.step(FRAME, &around).unwrap();
    }
    let speed = cloth.velocities()[12].x;
    assert!((0.4..0.51).contains(&speed), "{speed} m/s on a belt of 0.5 m/s");
    // A ball that swings through a curtain does not throw it.
    let mut ball = Collider::new(ColliderShape::Ball { radius: 0.2 }, Vec3::new(0.5, -0.5, -2.0));
    ball.velocity = Vec3::Z * 2.0;
    let mut banner = pinned_sheet(20);
    run(&mut banner, 3.0);
    let (mut pushed, mut fastest) = (0.0f32, 0.0f32);
    for _ in 0..150 {
        ball.position += ball.velocity * FRAME;
        let around = Surroundings { colliders: &[ball.clone()], ..Surroundings::default() };
        banner.step(FRAME, &around).unwrap();
        fastest = fastest.max(banner.stats().max_speed);
        pushed = banner.positions().iter().map(|x| x.z).fold(pushed, f32::max);
    }
    assert!(pushed > 0.5 && fastest < 15.0, "{pushed} m, {fastest} m/s");
}

#[test]
fn texture_stays_on_a_waving_cloth_and_its_bounds_hold_it() {
    // Two squares whose seam is given twice, as a mesh with a texture has it.
    let corners = [[0, 0], [1, 0], [1, 1], [0, 1], [1, 0], [2, 0], [2, 1], [1, 1]];
    let vertices = corners.map(|[x, y]| Vec3::new(x as f32, y as f32, 0.0));
    let indices = [0, 1, 2, 0, 2, 3, 4, 5, 6, 4, 6, 7];
    let mesh = ClothMesh::from_triangles(&vertices, &indices).unwrap();
    let mut cloth = Cloth::new(mesh, 0.01).unwrap();
    cloth.pin_where(|_, x| x.x == 0.0);
    let particles = cloth.particle_of_vertex().to_vec();
    let triangles = cloth.triangles().to_vec();
    let around = Surroundings { wind: Vec3::new(5.0, 0.0, 5.0), ..Surroundings::default() };
    let before = cloth.bounds();
    for _ in 0..120 {
        cloth.step(FRAME, &around).unwrap();
        let (low, high) = cloth.bounds();
        let lowest = cloth.positions().iter().fold(Vec3::MAX, |low, x| low.min(*x));
        let highest = cloth.positions().iter().fold(Vec3::MIN, |high, x| high.max(*x));
        assert_eq!((low, high), (lowest, highest));
    }
    assert_ne!(cloth.bounds(), before);
    assert_eq!(cloth.particle_of_vertex(), particles);
    assert_eq!(cloth.triangles(), triangles);
}
