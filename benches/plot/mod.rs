//! Plots of what a flow's runs found over what they should meet.

use std::error::Error;
use std::path::{Path, PathBuf};

use plotters::prelude::*;

use crate::flows::Curve;

const COLORS: [RGBColor; 3] = [RGBColor(200, 30, 30), RGBColor(20, 60, 220), RGBColor(0, 140, 60)];

/// Writes a picture of one curve by several methods, named after it, into `folder`, three methods at
/// most.
pub fn draw(
    folder: &Path,
    title: &str,
    curves: &[(&str, Curve)],
) -> Result<PathBuf, Box<dyn Error>> {
    let Some((_, first)) = curves.first() else { return Err("no curves".into()) };
    let name = format!("{title}, {}", first.name);
    let file = name.replace(|c: char| !c.is_ascii_alphanumeric(), "_") + ".svg";
    let path = folder.join(file);
    let all = curves.iter().flat_map(|(_, curve)| curve.computed.iter().chain(&curve.reference));
    let range = |axis: fn(&(f32, f32)) -> f32| {
        let values = all.clone().map(axis).filter(|value| value.is_finite());
        let (low, high) = values.fold((f32::MAX, f32::MIN), |(a, b), x| (a.min(x), b.max(x)));
        let margin = 0.03 * (high - low).max(1e-6);
        low - margin..high + margin
    };
    let area = SVGBackend::new(&path, (800, 500)).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption(&name, ("sans-serif", 20))
        .margin(10)
        .x_label_area_size(30)
        .y_label_area_size(50)
        .build_cartesian_2d(range(|point| point.0), range(|point| point.1))?;
    chart.configure_mesh().disable_mesh().draw()?;
    for ((method, curve), color) in curves.iter().zip(COLORS) {
        let dots = curve.computed.iter().map(|&point| Circle::new(point, 2, color.filled()));
        let mark = move |(x, y)| Circle::new((x + 10, y), 4, color.filled());
        chart.draw_series(dots)?.label(*method).legend(mark);
    }
    let crosses = first.reference.iter().map(|&point| Cross::new(point, 4, BLACK.stroke_width(2)));
    let mark = |(x, y)| Cross::new((x + 10, y), 4, BLACK.stroke_width(2));
    chart.draw_series(crosses)?.label("reference").legend(mark);
    chart.configure_series_labels().background_style(WHITE.mix(0.8)).border_style(BLACK).draw()?;
    area.present()?;
    drop((chart, area));
    Ok(path)
}
