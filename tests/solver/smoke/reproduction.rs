//! The stable fluids scheme computes what the reference program computes.

use bevy_fluid::solver::parallel::Threads;
use bevy_fluid::solver::smoke::{Smoke, SmokeScheme, SmokeSettings, SmokeView};
use bevy_math::Vec2;
use serde_json::Value;

use super::support::{difference, largest, square};

/// The interior of a field of (N+2)² numbers, x fastest.
fn cells(field: &Value, n: usize) -> Vec<f32> {
    let all: Vec<f32> =
        field.as_array().unwrap().iter().map(|value| value.as_f64().unwrap() as f32).collect();
    let row = |j: usize| all[(n + 2) * j + 1..][..n].to_vec();
    (1..=n).flat_map(row).collect()
}

/// Runs a trace; returns the largest difference of each snapshot, as a fraction
/// of the field's largest value.
fn compare(text: &str, settings: SmokeSettings) -> Vec<f32> {
    let trace: Value = serde_json::from_str(text).unwrap();
    let config = &trace["config"];
    let number = |value: &Value| value.as_f64().unwrap_or(0.0) as f32;
    let n = config["N"].as_u64().unwrap() as usize;
    let dt = number(&config["dt"]);
    // The trace's rates are in cells: a = dt rate.
    let per_cell = 1.0 / (n * n) as f32;
    let mut smoke = square(
        n as u32,
        SmokeSettings {
            scheme: SmokeScheme::StableFluids,
            viscosity: number(&config["viscosity"]) * per_cell,
            diffusion: number(&config["diffusion"]) * per_cell,
            iterations: config["iterations"].as_u64().unwrap() as u32,
            ..settings
        },
    );
    let mut found = Vec::new();
    for snapshot in trace["snapshots"].as_array().unwrap() {
        let step = snapshot["step"].as_u64().unwrap();
        while smoke.steps() < step {
            feed(&mut smoke, &trace["sources"]);
            smoke.step(dt, Threads::Serial).unwrap();
        }
        let velocities: Vec<Vec2> = smoke.velocities().collect();
        let ours: [Vec<f32>; 3] = [
            smoke.view(SmokeView::Dye(0)).collect(),
            velocities.iter().map(|v| v.x).collect(),
            velocities.iter().map(|v| v.y).collect(),
        ];
        for (ours, name) in ours.iter().zip(["density", "u", "v"]) {
            let theirs = cells(&snapshot[name], n);
            let scale = largest(&theirs);
            assert!(scale > 1e-3, "{name} at step {step} is no field");
            found.push(difference(ours, &theirs) / scale);
        }
    }
    assert!(found.len() >= 9);
    found
}

fn feed(smoke: &mut Smoke<Vec2>, sources: &Value) {
    let step = smoke.steps() + 1;
    for source in sources.as_array().unwrap() {
        let whole = |name: &str| source[name].as_u64().unwrap();
        if (whole("from")..=whole("to")).contains(&step) {
            let number = |name: &str| source[name].as_f64().unwrap_or(0.0) as f32;
            let cell = [whole("i") as u32 - 1, whole("j") as u32 - 1, 0];
            let velocity = Vec2::new(number("u"), number("v"));
            smoke.add_cell_source(cell, 0, number("d"), velocity).unwrap();
        }
    }
}

const TRACES: [&str; 2] = [
    include_str!("../../data/stable_fluids_16.json"),
    include_str!("../../data/stable_fluids_32.json"),
];

#[test]
fn fields_are_those_of_the_reference_at_every_snapshot() {
    for trace in TRACES {
        let found = compare(trace, SmokeSettings::default());
        let worst = largest(&found);
        println!("{found:?}");
        assert!(worst <= 5e-6, "{worst:e} of the field's largest value");
    }
}

#[test]
fn comparison_sees_a_difference_of_one_sweep() {
    let changed = TRACES[0].replace("\"iterations\":10", "\"iterations\":11");
    assert_ne!(changed, TRACES[0]);
    assert!(largest(&compare(&changed, SmokeSettings::default())) > 1e-4);
}
