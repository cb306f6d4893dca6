//! A saved domain goes on as if it had never been saved.

use bevy_fluid::solver::parallel::Threads;
use bevy_fluid::solver::sampling::{BoundaryShape, Fill};
use bevy_fluid::solver::smoke::{
    Border, Smoke, SmokeObstacle, SmokeScheme, SmokeSettings, SmokeSource, SmokeState, SourceShape,
};
use bevy_fluid::solver::vector::Vector;
use bevy_math::{Vec2, Vec3};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::support::{domain, run};

fn under_way<V: Vector>(cells: [u32; 3], settings: SmokeSettings) -> Smoke<V> {
    let mut smoke = Smoke::<V>::new(domain(cells), settings, 2).unwrap();
    let middle = smoke.domain().size * 0.5;
    let mut ball =
        SmokeObstacle::new(BoundaryShape::Ball { radius: 0.1, fill: Fill::Solid }, middle);
    ball.velocity = V::splat(0.3);
    smoke.set_obstacles([ball]).unwrap();
    let source = SmokeSource {
        shape: SourceShape::Ball { radius: 0.15 },
        position: middle * 0.7,
        dye_rates: vec![1.0, 2.0],
        temperature: Some(330.0),
        velocity: None,
    };
    smoke.set_sources([source]).unwrap();
    run(&mut smoke, 12, 0.02);
    smoke.add_velocity(middle, 0.2, V::splat(0.5)).unwrap();
    smoke.add_cell_source([2, 3, 1], 1, 5.0, V::splat(1.0)).unwrap();
    smoke
}

fn goes_on<V>(mut smoke: Smoke<V>)
where
    V: Vector + Serialize + DeserializeOwned,
{
    let state = smoke.state();
    let text = serde_json::to_string(&state).unwrap();
    let read: SmokeState<V> = serde_json::from_str(&text).unwrap();
    assert!(read == state, "the text holds every bit of the state");
    run(&mut smoke, 10, 0.02);
    let expected = smoke.state();
    for state in [state, read] {
        let mut restored = Smoke::from_state(state).unwrap();
        run(&mut restored, 10, 0.02);
        assert!(restored.state() == expected);
    }
}

#[test]
fn saved_smoke_goes_on_bit_for_bit() {
    for border_y in [Border::Closed, Border::Open] {
        let settings = SmokeSettings {
            viscosity: 1e-3,
            border_y,
            border_x: Border::Periodic,
            ..SmokeSettings::default()
        };
        goes_on(under_way::<Vec2>([34, 27, 1], settings.clone()));
        goes_on(under_way::<Vec3>([12, 15, 14], settings));
    }
    let scheme = SmokeScheme::StableFluids;
    let settings = SmokeSettings { scheme, iterations: 20, ..SmokeSettings::default() };
    goes_on(under_way::<Vec2>([20, 20, 1], settings));
}

#[test]
fn damaged_state_is_refused() {
    let smoke = under_way::<Vec2>([16, 16, 1], SmokeSettings::default());
    let whole = serde_json::to_value(smoke.state()).unwrap();
    let load = |edit: &dyn Fn(&mut Value)| {
        let mut json = whole.clone();
        edit(&mut json);
        serde_json::from_value::<SmokeState<Vec2>>(json)
            .map_err(|error| error.to_string())
            .and_then(|state| Smoke::from_state(state).map_err(|error| error.to_string()))
            .map(|mut smoke| smoke.step(0.01, Threads::Serial))
    };
    assert!(load(&|_| ()).is_ok());
    for field in ["excess", "pressure"] {
        assert!(load(&|json| drop(json[field].as_array_mut().unwrap().pop())).is_err(), "{field}");
    }
    for field in ["velocity", "dye"] {
        let shorter = |json: &mut Value| drop(json[field][1].as_array_mut().unwrap().pop());
        assert!(load(&shorter).is_err(), "{field}");
    }
    assert!(load(&|json| json["domain"]["cells"] = serde_json::json!([16, 17, 1])).is_err());
    assert!(load(&|json| json["cell_sources"][0]["at"] = 0.into()).is_err());
    assert!(load(&|json| json["cell_sources"][0]["at"] = 1_000_000.into()).is_err());
    assert!(load(&|json| json["settings"]["tolerance"] = 7.0.into()).is_err());
    assert!(load(&|json| json["wind"] = 1.into()).is_err(), "an unknown field");
}
