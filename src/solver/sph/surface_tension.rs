//! Cohesion, surface tension and adhesion (Akinci, Akinci & Teschner 2013).
//!
//! Written without units of length and mass, so that a scene looks the same at
//! any size: with q = |x_ij|/h and V0 the volume of a particle,
//!
//! - a_i -= gamma sum_j K_ij (S V0/h^DIM C(q) x_ij/|x_ij| + n_i - n_j) over
//!   neighbours of the same body, K_ij = 2 rho0/(rho_i + rho_j),
//! - n_i = h sum_j (m/rho_j) grad W_ij over them, the inward normal times the curvature,
//! - a_i -= beta sum_k S V_k/h^DIM A(q) x_ik/|x_ik| over boundary samples, and
//!   the integral of the same over half-spaces.
//!
//! S is the 1000 kg/m³ that the paper's gamma and beta are given at.

use super::FluidWorld;
use super::packed::Packed;
use crate::solver::parallel::{CHUNK, Threads, chunks_mut, for_each_chunk, numbers};
use crate::solver::settings::FluidMaterial;
use crate::solver::vector::Vector;

/// Density at which the paper's coefficients are given.
const SCALE: f32 = 1000.0;

/// The spline C times h^DIM: attraction beyond half of the support, repulsion below it.
fn cohesion_spline(q: f32) -> f32 {
    let bell = (1.0 - q).max(0.0).powi(3) * q.powi(3);
    let inner = if q > 0.5 { bell } else { 2.0 * bell - 1.0 / 64.0 };
    32.0 / core::f32::consts::PI * inner
}

/// The spline A times h^DIM, between half of the support and its end.
pub(super) fn adhesion_spline(q: f32) -> f32 {
    0.007 * (-4.0 * q * q + 6.0 * q - 2.0).max(0.0).powf(0.25)
}

/// Adds both to the accelerations of the step.
pub(super) fn add<V: Vector>(world: &mut FluidWorld<V>, threads: Threads) {
    let FluidWorld { settings, bodies, particles, neighbors, boundary, planes, workspace, .. } =
        world;
    let mut materials = bodies.iter().map(|body| &body.material);
    let active = |material: &FluidMaterial| material.cohesion > 0.0 || material.adhesion > 0.0;
    if !materials.any(active) {
        return;
    }
    let (support, periodic) = (settings.support_radius(), &settings.periodic);
    let volume = settings.spacing().powi(V::DIM as i32);
    let per_volume = SCALE / support.powi(V::DIM as i32);
    let Packed { accelerations, positions, densities, .. } = particles;
    let (positions, densities, body_of) = (&*positions, &*densities, &*particles.bodies);
    let (bodies, boundary, planes) = (&*bodies, &*boundary, &*planes);

    let normals = workspace.vectors(positions.len());
    let parts = (numbers(), chunks_mut(normals), neighbors.chunks());
    for_each_chunk(threads, parts, |(index, normals, chunk)| {
        for (local, normal) in normals.iter_mut().enumerate() {
            let i = index * CHUNK + local;
            let list = chunk.bundles(local);
            let mut sum = V::ZERO;
            V::for_each_gradient(list.gradients, |j, gradient| {
                if body_of[j] == body_of[i] {
                    sum += gradient * (support / densities[j]);
                }
            });
            *normal = sum.widen();
        }
    });

    let normals = &*normals;
    let parts = (numbers(), chunks_mut(accelerations), neighbors.chunks());
    for_each_chunk(threads, parts, |(index, accelerations, chunk)| {
        for (local, acceleration) in accelerations.iter_mut().enumerate() {
            let i = index * CHUNK + local;
            let material = &bodies[body_of[i] as usize].material;
            let x = positions[i];
            // Per metre, so that coincident particles pull nowhere.
            let pull = |offset: V, spline: fn(f32) -> f32| {
                let distance = offset.length();
                offset * (spline(distance / support) / distance.max(1e-6 * support))
            };
            if material.cohesion > 0.0 {
                let normal = V::narrow(normals[i]);
                let mut sum = V::ZERO;
                for &j in chunk.fluid(local) {
                    let j = j as usize;
                    if body_of[j] == body_of[i] {
                        let between = pull(periodic.offset(x - positions[j]), cohesion_spline);
                        let curvature = normal - V::narrow(normals[j]);
                        let symmetric = 2.0 / (densities[i] + densities[j]);
                        sum += (between * (per_volume * volume) + curvature) * symmetric;
                    }
                }
                *acceleration += sum * -material.cohesion;
            }
            if material.adhesion > 0.0 {
                let mut sum = V::ZERO;
                for &k in chunk.boundary(local) {
                    let offset = periodic.offset(x - boundary.positions()[k as usize]);
                    let volume = boundary.volumes()[k as usize];
                    sum += pull(offset, adhesion_spline) * (per_volume * volume);
                }
                for (plane, sums) in planes.near(x, support) {
                    sum += plane.normal * (SCALE * sums.adhesion);
                }
                *acceleration += sum * -material.adhesion;
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splines_follow_their_definitions() {
        // C h^DIM at the values of the paper's figure: repulsion at contact,
        // none at the root near 0.39, most attraction around half of the support.
        assert_eq!(cohesion_spline(0.0), -32.0 / core::f32::consts::PI / 64.0);
        assert!(cohesion_spline(0.2) < 0.0 && cohesion_spline(0.35) > 0.0);
        let most = cohesion_spline(0.5);
        assert!((most - 32.0 / core::f32::consts::PI / 64.0).abs() < 1e-6);
        assert!((0..100).all(|k| cohesion_spline(k as f32 / 100.0) <= most));
        assert_eq!(cohesion_spline(1.0), 0.0);
        assert_eq!([adhesion_spline(0.4), adhesion_spline(1.1)], [0.0, 0.0]);
        assert!((adhesion_spline(0.75) - 0.007 * 0.25f32.powf(0.25)).abs() < 1e-7);
    }
}
