//! Tethers: upper bounds of the distance to pins (Kim, Chentanez & Müller 2012).

use core::cmp::Reverse;
use std::collections::BinaryHeap;

use super::constraints::{ConstraintKind, DistanceConstraint};
use super::kernels::Components;
use crate::solver::vector::Vector;

/// Tethers of a particle.
const COUNT: usize = 2;

/// How much longer than the straight line a path along the edges of a flat,
/// evenly triangulated sheet can be; half a percent is for rounding and
/// uneven cells. Paths that are longer go around something.
const DETOUR: f32 = 1.09;

/// Where no tether is: far, and squared still a number.
const FAR: f32 = 1e18;

/// A pin reached along the cloth.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Reach {
    /// Place of the pin among the pins.
    pin: u32,
    /// Length of the way by the constraints in metres.
    length: f32,
    /// Length of the way in the rest shape in metres.
    at_rest: f32,
}

/// See the module. By slots of the plan.
#[derive(Clone, Debug, Default)]
pub(super) struct TetherSet {
    /// The pin of each tether, among the pins.
    pin: [Vec<u32>; COUNT],
    /// Its length in metres.
    length: [Vec<f32>; COUNT],
    /// Where its pin is at the end of the substep.
    anchor: [[Vec<f32>; 3]; COUNT],
    any: bool,
}

impl TetherSet {
    /// Finds the nearest pins of every particle; `slot` is the plan's.
    pub fn rebuild<V: Vector>(
        &mut self,
        rest: &[V],
        constraints: &[DistanceConstraint],
        pins: &[u32],
        slot: &[u32],
    ) {
        let reached = nearest_pins(rest, constraints, pins);
        self.any = !pins.is_empty();
        for k in 0..COUNT {
            self.pin[k].clear();
            self.pin[k].resize(rest.len(), 0);
            self.length[k].clear();
            self.length[k].resize(rest.len(), FAR);
            for component in &mut self.anchor[k][..V::DIM] {
                component.clear();
                component.resize(rest.len(), 0.0);
            }
        }
        for (particle, reached) in reached.iter().enumerate() {
            for (k, reach) in reached.iter().enumerate() {
                let Some(reach) = reach else { continue };
                let straight = (rest[particle] - rest[pins[reach.pin as usize] as usize]).length();
                // Straight through a flat sheet, but as long as its threads are.
                let length = if reach.at_rest <= DETOUR * straight {
                    straight * (reach.length / reach.at_rest)
                } else {
                    reach.length
                };
                let at = slot[particle] as usize;
                self.pin[k][at] = reach.pin;
                self.length[k][at] = length;
            }
        }
    }

    /// Places the anchors; `pins` are the slots of the pins.
    pub fn anchor<V: Vector>(&mut self, components: &Components, pins: &[u32]) {
        if !self.any {
            return;
        }
        for (pin, anchor) in self.pin.iter().zip(&mut self.anchor) {
            for (k, component) in anchor[..V::DIM].iter_mut().enumerate() {
                let (x, u) = (&components.x[k], &components.u[k]);
                for (at, &pin) in component.iter_mut().zip(pin) {
                    let slot = pins[pin as usize] as usize;
                    *at = x[slot] + u[slot];
                }
            }
        }
    }

    /// Shortens displacements that lead beyond a tether with `slack`.
    pub fn pull<V: Vector>(&self, components: &mut Components, slack: f32) {
        if !self.any {
            return;
        }
        if V::DIM == 2 {
            self.pull_in::<2>(components, slack);
        } else {
            self.pull_in::<3>(components, slack);
        }
    }

