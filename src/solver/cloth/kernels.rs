//! The hot loops over a cloth's particles as arrays of components.

use super::ibds::{GUARD, LEAST_PRODUCT};
use crate::solver::vector::Vector;

/// Particles in the order of a plan, component by component. In the plane the
/// third components are empty.
#[derive(Clone, Debug, Default)]
pub(super) struct Components {
    pub x: [Vec<f32>; 3],
    /// Displacement of the substep in metres.
    pub u: [Vec<f32>; 3],
    /// Inverse masses, 0 for held particles.
    pub w: Vec<f32>,
}

/// Slots that are worked on together; the loops over slots have no remainder.
pub(super) const LANES: usize = 8;

/// Longest run, a whole number of [`LANES`].
pub(super) const LONGEST_RUN: usize = 256;

/// Ones and then zeros: the part from `LONGEST_RUN - len` on begins with `len` ones.
static MASK: [f32; 2 * LONGEST_RUN] = {
    let mut mask = [0.0; 2 * LONGEST_RUN];
    let mut i = 0;
    while i < LONGEST_RUN {
        mask[i] = 1.0;
        i += 1;
    }
    mask
};

/// Constraints between the slots `a..a + len` and `b..b + len`, one each, of
/// one length and stiffness. The two do not overlap and a < b, not even with
/// `len` rounded up to [`LANES`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Run {
    pub a: usize,
    pub b: usize,
    /// Up to [`LONGEST_RUN`].
    pub len: usize,
    /// Squared rest length.
    pub squared: f32,
    /// Fraction of the error that a projection takes back.
    pub fraction: f32,
    /// 1 where shortening is resisted too, 0 where only stretching is.
    pub push: f32,
}

impl Run {
    /// Whether a projection takes back the whole error, to both sides.
    pub fn is_rigid(&self) -> bool {
        self.fraction >= 1.0 && self.push > 0.0
    }
}

