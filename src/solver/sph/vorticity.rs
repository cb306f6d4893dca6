//! Vorticity confinement in the form that keeps the momentum (Steinhoff, Lynn &
//! Wang 2005, "VC2"): a negative viscosity for the part of the vorticity that a
//! particle has in common with those around it.
//!
//! - omega_i = sum_j (m/rho_j) (v_i - v_j) x grad W_ij,
//! - w_i: its direction, times the harmonic mean of |omega| over the particle and
//!   its neighbours, so that noise and the edge of a swirl count little,
//! - a_i += (e/dt) sum_j V_ij grad W_ij x (w_i + w_j), V_ij = 2 V0/(rho_i + rho_j),
//!   over neighbours of the same body, equal and opposite in a pair.
//!
//! e is the setting times the length squared over which XSPH evens out velocities.

use bevy_math::Vec3;

use super::FluidWorld;
use super::packed::Packed;
use crate::solver::parallel::{CHUNK, Threads, chunks_mut, for_each_chunk, numbers};
use crate::solver::vector::Vector;

/// XSPH of strength alpha is a viscosity of this times alpha h²/dt: a fourth of
/// the second moment of the kernel in the plane.
const XSPH_MOMENT: f32 = 0.0395;

/// Buffers, one vector for each particle.
#[derive(Debug, Default)]
pub(super) struct Vorticity {
    own: Vec<Vec3>,
    shared: Vec<Vec3>,
}

impl Vorticity {
    /// Bytes of all buffers.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Vec3>() * (self.own.capacity() + self.shared.capacity())
    }
}

fn vector<V: Vector>(v: V) -> Vec3 {
    Vec3::from_array(v.to_array())
}

/// Adds the confinement to the accelerations of the step.
pub(super) fn add<V: Vector>(world: &mut FluidWorld<V>, dt: f32, threads: Threads) {
    let FluidWorld { settings, bodies, particles, neighbors, vorticity, .. } = world;
    if bodies.iter().all(|body| body.material.vorticity_confinement == 0.0) {
        return;
    }
    let Packed { accelerations, velocities, densities, .. } = particles;
    let (velocities, densities) = (&*velocities, &*densities);
    let (body_of, bodies) = (&*particles.bodies, &*bodies);
    let Vorticity { own, shared } = vorticity;
    own.resize(velocities.len(), Vec3::ZERO);
    shared.resize(velocities.len(), Vec3::ZERO);

    let parts = (numbers(), chunks_mut(own), neighbors.chunks());
    for_each_chunk(threads, parts, |(index, own, chunk)| {
        for (local, own) in own.iter_mut().enumerate() {
            let i = index * CHUNK + local;
            let list = chunk.bundles(local);
            *own = Vec3::ZERO;
            V::for_each_gradient(list.gradients, |j, gradient| {
                let difference = vector(velocities[i] - velocities[j]);
                *own += difference.cross(vector(gradient)) / densities[j];
            });
        }
    });
    let own = &*own;
    let parts = (numbers(), chunks_mut(shared), neighbors.chunks());
    for_each_chunk(threads, parts, |(index, shared, chunk)| {
        for (local, shared) in shared.iter_mut().enumerate() {
            let i = index * CHUNK + local;
            let inverse = |j: usize| 1.0 / own[j].length().max(f32::MIN_POSITIVE);
            let around = chunk.fluid(local);
            let sum = around.iter().map(|&j| inverse(j as usize)).sum::<f32>() + inverse(i);
            // Beside walls and at the surface a swirl is cut off, not confined.
            let inside = chunk.boundary(local).is_empty();
            let strength = if inside { (around.len() + 1) as f32 / sum } else { 0.0 };
            let strength = bodies[body_of[i] as usize].material.vorticity_confinement * strength;
            *shared = own[i].normalize_or_zero() * strength;
        }
    });
    let shared = &*shared;
    let support = settings.support_radius();
    let factor = XSPH_MOMENT * support * support / dt;
    let parts = (numbers(), chunks_mut(accelerations), neighbors.chunks());
    for_each_chunk(threads, parts, |(index, accelerations, chunk)| {
        for (local, acceleration) in accelerations.iter_mut().enumerate() {
            let i = index * CHUNK + local;
            let list = chunk.bundles(local);
            let mut sum = Vec3::ZERO;
            V::for_each_gradient(list.gradients, |j, gradient| {
                if body_of[j] == body_of[i] {
                    let symmetric = 2.0 / (densities[i] + densities[j]);
                    sum += vector(gradient).cross(shared[i] + shared[j]) * symmetric;
                }
            });
            *acceleration += V::from_array(sum.to_array()) * factor;
        }
    });
}
