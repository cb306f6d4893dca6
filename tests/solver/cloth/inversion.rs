//! A tangled cloth in the plane untangles.

use bevy_fluid::solver::cloth::{Cloth, ClothMesh, Inversion};
use bevy_math::Vec2;

use super::support::{run, tune};
use crate::support::Lcg;

const N: u32 = 10;

fn curtain() -> Cloth<Vec2> {
    let mesh = ClothMesh::grid(Vec2::ZERO, Vec2::X * 0.1, -Vec2::Y * 0.1, N, N).unwrap();
    let mut cloth = Cloth::new(mesh, 0.01).unwrap();
    cloth.pin(0).unwrap();
    cloth.pin(N - 1).unwrap();
    cloth
}

/// Triangles that have turned over, all four corners of each cell counted.
fn flipped(cloth: &Cloth<Vec2>) -> usize {
    let at = |c: u32, r: u32| cloth.positions()[(r * N + c) as usize];
    let mut count = 0;
    for r in 0..N - 1 {
        for c in 0..N - 1 {
            let ring = [at(c, r), at(c, r + 1), at(c + 1, r + 1), at(c + 1, r)];
            for k in 0..4 {
                let [p, q, s] = [0, 1, 3].map(|step| ring[(k + step) % 4]);
                count += usize::from((q - p).perp_dot(s - p) <= 0.0);
            }
        }
    }
    count
}

/// Moves every free particle.
fn displace(cloth: &mut Cloth<Vec2>, change: impl Fn(u32, Vec2) -> Vec2) {
    for (index, x) in (0..).zip(cloth.positions_mut()) {
        if index >= N {
            *x = change(index, *x);
        }
    }
}

#[test]
fn a_folded_or_scrambled_curtain_untangles() {
    let fold = |_: u32, x: Vec2| Vec2::new(x.x, if x.y < -0.55 { -1.07 - x.y } else { x.y });
    let random = |index: u32, x: Vec2| {
        let mut lcg = Lcg::new(u64::from(index));
        lcg.unit();
        x + lcg.point::<Vec2>(-0.15, 0.15)
    };
    let one = |index: u32, x: Vec2| if index == 45 { x + Vec2::new(0.25, 0.1) } else { x };
    let cases: [(&str, &dyn Fn(u32, Vec2) -> Vec2); 3] =
        [("fold", &fold), ("scramble", &random), ("one particle", &one)];
    for (name, case) in cases {
        let mut cloth = curtain();
        displace(&mut cloth, case);
        let before = flipped(&cloth);
        assert!(before > 0, "{name} is no test");
        run(&mut cloth, 3.0);
        let stats = cloth.stats();
        assert_eq!(flipped(&cloth), 0, "{name}: {before} before, {stats:?}");
        assert!(stats.max_strain < 0.01 && stats.max_speed < 1.0, "{name}: {stats:?}");
    }
    // Without the rule the fold stays.
    let mut cloth = curtain();
    tune(&mut cloth, |settings| settings.inversion = Inversion::Allow);
    displace(&mut cloth, fold);
    run(&mut cloth, 3.0);
    assert!(flipped(&cloth) > 20, "{} flipped", flipped(&cloth));
}
