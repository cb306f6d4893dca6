//! Numbers in text fields: from text to a value and back, without any widget.

use crate::solver::error::FluidError;
use crate::solver::parameter::{Parameter, ParameterKind};

/// Shown values per value: fractions are shown in percent.
fn scale<T>(parameter: &Parameter<T>) -> f64 {
    if parameter.kind == ParameterKind::Fraction { 100.0 } else { 1.0 }
}

/// The unit beside a field. A unit that depends on the dimension stays in the
/// parameter's documentation, which is shown on hovering.
pub(super) fn unit<T>(parameter: &Parameter<T>) -> String {
    match (parameter.kind, parameter.unit) {
        (ParameterKind::Fraction, _) => "%".into(),
        (_, "1") => String::new(),
        (_, unit) if unit.contains("DIM") => String::new(),
        (_, unit) => unit.replace("^2", "²"),
    }
}

/// A number without the digits that an f32 does not hold.
fn rounded(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

/// A value as its field shows it.
pub(super) fn text_of<T>(parameter: &Parameter<T>, value: f64) -> String {
    rounded(value * scale(parameter)).to_string()
}

/// The allowed values in words, as the field shows them.
pub(super) fn allowed<T>(parameter: &Parameter<T>) -> String {
    let what = if parameter.kind == ParameterKind::Count { "a whole number from " } else { "" };
    let (low, high) = (*parameter.range.start(), *parameter.range.end());
    let range = format!("{} to {}", text_of(parameter, low), text_of(parameter, high));
    format!("allowed: {what}{range} {}", unit(parameter)).trim_end().into()
}

/// The value that `text` names.
///
/// # Errors
/// The allowed values in words, if it is no number or one outside them.
pub(super) fn parse<T>(parameter: &Parameter<T>, text: &str) -> Result<f64, String> {
    let text = text.trim();
    let number = match parameter.kind {
        ParameterKind::Fraction => text.strip_suffix('%').unwrap_or(text).trim_end(),
        _ => text,
    };
    let value = number.parse::<f64>().map(|value| value / scale(parameter));
    match value {
        Ok(value) if parameter.check(value).is_ok() => Ok(value),
        _ => Err(allowed(parameter)),
    }
}

/// Sets the parameter to what `text` names, if `check` has nothing against the
/// settings with it.
///
/// # Errors
/// The allowed values in words; `settings` are what they were.
pub(super) fn commit<T: Clone>(
    parameter: &Parameter<T>,
    settings: &mut T,
    text: &str,
    check: impl Fn(&T) -> Result<(), FluidError>,
) -> Result<(), String> {
    let value = parse(parameter, text)?;
    let mut draft = settings.clone();
    parameter.set(&mut draft, value).map_err(|_| allowed(parameter))?;
    check(&draft).map_err(|error| match error {
        FluidError::Parameter { allowed, .. } => format!("allowed: {allowed}"),
        other => other.to_string(),
    })?;
    *settings = draft;
    Ok(())
}

/// The text of the value one step up or down.
pub(super) fn stepped<T>(parameter: &Parameter<T>, value: f64, direction: f64) -> String {
    text_of(parameter, value + direction * parameter.step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::settings::{DfsphSettings, FluidMaterial};

    fn dfsph(name: &str) -> &'static Parameter<DfsphSettings> {
        DfsphSettings::PARAMETERS.iter().find(|parameter| parameter.name == name).unwrap()
    }

    const NO_CHECK: fn(&DfsphSettings) -> Result<(), FluidError> = |_| Ok(());

    #[test]
    fn fractions_are_percent_on_the_panel_and_fractions_in_the_settings() {
        let error = dfsph("max_density_error");
        let mut settings = DfsphSettings::default();
        assert_eq!(text_of(error, error.get(&settings)), "0.1");
        for (text, value) in [("0.2", 0.002), (" 0.05 % ", 0.0005), ("100", 1.0), ("1e-5", 1e-7)] {
            commit(error, &mut settings, text, NO_CHECK).unwrap();
            assert_eq!(settings.max_density_error, value, "{text}");
        }
        assert_eq!(allowed(error), "allowed: 0.00001 to 100 %");
    }

    #[test]
    fn text_that_is_no_allowed_number_is_refused_and_the_old_value_stays() {
        let mut settings = DfsphSettings::default();
        for parameter in DfsphSettings::PARAMETERS {
            for bad in ["abc", "", " ", "1e9", "-1", "NaN", "inf", "-inf", "1,5", "0.1.2", "%"] {
                let message = commit(parameter, &mut settings, bad, NO_CHECK).unwrap_err();
                assert_eq!(message, allowed(parameter), "{bad}");
            }
        }
        let count = dfsph("max_density_iterations");
        assert!(commit(count, &mut settings, "2.5", NO_CHECK).is_err());
        assert_eq!(allowed(count), "allowed: a whole number from 1 to 10000");
        assert_eq!(settings, DfsphSettings::default());
        commit(count, &mut settings, "250", NO_CHECK).unwrap();
        assert_eq!(settings.max_density_iterations, 250);
    }

    #[test]
    fn a_value_that_the_whole_settings_refuse_is_not_taken() {
        let count = dfsph("max_density_iterations");
        let mut settings = DfsphSettings::default();
        let check = |_: &DfsphSettings| Err(FluidError::parameter("both", 1, "less"));
        assert_eq!(commit(count, &mut settings, "7", check), Err("allowed: less".into()));
        assert_eq!(settings, DfsphSettings::default());
    }

    #[test]
    fn every_default_is_shown_short_and_steps_by_its_step() {
        for parameter in FluidMaterial::PARAMETERS {
            let default = parameter.get(&FluidMaterial::default());
            let text = text_of(parameter, default);
            assert!(text.len() <= 6, "{text}");
            assert_eq!(parse(parameter, &text), Ok(parameter.default));
        }
        let viscosity = FluidMaterial::PARAMETERS.iter().find(|p| p.name == "viscosity").unwrap();
        assert_eq!(stepped(viscosity, f64::from(0.05f32), 1.0), "0.06");
        assert_eq!(stepped(dfsph("max_divergence_error"), 0.005, -1.0), "0.49");
    }
}
