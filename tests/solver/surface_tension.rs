//! Drops: cohesion, and adhesion to a wall.

use bevy_fluid::solver::scene::Scene;
use bevy_fluid::solver::settings::FluidMethod;
use bevy_fluid::solver::simulation::Simulation;
use bevy_fluid::solver::vector::Vector;
use bevy_math::{Vec2, Vec3};

use crate::support::{D, block, positions, run, start, velocities, void};

/// A block in free fall without gravity.
fn drop_of<V: Vector>(counts: [u32; 3], cohesion: f32, method: FluidMethod) -> Simulation<V> {
    let mut scene = Scene { gravity: V::ZERO, method, ..void() };
    if method == FluidMethod::Wcsph {
        scene.time_step = bevy_fluid::solver::time_step::TimeStep::Fixed(0.001);
    }
    let mut fluid = block(V::ZERO, counts);
    fluid.material.cohesion = cohesion;
    fluid.material.viscosity = 0.1;
    scene.fluids.push(fluid);
    start(&scene)
}

/// Largest over smallest distance of the outermost particles from the centre,
/// by direction: 1 for a ball, about sqrt(DIM) for a cube.
fn roundness<V: Vector>(simulation: &mut Simulation<V>) -> f32 {
    let places = positions(simulation);
    let center = simulation.world().measure().center_of_mass;
    let reach =
        |direction: V| places.iter().map(|x| (*x - center).dot(direction)).fold(0.0, f32::max);
    let reaches: Vec<f32> = (0..200).map(|seed| reach(V::direction(seed))).collect();
    let least = reaches.iter().copied().fold(f32::MAX, f32::min);
    reaches.into_iter().fold(0.0, f32::max) / least
}

#[test]
fn square_becomes_a_disc() {
    for method in FluidMethod::ALL {
        let mut simulation = drop_of::<Vec2>([16, 16, 1], 1.0, method);
        let before = roundness(&mut simulation);
        run(&mut simulation, if method == FluidMethod::Dfsph { 600 } else { 3000 });
        let after = roundness(&mut simulation);
        // Ripples stay with WCSPH: 1.14 to 1.20, as the start is moved by 1e-7 m.
        let most = if method == FluidMethod::Dfsph { 1.15 } else { 1.25 };
        assert!(before > 1.3 && after < most, "{method:?}: {before} to {after}");
    }
}

#[test]
fn cohesion_keeps_the_momentum() {
    for method in FluidMethod::ALL {
        let mut simulation = drop_of::<Vec2>([12, 20, 1], 3.0, method);
        simulation.bodies_mut()[0].material.viscosity = 0.0;
        run(&mut simulation, 200);
        let v = velocities(&mut simulation);
        let sum = v.iter().fold(Vec2::ZERO, |sum, v| sum + *v).length();
        let absolute: f32 = v.iter().map(|v| v.length()).sum();
        assert!(absolute > 1.0 && sum < 1e-5 * absolute, "{method:?}: {sum} of {absolute}");
    }
}

#[test]
fn cube_becomes_a_ball() {
    let mut simulation = drop_of::<Vec3>([9, 9, 9], 1.0, FluidMethod::Dfsph);
    let before = roundness(&mut simulation);
    run(&mut simulation, 400);
    let after = roundness(&mut simulation);
    assert!(before > 1.5 && after < 1.25, "{before} to {after}");
    let mut loose = drop_of::<Vec3>([9, 9, 9], 0.0, FluidMethod::Dfsph);
    run(&mut loose, 400);
    assert!(roundness(&mut loose) > 1.25, "without cohesion it stays a cube");
}

#[test]
fn drop_hangs_from_a_ceiling_by_adhesion() {
    let fallen = |adhesion: f32| {
        let mut scene = void::<Vec2>();
        let mut fluid = block(Vec2::new(-0.15, -0.225), [6, 4, 1]);
        fluid.material.cohesion = 2.0;
        fluid.material.adhesion = adhesion;
        scene.fluids.push(fluid);
        let mut simulation = start(&scene);
        simulation.set_boundary((-20..=20).map(|k| Vec2::new(k as f32 * D, 0.0)).collect());
        run(&mut simulation, 100);
        -simulation.world().measure().center_of_mass.y
    };
    let (dry, wet) = (fallen(0.0), fallen(20.0));
    assert!(dry > 0.8, "{dry} m in half a second");
    assert!(wet < 0.5 * dry, "{wet} m");
}
