//! The arithmetic of the pressure equation over the cells of one colour in a row.

use super::packed::{Level, Span};
use crate::solver::dispatch::wide_fn;

/// Unknowns by colour, as seen from the colour of a pass; both begin at index
/// `offset` of half an array.
#[derive(Clone, Copy)]
pub(crate) struct Colours<'a> {
    /// The pass's own colour, where it reads it.
    pub own: &'a [f32],
    pub other: &'a [f32],
    pub offset: usize,
}

/// What a pass does with the sum of a cell's neighbours.
pub(crate) trait Operation {
    fn apply(out: f32, sum: f32, own: f32, rhs: f32, inverse: f32, factor: f32) -> f32;
}

/// Gauss-Seidel.
pub(crate) struct Relax;
/// Gauss-Seidel from zero.
pub(crate) struct Start;
/// Gauss-Seidel over-relaxed by the factor.
pub(crate) struct OverRelax;
/// The matrix times the unknowns; 0 where there is no equation.
pub(crate) struct Apply;
/// The residual; 0 where there is no equation.
pub(crate) struct Residual;

impl Operation for Relax {
    #[inline(always)]
    fn apply(_: f32, sum: f32, _: f32, rhs: f32, inverse: f32, _: f32) -> f32 {
        (rhs + sum) * inverse
    }
}

impl Operation for Start {
    #[inline(always)]
    fn apply(_: f32, _: f32, _: f32, rhs: f32, inverse: f32, _: f32) -> f32 {
        rhs * inverse
    }
}

impl Operation for OverRelax {
    #[inline(always)]
    fn apply(out: f32, sum: f32, _: f32, rhs: f32, inverse: f32, omega: f32) -> f32 {
        out + omega * ((rhs + sum) * inverse - out)
    }
}

impl Operation for Apply {
    #[inline(always)]
    fn apply(_: f32, sum: f32, own: f32, _: f32, inverse: f32, _: f32) -> f32 {
        let value = 1.0 / inverse * own - sum;
        if inverse > 0.0 { value } else { 0.0 }
    }
}

impl Operation for Residual {
    #[inline(always)]
    fn apply(_: f32, sum: f32, own: f32, rhs: f32, inverse: f32, _: f32) -> f32 {
        let value = rhs + sum - 1.0 / inverse * own;
        if inverse > 0.0 { value } else { 0.0 }
    }
}

impl Level {
    /// Runs an operation over the cells of a span.
    #[inline(always)]
    pub(crate) fn run<O: Operation>(
        &self,
        span: Span,
        colour: usize,
        out: &mut [f32],
        p: Colours,
        rhs: &[f32],
        factor: f32,
    ) {
        match (self.grid.dim, self.weighted) {
            (3, false) => self.run_as::<O, 3, false>(span, colour, out, p, rhs, factor),
            (3, true) => self.run_as::<O, 3, true>(span, colour, out, p, rhs, factor),
            (_, false) => self.run_as::<O, 2, false>(span, colour, out, p, rhs, factor),
            (_, true) => self.run_as::<O, 2, true>(span, colour, out, p, rhs, factor),
        }
    }

    #[inline(always)]
    fn run_as<'a, O: Operation, const DIM: usize, const WEIGHTED: bool>(
        &'a self,
        span: Span,
        colour: usize,
        out: &mut [f32],
        p: Colours<'a>,
        rhs: &'a [f32],
        factor: f32,
    ) {
        let Span { odd, start, count, .. } = span;
        let (row, plane) = (self.width, self.plane());
        let part = |array: &'a [f32], colour: usize, from: usize| {
            &array[colour * self.half + from..][..count]
        };
        let inverse = part(&self.inverse, colour, start);
        let here = start - p.offset;
        let other = |from: usize| &p.other[from..][..count];
        let mut near = Near {
            own: if p.own.is_empty() { inverse } else { &p.own[here..][..count] },
            rhs: if rhs.is_empty() { inverse } else { part(rhs, colour, start) },
            inverse,
            // Of the two neighbours along x one lies in the same place, above or below.
            same: other(here),
            side: other(if odd == 0 { here - 1 } else { here + 1 }),
            south: other(here - row),
            north: other(here + row),
            vertical: None,
            weights: None,
            factor,
        };
        if DIM == 3 {
            near.vertical = Some([other(here - plane), other(here + plane)]);
        }
        if WEIGHTED {
            let own = |axis: usize| part(&self.weights[axis], colour, start);
            // The weight of the upper neighbour is that cell's own.
            let upper =
                |axis: usize, stride: usize| part(&self.weights[axis], 1 - colour, start + stride);
            let along_x = [own(0), upper(0, odd)];
            let [w_same, w_side] = if odd == 0 { [along_x[1], along_x[0]] } else { along_x };
            let mut weights = [w_same, w_side, own(1), upper(1, row), &[], &[]];
            if DIM == 3 {
                (weights[4], weights[5]) = (own(2), upper(2, plane));
            }
            near.weights = Some(weights);
        }
        each::<O, DIM, WEIGHTED>(&mut out[..count], &near);
    }
}

/// What the cells of a span see, slices of one length.
struct Near<'a> {
    own: &'a [f32],
    rhs: &'a [f32],
    inverse: &'a [f32],
    same: &'a [f32],
    side: &'a [f32],
    south: &'a [f32],
    north: &'a [f32],
    /// The neighbours along z, in 3D.
    vertical: Option<[&'a [f32]; 2]>,
    /// Weights of the neighbours in the same order, where not all are 1.
    weights: Option<[&'a [f32]; 6]>,
    factor: f32,
}

wide_fn!(
    /// The loop of all passes.
    fn each[O: Operation, const DIM: usize, const WEIGHTED: bool][O, DIM, WEIGHTED](
        out: &mut [f32],
        near: &Near,
    ) = each_cell::<O, DIM, WEIGHTED>
);

#[inline(always)]
fn each_cell<O: Operation, const DIM: usize, const WEIGHTED: bool>(out: &mut [f32], near: &Near) {
    let n = out.len();
    let (own, rhs, inverse) = (&near.own[..n], &near.rhs[..n], &near.inverse[..n]);
    let (same, side) = (&near.same[..n], &near.side[..n]);
    let (south, north) = (&near.south[..n], &near.north[..n]);
    let [down, up] = match near.vertical {
        Some(both) if DIM == 3 => both.map(|slice| &slice[..n]),
        _ => [own; 2],
    };
    let [w_same, w_side, w_south, w_north, w_down, w_up] = match near.weights {
        Some([a, b, c, d, e, f]) if WEIGHTED => {
            let [a, b, c, d] = [a, b, c, d].map(|slice| &slice[..n]);
            if DIM == 3 { [a, b, c, d, &e[..n], &f[..n]] } else { [a, b, c, d, own, own] }
        }
        _ => [own; 6],
    };
    let factor = near.factor;
    for x in 0..n {
        let mut sum = if WEIGHTED {
            (same[x] * w_same[x] + side[x] * w_side[x])
                + (south[x] * w_south[x] + north[x] * w_north[x])
        } else {
            (same[x] + side[x]) + (south[x] + north[x])
        };
        if DIM == 3 {
            sum += if WEIGHTED { down[x] * w_down[x] + up[x] * w_up[x] } else { down[x] + up[x] };
        }
        out[x] = O::apply(out[x], sum, own[x], rhs[x], inverse[x], factor);
    }
}
