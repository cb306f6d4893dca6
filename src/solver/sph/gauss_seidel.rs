//! Sweeps of projected Gauss-Seidel with over-relaxation (PSOR, Cryer 1971),
//! on their own or with corrections on the coarse grid.
//!
//! A sweep visits the particles stripe after stripe and passes every change of
//! a pressure on to the accelerations at once. Stripes of one color reach no
//! particle in common, so they can be swept at the same time.

use core::iter::Zip;
use core::slice::{Iter, IterMut};

use super::coarse::Coarse;
use super::packed::Packed;
use super::pressure::{SolveReport, Stopping, System, Workspace};
use crate::solver::grid::Stripe;
use crate::solver::lanes::Lanes;
use crate::solver::neighbors::{NeighborLists, Successive, sums};
use crate::solver::parallel::{
    CHUNK, Pairs, PartsMut, chunks, chunks_mut, for_each_chunk, numbers, ordered_sum,
};
use crate::solver::vector::Vector;

/// Pairs of stripes of one color for each thread below which they are swept one
/// by one, so that no thread goes without.
const PAIRS_PER_THREAD: usize = 2;

/// When a solve is corrected on the coarse grid, if there is one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Corrections {
    /// Before the first sweep.
    pub(super) at_once: bool,
    /// Whenever the sweeps alone would take longer.
    pub(super) between: bool,
}

/// Sweeps of a solve above which the next one like it had better start with a correction.
const MANY_SWEEPS: u32 = 6;

/// Sweeps beside a correction up to which the next solve is tried without.
const FEW_SWEEPS: u32 = 2;

/// Whether sweeps get on so slowly that a correction on the coarse grid is due.
struct Pace {
    /// Sweeps since the last correction.
    sweeps: u32,
    /// Fewest sweeps between two corrections.
    least: u32,
    /// Error after the last sweep, as a fraction of the rest density.
    error: f32,
    /// That which the last correction was due at.
    corrected: f32,
}

impl Default for Pace {
    fn default() -> Self {
        Self { sweeps: 0, least: 2, error: f32::INFINITY, corrected: f32::INFINITY }
    }
}

impl Pace {
    /// Takes the error after another sweep, and says whether to correct before the next.
    ///
    /// It is due where more than eight further sweeps would be needed if each left as much
    /// of the error as this one did: it takes about as long as two, and what it leaves in
    /// the blocks takes a few more. Where it does not help, as in impacts, the sweeps have
    /// the next word for twice as long.
    fn wants_correction(&mut self, error: f32, tolerance: f32) -> bool {
        self.sweeps += 1;
        let kept = error / self.error;
        self.error = error;
        let kept = kept * kept * kept * kept;
        if self.sweeps < self.least || error * kept * kept <= tolerance {
            return false;
        }
        if error > 0.7 * self.corrected {
            self.least *= 2;
        }
        self.corrected = error;
        self.sweeps = 0;
        true
    }
}

