//! Parts particles that are at one place.
//!
//! Together two of them are below the rest density, so that no pressure ever
//! parts them. They are put a spacing apart instead, about their common centre
//! of mass: that takes no momentum, and leaves them no faster than they were.

use super::packed::Packed;
use crate::solver::kernel::CubicSpline;
use crate::solver::neighbors::NeighborLists;
use crate::solver::periodic::Periodic;
use crate::solver::vector::Vector;

/// Distance in spacings beyond which a pair that was at one place at the start
/// of a step has come apart by itself in it.
const TOGETHER: f32 = 0.01;

/// Parts pairs that were at one place when the lists were made, which their
/// particles have moved since then. Particles from the place `fluid` on are left
/// alone, and so are those that pressure pushes.
///
/// `put` tells where a particle ends that is moved by an offset.
pub(super) fn part<V: Vector>(
    particles: &mut Packed<V>,
    neighbors: &NeighborLists<V>,
    kernel: &CubicSpline<V>,
    periodic: &Periodic,
    fluid: usize,
    put: impl Fn(V, V) -> V,
) {
    let spacing = 0.5 * kernel.support_radius();
    let together = TOGETHER * spacing;
    let Packed { positions, places, lightness, densities, .. } = particles;
    let loose = |i: usize| densities[i] < 1.0 && (places[i] as usize) < fluid;
    for i in neighbors.coincident().filter(|&i| loose(i)) {
        let (lists, local) = neighbors.of(i);
        // Each pair once.
        for j in lists.fluid(local).iter().map(|&j| j as usize).filter(|&j| j > i && loose(j)) {
            let offset = periodic.offset(positions[i] - positions[j]);
            if offset.length_squared() > together * together {
                continue;
            }
            let gradient = kernel.coincident_gradient(places[i], places[j]);
            // Pressure pushes against the gradient, and lighter ones farther.
            let way = gradient * (-spacing / gradient.length());
            let part = lightness[i] / (lightness[i] + lightness[j]);
            positions[i] = put(positions[i], way * part);
            positions[j] = put(positions[j], way * (part - 1.0));
        }
    }
}
