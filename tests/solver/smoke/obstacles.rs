//! Solid bodies in smoke.

use bevy_fluid::solver::sampling::{BoundaryShape, Fill};
use bevy_fluid::solver::smoke::{
    Advection, Smoke, SmokeObstacle, SmokeSettings, SmokeView, Splitting,
};
use bevy_math::{Quat, Vec2, Vec3};

use super::support::{domain, run, square};

fn box_of<V>(half_size: V) -> BoundaryShape<V> {
    BoundaryShape::Box { half_size, fill: Fill::Solid }
}

/// A jet of dye against a wall from below for a second, as fast as 6 cells a step.
/// Returns the dye of the cells above the line through `point` along `along`.
fn leaked(settings: SmokeSettings, wall: SmokeObstacle<Vec2>, point: Vec2, along: Vec2) -> f32 {
    let mut smoke = square(48, settings);
    smoke.set_obstacles([wall]).unwrap();
    let normal = along.perp();
    for _ in 0..60 {
        let start = point - normal * 0.2;
        smoke.add_velocity(start, 0.15, normal * 3.0).unwrap();
        smoke.add_dye(0, start, 0.12, 1.0).unwrap();
        run(&mut smoke, 1, 1.0 / 60.0);
    }
    assert!(smoke.stats().max_speed > 2.0, "{}", smoke.stats().max_speed);
    assert!(smoke.total_dye(0) > 50.0);
    let domain = *smoke.domain();
    let beyond = |number: usize| {
        let at = domain.center([number as u32 % 48, number as u32 / 48, 0]);
        (at - point).dot(normal) > 1.5 * domain.cell_size()
    };
    let dye = smoke.view(SmokeView::Dye(0)).enumerate();
    dye.filter(|&(number, _)| beyond(number)).map(|(_, dye)| dye.abs()).sum()
}

#[test]
fn thin_walls_at_any_angle_are_not_leaked_through() {
    let middle = Vec2::splat(0.5);
    for advection in Advection::ALL {
        for (diffusion, splitting) in [0.0, 1e-3].into_iter().zip(Splitting::ALL) {
            let settings =
                SmokeSettings { advection, diffusion, splitting, ..SmokeSettings::default() };
            for angle in [0.0f32, 0.3, core::f32::consts::FRAC_PI_4, 1.1, 2.5] {
                let along = Vec2::from_angle(angle);
                let plate = SmokeObstacle::new(box_of(Vec2::new(2.0, 1e-4)), middle).rotated(angle);
                let leak = leaked(settings.clone(), plate, middle, along);
                assert!(leak < 1e-6, "{advection:?}, plate at {angle}: {leak}");
            }
            let diagonal =
                BoundaryShape::Polyline { points: vec![Vec2::ZERO, Vec2::ONE], closed: false };
            let line = SmokeObstacle::new(diagonal, Vec2::ZERO);
            let leak = leaked(settings.clone(), line, middle, Vec2::ONE.normalize());
            assert!(leak < 1e-6, "{advection:?}, line: {leak}");
        }
    }
    // Half a wall is leaked around: the measure sees dye.
    let half = SmokeObstacle::new(box_of(Vec2::new(0.2, 1e-4)), middle);
    assert!(leaked(SmokeSettings::default(), half, middle, Vec2::X) > 1.0);
}

#[test]
fn thin_wall_in_3d_is_not_leaked_through() {
    let mut smoke = Smoke::<Vec3>::new(domain([20; 3]), SmokeSettings::default(), 1).unwrap();
    let turn = Quat::from_rotation_x(0.5) * Quat::from_rotation_z(0.4);
    let middle = Vec3::splat(0.5);
    let wall = SmokeObstacle::new(box_of(Vec3::new(2.0, 1e-4, 2.0)), middle).rotated(turn);
    smoke.set_obstacles([wall]).unwrap();
    let normal = turn * Vec3::Y;
    for _ in 0..40 {
        let start = middle - normal * 0.25;
        smoke.add_velocity(start, 0.2, normal * 2.0).unwrap();
        smoke.add_dye(0, start, 0.15, 1.0).unwrap();
        run(&mut smoke, 1, 1.0 / 60.0);
    }
    let domain = *smoke.domain();
    let mut beyond = 0.0;
    for (number, dye) in smoke.view(SmokeView::Dye(0)).enumerate() {
        let number = number as u32;
        let at = domain.center([number % 20, number / 20 % 20, number / 400]);
        if (at - middle).dot(normal) > 1.5 * domain.cell_size() {
            beyond += dye.abs();
        }
    }
    assert!(beyond < 1e-6, "{beyond}");
    assert!(smoke.total_dye(0) > 30.0);
}

