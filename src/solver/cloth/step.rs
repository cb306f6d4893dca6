//! A step of a cloth.

use core::time::Duration;

use bevy_platform::time::Instant;

use super::bending::Hinges;
use super::collision::Body;
use super::contacts::Contacts;
use super::ibds::{self, Particles};
use super::inversion::Corners;
use super::kernels::{self, Components};
use super::pins::Held;
use super::plan::{Plan, vector};
use super::state::{check_constraints, check_finite};
use super::tethers::{TetherSet, reach};
use super::topology::extent;
use super::{
    Cloth, ClothLoad, ClothScheme, ClothSettings, ClothStage, ClothStats, ConstraintKind,
    Inversion, Surroundings, Tethers,
};
use crate::solver::error::FluidError;
use crate::solver::time_step::check_step;
use crate::solver::vector::Vector;

/// Part of a substep by which a step may be longer than a whole number of them.
const ROUNDING: f32 = 1e-3;

/// Time in seconds in which the difference to a changed stiffness falls to 1/e.
const EASING: f32 = 0.1;

/// Rounds of sweeps in a substep while the cloth is stretched.
const MOST_ROUNDS: f32 = 6.0;

/// Compliance over that of a stiffness of a half from which on it is none.
const NO_COMPLIANCE: f32 = 1e-4;

/// What steps work with; all of it follows from the cloth.
#[derive(Clone, Debug, Default)]
pub(super) struct Work<V> {
    pub plan: Plan,
    pub tethers: TetherSet,
    pub held: Vec<Held<V>>,
    /// How far what is in the hand can be from each held particle.
    pub hand_reach: Vec<f32>,
    /// Size of the rest shape in metres.
    pub size: f32,
    corners: Corners,
    hinges: Hinges,
    contacts: Contacts<V>,
    /// The settings with the stiffnesses in effect.
    settings: ClothSettings,
    held_particles: Vec<u32>,
    held_slots: Vec<u32>,
    components: Components,
    particles: Particles<V>,
    /// Inverse masses by particle.
    pub inverse: Vec<f32>,
    /// Part of each particle that one of its faces has.
    pub faces: Vec<f32>,
    /// Changes of the velocities by the air.
    pub changes: Vec<V>,
}

/// The substeps of a step.
#[derive(Clone, Copy)]
struct Substeps<'a, V> {
    count: u32,
    /// Length of one in seconds.
    h: f32,
    /// Part of the velocity that is kept in one.
    kept: f32,
    around: &'a Surroundings<'a, V>,
}

impl<V: Vector> Cloth<V> {
    /// One step of `dt` seconds.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] if `dt`, the surroundings or anything that was
    /// changed since the last step is out of range; nothing is done then.
    pub fn step(&mut self, dt: f32, around: &Surroundings<V>) -> Result<(), FluidError> {
        V::move_cloth(self, dt, around)
    }

    /// What [`Cloth::step`] does.
    pub(in crate::solver) fn move_freely(
        &mut self,
        dt: f32,
        around: &Surroundings<V>,
    ) -> Result<(), FluidError> {
        self.step_under(dt, around, None)
    }

    /// One step under a load, whose answer it notes there.
    ///
    /// # Errors
    /// As [`Cloth::step`].
    pub(crate) fn step_under(
        &mut self,
        dt: f32,
        around: &Surroundings<V>,
        mut load: Option<&mut ClothLoad<V>>,
    ) -> Result<(), FluidError> {
        check_step("time_step", dt)?;
        around.validate()?;
        check_finite("positions", &self.positions)?;
        check_finite("velocities", &self.velocities)?;
        if self.stale {
            check_constraints(&self.constraints, self.len())?;
        }
        let begin = Instant::now();
        self.stats = ClothStats { dt, constraints: self.constraints.len(), ..Default::default() };
        self.prepare();
        self.ease_stiffness(dt);
        self.blow(dt, around);
        let mut finer = 1.0;
        if let Some(load) = &mut load {
            self.take_up(load);
            finer = load.finer(&self.masses);
        }
        // Substeps of one length whatever the step, or the stretch would change with it.
        let wanted = self.settings.substeps as f32 * finer * dt * 60.0;
        let count = (wanted - ROUNDING).ceil().max(1.0);
        let h = dt / count;
        let kept = (-self.settings.damping * h).exp();
        let substeps = Substeps { count: count as u32, h, kept, around };
        self.add_time(ClothStage::Forces, begin.elapsed());
        match self.settings.scheme {
            ClothScheme::Fast => self.step_fast(substeps),
            ClothScheme::Accurate => self.step_accurate(substeps),
            ClothScheme::Reference => self.step_reference(substeps),
        }
        if let Some(load) = load {
            self.answer(load, dt, kept, substeps.count, around.gravity);
        }
        let begin = Instant::now();
        if self.settings.tear_strain > 0.0 {
            self.tear();
        }
        self.stats.measure_strain(&self.positions, &self.constraints, &self.work.settings);
        self.stats.measure_motion(&self.positions, &self.velocities, &self.masses, around.gravity);
        self.add_time(ClothStage::Integrate, begin.elapsed());
        Ok(())
    }

