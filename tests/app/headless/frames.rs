//! Frames at their own rate, as pictures and as tables.

use super::{Place, rows, scene};

/// The colours of a picture with the number of pixels that have it, and its size.
fn colors(png: &[u8]) -> (std::collections::HashMap<[u8; 3], usize>, [u32; 2]) {
    let picture = tiny_skia::Pixmap::decode_png(png).unwrap();
    let mut colors = std::collections::HashMap::new();
    for pixel in picture.pixels() {
        *colors.entry([pixel.red(), pixel.green(), pixel.blue()]).or_default() += 1;
    }
    (colors, [picture.width(), picture.height()])
}

#[test]
fn pictures_come_at_the_frame_rate_whatever_the_step() {
    let place = Place::new();
    let names: Vec<String> = (0..=6).map(|frame| format!("frame_{frame:06}.png")).collect();
    for (folder, step) in [("a", "0.005"), ("b", "0.002"), ("c", "0.05")] {
        let step = format!("--set=time_step=Fixed({step})");
        let arguments = ["--seconds=0.1", "--frames=60", "--out", folder];
        place.run(&[&[scene("dam_break.ron").as_str(), &step], &arguments[..]].concat());
        assert_eq!(place.names(folder), names, "{folder}");
    }
    let sizes: Vec<_> =
        names.iter().map(|name| colors(&place.bytes(&format!("a/{name}"))).1).collect();
    assert!(sizes.iter().all(|size| *size == sizes[0] && size[0] % 2 + size[1] % 2 == 0));
    assert_ne!(place.bytes("a/frame_000000.png"), place.bytes("a/frame_000006.png"));
}

#[test]
fn picture_has_the_colors_of_the_reference() {
    let place = Place::new();
    place.run(&[&scene("dam_break.ron"), "--steps=0", "--out=out"]);
    assert_eq!(place.names("out"), ["final.png"]);
    let (colors, [width, height]) = colors(&place.bytes("out/final.png"));
    let part = |color: [u8; 3]| {
        colors.get(&color).copied().unwrap_or(0) as f64 / f64::from(width * height)
    };
    // hsl(225°, 100 %, 25 %): at rest.
    let [water, wall, air] = [[0, 32, 128], [0x88; 3], [0xEE; 3]].map(part);
    println!("{width} x {height}: water {water:.3}, wall {wall:.3}, air {air:.3}");
    // 900 discs of the particle radius in a view of 4.65 m by 4.7 m.
    assert!((0.06..0.09).contains(&water), "{water}");
    assert!((0.01..0.03).contains(&wall), "{wall}");
    assert!(air > 0.8, "{air}");
}

#[test]
fn tables_show_the_first_step_at_or_past_their_time() {
    let place = Place::new();
    let arguments = ["--seconds=0.1", "--frames=60", "--format=json", "--out=out"];
    place.run(&[&[scene("dam_break.ron").as_str()], &arguments[..]].concat());
    let frames: Vec<_> =
        place.names("out").iter().map(|name| place.json(&format!("out/{name}"))).collect();
    let steps: Vec<u64> = frames.iter().map(|frame| frame["step"].as_u64().unwrap()).collect();
    assert_eq!(steps, [0, 4, 7, 10, 14, 17, 20]);
    assert!(frames.iter().all(|frame| rows(&frame["rows"]).len() == 900));
}

#[test]
fn space_is_drawn_from_the_front() {
    let place = Place::new();
    place.run(&[&scene("dam_break_3d_small.ron"), "--seconds=0.3", "--out=out"]);
    let (colors, _) = colors(&place.bytes("out/final.png"));
    assert!(colors[&[0xEE; 3]] > 0);
    let blue = |color: &&[u8; 3]| color[2] > color[0].saturating_add(60);
    assert!(colors.keys().filter(blue).count() > 50, "water of many speeds");
}

#[test]
fn the_end_is_drawn_only_where_nothing_else_is_asked_for() {
    let place = Place::new();
    let scene = scene("dam_break.ron");
    place.run(&[&scene, "--steps=2", "--out=a/b", "--jsonl=steps.jsonl"]);
    assert_eq!(place.names("a/b"), ["final.png"]);
    place.run(&[&scene, "--steps=2", "--out=c", "--snapshots=0,2"]);
    assert_eq!(place.names("c"), ["snapshot_000000.json", "snapshot_000002.json"]);
}

#[test]
fn space_out_of_meshes_is_written_for_a_vtk_reader() {
    use vtkio::model::{Attribute, DataSet, Piece};

    let place = Place::new();
    let scene = scene("double_dam_3d.ron");
    let arguments = [&scene, "--seconds=0.02", "--frames=60", "--format=vtk", "--out=out"];
    place.run(&[&arguments[..], &["--snapshots=0"]].concat());
    let frames = ["frame_000000.vtk", "frame_000001.vtk", "snapshot_000000.json"];
    assert_eq!(place.names("out"), frames);
    let read = |frame: &str| {
        let file = vtkio::Vtk::parse_legacy_be(&place.bytes(&format!("out/{frame}"))[..]).unwrap();
        let DataSet::PolyData { pieces, .. } = file.data else { panic!("{:?}", file.data) };
        let Some(Piece::Inline(piece)) = pieces.into_iter().next() else { panic!("no piece") };
        *piece
    };
    let first = read(frames[0]);
    let snapshot = rows(&place.json("out/snapshot_000000.json")["rows"]);
    let places = first.points.clone().into_vec::<f32>().unwrap();
    let expected = snapshot.iter().flat_map(|row| row[..3].iter().map(|&c| c as f32));
    assert_eq!(places.len(), 3 * 8000);
    assert!(places.iter().copied().eq(expected), "the numbers of the snapshot");
    let last = read(frames[1]);
    let names: Vec<&str> = last.data.point.iter().map(Attribute::name).collect();
    assert_eq!(names, ["velocity", "density", "pressure", "id", "fluid"]);
    let moved = last.points.into_vec::<f32>().unwrap();
    assert!(moved.iter().zip(&places).any(|(a, b)| a != b));
}

#[test]
fn particles_are_written_as_ply() {
    let place = Place::new();
    let arguments = ["--steps=1", "--frames=60", "--format=ply", "--out=out"];
    place.run(&[&[scene("dam_break.ron").as_str()], &arguments[..]].concat());
    let bytes = place.bytes("out/frame_000000.ply");
    assert!(bytes.starts_with(b"ply\nformat binary_little_endian 1.0\n"));
    let header = bytes.windows(11).position(|part| part == b"end_header\n").unwrap() + 11;
    assert_eq!(bytes.len() - header, 900 * 40);
}
