//! Solids that a cloth lies on and slides over.

use bevy_math::{Quat, Vec2, Vec3};

use super::ibds::Particles;
use super::kernels::Components;
use super::plan::vector;
use crate::solver::error::FluidError;
use crate::solver::sampling::{BoundaryShape, Fill};
use crate::solver::vector::Vector;

/// A solid around its own origin.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "scene", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "plugin", derive(bevy_reflect::Reflect))]
pub enum ColliderShape<V> {
    /// A circle or sphere.
    Ball {
        /// Radius in metres, positive.
        radius: f32,
    },
    /// All points within a distance of a line along the y axis.
    Capsule {
        /// Half the length of the line in metres, 0 or more.
        half_length: f32,
        /// The distance in metres, positive.
        radius: f32,
    },
    /// A rectangle or cuboid along the axes.
    Box {
        /// Half the extent along each axis in metres, positive.
        half_size: V,
    },
    /// Everything below the origin, against the y axis.
    Plane,
    /// What lies behind all of several planes, at least one.
    Convex(Vec<HalfSpace<V>>),
}

impl<V: Vector> ColliderShape<V> {
    /// A boundary of water as cloth meets it: a solid box, ball or half-space, or
    /// nothing where it is hollow or of another shape.
    pub fn of_solid(shape: &BoundaryShape<V>) -> Option<Self> {
        match *shape {
            BoundaryShape::Box { half_size, fill: Fill::Solid } => Some(Self::Box { half_size }),
            BoundaryShape::Ball { radius, fill: Fill::Solid } => Some(Self::Ball { radius }),
            BoundaryShape::HalfSpace { normal } => {
                let normal = normal * (1.0 / normal.length());
                Some(Self::Convex(vec![HalfSpace { normal, offset: 0.0 }]))
            }
            _ => None,
        }
    }
}

/// The points x with normal.x <= offset.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "scene", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "plugin", derive(bevy_reflect::Reflect))]
pub struct HalfSpace<V> {
    /// Outward normal, of length 1.
    pub normal: V,
    /// Distance of the plane from the origin along the normal, in metres.
    pub offset: f32,
}

/// A solid in the world.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "scene", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "plugin", derive(bevy_reflect::Reflect))]
pub struct Collider<V> {
    /// Its shape around its own origin.
    pub shape: ColliderShape<V>,
    /// Where that origin is at the end of the step, in metres.
    pub position: V,
    /// Directions of its own axes in the world, as many as there are
    /// dimensions, of length 1 and at right angles.
    pub axes: [V; 3],
    /// Velocity of the origin in m/s; friction takes the cloth along.
    pub velocity: V,
    /// Angular velocity in rad/s, around z in the plane.
    pub angular_velocity: [f32; 3],
}

impl<V: Vector> Collider<V> {
    /// A solid at rest, its axes along the world's.
    pub fn new(shape: ColliderShape<V>, position: V) -> Self {
        let axis = |k: usize| V::from_array(core::array::from_fn(|i| f32::from(i == k)));
        Self {
            shape,
            position,
            axes: [axis(0), axis(1), if V::DIM == 3 { axis(2) } else { V::ZERO }],
            velocity: V::ZERO,
            angular_velocity: [0.0; 3],
        }
    }

    /// Checks every value against its range.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for the first one outside.
    pub fn validate(&self) -> Result<(), FluidError> {
        let refuse = |name: &str, value: &dyn core::fmt::Debug, allowed: &str| {
            Err(FluidError::parameter(name, value, allowed))
        };
        let positive = |value: f32| value > 0.0 && value.is_finite();
        for (name, value) in [("position", self.position), ("velocity", self.velocity)] {
            if !value.is_finite() {
                return refuse(name, &value, "finite components");
            }
        }
        if !self.angular_velocity.iter().all(|value| value.is_finite()) {
            return refuse("angular_velocity", &self.angular_velocity, "finite components, rad/s");
        }
        for (i, &axis) in self.axes[..V::DIM].iter().enumerate() {
            for (j, &other) in self.axes[..V::DIM].iter().enumerate() {
                let expected = f32::from(i == j);
                let right = (axis.dot(other) - expected).abs() < 1e-3;
                if !right {
                    return refuse("axes", &self.axes, "unit vectors at right angles");
                }
            }
        }
        match &self.shape {
            ColliderShape::Ball { radius } | ColliderShape::Capsule { radius, .. }
                if !positive(*radius) =>
            {
                refuse("radius", radius, "above 0 m")
            }
            ColliderShape::Capsule { half_length, .. }
                if !(*half_length >= 0.0 && half_length.is_finite()) =>
            {
                refuse("half_length", half_length, "0 m or more")
            }
            ColliderShape::Box { half_size }
                if !half_size.to_array()[..V::DIM].iter().all(|&half| positive(half)) =>
            {
                refuse("half_size", half_size, "above 0 m along each axis")
            }
            ColliderShape::Convex(planes)
                if planes.is_empty()
                    || planes.iter().any(|plane| {
                        !((plane.normal.length() - 1.0).abs() < 1e-3 && plane.offset.is_finite())
                    }) =>
            {
                refuse("planes", planes, "one or more, with normals of length 1")
            }
            _ => Ok(()),
        }
    }

