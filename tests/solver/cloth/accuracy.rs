//! The order of the schemes, and the energy they keep.

use bevy_fluid::solver::cloth::{
    Cloth, ClothMesh, ClothScheme, ConstraintKind, Surroundings, Tethers,
};
use bevy_math::{DVec2, Vec2};

use super::support::{FRAME, G, tune};

/// Rigid links of 1 m, horizontal at the start.
fn chain(links: usize, length: f32, scheme: ClothScheme) -> Cloth<Vec2> {
    let points: Vec<Vec2> = (0..=links).map(|k| Vec2::X * (k as f32 * length)).collect();
    let mut mesh = ClothMesh::rope(&points).unwrap();
    mesh.constraints.retain(|constraint| constraint.kind != ConstraintKind::Bend);
    let mut cloth = Cloth::new(mesh, 1.0).unwrap();
    cloth.pin(0).unwrap();
    tune(&mut cloth, |settings| {
        settings.scheme = scheme;
        settings.damping = 0.0;
        settings.drag = 0.0;
        settings.lift = 0.0;
        settings.tethers = Tethers::Off;
    });
    cloth
}

/// Accelerations of the angles of a double pendulum of equal masses and
/// lengths of 1, from its Lagrangian.
fn angular_acceleration([a, b, va, vb]: [f64; 4]) -> [f64; 4] {
    let (g, d) = (f64::from(G), a - b);
    let divisor = 3.0 - (2.0 * d).cos();
    let first = -3.0 * g * a.sin()
        - g * (a - 2.0 * b).sin()
        - 2.0 * d.sin() * (vb * vb + va * va * d.cos());
    let second = 2.0 * d.sin() * (2.0 * va * va + 2.0 * g * a.cos() + vb * vb * d.cos());
    [va, vb, first / divisor, second / divisor]
}

/// The ends of the double pendulum after `seconds`, by the classical
/// Runge-Kutta method at 10 µs.
fn exact_pendulum(seconds: f64) -> [DVec2; 2] {
    let h = 1e-5;
    let mut y = [core::f64::consts::FRAC_PI_2, core::f64::consts::FRAC_PI_2, 0.0, 0.0];
    let shifted = |y: [f64; 4], k: [f64; 4], h: f64| core::array::from_fn(|i| y[i] + h * k[i]);
    for _ in 0..(seconds / h).round() as u32 {
        let k1 = angular_acceleration(y);
        let k2 = angular_acceleration(shifted(y, k1, h / 2.0));
        let k3 = angular_acceleration(shifted(y, k2, h / 2.0));
        let k4 = angular_acceleration(shifted(y, k3, h));
        y = core::array::from_fn(|i| y[i] + h / 6.0 * (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i]));
    }
    let first = DVec2::new(y[0].sin(), -y[0].cos());
    [first, first + DVec2::new(y[1].sin(), -y[1].cos())]
}

/// Largest error of the pendulum's ends after a second, and the largest change
/// of its energy over 3 m g l, at `rate` steps a second.
fn pendulum(rate: u32, scheme: ClothScheme) -> (f64, f64) {
    let mut cloth = chain(2, 1.0, scheme);
    tune(&mut cloth, |settings| {
        settings.substeps = 1;
        settings.iterations = 60;
    });
    let around = Surroundings::default();
    let mut drift = 0.0f64;
    for _ in 0..rate {
        cloth.step(1.0 / rate as f32, &around).unwrap();
        let stats = cloth.stats();
        let energy = stats.kinetic_energy + stats.potential_energy;
        drift = drift.max(energy.abs() / (3.0 * f64::from(G)));
    }
    let ends = exact_pendulum(1.0);
    let error = |k: usize| cloth.positions()[k + 1].as_dvec2().distance(ends[k]);
    (error(0).max(error(1)), drift)
}

#[test]
fn accurate_scheme_is_of_second_order_and_keeps_the_energy() {
    let results = [60, 120, 240].map(|rate| pendulum(rate, ClothScheme::Accurate));
    println!("accurate, error and drift at 60, 120, 240 steps a second: {results:?}");
    for pair in results.windows(2) {
        let order = (pair[0].0 / pair[1].0).log2();
        assert!((1.9..2.1).contains(&order), "order {order}: {results:?}");
    }
    assert!(results[0].1 < 1.2e-3, "{results:?}");
}

#[test]
fn reference_scheme_is_of_first_order() {
    let results = [240, 480, 960].map(|rate| pendulum(rate, ClothScheme::Reference));
    println!("reference, error and drift at 240, 480, 960 steps a second: {results:?}");
    for pair in results.windows(2) {
        let order = (pair[0].0 / pair[1].0).log2();
        assert!((0.8..1.2).contains(&order), "order {order}: {results:?}");
    }
}

#[test]
fn whip_of_twenty_links_is_stable_at_sixty_hertz() {
    for (scheme, most) in [(ClothScheme::Accurate, 0.05), (ClothScheme::Fast, 0.1)] {
        let mut worst = 0.0f32;
        let mut cloth = chain(20, 0.05, scheme);
        let size = 20.0 * f64::from(G);
        for frame in 0..600 {
            cloth.step(FRAME, &Surroundings::default()).unwrap();
            let stats = cloth.stats();
            let energy = (stats.kinetic_energy + stats.potential_energy) / size;
            assert!(energy < 1e-3, "{scheme:?} gains {energy} m g L at frame {frame}");
            worst = worst.max(stats.max_strain);
            if frame == 59 {
                println!("{scheme:?}: energy {energy} m g L after 1 s");
                assert!(energy > -0.02, "{scheme:?} loses {energy} m g L in a second");
            }
        }
        println!("{scheme:?}: strain {worst} at most, at the crack of the whip");
        assert!(worst < most, "{scheme:?}: {worst}");
    }
}
