use super::*;
use crate::solver::sampling::{BoundaryShape, Fill};
use crate::solver::smoke::{SmokeObstacle, SmokeSettings, SmokeView};

/// 8 x 6 x 4 cells of a quarter of a metre with a solid box of 2 x 2 x 2.
fn smoke() -> Smoke<Vec3> {
    let domain = SmokeDomain { min: Vec3::ZERO, size: Vec3::new(2.0, 1.5, 1.0), cells: [8, 6, 4] };
    let mut smoke = Smoke::new(domain, SmokeSettings::default(), 1).unwrap();
    let shape = BoundaryShape::Box { half_size: Vec3::splat(0.25), fill: Fill::Solid };
    smoke.set_obstacles([SmokeObstacle::new(shape, Vec3::new(1.0, 0.75, 0.5))]).unwrap();
    smoke
}

fn filled(smoke: &Smoke<Vec3>, drawing: &SmokeDrawing, light: Option<Vec3>) -> (Look, Vec<u8>) {
    let mut image = SmokeVolume::texture(smoke.domain());
    let look = SmokeVolume::fill(smoke, drawing, light, image.data.as_mut().unwrap());
    (look, image.data.unwrap())
}

fn texel(bytes: &[u8], [x, y, z]: [usize; 3]) -> [u8; 4] {
    let at = TEXEL * ((z * 6 + y) * 8 + x);
    [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]
}

#[test]
fn texels_hold_the_place_on_the_palette_and_solid_cells() {
    let mut smoke = smoke();
    smoke.fill_dye(0, |place| place.x + 10.0 * place.y + 100.0 * place.z).unwrap();
    let drawing = SmokeDrawing { range: Some([0.0, 150.0]), ..SmokeDrawing::default() };
    let (look, bytes) = filled(&smoke, &drawing, None);
    assert_eq!((look.min, look.size.w), (Vec3::ZERO.extend(20.0), 0.0));
    for (x, y, z) in [(0, 0, 0), (7, 0, 0), (2, 5, 1), (7, 5, 3)] {
        let dye = [x, y, z].map(|cell| 0.25 * cell as f32 + 0.125);
        let part = (dye[0] + 10.0 * dye[1] + 100.0 * dye[2]) / 150.0;
        let [coded, light, solid, _] = texel(&bytes, [x, y, z]);
        assert!((f32::from(coded) - 255.0 * part.sqrt()).abs() < 0.6, "{x} {y} {z}: {coded}");
        assert_eq!((light, solid), (255, 0));
    }
    for (x, y, z) in [(3, 2, 1), (4, 3, 2)] {
        assert_eq!(texel(&bytes, [x, y, z]), [0, 255, 255, 0]);
    }
}

#[test]
fn still_air_is_clear_in_every_view() {
    let (smoke, mut drawing) = (smoke(), SmokeDrawing::default());
    for view in SmokeView::ALL {
        drawing.view = view;
        let (look, bytes) = filled(&smoke, &drawing, None);
        let sun = Sun { toward: Vec3::Y, optical_depth: 1.0, signed: view.is_signed() };
        assert_eq!(look.size.w == 1.0, view.is_signed());
        let strongest = bytes.chunks(TEXEL).map(|texel| sun.strength(texel[0]));
        assert!(strongest.fold(0.0, f32::max) < 0.005, "{view:?}");
    }
}

#[test]
fn light_fades_exponentially_along_its_way_and_stops_at_solids() {
    let mut smoke = smoke();
    smoke.fill_dye(0, |_| 1.0).unwrap();
    let drawing = SmokeDrawing { extinction: 1.5, ..SmokeDrawing::default() };
    // From each side, to the middle of each cell of a column that misses the box.
    for (toward, cells, place) in [
        (Vec3::X, 8, [0, 0, 0]),
        (Vec3::NEG_X, 8, [0, 5, 0]),
        (Vec3::Y, 6, [0, 0, 3]),
        (Vec3::NEG_Z, 4, [7, 0, 0]),
    ] {
        let (_, bytes) = filled(&smoke, &drawing, Some(toward));
        let axis = toward.abs().max_position();
        for cell in 0..cells {
            let mut at = place;
            at[axis] = cell;
            let before = if toward[axis] > 0.0 { cells - 1 - cell } else { cell };
            let expected = 255.0 * (-1.5 * 0.25 * (before as f32 + 0.5)).exp();
            let light = f32::from(texel(&bytes, at)[1]);
            assert!((light - expected).abs() < 2.0, "{toward} {at:?}: {light}, {expected}");
        }
    }
    let (_, bytes) = filled(&smoke, &drawing, Some(Vec3::Y));
    assert_eq!(texel(&bytes, [3, 0, 1])[1], 0, "in the shadow of the box");
    let unlit = SmokeDrawing { lit: false, ..drawing };
    let (look, bytes) = filled(&smoke, &unlit, Some(Vec3::Y));
    assert_eq!((texel(&bytes, [3, 0, 1])[1], look.light.w), (255, 0.0));
}

#[test]
fn light_from_aslant_comes_through_as_much_as_its_way_is_long() {
    let domain = SmokeDomain { min: Vec3::ZERO, size: Vec3::splat(2.0), cells: [40; 3] };
    let mut smoke = Smoke::new(domain, SmokeSettings::default(), 1).unwrap();
    smoke.fill_dye(0, |_| 1.0).unwrap();
    let drawing = SmokeDrawing { extinction: 2.0, ..SmokeDrawing::default() };
    let toward = Vec3::new(0.3, 1.0, -0.4).normalize();
    let (_, bytes) = filled(&smoke, &drawing, Some(toward));
    // Half a metre below the middle of the top, whose light comes in through it.
    let at = (20 * 40 + 30) * 40 + 20;
    let way = 9.5 * 0.05 / toward.y;
    let light = f32::from(bytes[TEXEL * at + 1]) / 255.0;
    assert!((light - (-2.0 * way).exp()).abs() < 0.01, "{light}");
}

#[test]
fn extinctions_that_are_none_count_as_clear() {
    let mut smoke = smoke();
    smoke.fill_dye(0, |_| 1.0).unwrap();
    for extinction in [f32::NAN, f32::INFINITY, -3.0] {
        let drawing = SmokeDrawing { extinction, ..SmokeDrawing::default() };
        let (look, bytes) = filled(&smoke, &drawing, Some(Vec3::Y));
        assert_eq!((look.min.w, texel(&bytes, [0, 0, 0])[1]), (0.0, 255));
    }
}
