//! The same dimensionless scene gives the same picture at any size.

use bevy_fluid::solver::sampling::{BoundaryShape, FluidShape};
use bevy_fluid::solver::scene::Scene;
use bevy_fluid::solver::simulation::Simulation;
use bevy_fluid::solver::time_step::TimeStep;
use bevy_math::Vec2;

use crate::support::{D, DT, positions, run, start, step, velocities};

/// A dam break that splashes early, `size` times as large. Gravity stays, so
/// times and speeds grow with the root of the size.
fn scaled(size: f32) -> Simulation<Vec2> {
    let mut scene = Scene::dam_break(16, 16);
    let root = size.sqrt();
    scene.particle_radius *= size;
    scene.time_step = TimeStep::Fixed(DT * root);
    scene.fluids[0].velocity = Vec2::new(2.0, -1.0) * root;
    for shape in &mut scene.fluids[0].shapes {
        if let FluidShape::Block { min, size: extent } = shape {
            *min *= size;
            *extent *= size;
        }
    }
    for boundary in &mut scene.boundaries {
        boundary.position *= size;
        if let BoundaryShape::Box { half_size, .. } = &mut boundary.shape {
            *half_size *= size;
        }
    }
    start(&scene)
}

#[test]
fn powers_of_two_in_size_change_no_bit() {
    // Every product with 4^k and every root of it is exact: any difference
    // would be a threshold with a unit.
    let mut plain = scaled(1.0);
    let (mut small, mut large) = (scaled(1.0 / 1024.0), scaled(1024.0));
    for count in 1..=150 {
        step(&mut plain);
        for (simulation, size) in [(&mut small, 1.0 / 1024.0), (&mut large, 1024.0)] {
            step(simulation);
            let (ours, theirs) = (plain.world().stats(), simulation.world().stats());
            assert_eq!(ours.density_iterations, theirs.density_iterations, "step {count}");
            assert_eq!(ours.divergence_iterations, theirs.divergence_iterations, "step {count}");
            assert_eq!(ours.density_error, theirs.density_error, "step {count}");
            let expected: Vec<Vec2> = positions(&mut plain).iter().map(|x| *x * size).collect();
            assert!(positions(simulation) == expected, "step {count} at {size}");
            let root = f32::sqrt(size);
            let expected: Vec<Vec2> = velocities(&mut plain).iter().map(|v| *v * root).collect();
            assert!(velocities(simulation) == expected, "step {count} at {size}");
        }
    }
}

#[test]
fn millimetres_and_pixels_show_the_same_picture() {
    let mut plain = scaled(1.0);
    let mut others: Vec<(f32, Simulation<Vec2>)> =
        [0.001, 0.01, 0.1, 10.0, 100.0].iter().map(|&size| (size, scaled(size))).collect();
    for count in 1..=50 {
        step(&mut plain);
        let expected = positions(&mut plain);
        for (size, simulation) in &mut others {
            step(simulation);
            let found = positions(simulation);
            let pairs = found.iter().zip(&expected);
            let off = pairs.map(|(x, y)| (*x / *size - *y).length() / D).fold(0.0, f32::max);
            // Rounding that the impact amplifies: 1.4e-3 at step 50.
            assert!(off < 1e-2, "step {count} at {size}: off by {off} spacings");
        }
    }
}

#[test]
fn rest_density_of_a_lone_fluid_changes_pressures_alone() {
    let outcome = |rest_density: f32| {
        let mut scene = Scene::dam_break(16, 16);
        scene.fluids[0].velocity = Vec2::new(2.0, -1.0);
        scene.fluids[0].material.rest_density = rest_density;
        let mut simulation = start(&scene);
        run(&mut simulation, 100);
        let results = simulation.bodies()[0].particles.results().to_vec();
        (positions(&mut simulation), results)
    };
    let (places, results) = outcome(1024.0);
    for factor in [1.0 / 4096.0, 512.0] {
        let (other_places, other_results) = outcome(1024.0 * factor);
        assert!(places == other_places, "at {factor}");
        for (result, other) in results.iter().zip(&other_results) {
            assert_eq!(other.density, result.density * factor);
            assert_eq!(other.pressure(), result.pressure() * factor);
        }
    }
    assert!(results.iter().any(|result| result.pressure() > 1000.0));
}
