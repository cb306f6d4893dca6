//! Viscosity of thick fluids, for the end of the step instead of its start
//! (Weiler, Koschier, Brand & Bender 2018), so that no step is too long for it.
//!
//! With the velocity v of the end of the step,
//!
//! rho0_i (v_i - v*_i)/dt = 2 (DIM + 2) sum_j V0 mu_ij (v_ij.x_ij)/(|x_ij|² + 0.01 d²) grad W_ij
//!
//! over fluid neighbours, and the same with V_k, nu_b rho0_i and the velocity of
//! the wall over boundary samples, and as an integral over half-spaces. v* holds all other accelerations, mu_ij is
//! the harmonic mean of the dynamic viscosities, divided by the mean of the
//! relative densities. What a pair exchanges is equal and opposite, and along
//! its line: momentum and, without walls, angular momentum stay, so that honey
//! coils. The system is symmetric and positive definite; it is never stored.

use super::FluidWorld;
use super::packed::Packed;
use crate::solver::parallel::{
    CHUNK, Threads, chunks, chunks_mut, for_each_chunk, numbers, ordered_sum,
};
use crate::solver::settings::FluidMaterial;
use crate::solver::vector::Vector;

/// Part of a spacing squared that keeps the Laplacian finite between particles at one place.
const SOFTENING: f32 = 0.01;

/// Part of the first residual at which the solve stops.
const TOLERANCE: f64 = 1e-3;

/// Part of the velocities below which a residual is rounding.
const ROUNDING: f64 = 1e-7;

/// nu dt/h² above which steps are made implicitly, inverted. On the lattice the
/// rates of a particle's exchange add up to 14 nu/h² in the plane and 18 in
/// space, beside walls to more: dt times that has to stay below one.
const EXPLICIT_LIMIT: f32 = 24.0;

/// Most iterations.
const MAX_ITERATIONS: u32 = 200;

/// Buffers of the conjugate gradients, one vector for each particle.
#[derive(Debug, Default)]
pub(super) struct ThickSolver<V> {
    solution: Vec<V>,
    residual: Vec<V>,
    direction: Vec<V>,
    image: Vec<V>,
    partial: Vec<f64>,
}

impl<V: Vector> ThickSolver<V> {
    /// Bytes of all buffers.
    pub(super) fn bytes(&self) -> usize {
        let vectors = [&self.solution, &self.residual, &self.direction, &self.image];
        size_of::<V>() * vectors.iter().map(|vector| vector.capacity()).sum::<usize>()
            + 8 * self.partial.capacity()
    }
}

/// Whether a step of `dt` is longer than the explicit viscosity of the materials
/// is stable for: nu dt <= h²/24.
pub(super) fn is_needed<'a>(
    materials: impl Iterator<Item = &'a FluidMaterial>,
    support_radius: f32,
    dt: f32,
) -> bool {
    let viscosity = |m: &FluidMaterial| m.kinematic_viscosity.max(m.boundary_viscosity);
    let highest = materials.map(viscosity).fold(0.0, f32::max);
    EXPLICIT_LIMIT * highest * dt > support_radius * support_radius
}

/// Changes the accelerations so that they hold the viscosity of the end of the step.
pub(super) fn add<V: Vector>(world: &mut FluidWorld<V>, dt: f32, threads: Threads) {
    let materials = world.bodies.iter().map(|body| &body.material);
    if !is_needed(materials, world.settings.support_radius(), dt) {
        return;
    }
    let mut solver = core::mem::take(&mut world.thick);
    world.stats.viscosity_iterations = solver.solve(world, dt, threads);
    let Packed { accelerations, velocities, .. } = &mut world.particles;
    let parts = (chunks_mut(accelerations), chunks(velocities), chunks(&solver.solution));
    for_each_chunk(threads, parts, |(accelerations, velocities, solution)| {
        for (local, acceleration) in accelerations.iter_mut().enumerate() {
            let change = (solution[local] - velocities[local]) * (1.0 / dt);
            *acceleration = if change.is_finite() { change } else { *acceleration };
        }
    });
    world.thick = solver;
}

