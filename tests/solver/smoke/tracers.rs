//! Particles that drift with the air.

use bevy_fluid::solver::parallel::Threads;
use bevy_fluid::solver::sampling::{BoundaryShape, Fill};
use bevy_fluid::solver::smoke::{Border, Smoke, SmokeObstacle, SmokeSettings, Tracers};
use bevy_fluid::solver::vector::Vector;
use bevy_math::{Vec2, Vec3};
use bevy_tasks::TaskPoolBuilder;

use super::support::{domain, run, square};
use crate::allocation::allocations;
use crate::support::Lcg;

fn open() -> SmokeSettings {
    SmokeSettings { border_x: Border::Open, border_y: Border::Open, ..SmokeSettings::default() }
}

fn ball(radius: f32) -> BoundaryShape<Vec2> {
    BoundaryShape::Ball { radius, fill: Fill::Solid }
}

/// Tracers on a grid of points of the unit square or cube.
fn everywhere<V: Vector>(count: usize) -> Tracers<V> {
    let mut random = Lcg::new(5);
    Tracers { positions: (0..count).map(|_| random.point(0.02, 0.98)).collect() }
}

/// Whether a position lies in a solid cell, by more than rounding.
fn is_buried(smoke: &Smoke<Vec2>, solid: &[bool], at: Vec2) -> bool {
    let corners = [(-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0), (1.0, 1.0)];
    corners.into_iter().all(|corner| is_solid(smoke, solid, at + 1e-5 * Vec2::from(corner)))
}

fn is_solid(smoke: &Smoke<Vec2>, solid: &[bool], at: Vec2) -> bool {
    let cell = ((at - smoke.domain().min) / smoke.domain().cell_size()).floor().as_uvec2();
    let [nx, ny, _] = smoke.domain().cells;
    cell.x < nx && cell.y < ny && solid[(cell.x + nx * cell.y) as usize]
}

#[test]
fn drift_is_of_second_order() {
    // Linear fields are sampled exactly: what is left is the error in time.
    let mut smoke = square(8, open());
    let turning = |p: Vec2| (p - Vec2::splat(0.5)).perp();
    smoke.fill_velocity(turning).unwrap();
    let start = Vec2::new(0.7, 0.5);
    let error = |steps: u32| {
        let mut tracers = Tracers { positions: vec![start] };
        for _ in 0..steps {
            tracers.drift(&smoke, 1.6 / steps as f32, Threads::Serial).unwrap();
        }
        let exact = Vec2::splat(0.5) + Vec2::from_angle(1.6).rotate(start - Vec2::splat(0.5));
        tracers.positions[0].distance(exact)
    };
    let errors = [16, 32, 64].map(error);
    for pair in errors.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!(order > 1.8, "order {order}, errors {errors:?}");
    }
    assert!(errors[2] < 1e-4, "{errors:?}");
}

#[test]
fn tracers_go_where_dye_goes() {
    let mut smoke = square(64, SmokeSettings::default());
    smoke.add_dye(0, Vec2::new(0.5, 0.3), 0.1, 1.0).unwrap();
    let mut tracers: Tracers<Vec2> = everywhere(4000);
    tracers.positions.retain(|at| at.distance(Vec2::new(0.5, 0.3)) < 0.1);
    let count = tracers.positions.len();
    assert!(count > 50);
    for _ in 0..40 {
        smoke.add_velocity(Vec2::new(0.5, 0.3), 0.2, Vec2::new(0.02, 0.1)).unwrap();
        run(&mut smoke, 1, 0.01);
        tracers.drift(&smoke, 0.01, Threads::Serial).unwrap();
    }
    let middle = tracers.positions.iter().sum::<Vec2>() / count as f32;
    let dye: f32 = tracers.positions.iter().map(|&at| smoke.dye_at(0, at)).sum();
    assert!(middle.y > 0.35 && middle.x > 0.5, "{middle}");
    assert!(dye / count as f32 > 10.0, "they are where the dye is not: {}", dye / count as f32);
}

#[test]
fn tracers_never_enter_obstacles_nor_leave_closed_borders() {
    let mut smoke = square(40, SmokeSettings::default());
    let plank = BoundaryShape::Box { half_size: Vec2::new(0.3, 1e-4), fill: Fill::Solid };
    let obstacles = [
        SmokeObstacle::new(ball(0.12), Vec2::new(0.3, 0.4)),
        SmokeObstacle::new(plank, Vec2::new(0.6, 0.7)).rotated(0.8),
    ];
    smoke.set_obstacles(obstacles).unwrap();
    let mut tracers: Tracers<Vec2> = everywhere(500);
    let mut random = Lcg::new(9);
    for step in 0..60 {
        // Flows that do not know of the obstacles, up to a third of the domain in a step.
        let (a, b): (Vec2, Vec2) = (random.point(-20.0, 20.0), random.point(-9.0, 9.0));
        smoke.fill_velocity(|p| a + (p * 7.0).perp() * b).unwrap();
        let at = Vec2::new(0.3 + 0.005 * step as f32, 0.4);
        smoke.move_obstacle(0, at, Vec2::X * 0.3).unwrap();
        tracers.drift(&smoke, 1.0 / 60.0, Threads::Serial).unwrap();
        let solid: Vec<bool> = smoke.solid_cells().collect();
        for &at in &tracers.positions {
            assert!(smoke.air_at(at).is_some(), "step {step}: {at} is outside");
            assert!(!is_buried(&smoke, &solid, at), "step {step}: {at} is in a solid");
        }
    }
    assert_eq!(tracers.remove_outside(&smoke), 0);
}

