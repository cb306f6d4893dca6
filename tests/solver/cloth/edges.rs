//! Sharp and thin solids do not poke through between particles.

use bevy_fluid::solver::cloth::collision::{Collider, ColliderShape};
use bevy_fluid::solver::cloth::{Cloth, ClothMesh, Surroundings};
use bevy_math::{Quat, Vec2, Vec3};

use super::support::{FRAME, run_in, sheet};

/// Distance of a point from a collider, negative inside.
fn outside(collider: &Collider<Vec3>, point: Vec3) -> f32 {
    let arm = point - collider.position;
    let p = Vec3::from_array(collider.axes.map(|axis| axis.dot(arm)));
    match &collider.shape {
        ColliderShape::Ball { radius } => p.length() - radius,
        ColliderShape::Box { half_size } => {
            let beyond = p.abs() - *half_size;
            beyond.max(Vec3::ZERO).length() + beyond.max_element().min(0.0)
        }
        other => panic!("{other:?} has no distance here"),
    }
}

/// Least distance of the particles and of all of the cloth.
fn nearest(cloth: &Cloth<Vec3>, collider: &Collider<Vec3>) -> (f32, f32) {
    let x = cloth.positions();
    let particles = x.iter().map(|&x| outside(collider, x)).fold(f32::MAX, f32::min);
    let mut all = particles;
    for triangle in cloth.triangles() {
        let [a, b, c] = triangle.map(|corner| x[corner as usize]);
        for i in 0..=6 {
            for j in 0..=6 - i {
                let point = a + (b - a) * (i as f32 / 6.0) + (c - a) * (j as f32 / 6.0);
                all = all.min(outside(collider, point));
            }
        }
    }
    (particles, all)
}

#[test]
fn cloth_rests_on_sharp_and_round_solids_for_half_a_minute_without_creeping_through() {
    let middle = Vec3::new(0.5, -0.4, 0.5);
    let cube = Collider::new(ColliderShape::Box { half_size: Vec3::splat(0.25) }, middle);
    // Standing on a corner.
    let tilt = Quat::from_rotation_arc(Vec3::ONE.normalize(), Vec3::Y);
    let cases = [
        ("sphere", Collider::new(ColliderShape::Ball { radius: 0.3 }, middle)),
        ("cube", cube.clone()),
        ("cube on its corner", cube.rotated(tilt)),
    ];
    let floor = Collider::new(ColliderShape::Plane, Vec3::Y * -0.9);
    for (name, solid) in cases {
        for n in [10, 20, 32] {
            // Coarse and fine, and on a corner, for a shorter time.
            let corner = name == "cube on its corner";
            if corner && n == 32 {
                continue;
            }
            let seconds = if n == 20 && !corner { 30 } else { 4 };
            let mut cloth = sheet(n, 1.0);
            let colliders = [solid.clone(), floor.clone()];
            let around = Surroundings { colliders: &colliders, ..Surroundings::default() };
            let thickness = cloth.settings().thickness;
            let mut early = 0.0;
            for second in 0..seconds {
                run_in(&mut cloth, 1.0, &around);
                let (particles, all) = nearest(&cloth, &solid);
                assert!(particles > 0.5 * thickness, "{name} {n}: particle at {particles} m");
                assert!(all > 0.1 * thickness, "{name} {n}: {all} m in second {second}");
                if second == 3 {
                    early = cloth.bounds().1.y;
                }
            }
            let (particles, all) = nearest(&cloth, &solid);
            let highest = cloth.bounds().1.y;
            println!("{name} {n}: {particles} and {all} m, top at {early} and {highest} m");
            assert!((highest - early).abs() < 0.02 || highest < -0.8, "{name} {n}: creeps");
            assert!(cloth.stats().mean_strain < 0.005, "{name} {n}: {:?}", cloth.stats());
        }
    }
}

#[test]
fn thin_blade_and_spike_stop_a_coarse_cloth_between_its_particles() {
    for half_size in [Vec3::new(0.002, 0.2, 0.6), Vec3::new(0.004, 0.2, 0.004)] {
        let middle = Vec3::new(0.52, -0.3, 0.53);
        let solid = Collider::new(ColliderShape::Box { half_size }, middle);
        let colliders = [solid.clone()];
        let around = Surroundings { colliders: &colliders, ..Surroundings::default() };
        let mut cloth = sheet(6, 1.0);
        for frame in 0..40 {
            run_in(&mut cloth, FRAME, &around);
            let (_, all) = nearest(&cloth, &solid);
            assert!(all > 0.0, "{half_size}: {all} m in frame {frame}");
        }
        // A free cloth would have fallen by 2 m.
        let highest = cloth.bounds().1.y;
        assert!(highest > -0.11, "{half_size}: fell to {highest}");
    }
}

#[test]
fn rope_in_the_plane_hangs_over_a_corner() {
    let corner = Collider::new(ColliderShape::Box { half_size: Vec2::splat(0.2) }, Vec2::Y * -0.3);
    let colliders = [corner.rotated(core::f32::consts::FRAC_PI_4)];
    let around = Surroundings { colliders: &colliders, ..Surroundings::default() };
    // Its middle link meets the corner between two particles.
    let points: Vec<Vec2> = (0..8).map(|k| Vec2::new(0.15 * (k as f32 - 3.5), 0.05)).collect();
    let mut rope = Cloth::new(ClothMesh::rope(&points).unwrap(), 0.01).unwrap();
    run_in(&mut rope, 2.0, &around);
    let [a, b] = [3, 4].map(|index| rope.positions()[index]);
    let top = -0.3 + 0.2 * 2.0f32.sqrt();
    let height = a.y + (b.y - a.y) * (-a.x / (b.x - a.x));
    assert!(a.x < 0.0 && b.x > 0.0, "slipped off: {a} {b}");
    assert!(height > top && height < top + 0.02, "{height} over the corner at {top}");
}
