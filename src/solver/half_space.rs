//! Boundaries that fill all of space behind a plane, in closed form: what the
//! solid adds to a sum over neighbours depends on nothing but a particle's
//! distance from the surface (density maps, Koschier & Bender 2017; Bender et
//! al. 2019), so that a plane has no samples and costs nothing where no water is.

use super::error::FluidError;
use super::parallel::{Threads, chunks, chunks_mut, for_each_chunk};
use super::settings::FluidMaterial;
use super::vector::Vector;

/// A half-space as boundary: everything behind a plane is solid.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "scene", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "scene", serde(deny_unknown_fields))]
pub struct BoundaryPlane<V> {
    /// A point of the surface in metres, any finite vector.
    pub point: V,
    /// Direction out of the solid: finite and not zero, of any length.
    pub normal: V,
    /// Velocity of the surface along itself in m/s, any finite vector: that of a
    /// conveyor belt. What of it is across the surface does not count.
    pub surface_velocity: V,
}

impl<V: Vector> BoundaryPlane<V> {
    /// Checks every value against its range.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for the first one outside.
    pub fn validate(&self) -> Result<(), FluidError> {
        let finite = "finite components";
        if !self.point.is_finite() {
            return Err(FluidError::parameter("point", self.point, finite));
        }
        check_normal("normal", self.normal)?;
        if !self.surface_velocity.is_finite() {
            let velocity = self.surface_velocity;
            return Err(FluidError::parameter("surface_velocity", velocity, finite));
        }
        Ok(())
    }
}

/// Checks the direction of a plane.
pub(super) fn check_normal<V: Vector>(name: &str, normal: V) -> Result<(), FluidError> {
    let length = normal.length_squared();
    if length.is_finite() && length > f32::MIN_POSITIVE {
        Ok(())
    } else {
        Err(FluidError::parameter(name, normal, "finite components, not all zero"))
    }
}

/// Depth in spacings below the surface at which the solid's matter starts. A
/// lattice half a spacing above the surface then has its rest density, as it has
/// at [`Fill::Solid`](super::sampling::Fill::Solid): 0.078 in the plane, 0.083
/// in space.
const SKIN: f32 = 0.08;

/// Part of the support radius below the surface beyond which what is in the
/// solid is pushed out no harder.
const DEEPEST: f32 = 0.25;

/// Part of the support radius that a particle is taken to be above the surface
/// at least, where its velocity is carried on into the solid.
const NEAREST: f32 = 0.15;

/// Steps of the tables over the support radius.
const STEPS: usize = 256;

/// Steps of the integrals along the surface.
const INNER_STEPS: usize = 128;

/// Part of a support radius squared that keeps the Laplacian finite, a hundredth
/// of a spacing squared.
const SOFTENING: f64 = 0.0025;

/// What a half-space adds to a particle's sums.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct HalfSpaceSums {
    /// The integral of W: the part of the density that the solid makes up.
    pub(crate) weight: f32,
    /// The integral of grad W along the normal, in 1/m.
    pub(crate) gradient: f32,
    /// Integrals of -(grad W along the normal or the surface) x/(|x|² + 0.01 d²)
    /// along the same, in 1/m², over a velocity that grows with the depth as it
    /// falls towards the wall (Morris et al. 1997), so that it is that of the wall
    /// at the surface; over [`FluidMaterial::NO_SLIP`], as samples would pull.
    pub(crate) friction: [f32; 2],
    /// The integral of the adhesion spline times h^DIM along the normal, per volume h^DIM.
    pub(crate) adhesion: f32,
    /// Neighbours that as many samples would be.
    pub(crate) neighbors: u32,
}

/// The integrals over a half-space, as tables over the distance.
#[derive(Debug, Default)]
pub(crate) struct HalfSpaceTables {
    /// For a support radius of one.
    entries: Vec<[f32; 5]>,
}

impl HalfSpaceTables {
    /// `adhesion` is the spline of the adhesion times h^DIM.
    pub(crate) fn new<V: Vector>(adhesion: impl Fn(f32) -> f32) -> Self {
        use core::f64::consts::TAU;
        let scale = f64::from(V::CUBIC_SPLINE);
        let step = 1.0 / STEPS as f64;
        // Integrals along the surface at a distance t from it.
        let layer = |t: f64| {
            let reach = (1.0 - t * t).max(0.0).sqrt();
            let inner = reach / INNER_STEPS as f64;
            let mut sums = [0.0f64; 4];
            for k in 0..INNER_STEPS {
                let aside = (k as f64 + 0.5) * inner;
                let ring = if V::DIM == 2 { 2.0 } else { TAU * aside } * inner;
                let squared = t * t + aside * aside;
                let q = squared.sqrt();
                let (outer, near) = ((1.0 - q).max(0.0), (0.5 - q).max(0.0));
                let value = scale * (2.0 * outer.powi(3) - 8.0 * near.powi(3));
                let slope = scale * (24.0 * near * near - 6.0 * outer * outer);
                let pull = -slope / (q * (squared + SOFTENING));
                let along = aside * aside / (V::DIM as f64 - 1.0);
                sums[0] += ring * value;
                sums[1] += ring * pull * t * t;
                sums[2] += ring * pull * along;
                sums[3] += ring * f64::from(adhesion(q as f32)) * t / q;
            }
            sums
        };
        // From the end of the support radius to the particle.
        let mut entries = vec![[0.0f32; 5]; STEPS + 1];
        let (mut weight, mut friction, mut pull) = (0.0f64, [0.0f64; 2], 0.0f64);
        for k in (0..=STEPS).rev() {
            let t = k as f64 * step;
            let [value, ..] = layer(t);
            if k < STEPS {
                let middle = t + 0.5 * step;
                let sums = layer(middle);
                weight += sums[0] * step;
                friction[0] += sums[1] * middle * step;
                friction[1] += sums[2] * middle * step;
                pull += sums[3] * step;
            }
            let above = t.max(f64::from(NEAREST)) * f64::from(FluidMaterial::NO_SLIP);
            entries[k] =
                [weight, value, friction[0] / above, friction[1] / above, pull].map(|x| x as f32);
        }
        Self { entries }
    }

