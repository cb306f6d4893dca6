//! Gravity and viscosity: XSPH, and by the Laplacian of the velocity.

use super::packed::Packed;
use super::{FluidWorld, implicit_viscosity};
use crate::solver::neighbors::sums;
use crate::solver::parallel::{CHUNK, Threads, chunks, chunks_mut, for_each_chunk, numbers};
use crate::solver::settings::{FluidMaterial, FluidMethod};
use crate::solver::vector::Vector;

/// Part of a spacing squared that keeps the Laplacian finite between particles at one place.
const SOFTENING: f32 = 0.01;

/// Sets each particle's acceleration to g + (alpha/dt) sum_j (m/rho_j)(v_j - v_i) W_ij
/// over its fluid neighbours (Schechter & Bridson 2012), alpha its own fluid's.
pub(super) fn accelerations<V: Vector>(world: &mut FluidWorld<V>, dt: f32, threads: Threads) {
    let gravity = world.settings.gravity;
    let FluidWorld { settings, bodies, particles, neighbors, workspace, ids, packed_of, .. } =
        world;
    if bodies.iter().all(|body| body.material.viscosity == 0.0) {
        particles.accelerations.fill(gravity);
        return;
    }
    let least = match settings.method {
        FluidMethod::Dfsph => 0.0,
        FluidMethod::Wcsph => settings.wcsph.negative_pressure.least_density(),
    };
    let inverse_densities = workspace.inverse_densities(particles, least, threads);
    // A membrane has no viscosity to share.
    packed_of[ids.len()..].iter().for_each(|&i| inverse_densities[i as usize] = 0.0);
    let inverse_densities = &*workspace.step;
    let room = &mut workspace.velocities;
    let velocities = V::widen_all(&particles.velocities, inverse_densities, room, threads);
    let bodies = &*bodies;
    let parts = (
        chunks_mut(&mut particles.accelerations),
        chunks(velocities),
        chunks(&particles.bodies),
        neighbors.chunks(),
    );
    for_each_chunk(threads, parts, |(accelerations, own, body_of, chunk)| {
        sums::sum_difference(chunk, inverse_densities, velocities, own, accelerations);
        for (acceleration, &body) in accelerations.iter_mut().zip(body_of) {
            let viscosity = bodies[body as usize].material.viscosity;
            *acceleration = gravity + *acceleration * (viscosity / dt);
        }
    });
}

/// Adds nu times the Laplacian of the velocity (Brookshaw 1985):
/// 2 nu sum_j (m/rho_j) (v_i - v_j) (x_ij.grad W_ij)/(|x_ij|² + 0.01 d²) over
/// fluid neighbours, and the same with V_k, v_k and the boundary's coefficient over
/// its samples, and as an integral over half-spaces.
///
/// Left to [`implicit_viscosity`] in a step too long for it to be stable.
pub(super) fn add_laplacian<V: Vector>(world: &mut FluidWorld<V>, dt: f32, threads: Threads) {
    let FluidWorld {
        settings, kernel, bodies, particles, neighbors, boundary, planes, ids, ..
    } = world;
    let materials = bodies.iter().map(|body| &body.material);
    let viscous = |material: &FluidMaterial| {
        material.kinematic_viscosity > 0.0 || material.boundary_viscosity > 0.0
    };
    let support = settings.support_radius();
    if !materials.clone().any(viscous) || implicit_viscosity::is_needed(materials, support, dt) {
        return;
    }
    let softening = SOFTENING * settings.spacing() * settings.spacing();
    let Packed { accelerations, positions, velocities, densities, places, .. } = particles;
    let (positions, velocities, densities) = (&*positions, &*velocities, &*densities);
    let (places, body_of) = (&*places, &*particles.bodies);
    let (bodies, boundary, kernel, planes) = (&*bodies, &*boundary, &*kernel, &*planes);
    let moving = boundary.velocities();
    let fluid = ids.len();
    let periodic = &settings.periodic;
    let parts = (numbers(), chunks_mut(accelerations), neighbors.chunks());
    for_each_chunk(threads, parts, |(index, accelerations, chunk)| {
        for (local, acceleration) in accelerations.iter_mut().enumerate() {
            let i = index * CHUNK + local;
            let material = &bodies[body_of[i] as usize].material;
            let (x, v) = (positions[i], velocities[i]);
            let mut sum = V::ZERO;
            let mut add = |difference: V, offset: V, gradient: V, factor: f32| {
                let squared = offset.length_squared() + softening;
                let weight = factor * -offset.dot(gradient) / squared;
                sum += difference * weight;
            };
            if material.kinematic_viscosity > 0.0 {
                let list = chunk.bundles(local);
                V::for_each_gradient(list.gradients, |j, gradient| {
                    if places[j] as usize >= fluid {
                        return;
                    }
                    let factor = 2.0 * material.kinematic_viscosity / densities[j];
                    add(velocities[j] - v, periodic.offset(x - positions[j]), gradient, factor);
                });
            }
            if material.boundary_viscosity > 0.0 {
                for &k in chunk.boundary(local) {
                    let offset = periodic.offset(x - boundary.positions()[k as usize]);
                    let gradient = kernel.pair_gradient(offset, places[i], u32::MAX - k);
                    let volume = boundary.volumes()[k as usize];
                    let factor = 2.0 * material.boundary_viscosity * volume;
                    let wall = moving.get(k as usize).copied().unwrap_or(V::ZERO);
                    add(wall - v, offset, gradient, factor);
                }
            }
            if material.boundary_viscosity > 0.0 {
                for (plane, sums) in planes.near(x, support) {
                    let [across, along] = sums.friction;
                    let factor = across + (V::DIM as f32 - 1.0) * along;
                    let difference = plane.surface_velocity - v;
                    sum += difference * (2.0 * material.boundary_viscosity * factor);
                }
            }
            *acceleration += sum;
        }
    });
}
