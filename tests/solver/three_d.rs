//! The same code in three dimensions.

use bevy_fluid::solver::scene::Scene;
use bevy_fluid::solver::simulation::Simulation;
use bevy_math::Vec3;

use crate::support::{D, G, WALL_GAP, block, container, positions, run, start, step, void};

/// A block that fills the floor of its box, or a part of it at the left.
fn boxed(counts: [u32; 3], columns: f32, headroom: f32) -> (Simulation<Vec3>, Vec3) {
    let gaps = 2.0 * WALL_GAP - 1.0;
    let [_, rows, layers] = counts.map(|count| count as f32);
    let size = Vec3::new(columns + gaps, rows + headroom, layers + gaps) * D;
    let scene = Scene::<Vec3> {
        fluids: vec![block(Vec3::splat((WALL_GAP - 0.5) * D), counts)],
        boundaries: vec![container(size)],
        ..void()
    };
    (start(&scene), size)
}

fn assert_inside(simulation: &mut Simulation<Vec3>, size: Vec3) {
    for x in positions(simulation) {
        assert!(x.cmpgt(Vec3::ZERO).all() && x.cmplt(size).all(), "{x} left the box of {size}");
    }
}

/// Mean height in spacings.
fn height(simulation: &mut Simulation<Vec3>) -> f32 {
    let places = positions(simulation);
    places.iter().map(|x| x.y / D).sum::<f32>() / places.len() as f32
}

#[test]
fn block_at_rest_in_a_box_keeps_its_volume() {
    let (mut simulation, size) = boxed([12, 12, 12], 12.0, 8.0);
    let before = height(&mut simulation);
    run(&mut simulation, 200);
    assert_inside(&mut simulation, size);
    let after = height(&mut simulation);
    assert!((after / before - 1.0).abs() < 0.02, "{after} spacings, {before} at first");
    let measures = simulation.world().measure();
    assert!(measures.bulk > 300, "{}", measures.bulk);
    assert!(measures.mean_abs_density_error < 0.01, "{}", measures.mean_abs_density_error);
    assert!(measures.max_density < 1050.0, "{}", measures.max_density);
}

#[test]
fn dam_break_runs_to_the_far_wall_and_stays_in_the_box() {
    let (mut simulation, size) = boxed([8, 14, 8], 24.0, 12.0);
    let fall = height(&mut simulation) * D;
    let (mut front, mut fastest) = (0.0f32, 0.0f32);
    while simulation.time() < 0.35 {
        step(&mut simulation);
        front = positions(&mut simulation).iter().map(|x| x.x).fold(0.0, f32::max);
        fastest = fastest.max(simulation.world().max_speed());
    }
    // Ritter's front runs at 2 sqrt(g h) on a dry bed; water of grains is slower.
    let ritter = 2.0 * (G * 14.0 * D).sqrt() * 0.35;
    let run_out = front - 8.0 * D;
    assert!(run_out > 0.4 * ritter && run_out < ritter, "{run_out} m, {ritter} m by Ritter");
    assert!(fastest < 2.0 * (2.0 * G * 2.0 * fall).sqrt(), "{fastest} m/s");
    run(&mut simulation, 100);
    assert_inside(&mut simulation, size);
    let front = positions(&mut simulation).iter().map(|x| x.x).fold(0.0, f32::max);
    assert!(front > size.x - 2.0 * D, "{front}");
}