    /// The sums of a particle `distance` metres above a surface.
    pub(crate) fn sums(&self, dimensions: usize, distance: f32, support: f32) -> HalfSpaceSums {
        // The spacing is half of the support radius.
        let q = distance / support + 0.5 * SKIN;
        let (Some(&[center, slope, ..]), true) = (self.entries.first(), q < 1.0) else {
            return HalfSpaceSums::default();
        };
        let place = q.max(0.0) * STEPS as f32;
        let low = (place as usize).min(STEPS - 1);
        let part = place - low as f32;
        let (a, b) = (&self.entries[low], &self.entries[low + 1]);
        let entry = |k: usize| a[k] + (b[k] - a[k]) * part;
        let deep = (-q).clamp(0.0, DEEPEST);
        let chord = 1.0 - q.max(0.0) * q.max(0.0);
        let neighbors = if dimensions == 2 { 4.0 * chord.sqrt() } else { 12.0 * chord };
        let squared = support * support;
        HalfSpaceSums {
            weight: if q < 0.0 { center + slope * deep } else { entry(0) },
            gradient: entry(1) / support,
            friction: [entry(2) / squared, entry(3) / squared],
            adhesion: entry(4),
            neighbors: neighbors as u32,
        }
    }
}

/// All planes of a world.
#[derive(Debug, Default)]
pub(crate) struct Planes<V> {
    given: Vec<BoundaryPlane<V>>,
    /// With normals of length 1, and velocities along the surface.
    planes: Vec<BoundaryPlane<V>>,
    tables: HalfSpaceTables,
}

impl<V: Vector> Planes<V> {
    /// Takes planes. Returns whether they are others than before.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for the first value out of range; nothing is done then.
    pub(crate) fn set(
        &mut self,
        planes: &[BoundaryPlane<V>],
        adhesion: impl Fn(f32) -> f32,
    ) -> Result<bool, FluidError> {
        for (index, plane) in planes.iter().enumerate() {
            let valid = plane.validate();
            valid.map_err(|error| error.within(format_args!("planes[{index}]")))?;
        }
        if self.given == planes {
            return Ok(false);
        }
        if self.tables.entries.is_empty() {
            self.tables = HalfSpaceTables::new::<V>(adhesion);
        }
        self.given.clear();
        self.given.extend_from_slice(planes);
        self.planes.clear();
        self.planes.extend(planes.iter().map(|plane| {
            let normal = plane.normal * (1.0 / plane.normal.length());
            let across = normal * plane.surface_velocity.dot(normal);
            let surface_velocity = plane.surface_velocity - across;
            BoundaryPlane { normal, surface_velocity, ..*plane }
        }));
        Ok(true)
    }

    /// As they were given.
    pub(crate) fn given(&self) -> &[BoundaryPlane<V>] {
        &self.given
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.planes.is_empty()
    }

    /// The planes within a support radius of a position, each with its sums.
    #[inline(always)]
    pub(crate) fn near(
        &self,
        position: V,
        support: f32,
    ) -> impl Iterator<Item = (&BoundaryPlane<V>, HalfSpaceSums)> {
        self.planes.iter().filter_map(move |plane| {
            let distance = (position - plane.point).dot(plane.normal);
            (distance < support).then(|| (plane, self.tables.sums(V::DIM, distance, support)))
        })
    }

    /// Holds back a particle that moved from `start` below a surface, or deeper
    /// where it was below already. Returns whether one did.
    #[inline(always)]
    pub(crate) fn hold(&self, start: V, position: &mut V, velocity: &mut V) -> bool {
        let mut held = false;
        for plane in &self.planes {
            let before = (start - plane.point).dot(plane.normal);
            let below = before.min(0.0) - (*position - plane.point).dot(plane.normal);
            if below > 0.0 {
                *position += plane.normal * below;
                *velocity += plane.normal * (-velocity.dot(plane.normal)).max(0.0);
                held = true;
            }
        }
        held
    }