/// The larger of two numbers, in one instruction.
#[inline(always)]
fn larger(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// One function for each dimension and instruction set. Slices as arguments
/// tell the compiler that they do not overlap.
macro_rules! run_kernel {
    ($(#[$attribute:meta])* $name:ident: $(($xa:ident, $xb:ident, $ua:ident, $ub:ident, $start:ident, $end:ident)),+) => {
        $(#[$attribute])*
        #[inline(never)]
        fn $name(
            $($xa: &[f32], $xb: &[f32], $ua: &mut [f32], $ub: &mut [f32],)+
            wa: &[f32],
            wb: &[f32],
            mask: &[f32],
            squared: f32,
            fraction: f32,
            push: f32,
        ) {
            let n = mask.len();
            $(let ($xa, $xb, $ua, $ub) = (&$xa[..n], &$xb[..n], &mut $ua[..n], &mut $ub[..n]);)+
            let (wa, wb) = (&wa[..n], &wb[..n]);
            for i in 0..n {
                // The correction of `ibds::correction`, component by component.
                $(
                    let $start = $xa[i] - $xb[i];
                    let $end = $start + ($ua[i] - $ub[i]);
                )+
                // From -0, which added to anything changes nothing.
                let ss = -0.0 $(+ $start * $start)+;
                let se = -0.0 $(+ $start * $end)+;
                let ee = -0.0 $(+ $end * $end)+;
                let turned = !((se > 0.0) & (se * se >= GUARD * ss * ee));
                let product = if turned { ee } else { se };
                let twice = 2.0 * larger(product, LEAST_PRODUCT * squared);
                let sum = wa[i] + wb[i];
                let sum = if sum > 0.0 { sum } else { 1.0 };
                let s = mask[i] * larger(fraction * (ee - squared), -twice * push) / (sum * twice);
                let (sa, sb) = (wa[i] * s, wb[i] * s);
                $(
                    let along = if turned { $end } else { $start };
                    $ua[i] -= along * sa;
                    $ub[i] += along * sb;
                )+
            }
        }
    };
}

run_kernel!(run_2d: (xa, xb, ua, ub, sx, ex), (ya, yb, va, vb, sy, ey));
run_kernel!(run_3d: (xa, xb, ua, ub, sx, ex), (ya, yb, va, vb, sy, ey), (za, zb, ta, tb, sz, ez));
#[cfg(target_arch = "x86_64")]
run_kernel!(#[target_feature(enable = "avx2")] run_2d_avx2: (xa, xb, ua, ub, sx, ex), (ya, yb, va, vb, sy, ey));
#[cfg(target_arch = "x86_64")]
run_kernel!(#[target_feature(enable = "avx2")] run_3d_avx2: (xa, xb, ua, ub, sx, ex), (ya, yb, va, vb, sy, ey), (za, zb, ta, tb, sz, ez));

/// Pulls particles back within two tethers each; see `TetherSet::pull`.
macro_rules! tether_kernel {
    ($(#[$attribute:meta])* $name:ident: $(($x:ident, $u:ident, $a:ident, $b:ident, $end:ident, $first:ident, $second:ident)),+) => {
        $(#[$attribute])*
        #[inline(never)]
        fn $name(
            $($x: &[f32], $u: &mut [f32], $a: &[f32], $b: &[f32],)+
            w: &[f32],
            near: &[f32],
            next: &[f32],
            slack: f32,
        ) {
            let n = w.len();
            $(let ($x, $u, $a, $b) = (&$x[..n], &mut $u[..n], &$a[..n], &$b[..n]);)+
            let (near, next) = (&near[..n], &next[..n]);
            for i in 0..n {
                let (near, next) = (near[i] * (1.0 + slack), next[i] * (1.0 + slack));
                let factor = |squared: f32, longest: f32| {
                    let part = longest / squared.sqrt();
                    if squared > longest * longest { part } else { 1.0 }
                };
                $(let $end = $x[i] + $u[i];)+
                // One after the other, in both orders, so that no pin comes first.
                let part = factor(-0.0 $(+ ($end - $a[i]) * ($end - $a[i]))+, near);
                $(let $first = $a[i] + ($end - $a[i]) * part;)+
                let part = factor(-0.0 $(+ ($first - $b[i]) * ($first - $b[i]))+, next);
                $(let $first = $b[i] + ($first - $b[i]) * part;)+
                let part = factor(-0.0 $(+ ($end - $b[i]) * ($end - $b[i]))+, next);
                $(let $second = $b[i] + ($end - $b[i]) * part;)+
                let part = factor(-0.0 $(+ ($second - $a[i]) * ($second - $a[i]))+, near);
                $(let $second = $a[i] + ($second - $a[i]) * part;)+
                let half = if w[i] > 0.0 { 0.5 } else { 0.0 };
                $($u[i] += (($first - $end) + ($second - $end)) * half;)+
            }
        }
    };
}

tether_kernel!(tether_2d: (x, u, ax, bx, ex, fx, sx), (y, v, ay, by, ey, fy, sy));
tether_kernel!(tether_3d: (x, u, ax, bx, ex, fx, sx), (y, v, ay, by, ey, fy, sy), (z, t, az, bz, ez, fz, sz));
#[cfg(target_arch = "x86_64")]
tether_kernel!(#[target_feature(enable = "avx2")] tether_2d_avx2: (x, u, ax, bx, ex, fx, sx), (y, v, ay, by, ey, fy, sy));
#[cfg(target_arch = "x86_64")]
tether_kernel!(#[target_feature(enable = "avx2")] tether_3d_avx2: (x, u, ax, bx, ex, fx, sx), (y, v, ay, by, ey, fy, sy), (z, t, az, bz, ez, fz, sz));

/// Whether the machine has the wider instructions.
///
/// They take a projection on a grid from 3.6 to 2.3 ns (`cargo bench --bench cloth`).
pub(super) fn wide() -> bool {
    crate::solver::dispatch::wide()
}

impl Components {
    /// As many particles, all at the origin, at rest and held.
    pub fn clear<V: Vector>(&mut self, slots: usize) {
        let all = self.x[..V::DIM].iter_mut().chain(&mut self.u[..V::DIM]);
        for component in all.chain([&mut self.w]) {
            component.clear();
            component.resize(slots, 0.0);
        }
    }

    /// Projects the constraints of a run once; `wide` is [`wide`]'s answer.
    #[inline(always)]
    pub fn project_run<const DIM: usize>(&mut self, run: &Run, wide: bool) {
        let Run { a, b, len, squared, fraction, push } = *run;
        let mask = &MASK[LONGEST_RUN - len..][..len.next_multiple_of(LANES)];
        let len = mask.len();
        let [x, y, z] = &self.x;
        let [u, v, t] = &mut self.u;
        let (wa, wb) = (&self.w[a..a + len], &self.w[b..b + len]);
        let (ua, ub) = pair(u, a, b, len);
        let (va, vb) = pair(v, a, b, len);
        let (xa, xb) = (&x[a..a + len], &x[b..b + len]);
        let (ya, yb) = (&y[a..a + len], &y[b..b + len]);
        #[cfg(not(target_arch = "x86_64"))]
        let _ = wide;
        if DIM == 2 {
            #[cfg(target_arch = "x86_64")]
            if wide {
                // SAFETY: `wide` says that the machine has AVX2.
                unsafe {
                    run_2d_avx2(
                        xa, xb, ua, ub, ya, yb, va, vb, wa, wb, mask, squared, fraction, push,
                    );
                }
                return;
            }
            run_2d(xa, xb, ua, ub, ya, yb, va, vb, wa, wb, mask, squared, fraction, push);
            return;
        }
        let (ta, tb) = pair(t, a, b, len);
        let (za, zb) = (&z[a..a + len], &z[b..b + len]);
        #[cfg(target_arch = "x86_64")]
        if wide {
            // SAFETY: `wide` says that the machine has AVX2.
            unsafe {
                run_3d_avx2(
                    xa, xb, ua, ub, ya, yb, va, vb, za, zb, ta, tb, wa, wb, mask, squared,
                    fraction, push,
                );
            }
            return;
        }
        run_3d(
            xa, xb, ua, ub, ya, yb, va, vb, za, zb, ta, tb, wa, wb, mask, squared, fraction, push,
        );
    }

    /// Largest squared length over the squared rest length in a run.
    pub fn stretch_of_run<V: Vector>(&self, run: &Run) -> f32 {
        let Run { a, b, len, squared, .. } = *run;
        let mask = MASK[LONGEST_RUN - len..][..len.next_multiple_of(LANES)].as_chunks::<LANES>().0;
        let mut most = [0.0; LANES];
        for (start, mask) in (0..).step_by(LANES).zip(mask) {
            let mut sums = [0.0; LANES];
            for x in &self.x[..V::DIM] {
                let (a, b) = (&x[a + start..][..LANES], &x[b + start..][..LANES]);
                for lane in 0..LANES {
                    sums[lane] += (a[lane] - b[lane]) * (a[lane] - b[lane]);
                }
            }
            for lane in 0..LANES {
                most[lane] = larger(sums[lane] * mask[lane], most[lane]);
            }
        }
        most.into_iter().fold(0.0, larger) / squared
    }

    /// Pulls displacements back within the tethers of lengths `near` and `next`
    /// to the anchors `a` and `b`, with `slack`.
    pub fn tether<const DIM: usize>(
        &mut self,
        [a, b]: [&[Vec<f32>; 3]; 2],
        [near, next]: [&[f32]; 2],
        slack: f32,
        wide: bool,
    ) {
        let ([x, y, z], [u, v, t], w) = (&self.x, &mut self.u, &self.w);
        let ([ax, ay, az], [bx, by, bz]) = (a, b);
        #[cfg(not(target_arch = "x86_64"))]
        let _ = wide;
        #[cfg(target_arch = "x86_64")]
        if wide {
            // SAFETY: `wide` says that the machine has AVX2.
            unsafe {
                if DIM == 2 {
                    tether_2d_avx2(x, u, ax, bx, y, v, ay, by, w, near, next, slack);
                } else {
                    tether_3d_avx2(x, u, ax, bx, y, v, ay, by, z, t, az, bz, w, near, next, slack);
                }
            }
            return;
        }
        if DIM == 2 {
            tether_2d(x, u, ax, bx, y, v, ay, by, w, near, next, slack);
        } else {
            tether_3d(x, u, ax, bx, y, v, ay, by, z, t, az, bz, w, near, next, slack);
        }
    }

    /// Free flight of a substep: adds `gravity`, in metres, and scales by `kept`.
    pub fn fly<const DIM: usize>(&mut self, gravity: [f32; 3], kept: f32) {
        for (u, gravity) in self.u[..DIM].iter_mut().zip(gravity) {
            for u in u {
                *u = (*u + gravity) * kept;
            }
        }
    }

    /// Shortens displacements longer than `longest`.
    pub fn limit<const DIM: usize>(&mut self, longest: f32) {
        let count = self.w.len();
        let [u, v, t] = &mut self.u;
        let squared = longest * longest;
        let mut over = false;
        if DIM == 2 {
            for (u, v) in u.iter().zip(&*v) {
                over |= u * u + v * v > squared;
            }
        } else {
            for ((u, v), t) in u.iter().zip(&*v).zip(&*t) {
                over |= u * u + v * v + t * t > squared;
            }
        }
        if !over {
            return;
        }
        for i in 0..count {
            let t = t.get_mut(i);
            let third = t.as_deref().map_or(0.0, |t| t * t);
            let length = u[i] * u[i] + v[i] * v[i] + third;
            if length > squared {
                let factor = longest / length.sqrt();
                u[i] *= factor;
                v[i] *= factor;
                if let Some(t) = t {
                    *t *= factor;
                }
            }
        }
    }

    /// Moves the particles by their displacements.
    pub fn advance<const DIM: usize>(&mut self) {
        for (x, u) in self.x[..DIM].iter_mut().zip(&self.u) {
            for (x, u) in x.iter_mut().zip(u) {
                *x += u;
            }
        }
    }
}

/// The two parts of a component that a run couples.
#[inline(always)]
fn pair(component: &mut [f32], a: usize, b: usize, len: usize) -> (&mut [f32], &mut [f32]) {
    let (low, high) = component.split_at_mut(b);
    (&mut low[a..a + len], &mut high[..len])
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use bevy_math::{Vec2, Vec3};

    /// Numbers in [-1, 1), and some of them zero.
    struct Numbers(u32);

    impl Numbers {
        fn next(&mut self) -> f32 {
            self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if self.0 >> 28 == 0 { 0.0 } else { (self.0 >> 8) as f32 / (1 << 23) as f32 - 1.0 }
        }

        fn list(&mut self, count: usize) -> Vec<f32> {
            (0..count).map(|_| self.next()).collect()
        }
    }

    fn particles<V: Vector>(numbers: &mut Numbers, count: usize) -> Components {
        let mut components = Components::default();
        components.clear::<V>(count);
        for k in 0..V::DIM {
            components.x[k] = numbers.list(count);
            // Displacements from tiny to larger than the distances.
            let scale = [1e-4, 0.1, 2.0][k];
            components.u[k] = numbers.list(count).iter().map(|u| u * scale).collect();
        }
        components.w = numbers.list(count).iter().map(|w| w.max(0.0)).collect();
        components
    }

    fn bits(components: &Components) -> Vec<u32> {
        components.u.iter().flatten().map(|u| u.to_bits()).collect()
    }

    fn compare<V: Vector, const DIM: usize>(numbers: &mut Numbers) {
        let slots = 2 * LONGEST_RUN + LANES;
        for len in [1, 3, 7, 8, 9, 50, 255, LONGEST_RUN] {
            for (fraction, push) in [(1.0, 1.0), (0.2, 1.0), (0.2, 0.0), (0.0, 0.0)] {
                let start = particles::<V>(numbers, slots);
                let run = Run { a: 1, b: LONGEST_RUN + LANES, len, squared: 0.3, fraction, push };
                let [mut narrow, mut wide] = [start.clone(), start.clone()];
                narrow.project_run::<DIM>(&run, false);
                wide.project_run::<DIM>(&run, true);
                assert!(bits(&narrow) == bits(&wide), "{DIM}D: {run:?}");
                let moved = bits(&narrow) != bits(&start);
                assert!(moved == (fraction > 0.0) || len < 50, "{DIM}D: {run:?}");
            }
        }
        let start = particles::<V>(numbers, slots);
        let anchors: [[Vec<f32>; 3]; 2] =
            core::array::from_fn(|_| core::array::from_fn(|_| numbers.list(slots)));
        let lengths = [numbers.list(slots), numbers.list(slots)]
            .map(|list| list.iter().map(|length| length.abs()).collect::<Vec<f32>>());
        let [mut narrow, mut wide] = [start.clone(), start.clone()];
        for (body, instructions) in [(&mut narrow, false), (&mut wide, true)] {
            let [a, b] = &anchors;
            body.tether::<DIM>([a, b], [&lengths[0], &lengths[1]], 1e-3, instructions);
        }
        assert!(bits(&narrow) == bits(&wide), "{DIM}D tethers");
        assert!(bits(&narrow) != bits(&start), "{DIM}D tethers do nothing");
    }

    #[test]
    fn wide_instructions_give_the_same_bits() {
        if !wide() {
            println!("no AVX2 here, nothing to compare");
            return;
        }
        let mut numbers = Numbers(1);
        for _ in 0..20 {
            compare::<Vec2, 2>(&mut numbers);
            compare::<Vec3, 3>(&mut numbers);
        }
    }
}