    fn pull_in<const DIM: usize>(&self, components: &mut Components, slack: f32) {
        let count = components.w.len();
        let Components { x, u, w } = components;
        let w = &w[..count];
        let ([x, y, z], [u, v, t]) = (x, u);
        let third = if DIM == 3 { count } else { 0 };
        let (x, y, z) = (&x[..count], &y[..count], &z[..third]);
        let (u, v, t) = (&mut u[..count], &mut v[..count], &mut t[..third]);
        let [first, second] = &self.anchor;
        let [long, other] = [&self.length[0][..count], &self.length[1][..count]];
        let ([ax, ay, az], [bx, by, bz]) = (first, second);
        let (ax, ay, bx, by) = (&ax[..count], &ay[..count], &bx[..count], &by[..count]);
        let (az, bz) = (&az[..third], &bz[..third]);
        for i in 0..count {
            let third = |all: &[f32]| if DIM == 3 { all[i] } else { 0.0 };
            let end = [x[i] + u[i], y[i] + v[i], third(z) + third(t)];
            let (a, b) = ([ax[i], ay[i], third(az)], [bx[i], by[i], third(bz)]);
            let (long, other) = (long[i] * (1.0 + slack), other[i] * (1.0 + slack));
            // One after the other, in both orders, so that no pin comes first.
            let first = bound(bound(end, a, long), b, other);
            let second = bound(bound(end, b, other), a, long);
            let part = if w[i] > 0.0 { 0.5 } else { 0.0 };
            let change = |k: usize| ((first[k] - end[k]) + (second[k] - end[k])) * part;
            u[i] += change(0);
            v[i] += change(1);
            if DIM == 3 {
                t[i] += change(2);
            }
        }
    }

    /// Where particle `slot` may be at most: within its tethers to the pins
    /// `pins` (slots), at the end of the substep.
    pub fn within<V: Vector>(&self, slot: usize, target: V, positions: &[V]) -> V {
        let mut target = target;
        for k in 0..COUNT {
            let Some(&anchor) = positions.get(self.pin[k][slot] as usize) else { continue };
            let apart = target - anchor;
            let (length, longest) = (apart.length(), self.length[k][slot]);
            if length > longest {
                target = anchor + apart * (longest / length);
            }
        }
        target
    }
}

/// The nearest point to `end` that is no farther than `longest` from `anchor`.
#[inline(always)]
fn bound(end: [f32; 3], anchor: [f32; 3], longest: f32) -> [f32; 3] {
    let r: [f32; 3] = core::array::from_fn(|k| end[k] - anchor[k]);
    let squared = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
    let part = if squared > longest * longest { longest / squared.sqrt() - 1.0 } else { 0.0 };
    core::array::from_fn(|k| end[k] + r[k] * part)
}

