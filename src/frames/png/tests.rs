use super::*;

const GREY: [u8; 3] = [0xEE; 3];
const BLUE: [u8; 4] = [0, 0, 255, 255];

fn canvas(width: u32, height: u32, world: Rect) -> Canvas {
    Canvas::new(width, height, world, GREY).unwrap()
}

/// One world unit is one pixel.
fn unit(width: u32, height: u32) -> Canvas {
    canvas(width, height, Rect::new(0.0, 0.0, width as f32, height as f32))
}

/// In whole pixels of blue on grey, by the green channel in linear light.
fn area(canvas: &Canvas) -> f64 {
    let linear = |value: u8| f64::from(TABLES.linear[usize::from(value)]);
    let ground = linear(GREY[1]);
    let pixels = canvas.pixels.pixels().iter();
    pixels.map(|pixel| 1.0 - linear(pixel.green()) / ground).sum()
}

#[test]
fn the_table_maps_every_value_to_itself() {
    for value in 0..=255 {
        assert_eq!(TABLES.to_srgb(TABLES.linear[usize::from(value)]), value);
    }
}

#[test]
fn colours_are_exact_inside_and_outside() {
    let mut canvas = unit(40, 40);
    canvas.dot(Vec2::splat(20.0), 10.0, BLUE);
    assert_eq!(canvas.pixel(20, 20), Some([0, 0, 255]));
    assert_eq!(canvas.pixel(0, 0), Some(GREY));
    assert_eq!(canvas.pixel(40, 0), None);
    assert_eq!(canvas.pixel(0, 40), None);
    canvas.clear();
    assert_eq!(canvas.pixel(20, 20), Some(GREY));
}

#[test]
fn y_points_up() {
    let mut canvas = unit(10, 20);
    canvas.dot(Vec2::new(2.5, 17.5), 1.0, BLUE);
    assert_eq!(canvas.pixel(2, 2), Some([0, 0, 255]));
}

#[test]
fn the_world_is_fitted_with_equal_scale_and_centred() {
    // 2 x 1 world units in 40 x 40 pixels: 20 pixels a unit, 10 pixels spare above and below.
    let mut canvas = canvas(40, 40, Rect::new(-1.0, 0.0, 1.0, 1.0));
    canvas.dot(Vec2::new(-0.975, 0.975), 0.03, BLUE);
    assert_eq!(canvas.pixel(0, 10), Some([0, 0, 255]));
    canvas.clear();
    canvas.dot(Vec2::new(0.975, 0.025), 0.03, BLUE);
    assert_eq!(canvas.pixel(39, 29), Some([0, 0, 255]));
}

#[test]
fn a_dot_covers_its_area_and_is_round() {
    for radius in [1.0, 2.5, 7.3, 15.0] {
        let mut canvas = unit(40, 40);
        canvas.dot(Vec2::new(20.2, 19.7), radius, BLUE);
        let expected = std::f64::consts::PI * f64::from(radius).powi(2);
        let error = area(&canvas) / expected - 1.0;
        assert!(error.abs() < 0.1 / f64::from(radius), "radius {radius}: {error}");
    }
    let mut canvas = unit(41, 41);
    canvas.dot(Vec2::splat(20.5), 13.4, BLUE);
    for y in 0..41 {
        for x in 0..41 {
            assert_eq!(canvas.pixel(x, y), canvas.pixel(y, x));
            assert_eq!(canvas.pixel(x, y), canvas.pixel(40 - x, y));
        }
    }
}

#[test]
fn the_edge_is_soft() {
    let mut canvas = unit(40, 40);
    canvas.dot(Vec2::new(20.0, 20.5), 10.0, BLUE);
    // The edge runs between the centres of pixels 29 and 30: each lies half a pixel off.
    assert_eq!(canvas.pixel(28, 19), Some([0, 0, 255]));
    assert_eq!(canvas.pixel(31, 19), Some(GREY));
    canvas.clear();
    canvas.dot(Vec2::new(20.5, 20.5), 10.0, BLUE);
    // The centre of pixel 30 lies on the edge: half of the background's light is left.
    let half = TABLES.to_srgb(0.5 * TABLES.linear[0xEE]);
    assert_eq!(canvas.pixel(30, 19).unwrap()[1], half);
}

#[test]
fn a_dot_smaller_than_a_pixel_is_drawn_at_about_one_pixel() {
    for radius in [0.0, 0.01, 0.4] {
        for position in [Vec2::new(5.5, 5.5), Vec2::new(5.0, 5.0), Vec2::new(5.3, 5.1)] {
            let mut canvas = unit(10, 10);
            canvas.dot(position, radius, BLUE);
            let area = area(&canvas);
            assert!((0.7..1.3).contains(&area), "{radius} at {position}: {area}");
        }
    }
}

#[test]
fn alpha_blends_in_linear_light() {
    let mut canvas = Canvas::new(9, 9, Rect::new(0.0, 0.0, 9.0, 9.0), [0, 0, 0]).unwrap();
    canvas.dot(Vec2::splat(4.5), 3.0, [255, 255, 255, 128]);
    // Half the light is 188 in sRGB; blended in sRGB it would be 128.
    assert_eq!(canvas.pixel(4, 4), Some([188; 3]));
    canvas.clear();
    canvas.dot(Vec2::splat(4.5), 3.0, [255, 255, 255, 0]);
    assert_eq!(canvas.pixel(4, 4), Some([0; 3]));
}

