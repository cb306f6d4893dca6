//! The figures of every step, and snapshots of all particles.

use super::{Place, number, rows, scene};

/// The fields of a line, in their order.
const FIELDS: [&str; 18] = [
    "step",
    "time",
    "dt",
    "iterations_density",
    "iterations_divergence",
    "applications",
    "density_error",
    "divergence_error",
    "held_back",
    "mean_density",
    "max_density",
    "mean_abs_density_error",
    "kinetic_energy",
    "potential_energy",
    "center_of_mass",
    "max_speed",
    "particles",
    "ms",
];

/// The stages of a step.
const STAGES: [&str; 5] =
    ["neighbor_search", "non_pressure_forces", "density_solve", "integrate", "divergence_solve"];

/// Density iterations per step in the reference, over 400 steps.
const REFERENCE_ITERATIONS: f64 = 4.025;

/// The recorded trace of the reference program for this scene.
fn trace() -> serde_json::Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/dfsph_30x30_default.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn dam_break_has_the_figures_of_the_reference() {
    let place = Place::new();
    let steps = ["--steps", "400", "--jsonl", "steps.jsonl"];
    let snapshots = ["--snapshots", "50,1,10", "--out", "out"];
    let closing =
        place.run(&[&[scene("dam_break.ron").as_str()], &steps[..], &snapshots[..]].concat());
    assert!(closing.starts_with("400 steps, 2.000 s simulated in "), "{closing}");

    let records = place.records("steps.jsonl");
    let trace = trace();
    let expected = rows(&trace["per_step"]);
    assert_eq!(records.len(), 400);
    for (record, row) in records.iter().zip(&expected) {
        let step = number(record, "step");
        assert_eq!(step, row[0]);
        assert!((number(record, "time") - 0.005 * step).abs() < 1e-6, "{record}");
        assert_eq!(number(record, "particles"), 900.0);
        if step <= 50.0 {
            assert_eq!(number(record, "iterations_density"), row[1], "{record}");
            assert_eq!(number(record, "iterations_divergence"), row[2], "{record}");
        }
        if step <= 200.0 {
            let close = |name: &str, value: f64, expected: f64, part: f64| {
                let error = (value - expected).abs() / expected.abs();
                assert!(error < part, "{name} {value}, {expected} in the reference: {record}");
            };
            close("kinetic_energy", number(record, "kinetic_energy"), row[5], 0.03);
            close("mean_density", number(record, "mean_density"), row[6], 0.01);
            close("y", record["center_of_mass"][1].as_f64().unwrap(), row[4], 0.01);
        }
        if number(record, "iterations_density") < 100.0 {
            assert!(number(record, "density_error") <= 0.001, "a fraction: {record}");
        }
    }
    let iterations: f64 = records.iter().map(|record| number(record, "iterations_density")).sum();
    let mean = iterations / 400.0;
    println!("{mean} density iterations a step");
    assert!((mean / REFERENCE_ITERATIONS - 1.0).abs() < 0.03, "{mean}");

    assert_eq!(
        place.names("out"),
        ["snapshot_000001.json", "snapshot_000010.json", "snapshot_000050.json"]
    );
    for (step, allowed) in [(1, 1e-5), (10, 1e-4), (50, 1e-3)] {
        let snapshot = place.json(&format!("out/snapshot_{step:06}.json"));
        let expected = trace["snapshots"].as_array().unwrap();
        let expected = expected.iter().find(|expected| expected["step"] == step).unwrap();
        follows(&snapshot, &rows(&expected["particles"]), allowed);
    }
}

/// Compares a snapshot with the reference's, in the units of the method: the
/// spacing, the time step and the rest density.
fn follows(snapshot: &serde_json::Value, expected: &[Vec<f64>], allowed: f64) {
    let columns = ["x", "y", "vx", "vy", "density", "pressure_density", "pressure_divergence"];
    assert_eq!(snapshot["columns"], serde_json::json!(columns));
    let found = rows(&snapshot["rows"]);
    assert_eq!(found.len(), expected.len());
    let (spacing, rest) = (0.05, 1000.0);
    let speed: f64 = spacing / 0.005;
    let pressure = rest * speed * speed;
    let units = [spacing, spacing, speed, speed, rest, pressure, pressure];
    for (column, (name, unit)) in columns.iter().zip(units).enumerate() {
        let errors = found.iter().zip(expected).map(|(a, b)| (a[column] - b[column]).abs() / unit);
        let error = errors.fold(0.0, f64::max);
        println!("step {}: {name} {error:.1e}", snapshot["step"]);
        assert!(error < allowed, "step {}: {name} is off by {error:e}", snapshot["step"]);
    }
    let highest = expected.iter().map(|row| row[5]).fold(0.0, f64::max);
    assert!(highest > 10.0 * allowed * pressure, "the pressures tell nothing");
}

