//! What is compiled in this crate, once for each dimension.
//!
//! A generic function is compiled again in every crate that calls it: each game, example and test
//! would compile all solvers, which takes minutes. The functions here are concrete, so the generic
//! ones behind them are compiled with this crate alone.

use bevy_math::{Vec2, Vec3};

use super::cloth::{Cloth, Surroundings};
use super::error::FluidError;
use super::fan::Fan;
use super::parallel::Threads;
use super::scene::Scene;
use super::simulation::{Simulation, SimulationState};
use super::smoke::Smoke;
use super::sph::RemovedParticle;
use super::vector::Vector;

/// Entries into the solvers, see the [module](self).
pub trait Compiled: Sized {
    fn open(scene: &Scene<Self>) -> Result<Simulation<Self>, FluidError>
    where
        Self: Vector;
    fn advance(
        simulation: &mut Simulation<Self>,
        dt: f32,
        threads: Threads,
    ) -> Result<Vec<RemovedParticle>, FluidError>
    where
        Self: Vector;
    fn save(simulation: &mut Simulation<Self>) -> SimulationState<Self>
    where
        Self: Vector;
    fn resume(state: SimulationState<Self>) -> Result<Simulation<Self>, FluidError>
    where
        Self: Vector;
    fn move_cloth(
        cloth: &mut Cloth<Self>,
        dt: f32,
        around: &Surroundings<Self>,
    ) -> Result<(), FluidError>
    where
        Self: Vector;
    fn step_smoke(smoke: &mut Smoke<Self>, dt: f32, threads: Threads) -> Result<(), FluidError>
    where
        Self: Vector;
    fn advance_smoke(
        smoke: &mut Smoke<Self>,
        elapsed: f32,
        fans: &[Fan<Self>],
        threads: Threads,
    ) -> Result<(), FluidError>
    where
        Self: Vector;
}

macro_rules! compile_for {
    ($vector:ty) => {
        impl Compiled for $vector {
            #[inline(never)]
            fn open(scene: &Scene<Self>) -> Result<Simulation<Self>, FluidError> {
                Simulation::open(scene)
            }

            #[inline(never)]
            fn advance(
                simulation: &mut Simulation<Self>,
                dt: f32,
                threads: Threads,
            ) -> Result<Vec<RemovedParticle>, FluidError> {
                simulation.advance(dt, threads)
            }

            #[inline(never)]
            fn save(simulation: &mut Simulation<Self>) -> SimulationState<Self> {
                simulation.save()
            }

            #[inline(never)]
            fn resume(state: SimulationState<Self>) -> Result<Simulation<Self>, FluidError> {
                Simulation::resume(state)
            }

            #[inline(never)]
            fn move_cloth(
                cloth: &mut Cloth<Self>,
                dt: f32,
                around: &Surroundings<Self>,
            ) -> Result<(), FluidError> {
                cloth.move_freely(dt, around)
            }

            #[inline(never)]
            fn step_smoke(
                smoke: &mut Smoke<Self>,
                dt: f32,
                threads: Threads,
            ) -> Result<(), FluidError> {
                smoke.run_stages(dt, threads)
            }

            #[inline(never)]
            fn advance_smoke(
                smoke: &mut Smoke<Self>,
                elapsed: f32,
                fans: &[Fan<Self>],
                threads: Threads,
            ) -> Result<(), FluidError> {
                smoke.catch_up(elapsed, fans, threads)
            }
        }
    };
}

compile_for!(Vec2);
compile_for!(Vec3);
