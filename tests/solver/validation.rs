//! Flows with a known answer, at sizes that take seconds. `cargo bench --bench
//! validation` prints all of them, the gates that are missed included.

#[path = "../validation/flows.rs"]
#[allow(dead_code, reason = "the bench runs the others")]
mod flows;

use bevy_fluid::solver::settings::FluidMethod;
use flows::{Run, dam_break, stretching_drop};

fn runs(resolution: u32) -> [Run; 2] {
    FluidMethod::ALL.map(|method| Run { method, resolution })
}

#[test]
fn front_of_a_breaking_dam_runs_as_fast_as_measured() {
    for run in runs(20) {
        let dam = dam_break(run);
        // Martin & Moyce 1952: 1.319.
        assert!((1.19..=1.74).contains(&dam.slope), "{run:?}: {dam:?}");
    }
}

#[test]
fn stretched_drop_has_the_axes_of_theory() {
    for run in runs(40) {
        let drop = stretching_drop(run);
        assert!((drop.axis - 1.0).abs() < 0.02, "{run:?}: {drop:?}");
    }
}