#[test]
fn lines_have_their_fields_in_order() {
    let place = Place::new();
    place.run(&[&scene("dam_break.ron"), "--steps", "3", "--jsonl", "steps.jsonl"]);
    let text = String::from_utf8(place.bytes("steps.jsonl")).unwrap();
    assert!(text.ends_with("}}\n"));
    for line in text.lines() {
        let places = FIELDS.iter().chain(&STAGES).map(|field| {
            line.find(&format!("\"{field}\":")).unwrap_or_else(|| panic!("{field} in {line}"))
        });
        assert!(places.is_sorted(), "{line}");
        assert_eq!(line.matches("\":").count(), FIELDS.len() + STAGES.len(), "{line}");
    }
}

#[test]
fn numbers_keep_their_full_precision() {
    let place = Place::new();
    place.run(&[&scene("dam_break.ron"), "--steps", "7", "--snapshots", "7", "--out", "."]);
    let text = String::from_utf8(place.bytes("snapshot_000007.json")).unwrap();
    let table = text.split_once("\"rows\":[[").unwrap().1;
    let numbers = table.trim_end_matches(['}', ']']).split(['[', ']', ',']);
    let mut longest = 0;
    for number in numbers.filter(|number| !number.is_empty()) {
        let value: f32 = number.parse().unwrap();
        assert_eq!(serde_json::to_string(&value).unwrap(), number);
        longest = longest.max(number.trim_start_matches(['-', '0', '.']).len());
    }
    assert!(longest >= 8, "{longest} digits");
}

#[test]
fn thread_count_does_not_change_a_bit() {
    let place = Place::new();
    for threads in ["1", "2", "5"] {
        place.run(&[
            &scene("dam_break.ron"),
            "--set=particle_radius=0.005",
            "--set=time_step=Fixed(0.001)",
            "--steps=4",
            "--threads",
            threads,
            &format!("--jsonl={threads}.jsonl"),
            &format!("--out={threads}"),
            "--snapshots=4",
        ]);
    }
    let serial = place.records_without_ms("1.jsonl");
    assert_eq!(number(&serial[3], "particles"), 22_500.0);
    for threads in ["2", "5"] {
        assert_eq!(place.records_without_ms(&format!("{threads}.jsonl")), serial, "{threads}");
        let particles = |threads: &str| place.bytes(&format!("{threads}/snapshot_000004.json"));
        assert!(particles(threads) == particles("1"), "{threads} threads move other particles");
    }
}

#[test]
fn space_has_three_components() {
    let place = Place::new();
    let scene = scene("dam_break_3d_small.ron");
    place.run(&[&scene, "--steps=20", "--jsonl=steps.jsonl", "--out=out", "--snapshots=0,20"]);
    let last = &place.records("steps.jsonl")[19];
    assert_eq!(last["center_of_mass"].as_array().unwrap().len(), 3);
    assert!(number(last, "mean_abs_density_error") < 0.02, "{last}");
    let snapshot = place.json("out/snapshot_000020.json");
    assert_eq!(snapshot["columns"].as_array().unwrap().len(), 9);
    assert_eq!(rows(&snapshot["rows"]).len(), number(last, "particles") as usize);
    let start = rows(&place.json("out/snapshot_000000.json")["rows"]);
    let height = |rows: &[Vec<f64>]| rows.iter().map(|row| row[1]).sum::<f64>();
    assert!(height(&rows(&snapshot["rows"])) < height(&start), "it falls");
}

#[test]
fn particles_that_turn_non_finite_are_reported() {
    let place = Place::new();
    let fall = "--set=gravity=(0.0, -3e38)";
    let output =
        place.output(&[&scene("dam_break.ron"), fall, "--steps=60", "--jsonl=steps.jsonl"]);
    assert!(output.status.success());
    let errors = String::from_utf8(output.stderr).unwrap();
    let removed: f64 = errors
        .lines()
        .map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            assert_eq!((words[0], words[2]), ("step", "removed"), "{line}");
            words[3].parse::<f64>().unwrap()
        })
        .sum();
    assert!(removed > 0.0);
    let records = place.records("steps.jsonl");
    assert_eq!(number(&records[59], "particles"), 900.0 - removed);
}
