//! Sums over a particle's neighbours, several components at a time.
//!
//! In the plane two neighbours share a register of four lanes, in space one
//! neighbour fills it. Lists are padded to whole bundles with the particle
//! itself at weight zero, so that no loop has a remainder.

use bevy_math::{Vec2, Vec3, Vec4};

use super::neighborhood::transposed;

/// How the hot loops hold vectors and lists. Implemented with [`Vector`](super::vector::Vector).
pub trait Lanes: Sized {
    /// A vector of a size that is read with one instruction.
    type Wide: Copy + Default + core::fmt::Debug + Send + Sync + 'static;

    /// The gradients of [`Lanes::WIDTH`] neighbours. In space a lane is left,
    /// and holds the neighbour's weight.
    type Bundle: Copy + Default + core::fmt::Debug + Send + Sync + 'static;

    /// Neighbours in a bundle.
    const WIDTH: usize;

    /// Whether weights are kept beside the bundles, not in them.
    const WEIGHTS_APART: bool;

    /// The vector as a wide one.
    fn widen(self) -> Self::Wide;

    /// The vector that [`Lanes::widen`] was given.
    fn narrow(wide: Self::Wide) -> Self;

    /// Four vectors component by component; in the plane the third is zero.
    fn components(wide: &[Self::Wide; 4]) -> [Vec4; 3];

    /// Writes four gradients, given by their components, and where it belongs
    /// to them the weights.
    fn bundle(components: [Vec4; 3], weights: Vec4, bundles: &mut [Self::Bundle]);

    /// Calls `work` with each neighbour and its gradient, padding included.
    fn for_each_gradient(
        gradients: &[Self::Bundle],
        neighbors: &[u32],
        work: impl FnMut(usize, Self),
    );

    /// Sum of g_ij . u_j, where u starts at the particle `first`.
    fn sum_dot(
        gradients: &[Self::Bundle],
        neighbors: &[u32],
        u: &[Self::Wide],
        first: usize,
    ) -> f32;

    /// Sum of g_ij s_j.
    fn sum_scaled(gradients: &[Self::Bundle], neighbors: &[u32], s: &[f32]) -> Self;

    /// Sum of w_ij s_j (u_j - own), the weights being in either place.
    fn sum_difference(
        weights: &[f32],
        gradients: &[Self::Bundle],
        neighbors: &[u32],
        s: &[f32],
        u: &[Self::Wide],
        own: Self::Wide,
    ) -> Self;

    /// Adds g_ij `amount` to each u_j, where u starts at the particle `first`.
    fn scatter(
        gradients: &[Self::Bundle],
        neighbors: &[u32],
        amount: f32,
        u: &mut [Self::Wide],
        first: usize,
    );

    /// Adds g_ij `amount` s_j to each u_j, where u starts at the particle `first`.
    fn scatter_scaled(
        gradients: &[Self::Bundle],
        neighbors: &[u32],
        amount: f32,
        s: &[f32],
        u: &mut [Self::Wide],
        first: usize,
    );
}

/// The pairs of a padded list.
#[inline(always)]
fn pairs(list: &[u32]) -> impl Iterator<Item = (usize, usize)> + '_ {
    list.as_chunks::<2>().0.iter().map(|&[a, b]| (a as usize, b as usize))
}

#[inline(always)]
fn join(a: Vec2, b: Vec2) -> Vec4 {
    Vec4::new(a.x, a.y, b.x, b.y)
}

#[inline(always)]
fn fold(sum: Vec4) -> Vec2 {
    Vec2::new(sum.x + sum.z, sum.y + sum.w)
}

impl Lanes for Vec2 {
    type Wide = Vec2;
    type Bundle = Vec4;
    const WIDTH: usize = 2;
    const WEIGHTS_APART: bool = true;

    #[inline(always)]
    fn widen(self) -> Vec2 {
        self
    }

    #[inline(always)]
    fn narrow(wide: Vec2) -> Self {
        wide
    }

    #[inline(always)]
    fn components(&[a, b, c, d]: &[Vec2; 4]) -> [Vec4; 3] {
        [Vec4::new(a.x, b.x, c.x, d.x), Vec4::new(a.y, b.y, c.y, d.y), Vec4::ZERO]
    }

    #[inline(always)]
    fn bundle([x, y, _]: [Vec4; 3], _: Vec4, bundles: &mut [Vec4]) {
        let pair = |a: usize, b: usize| Vec4::new(x[a], y[a], x[b], y[b]);
        bundles.copy_from_slice(&[pair(0, 1), pair(2, 3)]);
    }

    #[inline(always)]
    fn for_each_gradient(gradients: &[Vec4], neighbors: &[u32], mut work: impl FnMut(usize, Self)) {
        for (&gradient, (a, b)) in gradients.iter().zip(pairs(neighbors)) {
            work(a, Vec2::new(gradient.x, gradient.y));
            work(b, Vec2::new(gradient.z, gradient.w));
        }
    }

