//! Shapes to particles: volumes to fluid, surfaces to boundary samples.

mod boundary_shape;
mod fluid_shape;

pub use boundary_shape::{BoundaryShape, Fill};
pub use fluid_shape::FluidShape;

use super::error::FluidError;

/// Most samples or particles that one shape may turn into: 4 million.
pub const MAX_SAMPLES: usize = 1 << 22;

/// Checks the number of samples a shape would take, before any is made.
fn check_count(name: &str, count: f64) -> Result<usize, FluidError> {
    if count <= MAX_SAMPLES as f64 {
        Ok(count as usize)
    } else {
        Err(FluidError::parameter(
            name,
            count as f32,
            format_args!("a shape of at most {MAX_SAMPLES} samples at this particle radius"),
        ))
    }
}

/// Number of equal parts, none longer than `spacing`, of a length; at least 1.
/// A length within a thousandth of a spacing of a multiple counts as that multiple.
fn parts(length: f64, spacing: f64) -> f64 {
    (length / spacing - 1e-3).ceil().max(1.0)
}
