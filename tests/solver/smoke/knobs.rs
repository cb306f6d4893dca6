//! Every parameter and choice changes the result, in its direction.

use bevy_fluid::solver::smoke::{
    Smoke, SmokePressure, SmokeScheme, SmokeSettings, SmokeSource, SmokeView, SourceShape,
};
use bevy_math::Vec2;

use super::support::{run, square};

/// A warm plume after half a second: dye, its mean height, kinetic energy, mean
/// squared vorticity, mean temperature.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Plume {
    dye: f32,
    height: f32,
    spread: f32,
    energy: f32,
    enstrophy: f32,
    warmth: f32,
    iterations: f32,
    divergence: f32,
}

fn plume(settings: SmokeSettings) -> Plume {
    let mut smoke = square(48, settings);
    let source = SmokeSource {
        shape: SourceShape::Ball { radius: 0.1 },
        position: Vec2::new(0.5, 0.25),
        dye_rates: vec![1.0],
        temperature: Some(350.0),
        velocity: None,
    };
    smoke.set_sources([source]).unwrap();
    let steps = (0.6 / smoke.settings().time_step).round() as usize;
    let dt = smoke.settings().time_step;
    run(&mut smoke, steps, dt);
    measure(&smoke)
}

fn measure(smoke: &Smoke<Vec2>) -> Plume {
    let cells = smoke.domain().cells[0];
    let sum = |view| smoke.view(view).sum::<f32>();
    let dye = sum(SmokeView::Dye(0));
    let (mut height, mut square) = (0.0, 0.0);
    for (number, dye) in smoke.view(SmokeView::Dye(0)).enumerate() {
        height += dye * smoke.domain().center([0, number as u32 / cells, 0]).y;
        square += dye * dye;
    }
    Plume {
        dye,
        height: height / dye,
        spread: dye * dye / square,
        energy: smoke.view(SmokeView::Speed).map(|v| v * v).sum(),
        enstrophy: smoke.view(SmokeView::Vorticity).map(|v| v * v).sum(),
        warmth: smoke
            .view(SmokeView::Temperature)
            .map(|t| t - smoke.settings().ambient_temperature)
            .sum(),
        iterations: smoke.stats().iterations as f32,
        divergence: smoke.stats().divergence_after / smoke.stats().divergence_before,
    }
}

#[test]
fn every_parameter_changes_the_result_in_its_direction() {
    let base = plume(SmokeSettings::default());
    for parameter in SmokeSettings::PARAMETERS {
        let with = |value: f64| {
            let mut settings = SmokeSettings::default();
            parameter.set(&mut settings, value).unwrap();
            plume(settings)
        };
        match parameter.name {
            "viscosity" => {
                let found = with(0.01);
                assert!(found.enstrophy < 0.6 * base.enstrophy, "{found:?} {base:?}");
            }
            "diffusion" => {
                let found = with(0.003);
                assert!(found.spread > 1.1 * base.spread, "{found:?} {base:?}");
            }
            "iterations" => {
                let found = with(1.0);
                assert!(found.iterations == 1.0 && base.iterations > 1.0, "{found:?} {base:?}");
                assert!(found.divergence > 2.0 * base.divergence, "{found:?} {base:?}");
            }
            "tolerance" => {
                let found = with(1e-5);
                assert!(found.divergence < 0.05 * base.divergence, "{found:?} {base:?}");
                assert!(found.iterations > base.iterations, "{found:?} {base:?}");
            }
            "projections" => {
                let found = with(2.0);
                assert!(found.iterations > 1.4 * base.iterations, "{found:?} {base:?}");
                assert!((found.height / base.height - 1.0).abs() < 0.05, "{found:?} {base:?}");
            }
            "buoyancy" => {
                let (double, down) = (with(0.066), with(-0.033));
                assert!(double.height - 0.25 > 1.5 * (base.height - 0.25), "{double:?} {base:?}");
                assert!(down.height < 0.25, "{down:?}");
                assert!(with(0.0).energy < 1e-6);
            }
            "ambient_temperature" => {
                // Warm surroundings leave the source less of a lead.
                let found = with(340.0);
                assert!(found.height - 0.25 < 0.5 * (base.height - 0.25), "{found:?} {base:?}");
            }
            "cooling" => {
                let found = with(3.0);
                assert!(found.warmth < 0.8 * base.warmth, "{found:?} {base:?}");
            }
            "dissipation" => {
                // Dye given off at a constant rate for 0.6 s, fading at 2 a second.
                let expected = (1.0 - (-1.2f32).exp()) / 1.2;
                let found = with(2.0).dye / base.dye;
                assert!((found / expected - 1.0).abs() < 0.02, "{found} for {expected}");
            }
            "vorticity_confinement" => {
                let found = with(2.0);
                assert!(found.enstrophy > 1.1 * base.enstrophy, "{found:?} {base:?}");
            }
            "time_step" => {
                let found = with(0.005);
                assert!(found != base, "the same at another step");
                assert!((found.height / base.height - 1.0).abs() < 0.1, "{found:?} {base:?}");
            }
            other => panic!("no case for {other}"),
        }
    }
}

#[test]
fn solvers_agree_and_schemes_are_alike() {
    let base = plume(SmokeSettings::default());
    for pressure in SmokePressure::ALL {
        let settings = SmokeSettings { pressure, iterations: 2000, ..SmokeSettings::default() };
        let found = plume(settings);
        assert!((found.height / base.height - 1.0).abs() < 0.01, "{pressure:?}: {found:?}");
    }
    let scheme = SmokeScheme::StableFluids;
    let swirl = |settings: SmokeSettings| {
        let mut smoke = square(48, settings);
        smoke.add_velocity(Vec2::splat(0.5), 0.2, Vec2::Y).unwrap();
        run(&mut smoke, 10, 0.01);
        measure(&smoke).energy
    };
    let (new, old) = (
        swirl(SmokeSettings::default()),
        swirl(SmokeSettings { scheme, ..SmokeSettings::default() }),
    );
    assert!(old < new && old > 0.4 * new, "{old} {new}");
}

#[test]
fn names_of_choices_are_plain_words() {
    let names = SmokePressure::ALL.iter().map(|choice| choice.name());
    assert_eq!(names.collect::<Vec<_>>(), ["sweeps", "red-black", "multigrid"]);
}
