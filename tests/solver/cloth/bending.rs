//! Bending against the theory of beams, at several resolutions.

use bevy_fluid::solver::cloth::{Cloth, ClothMesh, ClothScheme};
use bevy_math::{Vec2, Vec3};

use super::support::{G, run, tune};

/// Free length in metres of a strip that is held at one end.
const LENGTH: f32 = 0.35;

/// Its mass in kg/m².
const DENSITY: f32 = 1.0;

/// A strip with `rows` rows across it, the first two held: clamped between them.
fn strip(rows: u32, grid: bool) -> Cloth<Vec3> {
    let columns = 4;
    let step = LENGTH / (rows as f32 - 1.5);
    let (right, down) = (Vec3::Z * step, Vec3::X * step);
    let mut mesh = ClothMesh::grid(Vec3::ZERO, right, down, columns, rows).unwrap();
    if !grid {
        let indices = mesh.triangles.as_flattened().to_vec();
        mesh = ClothMesh::from_triangles(&mesh.positions, &indices).unwrap();
    }
    let mut cloth = Cloth::new(mesh, DENSITY * step * step).unwrap();
    for row in 0..rows {
        for column in 0..columns {
            let halves = [row == rows - 1, column == 0, column == columns - 1];
            let part = 0.5f32.powi(halves.iter().filter(|&&half| half).count() as i32);
            let particle = (row * columns + column) as usize;
            cloth.set_mass(particle, part * DENSITY * step * step).unwrap();
        }
    }
    cloth.pin_where(|particle, _| particle < 2 * columns);
    cloth
}

/// How far the free end droops.
fn droop(rows: u32, grid: bool, rigidity: f32, scheme: ClothScheme) -> f32 {
    let mut strip = strip(rows, grid);
    tune(&mut strip, |settings| {
        (settings.bend_stiffness, settings.damping, settings.scheme) = (rigidity, 5.0, scheme);
    });
    run(&mut strip, 6.0);
    assert!(strip.stats().max_speed < 0.01, "{rows} {rigidity}: {:?}", strip.stats());
    -strip.positions()[strip.len() - 2].y
}

#[test]
fn overhang_droops_as_a_beam_does_at_any_resolution() {
    // A clamped beam under its weight: q L^4 / (8 D).
    let beam = DENSITY * G * LENGTH.powi(4) / 8.0;
    for scheme in [ClothScheme::Fast, ClothScheme::Accurate] {
        for (rows, grid) in [(6, true), (9, true), (6, false)] {
            let droop = droop(rows, grid, 1.0, scheme);
            println!("{scheme:?}, {rows} rows, grid {grid}: {droop} m, {beam} m in theory");
            assert!((droop / beam - 1.0).abs() < 0.2, "{scheme:?} {rows} {grid}: {droop}, {beam}");
        }
    }
    // Bent far, where theory is not as simple: the same shape from any grid.
    for rigidity in [0.03, 0.1] {
        let expected = droop(8, true, rigidity, ClothScheme::Fast);
        assert!((0.1..0.33).contains(&expected), "{rigidity}: {expected}");
        for (rows, grid) in [(12, true), (16, true), (8, false), (12, false)] {
            let droop = droop(rows, grid, rigidity, ClothScheme::Fast);
            println!("{rigidity} N m, {rows} rows, grid {grid}: {droop} m, {expected} m at 8");
            let most = if grid { 0.05 } else { 0.2 };
            assert!((droop / expected - 1.0).abs() < most, "{rigidity} {rows} {grid}: {droop}");
        }
    }
}

#[test]
fn rope_in_the_plane_bends_as_a_beam_and_finds_its_own_shape() {
    let points = |turn: f32| -> Vec<Vec2> {
        let mut place = Vec2::ZERO;
        let direction = |k: u32| Vec2::from_angle(turn * k as f32);
        let next = |k: u32| {
            let before = place;
            place += direction(k) * (LENGTH / 9.5);
            before
        };
        (0..11).map(next).collect()
    };
    let hung = |turn: f32, rigidity: f32, edit: fn(&mut Cloth<Vec2>)| {
        let mut rope = Cloth::new(ClothMesh::rope(&points(turn)).unwrap(), 0.01).unwrap();
        rope.pin(0).unwrap();
        rope.pin(1).unwrap();
        rope.set_mass(10, 0.005).unwrap();
        tune(&mut rope, |settings| {
            (settings.bend_stiffness, settings.damping) = (rigidity, 5.0);
        });
        edit(&mut rope);
        run(&mut rope, 6.0);
        rope.positions()[10]
    };
    let weight = 0.01 * G / (LENGTH / 9.5);
    let beam = weight * LENGTH.powi(4) / 8.0;
    let end = hung(0.0, 0.5, |_| ());
    assert!((-end.y / (beam / 0.5) - 1.0).abs() < 0.1, "{end}, {} in theory", beam / 0.5);
    // Bent at rest, it comes back from the other side too.
    let expected = points(0.15)[10];
    let mirror = |rope: &mut Cloth<Vec2>| {
        rope.positions_mut().iter_mut().skip(2).for_each(|x| x.y = -x.y);
    };
    let end = hung(0.15, 50.0, mirror);
    assert!(end.distance(expected) < 0.02, "{end} and {expected}");
}

#[test]
fn mesh_bent_at_rest_keeps_its_shape() {
    // A gutter: a quarter of a cylinder of triangles, one edge held.
    let mut vertices = Vec::new();
    for row in 0..5 {
        for column in 0..7 {
            let (sin, cos) = (column as f32 * 0.25).sin_cos();
            vertices.push(Vec3::new(0.1 * sin, 0.1 * cos, 0.03 * row as f32));
        }
    }
    let mut indices = Vec::new();
    for corner in (0..4).flat_map(|row| (0..6).map(move |column| row * 7 + column)) {
        indices.extend([corner, corner + 7, corner + 1, corner + 1, corner + 7, corner + 8]);
    }
    let shape = |rigidity: f32| {
        let mesh = ClothMesh::from_triangles(&vertices, &indices).unwrap();
        let mut cloth = Cloth::new(mesh, 1e-4).unwrap();
        cloth.pin_where(|particle, _| particle % 7 < 2);
        tune(&mut cloth, |settings| settings.bend_stiffness = rigidity);
        run(&mut cloth, 4.0);
        let apart = cloth.positions().iter().zip(&vertices).map(|(a, b)| a.distance(*b));
        apart.fold(0.0, f32::max)
    };
    let (limp, stiff) = (shape(0.0), shape(1.0));
    assert!(limp > 0.03 && stiff < 0.005, "off by {limp} m and {stiff} m");
}