impl<V: Vector> System<'_, V> {
    /// Gauss-Seidel sweeps, with corrections on the coarse grid if there is one.
    /// `mixed` if the rest densities differ.
    pub(super) fn sweeps(
        &mut self,
        mut coarse: Option<&mut Coarse<V>>,
        corrections: Corrections,
        mixed: bool,
        relaxation: f32,
        stopping: &Stopping,
    ) -> SolveReport {
        let mut report = SolveReport { applications: 0.5, ..SolveReport::default() };
        let mut pace = Pace::default();
        let mut correct = corrections.at_once;
        let mut many = MANY_SWEEPS;
        loop {
            if let Some(coarse) = coarse.as_deref_mut().filter(|_| correct) {
                self.correct_coarsely(coarse);
                many = FEW_SWEEPS;
                report.applications += 1.0;
            }
            report.error = if mixed {
                self.sweep_all::<true>(relaxation)
            } else {
                self.sweep_all::<false>(relaxation)
            };
            report.iterations += 1;
            report.applications += 1.0;
            if stopping.reached(report.iterations, report.error) {
                report.slow = report.iterations > many.max(stopping.min_iterations);
                return report;
            }
            correct =
                corrections.between && pace.wants_correction(report.error, stopping.tolerance);
        }
    }

    /// Adds the pressures of the coarse grid that meet what the present ones
    /// leave of the source. Takes one application of the system.
    fn correct_coarsely(&mut self, coarse: &mut Coarse<V>) {
        coarse.assemble(self.particles, self.neighbors, self.grid, self.threads);
        let (dt, floor) = (self.dt, self.floor);
        let Workspace { kappa, source, step, vectors, residual, .. } = &mut *self.workspace;
        residual.resize(kappa.len(), 0.0);
        let accelerations = &**vectors;
        let parts = (
            chunks_mut(residual),
            chunks(kappa),
            chunks(source),
            chunks(step),
            chunks(accelerations),
            chunks(&self.particles.gradient_sums),
            self.neighbors.chunks(),
        );
        for_each_chunk(self.threads, parts, |part| {
            let (residual, kappa, source, step, own, gradient_sums, chunk) = part;
            sums::sum_dot(chunk, accelerations, residual);
            for (local, residual) in residual.iter_mut().enumerate() {
                let rate = gradient_sums[local].dot(V::narrow(own[local])) - *residual;
                let missing = rate - source[local] / dt;
                // Where there is no pressure and none is asked for, none comes.
                let active = step[local] > 0.0 && (kappa[local] > floor || missing > 0.0);
                *residual = if active { missing } else { 0.0 };
            }
        });
        coarse.solve(residual);
        let (coarse, step) = (&*coarse, &*step);
        let parts = (numbers(), chunks_mut(kappa), chunks(residual));
        for_each_chunk(self.threads, parts, |(index, kappa, residual)| {
            for (local, (kappa, &residual)) in kappa.iter_mut().zip(residual).enumerate() {
                let active = step[index * CHUNK + local] > 0.0;
                if active && (*kappa > floor || residual > 0.0) {
                    *kappa = (*kappa + coarse.pressure(index * CHUNK + local)).max(floor);
                }
            }
        });
        self.accelerate();
    }

    /// A sweep of projected Gauss-Seidel with over-relaxation, in two colors of
    /// stripes. The accelerations follow each change of an unknown. Returns the
    /// mean error before the changes, as a fraction of the rest density.
    ///
    /// `MIXED` if the rest densities differ.
    fn sweep_all<const MIXED: bool>(&mut self, relaxation: f32) -> f32 {
        let count = self.particles.positions.len();
        let Workspace { kappa, source, step, vectors, partial, .. } = &mut *self.workspace;
        let sweep = Sweep {
            particles: self.particles,
            neighbors: self.neighbors,
            source,
            step,
            relaxation,
            dt: self.dt,
            floor: self.floor,
        };
        let mut errors = 0.0;
        if self.endless {
            // The first and the last stripe reach each other: one after the other.
            let all = (0, count as u32);
            for stripe in self.grid.stripes() {
                let own = stripe.own.0 as usize..stripe.own.1 as usize;
                let stripe = &Stripe { reach: all, ..*stripe };
                let mut partial = 0.0;
                let (u, kappa) = (&mut **vectors, &mut kappa[own]);
                sweep.stripes::<MIXED>((u, kappa, &mut partial, stripe), None);
                errors += partial;
            }
        }
        for color in 0..if self.endless { 0 } else { 2 } {
            let stripes = self.grid.stripes_of(color);
            partial.resize(stripes.len(), 0.0);
            let parts = (
                PartsMut::new(vectors, stripes, |stripe| stripe.reach),
                PartsMut::new(kappa, stripes, |stripe| stripe.own),
                &mut partial[..],
                stripes,
            );
            // Two stripes by turns: one's arithmetic fills the waits of the other's.
            if stripes.len() >= PAIRS_PER_THREAD * 2 * self.threads.count() {
                for_each_chunk(self.threads, Pairs(parts), |(one, other)| {
                    sweep.stripes::<MIXED>(one, other);
                });
            } else {
                for_each_chunk(self.threads, parts, |one| sweep.stripes::<MIXED>(one, None));
            }
            errors += ordered_sum(partial);
        }
        (errors * f64::from(self.dt) / count as f64) as f32
    }
}

/// What a sweep reads.
struct Sweep<'a, V: Vector> {
    particles: &'a Packed<V>,
    neighbors: &'a NeighborLists<V>,
    source: &'a [f32],
    step: &'a [f32],
    relaxation: f32,
    dt: f32,
    floor: f32,
}

