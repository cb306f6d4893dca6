//! A cloth that lies on itself.

use bevy_fluid::solver::cloth::collision::{Collider, ColliderShape};
use bevy_fluid::solver::cloth::{Cloth, ClothMesh, ClothScheme, ConstraintKind, Surroundings};
use bevy_math::{Vec2, Vec3};

use super::support::{FRAME, bits, run, run_in, sheet, tune};

const THICKNESS: f32 = 0.005;

/// Threads that go through triangles.
fn crossings(cloth: &Cloth<Vec3>) -> usize {
    let x = cloth.positions();
    let crosses = |[p, q]: [Vec3; 2], [a, b, c]: [Vec3; 3]| {
        let n = (b - a).cross(c - a);
        let (from, to) = (n.dot(p - a), n.dot(q - a));
        if (from > 0.0) == (to > 0.0) {
            return false;
        }
        let m = p + (q - p) * (from / (from - to));
        [(a, b), (b, c), (c, a)].iter().all(|&(u, v)| (v - u).cross(m - u).dot(n) > 0.0)
    };
    let threads = cloth.constraints().iter().filter(|c| c.kind == ConstraintKind::Stretch);
    let through = threads.map(|thread| {
        let ends = [thread.a, thread.b];
        let apart = |t: &&[u32; 3]| !ends.iter().any(|end| t.contains(end));
        let triangles = cloth.triangles().iter().filter(apart);
        triangles.filter(|t| crosses(ends.map(|i| x[i as usize]), t.map(|i| x[i as usize]))).count()
    });
    through.sum()
}

/// A sheet of 1 m folded once, its halves 3 cm apart, 20 cm above the floor and
/// rising along the fold by `slope`.
fn folded(n: u32, thickness: f32, slope: f32) -> Cloth<Vec3> {
    let mut cloth = sheet(n, 1.0);
    tune(&mut cloth, |s| (s.self_thickness, s.thickness) = (thickness, THICKNESS));
    let radius = 0.015f32;
    let arc = core::f32::consts::PI * radius;
    let start = 0.5 - 0.5 * arc;
    for x in cloth.positions_mut() {
        let angle = ((x.x - start) / radius).clamp(0.0, core::f32::consts::PI);
        let along = x.x.min(start) - (x.x - start - arc).max(0.0);
        let height = radius * (1.0 - angle.cos());
        *x = Vec3::new(along + radius * angle.sin(), 0.2 + height + slope * x.z, x.z);
    }
    cloth
}

#[test]
fn folded_cloth_falls_on_the_floor_and_its_layers_stay_apart() {
    let floor = [Collider::new(ColliderShape::Plane, Vec3::ZERO)];
    let around = Surroundings { colliders: &floor, ..Surroundings::default() };
    for (n, slope) in [(12, 0.0), (12, 0.3), (20, 0.1)] {
        let mut cloth = folded(n, THICKNESS, slope);
        for frame in 0..300 {
            cloth.step(FRAME, &around).unwrap();
            if frame % 10 == 0 {
                assert_eq!(crossings(&cloth), 0, "{n} {slope}: frame {frame}");
            }
        }
        let stats = cloth.stats();
        assert!(stats.max_speed < 0.01 && stats.max_strain < 0.01, "{n} {slope}: {stats:?}");
        assert_eq!(crossings(&cloth), 0, "{n} {slope}");
        // The upper half lies on the lower one, nowhere in it.
        let upper = (0..n * n).filter(|p| p % n > n / 2 + 1);
        let lowest = upper.map(|p| cloth.positions()[p as usize].y).fold(f32::MAX, f32::min);
        assert!(lowest > 1.8 * THICKNESS, "{n} {slope}: {lowest}");
    }
    // Without it the halves lie in each other.
    let mut cloth = folded(12, 0.0, 0.0);
    run_in(&mut cloth, 2.0, &around);
    assert!(crossings(&cloth) > 0);
}

