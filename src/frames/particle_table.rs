//! All particles of a moment as columns.

use crate::solver::simulation::FluidBody;
use crate::solver::vector::Vector;

/// The particles of all bodies at a moment, body after body, each in the order of its ids. In 2D
/// the third component of a vector is 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParticleTable {
    /// Positions in metres.
    pub positions: Vec<[f32; 3]>,
    /// Velocities in m/s.
    pub velocities: Vec<[f32; 3]>,
    /// Densities in kg/m³, in 2D in kg/m².
    pub densities: Vec<f32>,
    /// Pressures in Pa, both solves together.
    pub pressures: Vec<f32>,
    /// Numbers of the particles in their bodies. One that is removed leaves its number to a new one.
    pub ids: Vec<u32>,
    /// Index of each particle's body.
    pub fluids: Vec<u32>,
}

impl ParticleTable {
    /// The particles of bodies, as the last step left them.
    pub fn new<V: Vector>(bodies: &[FluidBody<V>]) -> Self {
        let mut table = Self::default();
        for (fluid, body) in bodies.iter().enumerate() {
            let particles = &body.particles;
            let mut order: Vec<usize> = (0..particles.len()).collect();
            order.sort_unstable_by_key(|&index| particles.ids()[index]);
            for index in order {
                let result = &particles.results()[index];
                table.positions.push(particles.positions()[index].to_array());
                table.velocities.push(particles.velocities()[index].to_array());
                table.densities.push(result.density);
                table.pressures.push(result.pressure());
                table.ids.push(particles.ids()[index].slot());
                table.fluids.push(fluid as u32);
            }
        }
        table
    }

    /// Number of particles.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// True if there is no particle.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::solver::parallel::Threads;
    use crate::solver::scene::Scene;
    use crate::solver::simulation::Simulation;

    /// Two bodies after a few steps, a particle of the first one removed and another come for it.
    pub fn table() -> ParticleTable {
        let mut scene = Scene::dam_break(4, 5);
        scene.fluids.push(scene.fluids[0].clone());
        let mut simulation = Simulation::from_scene(&scene).unwrap();
        let particles = &mut simulation.bodies_mut()[0].particles;
        particles.remove(particles.ids()[3]).unwrap();
        particles.spawn(bevy_math::Vec2::ONE, bevy_math::Vec2::NEG_Y).unwrap();
        for _ in 0..3 {
            simulation.step(0.005, Threads::Serial).unwrap();
        }
        ParticleTable::new(simulation.bodies())
    }

    #[test]
    fn particles_come_in_the_order_of_bodies_and_ids() {
        let table = table();
        assert_eq!(table.len(), 40);
        let ids: Vec<u32> = (0..20).chain(0..20).collect();
        assert_eq!(table.ids, ids);
        assert_eq!(table.fluids, [[0; 20], [1; 20]].concat());
        assert!((table.positions[3][0] - 1.0).abs() < 0.1, "the new one has the free number");
        assert!(table.velocities[3][1] < -1.0);
        assert!(table.pressures.iter().any(|&pressure| pressure > 0.0));
    }
}
