//! Every parameter does what its line of documentation says, and about how much.

use bevy_fluid::solver::cloth::collision::{Collider, ColliderShape};
use bevy_fluid::solver::cloth::{
    Cloth, ClothMesh, ClothScheme, ClothSettings, ConstraintKind, Surroundings, Tethers,
};
use bevy_math::Vec3;

use super::support::{pinned_sheet, run, run_in, sheet, tune};

/// A sheet on two pins after some seconds at the given settings.
fn hung(n: u32, seconds: f32, edit: impl FnOnce(&mut ClothSettings)) -> Cloth<Vec3> {
    let mut cloth = pinned_sheet(n);
    tune(&mut cloth, edit);
    run(&mut cloth, seconds);
    cloth
}

/// How far the free end of a strip of 0.4 m droops that is held at two rows.
fn droop(bend_stiffness: f32) -> f32 {
    let mesh = ClothMesh::grid(Vec3::ZERO, Vec3::Z * 0.05, Vec3::X * 0.05, 3, 9).unwrap();
    let mut strip = Cloth::new(mesh, 0.002).unwrap();
    strip.pin_where(|particle, _| particle < 6);
    tune(&mut strip, |settings| settings.bend_stiffness = bend_stiffness);
    run(&mut strip, 8.0);
    -strip.positions()[25].y
}

#[test]
fn every_parameter_of_a_cloth_matters() {
    for parameter in ClothSettings::PARAMETERS {
        match parameter.name {
            "substeps" => {
                let strain = |n| hung(20, 4.0, |s| s.substeps = n).stats().mean_strain;
                let (few, many) = (strain(5), strain(40));
                assert!(few > 1.5 * many, "{few} and {many}");
            }
            "iterations" => {
                let strain = |n| hung(20, 4.0, |s| s.iterations = n).stats().mean_strain;
                let (few, many) = (strain(2), strain(8));
                assert!(few > 1.2 * many, "{few} and {many}");
            }
            "strain_limit" => {
                // A cloth torn from rest sweeps more, and stretches less.
                let rushed = |limit: f32| {
                    let mut cloth = hung(40, 2.0, |s| s.strain_limit = limit);
                    let (mut strain, mut sweeps) = (0.0f32, 0);
                    for frame in 1..=20 {
                        let shift = Vec3::Z * (frame as f32 / 6.0);
                        cloth.move_pin(0, shift).unwrap();
                        cloth.move_pin(39, Vec3::X + shift).unwrap();
                        run(&mut cloth, 1.0 / 60.0);
                        strain = strain.max(cloth.stats().max_strain);
                        sweeps = sweeps.max(cloth.stats().iterations);
                    }
                    (strain, sweeps)
                };
                let (never, limited) = (rushed(0.0), rushed(0.02));
                assert!(never.1 == 40 && limited.1 > 60, "{never:?} {limited:?}");
                assert!(limited.0 < 0.7 * never.0, "{never:?} {limited:?}");
            }
            "tolerance" => {
                let sweeps = |tolerance: f32| {
                    let edit = |s: &mut ClothSettings| {
                        s.scheme = ClothScheme::Accurate;
                        s.iterations = 30;
                        s.tolerance = tolerance;
                    };
                    hung(6, 1.0, edit).stats().iterations
                };
                let (all, few) = (sweeps(0.0), sweeps(1e-3));
                assert_eq!(all, 600);
                assert!(few < 400, "{few}");
            }
            "damping" => {
                let speed = |damping: f32| {
                    hung(10, 3.0, |s| (s.damping, s.drag, s.lift) = (damping, 0.0, 0.0))
                        .stats()
                        .kinetic_energy
                };
                let (free, damped) = (speed(0.0), speed(3.0));
                assert!(free > 10.0 * damped, "{free} and {damped}");
            }
            "stretch_stiffness" => {
                let longest = |stiffness: f32| {
                    let cloth = hung(10, 5.0, |s| s.stretch_stiffness = stiffness);
                    cloth.positions().iter().map(|x| -x.y).fold(0.0, f32::max)
                };
                let (soft, rigid) = (longest(0.001), longest(1.0));
                assert!(soft > 1.05 * rigid, "{soft} and {rigid}");
            }
            "shear_stiffness" => {
                // A sheet hung by one corner gets longer as far as it can shear.
                let length = |stiffness: f32| {
                    let mut cloth = sheet(10, 1.0);
                    cloth.pin(0).unwrap();
                    tune(&mut cloth, |settings| {
                        settings.shear_stiffness = stiffness;
                        settings.tethers = Tethers::Off;
                    });
                    run(&mut cloth, 6.0);
                    -cloth.positions()[99].y
                };
                let (soft, stiff) = (length(0.0), length(1.0));
                assert!((stiff / 2.0f32.sqrt() - 1.0).abs() < 0.05, "{stiff} m");
                assert!(soft > 1.05 * stiff, "{soft} m and {stiff} m");
            }
            "bend_stiffness" => {
                let (soft, some, stiff) = (droop(0.0), droop(0.1), droop(1.0));
                assert!(
                    soft > 0.2 && some < 0.8 * soft && stiff < 0.2 * some,
                    "{soft} {some} {stiff}"
                );
            }
            "tether_slack" => {
                let strain =
                    |slack: f32| hung(40, 4.0, |s| s.tether_slack = slack).stats().max_strain;
                let (tight, loose) = (strain(3e-4), strain(0.02));
                assert!(loose > 0.01 && tight < 0.005, "{tight} and {loose}");
            }
            "thickness" => {
                for thickness in [0.005, 0.05] {
                    let floor = Collider::new(ColliderShape::Plane, Vec3::Y * -0.2);
                    let mut cloth = sheet(5, 0.5);
                    tune(&mut cloth, |settings| settings.thickness = thickness);
                    let around = Surroundings { colliders: &[floor], ..Surroundings::default() };
                    run_in(&mut cloth, 3.0, &around);
                    let height = cloth.positions()[12].y + 0.2;
                    assert!((height - thickness).abs() < 1e-3, "{height} at {thickness}");
                }
            }
            // In the tests of solids, wind, tearing and self-collision.
            "friction" | "lift" | "tear_strain" | "self_thickness" => {}
            "air_density" | "drag" => {
                let swing = |density: f32, drag: f32| {
                    let edit = |s: &mut ClothSettings| {
                        (s.air_density, s.drag, s.lift, s.damping) = (density, drag, 0.0, 0.0);
                    };
                    hung(10, 2.0, edit).stats().kinetic_energy
                };
                let none = swing(0.0, 1.0);
                assert!(none > 2.0 * swing(1.2, 1.0), "air takes energy");
                assert!(swing(1.2, 1.0) > 1.2 * swing(6.0, 1.0), "thick air more");
                assert!(swing(1.2, 0.1) > 1.2 * swing(1.2, 1.0), "and a wider face");
            }
            "max_speed" => {
                let fastest = |limit: f32| {
                    let mut cloth = sheet(5, 1.0);
                    tune(&mut cloth, |s| {
                        (s.max_speed, s.damping, s.air_density) = (limit, 0.0, 0.0)
                    });
                    run(&mut cloth, 1.0);
                    cloth.stats().max_speed
                };
                let size = 2.0f32.sqrt();
                assert!((fastest(2.0) / (2.0 * size) - 1.0).abs() < 0.01, "{}", fastest(2.0));
                assert!((fastest(50.0) / 9.81 - 1.0).abs() < 0.05, "{}", fastest(50.0));
            }
            other => panic!("{other} has no test"),
        }
    }
}

