//! Bad input is refused by name and harms nothing; its valid twin is taken.

use bevy_fluid::solver::error::FluidError;
use bevy_fluid::solver::parallel::Threads;
use bevy_fluid::solver::sampling::{BoundaryShape, Fill};
use bevy_fluid::solver::smoke::{
    Border, Smoke, SmokeDomain, SmokeObstacle, SmokeSettings, SmokeSource, SmokeView, SourceShape,
};
use bevy_math::{Vec2, Vec3};

use super::support::{domain, run, square};

const NOT_FINITE: [f32; 3] = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
const NOT_POSITIVE: [f32; 5] = [0.0, -1.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY];

/// The name of the parameter that was refused.
fn refused<T>(result: Result<T, FluidError>) -> String {
    match result {
        Err(FluidError::Parameter { name, .. }) => name,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("accepted"),
    }
}

#[test]
fn grids_of_odd_sizes_work_and_impossible_ones_are_refused() {
    let make = |cells| Smoke::<Vec2>::new(domain(cells), SmokeSettings::default(), 1);
    for cells in [[16, 16, 1], [100, 7, 1], [3, 3, 1], [3, 200, 1], [17, 5, 1], [64, 3, 0]] {
        let mut smoke = make(cells).unwrap();
        let middle = smoke.domain().size * 0.5;
        smoke.add_dye(0, middle, 0.1, 1.0).unwrap();
        smoke.add_velocity(middle, 0.1, Vec2::new(5.0, 3.0)).unwrap();
        run(&mut smoke, 5, 0.02);
        assert!(smoke.view(SmokeView::Speed).all(f32::is_finite), "{cells:?}");
        assert!(smoke.stats().divergence_after <= 1e-2 * smoke.stats().divergence_before);
    }
    for cells in [
        [0, 0, 1],
        [2, 2, 1],
        [1, 64, 1],
        [64, 2, 1],
        [8193, 3, 1],
        [8192, 8192, 1],
        [u32::MAX, u32::MAX, 1],
    ] {
        let unit = SmokeDomain { min: Vec2::ZERO, size: Vec2::ONE, cells };
        assert_eq!(
            refused(Smoke::new(unit, SmokeSettings::default(), 1)),
            "domain.cells",
            "{cells:?}"
        );
    }
    let deep = SmokeDomain { min: Vec3::ZERO, size: Vec3::ONE, cells: [400; 3] };
    assert_eq!(refused(Smoke::new(deep, SmokeSettings::default(), 1)), "domain.cells");
    let text = make([2, 2, 1]).unwrap_err().to_string();
    assert_eq!(
        text,
        "domain.cells is [2, 2], allowed is 3 to 8192 along each axis, at most 16777216 in all"
    );
}

#[test]
fn domains_must_have_cubic_cells_and_finite_places() {
    let with = |min, size| {
        let domain = SmokeDomain { min, size, cells: [20, 10, 1] };
        Smoke::<Vec2>::new(domain, SmokeSettings::default(), 1)
    };
    assert!(with(Vec2::ZERO, Vec2::new(2.0, 1.0)).is_ok());
    assert_eq!(refused(with(Vec2::ZERO, Vec2::ONE)), "domain.size");
    for bad in NOT_POSITIVE {
        assert_eq!(refused(with(Vec2::ZERO, Vec2::new(bad, 1.0))), "domain.size");
        assert_eq!(refused(with(Vec2::ZERO, Vec2::new(2.0, bad))), "domain.size");
    }
    for bad in NOT_FINITE {
        assert_eq!(refused(with(Vec2::new(bad, 0.0), Vec2::new(2.0, 1.0))), "domain.min");
    }
    let fitted = SmokeDomain::fitting(Vec2::ZERO, Vec2::new(3.0, 1.03), 60);
    assert_eq!(fitted.cells, [60, 21, 1]);
    assert!(fitted.validate().is_ok());
    assert!(SmokeDomain::fitting(Vec2::ZERO, Vec2::splat(f32::NAN), 60).validate().is_err());
    assert!(SmokeDomain::fitting(Vec2::ZERO, Vec2::ONE, 0).validate().is_err());
}

