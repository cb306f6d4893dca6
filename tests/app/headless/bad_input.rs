//! Bad input: exit code 2 and one line that says what is wrong.

use super::{Place, scene};

#[test]
fn bad_arguments_are_refused_in_one_line() {
    let place = Place::new();
    place.write("file", "");
    let scene = scene("dam_break.ron");
    let refused: [(&[&str], &str); 31] = [
        (&[], "<SCENE.ron>"),
        (&["missing.ron"], "cannot read missing.ron: No such file"),
        (&["."], "cannot read .: "),
        (&[&scene, "--stepz", "4"], "unexpected argument '--stepz'"),
        (&[&scene, "again.ron"], "unexpected argument 'again.ron'"),
        (&[&scene, "--steps", "many"], "'many' for '--steps <N>'"),
        (&[&scene, "--steps", "-1"], "'-1' for '--steps <N>'"),
        (&[&scene, "--steps", "1.5"], "'1.5' for '--steps <N>'"),
        (&[&scene, "--steps", "1", "--seconds", "1"], "cannot be used with"),
        (&[&scene, "--seconds", "-1"], "allowed is a number of seconds, 0 or more"),
        (&[&scene, "--seconds", "inf"], "allowed is a number of seconds, 0 or more"),
        (&[&scene, "--seconds", "NaN"], "allowed is a number of seconds, 0 or more"),
        (&[&scene, "--frames", "0", "--out", "out"], "allowed is 0.001 to 10000 frames"),
        (&[&scene, "--frames", "-60", "--out", "out"], "allowed is 0.001 to 10000 frames"),
        (&[&scene, "--frames", "60"], "--out"),
        (&[&scene, "--format", "json", "--out", "out"], "--frames"),
        (&[&scene, "--frames", "60", "--out", "out", "--format", "gif"], "png, json, vtk, ply"),
        (&[&scene, "--snapshots", "1"], "--out"),
        (&[&scene, "--snapshots", "1,x", "--out", "out"], "'x' for '--snapshots"),
        (&[&scene, "--steps", "5", "--snapshots", "6", "--out", "out"], "from step 0 to 5"),
        (&[&scene, "--threads", "0"], "'0' for '--threads <N>': 0 is not in 1..=1024"),
        (&[&scene, "--threads", "-2"], "'-2' for '--threads <N>'"),
        (&[&scene, "--out", "file"], "cannot write to file: "),
        (&[&scene, "--out", "file/out"], "cannot write to file/out: "),
        (&[&scene, "--jsonl", "nowhere/steps.jsonl"], "cannot write nowhere/steps.jsonl: "),
        (&[&scene, "--save", "."], "cannot write .: "),
        (&["--load", "missing"], "cannot read missing: No such file"),
        (&[&scene, "--resume"], "--out"),
        (&["--load", "missing", "--resume", "--out", "out"], "cannot be used with"),
        (&[&scene, "--out", "out", "--save-every", "-1"], "allowed is 0 to 1e9 seconds"),
        (&[&scene, "--out", "out", "--save-every", "NaN"], "allowed is 0 to 1e9 seconds"),
    ];
    for (arguments, expected) in refused {
        let error = place.refusal(arguments);
        assert!(error.contains(expected), "{arguments:?}: no {expected:?} in {error}");
    }
    assert_eq!(place.names("."), ["file"], "nothing was written");
}

#[test]
fn valid_twins_of_refused_arguments_are_accepted() {
    let place = Place::new();
    let scene = scene("dam_break.ron");
    let accepted: [&[&str]; 8] = [
        &["--seconds", "0"],
        &["--steps", "0"],
        &["--seconds", "0.01", "--threads", "1"],
        &["--steps", "5", "--snapshots", "5,5,0", "--out", "a"],
        &["--steps", "1", "--frames", "0.5", "--format", "json", "--out", "b"],
        &["--steps", "1", "--save", "state", "--jsonl", "steps.jsonl"],
        &["--steps", "1", "--resume", "--out", "c"],
        &["--steps", "1", "--save-every", "0", "--out", "d"],
    ];
    for arguments in accepted {
        place.run(&[&[scene.as_str()], arguments].concat());
    }
    assert_eq!(place.names("."), ["a", "b", "c", "d", "state", "steps.jsonl"]);
}

#[test]
fn bad_scene_files_are_refused_with_line_and_column() {
    let place = Place::new();
    let files = [
        ("Scene2d(\n  particel_radius: 0.1,\n)", "x.ron:2:"),
        ("Scene2d(\n  gravity: (0.0, -9.81),\n  dfsph: (relaxation: \"much\"),\n)", "x.ron:3:"),
        ("Scene4d()", "x.ron:1:"),
        ("", "x.ron:1:"),
        ("Scene2d(dfsph: (relaxation: 7.0))", "x.ron: dfsph.relaxation is 7.0, allowed is"),
        (
            "Scene2d(fluids: [(shapes: [Ball(center: (0.0, 0.0), radius: -1.0)])])",
            "x.ron: fluids[0].shapes[0].radius is -1.0, allowed is 0 or more",
        ),
    ];
    for (text, expected) in files {
        place.write("x.ron", text);
        let error = place.refusal(&["x.ron", "--steps=1"]);
        assert!(error.contains(expected), "{text}: {error}");
    }
    std::fs::write(place.path("x.ron"), [0xFF, 0xFE, 0x00]).unwrap();
    assert!(place.refusal(&["x.ron"]).contains("cannot read x.ron: "));
    place.write("x.ron", "Scene2d()");
    place.run(&["x.ron", "--steps=1", "--out=out"]);
}

#[test]
fn help_tells_units_and_ends_well() {
    let help = Place::new().run(&["--help"]);
    for part in [
        "--steps",
        "in seconds",
        "m/s",
        "kg/m^3",
        "Pa",
        "[default: png]",
        "vtk",
        "ply",
        "--load",
        "--resume",
    ] {
        assert!(help.contains(part), "{part} in {help}");
    }
}

#[test]
fn bad_meshes_are_refused_with_their_file() {
    let place = Place::new();
    std::fs::create_dir(place.path("scenes")).unwrap();
    let scene = "Scene3d(boundaries: [(shape: Mesh(mesh: \"../box.obj\"))])";
    place.write("scenes/x.ron", scene);
    let arguments = ["scenes/x.ron", "--steps=1"];
    let missing = place.refusal(&arguments);
    assert!(missing.contains("cannot read scenes/../box.obj: No such file"), "{missing}");
    place.write("box.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nf 1 2 7\n");
    assert!(place.refusal(&arguments).contains("scenes/../box.obj: no OBJ mesh: "));
    place.write("box.obj", "v 0 0 0\nv 1 0 0\nv 1 inf 0\nf 1 2 3\n");
    assert!(place.refusal(&arguments).contains("scenes/../box.obj: positions[2] is "));
    place.write("box.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nf 1 2 3\n");
    place.run(&arguments);
    let scaled = ["--set", "boundaries[0].shape.scale=(1e6, 1e6, 1e6)"];
    let error = place.refusal(&[&arguments[..], &scaled].concat());
    assert!(error.contains("x.ron with --set: boundaries[0].shape.mesh is"), "{error}");
    let other = ["--set", "boundaries[0].shape=Mesh(mesh: \"../none.obj\")"];
    assert!(place.refusal(&[&arguments[..], &other].concat()).contains("scenes/../none.obj"));
}
