//! Lists in space: a factor for each neighbour, the gradient being the factor
//! times the offset between the two particles.

use bevy_math::{Vec3, Vec4, Vec4Swizzles};

use super::lanes::{Apart, Lanes, WIDTH};
use super::listed::{Listed, Values};
use super::parallel::{Threads, chunks, chunks_mut, for_each_chunk};
use super::wide::Machine;

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
    neighbors: Listed<'a>,
    /// Those of `neighbors`.
    points: Values<'a, Vec4>,
    own: Vec4,
    apart: &'a [Apart<Vec3>],
}

impl<'a> Offsets<'a> {
    /// The neighbours two at a time, with their offsets and factors.
    #[inline(always)]
    fn pairs(self) -> impl Iterator<Item = ([Vec4; WIDTH], [f32; WIDTH], (usize, usize))> + 'a {
        self.factors.iter().zip(self.neighbors.pairs()).map(move |(&factors, (a, b))| {
            // SAFETY: `points` are the list's.
            let (x, y) = unsafe { (self.points.get(a), self.points.get(b)) };
            ([self.own - x, self.own - y], factors, (a, b))
        })
    }

    /// Calls `work` with the neighbours at the particle's own place.
    #[inline(always)]
    fn for_each_apart(&self, mut work: impl FnMut(usize, Vec4)) {
        for apart in self.apart {
            work(apart.neighbor as usize, apart.gradient.extend(0.0));
        }
    }
}

/// The fourth lane of an offset is zero, so that it adds nothing to a sum.
///
/// With three times the neighbours of the plane, lists are too long to be kept
/// near: a factor of the offset is a third of a gradient.
impl Lanes for Vec3 {
    type Wide = Vec4;
    type Gradients<'a> = Offsets<'a>;
    type Kept = Kept;
    const FACTORS: bool = true;
    const NUMBERS: usize = 1;

