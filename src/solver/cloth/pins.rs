//! Particles that go where they are told, and the one in the user's hand.

use super::Cloth;
use crate::solver::error::FluidError;
use crate::solver::vector::Vector;

/// Fraction of the cloth's size that all held particles jump by in a step
/// when the whole cloth is moved with them.
const JUMP: f32 = 0.5;

/// Fastest motion of the hand, in sizes of the cloth a second.
const HAND_SPEED: f32 = 8.0;

/// Rounds over all pins in which the hand comes within their reach.
const REACH_ROUNDS: usize = 8;

/// A particle that is held.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "scene", derive(serde::Serialize, serde::Deserialize))]
pub struct Pin<V> {
    /// Its index.
    pub particle: u32,
    /// Where it is at the end of the next step, in metres.
    pub target: V,
}

/// A held particle in a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held<V> {
    pub particle: u32,
    /// Displacement of the whole step in metres.
    pub motion: V,
}

impl<V: Vector> Cloth<V> {
    /// Pins a particle where it is. Returns whether it was free before.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] if there is no such particle.
    pub fn pin(&mut self, particle: u32) -> Result<bool, FluidError> {
        self.check_particle("pin", particle)?;
        let target = self.positions[particle as usize];
        match self.pins.binary_search_by_key(&particle, |pin| pin.particle) {
            Ok(_) => Ok(false),
            Err(place) => {
                self.pins.insert(place, Pin { particle, target });
                self.stale_pins = true;
                Ok(true)
            }
        }
    }

    /// Pins every particle for which `chosen` holds, given its index and its
    /// position. Returns how many were free before.
    pub fn pin_where(&mut self, chosen: impl Fn(u32, V) -> bool) -> usize {
        let before = self.pins.len();
        for (particle, &target) in (0..).zip(&self.positions) {
            if chosen(particle, target)
                && let Err(place) = self.pins.binary_search_by_key(&particle, |pin| pin.particle)
            {
                self.pins.insert(place, Pin { particle, target });
            }
        }
        self.stale_pins |= self.pins.len() > before;
        self.pins.len() - before
    }

    /// Frees a particle. Returns whether it was pinned.
    pub fn unpin(&mut self, particle: u32) -> bool {
        let place = self.pins.binary_search_by_key(&particle, |pin| pin.particle);
        if let Ok(place) = place {
            self.pins.remove(place);
            self.stale_pins = true;
        }
        place.is_ok()
    }

    /// Frees all particles.
    pub fn unpin_all(&mut self) {
        self.stale_pins |= !self.pins.is_empty();
        self.pins.clear();
    }

    /// Sends a pinned particle to `target`, in metres, within the next step.
    ///
    /// It moves evenly through the substeps and not faster than
    /// [`max_speed`](super::ClothSettings::max_speed). Where all pins jump by
    /// more than half the cloth's size, the cloth jumps with them.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] if the particle is not pinned or the target
    /// is not finite.
    pub fn move_pin(&mut self, particle: u32, target: V) -> Result<(), FluidError> {
        if !target.is_finite() {
            return Err(FluidError::parameter("target", target, "finite components, m"));
        }
        match self.pins.binary_search_by_key(&particle, |pin| pin.particle) {
            Ok(place) => {
                self.pins[place].target = target;
                Ok(())
            }
            Err(_) => Err(FluidError::parameter("pin", particle, "a pinned particle")),
        }
    }

    /// The pinned particles, by index.
    pub fn pins(&self) -> &[Pin<V>] {
        &self.pins
    }

    /// Takes a particle into the hand, instead of any other. It stays where it
    /// is until [`Cloth::drag_to`], pinned or not.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] if there is no such particle.
    pub fn grab(&mut self, particle: u32) -> Result<(), FluidError> {
        self.check_particle("grab", particle)?;
        let target = self.positions[particle as usize];
        self.grabbed = Some(Pin { particle, target });
        self.stale_pins = true;
        Ok(())
    }

