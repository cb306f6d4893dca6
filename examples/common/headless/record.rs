//! What is written down of a step and of a moment.

use std::collections::BTreeMap;
use std::time::Duration;

use bevy_fluid::solver::cloth::{Cloth, ClothStage};
use bevy_fluid::solver::companions::Companions;
use bevy_fluid::solver::simulation::Simulation;
use bevy_fluid::solver::smoke::{Smoke, SmokeStage, SmokeView};
use bevy_fluid::solver::stats::Stage;
use bevy_fluid::solver::vector::Vector;
use serde::{Serialize, Serializer};

/// The figures of a step as a line of the `--jsonl` file: those of each system
/// that the scene has under its own key, or beside the time where it is the
/// only one.
pub fn step_line<V: Vector>(simulation: &Simulation<V>) -> serde_json::Result<String> {
    let Companions { cloths, smokes, .. } = simulation.companions();
    let water = has_water(simulation).then(|| WaterFigures::of(simulation));
    let systems = [
        ("water", texts(water)?),
        ("cloth", texts(cloths.iter().map(ClothFigures::of))?),
        ("smoke", texts(smokes.iter().map(SmokeFigures::of))?),
    ];
    let start = format!(
        "{{\"step\":{},\"time\":{},\"dt\":{}",
        simulation.steps(),
        serde_json::to_string(&simulation.time())?,
        serde_json::to_string(&simulation.last_step())?,
    );
    Ok(joined(start, &systems) + "\n")
}

/// Everything at a moment as the bytes of a JSON file: the table of each system
/// that the scene has under its own key, or its parts beside the time where it
/// is the only one.
pub fn snapshot<V: Vector>(simulation: &mut Simulation<V>) -> serde_json::Result<Vec<u8>> {
    let time = serde_json::to_string(&simulation.time())?;
    let start = format!("{{\"step\":{},\"time\":{time}", simulation.steps());
    let water = has_water(simulation).then(|| particles(simulation));
    let Companions { cloths, smokes, .. } = simulation.companions();
    let systems = [
        ("water", texts(water)?),
        ("cloth", texts(cloths.iter().map(cloth_particles))?),
        ("smoke", texts(smokes.iter().map(cells))?),
    ];
    Ok(joined(start, &systems).into_bytes())
}

/// Whether water is a system of the scene; of an empty one it is the only one.
fn has_water<V: Vector>(simulation: &Simulation<V>) -> bool {
    let Companions { cloths, smokes, .. } = simulation.companions();
    !simulation.world().is_empty() || cloths.is_empty() && smokes.is_empty()
}

/// Objects as JSON texts.
fn texts<T: Serialize>(objects: impl IntoIterator<Item = T>) -> serde_json::Result<Vec<String>> {
    objects.into_iter().map(|object| serde_json::to_string(&object)).collect()
}

/// A JSON object that begins with `start` and goes on with the objects of the systems.
fn joined(start: String, systems: &[(&str, Vec<String>)]) -> String {
    let systems: Vec<_> = systems.iter().filter(|(_, objects)| !objects.is_empty()).collect();
    let rest = match &systems[..] {
        [(_, objects)] if objects.len() == 1 => objects[0][1..].to_owned(),
        systems => {
            let part = |(name, objects): &&(&str, Vec<String>)| match &objects[..] {
                [object] => format!("\"{name}\":{object}"),
                several => format!("\"{name}\":[{}]", several.join(",")),
            };
            systems.iter().map(part).collect::<Vec<_>>().join(",") + "}"
        }
    };
    format!("{start},{rest}")
}

