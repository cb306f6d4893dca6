//! Tearing by strain, and cuts.

use bevy_math::Vec3;

use super::support::{pinned_sheet, run, tune};

#[test]
fn weight_tears_a_cloth_that_tears_and_no_other() {
    let loaded = |tear_strain: f32| {
        let mut cloth = pinned_sheet(10);
        tune(&mut cloth, |settings| {
            settings.tear_strain = tear_strain;
            settings.stretch_stiffness = 0.01;
        });
        let before = (cloth.constraints().len(), cloth.triangles().len());
        let mut torn = 0;
        for _ in 0..120 {
            run(&mut cloth, 1.0 / 60.0);
            torn += cloth.stats().torn;
        }
        assert_eq!(before.0 - torn, cloth.constraints().len());
        (torn, before.1 - cloth.triangles().len())
    };
    let (torn, holes) = loaded(0.0);
    assert_eq!((torn, holes), (0, 0));
    let (torn, holes) = loaded(0.05);
    assert!(torn > 4 && holes > 0, "{torn} torn");
    assert!(loaded(0.2).0 < torn, "a stronger cloth tears less");
}

#[test]
fn cut_separates_what_it_crosses() {
    let mut cloth = pinned_sheet(10);
    run(&mut cloth, 3.0);
    let before = cloth.constraints().len();
    assert_eq!(cloth.cut(Vec3::new(0.5, -5.0, 0.0), Vec3::X, 0.1).unwrap(), 0);
    let cut = cloth.cut(Vec3::new(0.5, -0.5, 0.0), Vec3::Y, 10.0).unwrap();
    assert!(cut > 9, "{cut}");
    assert_eq!(cloth.constraints().len(), before - cut);
    run(&mut cloth, 1.0);
    let (held, free) = (cloth.positions()[0], cloth.positions()[95]);
    assert_eq!(held, Vec3::ZERO);
    assert!(free.y < -2.0, "the lower half falls: {free}");
    assert!(cloth.stats().max_strain < 0.02, "{:?}", cloth.stats());
    let cases =
        [(Vec3::NAN, Vec3::X, 1.0), (Vec3::ZERO, Vec3::ZERO, 1.0), (Vec3::ZERO, Vec3::X, 0.0)];
    for (point, normal, radius) in cases {
        assert!(cloth.cut(point, normal, radius).is_err(), "{point} {normal} {radius}");
    }
}
