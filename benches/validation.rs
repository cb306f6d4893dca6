//! Flows with a known answer: each figure beside the gate it should pass, as a
//! table. `cargo bench --bench validation`, and a word such as `cavity` after
//! `--` picks flows by name.

#[path = "../tests/validation/flows.rs"]
mod flows;

use bevy_fluid::solver::settings::DensityCorrection;
use flows::{
    Run, cavity, channel, dam_break, hydrostatic, lobovsky, sloshing, stretching_drop, taylor_green,
};

/// A figure with the ends of its gate.
struct Figure(&'static str, f32, f32, f32);

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|w| !w.starts_with('-')).collect();
    println!("| flow | method | figure | gate | reached | |");
    println!("|---|---|---|---|---|---|");
    type Flow = fn(Run) -> Vec<Figure>;
    let flows: [(&str, u32, Flow); 15] = [
        ("hydrostatic, 40 layers, 5 s", 40, |run| {
            let column = hydrostatic(run, 5.0);
            vec![
                Figure("pressure at the floor over rho g H", column.pressure, 0.98, 1.02),
                Figure("highest speed over sqrt(g H)", column.speed, 0.0, 0.01),
                Figure("mean density error of the bulk", column.density_error, 0.0, 1e-3),
            ]
        }),
        ("dam break, a = 20", 20, dam),
        ("dam break, a = 40", 40, dam),
        ("dam break, a = 80", 80, dam),
        ("Lobovsky, 60 over the height", 60, |run| {
            let [h2, h3, h4] = lobovsky(run);
            let gate = |name, time, from: f32, to: f32| Figure(name, time, 0.95 * from, 1.05 * to);
            vec![
                gate("arrival at H2", h2, 1.03, 1.05),
                gate("arrival at H3", h3, 1.66, 1.70),
                gate("arrival at H4", h4, 2.17, 2.19),
            ]
        }),
        ("Taylor-Green, 50²", 50, |run| vortices(run, 0.05, 0.03)),
        ("Taylor-Green, 100²", 100, |run| vortices(run, 0.03, 0.015)),
        ("Couette, 30 across", 30, |run| {
            vec![Figure("error of the profile over u_max", channel(run, true, 1.0), 0.0, 0.02)]
        }),
        ("Poiseuille, 30 across", 30, |run| {
            vec![Figure("error of the profile over u_max", channel(run, false, 1.0), 0.0, 0.02)]
        }),
        ("Couette, 60 across", 60, |run| {
            vec![Figure("error of the profile over u_max", channel(run, true, 1.0), 0.0, 0.02)]
        }),
        ("Poiseuille, 60 across", 60, |run| {
            vec![Figure("error of the profile over u_max", channel(run, false, 1.0), 0.0, 0.02)]
        }),
        ("cavity Re 100, 50²", 50, |run| {
            let [u, v] = cavity(run, 15.0);
            vec![
                Figure("largest error of u", u, 0.0, 0.05),
                Figure("largest error of v", v, 0.0, 0.05),
            ]
        }),
        ("stretching drop, 1/40", 40, |run| {
            let drop = stretching_drop(run);
            vec![
                Figure("semi-major axis over theory", drop.axis, 0.98, 1.02),
                Figure("area over theory", drop.area, 0.99, 1.01),
            ]
        }),
        ("sloshing, 60 over the width", 60, slosh),
        ("sloshing, 120 over the width", 120, slosh),
    ];
    for (name, resolution, flow) in flows {
        if !words.is_empty() && !words.iter().any(|word| name.contains(word.as_str())) {
            continue;
        }
        for run in Run::all(resolution) {
            for Figure(what, value, low, high) in flow(run) {
                let verdict = if (low..=high).contains(&value) { "" } else { "missed" };
                let by_positions = run.correction == DensityCorrection::Positions;
                let method = if by_positions { "DFSPH by positions" } else { run.method.name() };
                println!(
                    "| {name} | {method} | {what} | {low} to {high} | {value:.4} | {verdict} |"
                );
            }
        }
    }
}

fn dam(run: Run) -> Vec<Figure> {
    let dam = dam_break(run);
    vec![
        Figure("RMS error of the front", dam.front, 0.0, 0.1),
        Figure("slope of the front", dam.slope, 1.19, 1.74),
        Figure("largest error of the height", dam.height, 0.0, 0.05),
    ]
}

fn vortices(run: Run, rate: f32, velocity: f32) -> Vec<Figure> {
    let found = taylor_green(run, 2.0);
    vec![
        Figure("decay rate over theory", found.rate, 1.0 - rate, 1.0 + rate),
        Figure("L2 error of the velocity", found.velocity, 0.0, velocity),
    ]
}

fn slosh(run: Run) -> Vec<Figure> {
    vec![Figure("period over theory", sloshing(run, 3), 0.98, 1.02)]
}
