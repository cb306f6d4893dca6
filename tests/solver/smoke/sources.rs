//! What a game puts in arrives, whatever the cells and the frame rate.

use bevy_fluid::solver::smoke::{
    Smoke, SmokeDomain, SmokeSettings, SmokeSource, SmokeView, SourceShape,
};
use bevy_math::Vec2;

use super::support::{domain, run, square};

fn momentum(smoke: &Smoke<Vec2>) -> Vec2 {
    smoke.velocities().sum::<Vec2>() * smoke.domain().cell_volume()
}

#[test]
fn splats_are_the_same_on_every_grid() {
    // The integral of (1 - r²/R²)² over a circle is pi R²/3.
    for cells in [[16, 16, 1], [100, 7, 1], [64, 64, 1], [256, 256, 1]] {
        for radius in [0.002, 0.013, 0.02] {
            let mut smoke = Smoke::<Vec2>::new(domain(cells), SmokeSettings::default(), 1).unwrap();
            let at = Vec2::new(0.487, 0.033);
            let inside = at.y > radius + 1.5 / cells[0] as f32;
            smoke.add_dye(0, at, radius, 2.5).unwrap();
            smoke.add_velocity(at, radius, Vec2::new(3.0, -1.0)).unwrap();
            if !inside {
                continue;
            }
            assert!((smoke.total_dye(0) - 2.5).abs() < 1e-4, "{cells:?}: {}", smoke.total_dye(0));
            let expected = Vec2::new(3.0, -1.0) * core::f32::consts::PI / 3.0 * radius * radius;
            let off = (momentum(&smoke) - expected).length() / expected.length();
            assert!(off < 1e-3, "{cells:?}, {radius}: {} for {expected}", momentum(&smoke));
        }
    }
    // Large ones, whose weights are not summed.
    for cells in [64, 128, 256] {
        let mut smoke = square(cells, SmokeSettings::default());
        smoke.add_dye(0, Vec2::splat(0.5), 0.3, 2.5).unwrap();
        assert!((smoke.total_dye(0) - 2.5).abs() < 1e-3, "{}", smoke.total_dye(0));
    }
}

#[test]
fn splats_are_round_in_cells_of_any_domain() {
    for cells in [[64, 64, 1], [96, 40, 1]] {
        let mut smoke = Smoke::<Vec2>::new(domain(cells), SmokeSettings::default(), 1).unwrap();
        let middle = smoke.domain().size * 0.5;
        smoke.add_dye(0, middle, 0.15, 1.0).unwrap();
        let (mut xx, mut yy) = (0.0, 0.0);
        for (number, dye) in smoke.view(SmokeView::Dye(0)).enumerate() {
            let number = number as u32;
            let offset = smoke.domain().center([number % cells[0], number / cells[0], 0]) - middle;
            xx += dye * offset.x * offset.x;
            yy += dye * offset.y * offset.y;
        }
        assert!((xx / yy - 1.0).abs() < 0.02, "{xx} {yy}");
    }
}

/// A plume after a second, on a grid and at a step.
fn plume(cells: u32, dt: f32) -> Smoke<Vec2> {
    let settings = SmokeSettings { cooling: 0.5, dissipation: 0.1, ..SmokeSettings::default() };
    let mut smoke = square(cells, settings);
    let source = SmokeSource {
        shape: SourceShape::Ball { radius: 0.12 },
        position: Vec2::new(0.5, 0.25),
        dye_rates: vec![2.0],
        temperature: Some(350.0),
        velocity: None,
    };
    smoke.set_sources([source]).unwrap();
    run(&mut smoke, (0.6 / dt).round() as usize, dt);
    smoke
}

#[test]
fn plume_does_not_depend_on_cells_or_frame_rate_to_first_order() {
    let rise = |smoke: &Smoke<Vec2>| {
        let cells = smoke.domain().cells[0];
        let (mut total, mut height) = (0.0, 0.0);
        for (number, dye) in smoke.view(SmokeView::Dye(0)).enumerate() {
            total += dye;
            height += dye * smoke.domain().center([0, number as u32 / cells, 0]).y;
        }
        height / total - 0.25
    };
    let fine = plume(128, 1.0 / 120.0);
    let expected = rise(&fine);
    assert!(expected > 0.05, "{expected}");
    // 2 a second for 0.6 s, fading at 0.1 a second.
    let dye = 20.0 * (1.0 - (-0.06f64).exp());
    let coarse =
        [(32, 120.0), (64, 60.0), (128, 30.0)].map(|(cells, rate)| plume(cells, 1.0 / rate));
    for smoke in coarse.iter().chain([&fine]) {
        let off = (rise(smoke) / expected - 1.0).abs();
        assert!(off < 0.1, "{:?}: {} for {expected}", smoke.domain().cells, rise(smoke));
        assert!((smoke.total_dye(0) / dye - 1.0).abs() < 0.01, "{} for {dye}", smoke.total_dye(0));
    }
}

