//! Walls and obstacles.

use bevy::math::primitives::{Circle, Cuboid, Rectangle, Sphere};
use bevy::prelude::*;
use bevy::transform::helper::TransformHelper;

use crate::dimension::Dimension;
use crate::fluid::FluidRefused;
use crate::plugin::FluidWorldOf;
use crate::settings::SettingsInForce;
use crate::solver::half_space::BoundaryPlane;
use crate::solver::sampling::{BoundaryShape, Fill};
use crate::time::Fluid;

/// A wall or an obstacle: a shape that is turned into samples at the particle
/// spacing. Spelt [`Boundary2d`](crate::Boundary2d) or [`Boundary3d`](crate::Boundary3d).
///
/// The entity's [`Transform`] places it in the world and may change at any
/// time: the fluid is pushed and dragged by the velocity that follows, unless a
/// sample jumps farther than sixteen support radii in a tick. A scale moves the
/// samples apart; wider than the particle spacing they leak. A half-space has no
/// samples, and is put where its transform says without pushing the fluid. An
/// impossible shape is refused with a [`FluidRefused`] message and has no samples.
#[derive(Component, Clone, Debug, PartialEq, Reflect)]
#[reflect(Component)]
#[require(Transform)]
pub struct BoundaryOf<V: Dimension> {
    shape: BoundaryShape<V>,
    /// Velocity of the surface along itself in m/s, in the boundary's own
    /// space: that of a conveyor belt. It drags fluid as its `boundary_viscosity`
    /// says. One that is not finite counts as zero.
    pub surface_velocity: V,
    samples: Vec<V>,
    /// Spacing that the samples were made for; 0 before the first time.
    spacing: f32,
}

/// A primitive of Bevy that can be a boundary in one dimension.
pub trait BoundaryPrimitive<V> {
    /// The primitive as a boundary shape.
    fn boundary_shape(&self, fill: Fill) -> BoundaryShape<V>;
}

impl BoundaryPrimitive<Vec2> for Rectangle {
    fn boundary_shape(&self, fill: Fill) -> BoundaryShape<Vec2> {
        BoundaryShape::Box { half_size: self.half_size, fill }
    }
}

impl BoundaryPrimitive<Vec2> for Circle {
    fn boundary_shape(&self, fill: Fill) -> BoundaryShape<Vec2> {
        BoundaryShape::Ball { radius: self.radius, fill }
    }
}

impl BoundaryPrimitive<Vec3> for Cuboid {
    fn boundary_shape(&self, fill: Fill) -> BoundaryShape<Vec3> {
        BoundaryShape::Box { half_size: self.half_size, fill }
    }
}

impl BoundaryPrimitive<Vec3> for Sphere {
    fn boundary_shape(&self, fill: Fill) -> BoundaryShape<Vec3> {
        BoundaryShape::Ball { radius: self.radius, fill }
    }
}

impl<V: Dimension> BoundaryOf<V> {
    /// A boundary of any shape.
    pub fn new(shape: BoundaryShape<V>) -> Self {
        Self { shape, surface_velocity: V::ZERO, samples: Vec::new(), spacing: 0.0 }
    }

    /// The same with a surface that moves along itself, in m/s.
    #[must_use]
    pub fn with_surface_velocity(self, surface_velocity: V) -> Self {
        Self { surface_velocity, ..self }
    }

    /// An obstacle: fluid stays outside of the primitive.
    pub fn solid(primitive: impl BoundaryPrimitive<V>) -> Self {
        Self::new(primitive.boundary_shape(Fill::Solid))
    }

    /// A vessel: one layer of samples, fluid may be inside the primitive.
    pub fn container(primitive: impl BoundaryPrimitive<V>) -> Self {
        Self::new(primitive.boundary_shape(Fill::Container))
    }

    /// A line through points in metres, joined to a ring if `closed`.
    pub fn polyline(points: impl IntoIterator<Item = V>, closed: bool) -> Self {
        Self::new(BoundaryShape::Polyline { points: points.into_iter().collect(), closed })
    }

