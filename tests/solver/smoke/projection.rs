//! What the projection leaves of divergence.

use bevy_fluid::solver::parallel::Threads;
use bevy_fluid::solver::sampling::{BoundaryShape, Fill};
use bevy_fluid::solver::smoke::{
    Border, Smoke, SmokeObstacle, SmokePressure, SmokeSettings, SmokeView,
};
use bevy_fluid::solver::vector::Vector;
use bevy_math::{Vec2, Vec3};

use super::support::{domain, largest, square};
use crate::support::Lcg;

const DT: f32 = 0.01;

fn settings(pressure: SmokePressure) -> SmokeSettings {
    SmokeSettings { pressure, iterations: 10_000, ..SmokeSettings::default() }
}

/// Projects once; returns the largest divergence before, after by the figures,
/// after by the view, and the iterations.
fn project<V: Vector>(smoke: &mut Smoke<V>) -> (f32, f32, f32, u32) {
    smoke.begin_step(DT).unwrap();
    smoke.project(Threads::Serial);
    let seen: Vec<f32> = smoke.view(SmokeView::Divergence).collect();
    let stats = smoke.stats();
    (stats.divergence_before, stats.divergence_after, largest(&seen), stats.iterations)
}

fn noise<V: Vector>(smoke: &mut Smoke<V>, seed: u64) {
    let mut random = Lcg::new(seed);
    smoke.fill_velocity(|_| random.point(-1.0, 1.0)).unwrap();
}

#[test]
fn every_solver_reaches_the_tolerance_on_noise_and_checkerboards() {
    for pressure in SmokePressure::ALL {
        for cells in [[64, 64, 1], [65, 33, 1], [100, 7, 1]] {
            let mut smoke = Smoke::<Vec2>::new(domain(cells), settings(pressure), 1).unwrap();
            noise(&mut smoke, 7);
            let (before, after, seen, iterations) = project(&mut smoke);
            assert!(before > 10.0, "{before}");
            assert!(after <= 1.05e-3 * before, "{pressure:?} {cells:?}: {after} of {before}");
            assert!((seen - after).abs() <= 1e-5 * before, "{seen} is shown, {after} reported");
            assert!(iterations > 0);
            // Velocities that change sign from cell to cell, in both directions.
            let side = smoke.domain().cell_size();
            smoke
                .fill_velocity(|at| {
                    let parity = (at / side + 0.25).floor();
                    Vec2::splat(1.0 - 2.0 * (parity.x + parity.y).rem_euclid(2.0))
                })
                .unwrap();
            let (before, after, ..) = project(&mut smoke);
            assert!(before > 10.0, "{before}");
            assert!(after <= 0.01 * before, "{pressure:?} {cells:?}: {after} of {before}");
        }
    }
}

#[test]
fn tighter_tolerance_leaves_less_divergence_for_more_iterations() {
    let run = |tolerance| {
        let mut smoke = square(64, SmokeSettings { tolerance, ..SmokeSettings::default() });
        noise(&mut smoke, 3);
        let (before, after, _, iterations) = project(&mut smoke);
        assert!(after <= 1.05 * tolerance * before, "{after} of {before}");
        (after, iterations)
    };
    let (loose, few) = run(0.1);
    let (tight, many) = run(1e-4);
    assert!(tight < 0.01 * loose && many > few, "{tight} {loose} {many} {few}");
}

#[test]
fn multigrid_takes_as_few_iterations_on_fine_grids_as_on_coarse_ones() {
    let count = |cells: u32| {
        let mut smoke = square(cells, settings(SmokePressure::Multigrid));
        noise(&mut smoke, 5);
        smoke.add_velocity(Vec2::new(0.4, 0.3), 0.3, Vec2::new(3.0, 9.0)).unwrap();
        project(&mut smoke).3
    };
    let (coarse, fine) = (count(32), count(256));
    assert!(fine <= 9 && fine <= coarse + 3, "{coarse} iterations at 32², {fine} at 256²");
}

#[test]
fn borders_and_obstacles_are_no_hindrance() {
    let walls = [Border::Closed, Border::Open, Border::Periodic];
    for border_x in walls {
        for border_y in walls {
            let settings = SmokeSettings { border_x, border_y, ..SmokeSettings::default() };
            let mut smoke = square(48, settings);
            let ball = BoundaryShape::Ball { radius: 0.15, fill: Fill::Solid };
            let plank = BoundaryShape::Box { half_size: Vec2::new(0.3, 1e-3), fill: Fill::Solid };
            let obstacles = [
                SmokeObstacle::new(ball, Vec2::new(0.3, 0.4)),
                SmokeObstacle::new(plank, Vec2::new(0.6, 0.7)).rotated(0.6),
            ];
            smoke.set_obstacles(obstacles).unwrap();
            noise(&mut smoke, 11);
            let (before, after, _, iterations) = project(&mut smoke);
            assert!(after <= 1.05e-3 * before, "{border_x:?} {border_y:?}: {after} of {before}");
            assert!(iterations <= 20, "{border_x:?} {border_y:?}: {iterations}");
        }
    }
}

