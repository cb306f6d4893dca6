//! Solid bodies in smoke.

use bevy_math::{Quat, Vec2, Vec3};

use super::domain::SmokeDomain;
use super::settings::Border;
use super::solids::Solids;
use crate::solver::error::FluidError;
use crate::solver::half_space::check_normal;
use crate::solver::sampling::{BoundaryShape, Fill};
use crate::solver::vector::Vector;

/// A solid body that smoke goes around, and that pushes it where it moves.
///
/// A cell is solid if its middle lies in the shape. What is thinner than a cell
/// counts as one cell thick: a shell, a polyline or a thin plate is never leaked
/// through, at any angle.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "scene", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "scene",
    serde(
        deny_unknown_fields,
        bound(
            serialize = "V: Vector + serde::Serialize",
            deserialize = "V: Vector + serde::Deserialize<'de>"
        )
    )
)]
#[cfg_attr(feature = "plugin", derive(bevy_reflect::Reflect))]
pub struct SmokeObstacle<V> {
    /// Its shape, around its own origin. A [`Fill::Container`] is solid outside.
    pub shape: BoundaryShape<V>,
    /// Where that origin is, in metres.
    pub position: V,
    /// Directions of the shape's own axes, of unit length and at right angles;
    /// the third is without meaning in 2D.
    pub axes: [V; 3],
    /// Velocity of the origin in m/s. Only faces of cells take it on: moving the
    /// position is the caller's.
    pub velocity: V,
    /// Angular velocity in rad/s, counterclockwise around x, y and z; in 2D only
    /// the third counts.
    pub angular_velocity: [f32; 3],
}

impl<V: Vector> SmokeObstacle<V> {
    /// A body at rest, its axes those of the world.
    pub fn new(shape: BoundaryShape<V>, position: V) -> Self {
        let axis = |axis: usize| {
            V::from_array(core::array::from_fn(|other| f32::from(u8::from(other == axis))))
        };
        Self {
            shape,
            position,
            axes: core::array::from_fn(axis),
            velocity: V::ZERO,
            angular_velocity: [0.0; 3],
        }
    }

    /// A boundary of water as smoke meets it: of a vessel only the wall, as air
    /// is on both sides of it.
    pub fn of_boundary(shape: &BoundaryShape<V>, position: V) -> Self {
        let mut shape = shape.clone();
        if let BoundaryShape::Box { fill, .. } | BoundaryShape::Ball { fill, .. } = &mut shape
            && *fill == Fill::Container
        {
            *fill = Fill::Shell;
        }
        Self::new(shape, position)
    }

