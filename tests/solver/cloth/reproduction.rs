//! The traces of the reference program, reproduced to the closeness that f32 allows.

use bevy_fluid::solver::cloth::{
    Cloth, ClothMesh, ClothScheme, ConstraintKind, DistanceConstraint, Surroundings,
};
use bevy_math::Vec2;
use serde_json::Value;

use super::support::tune;

struct Trace {
    json: Value,
}

fn numbers(row: &Value) -> Vec<f64> {
    row.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

impl Trace {
    fn read(name: &str) -> Self {
        let path = format!("{}/tests/data/{name}.json", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        Self { json: serde_json::from_str(&text).unwrap() }
    }

    fn config(&self, key: &str) -> f64 {
        self.json["config"][key].as_f64().unwrap()
    }

    fn rows(&self, key: &str) -> Vec<Vec<f64>> {
        self.json[key].as_array().unwrap().iter().map(numbers).collect()
    }

    fn cloth(&self) -> Cloth<Vec2> {
        let (w, h) = (self.config("width") as u32, self.config("height") as u32);
        let spacing = self.config("spacing") as f32;
        let (right, down) = (Vec2::X * spacing, -Vec2::Y * spacing);
        let mut mesh = ClothMesh::grid(Vec2::ZERO, right, down, w, h).unwrap();
        // The reference knows nothing of bending.
        mesh.constraints.retain(|constraint| constraint.kind != ConstraintKind::Bend);
        let expected = self.rows("constraints");
        assert_eq!(mesh.constraints.len(), expected.len());
        for (own, row) in mesh.constraints.iter().zip(&expected) {
            assert_eq!((f64::from(own.a), f64::from(own.b)), (row[0], row[1]));
            assert!((f64::from(own.rest_length) - row[2]).abs() < 1e-7);
        }
        let mut cloth = Cloth::new(mesh, self.config("mass") as f32).unwrap();
        let pins = [0, w - 1, (h - 1) * w, h * w - 1];
        for &pin in &pins[..self.config("fixed") as usize] {
            cloth.pin(pin).unwrap();
        }
        tune(&mut cloth, |settings| {
            settings.scheme = ClothScheme::Reference;
            settings.substeps = 1;
            settings.iterations = self.config("numIterations") as u32;
            settings.damping = 0.0;
        });
        cloth
    }
}

fn strains(positions: &[Vec2], constraints: &[DistanceConstraint]) -> f64 {
    let strain = |c: &DistanceConstraint| {
        let [a, b] = [c.a, c.b].map(|end| positions[end as usize].as_dvec2());
        (a.distance(b) / f64::from(c.rest_length) - 1.0).abs()
    };
    constraints.iter().map(strain).fold(0.0, f64::max)
}

/// Largest distance to the trace in spacings up to step 100 and after it.
fn follow(name: &str) -> [f64; 2] {
    let trace = Trace::read(name);
    let mut cloth = trace.cloth();
    let gravity = Vec2::new(0.0, trace.config("gravity") as f32);
    let around = Surroundings { gravity, ..Surroundings::default() };
    let dt = trace.config("timeStepSize") as f32;
    let spacing = trace.config("spacing");
    let drag = &trace.json["config"]["drag"];
    let mut worst = [0.0f64; 2];
    for row in trace.rows("per_step") {
        let step = row[0];
        if drag.is_object() {
            let number = |key: &str| drag[key].as_f64().unwrap();
            let [start, end] = ["start", "end"].map(|key| numbers(&drag[key]));
            let (from, to) = (number("from"), number("to"));
            if step == from {
                cloth.grab(number("index") as u32).unwrap();
            }
            if step == to {
                cloth.release();
            }
            if step >= from && step < to {
                let t = (step - from) / (to - from);
                let at = |k: usize| (start[k] + t * (end[k] - start[k])) as f32;
                cloth.drag_to(Vec2::new(at(0), at(1))).unwrap();
            }
        }
        cloth.step(dt, &around).unwrap();
        let stats = *cloth.stats();
        let (kinetic, strain) = (row[3], row[4]);
        let energy_error = (stats.kinetic_energy - kinetic).abs();
        assert!(energy_error < 1e-3 + 1e-4 * kinetic, "{name} {step}: {stats:?}, {kinetic}");
        let close = 1e-5 + 1e-4 * strain;
        assert!((f64::from(stats.max_strain) - strain).abs() < close, "{name} {step}: {stats:?}");
        assert!((f64::from(stats.mean_strain) - row[5]).abs() < 1e-5, "{name} {step}: {stats:?}");
        assert!(
            (f64::from(stats.max_speed) - row[6]).abs() < 1e-4 * (1.0 + row[6]),
            "{name} {step}: {stats:?}"
        );
        let own = strains(cloth.positions(), cloth.constraints());
        assert!((f64::from(stats.max_strain) - own).abs() < 1e-6);
        let snapshots = trace.json["snapshots"].as_array().unwrap();
        let Some(snapshot) = snapshots.iter().find(|s| s["step"].as_f64() == Some(step)) else {
            continue;
        };
        let expected: Vec<Vec<f64>> =
            snapshot["particles"].as_array().unwrap().iter().map(numbers).collect();
        for (index, row) in expected.iter().enumerate() {
            let (x, v) = (cloth.positions()[index], cloth.velocities()[index]);
            let apart = (f64::from(x.x) - row[0]).hypot(f64::from(x.y) - row[1]) / spacing;
            let place = &mut worst[usize::from(step > 100.0)];
            *place = place.max(apart);
            let slower = (f64::from(v.x) - row[2]).hypot(f64::from(v.y) - row[3]);
            assert!(slower < 1e-4, "{name} {step} {index}: velocity off by {slower} m/s");
        }
    }
    println!("{name}: {worst:?} spacings up to step 100 and after");
    worst
}

#[test]
fn cloth_follows_the_reference_for_all_its_steps() {
    for (name, gate) in [("ibds_8x6_two_pins", 5e-6), ("ibds_40x30_default", 2e-5)] {
        let worst = follow(name);
        assert!(worst.iter().all(|&worst| worst < gate), "{name}: {worst:?} spacings");
    }
}

#[test]
fn dragged_cloth_follows_the_reference() {
    let [before, after] = follow("ibds_8x6_four_pins_drag");
    assert!(before < 5e-6 && after < 5e-5, "{before} and {after} spacings");
}
