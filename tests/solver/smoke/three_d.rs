//! The same solver in space.

use bevy_fluid::solver::parallel::Threads;
use bevy_fluid::solver::smoke::{
    Advection, Border, Smoke, SmokePressure, SmokeScheme, SmokeSettings, SmokeView,
};
use bevy_math::{Vec2, Vec3};

use super::support::{difference, domain, largest};

#[test]
fn flow_without_variation_along_z_is_the_flow_in_the_plane() {
    for pressure in SmokePressure::ALL {
        for advection in Advection::ALL {
            let settings = SmokeSettings {
                pressure,
                advection,
                tolerance: 1e-6,
                iterations: 2000,
                viscosity: 1e-3,
                diffusion: 1e-4,
                vorticity_confinement: 0.3,
                border_z: Border::Periodic,
                ..SmokeSettings::default()
            };
            let mut flat = Smoke::<Vec2>::new(domain([24, 20, 1]), settings.clone(), 1).unwrap();
            let mut deep = Smoke::<Vec3>::new(domain([24, 20, 4]), settings, 1).unwrap();
            let flow = |p: Vec2| {
                let r = p - Vec2::new(0.4, 0.3);
                Vec2::new(0.5 - 3.0 * r.y, 2.0 * r.x) * (-20.0 * r.length_squared()).exp()
            };
            flat.fill_velocity(flow).unwrap();
            deep.fill_velocity(|p| flow(p.truncate()).extend(0.0)).unwrap();
            let dye = |p: Vec2| (-30.0 * (p - Vec2::new(0.4, 0.35)).length_squared()).exp();
            flat.fill_dye(0, dye).unwrap();
            deep.fill_dye(0, |p| dye(p.truncate())).unwrap();
            for _ in 0..10 {
                flat.step(0.02, Threads::Serial).unwrap();
                deep.step(0.02, Threads::Serial).unwrap();
            }
            for view in [SmokeView::Dye(0), SmokeView::Speed] {
                let flat: Vec<f32> = flat.view(view).collect();
                let deep: Vec<f32> = deep.view(view).collect();
                let layer = flat.len();
                for k in 0..4 {
                    let off = difference(&flat, &deep[k * layer..][..layer]) / largest(&flat);
                    assert!(off < 1e-3, "{pressure:?} {advection:?} {view:?}: {off}");
                }
            }
        }
    }
}

#[test]
fn reference_scheme_in_3d_without_variation_along_z_is_the_one_in_the_plane() {
    let settings = SmokeSettings {
        scheme: SmokeScheme::StableFluids,
        iterations: 400,
        ..SmokeSettings::default()
    };
    let mut flat = Smoke::<Vec2>::new(domain([12, 10, 1]), settings.clone(), 1).unwrap();
    let mut deep = Smoke::<Vec3>::new(domain([12, 10, 5]), settings, 1).unwrap();
    for _ in 0..10 {
        flat.add_cell_source([6, 3, 0], 0, 10.0, Vec2::Y * 20.0).unwrap();
        for k in 0..5 {
            deep.add_cell_source([6, 3, k], 0, 10.0, Vec3::Y * 20.0).unwrap();
        }
        flat.step(0.05, Threads::Serial).unwrap();
        deep.step(0.05, Threads::Serial).unwrap();
    }
    for view in [SmokeView::Dye(0), SmokeView::Speed] {
        let flat: Vec<f32> = flat.view(view).collect();
        let deep: Vec<f32> = deep.view(view).collect();
        assert!(largest(&flat) > 0.1);
        for layer in deep.chunks(flat.len()) {
            let off = difference(&flat, layer) / largest(&flat);
            assert!(off < 1e-3, "{view:?}: {off}");
        }
    }
}
