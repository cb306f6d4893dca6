//! The two vector types a solver can be instantiated with.

use core::fmt::Debug;
use core::ops::{Add, AddAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use bevy_math::{Vec2, Vec3};

use super::compiled::Compiled;
use super::lanes::Lanes;

mod sealed {
    pub trait Sealed {}
    impl Sealed for bevy_math::Vec2 {}
    impl Sealed for bevy_math::Vec3 {}
}

/// A position, velocity or acceleration: [`Vec2`] or [`Vec3`].
///
/// Sealed: the solvers are written once, generic over this trait, and made
/// concrete for two and three dimensions inside this crate.
pub trait Vector:
    sealed::Sealed
    + Compiled
    + Lanes
    + Copy
    + Debug
    + Default
    + PartialEq
    + Send
    + Sync
    + Add<Output = Self>
    + AddAssign
    + Sub<Output = Self>
    + SubAssign
    + Neg<Output = Self>
    + Mul<f32, Output = Self>
    + MulAssign<f32>
    + 'static
{
    /// Number of dimensions.
    const DIM: usize;

    /// The null vector.
    const ZERO: Self;

    /// Normalisation of the cubic spline kernel times h^DIM:
    /// 40/(7 pi) in 2D, 8/pi in 3D (Monaghan 1992, support radius h).
    const CUBIC_SPLINE: f32;

    /// Number of rows of three cells around a cell: 3 in 2D, 9 in 3D.
    const ROWS: usize;

    /// The vector with all components equal to `value`.
    fn splat(value: f32) -> Self;

    /// The components, with 0 for those beyond [`Vector::DIM`].
    fn to_array(self) -> [f32; 3];

    /// The vector of the first [`Vector::DIM`] components.
    fn from_array(components: [f32; 3]) -> Self;

    /// Scalar product.
    fn dot(self, other: Self) -> f32;

    /// Component-wise minimum.
    fn min(self, other: Self) -> Self;

    /// Component-wise maximum.
    fn max(self, other: Self) -> Self;

    /// Squared Euclidean length.
    fn length_squared(self) -> f32 {
        self.dot(self)
    }

    /// Euclidean length.
    fn length(self) -> f32 {
        self.length_squared().sqrt()
    }

    /// True if every component is finite.
    fn is_finite(self) -> bool;

    /// A unit vector that is a pure function of `seed`, spread over all directions.
    fn direction(seed: u32) -> Self;
}

/// A well-mixed number in [0, 1) from `seed` (the finaliser of MurmurHash3).
fn unit_interval(seed: u32) -> f32 {
    let mut h = seed;
    h ^= h >> 16;
    h = h.wrapping_mul(0x85eb_ca6b);
    h ^= h >> 13;
    h = h.wrapping_mul(0xc2b2_ae35);
    h ^= h >> 16;
    (h >> 8) as f32 / (1u32 << 24) as f32
}

impl Vector for Vec2 {
    const DIM: usize = 2;
    const ZERO: Self = Vec2::ZERO;
    const CUBIC_SPLINE: f32 = 40.0 / (7.0 * core::f32::consts::PI);
    const ROWS: usize = 3;

    #[inline]
    fn splat(value: f32) -> Self {
        Vec2::splat(value)
    }
    #[inline]
    fn to_array(self) -> [f32; 3] {
        [self.x, self.y, 0.0]
    }
    #[inline]
    fn from_array(c: [f32; 3]) -> Self {
        Vec2::new(c[0], c[1])
    }
    #[inline(always)]
    fn dot(self, other: Self) -> f32 {
        Vec2::dot(self, other)
    }
    #[inline]
    fn min(self, other: Self) -> Self {
        Vec2::min(self, other)
    }
    #[inline]
    fn max(self, other: Self) -> Self {
        Vec2::max(self, other)
    }
    #[inline]
    fn is_finite(self) -> bool {
        Vec2::is_finite(self)
    }
    fn direction(seed: u32) -> Self {
        Vec2::from_angle(unit_interval(seed) * core::f32::consts::TAU)
    }
}

impl Vector for Vec3 {
    const DIM: usize = 3;
    const ZERO: Self = Vec3::ZERO;
    const CUBIC_SPLINE: f32 = 8.0 / core::f32::consts::PI;
    const ROWS: usize = 9;

    #[inline]
    fn splat(value: f32) -> Self {
        Vec3::splat(value)
    }
    #[inline]
    fn to_array(self) -> [f32; 3] {
        [self.x, self.y, self.z]
    }
    #[inline]
    fn from_array(c: [f32; 3]) -> Self {
        Vec3::new(c[0], c[1], c[2])
    }
    #[inline(always)]
    fn dot(self, other: Self) -> f32 {
        Vec3::dot(self, other)
    }
    #[inline]
    fn min(self, other: Self) -> Self {
        Vec3::min(self, other)
    }
    #[inline]
    fn max(self, other: Self) -> Self {
        Vec3::max(self, other)
    }
    #[inline]
    fn is_finite(self) -> bool {
        Vec3::is_finite(self)
    }
    fn direction(seed: u32) -> Self {
        let z = 2.0 * unit_interval(seed) - 1.0;
        let ring = (1.0 - z * z).max(0.0).sqrt();
        let (sin, cos) = (unit_interval(seed ^ 0x9e37_79b9) * core::f32::consts::TAU).sin_cos();
        Vec3::new(ring * cos, ring * sin, z)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_have_unit_length_and_no_preferred_side() {
        let mut mean = Vec3::ZERO;
        for seed in 0..4000 {
            assert!((Vector::length(<Vec2 as Vector>::direction(seed)) - 1.0).abs() < 1e-5);
            let d = <Vec3 as Vector>::direction(seed);
            assert!((Vector::length(d) - 1.0).abs() < 1e-5);
            mean += d / 4000.0;
        }
        assert!(Vector::length(mean) < 0.05, "{mean}");
    }
}
