//! Constraints between any two particles, coloured and solved four at a time.

use bevy_math::{BVec4A, Mat4, Vec4};

use super::constraints::DistanceConstraint;
use super::ibds::{self, GUARD, LEAST_PRODUCT};
use super::kernels::Components;
use super::plan::vector;
use crate::solver::vector::Vector;

/// Four constraints, no two of which share a particle. Where there are fewer,
/// the rest join a slot beyond all others to itself.
#[derive(Clone, Copy, Debug)]
struct Four {
    a: [u32; 4],
    b: [u32; 4],
    squared: Vec4,
    fraction: Vec4,
    /// As in [`Run`](super::kernels::Run).
    push: Vec4,
    /// Inverse masses of both ends.
    weights: [Vec4; 2],
}

impl Four {
    /// As [`Run::is_rigid`](super::kernels::Run::is_rigid).
    fn rigid(&self) -> BVec4A {
        self.fraction.cmpge(Vec4::ONE) & self.push.cmpgt(Vec4::ZERO)
    }
}

/// Colours of [`Links`]; what is beyond is solved one by one.
const COLORS: u32 = 63;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Links {
    fours: Vec<Four>,
    /// The place in the list of each constraint of [`Links::fours`].
    of: Vec<[u32; 4]>,
    count: usize,
    any_rigid: bool,
    /// Particles side by side: position and displacement.
    x: Vec<Vec4>,
    u: Vec<Vec4>,
}

impl Links {
    /// Colours the constraints `which` greedily, in their order. `ends` gives
    /// the slots of a constraint, below `slots`.
    pub fn rebuild<V: Vector>(
        &mut self,
        slots: usize,
        constraints: &[DistanceConstraint],
        which: &[u32],
        ends: impl Fn(&DistanceConstraint) -> (usize, usize),
    ) {
        self.fours.clear();
        self.of.clear();
        self.count = which.len();
        let nowhere = [slots as u32; 4];
        self.x.clear();
        self.x.resize(slots + 1, Vec4::ZERO);
        self.u.clear();
        self.u.resize(slots + 1, Vec4::ZERO);
        let mut used = vec![0u64; slots];
        let mut colors: Vec<(u32, u32)> = Vec::with_capacity(which.len());
        for &index in which {
            let (a, b) = ends(&constraints[index as usize]);
            let color = (!(used[a] | used[b])).trailing_zeros().min(COLORS);
            if color < COLORS {
                used[a] |= 1 << color;
                used[b] |= 1 << color;
            }
            colors.push((color, index));
        }
        colors.sort_by_key(|&(color, _)| color);
        for group in colors.chunk_by(|a, b| a.0 == b.0 && a.0 < COLORS) {
            for four in group.chunks(4) {
                let (mut a, mut b, mut of) = (nowhere, nowhere, [u32::MAX; 4]);
                let (mut squared, mut push) = ([1.0; 4], [1.0; 4]);
                for (lane, &(_, index)) in four.iter().enumerate() {
                    let constraint = &constraints[index as usize];
                    let (p, q) = ends(constraint);
                    (a[lane], b[lane], of[lane]) = (p as u32, q as u32, index);
                    squared[lane] = constraint.rest_length * constraint.rest_length;
                    push[lane] = constraint.kind.push::<V>();
                }
                let [squared, push] = [squared, push].map(Vec4::from_array);
                let weights = [Vec4::ZERO; 2];
                self.fours.push(Four { a, b, squared, fraction: Vec4::ZERO, push, weights });
                self.of.push(of);
            }
        }
    }

    /// Computes what a projection takes back.
    pub fn prepare(&mut self, fraction: impl Fn(u32) -> f32) {
        for (four, of) in self.fours.iter_mut().zip(&self.of) {
            let fraction = of.map(|of| if of == u32::MAX { 0.0 } else { fraction(of) });
            four.fraction = Vec4::from_array(fraction);
        }
        self.any_rigid = self.fours.iter().any(|four| four.rigid().any());
    }

    pub fn is_empty(&self) -> bool {
        self.fours.is_empty()
    }

    /// Whether it pays to bring all particles side by side first.
    pub fn are_many(&self) -> bool {
        2 * self.count >= self.u.len()
    }

    /// Takes the inverse masses by slot over, for a step.
    pub fn weigh(&mut self, inverse: &[f32]) {
        let of = |slots: [u32; 4]| {
            let weight = |slot: u32| inverse.get(slot as usize).copied().unwrap_or(0.0);
            Vec4::from_array(slots.map(weight))
        };
        self.fours.iter_mut().for_each(|four| four.weights = [of(four.a), of(four.b)]);
    }