#[test]
fn tethers_and_schemes_are_choices() {
    let strain = |tethers| hung(40, 4.0, |s| s.tethers = tethers).stats().max_strain;
    let (with, without) = (strain(Tethers::Nearest), strain(Tethers::Off));
    assert!(without > 10.0 * with, "{with} and {without}");
    for scheme in ClothScheme::ALL {
        let cloth = hung(8, 4.0, |settings| {
            settings.scheme = scheme;
            settings.iterations = 10;
        });
        assert!(cloth.stats().max_strain < 0.05, "{}: {:?}", scheme.name(), cloth.stats());
    }
}

#[test]
fn stiffness_changed_at_rest_makes_no_jerk() {
    let mut cloth = hung(10, 8.0, |_| ());
    let mut fastest = 0.0f32;
    for stiffness in [0.1, 1.0] {
        tune(&mut cloth, |settings| settings.stretch_stiffness = stiffness);
        for _ in 0..60 {
            run(&mut cloth, 1.0 / 60.0);
            fastest = fastest.max(cloth.stats().max_speed);
        }
    }
    assert!(fastest < 0.5, "{fastest} m/s");
    assert!(cloth.stats().max_strain < 0.01, "{:?}", cloth.stats());
    let bends = cloth.constraints().iter().filter(|c| c.kind == ConstraintKind::Bend);
    assert!(bends.count() > 0);
}
