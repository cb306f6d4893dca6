//! Boundary samples and their volumes.

use super::error::FluidError;
use super::grid::{CellGrid, Rows};
use super::kernel::{CubicSpline, REACH_SQUARED};
use super::neighbors::CELL_FACTOR;
use super::parallel::Threads;
use super::periodic::Periodic;
use super::vector::Vector;

/// All boundary samples of a world, sorted by cell.
///
/// A sample's volume V_k = 1/(W(0) + sum_l W_kl) over the other samples makes
/// up for uneven sampling (Akinci et al. 2012, equation 4); its pseudo-mass is
/// psi_k = rho0 V_k.
///
/// Samples can move to a target at constant velocity, and their surface can
/// move along itself, as that of a conveyor belt does.
#[derive(Debug, Default)]
pub(crate) struct BoundarySet<V> {
    grid: CellGrid,
    /// As given, to notice a change.
    given: Vec<V>,
    positions: Vec<V>,
    volumes: Vec<f32>,
    support_radius: f32,
    motion: BoundaryMotion<V>,
    /// What the fluid meets, in m/s, in the order of the positions. Empty where
    /// every sample is at rest.
    velocities: Vec<V>,
    ids: Vec<u32>,
    scratch: Vec<V>,
    periodic: Periodic,
    /// Lowest and highest coordinates of all samples.
    bounds: Option<(V, V)>,
}

/// How the samples of a boundary move, each list in the order they were given
/// in, and empty where nothing does.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "scene", derive(serde::Serialize, serde::Deserialize))]
pub struct BoundaryMotion<V> {
    /// Where the samples will be when `remaining` is over, in metres.
    pub targets: Vec<V>,
    /// Seconds until then.
    pub remaining: f32,
    /// Velocities of the surface relative to the samples, in m/s.
    pub surface: Vec<V>,
}

impl<V> Default for BoundaryMotion<V> {
    fn default() -> Self {
        Self { targets: Vec::new(), remaining: 0.0, surface: Vec::new() }
    }
}

impl<V: Vector> BoundaryMotion<V> {
    /// Checks that it is one of `count` samples.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] if it is not.
    pub(crate) fn validate(&self, count: usize) -> Result<(), FluidError> {
        for (name, list) in [("targets", &self.targets), ("surface", &self.surface)] {
            let fits = list.is_empty() || list.len() == count;
            if !fits || !list.iter().all(|vector| vector.is_finite()) {
                return Err(FluidError::parameter(
                    format_args!("boundary_motion.{name}"),
                    list.len(),
                    format_args!("none, or {count} finite vectors"),
                ));
            }
        }
        let moves = !self.targets.is_empty();
        if !(0.0..=3600.0).contains(&self.remaining) || moves != (self.remaining > 0.0) {
            return Err(FluidError::parameter(
                "boundary_motion.remaining",
                self.remaining,
                "0 s to 3600 s, above 0 s with targets and 0 s without",
            ));
        }
        Ok(())
    }
}

/// Support radii beyond which a sample does not move to its target but is put there.
const TELEPORT_SUPPORTS: f32 = 16.0;

/// Part of a motion's time that rounding may leave.
const ARRIVED: f32 = 1e-4;

impl<V: Vector> BoundarySet<V> {
    /// Takes the samples of all boundaries, which must be finite. Returns
    /// whether anything changed; costs a comparison where nothing did.
    pub(crate) fn rebuild(&mut self, samples: &[V], support_radius: f32) -> bool {
        if self.given == samples && self.support_radius == support_radius {
            return false;
        }
        if self.given != samples {
            self.given.clear();
            self.given.extend_from_slice(samples);
            self.motion = BoundaryMotion::default();
            self.velocities.clear();
        }
        self.support_radius = support_radius;
        self.place(samples);
        true
    }

    /// Lets the samples move to `targets`, one for each, within `seconds`. One
    /// that is farther from its target than [`TELEPORT_SUPPORTS`], or whose
    /// target is not finite, is not moved but put there, or stays. Returns
    /// whether any was put.
    pub(crate) fn move_to(&mut self, targets: &[V], seconds: f32) -> bool {
        if targets == self.given {
            self.stop();
            return false;
        }
        let far = TELEPORT_SUPPORTS * self.support_radius;
        let mut given = core::mem::take(&mut self.given);
        let (mut moves, mut jumps) = (false, false);
        self.motion.targets.clear();
        for (sample, &target) in given.iter_mut().zip(targets) {
            let target = if target.is_finite() { target } else { *sample };
            if (target - *sample).length() > far {
                (*sample, jumps) = (target, true);
            }
            moves |= target != *sample;
            self.motion.targets.push(target);
        }
        if jumps {
            self.place(&given);
        }
        self.given = given;
        if moves {
            self.motion.remaining = seconds;
            self.find_velocities();
        } else {
            self.stop();
        }
        jumps
    }

