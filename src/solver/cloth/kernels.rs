//! The hot loops over a cloth's particles as arrays of components.

use super::ibds::{GUARD, LEAST_PRODUCT};

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

/// Constraints between the particles `a..a + len` and `b..b + len`, one each,
/// of one length and stiffness. The two do not overlap and a < b.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Run {
    pub a: usize,
    pub b: usize,
    pub len: usize,
    /// Squared rest length.
    pub squared: f32,
    /// Fraction of the error that a projection takes back.
    pub fraction: f32,
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
            squared: f32,
            fraction: f32,
        ) {
            let n = wa.len();
            $(let ($xa, $xb, $ua, $ub) = (&$xa[..n], &$xb[..n], &mut $ua[..n], &mut $ub[..n]);)+
            let wb = &wb[..n];
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
                let twice = 2.0 * product.max(LEAST_PRODUCT * squared);
                let sum = wa[i] + wb[i];
                let sum = if sum > 0.0 { sum } else { 1.0 };
                let s = (fraction * (ee - squared)).max(-twice) / (sum * twice);
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

/// Whether the machine has the wider instructions; the result is the same bit
/// for bit, as neither form fuses a multiplication with an addition.
pub(super) fn wide() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

impl Components {
    /// Projects the constraints of a run once; `wide` is [`wide`]'s answer.
    #[inline(always)]
    pub fn project_run<const DIM: usize>(&mut self, run: &Run, wide: bool) {
        let Run { a, b, len, squared, fraction } = *run;
        let [x, y, z] = &self.x;
        let [u, v, t] = &mut self.u;
        let (wa, wb) = (&self.w[a..a + len], &self.w[b..b + len]);
        let (ua, ub) = pair(u, run);
        let (va, vb) = pair(v, run);
        let (xa, xb) = (&x[a..a + len], &x[b..b + len]);
        let (ya, yb) = (&y[a..a + len], &y[b..b + len]);
        #[cfg(not(target_arch = "x86_64"))]
        let _ = wide;
        if DIM == 2 {
            #[cfg(target_arch = "x86_64")]
            if wide {
                // SAFETY: `wide` says that the machine has AVX2.
                unsafe {
                    run_2d_avx2(xa, xb, ua, ub, ya, yb, va, vb, wa, wb, squared, fraction);
                }
                return;
            }
            run_2d(xa, xb, ua, ub, ya, yb, va, vb, wa, wb, squared, fraction);
            return;
        }
        let (ta, tb) = pair(t, run);
        let (za, zb) = (&z[a..a + len], &z[b..b + len]);
        #[cfg(target_arch = "x86_64")]
        if wide {
            // SAFETY: `wide` says that the machine has AVX2.
            unsafe {
                run_3d_avx2(
                    xa, xb, ua, ub, ya, yb, va, vb, za, zb, ta, tb, wa, wb, squared, fraction,
                );
            }
            return;
        }
        run_3d(xa, xb, ua, ub, ya, yb, va, vb, za, zb, ta, tb, wa, wb, squared, fraction);
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
fn pair<'a>(component: &'a mut [f32], run: &Run) -> (&'a mut [f32], &'a mut [f32]) {
    let (low, high) = component.split_at_mut(run.b);
    (&mut low[run.a..run.a + run.len], &mut high[..run.len])
}
