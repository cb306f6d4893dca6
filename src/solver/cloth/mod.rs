//! Cloth, ropes and chains: particles at distances from each other, solved by
//! impulses (IBDS; Bender & Schmitt 2006, Bender et al. 2012).

mod bending;
mod cells;
mod closest;
pub mod collision;
mod constraints;
mod contacts;
mod edges;
mod ibds;
mod inversion;
mod kernels;
mod links;
mod load;
mod parts;
mod pins;
mod plan;
pub mod scene;
mod self_collision;
mod settings;
mod state;
mod stats;
mod step;
mod surroundings;
mod tearing;
mod tethers;
mod topology;
mod wind;

pub use constraints::{ConstraintKind, DistanceConstraint};
pub(crate) use load::ClothLoad;
pub use pins::Pin;
pub use settings::{ClothScheme, ClothSettings, Inversion, Tethers};
pub use state::ClothState;
pub use stats::{ClothStage, ClothStats};
pub use surroundings::{AirFlow, Surroundings};
pub use topology::{ClothMesh, MAX_PARTICLES};

use super::error::FluidError;
use super::vector::Vector;

/// Masses of particles in kilograms.
const MASS: core::ops::RangeInclusive<f32> = 1e-9..=1e9;

/// A cloth.
///
/// ```
/// use bevy_fluid::solver::cloth::{Cloth, ClothMesh, Surroundings};
/// use bevy_math::Vec3;
///
/// // A curtain of 1 m with 20 x 20 particles of 10 g, pinned at its upper row.
/// let (right, down) = (Vec3::X / 19.0, -Vec3::Y / 19.0);
/// let mesh = ClothMesh::grid(Vec3::ZERO, right, down, 20, 20)?;
/// let mut cloth = Cloth::new(mesh, 0.01)?;
/// cloth.pin_where(|particle, _| particle < 20);
/// let breeze = Surroundings { wind: Vec3::Z * 3.0, ..Surroundings::default() };
/// for _ in 0..60 {
///     cloth.step(1.0 / 60.0, &breeze)?;
/// }
/// assert!(cloth.positions()[399].z > 0.1);
/// assert!(cloth.stats().max_strain < 0.01);
/// # Ok::<(), bevy_fluid::solver::error::FluidError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Cloth<V: Vector> {
    positions: Vec<V>,
    velocities: Vec<V>,
    masses: Vec<f32>,
    rest_positions: Vec<V>,
    constraints: Vec<DistanceConstraint>,
    triangles: Vec<[u32; 3]>,
    particle_of_vertex: Vec<u32>,
    grid: Option<[u32; 2]>,
    pins: Vec<Pin<V>>,
    grabbed: Option<Pin<V>>,
    settings: ClothSettings,
    /// Stiffnesses in effect by kind, none before the first step.
    eased: Option<[f32; 3]>,
    /// Part of a push that each particle yields to, none before the first load.
    yielding: Vec<f32>,
    stats: ClothStats,
    /// Whether the constraints may differ from those of the plan.
    stale: bool,
    /// Whether other particles are held than the tethers know.
    stale_pins: bool,
    work: step::Work<V>,
}

impl<V: Vector> Cloth<V> {
    /// A cloth at rest, all particles of `mass` kilograms.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for a mass that is not 1e-9 kg to 1e9 kg, a
    /// mesh without particles, a position that is not finite, or indices
    /// beyond the particles. (A particle of infinite mass is a pinned one.)
    pub fn new(mesh: ClothMesh<V>, mass: f32) -> Result<Self, FluidError> {
        let count = mesh.positions.len();
        Self::from_state(ClothState {
            velocities: vec![V::ZERO; count],
            masses: vec![mass; count],
            rest_positions: mesh.positions.clone(),
            positions: mesh.positions,
            constraints: mesh.constraints,
            triangles: mesh.triangles,
            particle_of_vertex: mesh.particle_of_vertex,
            grid: mesh.grid,
            pins: Vec::new(),
            grabbed: None,
            settings: ClothSettings::default(),
            eased: None,
            yielding: Vec::new(),
        })
    }

    /// Number of particles.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Whether there are no particles; a cloth always has one.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// Positions in metres.
    pub fn positions(&self) -> &[V] {
        &self.positions
    }

    /// Positions in the rest shape in metres.
    pub fn rest_positions(&self) -> &[V] {
        &self.rest_positions
    }