/// The figures of the water, in the order of a line.
#[derive(Serialize)]
struct WaterFigures {
    iterations_density: u32,
    iterations_divergence: u32,
    applications: f32,
    density_error: f32,
    divergence_error: f32,
    held_back: u32,
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

impl WaterFigures {
    fn of<V: Vector>(simulation: &Simulation<V>) -> Self {
        let world = simulation.world();
        let (stats, measures) = (world.stats(), world.measure());
        Self {
            iterations_density: stats.density_iterations,
            iterations_divergence: stats.divergence_iterations,
            applications: stats.applications,
            density_error: stats.density_error,
            divergence_error: stats.divergence_error,
            held_back: stats.held_back,
            mean_density: measures.mean_density,
            max_density: measures.max_density,
            mean_abs_density_error: measures.mean_abs_density_error,
            kinetic_energy: measures.kinetic_energy,
            potential_energy: measures.potential_energy,
            center_of_mass: components(measures.center_of_mass).collect(),
            max_speed: measures.max_speed,
            particles: world.len(),
            ms: Milliseconds::of(Stage::ALL.map(|stage| (stage.name(), stats.duration(stage)))),
        }
    }
}

/// The figures of a cloth, in the order of a line.
#[derive(Serialize)]
struct ClothFigures {
    iterations: u32,
    max_strain: f32,
    mean_strain: f32,
    kinetic_energy: f64,
    potential_energy: f64,
    max_speed: f32,
    constraints: usize,
    ms: Milliseconds,
}

impl ClothFigures {
    fn of<V: Vector>(cloth: &Cloth<V>) -> Self {
        let stats = cloth.stats();
        Self {
            iterations: stats.iterations,
            max_strain: stats.max_strain,
            mean_strain: stats.mean_strain,
            kinetic_energy: stats.kinetic_energy,
            potential_energy: stats.potential_energy,
            max_speed: stats.max_speed,
            constraints: stats.constraints,
            ms: Milliseconds::of(
                ClothStage::ALL.map(|stage| (stage.name(), stats.duration(stage))),
            ),
        }
    }
}

/// The figures of a domain of smoke after the last of its own steps, in the
/// order of a line.
#[derive(Serialize)]
struct SmokeFigures {
    divergence_before: f32,
    divergence_after: f32,
    iterations: u32,
    total_dye: Vec<f64>,
    max_speed: f32,
    ms: Milliseconds,
}

impl SmokeFigures {
    fn of<V: Vector>(smoke: &Smoke<V>) -> Self {
        let stats = smoke.stats();
        Self {
            divergence_before: stats.divergence_before,
            divergence_after: stats.divergence_after,
            iterations: stats.iterations,
            total_dye: stats.total_dye.clone(),
            max_speed: stats.max_speed,
            ms: Milliseconds::of(
                SmokeStage::ALL.map(|stage| (stage.name(), stats.duration(stage))),
            ),
        }
    }
}

/// Milliseconds by stage, in the order of the stages.
struct Milliseconds(Vec<(&'static str, f64)>);

impl Milliseconds {
    fn of<const N: usize>(stages: [(&'static str, Duration); N]) -> Self {
        Self(stages.map(|(name, time)| (name, time.as_nanos() as f64 / 1e6)).to_vec())
    }
}

impl Serialize for Milliseconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}

/// A table of a system at a moment.
#[derive(Serialize)]
struct Table {
    columns: Vec<&'static str>,
    rows: Vec<Vec<f32>>,
}

/// The particles as the last step left them, fluid after fluid, each in the
/// order of its ids.
fn particles<V: Vector>(simulation: &mut Simulation<V>) -> Table {
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
    Table { columns, rows }
}

/// The particles of a cloth by index.
fn cloth_particles<V: Vector>(cloth: &Cloth<V>) -> Table {
    let columns = [&["x", "y", "z"][..V::DIM], &["vx", "vy", "vz"][..V::DIM]].concat();
    let state = cloth.positions().iter().zip(cloth.velocities());
    let rows = state.map(|(&x, &v)| components(x).chain(components(v)).collect()).collect();
    Table { columns, rows }
}

/// The cells of a domain of smoke, x fastest.
fn cells<V: Vector>(smoke: &Smoke<V>) -> Table {
    let columns = [&["density"], &["u", "v", "w"][..V::DIM]].concat();
    let state = smoke.view(SmokeView::Dye(0)).zip(smoke.velocities());
    let rows = state.map(|(dye, v)| [dye].into_iter().chain(components(v)).collect()).collect();
    Table { columns, rows }
}

/// The components of a vector, as many as it has.
fn components<V: Vector>(vector: V) -> impl Iterator<Item = f32> {
    vector.to_array().into_iter().take(V::DIM)
}
