//! The order in which the scheme `Fast` holds particles and solves constraints.
//!
//! It follows from the constraints and the grid alone, never from what the
//! cloth went through, so that a restored cloth goes on as the saved one.

use super::constraints::{ConstraintKind, DistanceConstraint, fraction_per_sweep};
use super::ibds;
use super::kernels::{Components, Run};
use super::settings::ClothSettings;
use crate::solver::vector::Vector;

/// Constraints solved together.
#[derive(Clone, Copy, Debug)]
enum Batch {
    /// Between two stretches of particles, with the place of one of its
    /// constraints in the list.
    Run(Run, u32),
    /// A colour: a part of [`Plan::links`], no two of which share a particle.
    Color(u32, u32),
}

/// A constraint of a colour.
#[derive(Clone, Copy, Debug)]
struct Link {
    a: u32,
    b: u32,
    squared: f32,
    fraction: f32,
    /// Its place in the list.
    of: u32,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    /// The particle in each slot.
    pub particle: Vec<u32>,
    /// The slot of each particle.
    pub slot: Vec<u32>,
    batches: Vec<Batch>,
    links: Vec<Link>,
    /// What the fractions were computed for: substep, sweeps, stiffnesses.
    key: Option<(f32, u32, [f32; 3])>,
}

impl Plan {
    /// Plans anew. Every constraint must be valid for `particles` particles.
    pub fn rebuild(
        &mut self,
        particles: usize,
        grid: Option<[u32; 2]>,
        constraints: &[DistanceConstraint],
    ) {
        self.key = None;
        self.batches.clear();
        self.links.clear();
        self.particle.clear();
        match grid {
            Some([columns, rows]) => {
                for row in 0..rows {
                    let at = |column| row * columns + column;
                    self.particle.extend((0..columns).step_by(2).map(at));
                    self.particle.extend((1..columns).step_by(2).map(at));
                }
            }
            None => self.particle.extend(0..particles as u32),
        }
        self.slot.resize(particles, 0);
        for (slot, &particle) in self.particle.iter().enumerate() {
            self.slot[particle as usize] = slot as u32;
        }
        let mut rest: Vec<u32> = (0..constraints.len() as u32).collect();
        if let Some([columns, _]) = grid {
            self.add_runs(columns, constraints, &mut rest);
        }
        self.add_colors(particles, constraints, &rest);
    }

    /// Slots of a constraint's ends, the lower first.
    fn ends(&self, constraint: &DistanceConstraint) -> (usize, usize) {
        let [a, b] = [constraint.a, constraint.b].map(|end| self.slot[end as usize] as usize);
        (a.min(b), a.max(b))
    }

    /// Takes the constraints that come in rows of a grid out of `rest`.
    fn add_runs(&mut self, columns: u32, constraints: &[DistanceConstraint], rest: &mut Vec<u32>) {
        let mut rows: Vec<(u64, usize, u32)> = Vec::new();
        rest.retain(|&index| {
            let constraint = &constraints[index as usize];
            let Some(place) = place_in_grid(columns, constraint.a, constraint.b) else {
                return true;
            };
            rows.push((place, self.ends(constraint).0, index));
            false
        });
        rows.sort_unstable();
        let mut batches = core::mem::take(&mut self.batches);
        for group in rows.chunk_by(|&(p, a, i), &(q, b, j)| {
            let [first, next] = [i, j].map(|index| &constraints[index as usize]);
            p == q
                && b == a + 1
                && self.ends(next).1 == self.ends(first).1 + 1
                && first.rest_length == next.rest_length
                && first.stiffness == next.stiffness
                && first.kind == next.kind
        }) {
            let (_, _, index) = group[0];
            let constraint = &constraints[index as usize];
            let (a, b) = self.ends(constraint);
            let squared = constraint.rest_length * constraint.rest_length;
            // The rows of a grid keep both ends apart by more than a run.
            let run = Run { a, b, len: group.len(), squared, fraction: 0.0 };
            batches.push(Batch::Run(run, index));
        }
        self.batches = batches;
    }