#[test]
fn periodic_grids_that_cannot_be_halved_are_solved_as_well() {
    for cells in [[50, 50, 1], [6, 10, 1], [50, 64, 1], [64, 18, 1], [50, 31, 1]] {
        let border_y = if cells[1] % 2 == 0 { Border::Periodic } else { Border::Open };
        let settings = SmokeSettings { border_x: Border::Periodic, border_y, ..Default::default() };
        let mut smoke = Smoke::<Vec2>::new(domain(cells), settings, 1).unwrap();
        noise(&mut smoke, 13);
        let (before, after, _, iterations) = project(&mut smoke);
        assert!(after <= 1.05e-3 * before, "{cells:?}: {after} of {before}");
        assert!(iterations > 0);
    }
}

#[test]
fn warm_start_of_a_tight_tolerance_stays_at_the_rounding() {
    // Closed: any constant may be added to the pressure, and none should grow.
    let mut smoke = square(24, SmokeSettings { tolerance: 1e-6, ..SmokeSettings::default() });
    smoke.add_velocity(Vec2::new(0.4, 0.3), 0.3, Vec2::new(1.0, 2.0)).unwrap();
    for step in 0..60 {
        smoke.step(DT, Threads::Serial).unwrap();
        let stats = smoke.stats();
        let left = stats.divergence_after / stats.divergence_before;
        assert!(left < 1e-4, "{left} in step {step}");
    }
    let mean = smoke.view(SmokeView::Pressure).sum::<f32>() / (24.0 * 24.0);
    let highest = smoke.view(SmokeView::Pressure).fold(0.0f32, |a, b| a.max((b - mean).abs()));
    assert!(mean.abs() < 10.0 * highest, "{mean} Pa/(kg/m³), of which {highest} matters");
}

#[test]
fn projection_in_3d_reaches_the_tolerance() {
    for pressure in SmokePressure::ALL {
        let cells = [20, 24, 17];
        let mut smoke = Smoke::<Vec3>::new(domain(cells), settings(pressure), 1).unwrap();
        noise(&mut smoke, 9);
        let (before, after, ..) = project(&mut smoke);
        assert!(after <= 1.05e-3 * before, "{pressure:?}: {after} of {before}");
    }
}

#[test]
fn field_without_divergence_is_left_alone() {
    let mut smoke = square(64, SmokeSettings::default());
    let pi = core::f32::consts::PI;
    // The curl of a stream function that vanishes at the walls, taken exactly on the grid.
    let h = smoke.domain().cell_size();
    let stream = move |p: Vec2| (pi * p.x).sin() * (pi * p.y).sin();
    smoke
        .fill_velocity(|p| {
            let (dx, dy) = (Vec2::new(0.5 * h, 0.0), Vec2::new(0.0, 0.5 * h));
            Vec2::new(stream(p + dy) - stream(p - dy), stream(p - dx) - stream(p + dx)) / h
        })
        .unwrap();
    let old: Vec<f32> = smoke.velocities().map(|v| v.x).collect();
    let (before, ..) = project(&mut smoke);
    let new: Vec<f32> = smoke.velocities().map(|v| v.x).collect();
    assert!(before < 1e-3, "{before}");
    assert!(super::support::difference(&old, &new) < 1e-5);
    assert!(largest(&old) > 1.0);
}

#[test]
fn jets_along_the_four_walls_are_mirror_images() {
    // A jet along a wall: its start, its direction, and how to turn it onto the first.
    let n = 32;
    let run = |position: Vec2, direction: Vec2| {
        let mut smoke = square(n, SmokeSettings { tolerance: 1e-6, ..SmokeSettings::default() });
        let mut added = 0.0;
        for _ in 0..20 {
            // Gentle enough that rounding does not grow with the shear.
            smoke.add_velocity(position, 0.08, direction * 0.05).unwrap();
            added -= smoke.total_dye(0);
            smoke.add_dye(0, position, 0.08, 1.0).unwrap();
            added += smoke.total_dye(0);
            smoke.step(DT, Threads::Serial).unwrap();
        }
        let dye: Vec<f32> = smoke.view(SmokeView::Dye(0)).collect();
        // Nothing got through the walls.
        assert!(added > 10.0);
        let total = smoke.total_dye(0);
        assert!((total / added - 1.0).abs() < 2e-3, "{total} of {added}");
        dye
    };
    let n = n as usize;
    let at = |dye: &[f32], i: usize, j: usize| dye[i + n * j];
    let first = run(Vec2::new(0.2, 0.04), Vec2::X);
    let scale = largest(&first);
    let others = [
        (
            run(Vec2::new(0.2, 0.96), Vec2::X),
            (|n, i, j| (i, n - 1 - j)) as fn(usize, usize, usize) -> (usize, usize),
        ),
        (run(Vec2::new(0.04, 0.2), Vec2::Y), |_, i, j| (j, i)),
        (run(Vec2::new(0.96, 0.2), Vec2::Y), |n, i, j| (n - 1 - j, i)),
    ];
    for (number, (other, place)) in others.iter().enumerate() {
        let mut worst = 0.0f32;
        for i in 0..n {
            for j in 0..n {
                let (p, q) = place(n, i, j);
                worst = worst.max((at(&first, i, j) - at(other, p, q)).abs());
            }
        }
        assert!(worst < 2e-3 * scale, "jet {number}: {worst} of {scale}");
    }
}
