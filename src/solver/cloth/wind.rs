//! Drag and lift of the air.

use super::ClothSettings;
use crate::solver::vector::Vector;

/// Changes velocities by the air's impulses on triangles, or in the plane on
/// edges, in a step of `dt` seconds.
///
/// F = rho A/2 ((c_d - c_l)(v.n) v + c_l |v|² n) with the relative velocity v
/// of the air and the normal n on its side, after Wilson et al. (2014). An
/// impulse never exceeds the one that takes the face along with the air, so
/// that no wind makes a cloth unstable.
pub(super) struct Air<V> {
    pub wind: V,
    pub dt: f32,
    pub density: f32,
    pub drag: f32,
    pub lift: f32,
}

impl<V: Vector> Air<V> {
    pub fn new(settings: &ClothSettings, wind: V, dt: f32) -> Self {
        let ClothSettings { air_density: density, drag, lift, .. } = *settings;
        Self { wind, dt, density, drag, lift }
    }

    /// Impulse in N s on a face of mass `mass` that moves with `velocity`; its
    /// `normal` is as long as its area is large, either side.
    #[inline(always)]
    pub fn impulse(&self, velocity: V, normal: V, mass: f32) -> V {
        let v = self.wind - velocity;
        let (area, speed) = (normal.length(), v.length());
        if area == 0.0 || speed == 0.0 {
            return V::ZERO;
        }
        let n = normal * (1.0 / area);
        // Of length 1, so that no square can overflow.
        let to = v * (1.0 / speed);
        let facing = to.dot(n);
        let n = if facing < 0.0 { -n } else { n };
        let facing = facing.abs();
        let shape = to * ((self.drag - self.lift).max(0.0) * facing) + n * (self.lift * facing);
        let rate = 0.5 * self.density * area * speed * self.dt / mass;
        // The implicit step of dv/dt = -rate v.
        shape * (mass * speed * (rate / (1.0 + rate * shape.length())))
    }

    /// Whether the air does anything.
    pub fn acts(&self) -> bool {
        self.density > 0.0 && (self.drag > 0.0 || self.lift > 0.0)
    }
}

/// The cross product of two edges halved: in the plane, with `edge` alone, its
/// normal, as long as the edge.
#[inline(always)]
pub(super) fn area_vector<V: Vector>(edge: V, other: V) -> V {
    let ([x, y, z], [a, b, c]) = (edge.to_array(), other.to_array());
    if V::DIM == 2 {
        return V::from_array([-y, x, 0.0]);
    }
    V::from_array([0.5 * (y * c - z * b), 0.5 * (z * a - x * c), 0.5 * (x * b - y * a)])
}
