//! Flows with a known answer: each figure beside the gate it should pass, as a
//! table, and plots of those that have curves. `cargo bench --bench validation`,
//! and a word such as `cavity` after `--` picks flows by name.

#[path = "../tests/validation/flows.rs"]
mod flows;
mod plot;

use std::path::Path;

use bevy_fluid::solver::settings::DensityCorrection;
use flows::{
    Curve, Run, cavity, channel, dam_break, hydrostatic, lobovsky, sloshing, stretching_drop,
    taylor_green,
};

/// A figure with the ends of its gate.
struct Figure(&'static str, f32, f32, f32);

/// What a flow gives: figures, and curves to plot.
type Found = (Vec<Figure>, Vec<Curve>);

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|w| !w.starts_with('-')).collect();
    println!("| flow | method | figure | gate | reached | |");
    println!("|---|---|---|---|---|---|");
    type Flow = fn(Run) -> Found;
    let flows: [(&str, u32, Flow); 15] = [
        ("hydrostatic, 40 layers, 5 s", 40, tank),
        ("dam break, a = 20", 20, dam),
        ("dam break, a = 40", 40, dam),
        ("dam break, a = 80", 80, dam),
        ("Lobovsky, 60 over the height", 60, probes),
        ("Taylor-Green, 50²", 50, |run| vortices(run, 0.05, 0.03)),
        ("Taylor-Green, 100²", 100, |run| vortices(run, 0.03, 0.015)),
        ("Couette, 30 across", 30, |run| plates(run, true)),
        ("Poiseuille, 30 across", 30, |run| plates(run, false)),
        ("Couette, 60 across", 60, |run| plates(run, true)),
        ("Poiseuille, 60 across", 60, |run| plates(run, false)),
        ("cavity Re 100, 50²", 50, lid),
        ("stretching drop, 1/40", 40, drop_of_water),
        ("sloshing, 60 over the width", 60, slosh),
        ("sloshing, 120 over the width", 120, slosh),
    ];
    for (name, resolution, flow) in flows {
        if !words.is_empty() && !words.iter().any(|word| name.contains(word.as_str())) {
            continue;
        }
        // The curves of each kind by all methods.
        let mut curves: Vec<Vec<(&str, Curve)>> = Vec::new();
        for run in Run::all(resolution) {
            let by_positions = run.correction == DensityCorrection::Positions;
            let method = if by_positions { "DFSPH by positions" } else { run.method.name() };
            let (figures, found) = flow(run);
            for Figure(what, value, low, high) in figures {
                let verdict = if (low..=high).contains(&value) { "" } else { "missed" };
                println!(
                    "| {name} | {method} | {what} | {low} to {high} | {value:.4} | {verdict} |"
                );
            }
            curves.resize_with(found.len(), Vec::new);
            for (curves, curve) in curves.iter_mut().zip(found) {
                curves.push((method, curve));
            }
        }
        for curves in &curves {
            match plot::draw(Path::new(env!("CARGO_TARGET_TMPDIR")), name, curves) {
                Ok(path) => eprintln!("plotted {}", path.display()),
                Err(error) => eprintln!("no plot of {name}: {error}"),
            }
        }
    }
}

fn tank(run: Run) -> Found {
    let column = hydrostatic(run, 5.0);
    let figures = vec![
        Figure("pressure at the floor over rho g H", column.pressure, 0.98, 1.02),
        Figure("highest speed over sqrt(g H)", column.speed, 0.0, 0.01),
        Figure("mean density error of the bulk", column.density_error, 0.0, 1e-3),
    ];
    (figures, Vec::new())
}

fn dam(run: Run) -> Found {
    let dam = dam_break(run);
    let figures = vec![
        Figure("RMS error of the front", dam.front, 0.0, 0.1),
        Figure("slope of the front", dam.slope, 1.19, 1.74),
        Figure("largest error of the height", dam.height, 0.0, 0.05),
    ];
    (figures, dam.curves.into())
}

fn probes(run: Run) -> Found {
    let [h2, h3, h4] = lobovsky(run);
    let gate = |name, time, from: f32, to: f32| Figure(name, time, 0.95 * from, 1.05 * to);
    let figures = vec![
        gate("arrival at H2", h2, 1.03, 1.05),
        gate("arrival at H3", h3, 1.66, 1.70),
        gate("arrival at H4", h4, 2.17, 2.19),
    ];
    (figures, Vec::new())
}

fn vortices(run: Run, rate: f32, velocity: f32) -> Found {
    let found = taylor_green(run, 2.0);
    let figures = vec![
        Figure("decay rate over theory", found.rate, 1.0 - rate, 1.0 + rate),
        Figure("L2 error of the velocity", found.velocity, 0.0, velocity),
    ];
    (figures, Vec::new())
}

fn plates(run: Run, driven_by_plate: bool) -> Found {
    let channel = channel(run, driven_by_plate, 1.0);
    let figures = vec![Figure("error of the profile over u_max", channel.error, 0.0, 0.02)];
    (figures, vec![channel.curve])
}

fn lid(run: Run) -> Found {
    let cavity = cavity(run, 15.0);
    let [u, v] = cavity.errors;
    let figures = vec![
        Figure("largest error of u", u, 0.0, 0.05),
        Figure("largest error of v", v, 0.0, 0.05),
    ];
    (figures, cavity.curves.into())
}

fn drop_of_water(run: Run) -> Found {
    let drop = stretching_drop(run);
    let figures = vec![
        Figure("semi-major axis over theory", drop.axis, 0.98, 1.02),
        Figure("area over theory", drop.area, 0.99, 1.01),
    ];
    (figures, Vec::new())
}

fn slosh(run: Run) -> Found {
    (vec![Figure("period over theory", sloshing(run, 3), 0.98, 1.02)], Vec::new())
}
