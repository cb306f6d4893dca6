//! The smoothing kernel.

use core::marker::PhantomData;

use super::vector::Vector;
use super::wide::{Eight, Machine};

/// Distance, as a fraction of the support radius, that a coincident pair of
/// particles is treated as having, so that pressure can drive it apart.
const COINCIDENT_DISTANCE: f32 = 0.05;

/// Squared distance in support radii below which a pair counts as coincident: a
/// thousandth of a spacing.
const COINCIDENT_SQUARED: f32 = 2.5e-7;

/// Squared reach of a neighbour search in support radii.
///
/// Slightly above 1, so that lattice neighbours at exactly the support radius
/// count as neighbours whichever way their distance rounds.
pub const REACH_SQUARED: f32 = 1.0 + 1e-4;

/// Cubic spline kernel with compact support (Monaghan 1992, in the form of
/// Bender & Koschier 2015), normalised to an integral of 1 over the plane or space.
///
/// With q = |x|/h: W = k (6q³ - 6q² + 1) for q <= 1/2, 2k (1 - q)³ for q <= 1, else 0,
/// k = 40/(7 pi h²) in 2D and 8/(pi h³) in 3D. Unit: 1/m² or 1/m³.
#[derive(Debug, Clone, Copy)]
pub struct CubicSpline<V> {
    support_radius: f32,
    inverse_support: f32,
    scale: f32,
    dimension: PhantomData<V>,
}

impl<V: Vector> CubicSpline<V> {
    /// The kernel of a support radius in metres, which must be positive and finite.
    pub fn new(support_radius: f32) -> Self {
        let inverse_support = 1.0 / support_radius;
        Self {
            support_radius,
            inverse_support,
            scale: V::CUBIC_SPLINE * inverse_support.powi(V::DIM as i32),
            dimension: PhantomData,
        }
    }

    /// The kernel times a factor.
    #[inline(always)]
    pub(crate) fn times(&self, factor: f32) -> Self {
        Self { scale: self.scale * factor, ..*self }
    }

    /// Support radius h in metres: the kernel is zero beyond it.
    pub fn support_radius(&self) -> f32 {
        self.support_radius
    }

    /// W at distance zero.
    pub fn center(&self) -> f32 {
        self.scale
    }

    /// W at a squared distance in m².
    #[inline(always)]
    pub fn value(&self, distance_squared: f32) -> f32 {
        let q = distance_squared.sqrt() * self.inverse_support;
        // Branch-free: 2(1 - q)³ everywhere, corrected by -8(1/2 - q)³ inside.
        let outer = (1.0 - q).max(0.0);
        let inner = (0.5 - q).max(0.0);
        self.scale * (2.0 * outer * outer * outer - 8.0 * inner * inner * inner)
    }

    /// grad W at an offset in metres; zero at offset zero.
    #[inline(always)]
    pub fn gradient(&self, offset: V) -> V {
        // grad q = x/(|x| h); the slope vanishes at 0 as the distance does.
        offset * self.factor(offset.length_squared())
    }

    /// The kernel for eight distances at a time.
    #[inline(always)]
    pub(crate) fn wide<M: Machine>(&self, machine: M) -> WideKernel<M> {
        WideKernel {
            inverse_support: machine.splat(self.inverse_support),
            outer_value: machine.splat(2.0 * self.scale),
            inner_value: machine.splat(8.0 * self.scale),
            outer_slope: machine.splat(6.0 * self.scale * self.inverse_support),
            inner_slope: machine.splat(24.0 * self.scale * self.inverse_support),
            zero: machine.splat(0.0),
            half: machine.splat(0.5),
            one: machine.splat(1.0),
            least: machine.splat(f32::MIN_POSITIVE),
        }
    }

    /// The factor that makes grad W of an offset, by its squared length in m²;
    /// zero at distance zero.
    #[inline(always)]
    pub(crate) fn factor(&self, distance_squared: f32) -> f32 {
        let distance = distance_squared.sqrt();
        let slope = self.slope(distance * self.inverse_support);
        slope * self.inverse_support / distance.max(f32::MIN_POSITIVE)
    }

    /// Whether a pair at a squared distance in m² counts as being at one point.
    #[inline(always)]
    pub fn is_coincident(&self, distance_squared: f32) -> bool {
        distance_squared * self.inverse_support * self.inverse_support <= COINCIDENT_SQUARED
    }

    /// grad W of the pair (i, j) at offset x_i - x_j in metres, see
    /// [`CubicSpline::coincident_gradient`] for a pair at one point.
    #[inline(always)]
    pub fn pair_gradient(&self, offset: V, id: u32, other: u32) -> V {
        if self.is_coincident(offset.length_squared()) {
            self.coincident_gradient(id, other)
        } else {
            self.gradient(offset)
        }
    }

    /// grad W of a pair at one point: a direction from its two ids, opposite
    /// for (j, i), and a slope as if it were a twentieth of a support radius apart.
    pub fn coincident_gradient(&self, id: u32, other: u32) -> V {
        let (low, high) = (id.min(other), id.max(other));
        let seed = low.wrapping_mul(0x9e37_79b1) ^ high.wrapping_mul(0x85eb_ca77);
        let sign = if id < other { 1.0 } else { -1.0 };
        let slope = self.slope(COINCIDENT_DISTANCE) * self.inverse_support;
        V::direction(seed) * (sign * slope)
    }