    fn add_time(&mut self, stage: ClothStage, duration: Duration) {
        self.stats.durations[stage as usize] += duration;
    }

    /// Brings what follows from the cloth up to date.
    fn prepare(&mut self) {
        let count = self.len();
        if self.stale {
            self.work.plan.rebuild::<V>(count, self.grid, &self.constraints);
            self.work.size = extent(&self.rest_positions);
            self.work.contacts.forget();
            self.share_out();
            let (rest, constraints) = (&self.rest_positions, &self.constraints);
            self.work.hinges.rebuild(rest, constraints, &self.triangles);
            if V::DIM == 2 {
                let Work { corners, plan, .. } = &mut self.work;
                corners.rebuild(&self.rest_positions, &self.triangles, &plan.slot);
            }
        }
        self.list_held();
        let work = &mut self.work;
        if self.stale || self.stale_pins {
            work.held_particles.clear();
            work.held_particles.extend(work.held.iter().map(|held| held.particle));
            let slots = work.held_particles.iter().map(|&p| work.plan.slot[p as usize]);
            work.held_slots.clear();
            work.held_slots.extend(slots);
            let pins = &work.held_particles;
            work.hand_reach = match self.grabbed {
                Some(hand) => reach(&self.rest_positions, &self.constraints, hand.particle, pins),
                None => Vec::new(),
            };
            work.tethers.rebuild(
                &self.rest_positions,
                &self.constraints,
                pins,
                &work.plan.slot,
                work.plan.slots,
            );
        }
        work.inverse.clear();
        work.inverse.extend(self.masses.iter().map(|mass| 1.0 / mass));
        for held in &work.held {
            work.inverse[held.particle as usize] = 0.0;
        }
        (self.stale, self.stale_pins) = (false, false);
    }

    /// Lets the stiffnesses follow the settings without a jerk.
    fn ease_stiffness(&mut self, dt: f32) {
        let wanted = ConstraintKind::ALL.map(|kind| self.settings.stiffness(kind));
        let rest = (-dt / EASING).exp();
        let ease = |old: f32, new: f32| {
            let compliance = |stiffness: f32| 1.0 / stiffness.max(1e-6) - 1.0;
            let (from, to) = (compliance(old), compliance(new));
            let eased = to + (from - to) * rest;
            let near = (eased - to).abs() <= NO_COMPLIANCE * (1.0 + to);
            if near { new } else { 1.0 / (1.0 + eased) }
        };
        let [stretch, shear, bend] = wanted;
        let eased = match self.eased {
            Some(old) => {
                let bent = bend + (old[2] - bend) * rest;
                let near = (bent - bend).abs() <= NO_COMPLIANCE * bend.max(f32::MIN_POSITIVE);
                [ease(old[0], stretch), ease(old[1], shear), if near { bend } else { bent }]
            }
            None => wanted,
        };
        self.eased = Some(eased);
        self.work.settings.clone_from(&self.settings);
        let settings = &mut self.work.settings;
        [settings.stretch_stiffness, settings.shear_stiffness, settings.bend_stiffness] = eased;
    }