    /// Samples at given points in metres.
    pub fn points(points: impl IntoIterator<Item = V>) -> Self {
        Self::new(BoundaryShape::Points(points.into_iter().collect()))
    }

    /// Everything behind a plane through the origin, against the normal: a floor
    /// without end.
    pub fn half_space(normal: V) -> Self {
        Self::new(BoundaryShape::HalfSpace { normal })
    }

    /// The shape it was made from.
    pub fn shape(&self) -> &BoundaryShape<V> {
        &self.shape
    }

    /// Replaces the shape; its samples follow at the next tick.
    pub fn set_shape(&mut self, shape: BoundaryShape<V>) {
        self.shape = shape;
        self.spacing = 0.0;
    }

    /// Samples in the boundary's own space, in metres; empty before the first tick.
    pub fn samples(&self) -> &[V] {
        &self.samples
    }

    /// Samples in the boundary's own space, in metres, to be moved. They stay
    /// where they were put until the shape or the particle radius changes. One
    /// that is not finite counts as absent.
    pub fn samples_mut(&mut self) -> &mut [V] {
        &mut self.samples
    }
}

/// Samples the boundaries of one dimension and hands them to its world.
pub(crate) fn gather<V: Dimension>(
    mut world: ResMut<FluidWorldOf<V>>,
    clock: Res<Time<Fluid>>,
    settings: Res<SettingsInForce>,
    mut boundaries: Query<(Entity, &mut BoundaryOf<V>)>,
    transforms: TransformHelper,
    mut order: Local<Vec<Entity>>,
    mut last_order: Local<Vec<Entity>>,
    mut samples: Local<Vec<V>>,
    mut surface: Local<Vec<V>>,
    mut planes: Local<Vec<BoundaryPlane<V>>>,
    mut refused: MessageWriter<FluidRefused>,
) {
    let spacing = 2.0 * V::particle_radius(&settings);
    order.clear();
    let mut anew = false;
    for (entity, mut boundary) in &mut boundaries {
        order.push(entity);
        if boundary.spacing == spacing {
            continue;
        }
        boundary.spacing = spacing;
        anew = true;
        match boundary.shape.samples(spacing) {
            Ok(made) => boundary.samples = made,
            Err(error) => {
                boundary.samples.clear();
                warn!("boundary {entity} has no samples: {error}");
                refused.write(FluidRefused { entity: Some(entity), error });
            }
        }
    }
    order.sort_unstable();
    if anew || *order != *last_order {
        // Samples of other boundaries do not move to the places of these.
        last_order.clear();
    }
    let steps = clock.context().due();
    if steps == 0 {
        return;
    }
    samples.clear();
    surface.clear();
    planes.clear();
    for (entity, boundary) in boundaries.iter_many(&*order) {
        // The global transform in the fixed schedules is that of the last frame.
        let transform = transforms.compute_global_transform(entity).unwrap_or_default();
        let places = boundary.samples.iter().map(|sample| sample.transform(&transform));
        samples.extend(places.filter(|place| place.is_finite()));
        let along = boundary.surface_velocity;
        let point = V::ZERO.transform(&transform);
        let turned = along.transform(&transform) - point;
        surface.resize(samples.len(), turned);
        if let BoundaryShape::HalfSpace { normal } = boundary.shape {
            let normal = normal.turned(transform.rotation());
            let surface_velocity = if turned.is_finite() { turned } else { V::ZERO };
            let plane = BoundaryPlane { point, normal, surface_velocity };
            planes.extend(plane.validate().is_ok().then_some(plane));
        }
    }
    let seconds = steps as f32 * clock.context().dt();
    let moved = *order == *last_order && world.move_boundary(&samples, seconds).is_ok();
    if !moved {
        world.set_boundary(&samples);
        last_order.clone_from(&order);
    }
    world.set_surface_velocities(&surface);
    if let Err(error) = world.set_planes(&planes) {
        warn!("the half-spaces were refused: {error}");
    }
}
