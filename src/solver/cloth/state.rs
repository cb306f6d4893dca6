//! Everything that the next step of a cloth reads.

use super::step::Work;
use super::{Cloth, ClothSettings, ClothStats, DistanceConstraint, Pin, check_mass};
use crate::solver::error::FluidError;
use crate::solver::vector::Vector;

/// A cloth as data, to be saved and restored.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "scene", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "scene",
    serde(
        deny_unknown_fields,
        bound(serialize = "V: serde::Serialize", deserialize = "V: serde::Deserialize<'de>")
    )
)]
pub struct ClothState<V> {
    /// Positions in metres.
    pub positions: Vec<V>,
    /// Velocities in m/s.
    pub velocities: Vec<V>,
    /// Masses in kilograms.
    pub masses: Vec<f32>,
    /// Positions in the rest shape in metres.
    pub rest_positions: Vec<V>,
    /// Distances to be kept.
    pub constraints: Vec<DistanceConstraint>,
    /// Triangles of particles.
    pub triangles: Vec<[u32; 3]>,
    /// The particle of each vertex of the mesh.
    pub particle_of_vertex: Vec<u32>,
    /// Columns and rows, where the particles form a grid.
    pub grid: Option<[u32; 2]>,
    /// Pinned particles, by index.
    pub pins: Vec<Pin<V>>,
    /// The particle in the hand.
    pub grabbed: Option<Pin<V>>,
    /// The parameters.
    pub settings: ClothSettings,
    /// Stiffnesses in effect against stretch, shear and bending, which follow
    /// the settings; none before the first step.
    pub eased: Option<[f32; 3]>,
    /// Part of a push by fluid that each particle yields to, as its last steps
    /// taught; none before the first one.
    #[cfg_attr(feature = "scene", serde(default = "Vec::new"))]
    pub yielding: Vec<f32>,
}

impl<V: Vector> Cloth<V> {
    /// Everything that the next step reads.
    pub fn state(&self) -> ClothState<V> {
        ClothState {
            positions: self.positions.clone(),
            velocities: self.velocities.clone(),
            masses: self.masses.clone(),
            rest_positions: self.rest_positions.clone(),
            constraints: self.constraints.clone(),
            triangles: self.triangles.clone(),
            particle_of_vertex: self.particle_of_vertex.clone(),
            grid: self.grid,
            pins: self.pins.clone(),
            grabbed: self.grabbed,
            settings: self.settings.clone(),
            eased: self.eased,
            yielding: self.yielding.clone(),
        }
    }

    /// A cloth that goes on from `state`, bit for bit.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for the first value out of range.
    pub fn from_state(state: ClothState<V>) -> Result<Self, FluidError> {
        state.validate()?;
        Ok(Self {
            positions: state.positions,
            velocities: state.velocities,
            masses: state.masses,
            rest_positions: state.rest_positions,
            constraints: state.constraints,
            triangles: state.triangles,
            particle_of_vertex: state.particle_of_vertex,
            grid: state.grid,
            pins: state.pins,
            grabbed: state.grabbed,
            settings: state.settings,
            eased: state.eased,
            yielding: state.yielding,
            stats: ClothStats::default(),
            stale: true,
            stale_pins: true,
            work: Work::default(),
        })
    }
}

impl<V: Vector> ClothState<V> {
    /// Checks every value against its range.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for the first one outside.
    pub fn validate(&self) -> Result<(), FluidError> {
        let count = self.positions.len();
        if count == 0 || count > super::MAX_PARTICLES {
            let allowed = format!("1 to {} particles", super::MAX_PARTICLES);
            return Err(FluidError::parameter("positions", count, allowed));
        }
        let lengths = [
            ("velocities", self.velocities.len()),
            ("masses", self.masses.len()),
            ("rest_positions", self.rest_positions.len()),
        ];
        for (name, length) in lengths {
            if length != count {
                let allowed = format!("{count} as positions");
                return Err(FluidError::parameter(name, length, allowed));
            }
        }
        check_finite("positions", &self.positions)?;
        check_finite("velocities", &self.velocities)?;
        check_finite("rest_positions", &self.rest_positions)?;
        for (index, &mass) in self.masses.iter().enumerate() {
            check_mass(format_args!("masses[{index}]"), mass)?;
        }
        check_constraints(&self.constraints, count)?;
        let below = format!("indices below {count}");
        let mut corners = self.triangles.iter().flatten().chain(&self.particle_of_vertex);
        if let Some(index) = corners.find(|&&corner| corner as usize >= count) {
            return Err(FluidError::parameter("triangles", index, below));
        }
        if let Some([columns, rows]) = self.grid
            && u64::from(columns) * u64::from(rows) != count as u64
        {
            return Err(FluidError::parameter(
                "grid",
                self.grid,
                "columns and rows of all particles",
            ));
        }
        for pin in self.pins.iter().chain(&self.grabbed) {
            if pin.particle as usize >= count {
                return Err(FluidError::parameter("pins", pin.particle, below));
            }
            if !pin.target.is_finite() {
                return Err(FluidError::parameter("pins", pin.target, "finite components, m"));
            }
        }
        if !self.pins.is_sorted_by(|a, b| a.particle < b.particle) {
            return Err(FluidError::parameter("pins", "unsorted", "each particle once, by index"));
        }
        let valid = |[stretch, shear, bend]: [f32; 3]| {
            let part = 0.0..=1.0;
            part.contains(&stretch) && part.contains(&shear) && bend >= 0.0 && bend.is_finite()
        };
        if !self.eased.is_none_or(valid) {
            return Err(FluidError::parameter(
                "eased",
                self.eased,
                "0 to 1, 0 to 1, 0 N m or more",
            ));
        }
        let known = self.yielding.is_empty() || self.yielding.len() == count;
        if !known || !self.yielding.iter().all(|part| (0.0..=1.0).contains(part)) {
            let allowed = format!("none, or {count} from 0 to 1");
            return Err(FluidError::parameter("yielding", self.yielding.len(), allowed));
        }
        self.settings.validate().map_err(|error| error.within("settings"))
    }
}

pub(super) fn check_finite<V: Vector>(name: &str, values: &[V]) -> Result<(), FluidError> {
    match values.iter().position(|value| !value.is_finite()) {
        Some(index) => {
            let name = format_args!("{name}[{index}]").to_string();
            Err(FluidError::parameter(name, values[index], "finite components"))
        }
        None => Ok(()),
    }
}

pub(super) fn check_constraints(
    constraints: &[DistanceConstraint],
    particles: usize,
) -> Result<(), FluidError> {
    for (index, constraint) in constraints.iter().enumerate() {
        let valid = constraint.validate(particles);
        valid.map_err(|error| error.within(format_args!("constraints[{index}]")))?;
    }
    Ok(())
}