/// Up to [`COUNT`] pins for each particle, nearest first, along constraints
/// that do not stretch (Dijkstra's algorithm from all pins at once).
fn nearest_pins<V: Vector>(
    rest: &[V],
    constraints: &[DistanceConstraint],
    pins: &[u32],
) -> Vec<[Option<Reach>; COUNT]> {
    let mut reached = vec![[None; COUNT]; rest.len()];
    if pins.is_empty() {
        return reached;
    }
    // Threads that stretch hold nothing; diagonals only shorten the way.
    let rigid = |constraint: &&DistanceConstraint| match constraint.kind {
        ConstraintKind::Stretch => constraint.stiffness >= 1.0,
        ConstraintKind::Shear => constraint.stiffness > 0.0,
        ConstraintKind::Bend => false,
    };
    let mut start = vec![0u32; rest.len() + 2];
    for constraint in constraints.iter().filter(rigid) {
        start[constraint.a as usize + 2] += 1;
        start[constraint.b as usize + 2] += 1;
    }
    for index in 2..start.len() {
        start[index] += start[index - 1];
    }
    let mut neighbors = vec![(0u32, 0.0f32); start[start.len() - 1] as usize];
    for constraint in constraints.iter().filter(rigid) {
        for (from, to) in [(constraint.a, constraint.b), (constraint.b, constraint.a)] {
            let place = &mut start[from as usize + 1];
            neighbors[*place as usize] = (to, constraint.rest_length);
            *place += 1;
        }
    }
    // Lengths are positive, so their bits order as they do.
    let mut queue = BinaryHeap::new();
    for (pin, &particle) in pins.iter().enumerate() {
        queue.push(Reverse((0u32, pin as u32, particle, 0u32)));
    }
    while let Some(Reverse((length, pin, particle, at_rest))) = queue.pop() {
        let own = &mut reached[particle as usize];
        let known = |reach: &Option<Reach>| reach.is_some_and(|reach| reach.pin == pin);
        let Some(free) = own.iter().position(Option::is_none) else { continue };
        if own.iter().any(known) {
            continue;
        }
        let reach = Reach { pin, length: f32::from_bits(length), at_rest: f32::from_bits(at_rest) };
        own[free] = Some(reach);
        let range = start[particle as usize] as usize..start[particle as usize + 1] as usize;
        for &(to, rest_length) in &neighbors[range] {
            let other = &reached[to as usize];
            if other[COUNT - 1].is_some() || other.iter().any(known) {
                continue;
            }
            let length = reach.length + rest_length;
            let apart = (rest[to as usize] - rest[particle as usize]).length();
            let at_rest = reach.at_rest + apart;
            queue.push(Reverse((length.to_bits(), pin, to, at_rest.to_bits())));
        }
    }
    // A pin holds itself; and tethers in the order of the pins keep those of
    // one pin together.
    for (particle, own) in reached.iter_mut().enumerate() {
        let itself = |reach: &Reach| pins[reach.pin as usize] as usize == particle;
        let mut kept: [Option<Reach>; COUNT] = own.map(|r| r.filter(|reach| !itself(reach)));
        kept.sort_unstable_by_key(|reach| reach.map_or(u32::MAX, |reach| reach.pin));
        *own = kept;
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::cloth::plan::vector;
    use crate::solver::cloth::topology::ClothMesh;
    use bevy_math::Vec2;

    /// A sheet of 5 x 4 with a step of 0.5 m, its tethers, and all at rest.
    fn sheet(pins: &[u32]) -> (ClothMesh<Vec2>, TetherSet, Components) {
        let mesh = ClothMesh::grid(Vec2::ZERO, Vec2::X * 0.5, -Vec2::Y * 0.5, 5, 4).unwrap();
        let mut set = TetherSet::default();
        let slots: Vec<u32> = (0..20).collect();
        set.rebuild(&mesh.positions, &mesh.constraints, pins, &slots);
        let mut components = Components { w: vec![1.0; 20], ..Components::default() };
        for position in &mesh.positions {
            for (k, value) in position.to_array().iter().enumerate().take(2) {
                components.x[k].push(*value);
                components.u[k].push(0.0);
            }
        }
        pins.iter().for_each(|&pin| components.w[pin as usize] = 0.0);
        set.anchor::<Vec2>(&components, pins);
        (mesh, set, components)
    }

    #[test]
    fn a_tether_is_as_long_as_the_flat_sheet_and_pulls_only_when_taut() {
        let (mesh, set, mut components) = sheet(&[0, 4]);
        for particle in 0..20 {
            for (k, pin) in [0, 4].into_iter().enumerate() {
                let straight = mesh.positions[particle].distance(mesh.positions[pin]);
                let own = particle == pin;
                let missing = own || (k == 1 && particle == 4) || (k == 0 && particle == 0);
                if !missing && particle != 0 && particle != 4 {
                    assert!((set.length[k][particle] - straight).abs() < 1e-5);
                }
            }
        }
        let free = 19;
        components.u[1][free] = 0.1;
        set.pull::<Vec2>(&mut components, 0.0);
        assert_eq!(vector::<Vec2>(&components.u, free), Vec2::new(0.0, 0.1), "slack");
        components.u[1][free] = -0.1;
        set.pull::<Vec2>(&mut components, 0.0);
        let end = mesh.positions[free] + vector::<Vec2>(&components.u, free);
        // Both pins share the pull, so one pass leaves a little.
        assert!(end.distance(mesh.positions[4]) < 1.5 + 0.03, "{end}");
    }

    #[test]
    fn a_way_around_a_hole_is_as_long_as_it_is() {
        let (mesh, mut set, _) = sheet(&[0]);
        // Cut between columns 1 and 2 but for the last row.
        let mut constraints = mesh.constraints.clone();
        let side = |particle: u32| (particle % 5 >= 2, particle / 5);
        constraints
            .retain(|c| side(c.a).0 == side(c.b).0 || (side(c.a).1 == 3 && side(c.b).1 == 3));
        let slots: Vec<u32> = (0..20).collect();
        set.rebuild(&mesh.positions, &constraints, &[0], &slots);
        let long = set.length[0][2];
        assert!(long > 3.0 && long < 4.0, "{long} around the cut, 1 m straight");
    }
}