    #[inline(always)]
    fn sum_dot(gradients: &[Vec4], neighbors: &[u32], u: &[Vec2], first: usize) -> f32 {
        let mut sum = Vec4::ZERO;
        for (&gradient, (a, b)) in gradients.iter().zip(pairs(neighbors)) {
            sum += gradient * join(u[a.wrapping_sub(first)], u[b.wrapping_sub(first)]);
        }
        let folded = fold(sum);
        folded.x + folded.y
    }

    #[inline(always)]
    fn sum_scaled(gradients: &[Vec4], neighbors: &[u32], s: &[f32]) -> Vec2 {
        let mut sum = Vec4::ZERO;
        for (&gradient, (a, b)) in gradients.iter().zip(pairs(neighbors)) {
            let (a, b) = (s[a], s[b]);
            sum += gradient * Vec4::new(a, a, b, b);
        }
        fold(sum)
    }

    #[inline(always)]
    fn sum_difference(
        weights: &[f32],
        _: &[Vec4],
        neighbors: &[u32],
        s: &[f32],
        u: &[Vec2],
        own: Vec2,
    ) -> Vec2 {
        let own = join(own, own);
        let mut sum = Vec4::ZERO;
        for (&[v, w], (a, b)) in weights.as_chunks::<2>().0.iter().zip(pairs(neighbors)) {
            let (v, w) = (v * s[a], w * s[b]);
            sum += (join(u[a], u[b]) - own) * Vec4::new(v, v, w, w);
        }
        fold(sum)
    }

    #[inline(always)]
    fn scatter(gradients: &[Vec4], neighbors: &[u32], amount: f32, u: &mut [Vec2], first: usize) {
        for (&gradient, (a, b)) in gradients.iter().zip(pairs(neighbors)) {
            let added = gradient * amount;
            u[a.wrapping_sub(first)] += Vec2::new(added.x, added.y);
            u[b.wrapping_sub(first)] += Vec2::new(added.z, added.w);
        }
    }

    #[inline(always)]
    fn scatter_scaled(
        gradients: &[Vec4],
        neighbors: &[u32],
        amount: f32,
        s: &[f32],
        u: &mut [Vec2],
        first: usize,
    ) {
        for (&gradient, (a, b)) in gradients.iter().zip(pairs(neighbors)) {
            let (v, w) = (amount * s[a], amount * s[b]);
            let added = gradient * Vec4::new(v, v, w, w);
            u[a.wrapping_sub(first)] += Vec2::new(added.x, added.y);
            u[b.wrapping_sub(first)] += Vec2::new(added.z, added.w);
        }
    }
}

/// The weight's lane of a vector is zero, so that it adds nothing to a sum.
impl Lanes for Vec3 {
    type Wide = Vec4;
    type Bundle = Vec4;
    const WIDTH: usize = 1;
    const WEIGHTS_APART: bool = false;

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
    fn bundle([x, y, z]: [Vec4; 3], weights: Vec4, bundles: &mut [Vec4]) {
        bundles.copy_from_slice(&transposed([x, y, z, weights]));
    }

    #[inline(always)]
    fn for_each_gradient(gradients: &[Vec4], neighbors: &[u32], mut work: impl FnMut(usize, Self)) {
        for (&gradient, &j) in gradients.iter().zip(neighbors) {
            work(j as usize, gradient.truncate());
        }
    }

    #[inline(always)]
    fn sum_dot(gradients: &[Vec4], neighbors: &[u32], u: &[Vec4], first: usize) -> f32 {
        let mut sum = Vec4::ZERO;
        for (&gradient, &j) in gradients.iter().zip(neighbors) {
            sum += gradient * u[(j as usize).wrapping_sub(first)];
        }
        sum.element_sum()
    }

    #[inline(always)]
    fn sum_scaled(gradients: &[Vec4], neighbors: &[u32], s: &[f32]) -> Vec3 {
        let mut sum = Vec4::ZERO;
        for (&gradient, &j) in gradients.iter().zip(neighbors) {
            sum += gradient * s[j as usize];
        }
        sum.truncate()
    }

    #[inline(always)]
    fn sum_difference(
        _: &[f32],
        gradients: &[Vec4],
        neighbors: &[u32],
        s: &[f32],
        u: &[Vec4],
        own: Vec4,
    ) -> Vec3 {
        let mut sum = Vec4::ZERO;
        for (&gradient, &j) in gradients.iter().zip(neighbors) {
            sum += (u[j as usize] - own) * (gradient.w * s[j as usize]);
        }
        sum.truncate()
    }

