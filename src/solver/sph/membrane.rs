//! Thin bodies in the fluid, such as cloth: samples that the fluid pushes and
//! that give way.
//!
//! A sample is a particle of the fluid's volume that has no pressure of its
//! own. With the inverse mass w of what it belongs to in place of 1/(rho0 V0),
//! it takes part in every pressure solve, so that fluid and membrane find their
//! common motion together (strong coupling), whatever the ratio of their masses.
//! What the fluid does to it is the sum of what it does to the fluid.

use super::packed::Packed;
use super::{Body, FluidWorld};
use crate::solver::parallel::Threads;
use crate::solver::settings::FluidMaterial;
use crate::solver::vector::Vector;

/// Part of its inverse mass that a sample keeps when it does not yield at all:
/// a force on it is read off its acceleration.
const LEAST_YIELDING: f32 = 1e-4;

/// A sample of a membrane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MembraneSample<V> {
    /// Position in metres.
    pub(crate) position: V,
    /// Velocity in m/s.
    pub(crate) velocity: V,
    /// Inverse mass in 1/kg as if nothing held it.
    pub(crate) inverse_mass: f32,
    /// Part of that by which it answers to a push: 1 if nothing holds it, 0 if
    /// what holds it lets it nowhere.
    pub(crate) yielding: f32,
}

impl<V: Vector> MembraneSample<V> {
    /// Inverse mass times the volume of a particle.
    fn lightness(&self, volume: f32) -> f32 {
        self.inverse_mass * self.yielding.clamp(LEAST_YIELDING, 1.0) * volume
    }
}

/// The samples of all membranes, by the order they were given in.
#[derive(Debug)]
pub(super) struct Membrane<V> {
    samples: Vec<MembraneSample<V>>,
    /// What the fluid did to each since they were placed, in N s.
    impulses: Vec<V>,
}

impl<V> Default for Membrane<V> {
    fn default() -> Self {
        Self { samples: Vec::new(), impulses: Vec::new() }
    }
}

impl<V: Vector> Membrane<V> {
    /// Bytes of all buffers.
    pub(super) fn bytes(&self) -> usize {
        size_of::<MembraneSample<V>>() * self.samples.capacity()
            + size_of::<V>() * self.impulses.capacity()
    }
}

/// A fluid particle beside a sample of a membrane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MembraneContact {
    /// Index of the sample.
    pub(crate) sample: u32,
    /// Packed index of the particle.
    pub(crate) particle: u32,
    /// Part of the particle that goes with the sample.
    pub(crate) share: f32,
}

impl<V: Vector> FluidWorld<V> {
    /// Puts the samples of all membranes where they are now, and forgets what
    /// was done to them. Costs a comparison where nothing moved. All numbers
    /// must be finite, inverse masses positive.
    pub(crate) fn place_membranes(&mut self, samples: &[MembraneSample<V>]) {
        let fluid = self.ids.len();
        let same_count = self.packed_of.len() == fluid + samples.len();
        self.membrane.samples.clear();
        self.membrane.samples.extend_from_slice(samples);
        self.membrane.impulses.clear();
        self.membrane.impulses.resize(samples.len(), V::ZERO);
        if !same_count {
            self.remove_membranes();
            self.append_membranes();
            return;
        }
        let volume = self.settings.spacing().powi(V::DIM as i32);
        let Packed { positions, velocities, lightness, .. } = &mut self.particles;
        for (sample, &packed) in samples.iter().zip(&self.packed_of[fluid..]) {
            let packed = packed as usize;
            // The diagonals of the particles around hold the lightness.
            let light = sample.lightness(volume);
            self.fresh &= positions[packed] == sample.position && lightness[packed] == light;
            positions[packed] = sample.position;
            velocities[packed] = sample.velocity;
            lightness[packed] = light;
        }
    }

    fn remove_membranes(&mut self) {
        let fluid = self.ids.len();
        let particles = &self.particles;
        let kept: Vec<usize> = (0..particles.places.len())
            .filter(|&i| (particles.places[i] as usize) < fluid)
            .collect();
        self.unsorted.take_in_order(particles, kept.len(), |k| kept[k], Threads::Serial);
        self.unsorted.take_derived(&mut self.particles);
        core::mem::swap(&mut self.particles, &mut self.unsorted);
        self.bodies.retain(|body| !body.membrane);
        self.packed_of.truncate(fluid);
        for (index, &place) in self.particles.places.iter().enumerate() {
            self.packed_of[place as usize] = index as u32;
        }
    }

