//! Saved states: stopping and going on leaves no trace.

use super::{Place, scene};

#[test]
fn a_continued_run_equals_the_uninterrupted_one() {
    for name in ["dam_break.ron", "dam_break_fast.ron", "dam_break_3d_small.ron"] {
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
        ("time_step:Fixed(0.005)", "time_step:Fixed(0.0)", "time_step is 0.0, allowed is 1e-6 s"),
        ("free:[]", "free:[7]", "free is 1, allowed is each vacant slot once"),
        ("ids:[(slot:0,generation:0),", "ids:[", "allowed is 899 entries, one for each id"),
        ("State2d", "State5d", "spoilt:1:"),
        ("steps:1", "steps:-1", "spoilt:1:"),
    ];
    for (from, to, expected) in spoilt {
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

#[cfg(unix)]
#[test]
fn ctrl_c_leaves_whole_files_and_a_state_to_go_on_from() {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    let place = Place::new();
    let arguments =
        ["--seconds=1e6", "--frames=200", "--out=out", "--jsonl=steps.jsonl", "--save=state"];
    // A shell that runs the tests in the background has them ignore Ctrl-C.
    let mut child = Command::new("env")
        .arg("--default-signal=INT")
        .arg(super::program())
        .arg(scene("dam_break.ron"))
        .args(arguments)
        .current_dir(place.path("."))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while !place.path("out/frame_000010.png").exists() {
        assert!(start.elapsed() < Duration::from_secs(60), "no frame");
        std::thread::sleep(Duration::from_millis(5));
    }
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(130));

    let steps = place.records("steps.jsonl").len();
    let (states, frames): (Vec<String>, Vec<String>) =
        place.names("out").into_iter().partition(|name| name == "resume.ron");
    assert_eq!(states.len(), 1);
    for (index, name) in frames.iter().enumerate() {
        assert_eq!(*name, format!("frame_{index:06}.png"));
        tiny_skia::Pixmap::decode_png(&place.bytes(&format!("out/{name}"))).unwrap();
    }
    assert_eq!(place.names("."), ["out", "state", "steps.jsonl"]);
    place.run(&["--load=state", "--steps=1", "--jsonl=next.jsonl"]);
    assert_eq!(place.records("next.jsonl")[0]["step"], steps + 1);
}