    /// Leaves the samples where they are.
    pub(crate) fn stop(&mut self) {
        self.motion.targets.clear();
        self.motion.remaining = 0.0;
        self.find_velocities();
    }

    /// Weighs the samples for another support radius.
    pub(crate) fn set_support_radius(&mut self, support_radius: f32) {
        let given = core::mem::take(&mut self.given);
        self.support_radius = support_radius;
        self.place(&given);
        self.given = given;
    }

    /// Sorts and weighs the samples within other borders.
    pub(crate) fn set_periodic(&mut self, periodic: Periodic) {
        let given = core::mem::take(&mut self.given);
        self.periodic = periodic;
        self.place(&given);
        self.given = given;
    }

    /// Takes over a motion that was under way.
    pub(crate) fn resume(&mut self, motion: BoundaryMotion<V>) {
        self.motion = motion;
        self.find_velocities();
    }

    /// Sets the velocities of the surface relative to the samples, in the order
    /// these were given in; those that are missing or not finite count as zero.
    pub(crate) fn set_surface(&mut self, velocities: &[V]) {
        let count = self.given.len();
        let zero = |v: &V| *v == V::ZERO || !v.is_finite();
        let surface = &mut self.motion.surface;
        surface.clear();
        if !velocities.iter().take(count).all(zero) {
            let finite = velocities.iter().map(|v| if v.is_finite() { *v } else { V::ZERO });
            surface.extend(finite.chain(core::iter::repeat(V::ZERO)).take(count));
        }
        self.find_velocities();
    }

    /// Goes on with a motion by `dt` seconds. Returns whether any sample moved.
    pub(crate) fn advance(&mut self, dt: f32) -> bool {
        let remaining = self.motion.remaining;
        if remaining <= 0.0 {
            return false;
        }
        let mut given = core::mem::take(&mut self.given);
        if dt >= remaining * (1.0 - ARRIVED) {
            given.copy_from_slice(&self.motion.targets);
            // What the fluid meets stays until the next step begins.
            self.motion.remaining = 0.0;
            self.motion.targets.clear();
        } else {
            let part = dt / remaining;
            for (sample, &target) in given.iter_mut().zip(&self.motion.targets) {
                *sample += (target - *sample) * part;
            }
            self.motion.remaining = remaining - dt;
        }
        self.place(&given);
        self.given = given;
        true
    }

    /// Begins a step: what arrived in the last one is at rest, and what is
    /// under way has a velocity that follows from the motion alone, whatever
    /// the steps before.
    pub(crate) fn begin_step(&mut self) {
        if !self.velocities.is_empty() {
            self.find_velocities();
        }
    }

    /// Highest speed of a sample that is under way, in m/s.
    pub(crate) fn max_speed(&self) -> f32 {
        if self.motion.remaining <= 0.0 {
            return 0.0;
        }
        let ways = self.given.iter().zip(&self.motion.targets);
        let squared = ways.map(|(&from, &to)| (to - from).length_squared()).fold(0.0, f32::max);
        squared.sqrt() / self.motion.remaining
    }

    /// Mean velocity in m/s of the k-th sample itself over the next `dt` seconds,
    /// whatever its surface does.
    pub(crate) fn motion_of(&self, k: usize, dt: f32) -> V {
        let point = self.grid.point(k);
        match self.motion.targets.get(point) {
            Some(&target) => (target - self.given[point]) * (1.0 / self.motion.remaining.max(dt)),
            None => V::ZERO,
        }
    }

    /// Whether all samples are farther than `margin` metres from the straight
    /// way between two places. Never where space repeats itself.
    pub(crate) fn is_away_from(&self, from: V, to: V, margin: f32) -> bool {
        let Some((low, high)) = self.bounds else { return true };
        let (low, high) = (low - V::splat(margin), high + V::splat(margin));
        let (first, last) = (from.min(to).max(low), from.max(to).min(high));
        // What is no number is not known to be away.
        self.periodic.is_none() && first.max(last) != last
    }

    /// How the samples move.
    pub(crate) fn motion(&self) -> &BoundaryMotion<V> {
        &self.motion
    }

    /// The samples in the order they were given in.
    pub(crate) fn given(&self) -> &[V] {
        &self.given
    }

    /// Velocities that the fluid meets, in the order of the positions; empty
    /// where all are zero.
    pub(crate) fn velocities(&self) -> &[V] {
        &self.velocities
    }