#[test]
fn moving_ball_pushes_the_smoke_and_keeps_its_total() {
    let mut smoke = square(64, SmokeSettings::default());
    let ball = BoundaryShape::Ball { radius: 0.1, fill: Fill::Solid };
    smoke.set_obstacles([SmokeObstacle::new(ball, Vec2::new(0.25, 0.5))]).unwrap();
    smoke.add_dye(0, Vec2::new(0.42, 0.5), 0.1, 1.0).unwrap();
    let start = smoke.total_dye(0);
    let middle = |smoke: &Smoke<Vec2>| {
        let domain = *smoke.domain();
        let dye = smoke.view(SmokeView::Dye(0)).enumerate();
        let x = dye.map(|(number, dye)| {
            dye * domain.center([number as u32 % 64, number as u32 / 64, 0]).x
        });
        x.sum::<f32>() / smoke.view(SmokeView::Dye(0)).sum::<f32>()
    };
    let before = middle(&smoke);
    for step in 1..=50 {
        let x = 0.25 + 0.005 * step as f32;
        smoke.move_obstacle(0, Vec2::new(x, 0.5), Vec2::X * 0.5).unwrap();
        run(&mut smoke, 1, 0.01);
    }
    let moved = middle(&smoke) - before;
    assert!(moved > 0.1, "{moved} m");
    assert!((smoke.total_dye(0) / start - 1.0).abs() < 0.01, "{} of {start}", smoke.total_dye(0));
    // Air before the ball goes its way, beside it the other way.
    assert!(smoke.velocity_at(Vec2::new(0.62, 0.5)).x > 0.2);
    assert!(smoke.velocity_at(Vec2::new(0.5, 0.85)).x < 0.0);
    for (solid, dye) in smoke.solid_cells().zip(smoke.view(SmokeView::Dye(0))) {
        assert!(!solid || dye == 0.0);
    }
    let area = smoke.solid_cells().filter(|&solid| solid).count() as f32 / 64.0 / 64.0;
    assert!((area / (core::f32::consts::PI * 0.01) - 1.0).abs() < 0.05, "{area}");
}

#[test]
fn turning_body_turns_the_air_around_it() {
    let mut smoke = square(48, SmokeSettings::default());
    let mut paddle = SmokeObstacle::new(box_of(Vec2::new(0.2, 0.03)), Vec2::splat(0.5));
    paddle.angular_velocity[2] = 2.0;
    smoke.set_obstacles([paddle]).unwrap();
    run(&mut smoke, 1, 0.01);
    assert!(smoke.velocity_at(Vec2::new(0.65, 0.56)).y > 0.05);
    assert!(smoke.velocity_at(Vec2::new(0.35, 0.56)).y < -0.05);
}

#[test]
fn shells_and_containers_are_solid_where_they_should_be() {
    let solid_at = |shape, at: Vec2| {
        let mut smoke = square(50, SmokeSettings::default());
        smoke.set_obstacles([SmokeObstacle::new(shape, Vec2::splat(0.5))]).unwrap();
        let cell = (at * 50.0).as_uvec2();
        smoke.solid_cells().nth((cell.x + 50 * cell.y) as usize).unwrap()
    };
    let ball = |fill| BoundaryShape::Ball { radius: 0.305, fill };
    let places = [Vec2::new(0.5, 0.5), Vec2::new(0.8, 0.5), Vec2::new(0.95, 0.5)];
    let expected = [
        (Fill::Solid, [true, false, false]),
        (Fill::Shell, [false, true, false]),
        (Fill::Container, [false, true, true]),
    ];
    for (fill, expected) in expected {
        let places = places.map(|at| at + Vec2::new(0.005, 0.0));
        assert_eq!(places.map(|at| solid_at(ball(fill), at)), expected, "{fill:?}");
    }
    let points = BoundaryShape::Points(vec![Vec2::new(0.2, 0.0)]);
    assert!(solid_at(points.clone(), Vec2::new(0.705, 0.505)));
    assert!(!solid_at(points, Vec2::new(0.505, 0.505)));
}