#[test]
fn dots_that_cannot_be_drawn_draw_nothing() {
    let mut canvas = unit(8, 8);
    let far = f32::MAX;
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        canvas.dot(Vec2::new(bad, 4.0), 2.0, BLUE);
        canvas.dot(Vec2::new(4.0, bad), 2.0, BLUE);
        canvas.dot(Vec2::splat(4.0), bad, BLUE);
    }
    canvas.dot(Vec2::splat(4.0), -1.0, BLUE);
    for outside in [Vec2::new(-5.0, 4.0), Vec2::new(4.0, 13.0), Vec2::splat(far)] {
        canvas.dot(outside, 2.0, BLUE);
        canvas.dot(-outside, 2.0, BLUE);
    }
    assert!(area(&canvas).abs() < 1e-9);
    canvas.dot(Vec2::splat(4.0), far, BLUE);
    assert!((area(&canvas) - 64.0).abs() < 1e-3);
}

#[test]
fn parameters_out_of_range_are_named() {
    let world = Rect::new(0.0, 0.0, 1.0, 1.0);
    let message = |width, height, world| match Canvas::new(width, height, world, GREY) {
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    };
    assert_eq!(message(0, 8, world), "width is 0, allowed is 1 to 8192 pixels");
    assert_eq!(message(8, 8193, world), "height is 8193, allowed is 1 to 8192 pixels");
    assert_eq!(message(8192, 1, world), "");
    assert_eq!(message(1, 8192, world), "");
    let max = Vec2::ONE;
    for min in [Vec2::new(1.0, 0.0), Vec2::new(0.0, 2.0), Vec2::new(f32::NAN, 0.0)] {
        let message = message(8, 8, Rect { min, max });
        assert!(message.starts_with("world is ["), "{message}");
        assert!(message.contains("allowed is a finite rectangle"), "{message}");
    }
    let infinite = Rect { min: Vec2::ZERO, max: Vec2::splat(f32::INFINITY) };
    assert!(message(8, 8, infinite).contains("inf"));
}

#[test]
fn the_largest_and_the_smallest_world_are_drawn() {
    for extent in [f32::MAX, f32::MIN_POSITIVE] {
        let min = Vec2::splat(-extent);
        let mut canvas = canvas(8, 8, Rect { min, max: -min });
        canvas.dot(Vec2::ZERO, 0.5 * extent, BLUE);
        assert_eq!(canvas.pixel(4, 4), Some([0, 0, 255]));
        assert_eq!(canvas.pixel(0, 0), Some(GREY));
    }
}

#[test]
fn a_line_covers_its_width_and_nothing_beside_it() {
    let mut canvas = unit(20, 20);
    canvas.line(Vec2::new(2.0, 10.0), Vec2::new(15.0, 10.0), 4.0, BLUE);
    for (x, y) in [(4, 8), (10, 9), (14, 11)] {
        assert_eq!(canvas.pixel(x, y), Some([0, 0, 255]), "{x} {y}");
    }
    for (x, y) in [(10, 6), (10, 13), (19, 10)] {
        assert_eq!(canvas.pixel(x, y), Some(GREY), "{x} {y}");
    }
    let before = canvas.encode_png().unwrap();
    canvas.line(Vec2::new(f32::NAN, 0.0), Vec2::ONE, 4.0, BLUE);
    canvas.line(Vec2::splat(100.0), Vec2::splat(200.0), 4.0, BLUE);
    assert_eq!(canvas.encode_png().unwrap(), before);
    // Without length it is a dot.
    canvas.line(Vec2::new(10.0, 3.0), Vec2::new(10.0, 3.0), 4.0, BLUE);
    assert_eq!(canvas.pixel(10, 16), Some([0, 0, 255]));
}

#[test]
fn rectangles_side_by_side_leave_no_gap_and_do_not_overlap() {
    let mut canvas = unit(20, 20);
    let half = [0, 0, 255, 128];
    for left in [3.0, 6.3] {
        canvas.rect(Rect::new(left, 5.0, left + 3.3, 9.0), half);
    }
    let inside = canvas.pixel(4, 12);
    assert_ne!(inside, Some(GREY));
    // 3 to 9.6 covers the middles of pixels 3 to 9, each once.
    for x in 3..9 {
        assert_eq!(canvas.pixel(x, 12), inside, "{x}");
    }
    assert_eq!([canvas.pixel(2, 12), canvas.pixel(11, 12)], [Some(GREY); 2]);
    assert_eq!([canvas.pixel(4, 10), canvas.pixel(4, 15)], [Some(GREY); 2]);
    canvas.rect(Rect::new(f32::NAN, 0.0, 1.0, 1.0), half);
    canvas.rect(Rect::new(50.0, 50.0, 60.0, 60.0), half);
}

#[test]
fn a_png_holds_the_same_pixels() {
    let mut canvas = unit(30, 20);
    canvas.dot(Vec2::new(12.3, 8.1), 6.0, [10, 20, 30, 200]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dots.png");
    canvas.write_png(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(bytes, canvas.encode_png().unwrap());
    assert!(Pixmap::decode_png(&bytes).unwrap() == canvas.pixels);
}
