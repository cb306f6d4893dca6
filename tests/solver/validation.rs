//! Flows with a known answer, at sizes that take seconds. `cargo bench --bench
//! validation` prints all of them, the gates that are missed included.

#[path = "../validation/flows.rs"]
#[allow(dead_code, unused_imports, reason = "the bench runs the others")]
mod flows;

use bevy_fluid::solver::settings::DensityCorrection;
use flows::{Run, channel, dam_break, stretching_drop};

#[test]
fn front_of_a_breaking_dam_runs_as_fast_as_measured() {
    for run in Run::all(20) {
        let dam = dam_break(run);
        // Martin & Moyce 1952: 1.319.
        assert!((1.19..=1.74).contains(&dam.slope), "{run:?}: {dam:?}");
        if run.correction == DensityCorrection::Positions {
            assert!(dam.height < 0.05, "{run:?}: {dam:?}");
        }
    }
}

#[test]
fn stretched_drop_has_the_axes_of_theory() {
    for run in Run::all(40) {
        let drop = stretching_drop(run);
        assert!((drop.axis - 1.0).abs() < 0.02, "{run:?}: {drop:?}");
    }
}

#[test]
fn viscous_flow_between_plates_has_the_profile_of_theory() {
    // Corrections by velocities drown such slow flow.
    let [_, by_positions, weakly] = Run::all(30);
    for run in [by_positions, weakly] {
        for driven_by_plate in [true, false] {
            let error = channel(run, driven_by_plate, 0.05).error;
            assert!(error < 0.02, "{run:?}, driven by the plate {driven_by_plate}: {error}");
        }
    }
}