#[test]
fn plate_one_cell_thick_is_not_passed_at_any_speed() {
    for angle in [0.0f32, 0.3, core::f32::consts::FRAC_PI_4] {
        let mut smoke = square(32, open());
        let plate = BoundaryShape::Box { half_size: Vec2::new(2.0, 1e-4), fill: Fill::Solid };
        smoke.set_obstacles([SmokeObstacle::new(plate, Vec2::splat(0.5)).rotated(angle)]).unwrap();
        let normal = Vec2::from_angle(angle).perp();
        let mut tracers: Tracers<Vec2> = everywhere(300);
        tracers.positions.retain(|at| (at - Vec2::splat(0.5)).dot(normal) < -0.08);
        for speed in [1.0, 30.0, 3000.0] {
            smoke.fill_velocity(|_| normal * speed).unwrap();
            for _ in 0..20 {
                tracers.drift(&smoke, 1.0 / 60.0, Threads::Serial).unwrap();
            }
        }
        // Nor around it, as it spans the domain: those at its ends left below.
        tracers.remove_outside(&smoke);
        let beyond = tracers.positions.iter().filter(|at| (**at - 0.5).dot(normal) > 0.05);
        assert_eq!(beyond.count(), 0, "at {angle}");
    }
}

#[test]
fn those_that_leave_stay_and_are_counted() {
    let mut smoke = square(16, open());
    smoke.fill_velocity(|_| Vec2::X * 2.0).unwrap();
    let inside = Vec2::new(0.1, 0.5);
    let outside = Vec2::new(-3.0, 0.5);
    let mut tracers = Tracers { positions: vec![inside, outside, Vec2::new(0.9, 0.2)] };
    for _ in 0..10 {
        tracers.drift(&smoke, 0.02, Threads::Serial).unwrap();
    }
    assert!(tracers.positions[0].distance(Vec2::new(0.5, 0.5)) < 1e-4, "{:?}", tracers);
    assert_eq!(tracers.positions[1], outside);
    // The third went a little beyond the border, and no farther.
    let left = tracers.positions[2];
    assert!(left.x > 1.0 && left.x < 1.1 && (left.y - 0.2).abs() < 1e-5, "{left}");
    assert_eq!(tracers.remove_outside(&smoke), 2);
    assert_eq!(tracers.positions.len(), 1);
    // Around a periodic axis they come back.
    let settings = SmokeSettings { border_x: Border::Periodic, ..SmokeSettings::default() };
    let mut smoke = square(16, settings);
    smoke.fill_velocity(|_| Vec2::X * 2.0).unwrap();
    let mut tracers = Tracers { positions: vec![Vec2::new(0.9, 0.5)] };
    (0..10).for_each(|_| tracers.drift(&smoke, 0.05, Threads::Serial).unwrap());
    assert!(tracers.positions[0].distance(Vec2::new(0.9, 0.5)) < 1e-3, "{:?}", tracers);
}

#[test]
fn drift_is_the_same_on_any_number_of_threads_and_allocates_nothing() {
    let mut smoke = Smoke::<Vec3>::new(domain([16, 20, 18]), open(), 1).unwrap();
    let mut random = Lcg::new(3);
    smoke.fill_velocity(|_| random.point(-2.0, 2.0)).unwrap();
    let drift = |threads: Threads| {
        let mut tracers: Tracers<Vec3> = everywhere(9000);
        tracers.drift(&smoke, 0.05, threads).unwrap();
        tracers
    };
    let mut expected = drift(Threads::Serial);
    assert_ne!(expected, everywhere(9000));
    for count in [1, 3] {
        let pool = TaskPoolBuilder::new().num_threads(count).build();
        assert!(drift(Threads::Pool(&pool)) == expected, "on {count} threads");
    }
    let count = allocations(|| expected.drift(&smoke, 0.05, Threads::Serial).unwrap());
    assert_eq!(count, 0);
}

#[test]
fn bad_input_moves_nothing() {
    let mut smoke = square(16, open());
    smoke.fill_velocity(|_| Vec2::X).unwrap();
    let start = vec![Vec2::splat(0.5), Vec2::new(f32::NAN, 0.5), Vec2::splat(f32::INFINITY)];
    let mut tracers = Tracers { positions: start.clone() };
    for dt in [0.0, -1.0, 2.0, f32::NAN] {
        let error = tracers.drift(&smoke, dt, Threads::Serial).unwrap_err().to_string();
        assert!(error.starts_with("time_step is "), "{error}");
    }
    assert_eq!(tracers.positions[0], start[0]);
    tracers.drift(&smoke, 0.1, Threads::Serial).unwrap();
    assert!(tracers.positions[0].x > 0.55);
    assert_eq!(tracers.remove_outside(&smoke), 2);
    // Air as fast as numbers go.
    smoke.fill_velocity(|_| Vec2::splat(1e30)).unwrap();
    tracers.drift(&smoke, 1.0, Threads::Serial).unwrap();
    assert!(tracers.positions.iter().all(|at| at.is_finite()));
}