    fn find_velocities(&mut self) {
        self.velocities.clear();
        let BoundaryMotion { targets, remaining, surface } = &self.motion;
        let moves = *remaining > 0.0;
        if !moves && surface.is_empty() {
            return;
        }
        let (given, grid) = (&self.given, &self.grid);
        self.velocities.extend((0..grid.len()).map(|sorted| {
            let point = grid.point(sorted);
            let along = surface.get(point).copied().unwrap_or(V::ZERO);
            if moves { along + (targets[point] - given[point]) * (1.0 / remaining) } else { along }
        }));
    }

    /// Sorts and weighs the samples at new places.
    fn place(&mut self, samples: &[V]) {
        self.ids.clear();
        self.ids.extend(0..samples.len() as u32);
        let cell_size = self.support_radius * CELL_FACTOR;
        let velocities = !self.velocities.is_empty();
        let mut of_given = core::mem::take(&mut self.scratch);
        if velocities {
            of_given.resize(samples.len(), V::ZERO);
            for (sorted, &velocity) in self.velocities.iter().enumerate() {
                of_given[self.grid.point(sorted)] = velocity;
            }
        }
        let periodic = &self.periodic;
        if periodic.is_none() {
            self.grid.sort(samples, &self.ids, cell_size, Threads::Serial);
        } else {
            self.positions.clear();
            self.positions.extend(samples.iter().map(|&sample| periodic.wrap(sample)));
            self.grid.sort(&self.positions, &self.ids, cell_size, Threads::Serial);
        }
        self.positions.clear();
        let grid = &self.grid;
        let places = (0..grid.len()).map(|sorted| samples[grid.point(sorted)]);
        self.positions.extend(places.map(|sample| periodic.wrap(sample)));
        if velocities {
            self.velocities.clear();
            self.velocities.extend((0..grid.len()).map(|sorted| of_given[grid.point(sorted)]));
        }
        self.scratch = of_given;
        let first = self.positions.first().map(|&x| (x, x));
        self.bounds = first.map(|first| {
            self.positions.iter().fold(first, |(low, high), &x| (low.min(x), high.max(x)))
        });
        self.weigh(self.support_radius);
    }

    fn weigh(&mut self, support_radius: f32) {
        let kernel = CubicSpline::<V>::new(support_radius);
        let reach2 = support_radius * support_radius * REACH_SQUARED;
        let mut rows = Rows::default();
        self.volumes.clear();
        for &x in &self.positions {
            let mut sum = 0.0;
            self.periodic.for_each_image(x, 1.01 * support_radius, |image| {
                self.grid.rows(image, &mut rows);
                // The sample itself is among the points and contributes W(0).
                sum += rows
                    .points()
                    .map(|l| self.periodic.offset(x - self.positions[l]).length_squared())
                    .filter(|&r2| r2 < reach2)
                    .map(|r2| kernel.value(r2))
                    .sum::<f32>();
            });
            self.volumes.push(1.0 / sum);
        }
    }

    /// Bytes of all buffers.
    pub(crate) fn bytes(&self) -> usize {
        let vectors = [
            self.given.capacity(),
            self.positions.capacity(),
            self.velocities.capacity(),
            self.scratch.capacity(),
            self.motion.targets.capacity(),
            self.motion.surface.capacity(),
        ];
        size_of::<V>() * vectors.iter().sum::<usize>()
            + 4 * (self.volumes.capacity() + self.ids.capacity())
            + self.grid.bytes()
    }

    /// Number of samples.
    pub(crate) fn len(&self) -> usize {
        self.positions.len()
    }

    /// Sorted positions in metres.
    pub(crate) fn positions(&self) -> &[V] {
        &self.positions
    }

    /// Volumes V_k in m^DIM, in the order of the positions.
    pub(crate) fn volumes(&self) -> &[f32] {
        &self.volumes
    }

    pub(crate) fn grid(&self) -> &CellGrid {
        &self.grid
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy_math::Vec2;

    #[test]
    fn denser_samples_have_smaller_volumes() {
        let line = |spacing: f32| -> Vec<Vec2> {
            (0..41).map(|i| Vec2::new(i as f32 * spacing, 0.0)).collect()
        };
        let mut set = BoundarySet::default();
        assert!(set.rebuild(&line(0.05), 0.1));
        let middle = set.volumes()[20];
        // The pseudo-mass of a straight wall in the reference: 3.665 kg at 1000 kg/m².
        assert!((middle * 1000.0 - 3.665_191_4).abs() < 1e-5, "{middle}");
        assert!(!set.rebuild(&line(0.05), 0.1), "unchanged samples are noticed");
        assert!(set.rebuild(&line(0.025), 0.1));
        assert!(set.volumes()[20] < 0.6 * middle);
    }

    #[test]
    fn a_lone_sample_has_the_kernel_volume() {
        let mut set = BoundarySet::default();
        set.rebuild(&[Vec2::ONE], 0.1);
        assert_eq!(set.volumes(), [1.0 / CubicSpline::<Vec2>::new(0.1).center()]);
    }
}