    /// Sends the grabbed particle to `target`, in metres, in the next steps: at up
    /// to eight sizes of the cloth a second, and only as far as the pins let it.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] if nothing is grabbed or the target is not finite.
    pub fn drag_to(&mut self, target: V) -> Result<(), FluidError> {
        if !target.is_finite() {
            return Err(FluidError::parameter("target", target, "finite components, m"));
        }
        match &mut self.grabbed {
            Some(pin) => {
                pin.target = target;
                Ok(())
            }
            None => Err(FluidError::parameter("grab", "nothing", "a particle to drag")),
        }
    }

    /// Opens the hand. A pinned particle stays pinned where it is then.
    pub fn release(&mut self) {
        let Some(grabbed) = self.grabbed.take() else { return };
        self.stale_pins = true;
        if let Ok(place) = self.pins.binary_search_by_key(&grabbed.particle, |pin| pin.particle) {
            self.pins[place].target = self.positions[grabbed.particle as usize];
        }
    }

    /// The particle in the hand.
    pub fn grabbed(&self) -> Option<&Pin<V>> {
        self.grabbed.as_ref()
    }

    fn check_particle(&self, name: &str, particle: u32) -> Result<(), FluidError> {
        if (particle as usize) < self.positions.len() {
            return Ok(());
        }
        let allowed = format!("an index below {}", self.positions.len());
        Err(FluidError::parameter(name, particle, allowed))
    }

    /// Lists the held particles, the grabbed one last.
    pub(super) fn list_held(&mut self) {
        let hand = self.grabbed.map(|pin| pin.particle);
        let pins = self.pins.iter().filter(|pin| Some(pin.particle) != hand);
        self.work.held.clear();
        self.work.held.extend(pins.chain(&self.grabbed).map(|pin| {
            let motion = pin.target - self.positions[pin.particle as usize];
            Held { particle: pin.particle, motion }
        }));
    }

    /// Speed in m/s that nothing exceeds; a single particle has no size to measure by.
    pub(super) fn fastest(&self) -> f32 {
        if self.work.size > 0.0 { self.settings.max_speed * self.work.size } else { f32::MAX }
    }

    /// Limits the motion of the held particles in a step of `dt` seconds, and
    /// moves the whole cloth where all of them jump.
    pub(super) fn tame_held(&mut self, dt: f32) {
        let fastest = self.fastest();
        let held = &mut self.work.held;
        if held.is_empty() {
            return;
        }
        let far = JUMP * self.work.size;
        let mut mean = V::ZERO;
        let share = 1.0 / held.len() as f32;
        held.iter().for_each(|held| mean += held.motion * share);
        let jumps = |one: &Held<V>| one.motion.length() > far && (one.motion - mean).length() < far;
        if held.iter().all(jumps) {
            self.positions.iter_mut().for_each(|x| *x += mean);
            held.iter_mut().for_each(|held| held.motion -= mean);
        }
        // What is in the hand stays within the reach of the pins.
        let place = |held: &Held<V>| self.positions[held.particle as usize] + held.motion;
        if let (Some(_), Some((last, pins))) = (self.grabbed, held.split_last_mut()) {
            let mut target = place(last);
            for _ in 0..REACH_ROUNDS {
                for (pin, &longest) in pins.iter().zip(&self.work.hand_reach) {
                    let apart = target - place(pin);
                    // The square of a pointer far away may be no number.
                    let length = apart.length().min(f32::MAX);
                    if length > longest {
                        target = place(pin) + apart * (longest / length);
                    }
                }
            }
            last.motion = target - self.positions[last.particle as usize];
        }
        let hand = self.grabbed.map(|pin| pin.particle);
        for held in &mut self.work.held {
            let slow = self.work.size * HAND_SPEED;
            let most = if Some(held.particle) == hand { fastest.min(slow) } else { fastest };
            let longest = most * dt;
            let length = held.motion.length();
            if length > longest {
                held.motion *= longest / length;
            }
        }
    }
}
