//! Smoke moved to another grid while it runs.

use bevy_fluid::solver::smoke::{Border, SmokeDomain, SmokeSettings, SmokeView};
use bevy_math::Vec2;

use super::support::{run, square};

#[test]
fn content_and_total_survive_a_change_of_grid() {
    let mut smoke = square(128, SmokeSettings::default());
    smoke.add_dye(0, Vec2::new(0.3, 0.6), 0.12, 2.0).unwrap();
    smoke.add_velocity(Vec2::new(0.3, 0.6), 0.2, Vec2::new(1.0, 0.5)).unwrap();
    smoke.add_temperature(Vec2::new(0.3, 0.6), 0.1, 30.0).unwrap();
    run(&mut smoke, 5, 0.01);
    let domain = |cells: [u32; 3], size: Vec2| SmokeDomain { min: Vec2::ZERO, size, cells };
    let at = Vec2::new(0.32, 0.61);
    let (dye, velocity) = (smoke.dye_at(0, at), smoke.velocity_at(at));
    // Finer and coarser, where it is.
    for cells in [256, 64, 128] {
        smoke.resample(domain([cells, cells, 1], Vec2::ONE)).unwrap();
        assert!((smoke.total_dye(0) - 2.0).abs() < 1e-3, "{}", smoke.total_dye(0));
        assert!((smoke.dye_at(0, at) / dye - 1.0).abs() < 0.06, "{} {dye}", smoke.dye_at(0, at));
        assert!((smoke.velocity_at(at) - velocity).length() < 0.05 * velocity.length());
        assert_eq!(smoke.steps(), 5);
    }
    // To another shape: stretched, the place relative to the box.
    let wide = Vec2::new(2.0, 0.9);
    smoke.resample(domain([200, 90, 1], wide)).unwrap();
    assert!((smoke.total_dye(0) - 2.0).abs() < 1e-3);
    assert!(
        smoke.dye_at(0, at * wide) > 0.8 * smoke.view(SmokeView::Dye(0)).fold(0.0, f32::max) * 0.5
    );
    run(&mut smoke, 3, 0.01);
    // A window of one pixel is refused, and all goes on.
    let error = smoke.resample(domain([1, 1, 1], Vec2::ONE)).unwrap_err().to_string();
    assert!(error.starts_with("domain.cells is [1, 1]"), "{error}");
    assert_eq!(smoke.domain().cells, [200, 90, 1]);
    run(&mut smoke, 3, 0.01);
    smoke.resample(domain([128, 128, 1], Vec2::ONE)).unwrap();
    run(&mut smoke, 3, 0.01);
    assert!((smoke.total_dye(0) - 2.0).abs() < 0.04, "{}", smoke.total_dye(0));
    assert!(smoke.view(SmokeView::Speed).all(f32::is_finite));
}

#[test]
fn borders_and_scheme_change_while_it_runs() {
    use bevy_fluid::solver::smoke::SmokeScheme;
    let mut smoke = square(32, SmokeSettings::default());
    smoke.add_velocity(Vec2::splat(0.5), 0.3, Vec2::X).unwrap();
    smoke.add_dye(0, Vec2::splat(0.5), 0.3, 1.0).unwrap();
    run(&mut smoke, 3, 0.01);
    let before = smoke.velocity_at(Vec2::splat(0.5)).x;
    for scheme in [SmokeScheme::StableFluids, SmokeScheme::Staggered] {
        smoke.set_settings(SmokeSettings { scheme, ..SmokeSettings::default() }).unwrap();
        let after = smoke.velocity_at(Vec2::splat(0.5)).x;
        assert!((after / before - 1.0).abs() < 0.05, "{after} {before}");
        run(&mut smoke, 1, 1e-4);
    }
    for border in Border::ALL {
        let settings = SmokeSettings { border_x: border, ..SmokeSettings::default() };
        smoke.set_settings(settings).unwrap();
        run(&mut smoke, 3, 0.01);
        assert!(
            smoke.stats().divergence_after <= 1.1e-3 * smoke.stats().divergence_before.max(1e-3)
        );
    }
    assert!(smoke.total_dye(0) > 0.9);
}
