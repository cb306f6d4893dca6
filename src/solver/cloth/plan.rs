//! The order in which the scheme `Fast` holds particles and solves constraints.
//!
//! It follows from the constraints and the grid alone, never from what the
//! cloth went through, so that a restored cloth goes on as the saved one.

use super::constraints::{ConstraintKind, DistanceConstraint, fraction_per_sweep};
use super::kernels::{Components, LANES, LONGEST_RUN, Run};
use super::links::Links;
use super::settings::ClothSettings;
use crate::solver::vector::Vector;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    /// The slot of each particle.
    pub slot: Vec<u32>,
    /// Number of slots, empty ones included.
    pub slots: usize,
    /// Rows of equal constraints of a grid, each with the place in the list of
    /// one of them.
    runs: Vec<(Run, u32)>,
    /// All other constraints.
    links: Links,
    /// What the fractions were computed for: substep, sweeps, stiffnesses.
    key: Option<(f32, u32, [f32; 3])>,
}

impl Plan {
    /// Plans anew. Every constraint must be valid for `particles` particles.
    pub fn rebuild<V: Vector>(
        &mut self,
        particles: usize,
        grid: Option<[u32; 2]>,
        constraints: &[DistanceConstraint],
    ) {
        self.key = None;
        self.runs.clear();
        self.slot.clear();
        let distance = |&index: &u32| constraints[index as usize].kind != ConstraintKind::Bend;
        let mut rest: Vec<u32> = (0..constraints.len() as u32).filter(distance).collect();
        match grid {
            Some([columns, _]) => {
                // Neighbours along a row are in different stretches of it; with
                // links across two of them, second neighbours too.
                let across = |&index: &u32| {
                    let c = &constraints[index as usize];
                    c.a.abs_diff(c.b) == 2 && c.a / columns == c.b / columns
                };
                let classes = if rest.iter().any(across) { 4 } else { 2 };
                self.place_grid(particles, columns, classes);
                self.add_runs::<V>(columns, classes, constraints, &mut rest);
            }
            None => {
                self.slot.extend(0..particles as u32);
                self.slots = particles;
            }
        }
        let slot = &self.slot;
        self.links
            .rebuild::<V>(self.slots, constraints, &rest, |constraint| ends(slot, constraint));
    }

    /// Places the particles row by row, in a row by the column modulo `classes`.
    fn place_grid(&mut self, particles: usize, columns: u32, classes: u32) {
        self.slot.resize(particles, 0);
        let mut next = 0;
        for row in 0..particles as u32 / columns {
            for class in 0..classes {
                let start = next;
                for column in (class..columns).step_by(classes as usize) {
                    self.slot[(row * columns + column) as usize] = next;
                    next += 1;
                }
                // Room for a run that starts anywhere, rounded up.
                next += if next > start { LANES as u32 - 1 } else { 0 };
            }
        }
        self.slots = (next as usize).next_multiple_of(LANES);
    }

    /// Takes the constraints that come in rows of a grid out of `rest`.
    fn add_runs<V: Vector>(
        &mut self,
        columns: u32,
        classes: u32,
        constraints: &[DistanceConstraint],
        rest: &mut Vec<u32>,
    ) {
        let mut rows: Vec<(u64, usize, u32)> = Vec::new();
        rest.retain(|&index| {
            let constraint = &constraints[index as usize];
            let place = place_in_grid(columns, classes, constraint.a, constraint.b);
            let Some(place) = place else { return true };
            rows.push((place, ends(&self.slot, constraint).0, index));
            false
        });
        rows.sort_unstable();
        let slot = &self.slot;
        let follows = |&(p, a, i): &(u64, usize, u32), &(q, b, j): &(u64, usize, u32)| {
            let [first, next] = [i, j].map(|index| &constraints[index as usize]);
            p == q
                && b == a + 1
                && ends(slot, next).1 == ends(slot, first).1 + 1
                && first.rest_length == next.rest_length
                && first.stiffness == next.stiffness
                && first.kind == next.kind
        };
        for group in rows.chunk_by(follows).flat_map(|group| group.chunks(LONGEST_RUN)) {
            let (_, _, index) = group[0];
            let constraint = &constraints[index as usize];
            let (a, b) = ends(slot, constraint);
            let squared = constraint.rest_length * constraint.rest_length;
            let push = constraint.kind.push::<V>();
            self.runs.push((Run { a, b, len: group.len(), squared, fraction: 0.0, push }, index));
        }
    }