    /// dW/dq.
    #[inline(always)]
    fn slope(&self, q: f32) -> f32 {
        let outer = (1.0 - q).max(0.0);
        let inner = (0.5 - q).max(0.0);
        self.scale * (24.0 * inner * inner - 6.0 * outer * outer)
    }
}

/// A [`CubicSpline`] with its constants spread over eight lanes.
pub(crate) struct WideKernel<M: Machine> {
    inverse_support: M::Eight,
    outer_value: M::Eight,
    inner_value: M::Eight,
    outer_slope: M::Eight,
    inner_slope: M::Eight,
    zero: M::Eight,
    half: M::Eight,
    one: M::Eight,
    least: M::Eight,
}

impl<M: Machine> WideKernel<M> {
    /// W and dW/dr at squared distances in m², and the factors that make grad W
    /// of the offsets: (dW/dr)/r, which is zero at distance zero.
    #[inline(always)]
    pub(crate) fn evaluate(&self, distances_squared: M::Eight) -> [M::Eight; 3] {
        let distances = distances_squared.sqrt();
        let q = distances * self.inverse_support;
        let outer = (self.one - q).max(self.zero);
        let inner = (self.half - q).max(self.zero);
        let (outer2, inner2) = (outer * outer, inner * inner);
        let values = outer2 * outer * self.outer_value - inner2 * inner * self.inner_value;
        let slopes = inner2 * self.inner_slope - outer2 * self.outer_slope;
        [values, slopes, slopes / distances.max(self.least)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy_math::{Vec2, Vec3};

    /// The definition, piece by piece, in f64.
    fn by_definition(k: f64, q: f64) -> f64 {
        if q <= 0.5 {
            k * (6.0 * q.powi(3) - 6.0 * q * q + 1.0)
        } else if q <= 1.0 {
            2.0 * k * (1.0 - q).powi(3)
        } else {
            0.0
        }
    }

    #[test]
    fn value_follows_the_definition() {
        let h = 0.1f32;
        let kernel = CubicSpline::<Vec2>::new(h);
        let k = 40.0 / (7.0 * core::f64::consts::PI * 0.01);
        for step in 0..120 {
            let q = step as f64 / 100.0;
            let r = q as f32 * h;
            let expected = by_definition(k, q);
            assert!((f64::from(kernel.value(r * r)) - expected).abs() < 2e-6 * k, "q = {q}");
        }
    }

    #[test]
    fn integral_is_one_in_2d_and_3d() {
        let h = 0.7f32;
        let (flat, solid) = (CubicSpline::<Vec2>::new(h), CubicSpline::<Vec3>::new(h));
        let n = 20_000;
        let dr = f64::from(h) / f64::from(n);
        let (mut area, mut volume) = (0.0f64, 0.0f64);
        for step in 0..n {
            let r = (f64::from(step) + 0.5) * dr;
            let r2 = (r * r) as f32;
            area += f64::from(flat.value(r2)) * core::f64::consts::TAU * r * dr;
            volume += f64::from(solid.value(r2)) * 4.0 * core::f64::consts::PI * r * r * dr;
        }
        assert!((area - 1.0).abs() < 1e-5, "{area}");
        assert!((volume - 1.0).abs() < 1e-5, "{volume}");
    }

    #[test]
    fn gradient_is_the_derivative_of_the_value() {
        fn check<V: Vector>(direction: V) {
            let h = 0.4f32;
            let kernel = CubicSpline::<V>::new(h);
            let unit = direction * (1.0 / direction.length());
            for step in 1..48 {
                let r = h * step as f32 / 50.0;
                let e = 2e-3 * h;
                let difference =
                    (kernel.value((r + e).powi(2)) - kernel.value((r - e).powi(2))) / (2.0 * e);
                let along = kernel.gradient(unit * r).dot(unit);
                assert!(
                    (along - difference).abs() < 2e-3 * kernel.center() / h,
                    "r = {r}: {along} against {difference}"
                );
            }
        }
        check(Vec2::new(0.6, -0.8));
        check(Vec3::new(1.0, 2.0, -2.0));
    }

    #[test]
    fn coincident_pair_is_pushed_in_opposite_directions() {
        let kernel = CubicSpline::<Vec3>::new(0.1);
        let there = kernel.pair_gradient(Vec3::ZERO, 3, 8);
        let back = kernel.pair_gradient(Vec3::ZERO, 8, 3);
        assert!(Vector::length(there) > 0.0);
        assert_eq!(there, -back);
        assert_ne!(there, kernel.pair_gradient(Vec3::ZERO, 3, 9));
    }

    #[test]
    fn gradient_is_zero_outside_and_at_the_center() {
        let kernel = CubicSpline::<Vec2>::new(0.1);
        assert_eq!(kernel.gradient(Vec2::ZERO), Vec2::ZERO);
        assert_eq!(Vector::length(kernel.gradient(Vec2::new(0.1001, 0.0))), 0.0);
        assert_eq!(kernel.value(0.02), 0.0);
    }
}