    fn step_fast(&mut self, substeps: Substeps<V>) {
        let begin = Instant::now();
        self.tame_held(substeps.h * substeps.count as f32);
        let wide = kernels::wide();
        self.load_components(substeps.h);
        let tethered =
            self.settings.tethers == Tethers::Nearest && self.settings.stretch_stiffness >= 1.0;
        // They tighten while threads do that stretched before.
        let tether_slack =
            self.settings.tether_slack + 1.0 / self.work.settings.stretch_stiffness.max(1e-6) - 1.0;
        let Work { plan, settings, hinges, components, .. } = &mut self.work;
        plan.prepare(&self.constraints, &components.w, settings, substeps.h);
        hinges.place(&plan.slot);
        hinges.prepare::<V>(&self.constraints, components, settings.bend_stiffness, substeps.h);
        let untangle = V::DIM == 2 && self.settings.inversion == Inversion::Untangle;
        self.add_time(ClothStage::Forces, begin.elapsed());
        self.prepare_contacts(true, substeps.around);
        let h = substeps.h;
        let gravity = (substeps.around.gravity * (h * h)).to_array();
        let longest = self.fastest() * h;
        let part = 1.0 / substeps.count as f32;
        let moving = self.work.held.iter().any(|held| held.motion != V::ZERO);
        for substep in 0..substeps.count {
            let begin = Instant::now();
            let work = &mut self.work;
            let components = &mut work.components;
            fly::<V>(components, gravity, substeps.kept, longest);
            for (held, &slot) in work.held.iter().zip(&work.held_slots) {
                let u = (held.motion * part).to_array();
                for k in 0..V::DIM {
                    components.u[k][slot as usize] = u[k];
                }
            }
            let flown = Instant::now();
            work.hinges.straighten::<V>(components);
            let iterations = self.settings.iterations;
            let more = match self.settings.strain_limit {
                limit if limit > 0.0 => {
                    // One more round at the limit, three at twice, five at thrice.
                    let over = 2.0 * work.plan.stretch::<V>(components) / limit - 1.0;
                    iterations * over.clamp(0.0, MOST_ROUNDS - 1.0) as u32
                }
                _ => 0,
            };
            work.plan.solve::<V>(components, iterations, false, wide);
            if more > 0 {
                work.plan.solve::<V>(components, more, true, wide);
            }
            self.stats.iterations += iterations + more;
            if untangle {
                work.corners.untangle(components);
            }
            if tethered {
                if substep == 0 || moving {
                    work.tethers.anchor::<V>(components, &work.held_slots);
                }
                work.tethers.pull::<V>(components, tether_slack, wide);
            }
            let solved = Instant::now();
            let left = (substeps.count - 1 - substep) as f32 * h;
            work.contacts.resolve(components, &self.settings, substeps.around, [h, left]);
            let collided = Instant::now();
            advance::<V>(components);
            let stages = [
                (ClothStage::Forces, flown - begin),
                (ClothStage::Constraints, solved - flown),
                (ClothStage::Collisions, collided - solved),
                (ClothStage::Integrate, collided.elapsed()),
            ];
            stages.into_iter().for_each(|(stage, duration)| self.add_time(stage, duration));
        }
        let begin = Instant::now();
        self.store_components(h);
        self.add_time(ClothStage::Integrate, begin.elapsed());
    }

    /// Prepares for what touches, with the particles in the slots of the plan or
    /// in their own order.
    fn prepare_contacts(&mut self, by_slot: bool, around: &Surroundings<V>) {
        if self.settings.self_thickness > 0.0 || !around.colliders.is_empty() {
            let Work { contacts, plan, .. } = &mut self.work;
            let slot = by_slot.then_some(&plan.slot[..]);
            let slots = if by_slot { plan.slots } else { self.positions.len() };
            contacts.update(&self.rest_positions, &self.constraints, &self.triangles, slot, slots);
        }
    }

    /// Brings the particles into the slots of the plan.
    fn load_components(&mut self, h: f32) {
        let Work { plan, components, inverse, .. } = &mut self.work;
        components.clear::<V>(plan.slots);
        for (particle, &slot) in plan.slot.iter().enumerate() {
            let (x, u) = (self.positions[particle], self.velocities[particle] * h);
            components.set(slot as usize, x, u);
            components.w[slot as usize] = inverse[particle];
        }
    }