    /// Puts the samples behind all particles, as a body without a material.
    pub(super) fn append_membranes(&mut self) {
        let Membrane { samples, .. } = &self.membrane;
        self.fresh = false;
        if samples.is_empty() {
            return;
        }
        let volume = self.settings.spacing().powi(V::DIM as i32);
        let (start, body) = (self.ids.len(), self.bodies.len() as u32);
        let packed = &mut self.particles;
        for (k, sample) in samples.iter().enumerate() {
            self.packed_of.push(packed.positions.len() as u32);
            packed.places.push((start + k) as u32);
            packed.bodies.push(body);
            packed.positions.push(sample.position);
            packed.velocities.push(sample.velocity);
            packed.lightness.push(sample.lightness(volume));
            packed.density_impulses.push(0.0);
            packed.divergence_impulses.push(0.0);
        }
        packed.resize_derived(packed.positions.len());
        let end = start + samples.len();
        let material = FluidMaterial { viscosity: 0.0, ..FluidMaterial::default() };
        self.bodies.push(Body { key: 0, material, start, end, membrane: true });
    }

    /// What the fluid did to each sample since they were placed, in N s.
    pub(crate) fn membrane_impulses(&self) -> &[V] {
        &self.membrane.impulses
    }

    /// Whether a packed particle is a sample of a membrane.
    #[inline(always)]
    pub(super) fn is_membrane(&self, packed: usize) -> bool {
        self.particles.places[packed] as usize >= self.ids.len()
    }

    /// Packed indices of the samples.
    pub(super) fn membrane_indices(&self) -> &[u32] {
        &self.packed_of[self.ids.len()..]
    }

    /// Lists the particles beside the samples. The shares of a particle add up to
    /// one if it touches the membrane, and to less farther away. The lists must
    /// be fresh.
    pub(crate) fn membrane_contacts(
        &self,
        totals: &mut Vec<f32>,
        contacts: &mut Vec<MembraneContact>,
    ) {
        contacts.clear();
        let particles = &self.particles;
        totals.resize(particles.positions.len(), 0.0);
        for (sample, &packed) in (0..).zip(self.membrane_indices()) {
            let (chunk, local) = self.neighbors.of(packed as usize);
            let x = particles.positions[packed as usize];
            for &i in chunk.fluid(local) {
                let particle = i as usize;
                if !self.is_membrane(particle) {
                    let offset = self.settings.periodic.offset(particles.positions[particle] - x);
                    let weight = self.kernel.value(offset.length_squared());
                    totals[particle] += weight;
                    contacts.push(MembraneContact { sample, particle: i, share: weight });
                }
            }
        }
        let spacing = self.settings.spacing();
        let touching = self.kernel.value(spacing * spacing);
        for contact in &mut *contacts {
            let particle = contact.particle as usize;
            contact.share /= totals[particle].max(touching);
        }
        for contact in contacts {
            totals[contact.particle as usize] = 0.0;
        }
    }

    /// Mass in kg and velocity in m/s of a packed particle.
    pub(crate) fn mass_and_velocity(&self, packed: u32) -> (f32, V) {
        let volume = self.settings.spacing().powi(V::DIM as i32);
        let particles = &self.particles;
        (volume / particles.lightness[packed as usize], particles.velocities[packed as usize])
    }

    /// Changes the velocity of a packed particle.
    pub(crate) fn add_velocity(&mut self, packed: u32, change: V) {
        self.particles.velocities[packed as usize] += change;
    }

    /// Takes gravity off the samples that do not yield to it.
    pub(super) fn hold_membranes(&mut self) {
        let first = self.ids.len();
        for (sample, &packed) in self.membrane.samples.iter().zip(&self.packed_of[first..]) {
            self.particles.accelerations[packed as usize] = self.settings.gravity * sample.yielding;
        }
    }

    /// Highest speed of a sample in m/s.
    pub(super) fn membrane_speed(&self) -> f32 {
        let squared = self.membrane.samples.iter().map(|sample| sample.velocity.length_squared());
        squared.fold(0.0, f32::max).sqrt()
    }

    /// Leaves the samples without a pressure.
    pub(super) fn relieve_membranes(&mut self) {
        let FluidWorld { packed_of, ids, workspace, .. } = self;
        for &packed in &packed_of[ids.len()..] {
            workspace.kappa[packed as usize] = 0.0;
        }
    }

    /// Notes what the pressure accelerations of the workspace do to the samples in `dt`.
    pub(super) fn push_membranes(&mut self, dt: f32) {
        let volume = self.settings.spacing().powi(V::DIM as i32);
        let first = self.ids.len();
        for (impulse, &packed) in self.membrane.impulses.iter_mut().zip(&self.packed_of[first..]) {
            let packed = packed as usize;
            let acceleration = V::narrow(self.workspace.vectors[packed]);
            *impulse += acceleration * (dt * volume / self.particles.lightness[packed]);
        }
    }
}
