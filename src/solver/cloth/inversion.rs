//! Cells of a cloth in the plane that have turned over, turned back.
//!
//! Distances alone cannot tell a triangle from its mirror image. So the area
//! of each corner is kept above a tenth of its own at rest, by moving its
//! particles along the gradient of the area.

use super::kernels::Components;
use crate::solver::vector::Vector;

/// Fraction of its area that a corner has at least.
const LEAST_AREA: f32 = 0.1;

/// Longest shift in a substep, over the square root of the area at rest.
const LONGEST: f32 = 0.3;

/// Least sum of squared gradients over the area at rest, times the inverse
/// masses, that gives a direction.
const FLAT: f32 = 1e-6;

/// Three particles and their signed area at rest in m².
#[derive(Clone, Copy, Debug)]
struct Corner {
    slots: [u32; 3],
    area: f32,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Corners(Vec<Corner>);

impl Corners {
    /// Lists the triangles, and both halves of the other diagonal wherever
    /// two of them that follow each other form a quad.
    pub fn rebuild<V: Vector>(&mut self, rest: &[V], triangles: &[[u32; 3]], slot: &[u32]) {
        self.0.clear();
        let mut add = |corners: [u32; 3]| {
            let [a, b, c] = corners.map(|corner| rest[corner as usize].to_array());
            let area = 0.5 * ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]));
            if area != 0.0 {
                self.0.push(Corner { slots: corners.map(|corner| slot[corner as usize]), area });
            }
        };
        for (index, &[a, b, c]) in triangles.iter().enumerate() {
            add([a, b, c]);
            // As the grid makes them: (a, b, c) and (c, b, d).
            if let Some(&[e, f, d]) = triangles.get(index + 1)
                && (e, f) == (c, b)
            {
                add([a, b, d]);
                add([a, d, c]);
            }
        }
    }

    /// Turns back what has turned over at the end of the substep.
    pub fn untangle(&self, components: &mut Components) {
        let Components { x: [x, y, _], u: [u, v, _], w } = components;
        for corner in &self.0 {
            let slots = corner.slots.map(|slot| slot as usize);
            let [a, b, c] = slots.map(|slot| [x[slot] + u[slot], y[slot] + v[slot]]);
            let sign = corner.area.signum();
            let whole = corner.area.abs();
            let area = sign * 0.5 * ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]));
            if area >= LEAST_AREA * whole {
                continue;
            }
            let half = 0.5 * sign;
            // The gradient at a particle is half the opposite edge, turned.
            let gradient = [
                [half * (b[1] - c[1]), half * (c[0] - b[0])],
                [half * (c[1] - a[1]), half * (a[0] - c[0])],
                [half * (a[1] - b[1]), half * (b[0] - a[0])],
            ];
            let weights = slots.map(|slot| w[slot]);
            let heaviest = weights[0].max(weights[1]).max(weights[2]);
            let squared =
                |k: usize| gradient[k][0] * gradient[k][0] + gradient[k][1] * gradient[k][1];
            let sum: f32 = (0..3).map(|k| weights[k] * squared(k)).sum();
            if sum <= FLAT * whole * heaviest {
                continue;
            }
            let mut factor = (LEAST_AREA * whole - area) / sum;
            let longest =
                (0..3).map(|k| factor * weights[k] * squared(k).sqrt()).fold(0.0, f32::max);
            factor *= (LONGEST * whole.sqrt() / longest).min(1.0);
            for (k, &slot) in slots.iter().enumerate() {
                u[slot] += factor * weights[k] * gradient[k][0];
                v[slot] += factor * weights[k] * gradient[k][1];
            }
        }
    }
}