    /// Distance of a point of the solid's own space from its surface, negative
    /// inside, and the direction away from it.
    pub(super) fn distance(&self, p: V) -> (f32, V) {
        let unit = |v: V, length: f32| if length > 0.0 { v * (1.0 / length) } else { up() };
        match &self.shape {
            ColliderShape::Ball { radius } => {
                let length = p.length();
                (length - radius, unit(p, length))
            }
            ColliderShape::Capsule { half_length, radius } => {
                let [x, y, z] = p.to_array();
                let along = y.clamp(-half_length, *half_length);
                let apart = V::from_array([x, y - along, z]);
                let length = apart.length();
                let side = || V::from_array([1.0, 0.0, 0.0]);
                (length - radius, if length > 0.0 { apart * (1.0 / length) } else { side() })
            }
            ColliderShape::Box { half_size } => {
                let (p, half) = (p.to_array(), half_size.to_array());
                let beyond: [f32; 3] = core::array::from_fn(|k| p[k].abs() - half[k]);
                let outside: [f32; 3] =
                    core::array::from_fn(|k| beyond[k].max(0.0) * p[k].signum());
                let apart = V::from_array(outside);
                let length = apart.length();
                if length > 0.0 {
                    return (length, apart * (1.0 / length));
                }
                let nearest =
                    (1..V::DIM).fold(0, |best, k| if beyond[k] > beyond[best] { k } else { best });
                let mut normal = [0.0; 3];
                normal[nearest] = p[nearest].signum();
                (beyond[nearest], V::from_array(normal))
            }
            ColliderShape::Plane => (p.to_array()[1], up()),
            ColliderShape::Convex(planes) => {
                planes.iter().fold((f32::MIN, up()), |(distance, normal), plane| {
                    let own = plane.normal.dot(p) - plane.offset;
                    if own > distance { (own, plane.normal) } else { (distance, normal) }
                })
            }
        }
    }

    /// Where the origin is at the end of the substep.
    pub(super) fn origin(&self, contact: Contact) -> V {
        self.position - self.velocity * contact.left
    }

    /// A vector in the solid's own axes.
    #[inline(always)]
    pub(super) fn to_local(&self, arm: V) -> V {
        let component = |k: usize| if k < V::DIM { arm.dot(self.axes[k]) } else { 0.0 };
        V::from_array(core::array::from_fn(component))
    }

    /// What keeps a point out that gets to `end` by the displacement `u`.
    #[inline(always)]
    pub(super) fn push(&self, end: V, u: V, contact: Contact) -> Option<Push<V>> {
        let arm = end - self.origin(contact);
        let (distance, normal) = self.distance(self.to_local(arm));
        let depth = contact.thickness - distance;
        if depth <= 0.0 {
            return None;
        }
        let mut n = V::ZERO;
        for (&axis, component) in self.axes[..V::DIM].iter().zip(normal.to_array()) {
            n += axis * component;
        }
        let relative = u - self.velocity_at(arm) * contact.h;
        let approach = -relative.dot(n);
        let stopped = depth.min(approach.max(0.0));
        let along = relative + n * approach;
        let slip = along.length();
        let held = (contact.friction * stopped).min(slip);
        let rubbed = if slip > 0.0 { along * (held / slip) } else { V::ZERO };
        Some(Push { shift: n * (depth - stopped), change: n * stopped - rubbed })
    }

    /// Radius around the origin that holds the solid, where there is one.
    fn reach(&self) -> Option<f32> {
        match &self.shape {
            ColliderShape::Ball { radius } => Some(*radius),
            ColliderShape::Capsule { half_length, radius } => Some(half_length + radius),
            ColliderShape::Box { half_size } => Some(half_size.length()),
            ColliderShape::Plane | ColliderShape::Convex(_) => None,
        }
    }