    /// Computes what a projection takes back, for substeps of `h` seconds;
    /// `inverse` are the inverse masses by slot.
    pub fn prepare(
        &mut self,
        constraints: &[DistanceConstraint],
        inverse: &[f32],
        settings: &ClothSettings,
        h: f32,
    ) {
        self.links.weigh(inverse);
        let stiffness = ConstraintKind::ALL.map(|kind| settings.stiffness(kind));
        let key = Some((h, settings.iterations, stiffness));
        if key == self.key {
            return;
        }
        self.key = key;
        let fraction = |of: u32| {
            let stiffness = constraints[of as usize].total_stiffness(settings);
            fraction_per_sweep(stiffness, h, settings.iterations)
        };
        for (run, of) in &mut self.runs {
            run.fraction = fraction(*of);
        }
        self.links.prepare(fraction);
    }

    /// Largest stretch of the rigid threads at the start of the substep.
    pub fn stretch<V: Vector>(&mut self, components: &Components) -> f32 {
        let threads = self.runs.iter().filter(|(run, _)| run.is_rigid());
        let of_run = |(run, _): &(Run, u32)| components.stretch_of_run::<V>(run);
        let most = threads.map(of_run).fold(1.0, f32::max);
        most.max(self.links.stretch::<V>(components)).sqrt() - 1.0
    }

    /// Sweeps over the constraints, forward and backward in turn; over the
    /// rigid ones alone where `rigid` says so.
    pub fn solve<V: Vector>(
        &mut self,
        components: &mut Components,
        sweeps: u32,
        rigid: bool,
        wide: bool,
    ) {
        let many = !self.links.is_empty() && self.links.are_many();
        let mut loaded = false;
        for sweep in 0..sweeps {
            let backward = sweep % 2 == 1;
            for runs in [!backward, backward] {
                if runs && !self.runs.is_empty() {
                    if core::mem::take(&mut loaded) {
                        self.links.store::<V>(components);
                    }
                    self.sweep_runs::<V>(components, backward, rigid, wide);
                } else if !runs && many {
                    if !core::mem::replace(&mut loaded, true) {
                        self.links.load::<V>(components);
                    }
                    self.links.sweep(backward, rigid);
                } else if !runs && !self.links.is_empty() {
                    self.links.sweep_apart::<V>(components, backward, rigid);
                }
            }
        }
        if loaded {
            self.links.store::<V>(components);
        }
    }

    fn sweep_runs<V: Vector>(
        &self,
        components: &mut Components,
        backward: bool,
        rigid: bool,
        wide: bool,
    ) {
        let mut project = |(run, _): &(Run, u32)| {
            if rigid && !run.is_rigid() {
                return;
            }
            if V::DIM == 2 {
                components.project_run::<2>(run, wide);
            } else {
                components.project_run::<3>(run, wide);
            }
        };
        if backward {
            self.runs.iter().rev().for_each(&mut project);
        } else {
            self.runs.iter().for_each(&mut project);
        }
    }
}

/// Slots of a constraint's ends, the lower first.
fn ends(slot: &[u32], constraint: &DistanceConstraint) -> (usize, usize) {
    let [a, b] = [constraint.a, constraint.b].map(|end| slot[end as usize] as usize);
    (a.min(b), a.max(b))
}

/// Component by component to a vector.
#[inline(always)]
pub(super) fn vector<V: Vector>(components: &[Vec<f32>; 3], index: usize) -> V {
    let [x, y, z] = components;
    V::from_array([x[index], y[index], if V::DIM == 3 { z[index] } else { 0.0 }])
}

/// Where a constraint between neighbours of a grid has its place in the sweep:
/// row by row, and in a row by kind and by class of the column, so that all
/// constraints of one place are independent. None for any other constraint.
fn place_in_grid(columns: u32, classes: u32, a: u32, b: u32) -> Option<u64> {
    let (a, b) = (a.min(b), a.max(b));
    let [(ra, ca), (rb, cb)] = [a, b].map(|index| (index / columns, index % columns));
    let class = ca.min(cb) % classes;
    let kind = match (rb - ra, i64::from(cb) - i64::from(ca)) {
        (1, 0) => 0,
        // Both diagonals of a cell one after the other.
        (1, 1) => 1 + 2 * class,
        (1, -1) => 2 + 2 * class,
        // Even columns before odd ones, so that a row's links alternate.
        (0, 1) => 9 + (class & 1) * 2 + class / 2,
        (2, 0) => 13,
        (0, 2) if classes == 4 => 14 + class,
        _ => return None,
    };
    Some(u64::from(rb) * 32 + u64::from(kind))
}