    /// Positions in metres, to be changed between steps.
    pub fn positions_mut(&mut self) -> &mut [V] {
        &mut self.positions
    }

    /// Velocities in m/s.
    pub fn velocities(&self) -> &[V] {
        &self.velocities
    }

    /// Velocities in m/s, to be changed between steps.
    pub fn velocities_mut(&mut self) -> &mut [V] {
        &mut self.velocities
    }

    /// Masses in kilograms.
    pub fn masses(&self) -> &[f32] {
        &self.masses
    }

    /// Inverse mass of a particle in 1/kg, 0 while it is held.
    pub fn inverse_mass(&self, particle: usize) -> f32 {
        if self.is_held(particle as u32) { 0.0 } else { 1.0 / self.masses[particle] }
    }

    /// Whether a particle is pinned or in the hand.
    pub fn is_held(&self, particle: u32) -> bool {
        self.grabbed.is_some_and(|pin| pin.particle == particle)
            || self.pins.binary_search_by_key(&particle, |pin| pin.particle).is_ok()
    }

    /// Gives a particle another mass, in kilograms.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for no such particle or a mass that is not
    /// 1e-9 kg to 1e9 kg.
    pub fn set_mass(&mut self, particle: usize, mass: f32) -> Result<(), FluidError> {
        let count = self.len();
        let Some(place) = self.masses.get_mut(particle) else {
            let allowed = format!("an index below {count}");
            return Err(FluidError::parameter("particle", particle, allowed));
        };
        check_mass("mass", mass)?;
        *place = mass;
        Ok(())
    }

    /// An impulse from outside, in N s, on a particle; a held one ignores it.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for no such particle or an impulse that is
    /// not finite.
    pub fn apply_impulse(&mut self, particle: usize, impulse: V) -> Result<(), FluidError> {
        if particle >= self.len() {
            let allowed = format!("an index below {}", self.len());
            return Err(FluidError::parameter("particle", particle, allowed));
        }
        if !impulse.is_finite() {
            return Err(FluidError::parameter("impulse", impulse, "finite components, N s"));
        }
        let change = impulse * self.inverse_mass(particle);
        self.velocities[particle] += change;
        Ok(())
    }

    /// The distances to be kept.
    pub fn constraints(&self) -> &[DistanceConstraint] {
        &self.constraints
    }

    /// The distances to be kept, to be changed in any way between steps. The
    /// next step refuses what is not valid.
    pub fn constraints_mut(&mut self) -> &mut Vec<DistanceConstraint> {
        self.stale = true;
        &mut self.constraints
    }

    /// Triangles of particles, for drawing and for the wind.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// The particle of each vertex of the mesh that the cloth was made from.
    pub fn particle_of_vertex(&self) -> &[u32] {
        &self.particle_of_vertex
    }

    /// Columns and rows, where the particles form a grid.
    pub fn grid(&self) -> Option<[u32; 2]> {
        self.grid
    }

    /// The parameters.
    pub fn settings(&self) -> &ClothSettings {
        &self.settings
    }

    /// Replaces the parameters. Changed stiffnesses come into effect within
    /// some tenths of a second, so that nothing jerks.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] if one is out of range; the old ones stay.
    pub fn set_settings(&mut self, settings: ClothSettings) -> Result<(), FluidError> {
        settings.validate()?;
        self.settings = settings;
        Ok(())
    }

    /// Figures of the last step.
    pub fn stats(&self) -> &ClothStats {
        &self.stats
    }

    /// Puts all particles back into the rest shape, at rest. Pins stay, where
    /// they are in that shape; the hand opens.
    pub fn reset(&mut self) {
        self.positions.copy_from_slice(&self.rest_positions);
        self.velocities.fill(V::ZERO);
        self.yielding.clear();
        self.stale_pins |= self.grabbed.take().is_some();
        for pin in &mut self.pins {
            pin.target = self.rest_positions[pin.particle as usize];
        }
    }

    /// Smallest and largest coordinates of all particles, in metres.
    pub fn bounds(&self) -> (V, V) {
        let first = self.positions.first().copied().unwrap_or(V::ZERO);
        self.positions.iter().fold((first, first), |(low, high), &x| (low.min(x), high.max(x)))
    }
}

fn check_mass(name: impl core::fmt::Display, mass: f32) -> Result<(), FluidError> {
    if MASS.contains(&mass) {
        Ok(())
    } else {
        Err(FluidError::parameter(name, mass, "1e-9 kg to 1e9 kg; pin what does not move"))
    }
}
