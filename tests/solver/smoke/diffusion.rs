//! Diffusion of dye, heat and motion.

use bevy_fluid::solver::smoke::{Border, Smoke, SmokeSettings, SmokeView, Walls};
use bevy_math::Vec2;

use super::support::{domain, run, square};

/// Variance of the dye's distribution along x, in m².
fn variance(smoke: &Smoke<Vec2>) -> f64 {
    let cells = smoke.domain().cells[0];
    let (mut total, mut first, mut second) = (0.0, 0.0, 0.0);
    for (number, dye) in smoke.view(SmokeView::Dye(0)).enumerate() {
        let x = f64::from(smoke.domain().center([number as u32 % cells, 0, 0]).x);
        let dye = f64::from(dye);
        total += dye;
        first += dye * x;
        second += dye * x * x;
    }
    second / total - (first / total).powi(2)
}

#[test]
fn variance_of_a_dot_grows_by_2_d_t_and_the_dye_is_kept() {
    for diffusion in [0.0, 1e-3, 1e-2] {
        let settings = SmokeSettings { diffusion, iterations: 1000, ..SmokeSettings::default() };
        let mut smoke = square(64, settings);
        smoke.add_dye(0, Vec2::splat(0.5), 0.03, 1.0).unwrap();
        let start = variance(&smoke);
        let time = if diffusion == 1e-3 { 1.0 } else { 0.2 };
        run(&mut smoke, 20, time / 20.0);
        let grown = variance(&smoke) - start;
        let expected = f64::from(2.0 * diffusion * time);
        assert!((grown - expected).abs() <= 0.02 * expected + 1e-9, "{grown} for {expected}");
        assert!((smoke.total_dye(0) - 1.0).abs() < 1e-4, "{}", smoke.total_dye(0));
        assert_eq!(smoke.stats().diffusion_iterations > 0, diffusion > 0.0);
    }
}

#[test]
fn viscosity_slows_a_shear_flow_at_its_rate() {
    for viscosity in [0.0, 0.002, 0.05] {
        let settings = SmokeSettings {
            viscosity,
            iterations: 1000,
            border_x: Border::Periodic,
            border_y: Border::Periodic,
            ..SmokeSettings::default()
        };
        let mut smoke = square(32, settings);
        let k = core::f32::consts::TAU;
        smoke.fill_velocity(|p| Vec2::new((k * p.y).sin(), 0.0)).unwrap();
        let time = 0.1;
        run(&mut smoke, 20, time / 20.0);
        let fastest = smoke.velocities().map(|v| v.x).fold(0.0, f32::max);
        let expected = (-viscosity * k * k * time).exp();
        assert!((fastest / expected - 1.0).abs() < 0.02, "{fastest} for {expected}");
    }
}

#[test]
fn air_sticks_to_walls_only_where_told() {
    let flow = |walls| {
        let settings = SmokeSettings {
            viscosity: 0.05,
            walls,
            border_x: Border::Periodic,
            ..SmokeSettings::default()
        };
        let mut smoke = square(32, settings);
        smoke.fill_velocity(|_| Vec2::X).unwrap();
        run(&mut smoke, 100, 0.01);
        let x: Vec<f32> = smoke.velocities().map(|v| v.x).collect();
        (x[0], x[16 * 32])
    };
    let (wall, middle) = flow(Walls::FreeSlip);
    assert!((wall - 1.0).abs() < 1e-3 && (middle - 1.0).abs() < 1e-3, "{wall} {middle}");
    // The lowest mode of a channel decays by exp(-pi² nu t), 4/pi of it at the start.
    let (wall, middle) = flow(Walls::NoSlip);
    let expected = 4.0 / core::f32::consts::PI * (-core::f32::consts::PI.powi(2) * 0.05).exp();
    assert!((middle / expected - 1.0).abs() < 0.02, "{middle} for {expected}");
    assert!(wall < 0.1 * middle, "{wall}");
}

#[test]
fn channels_know_nothing_of_each_other() {
    let settings = SmokeSettings { diffusion: 1e-3, ..SmokeSettings::default() };
    let run_with = |second: bool| {
        let mut smoke = Smoke::<Vec2>::new(domain([32, 40, 1]), settings.clone(), 3).unwrap();
        for _ in 0..30 {
            smoke.add_velocity(Vec2::splat(0.5), 0.2, Vec2::new(0.3, 1.0)).unwrap();
            smoke.add_dye(0, Vec2::splat(0.4), 0.1, 1.0).unwrap();
            if second {
                smoke.add_dye(1, Vec2::splat(0.5), 0.2, 7.0).unwrap();
            }
            run(&mut smoke, 1, 0.02);
        }
        let channel = |channel| smoke.view(SmokeView::Dye(channel)).collect::<Vec<f32>>();
        (channel(0), channel(1), channel(2))
    };
    let (alone, none, _) = run_with(false);
    let (beside, other, third) = run_with(true);
    assert!(alone == beside);
    assert!(none.iter().chain(&third).all(|&dye| dye == 0.0));
    assert!(other.iter().sum::<f32>() > 1.0);
}