    /// Colours the constraints `rest` greedily, in their order.
    fn add_colors(&mut self, particles: usize, constraints: &[DistanceConstraint], rest: &[u32]) {
        let mut used = vec![0u64; particles];
        let mut colors: Vec<(u32, u32)> = Vec::with_capacity(rest.len());
        for &index in rest {
            let (a, b) = self.ends(&constraints[index as usize]);
            let free = !(used[a] | used[b]);
            // Beyond 63 colours what is left is solved one by one.
            let color = free.trailing_zeros().min(63);
            if color < 63 {
                used[a] |= 1 << color;
                used[b] |= 1 << color;
            }
            colors.push((color, index));
        }
        colors.sort_by_key(|&(color, _)| color);
        for group in colors.chunk_by(|a, b| a.0 == b.0) {
            let start = self.links.len() as u32;
            for &(_, of) in group {
                let constraint = &constraints[of as usize];
                let (a, b) = self.ends(constraint);
                let squared = constraint.rest_length * constraint.rest_length;
                self.links.push(Link { a: a as u32, b: b as u32, squared, fraction: 0.0, of });
            }
            self.batches.push(Batch::Color(start, self.links.len() as u32));
        }
    }

    /// Computes what a projection takes back, for substeps of `h` seconds.
    pub fn prepare(
        &mut self,
        constraints: &[DistanceConstraint],
        settings: &ClothSettings,
        h: f32,
    ) {
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
        for batch in &mut self.batches {
            if let Batch::Run(run, of) = batch {
                run.fraction = fraction(*of);
            }
        }
        for link in &mut self.links {
            link.fraction = fraction(link.of);
        }
    }

    /// Projects every constraint once, in the plan's order or in its reverse.
    pub fn sweep<V: Vector>(&self, components: &mut Components, backward: bool, wide: bool) {
        let count = self.batches.len();
        for at in 0..count {
            match &self.batches[if backward { count - 1 - at } else { at }] {
                Batch::Run(run, _) if V::DIM == 2 => components.project_run::<2>(run, wide),
                Batch::Run(run, _) => components.project_run::<3>(run, wide),
                &Batch::Color(start, end) => {
                    let links = &self.links[start as usize..end as usize];
                    if backward {
                        links.iter().rev().for_each(|link| project_link::<V>(components, link));
                    } else {
                        links.iter().for_each(|link| project_link::<V>(components, link));
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn project_link<V: Vector>(components: &mut Components, link: &Link) {
    let (a, b) = (link.a as usize, link.b as usize);
    let Components { x, u, w } = components;
    let start = vector::<V>(x, a) - vector::<V>(x, b);
    let end = start + (vector::<V>(u, a) - vector::<V>(u, b));
    let (da, db) = ibds::correction(start, end, [w[a], w[b]], link.squared, link.fraction);
    let (da, db) = (da.to_array(), db.to_array());
    for k in 0..V::DIM {
        u[k][a] -= da[k];
        u[k][b] += db[k];
    }
}

/// Component by component to a vector.
#[inline(always)]
pub(super) fn vector<V: Vector>(components: &[Vec<f32>; 3], index: usize) -> V {
    let [x, y, z] = components;
    V::from_array([x[index], y[index], if V::DIM == 3 { z[index] } else { 0.0 }])
}

/// Where a constraint between neighbours of a grid has its place in the sweep:
/// row by row, and in a row by kind and by parity of the column, so that all
/// constraints of one place are independent. None for any other constraint.
fn place_in_grid(columns: u32, a: u32, b: u32) -> Option<u64> {
    let (a, b) = (a.min(b), a.max(b));
    let [(ra, ca), (rb, cb)] = [a, b].map(|index| (index / columns, index % columns));
    let odd = u64::from(ca.min(cb) % 2);
    let kind = match (rb - ra, cb as i64 - ca as i64) {
        (1, 0) => 0,
        // Both diagonals of a cell one after the other.
        (1, 1) => 1 + 2 * odd,
        (1, -1) => 2 + 2 * odd,
        (0, 1) => 5 + odd,
        (2, 0) => 7,
        _ => return None,
    };
    Some(u64::from(rb) * 8 + kind)
}