#[test]
fn box_source_holds_velocity_and_temperature() {
    let mut smoke = square(40, SmokeSettings::default());
    let source = SmokeSource {
        shape: SourceShape::Box { half_size: Vec2::new(0.1, 0.05) },
        position: Vec2::new(0.3, 0.5),
        dye_rates: vec![1.0],
        temperature: Some(300.0),
        velocity: Some(Vec2::new(0.5, 0.0)),
    };
    smoke.set_sources([source]).unwrap();
    for _ in 0..100 {
        smoke.begin_step(0.01).unwrap();
        smoke.apply_forces(bevy_fluid::solver::parallel::Threads::Serial);
        assert!((smoke.velocity_at(Vec2::new(0.3, 0.5)).x - 0.5).abs() < 0.02);
        run(&mut smoke, 1, 0.01);
    }
    assert!((smoke.temperature_at(Vec2::new(0.32, 0.5)) - 300.0).abs() < 1.0);
    assert!(smoke.velocity_at(Vec2::new(0.5, 0.5)).x > 0.1);
    assert!(smoke.dye_at(0, Vec2::new(0.5, 0.5)) > 0.0);
}

#[test]
fn sources_outside_add_nothing_and_half_outside_half() {
    let mut smoke = square(64, SmokeSettings::default());
    for at in [Vec2::new(5.0, 0.5), Vec2::new(1e30, -1e30), Vec2::new(0.5, -0.2)] {
        smoke.add_dye(0, at, 0.1, 1.0).unwrap();
        smoke.add_velocity(at, 0.1, Vec2::ONE).unwrap();
        smoke.add_temperature(at, 0.1, 10.0).unwrap();
    }
    assert_eq!(smoke.total_dye(0), 0.0);
    assert!(smoke.velocities().all(|v| v == Vec2::ZERO));
    smoke.add_dye(0, Vec2::new(0.5, 0.0), 0.1, 1.0).unwrap();
    assert!((smoke.total_dye(0) - 0.5).abs() < 1e-3, "{}", smoke.total_dye(0));
    // A negative amount takes away what is there and no more.
    smoke.add_dye(0, Vec2::new(0.5, 0.0), 0.2, -100.0).unwrap();
    assert!(smoke.view(SmokeView::Dye(0)).all(|dye| dye >= 0.0));
    assert!(smoke.total_dye(0) < 1e-3);
    // Sizes far beyond the domain, and far below a cell.
    smoke.add_dye(0, Vec2::splat(0.5), 1e20, 1.0).unwrap();
    smoke.add_dye(0, Vec2::splat(0.5), 1e-20, 1.0).unwrap();
    smoke.add_velocity(Vec2::splat(0.5), 1e20, Vec2::X).unwrap();
    run(&mut smoke, 2, 0.01);
    assert!(smoke.view(SmokeView::Dye(0)).all(f32::is_finite));
    assert!((smoke.total_dye(0) - 1.0).abs() < 1e-3, "{}", smoke.total_dye(0));
}

#[test]
fn domains_lie_anywhere_and_positions_are_of_the_world() {
    let min = Vec2::new(-7.0, 3.0);
    let domain = SmokeDomain { min, size: Vec2::new(4.0, 2.0), cells: [64, 32, 1] };
    let mut smoke = Smoke::<Vec2>::new(domain, SmokeSettings::default(), 1).unwrap();
    let at = Vec2::new(-6.0, 4.5);
    smoke.add_dye(0, at, 0.3, 1.0).unwrap();
    smoke.add_velocity(at, 0.3, Vec2::new(0.0, -2.0)).unwrap();
    smoke.add_temperature(at, 0.3, 20.0).unwrap();
    assert!(smoke.dye_at(0, at) > 5.0 * smoke.dye_at(0, at + Vec2::new(0.25, 0.0)));
    assert!((smoke.velocity_at(at).y + 2.0).abs() < 0.2, "{}", smoke.velocity_at(at));
    assert!((smoke.temperature_at(at) - 313.0).abs() < 2.0, "{}", smoke.temperature_at(at));
    for outside in [Vec2::ZERO, Vec2::new(f32::NAN, 0.0), Vec2::new(-6.0, 5.2)] {
        assert_eq!(smoke.velocity_at(outside), Vec2::ZERO);
        assert_eq!(smoke.dye_at(0, outside), 0.0);
        assert_eq!(smoke.temperature_at(outside), 293.0);
    }
    assert_eq!(smoke.dye_at(1, at), 0.0);
}
