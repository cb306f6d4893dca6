//! One declaration per parameter: its name, unit, range, default and line of
//! documentation feed the validation, the inspector and the tests.

use core::ops::RangeInclusive;

use super::error::FluidError;

/// How a panel shows and steps a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    /// A real number.
    Real,
    /// A fraction, shown in percent.
    Fraction,
    /// A whole number.
    Count,
}

/// A parameter of the settings type `T`, as declared by `parameters!`.
#[derive(Debug)]
pub struct Parameter<T: 'static> {
    /// Name of the field.
    pub name: &'static str,
    /// Line of documentation.
    pub doc: &'static str,
    /// Unit, or "1" for a plain number.
    pub unit: &'static str,
    /// Kind of number.
    pub kind: ParameterKind,
    /// Allowed values.
    pub range: RangeInclusive<f64>,
    /// Default value.
    pub default: f64,
    /// Step of an input field, in the parameter's own unit.
    pub step: f64,
    get: fn(&T) -> f64,
    set: fn(&mut T, f64),
}

impl<T> Parameter<T> {
    /// Describes a parameter; called by `parameters!`.
    #[doc(hidden)]
    pub const fn new(
        name: &'static str,
        doc: &'static str,
        unit: &'static str,
        kind: ParameterKind,
        range: RangeInclusive<f64>,
        default: f64,
        step: f64,
        get: fn(&T) -> f64,
        set: fn(&mut T, f64),
    ) -> Self {
        Self { name, doc, unit, kind, range, default, step, get, set }
    }

    /// The value in `settings`.
    pub fn get(&self, settings: &T) -> f64 {
        (self.get)(settings)
    }

    /// Sets the value in `settings`.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] if `value` is outside [`Parameter::range`]; the
    /// old value stays.
    pub fn set(&self, settings: &mut T, value: f64) -> Result<(), FluidError> {
        self.check(value)?;
        (self.set)(settings, value);
        Ok(())
    }

    /// Checks that `value` lies in the range.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] if it does not.
    pub fn check(&self, value: f64) -> Result<(), FluidError> {
        let whole = self.kind != ParameterKind::Count || value.fract() == 0.0;
        let finite = value.is_finite();
        // The ends of a range are written in decimal and compared as f32 values.
        let tolerance = 1e-6 * value.abs();
        let inside =
            value >= self.range.start() - tolerance && value <= self.range.end() + tolerance;
        if finite && whole && inside {
            Ok(())
        } else {
            Err(FluidError::parameter(self.name, value as f32, self.allowed()))
        }
    }

    /// The allowed values in words.
    pub fn allowed(&self) -> String {
        let what = match self.kind {
            ParameterKind::Count => "a whole number from ",
            _ => "",
        };
        let unit = if self.unit == "1" { String::new() } else { format!(" {}", self.unit) };
        format!("{what}{:e} to {:e}{unit}", self.range.start(), self.range.end()).replace("e0", "")
    }
}

/// A plain number that a parameter can hold.
pub trait Number: Copy {
    /// The number as f64.
    fn to_f64(self) -> f64;
    /// The nearest number to an f64.
    fn from_f64(value: f64) -> Self;
}

impl Number for f32 {
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
    fn from_f64(value: f64) -> Self {
        value as f32
    }
}

impl Number for u32 {
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
    fn from_f64(value: f64) -> Self {
        value as u32
    }
}

