//! `--set`: every field of a scene by its path.

use super::{Place, number, scene};

/// The last record of a short run with some fields overridden.
fn last_record(file: &str, overrides: &[&str]) -> serde_json::Value {
    let place = Place::new();
    let scene = scene(file);
    let mut arguments = vec![scene.as_str(), "--steps=10", "--jsonl=steps.jsonl"];
    for value in overrides {
        arguments.extend(["--set", value]);
    }
    place.run(&arguments);
    place.records("steps.jsonl").pop().unwrap()
}

/// The same for the reference scene.
fn dam_break(overrides: &[&str]) -> serde_json::Value {
    last_record("dam_break.ron", overrides)
}

#[test]
fn fields_of_each_kind_can_be_set() {
    let plain = dam_break(&[]);
    let center =
        |record: &serde_json::Value, axis: usize| record["center_of_mass"][axis].as_f64().unwrap();

    let number_of_a_struct = dam_break(&["dfsph.max_density_error=0.00001"]);
    let iterations = |record| number(record, "iterations_density");
    assert!(iterations(&number_of_a_struct) > iterations(&plain));
    assert!(number(&number_of_a_struct, "density_error") <= 1e-5);
    let count = dam_break(&["dfsph.min_density_iterations=17"]);
    assert_eq!(iterations(&count), 17.0);

    let vector = dam_break(&["gravity=(1.5, -9.81)"]);
    let moved = center(&vector, 0) - center(&plain, 0);
    // 0.05 s at 1.5 m/s², less what the walls hold back.
    assert!((0.0..0.0021).contains(&moved) && moved > 1e-5, "{moved}");
    let component = dam_break(&["gravity.x=1.5"]);
    assert_eq!(component["center_of_mass"], vector["center_of_mass"]);

    let variant = dam_break(&["time_step=Adaptive(min: 0.001, max: 0.002, cfl: 0.4)"]);
    assert_eq!(number(&variant, "dt") as f32, 0.002);
    let tuple_field = dam_break(&["time_step.0=0.003"]);
    assert_eq!(number(&tuple_field, "dt") as f32, 0.003);
    let variant_field = last_record("dam_break_3d_small.ron", &["time_step.max=0.004"]);
    assert_eq!(number(&variant_field, "dt") as f32, 0.004);

    let deep = dam_break(&["fluids[0].material.viscosity=0.5"]);
    assert!(number(&deep, "kinetic_energy") < number(&plain, "kinetic_energy"));
    let part = dam_break(&["fluids[0].shapes[0].size=(0.5, 0.25)"]);
    assert_eq!(number(&part, "particles"), 50.0);
    let whole = dam_break(&["fluids[0]=(shapes: [Ball(center: (0.0, 1.0), radius: 0.1)])"]);
    assert_eq!(number(&whole, "particles"), 13.0);
    let list = dam_break(&["fluids=[]"]);
    assert_eq!(number(&list, "particles"), 0.0);
    let two = "fluids=[(shapes: [Ball(center: (0.0, 1.0), radius: 0.0)]), \
               (shapes: [Ball(center: (1.0, 1.0), radius: 0.0)])]";
    assert_eq!(number(&dam_break(&[two]), "particles"), 2.0);
    let wall = dam_break(&["boundaries[0].shape=Points([(0.0, 0.0)])"]);
    // 50 ms of free fall: without walls the pressure has nothing to lean on.
    assert!(center(&wall, 1) < center(&plain, 1));
    let space = last_record("dam_break_3d_small.ron", &["gravity=(0.0, 0.0, 2.0)"]);
    assert!(space["center_of_mass"][2].as_f64().unwrap() > 0.35);
}

#[test]
fn later_overrides_win_and_ranges_are_checked_after_all() {
    let record = dam_break(&["time_step=Fixed(99.0)", "time_step=Fixed(0.004)"]);
    assert_eq!(number(&record, "dt") as f32, 0.004);
}

#[test]
fn a_refused_override_names_path_value_and_what_is_allowed() {
    let place = Place::new();
    let refused = [
        ("dfsph.relaxaton=0.5", &["dfsph.relaxaton=0.5", "dfsph has", "relaxation"][..]),
        ("gravitas=1", &["a scene has gravity, particle_radius"]),
        ("fluids[3].velocity=(0, 0)", &["fluids[3]", "fluids has one element, [0]"]),
        ("time_step.max=0.01", &["time_step.max=0.01", "time_step has 0 (it is Fixed)"]),
        ("time_step.0.x=0.01", &["time_step.0 has no fields"]),
        ("gravity[=1", &["gravity[=1", "allowed is a path such as"]),
        ("gravity=down", &["gravity=down", "allowed is (x, y)"]),
        ("gravity=(0.0, 0.0, 1.0)", &["allowed is (x, y)"]),
        ("particle_radius=big", &["particle_radius=big", "allowed is a number"]),
        ("particle_radius=0.1 m", &["particle_radius=0.1 m", "allowed is a number"]),
        ("dfsph.min_density_iterations=2.5", &["allowed is a whole number, 0 or more"]),
        ("time_step=Fast(1.0)", &["Fast", "allowed is Fixed(…) or Adaptive(min: …, max: …"]),
        ("dfsph=(relax: 0.5)", &["relax", "allowed is (max_density_error: …, "]),
        ("fluids=7", &["allowed is a list"]),
        ("particle_radius=-0.1", &["particle_radius is -0.1, allowed is 1e-5 m to 1e5 m"]),
        ("particle_radius=NaN", &["particle_radius is NaN, allowed"]),
        ("dfsph.relaxation=7", &["dfsph.relaxation is 7.0, allowed is 1e-2 to 1"]),
        ("fluids[0].material.viscosity=2", &["fluids[0].material.viscosity is 2.0, allowed is 0"]),
        ("fluids[0].shapes[0].size.x=-1", &["fluids[0].shapes[0].size is", "allowed is 0 or more"]),
        ("boundaries[0].shape.half_size.x=0", &["boundaries[0].shape.half_size is", "allowed"]),
        ("time_step.0=0", &["time_step is 0.0, allowed is 1e-6 s to 1 s"]),
        ("particle_radius=0.00001", &["allowed is a shape of at most 4194304 samples"]),
        ("gravity", &["allowed is PATH=VALUE"]),
        ("=1", &["allowed is PATH=VALUE"]),
    ];
    for (value, expected) in refused {
        let error = place.refusal(&[&scene("dam_break.ron"), "--steps=1", "--set", value]);
        for part in expected {
            assert!(error.contains(part), "{value}: no {part:?} in {error}");
        }
    }
    place.run(&[&scene("dam_break.ron"), "--steps=1", "--set", "dfsph.relaxation=0.7"]);
}
