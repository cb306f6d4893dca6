//! What a step of a cloth did.

use core::time::Duration;

use super::constraints::{ConstraintKind, DistanceConstraint};
use super::settings::ClothSettings;
use crate::solver::vector::Vector;

/// The stages of a step of a cloth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClothStage {
    /// Wind, gravity, pins, and what follows from changed constraints.
    Forces,
    /// Impulses of the constraints and tethers.
    Constraints,
    /// Colliders and the cloth itself.
    Collisions,
    /// Motion, and the figures.
    Integrate,
}

impl ClothStage {
    /// All stages, in their order.
    pub const ALL: [Self; 4] = [Self::Forces, Self::Constraints, Self::Collisions, Self::Integrate];

    /// Name in snake case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Forces => "forces",
            Self::Constraints => "constraints",
            Self::Collisions => "collisions",
            Self::Integrate => "integrate",
        }
    }
}

/// Figures of a cloth after its last step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClothStats {
    /// Length of the step in seconds.
    pub dt: f32,
    /// Sweeps over the constraints in all substeps.
    pub iterations: u32,
    /// Constraints.
    pub constraints: usize,
    /// Largest |length/rest length - 1| of the rigid constraints, those
    /// against bending left out.
    pub max_strain: f32,
    /// Mean of the same.
    pub mean_strain: f32,
    /// Kinetic energy in joules.
    pub kinetic_energy: f64,
    /// Potential energy -m g.x in joules.
    pub potential_energy: f64,
    /// Largest speed in m/s.
    pub max_speed: f32,
    /// Particles whose state was no number any more, put back to where they
    /// were before the step, at rest.
    pub restored: usize,
    /// Constraints torn in the step.
    pub torn: usize,
    /// Time spent in each stage.
    pub durations: [Duration; 4],
}

impl ClothStats {
    /// Time spent in a stage.
    pub fn duration(&self, stage: ClothStage) -> Duration {
        self.durations[stage as usize]
    }

    /// Time spent in all stages.
    pub fn total(&self) -> Duration {
        self.durations.iter().sum()
    }

    pub(super) fn measure_strain<V: Vector>(
        &mut self,
        positions: &[V],
        constraints: &[DistanceConstraint],
        settings: &ClothSettings,
    ) {
        let (mut max, mut sum, mut count) = (0.0f32, 0.0f64, 0usize);
        for constraint in constraints {
            let rigid = constraint.total_stiffness(settings) >= 1.0;
            if rigid && constraint.kind != ConstraintKind::Bend {
                let [a, b] = [constraint.a, constraint.b].map(|end| positions[end as usize]);
                let strain = ((a - b).length() / constraint.rest_length - 1.0).abs();
                max = max.max(strain);
                sum += f64::from(strain);
                count += 1;
            }
        }
        self.max_strain = max;
        self.mean_strain = (sum / count.max(1) as f64) as f32;
    }

    pub(super) fn measure_motion<V: Vector>(
        &mut self,
        positions: &[V],
        velocities: &[V],
        masses: &[f32],
        gravity: V,
    ) {
        let (mut kinetic, mut potential, mut fastest) = (0.0f64, 0.0f64, 0.0f32);
        for ((&x, &v), &mass) in positions.iter().zip(velocities).zip(masses) {
            let squared = v.length_squared();
            fastest = fastest.max(squared);
            kinetic += 0.5 * f64::from(mass) * f64::from(squared);
            potential -= f64::from(mass) * f64::from(gravity.dot(x));
        }
        self.kinetic_energy = kinetic;
        self.potential_energy = potential;
        self.max_speed = fastest.sqrt();
    }
}