#[test]
fn two_sheets_of_one_cloth_meet_and_stay_on_their_sides() {
    // One falls at 6 m/s onto the other, which is held, both thin.
    let mut vertices = Vec::new();
    let mut indices = Vec::new();
    for (layer, n) in [(0, 8), (1, 7)] {
        let first = vertices.len() as u32;
        let step = 0.5 / (n - 1) as f32;
        for index in 0..n * n {
            let (column, row) = (index % n, index / n);
            let shift = 0.01 * layer as f32;
            let x = Vec3::new(column as f32 * step + shift, 0.1 * layer as f32, row as f32 * step);
            vertices.push(x);
            if column + 1 < n && row + 1 < n {
                let [a, b, c, d] = [0, 1, n, n + 1].map(|step| first + index + step);
                indices.extend([a, c, b, b, c, d]);
            }
        }
    }
    let mesh = ClothMesh::from_triangles(&vertices, &indices).unwrap();
    for scheme in [ClothScheme::Fast, ClothScheme::Accurate] {
        let mut cloth = Cloth::new(mesh.clone(), 0.001).unwrap();
        tune(&mut cloth, |s| (s.self_thickness, s.scheme) = (0.003, scheme));
        cloth.pin_where(|particle, _| particle < 64 && [0, 7].contains(&(particle % 8)));
        cloth.velocities_mut()[64..].fill(Vec3::NEG_Y * 6.0);
        for frame in 0..60 {
            run(&mut cloth, FRAME);
            assert_eq!(crossings(&cloth), 0, "{scheme:?}: frame {frame}");
        }
        let mean = cloth.positions()[64..].iter().map(|x| x.y).sum::<f32>() / 49.0;
        assert!(mean > -0.3, "{scheme:?}: fell through to {mean}");
    }
}

#[test]
fn rope_in_the_plane_piles_up_without_crossing_itself() {
    let points: Vec<Vec2> =
        (0..40).map(|k| Vec2::new(0.03 * (k % 2) as f32, 0.1 + 0.05 * k as f32)).collect();
    let pile = |thickness: f32| {
        let mut rope = Cloth::new(ClothMesh::rope(&points).unwrap(), 0.01).unwrap();
        tune(&mut rope, |s| (s.self_thickness, s.thickness) = (thickness, THICKNESS));
        let floor = [Collider::new(ColliderShape::Plane, Vec2::ZERO)];
        let around = Surroundings { colliders: &floor, ..Surroundings::default() };
        let side = |a: Vec2, b: Vec2, p: Vec2| (b - a).perp_dot(p - a) > 0.0;
        let mut most = 0;
        for _ in 0..180 {
            rope.step(FRAME, &around).unwrap();
            let x = rope.positions();
            let crossed = |&(i, j): &(usize, usize)| {
                let [a, b, c, d] = [x[i], x[i + 1], x[j], x[j + 1]];
                side(a, b, c) != side(a, b, d) && side(c, d, a) != side(c, d, b)
            };
            let links = (0..39).flat_map(|i| (i + 2..39).map(move |j| (i, j)));
            most = most.max(links.filter(crossed).count());
        }
        most
    };
    assert_eq!(pile(THICKNESS), 0);
    assert!(pile(0.0) > 0, "no test");
}

#[test]
fn folded_cloth_restored_goes_on_bit_for_bit() {
    let floor = [Collider::new(ColliderShape::Plane, Vec3::ZERO)];
    let around = Surroundings { colliders: &floor, ..Surroundings::default() };
    let mut cloth = folded(10, THICKNESS, 0.2);
    run_in(&mut cloth, 0.4, &around);
    let mut twin = Cloth::from_state(cloth.state()).unwrap();
    run_in(&mut cloth, 0.3, &around);
    run_in(&mut twin, 0.3, &around);
    assert!(bits(&cloth) == bits(&twin));
}
