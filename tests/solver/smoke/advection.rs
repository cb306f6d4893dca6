//! Dye and velocity carried along.

use bevy_fluid::solver::smoke::{
    Advection, Border, Smoke, SmokeSettings, SmokeView, Splitting, TotalDye,
};
use bevy_math::Vec2;

use super::support::{run, square};

fn round(advection: Advection) -> SmokeSettings {
    SmokeSettings {
        advection,
        border_x: Border::Periodic,
        border_y: Border::Periodic,
        total_dye: TotalDye::Free,
        ..SmokeSettings::default()
    }
}

/// Error of a smooth field carried 0.4 m by a steady flow, root mean square.
fn translation_error(cells: u32, advection: Advection) -> f32 {
    let velocity = Vec2::new(0.8, 0.5);
    let tau = core::f32::consts::TAU;
    let field = move |p: Vec2| 1.0 + 0.5 * (tau * p.x).sin() * (tau * p.y).cos();
    let mut smoke = square(cells, round(advection));
    smoke.fill_velocity(|_| velocity).unwrap();
    smoke.fill_dye(0, field).unwrap();
    // A CFL number of 0.56 on each grid.
    let (steps, time) = ((cells * 23) / 32, 0.5);
    run(&mut smoke, steps as usize, time / steps as f32);
    let domain = *smoke.domain();
    let mut sum = 0.0;
    for (number, dye) in smoke.view(SmokeView::Dye(0)).enumerate() {
        let at = domain.center([number as u32 % cells, number as u32 / cells, 0]);
        sum += (dye - field(at - velocity * time)).powi(2);
    }
    (sum / (cells * cells) as f32).sqrt()
}

#[test]
fn plain_advection_is_of_first_and_maccormack_of_second_order() {
    for (advection, least) in [(Advection::Plain, 0.9), (Advection::MacCormack, 1.8)] {
        let errors = [32, 64, 128].map(|cells| translation_error(cells, advection));
        for pair in errors.windows(2) {
            let order = (pair[0] / pair[1]).log2();
            println!("{advection:?}: order {order}");
            assert!(order >= least, "{advection:?}: order {order}, errors {errors:?}");
        }
    }
}

/// Error of the velocity as a fraction of the one at the start, and relative error of the decay rate of
/// the kinetic energy of a Taylor-Green vortex at Re 100 after a second, at a CFL number.
fn taylor_green(cells: u32, splitting: Splitting, cfl: f32) -> (f32, f32) {
    let (viscosity, time) = (0.01, 1.0);
    let k = core::f32::consts::TAU;
    let vortex = move |p: Vec2| {
        Vec2::new(-(k * p.x).cos() * (k * p.y).sin(), (k * p.x).sin() * (k * p.y).cos())
    };
    let settings = SmokeSettings { viscosity, splitting, ..round(Advection::MacCormack) };
    let mut smoke = square(cells, settings);
    smoke.fill_velocity(vortex).unwrap();
    let energy = |smoke: &Smoke<Vec2>| smoke.velocities().map(|v| v.length_squared()).sum::<f32>();
    let start = energy(&smoke);
    let steps = (cells as f32 / cfl) as usize;
    run(&mut smoke, steps, time / steps as f32);
    let decay = (-2.0 * viscosity * k * k * time).exp();
    let domain = *smoke.domain();
    let mut sum = 0.0;
    for (number, velocity) in smoke.velocities().enumerate() {
        let at = domain.center([number as u32 % cells, number as u32 / cells, 0]);
        sum += (velocity - vortex(at) * decay).length_squared();
    }
    let rate = -(energy(&smoke) / start).ln() / (4.0 * viscosity * k * k * time);
    ((sum / start).sqrt(), (rate - 1.0).abs())
}