    /// Velocity in m/s at `arm` from the origin.
    fn velocity_at(&self, arm: V) -> V {
        let ([wx, wy, wz], [x, y, z]) = (self.angular_velocity, arm.to_array());
        if V::DIM == 2 {
            return self.velocity + V::from_array([-wz * y, wz * x, 0.0]);
        }
        self.velocity + V::from_array([wy * z - wz * y, wz * x - wx * z, wx * y - wy * x])
    }
}

impl Collider<Vec2> {
    /// The solid turned by `angle` radians, counter-clockwise.
    #[must_use]
    pub fn rotated(mut self, angle: f32) -> Self {
        self.axes = self.axes.map(|axis| Vec2::from_angle(angle).rotate(axis));
        self
    }
}

impl Collider<Vec3> {
    /// The solid turned by a unit quaternion.
    #[must_use]
    pub fn rotated(mut self, rotation: Quat) -> Self {
        self.axes = self.axes.map(|axis| rotation * axis);
        self
    }
}

fn up<V: Vector>() -> V {
    V::from_array([0.0, 1.0, 0.0])
}

/// Particles in either layout.
pub(super) trait Body<V> {
    fn count(&self) -> usize;
    fn position(&self, index: usize) -> V;
    fn displacement(&self, index: usize) -> V;
    fn inverse_mass(&self, index: usize) -> f32;
    fn displace(&mut self, index: usize, change: V);
    fn set(&mut self, index: usize, position: V, displacement: V);
}

impl<V: Vector> Body<V> for Components {
    fn count(&self) -> usize {
        self.w.len()
    }
    #[inline(always)]
    fn position(&self, index: usize) -> V {
        vector(&self.x, index)
    }
    #[inline(always)]
    fn displacement(&self, index: usize) -> V {
        vector(&self.u, index)
    }
    #[inline(always)]
    fn inverse_mass(&self, index: usize) -> f32 {
        self.w[index]
    }
    #[inline(always)]
    fn displace(&mut self, index: usize, change: V) {
        for (u, change) in self.u[..V::DIM].iter_mut().zip(change.to_array()) {
            u[index] += change;
        }
    }
    #[inline(always)]
    fn set(&mut self, index: usize, position: V, displacement: V) {
        let (x, u) = (position.to_array(), displacement.to_array());
        for k in 0..V::DIM {
            self.x[k][index] = x[k];
            self.u[k][index] = u[k];
        }
    }
}

impl<V: Vector> Body<V> for Particles<V> {
    fn count(&self) -> usize {
        self.w.len()
    }
    fn position(&self, index: usize) -> V {
        self.x[index]
    }
    fn displacement(&self, index: usize) -> V {
        self.u[index]
    }
    fn inverse_mass(&self, index: usize) -> f32 {
        self.w[index]
    }
    fn displace(&mut self, index: usize, change: V) {
        self.u[index] += change;
    }
    fn set(&mut self, index: usize, position: V, displacement: V) {
        self.x[index] = position;
        self.u[index] = displacement;
    }
}

/// How a cloth and a collider touch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contact {
    /// Distance kept in metres.
    pub thickness: f32,
    /// Coefficient of Coulomb friction.
    pub friction: f32,
    /// Length of the substep in seconds.
    pub h: f32,
    /// Time from its end to the end of the step in seconds.
    pub left: f32,
}

/// What a collider does to a point.
pub(super) struct Push<V> {
    /// Change of its position without speed, in metres.
    pub shift: V,
    /// Change of its displacement in metres.
    pub change: V,
}

/// Keeps the ends of all displacements out of `collider`, with friction.
///
/// A displacement into it is stopped; what was inside before is moved out
/// without gaining speed. Returns whether the two are near each other.
pub(super) fn collide<V: Vector>(
    body: &mut impl Body<V>,
    collider: &Collider<V>,
    contact: Contact,
    (center, radius): (V, f32),
) -> bool {
    let origin = collider.origin(contact);
    if let Some(reach) = collider.reach()
        && (center - origin).length() > reach + radius + contact.thickness
    {
        return false;
    }
    for index in 0..body.count() {
        if body.inverse_mass(index) == 0.0 {
            continue;
        }
        let (x, u) = (body.position(index), body.displacement(index));
        if let Some(push) = collider.push(x + u, u, contact) {
            body.set(index, x + push.shift, u + push.change);
        }
    }
    true
}
