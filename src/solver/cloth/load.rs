//! What presses on a cloth from outside in a step, and how it answers.

use super::Cloth;
use crate::solver::vector::Vector;

/// Part of what a particle yields by that a step's observation replaces.
const LEARNING: f32 = 0.3;

/// Part of a particle's and its load's own weight below which an impulse says
/// nothing about what holds it.
const FAINT: f32 = 1e-2;

/// Most times as many substeps that a load asks for.
const MOST_FINER: f32 = 4.0;

/// A load on the particles of a cloth.
#[derive(Clone, Debug)]
pub(crate) struct ClothLoad<V> {
    /// Impulses from outside in N s, at the start of the step.
    pub(crate) impulses: Vec<V>,
    /// Mass in kg that has to move with each particle.
    pub(crate) added_masses: Vec<f32>,
    /// Velocity in m/s by which what holds the cloth together, or up, changed
    /// each free particle and what moves with it.
    pub(crate) responses: Vec<V>,
    /// Velocities after all impulses, before the constraints.
    velocities: Vec<V>,
    /// Positions before the step.
    positions: Vec<V>,
}

impl<V> Default for ClothLoad<V> {
    fn default() -> Self {
        Self {
            impulses: Vec::new(),
            added_masses: Vec::new(),
            responses: Vec::new(),
            velocities: Vec::new(),
            positions: Vec::new(),
        }
    }
}

impl<V: Vector> ClothLoad<V> {
    /// Whether anything pushes.
    pub(crate) fn pushes(&self) -> bool {
        self.impulses.iter().any(|&impulse| impulse != V::ZERO)
    }

    /// How many times as many substeps the loaded particles need. Whatever weighs
    /// r times the cloth stretches it r times as much, and stretch falls with the
    /// square of the substep.
    pub(super) fn finer(&self, masses: &[f32]) -> f32 {
        let ratio = self.added_masses.iter().zip(masses).map(|(added, mass)| added / mass);
        (1.0 + ratio.fold(0.0, f32::max)).sqrt().min(MOST_FINER)
    }

    /// No load on `count` particles.
    pub(crate) fn clear(&mut self, count: usize) {
        self.impulses.clear();
        self.impulses.resize(count, V::ZERO);
        self.added_masses.clear();
        self.added_masses.resize(count, 0.0);
        self.responses.clear();
        self.responses.resize(count, V::ZERO);
    }
}

impl<V: Vector> Cloth<V> {
    /// Applies the impulses to all particles that are free.
    pub(crate) fn push(&mut self, impulses: &[V]) {
        for (particle, &impulse) in impulses.iter().enumerate() {
            if impulse != V::ZERO {
                let change = impulse * self.inverse_mass(particle);
                if change.is_finite() {
                    self.velocities[particle] += change;
                }
            }
        }
    }

    /// Part of a push that a particle yields to, from 0 for one that is held.
    pub(crate) fn yielding(&self, particle: usize) -> f32 {
        if self.inverse_mass(particle) == 0.0 {
            return 0.0;
        }
        self.yielding.get(particle).copied().unwrap_or(1.0)
    }

    /// Begins a step under a load, after all other forces.
    pub(super) fn take_up(&mut self, load: &mut ClothLoad<V>) {
        self.push(&load.impulses);
        load.velocities.clone_from(&self.velocities);
        load.positions.clone_from(&self.positions);
        let inverse = self.work.inverse.iter_mut().zip(&self.masses);
        for ((inverse, mass), &added) in inverse.zip(&load.added_masses) {
            if *inverse > 0.0 {
                *inverse = 1.0 / (mass + added);
            }
        }
    }

    /// Ends it, after `count` substeps in `dt` of each of which damping left the
    /// part `kept` of a velocity.
    ///
    /// The velocities become those of the whole step: what the last substep's
    /// corrections add to them would be noise to the fluid, a wall that trembles.
    pub(super) fn answer(
        &mut self,
        load: &mut ClothLoad<V>,
        dt: f32,
        kept: f32,
        count: u32,
        gravity: V,
    ) {
        let h = dt / count as f32;
        let longest = self.fastest() * dt;
        let moved = load.positions.iter().zip(&self.positions);
        for (velocity, (&from, &to)) in self.velocities.iter_mut().zip(moved) {
            // What is farther away was put there.
            if count > 1 && (to - from).length() <= longest {
                *velocity = (to - from) * (1.0 / dt) + gravity * (0.5 * (dt - h));
            }
        }
        let (mut left, mut fallen) = (1.0, 0.0);
        for _ in 0..count {
            (left, fallen) = (left * kept, fallen * kept + h);
        }
        self.yielding.resize(self.positions.len(), 1.0);
        for particle in 0..self.positions.len() {
            if self.inverse_mass(particle) == 0.0 {
                continue;
            }
            let free = load.velocities[particle] * left + gravity * fallen;
            let response = self.velocities[particle] - free;
            load.responses[particle] += response;
            let impulse = load.impulses[particle];
            let mass = self.masses[particle] + load.added_masses[particle];
            let pushed = impulse.length();
            if pushed > FAINT * mass * fallen * gravity.length() && pushed > 0.0 {
                let held = -response.dot(impulse) * (mass / (pushed * pushed));
                let yielding = &mut self.yielding[particle];
                *yielding += (1.0 - held.clamp(0.0, 1.0) - *yielding) * LEARNING;
            }
        }
    }
}
