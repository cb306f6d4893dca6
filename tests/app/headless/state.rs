//! Saved states: stopping and going on leaves no trace.

use super::{Place, scene};

#[test]
fn a_continued_run_equals_the_uninterrupted_one() {
    for name in ["dam_break.ron", "dam_break_3d_small.ron"] {
        let place = Place::new();
        let scene = scene(name);
        let outputs = ["--frames=100", "--format=json"];
        let run = |arguments: &[&str]| place.run(&[arguments, &outputs[..]].concat());
        let whole = ["--steps=60", "--save=whole", "--jsonl=whole.jsonl", "--out=whole.out"];
        run(&[&[scene.as_str()], &whole[..]].concat());
        let first = ["--steps=25", "--save=half", "--jsonl=first.jsonl", "--out=out"];
        run(&[&[scene.as_str()], &first[..]].concat());
        run(&["--load=half", "--steps=35", "--save=rest", "--jsonl=rest.jsonl", "--out=out"]);

        assert!(place.bytes("rest") == place.bytes("whole"), "{name}: another state");
        let mut records = place.records_without_ms("first.jsonl");
        records.extend(place.records_without_ms("rest.jsonl"));
        assert_eq!(records, place.records_without_ms("whole.jsonl"), "{name}");
        assert_eq!(place.names("out"), place.names("whole.out"), "{name}");
        for frame in place.names("out") {
            let same =
                place.bytes(&format!("out/{frame}")) == place.bytes(&format!("whole.out/{frame}"));
            assert!(same, "{name}: {frame}");
        }
    }
}

#[test]
fn a_state_takes_the_place_of_a_scene() {
    let place = Place::new();
    let scene = scene("dam_break.ron");
    place.run(&[&scene, "--steps=3", "--save=state"]);
    let error = place.refusal(&[&scene, "--load=state"]);
    assert!(error.contains("cannot be used with"), "{error}");
    let error = place.refusal(&["--load=state", "--set=gravity=(0.0, 0.0)"]);
    assert!(error.contains("cannot be used with"), "{error}");
    let closing = place.run(&["--load=state", "--seconds=0.02"]);
    assert!(closing.starts_with("4 steps, 0.020 s"), "{closing}");
    let error = place.refusal(&["--load=state", "--steps=2", "--snapshots=1", "--out=out"]);
    assert!(error.contains("from step 3 to 5"), "{error}");
}

#[test]
fn a_spoilt_state_is_refused() {
    let place = Place::new();
    place.run(&[&scene("dam_break.ron"), "--steps=1", "--save=state"]);
    let text = String::from_utf8(place.bytes("state")).unwrap();
    let spoilt = [
        ("(time_step:Fixed(0.005)", "(time_step:Fixed(0.0)", "time_step is 0.0, allowed is 1e-6 s"),
        ("free:[]", "free:[7]", "bodies[0].particles is inconsistent"),
        ("ids:[(slot:0,generation:0),", "ids:[", "bodies[0].particles is inconsistent"),
        ("State2d", "State5d", "spoilt:1:"),
        ("steps:1", "steps:-1", "spoilt:1:"),
    ];
    for (from, to, expected) in spoilt {
        let from = from.trim_start_matches('(');
        let to = to.trim_start_matches('(');
        assert!(text.contains(from), "{from}");
        place.write("spoilt", &text.replacen(from, to, 1));
        let error = place.refusal(&["--load=spoilt", "--steps=1"]);
        assert!(error.contains(expected), "{error}");
        assert!(error.contains("spoilt"), "{error}");
    }
    place.write("cut", &text[..text.len() / 2]);
    assert!(place.refusal(&["--load=cut"]).contains("cut:1:"));
    place.run(&["--load=state", "--steps=1"]);
}