    /// Adds the planes to what a search found.
    pub(crate) fn add_to(
        &self,
        threads: Threads,
        positions: &[V],
        lightness: &[f32],
        support: f32,
        results: super::neighborhood::Results<V>,
    ) {
        if self.is_empty() {
            return;
        }
        let parts = (
            chunks(positions),
            chunks(lightness),
            chunks_mut(results.densities),
            chunks_mut(results.gradient_sums),
            chunks_mut(results.diagonals),
            chunks_mut(results.counts),
        );
        for_each_chunk(threads, parts, |part| {
            let (positions, lightness, densities, gradients, diagonals, counts) = part;
            for local in 0..positions.len() {
                let before = gradients[local].length_squared();
                for (plane, sums) in self.near(positions[local], support) {
                    densities[local] += sums.weight;
                    gradients[local] += plane.normal * -sums.gradient;
                    counts[local] += sums.neighbors;
                }
                let after = gradients[local].length_squared();
                if after != before {
                    diagonals[local] += (after - before) * lightness[local];
                }
            }
        });
    }

    /// Bytes of all buffers.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<BoundaryPlane<V>>() * (self.given.capacity() + self.planes.capacity())
            + size_of::<[f32; 5]>() * self.tables.entries.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::kernel::CubicSpline;
    use bevy_math::{Vec2, Vec3};

    /// Sums of the kernel over a lattice of cells in the half-space.
    fn check_against_cells<V: Vector>(cells: i32, tolerance: f32) {
        let support = 0.1f32;
        let tables = HalfSpaceTables::new::<V>(|q| 1.0 - q);
        let kernel = CubicSpline::<V>::new(support);
        let side = support / cells as f32;
        let volume = side.powi(V::DIM as i32);
        for distance in [0.0f32, 0.02, 0.05, 0.09] {
            let (mut weight, mut gradient, mut adhesion) = (0.0f64, 0.0f64, 0.0f64);
            let depth = if V::DIM == 2 { 0..1 } else { -cells..cells };
            for x in -cells..cells {
                for z in depth.clone() {
                    for y in 0..cells {
                        let at = |k: i32| (k as f32 + 0.5) * side;
                        let z = if V::DIM == 2 { 0.0 } else { at(z) };
                        let offset = V::from_array([at(x), distance + at(y), z]);
                        weight += f64::from(kernel.value(offset.length_squared()) * volume);
                        gradient -= f64::from(kernel.gradient(offset).to_array()[1] * volume);
                        let q = offset.length() / support;
                        let along = offset.to_array()[1] / offset.length();
                        adhesion += f64::from((1.0 - q).max(0.0) * along * volume);
                    }
                }
            }
            // Without the skin the solid starts at the surface.
            let found = tables.sums(V::DIM, distance - 0.5 * SKIN * support, support);
            let close = |a: f32, b: f64, scale: f32| (a - b as f32).abs() <= tolerance * scale;
            assert!(close(found.weight, weight, 0.5), "{found:?}, {weight}");
            assert!(close(found.gradient, gradient, 1.0 / support), "{found:?}, {gradient}");
            let adhesion = adhesion / f64::from(support.powi(V::DIM as i32));
            assert!(close(found.adhesion, adhesion, 1.0), "{found:?}, {adhesion}");
        }
    }

    #[test]
    fn tables_hold_the_integrals_over_the_half_space() {
        check_against_cells::<Vec2>(60, 2e-3);
        check_against_cells::<Vec3>(30, 4e-3);
    }

    /// The density of a lattice that touches the surface.
    fn lattice_density<V: Vector>() -> f32 {
        let tables = HalfSpaceTables::new::<V>(|_| 0.0);
        let kernel = CubicSpline::<V>::new(2.0);
        let mut density = tables.sums(V::DIM, 0.5, 2.0).weight;
        for k in 0..5i32.pow(V::DIM as u32) {
            let [x, y, z] = [k % 5 - 2, k / 5 % 5, k / 25 - 2];
            let z = if V::DIM == 2 { 0.0 } else { z as f32 };
            density += kernel.value(V::from_array([x as f32, y as f32, z]).length_squared());
        }
        density
    }

    #[test]
    fn a_lattice_that_touches_the_surface_has_its_rest_density() {
        assert!((lattice_density::<Vec2>() - 1.0).abs() < 3e-3, "{}", lattice_density::<Vec2>());
        assert!((lattice_density::<Vec3>() - 1.0).abs() < 3e-3, "{}", lattice_density::<Vec3>());
    }

    #[test]
    fn what_is_in_the_solid_is_pushed_out_and_what_is_far_feels_nothing() {
        let tables = HalfSpaceTables::new::<Vec2>(|_| 0.0);
        let mut last = HalfSpaceSums::default();
        assert_eq!(tables.sums(2, 0.1, 0.1), last);
        for step in 0..40 {
            let sums = tables.sums(2, 0.09 - 0.005 * step as f32, 0.1);
            assert!(sums.weight >= last.weight && sums.gradient >= last.gradient);
            assert!(sums.weight < 1.0 && sums.neighbors <= 4);
            last = sums;
        }
        assert_eq!(tables.sums(2, -1e9, 0.1).gradient, last.gradient);
    }
}
