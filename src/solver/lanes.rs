//! Sums over a particle's neighbours, several components at a time.
//!
//! In the plane two neighbours share a register of four lanes, in space one
//! neighbour fills it, see [`offsets`](super::offsets). Lists are padded to
//! whole bundles with the particle itself at weight zero, so that no loop has a
//! remainder.

use bevy_math::{Vec2, Vec4};

use super::listed::{Listed, Values};
use super::parallel::Threads;
use super::wide::Machine;

/// How the hot loops hold vectors and lists. Implemented with [`Vector`](super::vector::Vector).
pub trait Lanes: Sized {
    /// A vector of a size that is read with one instruction.
    type Wide: Copy + Default + core::fmt::Debug + Send + Sync + 'static;

    /// The gradients of one particle's list.
    type Gradients<'a>: Copy + core::fmt::Debug;

    /// Whether lists keep factors of the offsets instead of gradients.
    const FACTORS: bool;

    /// How many numbers are kept of a gradient.
    const NUMBERS: usize;

    /// Gradients on their way from [`Lanes::sum_dot_keeping`] to [`Lanes::scatter_kept`].
    type Kept: Default;

    /// The gradients of particle `own`'s list, of which `numbers` were kept, as
    /// such or as factors of the offsets between `points`, and those of `apart`.
    fn gradients<'a>(
        numbers: &'a [f32],
        neighbors: Listed<'a>,
        points: &'a [Self::Wide],
        own: usize,
        apart: &'a [Apart<Self>],
    ) -> Self::Gradients<'a>;

    /// The vector as a wide one.
    fn widen(self) -> Self::Wide;

    /// The vectors as wide ones with a number beside each, where there is a lane for it, in
    /// `room` unless they are that already.
    fn widen_all<'a>(
        vectors: &'a [Self],
        numbers: &[f32],
        room: &'a mut Vec<Self::Wide>,
        threads: Threads,
    ) -> &'a [Self::Wide];

    /// The vector that [`Lanes::widen`] was given.
    fn narrow(wide: Self::Wide) -> Self;

    /// Keeps a gradient, given as such and as factor of the offset.
    fn keep(self, factor: f32, numbers: &mut [f32]);

    /// Keeps eight gradients, given by their components and as factors of offsets.
    fn keep_all<M: Machine>(
        machine: M,
        components: [M::Eight; 3],
        factors: M::Eight,
        numbers: &mut [f32],
    );

    /// Calls `work` with each neighbour and its gradient, padding included.
    fn for_each_gradient(gradients: Self::Gradients<'_>, work: impl FnMut(usize, Self));

    /// Sum of g_ij . u_j, where u starts at the particle `first`.
    fn sum_dot(gradients: Self::Gradients<'_>, u: &[Self::Wide], first: usize) -> f32;

    /// As [`Lanes::sum_dot`]; keeps what it takes time to find once more.
    fn sum_dot_keeping(
        gradients: Self::Gradients<'_>,
        u: &[Self::Wide],
        first: usize,
        kept: &mut Self::Kept,
    ) -> f32;

    /// As [`Lanes::scatter`], of the list last summed up.
    fn scatter_kept(
        gradients: Self::Gradients<'_>,
        amount: f32,
        u: &mut [Self::Wide],
        first: usize,
        kept: &Self::Kept,
    );

    /// Sum of g_ij s_j.
    fn sum_scaled(gradients: Self::Gradients<'_>, s: &[f32]) -> Self;

    /// Sums of g_ij . u_j and of g_ij s_j, where s are the numbers beside u.
    fn sum_both(gradients: Self::Gradients<'_>, u: &[Self::Wide], s: &[f32]) -> (f32, Self);

    /// Sum of w_ij s_j (u_j - own), where s are the numbers beside u.
    fn sum_difference(
        weights: &[f32],
        neighbors: Listed<'_>,
        s: &[f32],
        u: &[Self::Wide],
        own: Self::Wide,
    ) -> Self;

    /// Adds g_ij `amount` to each u_j, where u starts at the particle `first`.
    fn scatter(gradients: Self::Gradients<'_>, amount: f32, u: &mut [Self::Wide], first: usize);

    /// Adds g_ij `amount` s_j to each u_j, where u starts at the particle `first`.
    fn scatter_scaled(
        gradients: Self::Gradients<'_>,
        amount: f32,
        s: &[f32],
        u: &mut [Self::Wide],
        first: usize,
    );
}

/// Neighbours that are read together: what lists are padded to a multiple of.
pub(crate) const WIDTH: usize = 2;

/// A neighbour at the place of the particle itself, in a direction of its own.
#[derive(Clone, Copy, Debug)]
pub struct Apart<V> {
    /// The particle.
    pub(crate) of: u32,
    /// Its neighbour.
    pub(crate) neighbor: u32,
    /// V0 grad W.
    pub(crate) gradient: V,
}

#[inline(always)]
fn join(a: Vec2, b: Vec2) -> Vec4 {
    Vec4::new(a.x, a.y, b.x, b.y)
}

/// The vectors of two neighbours, side by side.
///
/// # Safety
/// Both must be in the list that `u` was made for.
#[inline(always)]
unsafe fn both(u: &Values<'_, Vec2>, (a, b): (usize, usize)) -> Vec4 {
    // SAFETY: as above.
    unsafe { join(u.get(a), u.get(b)) }
}

/// The numbers of two neighbours, each twice.
///
/// # Safety
/// Both must be in the list that `s` was made for.
#[inline(always)]
unsafe fn twice_both(s: &Values<'_, f32>, (a, b): (usize, usize)) -> Vec4 {
    // SAFETY: as above.
    let (a, b) = unsafe { (s.get(a), s.get(b)) };
    Vec4::new(a, a, b, b)
}

#[inline(always)]
fn fold(sum: Vec4) -> Vec2 {
    Vec2::new(sum.x + sum.z, sum.y + sum.w)
}

/// Gradients in the plane, two to a register.
#[derive(Clone, Copy, Debug)]
pub struct FlatGradients<'a> {
    gradients: &'a [[f32; 2 * WIDTH]],
    neighbors: Listed<'a>,
}

impl<'a> FlatGradients<'a> {
    #[inline(always)]
    fn pairs(self) -> impl Iterator<Item = (Vec4, (usize, usize))> + 'a {
        self.gradients.iter().map(|&pair| Vec4::from_array(pair)).zip(self.neighbors.pairs())
    }
}

impl Lanes for Vec2 {
    type Wide = Vec2;
    type Gradients<'a> = FlatGradients<'a>;
    type Kept = ();
    const FACTORS: bool = false;
    const NUMBERS: usize = 2;

    #[inline(always)]
    fn gradients<'a>(
        gradients: &'a [f32],
        neighbors: Listed<'a>,
        _: &'a [Vec2],
        _: usize,
        _: &'a [Apart<Vec2>],
    ) -> FlatGradients<'a> {
        FlatGradients { gradients: gradients.as_chunks().0, neighbors }
    }

    #[inline(always)]
    fn widen(self) -> Vec2 {
        self
    }

    #[inline(always)]
    fn widen_all<'a>(
        vectors: &'a [Vec2],
        _: &[f32],
        _: &'a mut Vec<Vec2>,
        _: Threads,
    ) -> &'a [Vec2] {
        vectors
    }

    #[inline(always)]
    fn narrow(wide: Vec2) -> Self {
        wide
    }

    #[inline(always)]
    fn keep(self, _: f32, numbers: &mut [f32]) {
        numbers.copy_from_slice(&[self.x, self.y]);
    }

    #[inline(always)]
    fn keep_all<M: Machine>(
        machine: M,
        [x, y, _]: [M::Eight; 3],
        _: M::Eight,
        numbers: &mut [f32],
    ) {
        numbers.copy_from_slice(&machine.interleave(x, y));
    }

    #[inline(always)]
    fn for_each_gradient(gradients: FlatGradients<'_>, mut work: impl FnMut(usize, Self)) {
        for (gradient, (a, b)) in gradients.pairs() {
            work(a, Vec2::new(gradient.x, gradient.y));
            work(b, Vec2::new(gradient.z, gradient.w));
        }
    }

    #[inline(always)]
    fn sum_dot(gradients: FlatGradients<'_>, u: &[Vec2], first: usize) -> f32 {
        let u = gradients.neighbors.of(u, first);
        let mut sum = Vec4::ZERO;
        for (gradient, pair) in gradients.pairs() {
            // SAFETY: `u` is the list's.
            sum += gradient * unsafe { both(&u, pair) };
        }
        let folded = fold(sum);
        folded.x + folded.y
    }

    #[inline(always)]
    fn sum_dot_keeping(gradients: FlatGradients<'_>, u: &[Vec2], first: usize, (): &mut ()) -> f32 {
        Self::sum_dot(gradients, u, first)
    }

    #[inline(always)]
    fn scatter_kept(
        gradients: FlatGradients<'_>,
        amount: f32,
        u: &mut [Vec2],
        first: usize,
        (): &(),
    ) {
        Self::scatter(gradients, amount, u, first);
    }

    #[inline(always)]
    fn sum_scaled(gradients: FlatGradients<'_>, s: &[f32]) -> Vec2 {
        let s = gradients.neighbors.of(s, 0);
        let mut sum = Vec4::ZERO;
        for (gradient, pair) in gradients.pairs() {
            // SAFETY: `s` is the list's.
            sum += gradient * unsafe { twice_both(&s, pair) };
        }
        fold(sum)
    }

    #[inline(always)]
    fn sum_both(gradients: FlatGradients<'_>, u: &[Vec2], s: &[f32]) -> (f32, Vec2) {
        let (u, s) = (gradients.neighbors.of(u, 0), gradients.neighbors.of(s, 0));
        let (mut dot, mut scaled) = (Vec4::ZERO, Vec4::ZERO);
        for (gradient, pair) in gradients.pairs() {
            // SAFETY: `u` and `s` are the list's.
            let (u, s) = unsafe { (both(&u, pair), twice_both(&s, pair)) };
            dot += gradient * u;
            scaled += gradient * s;
        }
        let dot = fold(dot);
        (dot.x + dot.y, fold(scaled))
    }

    #[inline(always)]
    fn sum_difference(
        weights: &[f32],
        neighbors: Listed<'_>,
        s: &[f32],
        u: &[Vec2],
        own: Vec2,
    ) -> Vec2 {
        let (s, u) = (neighbors.of(s, 0), neighbors.of(u, 0));
        let own = join(own, own);
        let mut sum = Vec4::ZERO;
        for (&[v, w], pair) in weights.as_chunks::<WIDTH>().0.iter().zip(neighbors.pairs()) {
            // SAFETY: `s` and `u` are the list's.
            let (s, u) = unsafe { (twice_both(&s, pair), both(&u, pair)) };
            sum += (u - own) * (Vec4::new(v, v, w, w) * s);
        }
        fold(sum)
    }

    #[inline(always)]
    fn scatter(gradients: FlatGradients<'_>, amount: f32, u: &mut [Vec2], first: usize) {
        let mut u = gradients.neighbors.of_mut(u, first);
        for (gradient, (a, b)) in gradients.pairs() {
            let added = gradient * amount;
            // SAFETY: `u` is the list's.
            unsafe {
                u.change(a, |u| u + Vec2::new(added.x, added.y));
                u.change(b, |u| u + Vec2::new(added.z, added.w));
            }
        }
    }

    #[inline(always)]
    fn scatter_scaled(
        gradients: FlatGradients<'_>,
        amount: f32,
        s: &[f32],
        u: &mut [Vec2],
        first: usize,
    ) {
        let s = gradients.neighbors.of(s, 0);
        let mut u = gradients.neighbors.of_mut(u, first);
        for (gradient, (a, b)) in gradients.pairs() {
            // SAFETY: `s` is the list's.
            let added = gradient * (unsafe { twice_both(&s, (a, b)) } * amount);
            // SAFETY: `u` is the list's.
            unsafe {
                u.change(a, |u| u + Vec2::new(added.x, added.y));
                u.change(b, |u| u + Vec2::new(added.z, added.w));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::listed::tests::listed;
    use crate::solver::vector::Vector;
    use bevy_math::Vec3;

    /// Five neighbours among eight particles, padded with particle 7 itself,
    /// and one more at its own place.
    fn check<V: Vector>(apart: &[Apart<V>]) {
        let vector = |k: usize| {
            let k = k as f32;
            V::from_array([1.0 + k, 0.5 * k - 2.0, 3.0 - k * k])
        };
        let points: Vec<V> = (0..8).map(|k| vector(k * k % 5) * 0.7).collect();
        let mut neighbors = vec![3u32, 0, 6, 1, 4];
        let factors = [0.5, -1.0, 0.25, 2.0, -0.75, 0.0, 0.0, 0.0];
        let mut weights: Vec<f32> = (0..5).map(|k| 0.25 * k as f32 + 0.5).collect();
        let offset = |j: u32| points[7] - points[j as usize];
        let gradients: Vec<V> =
            neighbors.iter().zip(factors).map(|(&j, factor)| offset(j) * factor).collect();
        let mut numbers = Vec::new();
        for (gradient, factor) in gradients.iter().zip(factors) {
            numbers.resize(numbers.len() + V::NUMBERS, 0.0);
            let start = numbers.len() - V::NUMBERS;
            gradient.keep(factor, &mut numbers[start..]);
        }
        numbers.resize(6 * V::NUMBERS, 0.0);
        while neighbors.len() < 6 {
            neighbors.push(7);
            weights.push(0.0);
        }
        let points: Vec<V::Wide> = points.iter().map(|&x| x.widen()).collect();
        let list_of = listed(&neighbors);
        let gradients_of = |list| V::gradients(&numbers, list, &points, 7, apart);
        let here = gradients_of(list_of);
        let u: Vec<V> = (0..8).map(vector).collect();
        let wide: Vec<V::Wide> = u.iter().map(|&u| u.widen()).collect();
        let s: Vec<f32> = (0..8).map(|k| 1.0 - 0.3 * k as f32).collect();
        let apart = apart.iter().map(|apart| (apart.gradient, apart.neighbor as usize));
        let apart: Vec<(V, usize)> = apart.collect();
        let list = || {
            let own = gradients.iter().zip(&neighbors).map(|(&g, &j)| (g, j as usize));
            own.chain(apart.iter().copied())
        };
        let near = |a: V, b: V| assert!((a - b).length() < 1e-3, "{a:?} against {b:?}");

        let mut each = Vec::new();
        V::for_each_gradient(here, |j, gradient| each.push((gradient, j)));
        each.retain(|&(_, j)| j != 7);
        assert_eq!(each.len(), list().count());
        each.iter().zip(list()).for_each(|(each, listed)| near(each.0, listed.0));
        let dot: f32 = list().map(|(g, j)| g.dot(u[j])).sum();
        assert!((V::sum_dot(here, &wide, 0) - dot).abs() < 1e-2);
        let mut scaled = V::ZERO;
        list().for_each(|(g, j)| scaled += g * s[j]);
        near(V::sum_scaled(here, &s), scaled);
        let mut room = Vec::new();
        let beside = V::widen_all(&u, &s, &mut room, Threads::Serial);
        let both = V::sum_both(here, beside, &s);
        assert_eq!(both, (V::sum_dot(here, &wide, 0), V::sum_scaled(here, &s)));
        let mut difference = V::ZERO;
        let pairs = neighbors.iter().zip(&weights);
        pairs.for_each(|(&j, &w)| difference += (u[j as usize] - u[7]) * (w * s[j as usize]));
        near(V::sum_difference(&weights, list_of, &s, beside, wide[7]), difference);
        let mut moved = wide.clone();
        V::scatter(here, 2.0, &mut moved, 0);
        V::scatter_scaled(here, 3.0, &s, &mut moved, 0);
        let mut kept = V::Kept::default();
        assert!((V::sum_dot_keeping(here, &wide, 0, &mut kept) - dot).abs() < 1e-2);
        V::scatter_kept(here, -1.5, &mut moved, 0, &kept);
        let mut expected = u.clone();
        list().for_each(|(g, j)| expected[j] += g * (0.5 + 3.0 * s[j]));
        moved.iter().zip(expected).for_each(|(&moved, expected)| near(V::narrow(moved), expected));
        // A part of u that starts at particle 2.
        let far: Vec<u32> = neighbors.iter().map(|&j| j.max(2)).collect();
        let far = gradients_of(listed(&far));
        let (part, whole) = (V::sum_dot(far, &wide[2..], 2), V::sum_dot(far, &wide, 0));
        assert_eq!(part, whole);
        let (mut part, mut whole) = (wide[2..].to_vec(), wide.clone());
        V::scatter(far, 2.0, &mut part, 2);
        V::scatter(far, 2.0, &mut whole, 0);
        let narrow = |wide: &[V::Wide]| wide.iter().map(|&w| V::narrow(w)).collect::<Vec<V>>();
        assert_eq!(narrow(&part), narrow(&whole[2..]));
    }

    #[test]
    fn sums_equal_plain_loops() {
        check::<Vec2>(&[]);
        check::<Vec3>(&[]);
        check(&[Apart { of: 7, neighbor: 5, gradient: Vec3::new(0.5, -2.0, 1.0) }]);
    }
}
