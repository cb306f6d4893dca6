//! What a world tells of itself, and what may be done to its particles between
//! the stages of a step.

use super::packed::GONE;
use super::{BodyKey, FluidWorld};
use crate::solver::boundary::BoundaryMotion;
use crate::solver::error::FluidError;
use crate::solver::fan::Fan;
use crate::solver::particles::ParticleId;
use crate::solver::stats::StepStats;
use crate::solver::vector::Vector;

/// A particle in the packed world.
#[derive(Clone, Copy, Debug)]
pub struct ParticleView<V> {
    /// The body it belongs to.
    pub body: BodyKey,
    /// Its id in that body.
    pub id: ParticleId,
    /// Position in metres.
    pub position: V,
    /// Velocity in m/s.
    pub velocity: V,
    /// Density in kg/m³ (kg/m² in 2D) at the last search.
    pub density: f32,
}

impl<V: Vector> FluidWorld<V> {
    /// Adds an acceleration in m/s² to each particle, from a function of it.
    /// Holds for the present step; call it after
    /// [`FluidWorld::non_pressure_forces`]. One that is not finite counts as zero.
    pub fn accelerate(&mut self, mut acceleration: impl FnMut(ParticleView<V>) -> V) {
        for index in 0..self.particles.positions.len() {
            if self.is_membrane(index) {
                continue;
            }
            let added = acceleration(self.view(index));
            if added.is_finite() {
                self.particles.accelerations[index] += added;
            }
        }
    }

    /// Accelerates the particles in the streams of fans towards their speeds, for a
    /// step of `dt` seconds. Like [`FluidWorld::accelerate`] it holds for the present
    /// step, and comes after [`FluidWorld::non_pressure_forces`].
    pub fn blow(&mut self, dt: f32, fans: &[Fan<V>]) {
        for fan in fans {
            self.accelerate(|particle| {
                fan.change(particle.position, particle.velocity, dt) * (1.0 / dt)
            });
        }
    }

    /// Replaces velocities, in m/s, by a function of the particle: `None` and what
    /// is not finite change nothing.
    ///
    /// Called between [`FluidWorld::density_solve`] and [`FluidWorld::integrate`]
    /// it moves particles whatever the pressure says, as a pump or a hand does.
    pub fn steer(&mut self, velocity: impl Fn(ParticleView<V>) -> Option<V>) {
        for index in 0..self.particles.positions.len() {
            if self.is_membrane(index) {
                continue;
            }
            if let Some(velocity) = velocity(self.view(index)).filter(|v| v.is_finite()) {
                self.particles.velocities[index] = velocity;
            }
        }
    }

    /// All particles, in the packed order.
    pub fn particles(&self) -> impl Iterator<Item = ParticleView<V>> + '_ {
        let packed = 0..self.particles.positions.len();
        packed.filter(|&index| !self.is_membrane(index)).map(|index| self.view(index))
    }

    /// One particle of a body.
    ///
    /// # Errors
    /// [`FluidError::StaleParticle`] if it is not in the world.
    pub fn particle(&self, body: BodyKey, id: ParticleId) -> Result<ParticleView<V>, FluidError> {
        self.fluid_bodies()
            .find(|entry| entry.key == body)
            .and_then(|entry| {
                let ids = &self.ids[entry.start..entry.end];
                let place = entry.start + ids.iter().position(|&other| other == id)?;
                let index = self.packed_of[place];
                (index != GONE).then(|| self.view(index as usize))
            })
            .ok_or(FluidError::StaleParticle(id))
    }

    /// Number of particles.
    pub fn len(&self) -> usize {
        self.particles.positions.len() - self.membrane_indices().len()
    }

    /// True if there is no particle.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of boundary samples.
    pub fn boundary_len(&self) -> usize {
        self.boundary.len()
    }

    /// Positions of the boundary samples in metres, and their volumes V_k in
    /// m³ (m² in 2D). A sample's pseudo-mass is its volume times the rest density.
    pub fn boundary_samples(&self) -> impl ExactSizeIterator<Item = (V, f32)> + '_ {
        self.boundary.positions().iter().copied().zip(self.boundary.volumes().iter().copied())
    }

    /// Samples of all boundaries in the order they were given in, and how they move.
    pub(crate) fn boundary_state(&self) -> (&[V], &BoundaryMotion<V>) {
        (self.boundary.given(), self.boundary.motion())
    }

    /// Takes over the motion of a restored boundary.
    pub(crate) fn resume_boundary(&mut self, motion: BoundaryMotion<V>) {
        self.boundary.resume(motion);
    }

    /// Length of the last step in seconds, or zero before the first.
    pub fn last_step(&self) -> f32 {
        self.last_step
    }

    /// Seconds for which DFSPH still goes easy on what WCSPH left compressed.
    pub fn transition(&self) -> f32 {
        self.transition
    }

    /// Seconds for which fresh water still keeps some of its first compression.
    pub fn settling(&self) -> f32 {
        self.settling
    }

    /// Whether Gauss-Seidel sweeps alone take so long that the next density solve starts
    /// with a correction on the coarse grid, if there is one.
    pub fn is_slow(&self) -> bool {
        self.slow
    }

    /// Tells a restored world what step its pressures are of, how much of a
    /// transition and of the settling is left, and whether it [is slow](Self::is_slow).
    pub(crate) fn set_past(&mut self, last_step: f32, transition: f32, settling: f32, slow: bool) {
        (self.last_step, self.transition, self.settling) = (last_step, transition, settling);
        self.slow = slow;
    }

    /// Figures of the step that is under way or done.
    pub fn stats(&self) -> &StepStats {
        &self.stats
    }

    /// Number of neighbour searches so far: one a step unless something was edited.
    pub fn searches(&self) -> u64 {
        self.searches
    }

    /// Bytes of all buffers, room for growth included.
    pub fn memory(&self) -> usize {
        self.particles.bytes()
            + self.unsorted.bytes()
            + size_of::<ParticleId>() * self.ids.capacity()
            + size_of::<u32>() * self.packed_of.capacity()
            + self.boundary.bytes()
            + self.membrane.bytes()
            + self.planes.bytes()
            + self.grid.bytes()
            + self.neighbors.bytes()
            + self.workspace.bytes()
            + self.coarse.bytes()
            + self.thick.bytes()
            + self.vorticity.bytes()
    }

    fn view(&self, index: usize) -> ParticleView<V> {
        let particles = &self.particles;
        let body = &self.bodies[particles.bodies[index] as usize];
        ParticleView {
            body: body.key,
            id: self.ids[particles.places[index] as usize],
            position: particles.positions[index],
            velocity: particles.velocities[index],
            density: particles.densities[index] * body.material.rest_density,
        }
    }
}
