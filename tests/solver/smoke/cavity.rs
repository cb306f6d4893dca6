//! The lid-driven cavity against Ghia, Ghia & Shin 1982, "High-Re solutions for
//! incompressible flow using the Navier-Stokes equations and a multigrid method".

use bevy_fluid::solver::sampling::{BoundaryShape, Fill};
use bevy_fluid::solver::smoke::{Smoke, SmokeDomain, SmokeObstacle, SmokeSettings, Walls};
use bevy_math::Vec2;

use super::support::run;

const U: &str = include_str!("../../validation/ghia1982_u.csv");
const V: &str = include_str!("../../validation/ghia1982_v.csv");

/// Place and velocity of a table at Re 100.
fn table(text: &str) -> Vec<(f32, f32)> {
    let rows = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    let number = |text: &str| text.parse::<f32>().unwrap();
    rows.map(|line| {
        let mut fields = line.split(',');
        (number(fields.next().unwrap()), number(fields.next().unwrap()))
    })
    .collect()
}

/// A unit square of air below a row of cells that slides to the right.
fn cavity(cells: u32) -> Smoke<Vec2> {
    let side = 1.0 / cells as f32;
    let domain = SmokeDomain {
        min: Vec2::ZERO,
        size: Vec2::new(1.0, 1.0 + side),
        cells: [cells, cells + 1, 1],
    };
    let settings =
        SmokeSettings { viscosity: 0.01, walls: Walls::NoSlip, ..SmokeSettings::default() };
    let mut smoke = Smoke::new(domain, settings, 1).unwrap();
    let lid = BoundaryShape::Box { half_size: Vec2::new(1.0, 0.5 * side), fill: Fill::Solid };
    let mut lid = SmokeObstacle::new(lid, Vec2::new(0.5, 1.0 + 0.5 * side));
    lid.velocity = Vec2::X;
    smoke.set_obstacles([lid]).unwrap();
    smoke
}

#[test]
fn centre_lines_at_re_100_are_those_of_the_tables() {
    let mut smoke = cavity(64);
    run(&mut smoke, 2000, 0.01);
    let (mut worst_u, mut worst_v) = (0.0f32, 0.0f32);
    let (u, v) = (table(U), table(V));
    assert_eq!((u.len(), v.len()), (17, 17));
    // The ends of the tables are the walls themselves.
    for (y, u) in u.into_iter().filter(|(y, _)| (0.01..0.99).contains(y)) {
        worst_u = worst_u.max((smoke.velocity_at(Vec2::new(0.5, y)).x - u).abs());
    }
    for (x, v) in v.into_iter().filter(|(x, _)| (0.01..0.99).contains(x)) {
        worst_v = worst_v.max((smoke.velocity_at(Vec2::new(x, 0.5)).y - v).abs());
    }
    println!("u within {worst_u}, v within {worst_v}");
    assert!(worst_u <= 0.02 && worst_v <= 0.02, "u within {worst_u}, v within {worst_v}");
}
