//! Lists in space: a factor for each neighbour, the gradient being the factor
//! times the offset between the two particles.

use bevy_math::{Vec3, Vec4};

use super::lanes::{Apart, Lanes, WIDTH, pairs};
use super::neighborhood::transposed;

/// Pairs of neighbours whose gradients are kept between two uses: more than any
/// but a crushed particle has.
const KEPT: usize = 32;

/// Gradients of a list, two by two.
#[derive(Debug)]
pub struct Kept([[Vec4; WIDTH]; KEPT]);

impl Default for Kept {
    fn default() -> Self {
        Self([[Vec4::ZERO; WIDTH]; KEPT])
    }
}

/// Factors of the offsets to a particle's neighbours, and the points between which they are.
#[derive(Clone, Copy, Debug)]
pub struct Offsets<'a> {
    factors: &'a [[f32; WIDTH]],
    points: &'a [Vec4],
    own: Vec4,
    apart: &'a [Apart<Vec3>],
}

impl<'a> Offsets<'a> {
    /// Offset from a neighbour.
    #[inline(always)]
    fn from(&self, neighbor: usize) -> Vec4 {
        self.own - self.points[neighbor]
    }

    /// The neighbours of a padded list two at a time, with their factors.
    #[inline(always)]
    fn pairs(&self, list: &'a [u32]) -> impl Iterator<Item = ([f32; WIDTH], (usize, usize))> + 'a {
        self.factors.iter().copied().zip(pairs(list))
    }

    /// Calls `work` with the neighbours at the particle's own place.
    #[inline(always)]
    fn for_each_apart(&self, mut work: impl FnMut(usize, Vec4)) {
        for apart in self.apart {
            work(apart.neighbor as usize, apart.gradient.extend(0.0));
        }
    }
}

/// The fourth lane of a vector is zero, so that it adds nothing to a sum.
///
/// With three times the neighbours of the plane, lists are too long to be kept
/// near: a factor of the offset is a third of a gradient.
impl Lanes for Vec3 {
    type Wide = Vec4;
    type Bundle = [f32; WIDTH];
    type Gradients<'a> = Offsets<'a>;
    type Kept = Kept;
    const FACTORS: bool = true;