/// The accelerations within a stripe's reach, the stripe's own pressures, where to put
/// its [`Part::left`], and the stripe.
type Share<'a, V> = (&'a mut [<V as Lanes>::Wide], &'a mut [f32], &'a mut f64, &'a Stripe);

/// What a sweep reads and changes of each particle of a stripe besides its list: the
/// pressure, what is to be met, the step, 1/rho0 and the sum of the gradients.
type Own<'a, V> =
    Zip<Zip<IterMut<'a, f32>, Zip<Iter<'a, f32>, Iter<'a, f32>>>, Zip<Iter<'a, f32>, Iter<'a, V>>>;

/// What is left of a stripe for a sweep.
struct Part<'a, V: Vector> {
    /// The accelerations within the stripe's reach.
    u: &'a mut [V::Wide],
    /// The particle that they start at.
    first: usize,
    /// The next particle.
    next: usize,
    own: Own<'a, V>,
    lists: Successive<'a, V>,
    /// Sum of what was left of the source before each change, in 1/s: both ways
    /// under pressure, else only what asks for it. Not where other threads' are: with
    /// their sums in one cache line two threads were no faster than one.
    left: f64,
    kept: V::Kept,
}

impl<V: Vector> Sweep<'_, V> {
    /// Sweeps over a stripe, and another if there is one.
    fn stripes<const MIXED: bool>(&self, share: Share<V>, other: Option<Share<V>>) {
        let (u, kappa, left, stripe) = share;
        let mut count = kappa.len();
        let mut part = self.part(u, kappa, stripe);
        if let Some((u, kappa, left, stripe)) = other {
            let both = count.min(kappa.len());
            let rest = kappa.len() - both;
            let mut other = self.part(u, kappa, stripe);
            for _ in 0..both {
                self.relax::<MIXED>(&mut part);
                self.relax::<MIXED>(&mut other);
            }
            (0..rest).for_each(|_| self.relax::<MIXED>(&mut other));
            *left = other.left;
            count -= both;
        }
        (0..count).for_each(|_| self.relax::<MIXED>(&mut part));
        *left = part.left;
    }

    /// All of a stripe.
    fn part<'a>(
        &'a self,
        u: &'a mut [V::Wide],
        kappa: &'a mut [f32],
        stripe: &Stripe,
    ) -> Part<'a, V> {
        let Packed { gradient_sums, lightness, .. } = self.particles;
        let next = stripe.own.0 as usize;
        let own = next..next + kappa.len();
        let read = self.source[own.clone()].iter().zip(&self.step[own.clone()]);
        let constant = lightness[own.clone()].iter().zip(&gradient_sums[own]);
        Part {
            u,
            first: stripe.reach.0 as usize,
            next,
            own: kappa.iter_mut().zip(read).zip(constant),
            lists: self.neighbors.successive(next),
            left: 0.0,
            kept: V::Kept::default(),
        }
    }

    /// Changes the pressure of the next particle of a stripe, if there is one.
    #[inline(always)]
    fn relax<const MIXED: bool>(&self, part: &mut Part<V>) {
        let Part { u, first, next, own, lists, left, kept } = part;
        let Some(((kappa, (&source, &step)), (&lightness, &gradient_sum))) = own.next() else {
            return;
        };
        let Some(list) = lists.next() else { return };
        let (first, i) = (*first, *next - *first);
        *next += 1;
        let gradients = list.gradients;
        let rate =
            gradient_sum.dot(V::narrow(u[i])) - V::sum_dot_keeping(gradients, u, first, kept);
        let residual = source - self.dt * rate;
        if step > 0.0 {
            let unmet = if *kappa > self.floor { residual.abs() } else { -residual };
            *left += f64::from(unmet.max(0.0));
        }
        let wanted = *kappa - self.relaxation * residual * step;
        let wanted = if wanted > self.floor { wanted } else { 0.0 };
        let change = wanted - *kappa;
        if change == 0.0 {
            return;
        }
        *kappa = wanted;
        u[i] = (V::narrow(u[i]) - gradient_sum * (change * lightness)).widen();
        if MIXED {
            V::scatter_scaled(gradients, change, &self.particles.lightness, u, first);
        } else {
            V::scatter_kept(gradients, change * lightness, u, first, kept);
        }
    }
}
