//! What is written down of a step and of a moment.

use std::collections::BTreeMap;

use bevy_fluid::solver::simulation::Simulation;
use bevy_fluid::solver::stats::Stage;
use bevy_fluid::solver::vector::Vector;
use serde::{Serialize, Serializer, ser::SerializeMap};

/// A line of the `--jsonl` file, in the order of its fields.
#[derive(Serialize)]
pub struct StepRecord {
    step: u64,
    time: f64,
    dt: f32,
    iterations_density: u32,
    iterations_divergence: u32,
    applications: f32,
    density_error: f32,
    divergence_error: f32,
    mean_density: f32,
    max_density: f32,
    mean_abs_density_error: f32,
    kinetic_energy: f32,
    potential_energy: f32,
    center_of_mass: Vec<f32>,
    max_speed: f32,
    particles: usize,
    ms: Milliseconds,
}

/// Milliseconds by stage, in the order of the stages.
struct Milliseconds([f64; Stage::ALL.len()]);

impl Serialize for Milliseconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (stage, ms) in Stage::ALL.iter().zip(self.0) {
            map.serialize_entry(stage.name(), &ms)?;
        }
        map.end()
    }
}

impl StepRecord {
    /// The record of the step just done.
    pub fn of<V: Vector>(simulation: &Simulation<V>) -> Self {
        let world = simulation.world();
        let (stats, measures) = (world.stats(), world.measure());
        Self {
            step: simulation.steps(),
            time: simulation.time(),
            dt: stats.dt,
            iterations_density: stats.density_iterations,
            iterations_divergence: stats.divergence_iterations,
            applications: stats.applications,
            density_error: stats.density_error,
            divergence_error: stats.divergence_error,
            mean_density: measures.mean_density,
            max_density: measures.max_density,
            mean_abs_density_error: measures.mean_abs_density_error,
            kinetic_energy: measures.kinetic_energy,
            potential_energy: measures.potential_energy,
            center_of_mass: components(measures.center_of_mass).collect(),
            max_speed: measures.max_speed,
            particles: world.len(),
            ms: Milliseconds(Stage::ALL.map(|stage| stats.duration(stage).as_nanos() as f64 / 1e6)),
        }
    }

    /// The record as a line with its end.
    pub fn line(&self) -> serde_json::Result<String> {
        Ok(serde_json::to_string(self)? + "\n")
    }
}

/// All particles at a moment.
#[derive(Serialize)]
pub struct Snapshot {
    step: u64,
    time: f64,
    columns: Vec<&'static str>,
    rows: Vec<Vec<f32>>,
}

impl Snapshot {
    /// The particles as the last step left them, fluid after fluid, each in the
    /// order of its ids.
    pub fn of<V: Vector>(simulation: &mut Simulation<V>) -> Self {
        let (step, time) = (simulation.steps(), simulation.time());
        let several = simulation.bodies().len() > 1;
        let mut columns = [&["x", "y", "z"][..V::DIM], &["vx", "vy", "vz"][..V::DIM]].concat();
        columns.extend(["density", "pressure_density", "pressure_divergence"]);
        columns.extend(several.then_some("fluid"));
        let mut rows = Vec::new();
        for (index, body) in simulation.bodies().iter().enumerate() {
            let particles = &body.particles;
            let by_id: BTreeMap<_, _> = particles.ids().iter().zip(0..).collect();
            for particle in by_id.into_values() {
                let result = &particles.results()[particle];
                let mut row = Vec::with_capacity(columns.len());
                row.extend(components(particles.positions()[particle]));
                row.extend(components(particles.velocities()[particle]));
                row.extend([result.density, result.density_pressure, result.divergence_pressure]);
                row.extend(several.then_some(index as f32));
                rows.push(row);
            }
        }
        Self { step, time, columns, rows }
    }

    /// The snapshot as the bytes of a JSON file.
    pub fn json(&self) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec(self)
    }
}

/// The components of a vector, as many as it has.
fn components<V: Vector>(vector: V) -> impl Iterator<Item = f32> {
    vector.to_array().into_iter().take(V::DIM)
}
