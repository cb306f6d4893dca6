//! Plots over simulated time.

use bevy_egui::egui::{Color32, Ui};
use egui_plot::{Line, Plot};

use super::history::{History, Sample};

/// Colours that stand apart on light and dark.
const COLORS: [Color32; 2] =
    [Color32::from_rgb(0x2a, 0x6f, 0xe0), Color32::from_rgb(0xd0, 0x60, 0x1f)];

type Curve<'a> = (&'static str, &'a dyn Fn(&Sample) -> Option<f64>);

/// The three plots.
pub(super) fn plots(ui: &mut Ui, history: &History) {
    plot(
        ui,
        history,
        "iterations",
        [
            ("density", &|sample| Some(f64::from(sample.stats.density_iterations))),
            ("divergence", &|sample| Some(f64::from(sample.stats.divergence_iterations))),
        ],
    );
    plot(
        ui,
        history,
        "error in %",
        [
            ("density", &|sample| Some(100.0 * f64::from(sample.stats.density_error))),
            ("divergence", &|sample| Some(100.0 * f64::from(sample.stats.divergence_error))),
        ],
    );
    // Where potential energy is zero is arbitrary. Above its lowest value on
    // show it is of the size of the kinetic energy that it turns into.
    let potential = |sample: &Sample| sample.energy.map(|energy| f64::from(energy[1]));
    let lowest = history.samples().filter_map(potential).fold(f64::INFINITY, f64::min);
    plot(
        ui,
        history,
        "energy in J",
        [
            ("kinetic", &|sample| sample.energy.map(|energy| f64::from(energy[0]))),
            ("potential above its lowest", &|sample| potential(sample).map(|it| it - lowest)),
        ],
    );
    ui.weak("over the scene's time in s");
}

fn plot(ui: &mut Ui, history: &History, name: &'static str, curves: [Curve; 2]) {
    // A legend inside of so small a plot would cover the curves.
    ui.horizontal_wrapped(|ui| {
        ui.label(name);
        for ((curve, _), color) in curves.iter().zip(COLORS) {
            ui.colored_label(color, format!("— {curve}"));
        }
    });
    let lines = curves.map(|(curve, value)| {
        let points: Vec<[f64; 2]> = history
            .samples()
            .filter_map(|sample| value(sample).map(|value| [sample.time, value]))
            .filter(|point| point.iter().all(|number| number.is_finite()))
            .collect();
        Line::new(curve, points)
    });
    // The panel scrolls by the wheel; a plot that zooms would take it.
    Plot::new(name)
        .height(110.0)
        .include_y(0.0)
        .y_axis_min_width(40.0)
        .allow_scroll(false)
        .allow_zoom(false)
        .allow_drag(false)
        .allow_axis_zoom_drag(false)
        .allow_boxed_zoom(false)
        .show(ui, |plot| {
            for (line, color) in lines.into_iter().zip(COLORS) {
                plot.line(line.color(color));
            }
        });
}