    fn store_components(&mut self, h: f32) {
        let rate = 1.0 / h;
        for particle in 0..self.len() {
            let slot = self.work.plan.slot[particle] as usize;
            let x = vector::<V>(&self.work.components.x, slot);
            let v = vector::<V>(&self.work.components.u, slot) * rate;
            self.store(particle, x, v);
        }
    }

    /// Takes over the state of a particle, unless it is no number.
    fn store(&mut self, particle: usize, x: V, v: V) {
        if x.is_finite() && v.is_finite() {
            self.positions[particle] = x;
            self.velocities[particle] = v;
        } else {
            self.velocities[particle] = V::ZERO;
            self.stats.restored += 1;
        }
    }

    fn load_particles(&mut self) {
        let Work { particles, inverse, .. } = &mut self.work;
        particles.x.clone_from(&self.positions);
        particles.v.clone_from(&self.velocities);
        particles.w.clone_from(inverse);
        particles.u.clear();
        particles.u.resize(self.positions.len(), V::ZERO);
    }

    fn store_particles(&mut self) {
        for particle in 0..self.len() {
            let (x, v) = (self.work.particles.x[particle], self.work.particles.v[particle]);
            self.store(particle, x, v);
        }
    }

    fn step_reference(&mut self, substeps: Substeps<V>) {
        let begin = Instant::now();
        for held in &self.work.held {
            self.positions[held.particle as usize] += held.motion;
        }
        self.load_particles();
        let (gravity, h) = (substeps.around.gravity, substeps.h);
        for _ in 0..substeps.count {
            let particles = &mut self.work.particles;
            ibds::reference(particles, &self.constraints, &self.settings, h, gravity);
            if substeps.kept < 1.0 {
                particles.v.iter_mut().for_each(|v| *v *= substeps.kept);
            }
        }
        self.stats.iterations = substeps.count * self.settings.iterations;
        self.store_particles();
        self.add_time(ClothStage::Constraints, begin.elapsed());
    }

    fn step_accurate(&mut self, substeps: Substeps<V>) {
        self.tame_held(substeps.h * substeps.count as f32);
        self.load_particles();
        let h = substeps.h;
        let Work { particles, settings, hinges, .. } = &mut self.work;
        hinges.place_in_order();
        hinges.prepare(&self.constraints, particles, settings.bend_stiffness, h);
        self.prepare_contacts(false, substeps.around);
        let half = substeps.around.gravity * (0.5 * h);
        let part = 1.0 / substeps.count as f32;
        let longest = self.fastest() * h;
        for substep in 0..substeps.count {
            let begin = Instant::now();
            let Work { particles, held, settings, hinges, contacts, .. } = &mut self.work;
            let Particles { u, v, .. } = particles;
            for (u, &mut v) in u.iter_mut().zip(v) {
                *u = (v * substeps.kept + half) * h;
                let length = u.length();
                if length > longest {
                    *u *= longest / length;
                }
            }
            for held in held.iter() {
                u[held.particle as usize] = held.motion * part;
            }
            let constraints = &self.constraints;
            self.stats.iterations +=
                ibds::accurate_displacements(particles, constraints, hinges, settings, h);
            let solved = Instant::now();
            let left = (substeps.count - 1 - substep) as f32 * h;
            contacts.resolve(particles, &self.settings, substeps.around, [h, left]);
            let collided = Instant::now();
            let Particles { x, u, v, w } = particles;
            for (((x, u), v), &w) in x.iter_mut().zip(&*u).zip(v).zip(&*w) {
                *x += *u;
                *v = *u * (1.0 / h);
                if w > 0.0 {
                    *v += half;
                }
            }
            ibds::match_velocities(particles, constraints, settings);
            let end = collided.elapsed();
            self.add_time(ClothStage::Constraints, solved - begin + end);
            self.add_time(ClothStage::Collisions, collided - solved);
        }
        self.store_particles();
    }
}

fn fly<V: Vector>(components: &mut Components, gravity: [f32; 3], kept: f32, longest: f32) {
    if V::DIM == 2 {
        components.fly::<2>(gravity, kept);
        components.limit::<2>(longest);
    } else {
        components.fly::<3>(gravity, kept);
        components.limit::<3>(longest);
    }
}

fn advance<V: Vector>(components: &mut Components) {
    if V::DIM == 2 { components.advance::<2>() } else { components.advance::<3>() }
}
