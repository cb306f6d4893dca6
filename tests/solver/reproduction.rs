//! The traces of the reference programs, reproduced to the closeness that f32 allows.

use bevy_fluid::solver::parallel::Threads;
use bevy_fluid::solver::scene::Scene;
use bevy_fluid::solver::settings::{EquationOfState, FluidMethod};
use bevy_fluid::solver::simulation::Simulation;
use bevy_fluid::solver::time_step::TimeStep;
use bevy_math::Vec2;
use serde_json::Value;

/// A trace as recorded, see `tests/data/README.md`.
struct Trace {
    json: Value,
}

impl Trace {
    fn read(name: &str) -> Self {
        let path = format!("{}/tests/data/{name}.json", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        Self { json: serde_json::from_str(&text).unwrap() }
    }

    fn config(&self, key: &str) -> f64 {
        self.json["config"][key].as_f64().unwrap()
    }

    fn table(&self, key: &str) -> Vec<Vec<f64>> {
        rows(&self.json[key])
    }

    /// Particle rows by step.
    fn snapshot(&self, step: u64) -> Option<Vec<Vec<f64>>> {
        let snapshots = self.json["snapshots"].as_array().unwrap();
        snapshots.iter().find(|s| s["step"] == step).map(|s| rows(&s["particles"]))
    }

    fn scene(&self) -> Scene<Vec2> {
        let mut scene = Scene::dam_break(self.config("width") as u32, self.config("height") as u32);
        scene.time_step = TimeStep::Fixed(self.config("timeStepSize") as f32);
        scene.gravity = Vec2::new(0.0, self.config("gravity") as f32);
        scene.particle_radius = self.config("particleRadius") as f32;
        scene.fluids[0].material.viscosity = self.config("viscosity") as f32;
        scene.fluids[0].material.rest_density = self.config("density0") as f32;
        if self.json["config"]["stiffness"].is_f64() || self.json["config"]["stiffness"].is_i64() {
            assert_eq!(self.config("exponent"), 7.0);
            let squared = 7.0 * self.config("stiffness") / self.config("density0");
            scene.method = FluidMethod::Wcsph;
            scene.wcsph.sound_speed = squared.sqrt() as f32;
            scene.wcsph.equation_of_state = EquationOfState::Tait;
            return scene;
        }
        scene.dfsph.max_density_error = (self.config("maxError") / 100.0) as f32;
        scene.dfsph.max_divergence_error = (self.config("maxErrorV") / 100.0) as f32;
        scene.dfsph.max_density_iterations = self.config("maxIterations") as u32;
        scene.dfsph.max_divergence_iterations = self.config("maxIterationsV") as u32;
        scene
    }
}

fn rows(value: &Value) -> Vec<Vec<f64>> {
    let numbers =
        |row: &Value| row.as_array().unwrap().iter().map(|n| n.as_f64().unwrap()).collect();
    value.as_array().unwrap().iter().map(numbers).collect()
}

const TRACES: [&str; 3] = ["dfsph_10x10", "dfsph_30x30_default", "dfsph_12x20_tight"];

const WCSPH_TRACES: [&str; 2] = ["wcsph_10x10", "wcsph_40x30_default"];

#[test]
fn initial_densities_and_boundary_masses_equal_the_reference() {
    for name in TRACES {
        let trace = Trace::read(name);
        let mut simulation = Simulation::from_scene(&trace.scene()).unwrap();
        simulation.prepare(Threads::Serial).unwrap();
        let rest = trace.config("density0");

        let expected = trace.table("initial");
        let particles = &simulation.bodies()[0].particles;
        assert_eq!(particles.len(), expected.len());
        for (index, row) in expected.iter().enumerate() {
            let (x, density) = (particles.positions()[index], particles.results()[index].density);
            assert!((f64::from(x.x) - row[0]).abs() < 1e-6, "{name} {index}: {x}");
            assert!((f64::from(x.y) - row[1]).abs() < 1e-6, "{name} {index}: {x}");
            assert!((f64::from(density) - row[2]).abs() < 2e-5 * rest, "{name} {index}: {density}");
        }

        let expected = trace.table("boundary");
        assert_eq!(simulation.world().boundary_len(), expected.len(), "{name}");
        for (x, volume) in simulation.world().boundary_samples() {
            let distance =
                |row: &Vec<f64>| (f64::from(x.x) - row[0]).hypot(f64::from(x.y) - row[1]);
            let nearest =
                expected.iter().min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap();
            assert!(distance(nearest) < 1e-6, "{name}: no sample of the reference at {x}");
            let psi = f64::from(volume) * rest;
            assert!((psi - nearest[2]).abs() < 1e-4, "{name} at {x}: {psi} not {}", nearest[2]);
        }
    }
}

#[test]
fn particles_follow_the_reference_for_fifty_steps() {
    for name in TRACES.into_iter().chain(WCSPH_TRACES) {
        let trace = Trace::read(name);
        let spacing = 2.0 * trace.config("particleRadius");
        let mut simulation = Simulation::from_scene(&trace.scene()).unwrap();
        for step in 1..=50 {
            simulation.step(simulation.next_step(), Threads::Serial).unwrap();
            let Some(expected) = trace.snapshot(step) else {
                continue;
            };
            let allowed = match step {
                1 | 2 => 1e-5,
                3..=10 => 1e-4,
                _ => 1e-3,
            };
            let particles = &simulation.bodies()[0].particles;
            let positions = particles.positions().iter().zip(&expected);
            let largest = positions
                .map(|(x, row)| (f64::from(x.x) - row[0]).hypot(f64::from(x.y) - row[1]) / spacing)
                .fold(0.0, f64::max);
            println!("{name} step {step}: {largest:.1e} spacings");
            assert!(largest < allowed, "{name} step {step}: off by {largest:e} spacings");
        }
    }
}

#[test]
fn iterations_of_both_solves_equal_the_reference_for_fifty_steps() {
    for name in TRACES {
        let trace = Trace::read(name);
        let mut simulation = Simulation::from_scene(&trace.scene()).unwrap();
        for row in trace.table("per_step").iter().take(50) {
            simulation.step(simulation.next_step(), Threads::Serial).unwrap();
            let stats = simulation.world().stats();
            assert_eq!(
                (stats.density_iterations, stats.divergence_iterations),
                (row[1] as u32, row[2] as u32),
                "{name} step {}",
                row[0]
            );
        }
    }
}

#[test]
fn means_follow_the_reference_through_the_splash() {
    for name in TRACES.into_iter().chain(WCSPH_TRACES) {
        let trace = Trace::read(name);
        let mut simulation = Simulation::from_scene(&trace.scene()).unwrap();
        simulation.prepare(Threads::Serial).unwrap();
        let spacing = 2.0 * trace.config("particleRadius");
        let columns = &trace.json["columns"]["per_step"];
        let column = |name: &str| {
            columns.as_array().unwrap().iter().position(|column| column == name).unwrap()
        };
        // Of a few hundred particles each counts for up to a percent, and the splash
        // is chaotic: the reference's own f64 program with only its positions
        // rounded to f32 is off by 2.9 % in kinetic energy at step 180, and a
        // last bit elsewhere moves that by a percent.
        let steps = if simulation.world().len() < 200 { 150 } else { 200 };
        for row in trace.table("per_step").iter().take(steps) {
            simulation.step(simulation.next_step(), Threads::Serial).unwrap();
            let measures = simulation.world().measure();
            let particles = &simulation.bodies()[0].particles;
            let front = particles.positions().iter().map(|x| x.x).fold(f32::MIN, f32::max);
            let close = |what: &str, value: f32, expected: f64, part: f64, at_least: f64| {
                let error = (f64::from(value) - expected).abs();
                let allowed = (part * expected.abs()).max(at_least);
                assert!(
                    error <= allowed,
                    "{name} step {}: {what} {value}, {expected} in the reference",
                    row[0]
                );
            };
            close("mean height", measures.center_of_mass.y, row[column("mean_y")], 0.01, 0.0);
            let expected = row[column("kinetic_energy")];
            close("kinetic energy", measures.kinetic_energy, expected, 0.03, 0.0);
            // The front passes through zero: a percent of the box, not of the coordinate.
            let box_width = 3.0 * trace.config("width") * spacing;
            close("front", front, row[column("front_x")], 0.01, 0.01 * box_width);
        }
    }
}
