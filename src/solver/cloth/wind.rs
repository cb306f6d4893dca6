//! Drag and lift of the air.

use super::ClothSettings;
use crate::solver::vector::Vector;

/// Changes velocities by the air's impulses on triangles, or in the plane on
/// edges, in a step of `dt` seconds.
///
/// F = rho A/2 |v.n| ((c_d - c_l) v + c_l |v| n) with the relative velocity v
/// of the air and the normal n on the lee side. The step is implicit: an impulse
/// never exceeds the one that takes the face along with the air, so that no
/// wind makes a cloth unstable.
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

    /// Change in m/s of a face of mass `mass` that moves with `velocity` in air
    /// that moves with `air` beside the wind; its `normal` is as long as its area
    /// is large, to either side.
    #[inline(always)]
    pub fn change(&self, air: V, velocity: V, normal: V, mass: f32) -> V {
        let v = self.wind + air - velocity;
        let (area, speed) = (normal.length(), v.length());
        if area == 0.0 || speed == 0.0 {
            return V::ZERO;
        }
        let part = 1.0 / (area * speed);
        let signed = v.dot(normal) * part;
        let facing = signed.abs();
        // |F|/m over the squared speed, along v and along the normal.
        let rate = 0.5 * self.density * area * self.dt / mass;
        let along = v * ((self.drag - self.lift).max(0.0) * facing);
        let across = normal * (self.lift * signed * speed * (part * speed));
        let shape = along + across;
        // The implicit step of dv/dt = rate |v| shape.
        shape * (rate * speed / (1.0 + rate * shape.length()))
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