/// Declares a settings struct whose fields are parameters and, after them,
/// choices (an enum each): the struct, its documentation, `Default`,
/// `PARAMETERS` and `validate`.
macro_rules! parameters {
    (
        $(#[$outer:meta])*
        pub struct $name:ident {
            $(
                #[doc = $doc:literal]
                $(#[doc = $more:literal])*
                $field:ident: $type:ty = $default:literal, $kind:ident, $unit:literal, $low:literal..=$high:literal, step $step:literal;
            )*
        } $(choices {
            $(
                #[doc = $choice_doc:literal]
                $choice:ident: $choice_type:ty;
            )*
        })?
    ) => {
        $(#[$outer])*
        #[derive(Clone, Debug, PartialEq)]
        #[cfg_attr(feature = "scene", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "scene", serde(default, deny_unknown_fields))]
        #[cfg_attr(feature = "plugin", derive(bevy_reflect::Reflect))]
        pub struct $name {
            $(
                #[doc = $doc]
                $(#[doc = $more])*
                #[doc = concat!(
                    "\n\nUnit: ", $unit, "; range: ", stringify!($low), " to ", stringify!($high),
                    ", a value outside is refused; default: ", stringify!($default), ".",
                )]
                pub $field: $type,
            )*
            $($(
                #[doc = $choice_doc]
                pub $choice: $choice_type,
            )*)?
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* $($($choice: <$choice_type>::default(),)*)? }
            }
        }

        impl $name {
            /// Every parameter of this type, in the order of the fields.
            pub const PARAMETERS: &'static [$crate::solver::parameter::Parameter<Self>] = &[
                $(
                    $crate::solver::parameter::Parameter::new(
                        stringify!($field),
                        $doc,
                        $unit,
                        $crate::solver::parameter::ParameterKind::$kind,
                        $low as f64..=$high as f64,
                        $default as f64,
                        $step,
                        |settings| $crate::solver::parameter::Number::to_f64(settings.$field),
                        |settings, value| {
                            settings.$field = $crate::solver::parameter::Number::from_f64(value);
                        },
                    ),
                )*
            ];

            /// Checks every parameter against its range.
            ///
            /// # Errors
            /// [`FluidError::Parameter`]($crate::solver::error::FluidError::Parameter)
            /// for the first one outside.
            pub fn validate(&self) -> Result<(), $crate::solver::error::FluidError> {
                Self::PARAMETERS.iter().try_for_each(|parameter| parameter.check(parameter.get(self)))
            }
        }
    };
}
pub(crate) use parameters;

/// Declares a choice: an enum of plain variants, one of them marked as the default, each with its
/// name in plain words.
macro_rules! choice {
    (
        $(#[$outer:meta])*
        pub enum $name:ident { $($(#[$doc:meta])* $variant:ident = $words:literal,)* }
    ) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[cfg_attr(feature = "scene", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "plugin", derive(bevy_reflect::Reflect))]
        pub enum $name { $($(#[$doc])* $variant,)* }

        impl $name {
            /// All choices.
            pub const ALL: [Self; [$(stringify!($variant)),*].len()] = [$(Self::$variant,)*];

            /// Name in plain words.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $words,)* }
            }
        }
    };
}
pub(crate) use choice;

#[cfg(test)]
mod tests {
    parameters! {
        /// A settings type.
        pub struct Sample {
            /// A fraction.
            part: f32 = 0.25, Fraction, "1", 0.0..=1.0, step 0.01;
            /// A count.
            count: u32 = 3, Count, "1", 1..=10, step 1.0;
        }
    }

    #[test]
    fn value_outside_the_range_is_refused_and_the_old_one_stays() {
        let mut sample = Sample::default();
        let [part, count] = Sample::PARAMETERS else { panic!("two parameters") };
        for bad in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
            let error = part.set(&mut sample, bad).unwrap_err().to_string();
            assert!(error.starts_with("part is "), "{error}");
            assert!(error.ends_with("allowed is 0 to 1"), "{error}");
        }
        assert!(count.set(&mut sample, 2.5).is_err());
        assert_eq!(sample, Sample::default());
        part.set(&mut sample, 1.0).unwrap();
        count.set(&mut sample, 10.0).unwrap();
        assert_eq!(sample, Sample { part: 1.0, count: 10 });
        assert!(sample.validate().is_ok());
        assert!(Sample { part: f32::NAN, count: 1 }.validate().is_err());
    }
}
