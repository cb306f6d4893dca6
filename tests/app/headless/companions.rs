//! Cloth and smoke in scenes.

use super::{Place, number, rows, scene};

/// Distance of the cloth's particles in metres.
const SPACING: f64 = 0.2;

#[test]
fn the_cloth_scene_follows_the_trace_of_the_reference() {
    let place = Place::new();
    let steps = ["--steps", "100", "--jsonl", "steps.jsonl"];
    let snapshots = ["--snapshots", "1,10,100", "--out", "out"];
    place.run(&[&[scene("cloth.ron").as_str()], &steps[..], &snapshots[..]].concat());

    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/ibds_40x30_default.json");
    let trace: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let records = place.records("steps.jsonl");
    assert_eq!(records.len(), 100);
    for (record, row) in records.iter().zip(rows(&trace["per_step"])) {
        assert_eq!(number(record, "step"), row[0]);
        let energy = number(record, "kinetic_energy");
        assert!((energy - row[3]).abs() <= 1e-3 + 1e-4 * row[3], "{record} {}", row[3]);
        assert!((number(record, "max_strain") - row[4]).abs() < 1e-5, "{record} {}", row[4]);
        assert_eq!(number(record, "constraints"), 4592.0);
        assert!(record["ms"]["constraints"].is_number(), "{record}");
    }
    let mut compared = 0;
    for snapshot in trace["snapshots"].as_array().unwrap() {
        let step = snapshot["step"].as_u64().unwrap();
        let name = format!("out/snapshot_{step:06}.json");
        if !place.path(&name).exists() {
            continue;
        }
        let found = place.json(&name);
        assert_eq!(found["columns"], serde_json::json!(["x", "y", "vx", "vy"]));
        for (found, expected) in rows(&found["rows"]).iter().zip(rows(&snapshot["particles"])) {
            let distance = (found[0] - expected[0]).hypot(found[1] - expected[1]);
            assert!(distance < 2e-5 * SPACING, "step {step}: {distance}");
        }
        compared += 1;
    }
    assert!(compared >= 2);
}

#[test]
fn smoke_rises_and_its_figures_are_written() {
    let place = Place::new();
    let smoke = scene("smoke.ron");
    let coarse = ["--set", "smokes[0].domain.cells=(64, 36, 1)"];
    let run = ["--seconds", "1", "--jsonl", "steps.jsonl", "--frames", "2", "--out", "out"];
    place.run(&[&[smoke.as_str()], &coarse[..], &run[..]].concat());
    let records = place.records("steps.jsonl");
    let (first, last) = (&records[10], records.last().unwrap());
    let dye = |record: &serde_json::Value| record["total_dye"][0].as_f64().unwrap();
    // A quarter a second, less what the last step has still to give.
    assert!((dye(last) - 0.25).abs() < 0.02, "{last}");
    assert!(dye(first) < 0.5 * dye(last), "{first}");
    assert!(number(last, "max_speed") > 0.1, "{last}");
    let left = number(last, "divergence_after") / number(last, "divergence_before");
    assert!(left <= 1e-3, "{last}");
    assert!(place.bytes("out/frame_000002.png") != place.bytes("out/frame_000000.png"));
}

/// A puddle, a handkerchief and a puff of smoke.
const ALL: &str = "Scene2d(
    particle_radius: 0.05,
    fluids: [(shapes: [Block(min: (0.0, 0.0), size: (0.5, 0.5))])],
    boundaries: [(shape: Box(half_size: (0.5, 0.5), fill: Container), position: (0.5, 0.5))],
    cloths: [(
        shape: Grid(origin: (0.0, 2.0), right: (0.1, 0.0), down: (0.0, -0.1), columns: 8, rows: 6),
        mass: 0.01,
        pins: [0, 7],
    )],
    smokes: [(
        domain: (min: (2.0, 0.0), size: (1.0, 1.0), cells: (32, 32, 1)),
        sources: [(shape: Ball(radius: 0.1), position: (2.5, 0.2), dye_rates: [1.0])],
    )],
)";

#[test]
fn systems_of_one_scene_keep_their_figures_apart_and_go_on_from_a_saved_state() {
    let place = Place::new();
    place.write("all.ron", ALL);
    let save = ["--save", "state.ron", "--steps", "30"];
    place.run(&[&["all.ron", "--jsonl", "a.jsonl"], &save[..]].concat());
    place.run(&["--load", "state.ron", "--steps", "20", "--save", "later.ron"]);
    place.run(&["all.ron", "--steps", "50", "--save", "whole.ron", "--jsonl", "b.jsonl"]);
    assert!(place.bytes("later.ron") == place.bytes("whole.ron"));
    let record = &place.records("b.jsonl")[49];
    assert!(number(&record["water"], "particles") > 10.0, "{record}");
    assert!(number(&record["cloth"], "constraints") > 10.0, "{record}");
    assert!(record["smoke"]["total_dye"][0].as_f64().unwrap() > 0.01, "{record}");
    assert!(record.get("max_speed").is_none(), "{record}");
}

#[test]
fn bad_values_of_cloth_and_smoke_are_refused_by_their_path() {
    let place = Place::new();
    place.write("all.ron", ALL);
    for (value, told) in [
        ("cloths[0].mass=-1.0", "cloths[0].mass is -1.0"),
        ("cloths[0].pins=[48]", "cloths[0].pins[0]"),
        ("cloths[0].settings.friction=-1.0", "cloths[0].settings.friction is -1.0"),
        ("smokes[0].domain.cells=(0, 32, 1)", "smokes[0].domain.cells"),
        ("smokes[0].channels=0", "smokes[0].channels is 0"),
        ("wind=(1e9, 0.0)", "wind is"),
    ] {
        let line = place.refusal(&["all.ron", "--steps", "1", "--set", value]);
        assert!(line.contains(told), "{value}: {line}");
    }
    place.run(&["all.ron", "--steps", "1", "--set", "cloths[0].mass=1.0", "--set", "wind=(1, 0)"]);
}
