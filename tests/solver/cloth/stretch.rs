//! How much a cloth stretches, whatever its resolution.

use bevy_fluid::solver::cloth::{Cloth, ClothMesh, Surroundings};
use bevy_math::Vec3;

use super::support::{FRAME, G, pinned_sheet, run, run_in, tune};

#[test]
fn two_corners_hold_a_sheet_of_any_resolution_to_a_percent() {
    for n in [10, 40, 100] {
        let mut cloth = pinned_sheet(n);
        let begin = std::time::Instant::now();
        run(&mut cloth, 10.0);
        let frame = begin.elapsed() / 600;
        let stats = cloth.stats();
        println!(
            "{n}: {:.3} % at most, {:.4} % in the mean; {} sweeps and {frame:?} a frame",
            stats.max_strain * 100.0,
            stats.mean_strain * 100.0,
            stats.iterations
        );
        assert!(stats.max_strain < 0.005 && stats.mean_strain < 0.0005, "{n}: {stats:?}");
        assert!(stats.max_speed < 0.05, "{n} trembles: {stats:?}");
    }
}

/// Moves all pins at 10 m/s from one frame to the next for `seconds`, then
/// holds them. Returns the largest strain while they move.
fn rush(cloth: &mut Cloth<Vec3>, direction: Vec3, seconds: f32) -> f32 {
    let mut worst = 0.0f32;
    for _ in 0..(seconds / FRAME).round() as u32 {
        for pin in cloth.pins().to_vec() {
            cloth.move_pin(pin.particle, pin.target + direction * (10.0 * FRAME)).unwrap();
        }
        run(cloth, FRAME);
        worst = worst.max(cloth.stats().max_strain);
    }
    worst
}

#[test]
fn cape_on_pins_at_ten_metres_a_second_stretches_little_and_recovers() {
    for n in [10, 40, 100] {
        for row in [false, true] {
            let mut cloth = pinned_sheet(n);
            if row {
                cloth.pin_where(|particle, _| particle < n);
            }
            run(&mut cloth, 3.0);
            let rest = cloth.stats().max_strain;
            let worst = rush(&mut cloth, Vec3::Z, 1.0);
            run(&mut cloth, 2.0);
            let after = cloth.stats().max_strain;
            println!("{n}, row {row}: strain {rest} hanging, {worst} rushing, {after} after");
            assert!(rest < 0.05 && worst < 0.2 && after < 0.05, "{n} {row}");
        }
    }
}

#[test]
fn slack_cloth_drapes_without_stretching() {
    // Two pins nearer to each other than the cloth is wide.
    for (n, most) in [(10, 0.005), (40, 0.02), (100, 0.05)] {
        let mut cloth = pinned_sheet(n);
        for frame in 1..=60 {
            let shift = Vec3::X * (0.1 * frame as f32 / 60.0);
            cloth.move_pin(0, shift).unwrap();
            cloth.move_pin(n - 1, Vec3::X - shift).unwrap();
            run(&mut cloth, FRAME);
        }
        run(&mut cloth, 9.0);
        let stats = cloth.stats();
        println!("{n}: {} at most, {} in the mean", stats.max_strain, stats.mean_strain);
        assert!(stats.max_strain < most && stats.mean_strain < 0.002, "{n}: {stats:?}");
    }
}

#[test]
fn scaled_cloth_takes_the_scaled_shape() {
    // Gravity and wind scaled with the lengths leave times as they are; masses
    // go with the volume, so that air of one density acts alike, and the
    // rigidity with the energy.
    let shape = |scale: f32| {
        let step = Vec3::new(scale / 9.0, 0.0, 0.0);
        let mesh = ClothMesh::grid(Vec3::ZERO, step, Vec3::Z * step.x, 10, 10).unwrap();
        let mut cloth = Cloth::new(mesh, 0.002 * scale.powi(3)).unwrap();
        cloth.pin(0).unwrap();
        cloth.pin(9).unwrap();
        tune(&mut cloth, |settings| settings.bend_stiffness *= scale.powi(5));
        let around = Surroundings {
            gravity: Vec3::Y * (-G * scale),
            wind: Vec3::new(0.5, 0.0, 2.0) * scale,
            ..Surroundings::default()
        };
        run_in(&mut cloth, 1.5, &around);
        cloth.positions().iter().map(|&x| x / scale).collect::<Vec<_>>()
    };
    let expected = shape(1.0);
    for scale in [0.01, 0.3, 30.0] {
        let scaled = shape(scale);
        let apart = scaled.iter().zip(&expected).map(|(a, b)| a.distance(*b));
        let worst = apart.fold(0.0, f32::max);
        println!("scale {scale}: off by {worst} sizes");
        assert!(worst < 0.01, "scale {scale}: off by {worst} sizes");
    }
}

#[test]
fn a_sheet_cut_to_hang_does_so_without_stretching() {
    let n = 17;
    let step = 1.0 / (n - 1) as f32;
    let grid = ClothMesh::grid(Vec3::ZERO, Vec3::X * step, Vec3::Z * step, n, n).unwrap();
    let border = |x: Vec3| [x.x, x.z].iter().any(|along| along * (1.0 - along) < 1e-3);
    let [mut flat, mut bowl] = [0.0, -0.3].map(|sag| {
        let mesh = grid.clone().sagging(Vec3::Y * sag).unwrap();
        assert!(mesh.positions.iter().all(|x| !border(*x) || x.y == 0.0));
        assert!((mesh.positions[(n * n / 2) as usize].y - sag).abs() < 1e-6);
        let mut cloth = Cloth::new(mesh, 0.2 / (n * n) as f32).unwrap();
        cloth.pin_where(|_, x| border(x));
        cloth
    });
    for cloth in [&mut flat, &mut bowl] {
        run(cloth, 2.0);
        assert!(cloth.stats().mean_strain < 0.005, "{:?}", cloth.stats());
    }
    assert!(flat.bounds().0.y > -0.05, "{}", flat.bounds().0.y);
    // Its own weight wants the bowl only a little different.
    assert!((bowl.bounds().0.y + 0.3).abs() < 0.05, "{}", bowl.bounds().0.y);
}