    #[inline(always)]
    fn gradients<'a>(
        factors: &'a [f32],
        neighbors: Listed<'a>,
        points: &'a [Vec4],
        own: usize,
        apart: &'a [Apart<Vec3>],
    ) -> Offsets<'a> {
        let own = points[own];
        let (factors, points) = (factors.as_chunks().0, neighbors.of(points, 0));
        Offsets { factors, neighbors, points, own, apart }
    }

    #[inline(always)]
    fn widen(self) -> Vec4 {
        self.extend(0.0)
    }

    fn widen_all<'a>(
        vectors: &'a [Vec3],
        numbers: &[f32],
        room: &'a mut Vec<Vec4>,
        threads: Threads,
    ) -> &'a [Vec4] {
        room.resize(vectors.len(), Vec4::ZERO);
        let parts = (chunks_mut(room), chunks(vectors), chunks(numbers));
        for_each_chunk(threads, parts, |(wide, vectors, numbers)| {
            for ((wide, vector), &number) in wide.iter_mut().zip(vectors).zip(numbers) {
                *wide = vector.extend(number);
            }
        });
        room
    }

    #[inline(always)]
    fn narrow(wide: Vec4) -> Self {
        wide.truncate()
    }

    #[inline(always)]
    fn keep(self, factor: f32, numbers: &mut [f32]) {
        numbers.copy_from_slice(&[factor]);
    }

    #[inline(always)]
    fn keep_all<M: Machine>(machine: M, _: [M::Eight; 3], factors: M::Eight, numbers: &mut [f32]) {
        numbers.copy_from_slice(&machine.store(factors));
    }

    #[inline(always)]
    fn for_each_gradient(gradients: Offsets, mut work: impl FnMut(usize, Self)) {
        for ([x, y], [f, g], (a, b)) in gradients.pairs() {
            work(a, (x * f).truncate());
            work(b, (y * g).truncate());
        }
        gradients.for_each_apart(|j, gradient| work(j, gradient.truncate()));
    }

    #[inline(always)]
    fn sum_dot(gradients: Offsets, u: &[Vec4], first: usize) -> f32 {
        let near = gradients.neighbors.of(u, first);
        let (mut even, mut odd) = (Vec4::ZERO, Vec4::ZERO);
        for ([x, y], [f, g], (a, b)) in gradients.pairs() {
            // SAFETY: `near` are the list's.
            let (u, v) = unsafe { (near.get(a), near.get(b)) };
            even += x * u * f;
            odd += y * v * g;
        }
        gradients.for_each_apart(|j, gradient| even += gradient * u[j.wrapping_sub(first)]);
        (even + odd).element_sum()
    }

    #[inline(always)]
    fn sum_dot_keeping(gradients: Offsets, u: &[Vec4], first: usize, Kept(kept): &mut Kept) -> f32 {
        if gradients.factors.len() > KEPT {
            return Self::sum_dot(gradients, u, first);
        }
        let near = gradients.neighbors.of(u, first);
        let (mut even, mut odd) = (Vec4::ZERO, Vec4::ZERO);
        for (([x, y], [f, g], (a, b)), kept) in gradients.pairs().zip(kept) {
            *kept = [x * f, y * g];
            // SAFETY: `near` are the list's.
            let (u, v) = unsafe { (near.get(a), near.get(b)) };
            even += kept[0] * u;
            odd += kept[1] * v;
        }
        gradients.for_each_apart(|j, gradient| even += gradient * u[j.wrapping_sub(first)]);
        (even + odd).element_sum()
    }

    #[inline(always)]
    fn scatter_kept(
        gradients: Offsets,
        amount: f32,
        u: &mut [Vec4],
        first: usize,
        Kept(kept): &Kept,
    ) {
        if gradients.factors.len() > KEPT {
            return Self::scatter(gradients, amount, u, first);
        }
        let mut near = gradients.neighbors.of_mut(u, first);
        for (&[x, y], (a, b)) in kept.iter().zip(gradients.neighbors.pairs()) {
            // SAFETY: `near` are the list's.
            unsafe {
                near.change(a, |u| u + x * amount);
                near.change(b, |u| u + y * amount);
            }
        }
        gradients.for_each_apart(|j, gradient| u[j.wrapping_sub(first)] += gradient * amount);
    }

    #[inline(always)]
    fn sum_scaled(gradients: Offsets, s: &[f32]) -> Vec3 {
        let near = gradients.neighbors.of(s, 0);
        let (mut even, mut odd) = (Vec4::ZERO, Vec4::ZERO);
        for ([x, y], [f, g], (a, b)) in gradients.pairs() {
            // SAFETY: `near` are the list's.
            let (s, t) = unsafe { (near.get(a), near.get(b)) };
            even += x * (f * s);
            odd += y * (g * t);
        }
        gradients.for_each_apart(|j, gradient| even += gradient * s[j]);
        (even + odd).truncate()
    }

    #[inline(always)]
    fn sum_both(gradients: Offsets, u: &[Vec4], _: &[f32]) -> (f32, Vec3) {
        let near = gradients.neighbors.of(u, 0);
        let mut dots = (Vec4::ZERO, Vec4::ZERO);
        let mut scaled = (Vec4::ZERO, Vec4::ZERO);
        for ([x, y], [f, g], (a, b)) in gradients.pairs() {
            // SAFETY: `near` are the list's.
            let (u, v) = unsafe { (near.get(a), near.get(b)) };
            dots = (dots.0 + x * u * f, dots.1 + y * v * g);
            scaled = (scaled.0 + x * (u.wwww() * f), scaled.1 + y * (v.wwww() * g));
        }
        gradients.for_each_apart(|j, gradient| {
            dots.0 += gradient * u[j];
            scaled.0 += gradient * u[j].w;
        });
        ((dots.0 + dots.1).element_sum(), (scaled.0 + scaled.1).truncate())
    }

    #[inline(always)]
    fn sum_difference(
        weights: &[f32],
        neighbors: Listed<'_>,
        _: &[f32],
        u: &[Vec4],
        own: Vec4,
    ) -> Vec3 {
        let u = neighbors.of(u, 0);
        let (mut even, mut odd) = (Vec4::ZERO, Vec4::ZERO);
        for (&[v, w], (a, b)) in weights.as_chunks::<WIDTH>().0.iter().zip(neighbors.pairs()) {
            // SAFETY: `u` are the list's.
            let (x, y) = unsafe { (u.get(a), u.get(b)) };
            even += (x - own) * (x.wwww() * v);
            odd += (y - own) * (y.wwww() * w);
        }
        (even + odd).truncate()
    }

    #[inline(always)]
    fn scatter(gradients: Offsets, amount: f32, u: &mut [Vec4], first: usize) {
        let mut near = gradients.neighbors.of_mut(u, first);
        for ([x, y], [f, g], (a, b)) in gradients.pairs() {
            // SAFETY: `near` are the list's.
            unsafe {
                near.change(a, |u| u + x * (f * amount));
                near.change(b, |u| u + y * (g * amount));
            }
        }
        gradients.for_each_apart(|j, gradient| u[j.wrapping_sub(first)] += gradient * amount);
    }

    #[inline(always)]
    fn scatter_scaled(gradients: Offsets, amount: f32, s: &[f32], u: &mut [Vec4], first: usize) {
        let scales = gradients.neighbors.of(s, 0);
        let mut near = gradients.neighbors.of_mut(u, first);
        for ([x, y], [f, g], (a, b)) in gradients.pairs() {
            // SAFETY: `scales` and `near` are the list's.
            unsafe {
                let (s, t) = (scales.get(a), scales.get(b));
                near.change(a, |u| u + x * (f * amount * s));
                near.change(b, |u| u + y * (g * amount * t));
            }
        }
        gradients.for_each_apart(|j, gradient| {
            u[j.wrapping_sub(first)] += gradient * (amount * s[j]);
        });
    }
}