#[test]
fn settings_and_steps_out_of_range_are_refused_and_the_old_ones_stay() {
    let mut smoke = square(16, SmokeSettings::default());
    smoke.add_velocity(Vec2::splat(0.5), 0.2, Vec2::X).unwrap();
    let old = smoke.settings().clone();
    for parameter in SmokeSettings::PARAMETERS {
        let (low, high) = (*parameter.range.start(), *parameter.range.end());
        let mut settings = SmokeSettings::default();
        for bad in [low - 1.0 - low.abs(), high * 2.0 + 1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(refused(parameter.set(&mut settings, bad)), parameter.name);
        }
        for good in [low, high] {
            parameter.set(&mut settings, good).unwrap();
            if parameter.name != "iterations" {
                smoke.set_settings(settings.clone()).unwrap();
                run(&mut smoke, 2, 0.01);
                assert!(smoke.view(SmokeView::Speed).all(f32::is_finite), "{}", parameter.name);
            }
        }
    }
    smoke.set_settings(old.clone()).unwrap();
    let bad = SmokeSettings { viscosity: f32::NAN, ..old.clone() };
    assert_eq!(refused(smoke.set_settings(bad)), "viscosity");
    let odd = SmokeSettings { border_x: Border::Periodic, ..old.clone() };
    let mut narrow = Smoke::<Vec2>::new(domain([17, 16, 1]), old.clone(), 1).unwrap();
    assert_eq!(refused(narrow.set_settings(odd.clone())), "border_x");
    smoke.set_settings(odd).unwrap();
    smoke.set_settings(old.clone()).unwrap();
    assert_eq!(*smoke.settings(), old);
    let steps = smoke.steps();
    for bad in NOT_POSITIVE.into_iter().chain([1e-7, 1.5]) {
        assert_eq!(refused(smoke.step(bad, Threads::Serial)), "time_step");
    }
    assert_eq!(smoke.steps(), steps);
    smoke.step(1.0, Threads::Serial).unwrap();
    smoke.step(1e-6, Threads::Serial).unwrap();
    for channels in [0, 17, usize::MAX] {
        let made = Smoke::<Vec2>::new(domain([16, 16, 1]), SmokeSettings::default(), channels);
        assert_eq!(refused(made), "channels");
    }
}

#[test]
fn edits_that_are_not_finite_are_refused_and_add_nothing() {
    let mut smoke = square(16, SmokeSettings::default());
    let middle = Vec2::splat(0.5);
    for bad in NOT_FINITE {
        assert_eq!(refused(smoke.add_dye(0, Vec2::new(bad, 0.5), 0.1, 1.0)), "position");
        assert_eq!(refused(smoke.add_dye(0, middle, 0.1, bad)), "amount");
        assert_eq!(refused(smoke.add_velocity(middle, 0.1, Vec2::new(0.0, bad))), "velocity");
        assert_eq!(refused(smoke.add_velocity(Vec2::splat(bad), 0.1, Vec2::X)), "position");
        assert_eq!(refused(smoke.add_temperature(middle, 0.1, bad)), "kelvin");
        assert_eq!(refused(smoke.add_cell_source([1, 1, 0], 0, bad, Vec2::X)), "source");
        assert_eq!(refused(smoke.fill_dye(0, |_| bad)), "dye");
        assert_eq!(refused(smoke.fill_velocity(|_| Vec2::splat(bad))), "velocity");
    }
    for bad in NOT_POSITIVE {
        assert_eq!(refused(smoke.add_dye(0, middle, bad, 1.0)), "radius");
        assert_eq!(refused(smoke.add_velocity(middle, bad, Vec2::X)), "radius");
        assert_eq!(refused(smoke.add_temperature(middle, bad, 1.0)), "radius");
    }
    assert_eq!(refused(smoke.add_dye(1, middle, 0.1, 1.0)), "channel");
    assert_eq!(refused(smoke.add_cell_source([16, 0, 0], 0, 1.0, Vec2::X)), "cell");
    assert_eq!(smoke.total_dye(0), 0.0);
    assert!(smoke.velocities().all(|v| v == Vec2::ZERO));
    smoke.add_dye(0, middle, 0.1, 1.0).unwrap();
    smoke.add_velocity(middle, 0.1, Vec2::X).unwrap();
    smoke.add_temperature(middle, 0.1, 1.0).unwrap();
    smoke.add_cell_source([15, 0, 9], 0, 1.0, Vec2::X).unwrap();
    assert!(smoke.total_dye(0) > 0.9);
}

