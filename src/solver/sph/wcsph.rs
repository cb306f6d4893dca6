//! Weakly compressible SPH (Becker & Teschner 2007): the pressure follows from
//! the density by an equation of state.

use super::FluidWorld;
use super::pressure::System;
use crate::solver::parallel::Threads;
use crate::solver::vector::Vector;

/// Applies the pressure of the present densities.
///
/// With p_i = rho0_i P(rho_i/rho0_i), a_i = -sum_j m_j (p_i/rho_i² + p_j/rho_j²)
/// grad W_ij - sum_k rho0 V_k p_i/rho_i² grad W_ik, which are the pressure
/// accelerations of DFSPH at kappa_i = p_i (rho0_i/rho_i)². Densities below the
/// rest density count as that where negative pressures are clamped.
pub(super) fn apply_pressure<V: Vector>(world: &mut FluidWorld<V>, dt: f32, threads: Threads) {
    let mut impulses = core::mem::take(&mut world.particles.density_impulses);
    let (equation, sound_speed) =
        (world.settings.wcsph.equation_of_state, world.settings.wcsph.sound_speed);
    let least = world.settings.wcsph.negative_pressure.least_density();
    world.workspace.vectors(world.particles.positions.len());
    system(world, dt, threads).set(|density, lightness| {
        let density = density.max(least);
        equation.pressure(density, sound_speed) / (lightness * density * density)
    });
    world.relieve_membranes();
    system(world, dt, threads).accelerate();
    // As the next step's warm start, should it be one of DFSPH.
    world.apply_pressure(&mut impulses, dt * dt, dt, threads);
    world.particles.density_impulses = impulses;
    world.particles.divergence_impulses.fill(0.0);
}

fn system<'a, V: Vector>(
    world: &'a mut FluidWorld<V>,
    dt: f32,
    threads: Threads<'a>,
) -> System<'a, V> {
    let FluidWorld { particles, neighbors, workspace, grid, ids, .. } = world;
    System {
        particles,
        neighbors,
        grid,
        workspace,
        dt,
        threads,
        floor: 0.0,
        fluid: ids.len(),
        endless: false,
    }
}