    /// Brings the particles side by side.
    pub fn load<V: Vector>(&mut self, components: &Components) {
        for slot in 0..components.w.len() {
            let [x, y, z] = vector::<V>(&components.x, slot).to_array();
            let [u, v, t] = vector::<V>(&components.u, slot).to_array();
            self.x[slot] = Vec4::new(x, y, z, 0.0);
            self.u[slot] = Vec4::new(u, v, t, 0.0);
        }
    }

    /// Takes the displacements back.
    pub fn store<V: Vector>(&self, components: &mut Components) {
        for slot in 0..components.w.len() {
            for k in 0..V::DIM {
                components.u[k][slot] = self.u[slot][k];
            }
        }
    }

    /// Largest squared length over the squared rest length of the rigid threads.
    pub fn stretch<V: Vector>(&mut self, components: &Components) -> f32 {
        if !self.any_rigid {
            return 0.0;
        }
        self.load::<V>(components);
        let mut most = Vec4::ZERO;
        for four in &self.fours {
            let [x, y, z] = apart(&self.x, four);
            let length = (x * x + y * y + z * z) / four.squared;
            most = most.max(Vec4::select(four.rigid(), length, Vec4::ZERO));
        }
        most.max_element()
    }

    /// Projects each constraint once on the loaded particles; only fours with
    /// a rigid one where `rigid` says so.
    pub fn sweep(&mut self, backward: bool, rigid: bool) {
        let Self { fours, x, u, .. } = self;
        let chosen = |four: &&Four| !rigid || four.rigid().any();
        let fours = fours.iter().filter(chosen);
        if backward {
            fours.rev().for_each(|four| project(four, x, u));
        } else {
            fours.for_each(|four| project(four, x, u));
        }
    }

    /// Projects each constraint once, without loading.
    pub fn sweep_apart<V: Vector>(&self, components: &mut Components, backward: bool, rigid: bool) {
        let mut project = |four: &Four| {
            for lane in 0..4 {
                let (a, b) = (four.a[lane] as usize, four.b[lane] as usize);
                if a == b || (rigid && !four.rigid().test(lane)) {
                    continue;
                }
                let Components { x, u, w } = components;
                let start = vector::<V>(x, a) - vector::<V>(x, b);
                let end = start + (vector::<V>(u, a) - vector::<V>(u, b));
                let goal = ibds::Goal {
                    squared: four.squared[lane],
                    fraction: four.fraction[lane],
                    push: four.push[lane],
                };
                let (da, db) = ibds::correction(start, end, [w[a], w[b]], goal);
                let (da, db) = (da.to_array(), db.to_array());
                for k in 0..V::DIM {
                    u[k][a] -= da[k];
                    u[k][b] += db[k];
                }
            }
        };
        if backward {
            self.fours.iter().rev().for_each(&mut project);
        } else {
            self.fours.iter().for_each(&mut project);
        }
    }
}

/// The differences between both ends, component by component.
#[inline(always)]
fn apart(all: &[Vec4], four: &Four) -> [Vec4; 3] {
    let ([a, b, c, d], [p, q, r, s]) = (four.a, four.b);
    let between = |one: u32, other: u32| all[one as usize] - all[other as usize];
    let (p, q, r, s) = (between(a, p), between(b, q), between(c, r), between(d, s));
    let columns = Mat4::from_cols(p, q, r, s).transpose();
    [columns.x_axis, columns.y_axis, columns.z_axis]
}

/// [`ibds::correction`], four times.
#[inline(always)]
fn project(four: &Four, x: &[Vec4], u: &mut [Vec4]) {
    let (start, [du, dv, dt]) = (apart(x, four), apart(u, four));
    let end = [start[0] + du, start[1] + dv, start[2] + dt];
    let dot = |p: [Vec4; 3], q: [Vec4; 3]| p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
    let (ss, se, ee) = (dot(start, start), dot(start, end), dot(end, end));
    let usual = se.cmpgt(Vec4::ZERO) & (se * se).cmpge(GUARD * ss * ee);
    let product = Vec4::select(usual, se, ee);
    let twice = 2.0 * product.max(LEAST_PRODUCT * four.squared);
    let [wa, wb] = four.weights;
    let sum = wa + wb;
    let sum = Vec4::select(sum.cmpgt(Vec4::ZERO), sum, Vec4::ONE);
    let s = (four.fraction * (ee - four.squared)).max(-twice * four.push) / (sum * twice);
    let along = |k: usize| Vec4::select(usual, start[k], end[k]) * s;
    let (p, q, r) = (along(0), along(1), along(2));
    let columns = Mat4::from_cols(p, q, r, Vec4::ZERO).transpose();
    let pulls = [columns.x_axis, columns.y_axis, columns.z_axis, columns.w_axis];
    for (lane, pull) in pulls.into_iter().enumerate() {
        u[four.a[lane] as usize] -= pull * wa[lane];
        u[four.b[lane] as usize] += pull * wb[lane];
    }
}