    #[inline(always)]
    fn scatter(gradients: &[Vec4], neighbors: &[u32], amount: f32, u: &mut [Vec4], first: usize) {
        let amount = Vec3::splat(amount).extend(0.0);
        for (&gradient, &j) in gradients.iter().zip(neighbors) {
            u[(j as usize).wrapping_sub(first)] += gradient * amount;
        }
    }

    #[inline(always)]
    fn scatter_scaled(
        gradients: &[Vec4],
        neighbors: &[u32],
        amount: f32,
        s: &[f32],
        u: &mut [Vec4],
        first: usize,
    ) {
        let amount = Vec3::splat(amount).extend(0.0);
        for (&gradient, &j) in gradients.iter().zip(neighbors) {
            u[(j as usize).wrapping_sub(first)] += gradient * (amount * s[j as usize]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::vector::Vector;

    /// Five neighbours among eight particles, padded with particle 7 itself.
    fn check<V: Vector>() {
        let vector = |k: usize| {
            let k = k as f32;
            V::from_array([1.0 + k, 0.5 * k - 2.0, 3.0 - k * k])
        };
        let gradients: Vec<V> = (10..15).map(vector).collect();
        let mut neighbors = vec![3u32, 0, 6, 1, 4];
        let mut weights: Vec<f32> = (0..5).map(|k| 0.25 * k as f32 + 0.5).collect();
        let mut bundles = vec![V::Bundle::default(); 8 / V::WIDTH];
        let mut padded_weights = weights.clone();
        padded_weights.resize(8, 0.0);
        let places = (0..8).step_by(4);
        let chunks = gradients.chunks(4).zip(bundles.chunks_mut(4 / V::WIDTH));
        for (at, (four, bundles)) in places.zip(chunks) {
            let mut components = [[0.0; 4]; 3];
            for (lane, gradient) in four.iter().enumerate() {
                for (component, value) in components.iter_mut().zip(gradient.to_array()) {
                    component[lane] = value;
                }
            }
            let weights = Vec4::from_slice(&padded_weights[at..at + 4]);
            V::bundle(components.map(Vec4::from_array), weights, bundles);
        }
        bundles.truncate(gradients.len().div_ceil(V::WIDTH));
        while neighbors.len() < bundles.len() * V::WIDTH {
            neighbors.push(7);
            weights.push(0.0);
        }
        let u: Vec<V> = (0..8).map(vector).collect();
        let wide: Vec<V::Wide> = u.iter().map(|&u| u.widen()).collect();
        let s: Vec<f32> = (0..8).map(|k| 1.0 - 0.3 * k as f32).collect();
        let list = || gradients.iter().zip(&neighbors).map(|(&g, &j)| (g, j as usize));
        let near = |a: V, b: V| assert!((a - b).length() < 1e-3, "{a:?} against {b:?}");

        let dot: f32 = list().map(|(g, j)| g.dot(u[j])).sum();
        assert!((V::sum_dot(&bundles, &neighbors, &wide, 0) - dot).abs() < 1e-2);
        let mut scaled = V::ZERO;
        list().for_each(|(g, j)| scaled += g * s[j]);
        near(V::sum_scaled(&bundles, &neighbors, &s), scaled);
        let mut difference = V::ZERO;
        list().zip(&weights).for_each(|((_, j), &w)| difference += (u[j] - u[7]) * (w * s[j]));
        near(V::sum_difference(&weights, &bundles, &neighbors, &s, &wide, wide[7]), difference);
        let mut moved = wide.clone();
        V::scatter(&bundles, &neighbors, 2.0, &mut moved, 0);
        V::scatter_scaled(&bundles, &neighbors, 3.0, &s, &mut moved, 0);
        let mut expected = u.clone();
        list().for_each(|(g, j)| expected[j] += g * (2.0 + 3.0 * s[j]));
        moved.iter().zip(expected).for_each(|(&moved, expected)| near(V::narrow(moved), expected));
        // A part of u that starts at particle 2.
        let far: Vec<u32> = neighbors.iter().map(|&j| j.max(2)).collect();
        let (part, whole) =
            (V::sum_dot(&bundles, &far, &wide[2..], 2), V::sum_dot(&bundles, &far, &wide, 0));
        assert_eq!(part, whole);
        let (mut part, mut whole) = (wide[2..].to_vec(), wide.clone());
        V::scatter(&bundles, &far, 2.0, &mut part, 2);
        V::scatter(&bundles, &far, 2.0, &mut whole, 0);
        let narrow = |wide: &[V::Wide]| wide.iter().map(|&w| V::narrow(w)).collect::<Vec<V>>();
        assert_eq!(narrow(&part), narrow(&whole[2..]));
    }

    #[test]
    fn sums_equal_plain_loops() {
        check::<Vec2>();
        check::<Vec3>();
    }
}