    /// Checks the numbers.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for a shape without extent, axes that are no
    /// rotation, or a number that is not finite.
    pub fn validate(&self) -> Result<(), FluidError> {
        let finite = |name: &str, value: V, unit: &str| {
            if value.is_finite() {
                Ok(())
            } else {
                Err(FluidError::parameter(name, value, format_args!("finite components, {unit}")))
            }
        };
        finite("position", self.position, "m")?;
        finite("velocity", self.velocity, "m/s")?;
        if !self.angular_velocity.iter().all(|spin| spin.is_finite()) {
            let spin = self.angular_velocity;
            return Err(FluidError::parameter("angular_velocity", spin, "finite, rad/s"));
        }
        for a in 0..V::DIM {
            for b in 0..V::DIM {
                let expected = if a == b { 1.0 } else { 0.0 };
                let product = self.axes[a].dot(self.axes[b]);
                // Written so that what is not a number is refused as well.
                if !((product - expected).abs() <= 1e-3) {
                    let axes = &self.axes[..V::DIM];
                    return Err(FluidError::parameter(
                        "axes",
                        axes,
                        "unit vectors at right angles",
                    ));
                }
            }
        }
        let positive = |value: f32| value > 0.0 && value.is_finite();
        match &self.shape {
            BoundaryShape::Box { half_size, .. }
                if !half_size.to_array()[..V::DIM].iter().all(|&half| positive(half)) =>
            {
                let allowed = "positive and finite, m";
                return Err(FluidError::parameter("half_size", half_size, allowed));
            }
            BoundaryShape::HalfSpace { normal } => check_normal("normal", *normal)?,
            BoundaryShape::Ball { radius, .. } if !positive(*radius) => {
                return Err(FluidError::parameter("radius", radius, "positive and finite, m"));
            }
            BoundaryShape::Polyline { points, .. } | BoundaryShape::Points(points) => {
                if let Some(index) = points.iter().position(|point| !point.is_finite()) {
                    let name = format_args!("points[{index}]").to_string();
                    return Err(FluidError::parameter(name, points[index], "finite components, m"));
                }
                if points.is_empty() {
                    return Err(FluidError::parameter(
                        "points",
                        points.len(),
                        "at least one point",
                    ));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// A position in the shape's own space.
    fn local(&self, position: V) -> V {
        let offset = position - self.position;
        V::from_array(self.axes.map(|axis| axis.dot(offset)))
    }

    /// A place of the shape's own space in the world.
    fn world(&self, local: V) -> V {
        let [x, y, z] = local.to_array();
        self.position + self.axes[0] * x + self.axes[1] * y + self.axes[2] * z
    }

    /// Velocity in m/s of the body at a position.
    fn velocity_at(&self, position: V) -> [f32; 3] {
        let [x, y, z] = (position - self.position).to_array();
        let [u, v, w] = self.velocity.to_array();
        let [p, q, r] = self.angular_velocity;
        if V::DIM == 2 {
            return [u - r * y, v + r * x, 0.0];
        }
        [u + q * z - r * y, v + r * x - p * z, w + p * y - q * x]
    }

    /// Whether a cell of side `side` whose middle is there is solid.
    fn covers(&self, position: V, side: f32) -> bool {
        let half_cell = 0.5 * side;
        let filled = |distance: f32, fill: Fill| match fill {
            Fill::Solid => distance <= 0.0,
            Fill::Container => distance >= 0.0,
            // No step from middle to middle is longer than a side: none passes.
            Fill::Shell => distance.abs() <= half_cell,
        };
        let local = self.local(position);
        match &self.shape {
            BoundaryShape::Box { half_size, fill } => {
                let (at, half) = (local.to_array(), half_size.to_array());
                let (mut outside, mut inside) = (0.0f32, f32::NEG_INFINITY);
                for axis in 0..V::DIM {
                    let thinnest = if *fill == Fill::Solid { half_cell } else { 0.0 };
                    let beyond = at[axis].abs() - half[axis].max(thinnest);
                    outside += beyond.max(0.0).powi(2);
                    inside = inside.max(beyond);
                }
                filled(if inside > 0.0 { outside.sqrt() } else { inside }, *fill)
            }
            BoundaryShape::HalfSpace { normal } => local.dot(*normal) <= 0.0,
            BoundaryShape::Ball { radius, fill } => {
                let thinnest = if *fill == Fill::Solid { half_cell } else { 0.0 };
                filled(local.length() - radius.max(thinnest), *fill)
            }
            BoundaryShape::Polyline { points, closed } => {
                let back =
                    (*closed && points.len() > 2).then(|| (points[points.len() - 1], points[0]));
                let lone = (points.len() == 1).then(|| (points[0], points[0]));
                let mut segments =
                    points.windows(2).map(|pair| (pair[0], pair[1])).chain(back).chain(lone);
                segments.any(|(from, to)| {
                    let along = to - from;
                    let length_squared = along.length_squared();
                    let part = if length_squared > 0.0 {
                        ((local - from).dot(along) / length_squared).clamp(0.0, 1.0)
                    } else {
                        0.0
                    };
                    (local - from - along * part).length() <= half_cell
                })
            }
            _ => false,
        }
    }

    /// Lowest and highest corner of what may be solid, or nothing for samples.
    fn bounds(&self, side: f32) -> Option<(V, V)> {
        let around = |center: V, reach: V| Some((center - reach, center + reach));
        let margin = V::splat(side);
        match &self.shape {
            BoundaryShape::Box { fill: Fill::Container, .. }
            | BoundaryShape::Ball { fill: Fill::Container, .. }
            | BoundaryShape::HalfSpace { .. } => {
                Some((V::splat(f32::NEG_INFINITY), V::splat(f32::INFINITY)))
            }
            BoundaryShape::Box { half_size, .. } => {
                around(self.position, V::splat(half_size.length()) + margin)
            }
            BoundaryShape::Ball { radius, .. } => around(self.position, V::splat(*radius) + margin),
            BoundaryShape::Polyline { points, .. } => {
                let mut places = points.iter().map(|&point| self.world(point));
                let first = places.next()?;
                let (low, high) =
                    places.fold((first, first), |(low, high), at| (low.min(at), high.max(at)));
                Some((low - margin, high + margin))
            }
            _ => None,
        }
    }

    /// Marks the cells of this body.
    pub(crate) fn mark(
        &self,
        domain: &SmokeDomain<V>,
        borders: [Border; 3],
        solids: &mut Solids,
    ) -> Result<(), FluidError> {
        let grid = domain.grid();
        let side = domain.cell_size();
        let mut mark = |cell: [usize; 3]| {
            let at = grid.index(cell[0], cell[1], cell[2]);
            solids.add(at);
            for axis in 0..V::DIM {
                let stride = grid.stride[axis];
                for upper in 0..2 {
                    let mut middle = cell.map(|place| place as f32);
                    middle[axis] += upper as f32 - 0.5;
                    let velocity = self.velocity_at(domain.position_of(middle))[axis];
                    let face = at + upper * stride;
                    solids.add_face(axis, face, velocity);
                    let cells = grid.cells[axis];
                    if borders[axis] == Border::Periodic {
                        if upper == 0 && cell[axis] == 1 {
                            solids.add_face(axis, face + cells * stride, velocity);
                        } else if upper == 1 && cell[axis] == cells {
                            solids.add_face(axis, face - cells * stride, velocity);
                        }
                    }
                }
            }
        };
        let Some((low, high)) = self.bounds(side) else {
            // Half a cell apart, samples of a surface leave no cell out.
            for sample in self.shape.samples(0.5 * side)? {
                let place = domain.place_of(self.world(sample)).map(|place| (place + 0.5).floor());
                let inside =
                    |axis: usize| place[axis] >= 1.0 && place[axis] <= grid.cells[axis] as f32;
                if (0..V::DIM).all(inside) {
                    let last = if V::DIM == 3 { place[2] as usize } else { 0 };
                    mark([place[0] as usize, place[1] as usize, last]);
                }
            }
            return Ok(());
        };
        let (low, high) = (domain.place_of(low), domain.place_of(high));
        let range = |axis: usize| {
            // Casts saturate, so that bounds far outside are an empty or a full range.
            let from = (low[axis].floor() as usize).max(1);
            let to = (high[axis].max(0.0).ceil() as usize).min(grid.cells[axis]);
            from..=to
        };
        for k in if V::DIM == 3 { range(2) } else { 0..=0 } {
            for j in range(1) {
                for i in range(0) {
                    let middle = domain.position_of([i as f32, j as f32, k as f32]);
                    if self.covers(middle, side) {
                        mark([i, j, k]);
                    }
                }
            }
        }
        Ok(())
    }
}

impl SmokeObstacle<Vec2> {
    /// This body turned counterclockwise by an angle in rad.
    #[must_use]
    pub fn rotated(mut self, angle: f32) -> Self {
        let x = Vec2::from_angle(angle);
        self.axes = [x, x.perp(), Vec2::ZERO];
        self
    }
}

impl SmokeObstacle<Vec3> {
    /// This body turned.
    #[must_use]
    pub fn rotated(mut self, rotation: Quat) -> Self {
        self.axes = [rotation * Vec3::X, rotation * Vec3::Y, rotation * Vec3::Z];
        self
    }
}