#[test]
fn bad_sources_and_obstacles_are_refused_and_the_old_ones_stay() {
    let mut smoke = square(16, SmokeSettings::default());
    let source = SmokeSource {
        shape: SourceShape::Ball { radius: 0.1 },
        position: Vec2::splat(0.5),
        dye_rates: vec![1.0],
        temperature: Some(300.0),
        velocity: Some(Vec2::X),
    };
    smoke.set_sources([source.clone()]).unwrap();
    let edits: [(fn(&mut SmokeSource<Vec2>), &str); 7] = [
        (|source| source.shape = SourceShape::Ball { radius: 0.0 }, "radius"),
        (|source| source.shape = SourceShape::Box { half_size: Vec2::new(1.0, -1.0) }, "half_size"),
        (|source| source.position.x = f32::NAN, "position"),
        (|source| source.dye_rates[0] = f32::INFINITY, "dye_rates"),
        (|source| source.dye_rates.push(1.0), "dye_rates"),
        (|source| source.temperature = Some(f32::NAN), "temperature"),
        (|source| source.velocity = Some(Vec2::NAN), "velocity"),
    ];
    for (edit, name) in edits {
        let mut bad = source.clone();
        edit(&mut bad);
        let result = smoke.set_sources([source.clone(), bad]);
        assert_eq!(refused(result), format!("sources[1].{name}"));
    }
    assert_eq!(smoke.sources().len(), 1);

    let ball = BoundaryShape::Ball { radius: 0.1, fill: Fill::Solid };
    let obstacle = SmokeObstacle::new(ball, Vec2::splat(0.5));
    smoke.set_obstacles([obstacle.clone()]).unwrap();
    let edits: [(fn(&mut SmokeObstacle<Vec2>), &str); 7] = [
        (|o| o.shape = BoundaryShape::Ball { radius: f32::NAN, fill: Fill::Solid }, "radius"),
        (|o| o.shape = BoundaryShape::Points(vec![]), "points"),
        (|o| o.shape = BoundaryShape::Points(vec![Vec2::NAN]), "points[0]"),
        (|o| o.position = Vec2::INFINITY, "position"),
        (|o| o.velocity = Vec2::NAN, "velocity"),
        (|o| o.angular_velocity[2] = f32::NAN, "angular_velocity"),
        (|o| o.axes[0] = Vec2::splat(2.0), "axes"),
    ];
    for (edit, name) in edits {
        let mut bad = obstacle.clone();
        edit(&mut bad);
        assert_eq!(refused(smoke.set_obstacles([bad])), format!("obstacles[0].{name}"));
    }
    assert_eq!(smoke.obstacles(), [obstacle]);
    assert_eq!(refused(smoke.move_obstacle(0, Vec2::NAN, Vec2::ZERO)), "motion");
    assert_eq!(refused(smoke.move_obstacle(1, Vec2::ZERO, Vec2::ZERO)), "obstacle");
    smoke.move_obstacle(0, Vec2::new(1e20, 0.0), Vec2::ZERO).unwrap();
    run(&mut smoke, 2, 0.01);
}

#[test]
fn solid_everywhere_and_sealed_pockets_are_ordinary_states() {
    let mut smoke = square(24, SmokeSettings::default());
    smoke.add_dye(0, Vec2::splat(0.5), 0.2, 1.0).unwrap();
    let block = BoundaryShape::Box { half_size: Vec2::splat(2.0), fill: Fill::Solid };
    smoke.set_obstacles([SmokeObstacle::new(block, Vec2::splat(0.5))]).unwrap();
    run(&mut smoke, 3, 0.01);
    assert!(smoke.velocities().all(|v| v == Vec2::ZERO));
    // A ring that moves, with air inside that has nowhere to go.
    let mut ring = SmokeObstacle::new(
        BoundaryShape::Ball { radius: 0.2, fill: Fill::Shell },
        Vec2::splat(0.5),
    );
    ring.velocity = Vec2::new(0.4, 0.1);
    smoke.set_obstacles([ring]).unwrap();
    for _ in 0..20 {
        smoke.add_velocity(Vec2::splat(0.5), 0.1, Vec2::new(0.3, -1.0)).unwrap();
        run(&mut smoke, 1, 0.02);
    }
    assert!(smoke.view(SmokeView::Speed).all(|speed| speed < 10.0));
}

#[test]
fn air_that_gets_too_fast_for_numbers_is_stopped_and_reported() {
    let mut smoke = square(16, SmokeSettings::default());
    smoke.add_dye(0, Vec2::splat(0.5), 0.2, 1.0).unwrap();
    for _ in 0..4 {
        smoke.add_velocity(Vec2::splat(0.5), 0.5, Vec2::splat(3e38)).unwrap();
    }
    let mut reset = false;
    for _ in 0..3 {
        smoke.step(0.02, Threads::Serial).unwrap();
        reset |= smoke.stats().reset;
    }
    assert!(reset);
    assert!(smoke.velocities().all(|v| v.is_finite()));
    assert!(smoke.view(SmokeView::Dye(0)).all(f32::is_finite));
    smoke.add_velocity(Vec2::splat(0.5), 0.3, Vec2::X).unwrap();
    run(&mut smoke, 2, 0.02);
    assert!(!smoke.stats().reset);
}
