//! Plots over simulated time.

use bevy_egui::egui::{Color32, Ui};
use egui_plot::{Legend, Line, Plot};

use super::history::{History, Sample};

/// Colours that stand apart on light and dark.
const COLORS: [Color32; 2] =
    [Color32::from_rgb(0x1f, 0x5f, 0xd0), Color32::from_rgb(0xd0, 0x60, 0x1f)];

type Curve = (&'static str, fn(&Sample) -> Option<f64>);

/// The three plots.
pub(super) fn plots(ui: &mut Ui, history: &History) {
    plot(
        ui,
        history,
        "Iterations",
        [
            ("density", |sample| Some(f64::from(sample.stats.density_iterations))),
            ("divergence", |sample| Some(f64::from(sample.stats.divergence_iterations))),
        ],
    );
    plot(
        ui,
        history,
        "Error in %",
        [
            ("density", |sample| Some(100.0 * f64::from(sample.stats.density_error))),
            ("divergence", |sample| Some(100.0 * f64::from(sample.stats.divergence_error))),
        ],
    );
    plot(
        ui,
        history,
        "Energy in J",
        [
            ("kinetic", |sample| sample.energy.map(|energy| f64::from(energy[0]))),
            ("potential", |sample| sample.energy.map(|energy| f64::from(energy[1]))),
        ],
    );
    ui.weak("over simulated time in s");
}

fn plot(ui: &mut Ui, history: &History, name: &'static str, curves: [Curve; 2]) {
    ui.label(name);
    // The panel scrolls by the wheel; a plot that zooms would take it.
    Plot::new(name)
        .height(110.0)
        .include_y(0.0)
        .legend(Legend::default())
        .allow_scroll(false)
        .allow_zoom(false)
        .allow_drag(false)
        .allow_boxed_zoom(false)
        .show(ui, |plot| {
            for ((curve, value), color) in curves.into_iter().zip(COLORS) {
                let points: Vec<[f64; 2]> = history
                    .samples()
                    .filter_map(|sample| value(sample).map(|value| [sample.time, value]))
                    .filter(|point| point.iter().all(|number| number.is_finite()))
                    .collect();
                plot.line(Line::new(curve, points).color(color));
            }
        });
}
