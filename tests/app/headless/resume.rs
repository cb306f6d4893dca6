//! A run that is killed and goes on.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{Place, scene};

/// The arguments of a run that is worth to be interrupted.
fn arguments<'a>(scene: &'a str, out: &'a str, jsonl: &'a str, save: &'a str) -> Vec<&'a str> {
    let every = ["--frames=100", "--format=vtk", "--save-every=0", "--seconds=0.6"];
    let mut all = vec![scene, "--set=dfsph.max_density_error=0.0005", "--snapshots=1,60"];
    all.extend(every);
    all.extend([out, jsonl, save]);
    all
}

#[test]
fn a_killed_run_goes_on_to_the_same_result() {
    let place = Place::new();
    let scene = scene("dam_break.ron");
    place.run(&arguments(&scene, "--out=whole", "--jsonl=whole.jsonl", "--save=whole.ron"));
    let cut = arguments(&scene, "--out=cut", "--jsonl=cut.jsonl", "--save=cut.ron");
    // Twice: one that goes on may be killed as well.
    for (more, frame) in [(&[][..], "frame_000012.vtk"), (&["--resume"], "frame_000031.vtk")] {
        let mut child = Command::new(super::program())
            .args(&cut)
            .args(more)
            .current_dir(place.path("."))
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let start = Instant::now();
        while !place.path("cut").join(frame).exists() {
            assert!(start.elapsed() < Duration::from_secs(60), "no {frame}");
            std::thread::sleep(Duration::from_millis(2));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(place.path("cut/resume.ron").exists());
        assert!(!place.path("cut.ron").exists(), "it was over before it was killed");
    }
    let closing = place.run(&[&cut[..], &["--resume"]].concat());
    let steps: u32 = closing.split_once(' ').unwrap().0.parse().unwrap();
    assert!((1..60).contains(&steps), "{closing}");

    assert!(place.bytes("cut.ron") == place.bytes("whole.ron"), "another state");
    let records = place.records_without_ms("cut.jsonl");
    assert_eq!(records, place.records_without_ms("whole.jsonl"));
    let whole = place.names("whole");
    // What was being written when it was killed may be left under its temporary name.
    let mut names = place.names("cut");
    names.retain(|name| !name.ends_with(".tmp"));
    assert_eq!(names, whole, "resume.ron is gone");
    for name in whole {
        let same = place.bytes(&format!("cut/{name}")) == place.bytes(&format!("whole/{name}"));
        assert!(same, "{name}");
    }
}

#[test]
fn a_run_of_another_scene_is_not_resumed() {
    let place = Place::new();
    let scene = scene("dam_break.ron");
    let first = [scene.as_str(), "--steps=3", "--out=out", "--save-every=0"];
    place.run(&first);
    assert_eq!(place.names("out"), ["final.png"], "a run that has ended leaves no state");
    place.run(&[scene.as_str(), "--steps=3", "--save=state"]);
    let state = String::from_utf8(place.bytes("state")).unwrap();
    place.write("out/resume.ron", &format!("(scene:\"other\",state:{state})"));
    let error = place.refusal(&[&first[..], &["--resume"]].concat());
    assert!(error.contains("out/resume.ron: a run of another scene"), "{error}");
    place.write("out/resume.ron", "(scene:");
    assert!(place.refusal(&[&first[..], &["--resume"]].concat()).contains("resume.ron:1:"));
    // Without --resume it starts anew.
    place.run(&first);
}