    #[inline(always)]
    fn gradients<'a>(
        factors: &'a [[f32; WIDTH]],
        points: &'a [Vec4],
        own: usize,
        apart: &'a [Apart<Vec3>],
    ) -> Offsets<'a> {
        Offsets { factors, points, own: points[own], apart }
    }

    #[inline(always)]
    fn widen(self) -> Vec4 {
        self.extend(0.0)
    }

    #[inline(always)]
    fn narrow(wide: Vec4) -> Self {
        wide.truncate()
    }

    #[inline(always)]
    fn components(&wide: &[Vec4; 4]) -> [Vec4; 3] {
        let [x, y, z, _] = transposed(wide);
        [x, y, z]
    }

    #[inline(always)]
    fn bundle(_: [Vec4; 3], factors: Vec4, bundles: &mut [[f32; WIDTH]]) {
        let [a, b, c, d] = factors.to_array();
        bundles.copy_from_slice(&[[a, b], [c, d]]);
    }

    #[inline(always)]
    fn for_each_gradient(gradients: Offsets, neighbors: &[u32], mut work: impl FnMut(usize, Self)) {
        for ([f, g], (a, b)) in gradients.pairs(neighbors) {
            work(a, (gradients.from(a) * f).truncate());
            work(b, (gradients.from(b) * g).truncate());
        }
        gradients.for_each_apart(|j, gradient| work(j, gradient.truncate()));
    }

    #[inline(always)]
    fn sum_dot(gradients: Offsets, neighbors: &[u32], u: &[Vec4], first: usize) -> f32 {
        let u = |j: usize| u[j.wrapping_sub(first)];
        let (mut even, mut odd) = (Vec4::ZERO, Vec4::ZERO);
        for ([f, g], (a, b)) in gradients.pairs(neighbors) {
            even += gradients.from(a) * u(a) * f;
            odd += gradients.from(b) * u(b) * g;
        }
        gradients.for_each_apart(|j, gradient| even += gradient * u(j));
        (even + odd).element_sum()
    }

    #[inline(always)]
    fn sum_dot_keeping(
        gradients: Offsets,
        neighbors: &[u32],
        u: &[Vec4],
        first: usize,
        Kept(kept): &mut Kept,
    ) -> f32 {
        if neighbors.len() > WIDTH * KEPT {
            return Self::sum_dot(gradients, neighbors, u, first);
        }
        let u = |j: usize| u[j.wrapping_sub(first)];
        let (mut even, mut odd) = (Vec4::ZERO, Vec4::ZERO);
        for (([f, g], (a, b)), kept) in gradients.pairs(neighbors).zip(kept) {
            *kept = [gradients.from(a) * f, gradients.from(b) * g];
            even += kept[0] * u(a);
            odd += kept[1] * u(b);
        }
        gradients.for_each_apart(|j, gradient| even += gradient * u(j));
        (even + odd).element_sum()
    }

    #[inline(always)]
    fn scatter_kept(
        gradients: Offsets,
        neighbors: &[u32],
        amount: f32,
        u: &mut [Vec4],
        first: usize,
        Kept(kept): &Kept,
    ) {
        if neighbors.len() > WIDTH * KEPT {
            return Self::scatter(gradients, neighbors, amount, u, first);
        }
        for (gradients, (a, b)) in kept.iter().zip(pairs(neighbors)) {
            u[a.wrapping_sub(first)] += gradients[0] * amount;
            u[b.wrapping_sub(first)] += gradients[1] * amount;
        }
        gradients.for_each_apart(|j, gradient| u[j.wrapping_sub(first)] += gradient * amount);
    }

    #[inline(always)]
    fn sum_scaled(gradients: Offsets, neighbors: &[u32], s: &[f32]) -> Vec3 {
        let (mut even, mut odd) = (Vec4::ZERO, Vec4::ZERO);
        for ([f, g], (a, b)) in gradients.pairs(neighbors) {
            even += gradients.from(a) * (f * s[a]);
            odd += gradients.from(b) * (g * s[b]);
        }
        gradients.for_each_apart(|j, gradient| even += gradient * s[j]);
        (even + odd).truncate()
    }

    #[inline(always)]
    fn sum_difference(
        weights: &[f32],
        neighbors: &[u32],
        s: &[f32],
        u: &[Vec4],
        own: Vec4,
    ) -> Vec3 {
        let (mut even, mut odd) = (Vec4::ZERO, Vec4::ZERO);
        for (&[v, w], (a, b)) in weights.as_chunks::<WIDTH>().0.iter().zip(pairs(neighbors)) {
            even += (u[a] - own) * (v * s[a]);
            odd += (u[b] - own) * (w * s[b]);
        }
        (even + odd).truncate()
    }

    #[inline(always)]
    fn scatter(gradients: Offsets, neighbors: &[u32], amount: f32, u: &mut [Vec4], first: usize) {
        for ([f, g], (a, b)) in gradients.pairs(neighbors) {
            u[a.wrapping_sub(first)] += gradients.from(a) * (f * amount);
            u[b.wrapping_sub(first)] += gradients.from(b) * (g * amount);
        }
        gradients.for_each_apart(|j, gradient| u[j.wrapping_sub(first)] += gradient * amount);
    }

    #[inline(always)]
    fn scatter_scaled(
        gradients: Offsets,
        neighbors: &[u32],
        amount: f32,
        s: &[f32],
        u: &mut [Vec4],
        first: usize,
    ) {
        for ([f, g], (a, b)) in gradients.pairs(neighbors) {
            u[a.wrapping_sub(first)] += gradients.from(a) * (f * amount * s[a]);
            u[b.wrapping_sub(first)] += gradients.from(b) * (g * amount * s[b]);
        }
        gradients.for_each_apart(|j, gradient| {
            u[j.wrapping_sub(first)] += gradient * (amount * s[j]);
        });
    }
}