impl<V: Vector> ThickSolver<V> {
    /// Conjugate gradients, from the velocities without viscosity. The masses
    /// are the preconditioner, which keeps the momentum in every iterate.
    /// Returns the number of iterations.
    fn solve(&mut self, world: &FluidWorld<V>, dt: f32, threads: Threads) -> u32 {
        let Packed { accelerations, velocities, lightness, .. } = &world.particles;
        let count = velocities.len();
        let Self { solution, residual, direction, image, partial } = self;
        solution.clear();
        solution.extend(velocities.iter().zip(accelerations).map(|(&v, &a)| v + a * dt));
        for vector in [&mut *residual, direction, image] {
            vector.resize(count, V::ZERO);
        }
        partial.resize(count.div_ceil(CHUNK), 0.0);
        // With walls at rest everything but their velocity is homogeneous.
        apply(world, dt, solution, image, true, partial, threads);
        let scale = ordered_sum(partial).abs();
        let parts = (
            chunks_mut(residual),
            chunks_mut(direction),
            chunks(solution),
            chunks(image),
            chunks(lightness),
            &mut partial[..],
        );
        for_each_chunk(threads, parts, |(r, p, x, ax, lightness, partial)| {
            let mut sum = 0.0;
            for local in 0..r.len() {
                r[local] = x[local] * (1.0 / lightness[local]) - ax[local];
                p[local] = r[local] * lightness[local];
                sum += f64::from(r[local].dot(p[local]));
            }
            *partial = sum;
        });
        let mut norm = ordered_sum(partial);
        let target = (norm * TOLERANCE * TOLERANCE).max(scale * ROUNDING * ROUNDING);
        let mut iterations = 0;
        while norm > target && iterations < MAX_ITERATIONS {
            apply(world, dt, direction, image, false, partial, threads);
            let curvature = ordered_sum(partial);
            if curvature.is_nan() || curvature <= 0.0 {
                break;
            }
            let length = (norm / curvature) as f32;
            let parts = (
                chunks_mut(residual),
                chunks_mut(solution),
                chunks(direction),
                chunks(image),
                chunks(lightness),
                &mut partial[..],
            );
            for_each_chunk(threads, parts, |(r, x, p, ap, lightness, partial)| {
                let mut sum = 0.0;
                for local in 0..r.len() {
                    x[local] += p[local] * length;
                    r[local] -= ap[local] * length;
                    sum += f64::from(r[local].length_squared() * lightness[local]);
                }
                *partial = sum;
            });
            let next = ordered_sum(partial);
            let keep = (next / norm) as f32;
            norm = next;
            let parts = (chunks_mut(direction), chunks(residual), chunks(lightness));
            for_each_chunk(threads, parts, |(p, r, lightness)| {
                for local in 0..p.len() {
                    p[local] = r[local] * lightness[local] + p[local] * keep;
                }
            });
            iterations += 1;
        }
        iterations
    }
}

/// Sets `image` to the matrix times `vector`, less what walls that move add if
/// `walls`, and `partial` to the chunks' shares of their product.
fn apply<V: Vector>(
    world: &FluidWorld<V>,
    dt: f32,
    vector: &[V],
    image: &mut [V],
    walls: bool,
    partial: &mut [f64],
    threads: Threads,
) {
    let FluidWorld { settings, kernel, bodies, particles, neighbors, boundary, planes, .. } = world;
    let Packed { positions, densities, lightness, places, bodies: body_of, .. } = particles;
    let (periodic, support) = (&settings.periodic, settings.support_radius());
    let softening = SOFTENING * settings.spacing() * settings.spacing();
    let factor = 2.0 * (V::DIM as f32 + 2.0) * dt;
    let one_body = bodies.len() == 1;
    let moving = if walls { boundary.velocities() } else { &[] };
    let parts = (numbers(), chunks_mut(image), partial, neighbors.chunks());
    for_each_chunk(threads, parts, |(index, image, partial, chunk)| {
        let mut product = 0.0;
        for (local, image) in image.iter_mut().enumerate() {
            let i = index * CHUNK + local;
            let material = &bodies[body_of[i] as usize].material;
            let own = material.kinematic_viscosity * material.rest_density;
            let (x, v) = (positions[i], vector[i]);
            let mut sum = V::ZERO;
            if own > 0.0 {
                let list = chunk.bundles(local);
                V::for_each_gradient(list.gradients, |j, gradient| {
                    let dynamic = if one_body || body_of[j] == body_of[i] {
                        own
                    } else {
                        let other = &bodies[body_of[j] as usize].material;
                        let other = other.kinematic_viscosity * other.rest_density;
                        2.0 * own * other / (own + other)
                    };
                    let offset = periodic.offset(x - positions[j]);
                    let along = (v - vector[j]).dot(offset);
                    let mean = 0.5 * (densities[i] + densities[j]);
                    let squared = offset.length_squared() + softening;
                    sum += gradient * (dynamic * along / (mean * squared));
                });
            }
            if material.boundary_viscosity > 0.0 {
                let dynamic = material.boundary_viscosity * material.rest_density;
                for &k in chunk.boundary(local) {
                    let offset = periodic.offset(x - boundary.positions()[k as usize]);
                    let gradient = kernel.pair_gradient(offset, places[i], u32::MAX - k);
                    let wall = moving.get(k as usize).copied().unwrap_or(V::ZERO);
                    let squared = offset.length_squared() + softening;
                    let along = (v - wall).dot(offset) / squared;
                    sum += gradient * (dynamic * along * boundary.volumes()[k as usize]);
                }
                for (plane, sums) in planes.near(x, support) {
                    let wall = if walls { plane.surface_velocity } else { V::ZERO };
                    let [across, along] = sums.friction;
                    let difference = v - wall;
                    let normal = plane.normal * difference.dot(plane.normal);
                    let pull = normal * across + (difference - normal) * along;
                    sum += pull * -dynamic;
                }
            }
            *image = v * (1.0 / lightness[i]) - sum * factor;
            product += f64::from(v.dot(*image));
        }
        *partial = product;
    });
}