#[test]
fn taylor_green_vortex_decays_at_its_rate() {
    let gates = [(50, 0.03, 0.05), (100, 0.015, 0.03)];
    // Splitting of first order asks for short steps.
    let runs = [(Splitting::FirstOrder, 0.25), (Splitting::SecondOrder, 0.25)];
    let runs = runs.into_iter().chain([0.5, 1.0].map(|cfl| (Splitting::SecondOrder, cfl)));
    for (splitting, cfl) in runs {
        for (cells, velocity_gate, rate_gate) in gates {
            let (velocity, rate) = taylor_green(cells, splitting, cfl);
            println!("{splitting:?}, CFL {cfl}, {cells}: velocity {velocity}, rate {rate}");
            assert!(velocity <= velocity_gate, "{splitting:?} {cfl} {cells}²: off by {velocity}");
            assert!(rate <= rate_gate, "{splitting:?} {cfl} {cells}²: rate is off by {rate}");
        }
    }
    let rate = |splitting| taylor_green(50, splitting, 1.0).1;
    assert!(rate(Splitting::FirstOrder) > 3.0 * rate(Splitting::SecondOrder));
}

/// A square of dye in a turning flow in a closed box.
fn turning(settings: SmokeSettings) -> Smoke<Vec2> {
    let mut smoke = square(64, settings);
    let pi = core::f32::consts::PI;
    smoke
        .fill_velocity(|p| {
            Vec2::new((pi * p.x).sin() * (pi * p.y).cos(), -(pi * p.x).cos() * (pi * p.y).sin())
        })
        .unwrap();
    smoke
        .fill_dye(0, |p| {
            let inside = (p - Vec2::new(0.5, 0.7)).abs().max_element() < 0.12;
            f32::from(u8::from(inside))
        })
        .unwrap();
    smoke
}

#[test]
fn dye_stays_between_its_extremes_and_its_total_is_kept() {
    for advection in Advection::ALL {
        for total_dye in TotalDye::ALL {
            let settings = SmokeSettings { advection, total_dye, ..SmokeSettings::default() };
            let mut smoke = turning(settings);
            let start = smoke.total_dye(0);
            assert!(start > 0.05);
            let mut worst = 0.0f64;
            for _ in 0..1000 {
                run(&mut smoke, 1, 0.01);
                for dye in smoke.view(SmokeView::Dye(0)) {
                    assert!((0.0..=1.0).contains(&dye), "{advection:?} {total_dye:?}: {dye}");
                }
                worst = worst.max((smoke.total_dye(0) / start - 1.0).abs());
            }
            println!("{advection:?} {total_dye:?}: {worst}");
            if total_dye == TotalDye::Kept {
                assert!(worst < 1e-3, "{advection:?}: {worst} lost");
            } else {
                assert!(worst > 1e-3, "{advection:?}: {worst} lost, the correction is idle");
            }
            assert!((smoke.stats().total_dye[0] / smoke.total_dye(0) - 1.0).abs() < 1e-5);
        }
    }
}

#[test]
fn maccormack_keeps_more_of_a_patch_than_plain_advection() {
    let left = |advection| {
        let mut smoke = turning(SmokeSettings { advection, ..SmokeSettings::default() });
        run(&mut smoke, 100, 0.01);
        smoke.view(SmokeView::Dye(0)).map(|dye| dye * dye).sum::<f32>()
    };
    let (plain, corrected) = (left(Advection::Plain), left(Advection::MacCormack));
    assert!(corrected > 1.2 * plain, "{corrected} against {plain}");
}

#[test]
fn dye_leaves_through_open_borders_only() {
    let blow = |border_x| {
        let settings = SmokeSettings { border_x, ..SmokeSettings::default() };
        let mut smoke = square(48, settings);
        smoke.add_dye(0, Vec2::new(0.8, 0.5), 0.1, 1.0).unwrap();
        for _ in 0..100 {
            smoke.add_velocity(Vec2::new(0.6, 0.5), 0.2, Vec2::X * 0.3).unwrap();
            run(&mut smoke, 1, 0.01);
        }
        smoke.total_dye(0)
    };
    assert!((blow(Border::Closed) - 1.0).abs() < 1e-3);
    assert!((blow(Border::Periodic) - 1.0).abs() < 1e-3);
    let left = blow(Border::Open);
    assert!(left < 0.5, "{left} of the dye is left");
}
