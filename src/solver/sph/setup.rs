//! What a world is made of: its settings and its boundaries.

use super::{FluidWorld, dfsph, surface_tension};
use crate::solver::error::FluidError;
use crate::solver::half_space::BoundaryPlane;
use crate::solver::kernel::CubicSpline;
use crate::solver::settings::{FluidMethod, WorldSettings};
use crate::solver::vector::Vector;

impl<V: Vector> FluidWorld<V> {
    /// An empty world.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] if a setting is out of range.
    pub fn new(settings: WorldSettings<V>) -> Result<Self, FluidError> {
        let mut world = Self::default();
        world.set_settings(settings)?;
        Ok(world)
    }

    /// The settings in force.
    pub fn settings(&self) -> &WorldSettings<V> {
        &self.settings
    }

    /// Replaces the settings; costs nothing where they are the same.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] if one is out of range; the old ones stay.
    pub fn set_settings(&mut self, settings: WorldSettings<V>) -> Result<(), FluidError> {
        if settings == self.settings {
            return Ok(());
        }
        settings.validate()?;
        if settings.particle_radius != self.settings.particle_radius {
            self.kernel = CubicSpline::new(settings.support_radius());
            self.boundary.set_support_radius(settings.support_radius());
            self.fresh = false;
        }
        if settings.periodic != self.settings.periodic {
            self.boundary.set_periodic(settings.periodic);
            self.fresh = false;
        }
        if (self.settings.method, settings.method) == (FluidMethod::Wcsph, FluidMethod::Dfsph) {
            self.transition = dfsph::TRANSITION;
        }
        self.settings = settings;
        Ok(())
    }

    /// Replaces the samples of all boundaries, in metres, which stand still
    /// then; costs a comparison where they are the same. Samples that are not
    /// finite are left out. Returns how many were.
    pub fn set_boundary(&mut self, samples: &[V]) -> usize {
        let finite;
        let mut left_out = 0;
        let samples = if samples.iter().all(|sample| sample.is_finite()) {
            samples
        } else {
            finite =
                samples.iter().copied().filter(|sample| sample.is_finite()).collect::<Vec<V>>();
            left_out = samples.len() - finite.len();
            &finite
        };
        if self.boundary.rebuild(samples, self.settings.support_radius()) {
            self.fresh = false;
        }
        self.boundary.stop();
        left_out
    }

    /// Lets the samples of the boundaries move evenly to `targets`, the k-th to
    /// the k-th in the order of [`FluidWorld::set_boundary`], within the next
    /// `seconds`: the fluid is pushed and dragged by the velocity that follows.
    ///
    /// They move in [`FluidWorld::integrate`] and stand still when they have
    /// arrived. One that is farther than sixteen support radii from its target
    /// is put there at once, as is every one if there are more or fewer than
    /// before: whoever puts a wall elsewhere does not mean to make a wave. A
    /// target that is not finite lets its sample stay.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] if `seconds` is not 1e-6 to 3600; nothing is
    /// done then.
    pub fn move_boundary(&mut self, targets: &[V], seconds: f32) -> Result<(), FluidError> {
        if !(1e-6..=3600.0).contains(&seconds) {
            return Err(FluidError::parameter("seconds", seconds, "1e-6 s to 3600 s"));
        }
        if targets.len() != self.boundary.len() {
            self.set_boundary(targets);
        } else if self.boundary.move_to(targets, seconds) {
            self.fresh = false;
        }
        Ok(())
    }

    /// Lets the surfaces of the boundaries move along themselves, as that of a
    /// conveyor belt or of the lid of a cavity does: one velocity in m/s for
    /// each sample, in the order of [`FluidWorld::set_boundary`], which forgets
    /// them when the samples are others. Missing and non-finite ones are zero.
    ///
    /// Fluid is dragged along as its `boundary_viscosity` says.
    pub fn set_surface_velocities(&mut self, velocities: &[V]) {
        self.boundary.set_surface(velocities);
    }

    /// Replaces the boundaries that fill all of space behind a plane; costs a
    /// comparison where they are the same. They have no samples, and are not
    /// among [`FluidWorld::boundary_samples`]. Where two of them, or one and
    /// samples, overlap, both count.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for the first value out of range; the old ones
    /// stay then.
    pub fn set_planes(&mut self, planes: &[BoundaryPlane<V>]) -> Result<(), FluidError> {
        if self.planes.set(planes, surface_tension::adhesion_spline)? {
            self.fresh = false;
        }
        Ok(())
    }

    /// The boundaries that fill all of space behind a plane.
    pub fn planes(&self) -> &[BoundaryPlane<V>] {
        self.planes.given()
    }
}
