//! Sums over each list of a chunk: the loops that most of a step's time goes to.
//!
//! Each is a function of its own, so that nothing else takes registers from it. For AVX2
//! they are compiled without gain: what they do is to read neighbours one by one.

use super::ChunkLists;
use crate::solver::vector::Vector;

/// Sums of g_ij . u_j.
#[inline(never)]
pub(crate) fn sum_dot<V: Vector>(lists: ChunkLists<V>, u: &[V::Wide], sums: &mut [f32]) {
    for (sum, list) in sums.iter_mut().zip(lists.all()) {
        *sum = V::sum_dot(list.gradients, u, 0);
    }
}

/// Sums of g_ij s_j.
#[inline(never)]
pub(crate) fn sum_scaled<V: Vector>(lists: ChunkLists<V>, s: &[f32], sums: &mut [V::Wide]) {
    for (sum, list) in sums.iter_mut().zip(lists.all()) {
        *sum = V::sum_scaled(list.gradients, s).widen();
    }
}

/// Sums of g_ij . u_j and of g_ij s_j.
#[inline(never)]
pub(crate) fn sum_both<V: Vector>(
    lists: ChunkLists<V>,
    u: &[V::Wide],
    s: &[f32],
    dots: &mut [f32],
    sums: &mut [V::Wide],
) {
    for ((dot, sum), list) in dots.iter_mut().zip(sums).zip(lists.all()) {
        let (near, scaled) = V::sum_both(list.gradients, u, s);
        (*dot, *sum) = (near, scaled.widen());
    }
}

/// Sums of w_ij s_j (u_j - own), `own` being each particle's.
#[inline(never)]
pub(crate) fn sum_difference<V: Vector>(
    lists: ChunkLists<V>,
    s: &[f32],
    u: &[V::Wide],
    own: &[V::Wide],
    sums: &mut [V],
) {
    for ((sum, &own), list) in sums.iter_mut().zip(own).zip(lists.all()) {
        *sum = V::sum_difference(list.weights, list.neighbors, s, u, own);
    }
}
