//! What a simulation holds beside water: cloths with what they meet, smoke, and fans.

use super::cloth::collision::{Collider, ColliderShape};
use super::cloth::{AirFlow, Cloth, ClothState, Surroundings};
use super::coupling::Coupling;
use super::error::FluidError;
use super::fan::Fan;
use super::parallel::Threads;
use super::scene::Scene;
use super::smoke::{Smoke, SmokeObstacle, SmokeState};
use super::sph::FluidWorld;
use super::vector::Vector;

/// The cloths, the smoke and the fans of a [`Simulation`](super::simulation::Simulation).
#[derive(Debug, Default)]
pub struct Companions<V: Vector> {
    /// Velocity of the air that cloth feels everywhere, in m/s; that of smoke and
    /// of fans adds to it.
    pub wind: V,
    /// What blows on water, cloth and smoke.
    pub fans: Vec<Fan<V>>,
    /// Solids that cloth meets.
    pub colliders: Vec<Collider<V>>,
    /// The cloths.
    pub cloths: Vec<Cloth<V>>,
    /// The domains of smoke.
    pub smokes: Vec<Smoke<V>>,
    coupling: Coupling<V>,
}

/// Everything that the next step of [`Companions`] reads.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "scene", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "scene",
    serde(
        deny_unknown_fields,
        bound(
            serialize = "V: Vector + serde::Serialize",
            deserialize = "V: Vector + serde::Deserialize<'de>"
        )
    )
)]
pub struct CompanionsState<V> {
    /// Velocity of the air in m/s.
    pub wind: V,
    /// What blows.
    #[cfg_attr(feature = "scene", serde(default = "Vec::new"))]
    pub fans: Vec<Fan<V>>,
    /// Solids that cloth meets.
    pub colliders: Vec<Collider<V>>,
    /// The cloths.
    pub cloths: Vec<ClothState<V>>,
    /// The domains of smoke.
    pub smokes: Vec<SmokeState<V>>,
}

impl<V: Vector> Companions<V> {
    /// Those of a scene, at its start: solid boundaries stop cloth, and all of
    /// them stop smoke.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for the first value out of range.
    pub fn of_scene(scene: &Scene<V>) -> Result<Self, FluidError> {
        let mut companions = Self { wind: scene.wind, fans: scene.fans.clone(), ..Self::default() };
        companions.check_air()?;
        for boundary in &scene.boundaries {
            if let Some(shape) = ColliderShape::of_solid(&boundary.shape) {
                companions.colliders.push(Collider::new(shape, boundary.position));
            }
        }
        for (index, collider) in scene.colliders.iter().enumerate() {
            let collider = collider.build();
            companions
                .colliders
                .push(collider.map_err(|error| error.within(format_args!("colliders[{index}]")))?);
        }
        for (index, cloth) in scene.cloths.iter().enumerate() {
            let cloth = cloth.build();
            companions
                .cloths
                .push(cloth.map_err(|error| error.within(format_args!("cloths[{index}]")))?);
        }
        for (index, smoke) in scene.smokes.iter().enumerate() {
            let obstacles = scene
                .boundaries
                .iter()
                .map(|boundary| SmokeObstacle::of_boundary(&boundary.shape, boundary.position));
            let smoke = smoke.build().and_then(|mut smoke| {
                smoke.set_obstacles(obstacles)?;
                Ok(smoke)
            });
            companions
                .smokes
                .push(smoke.map_err(|error| error.within(format_args!("smokes[{index}]")))?);
        }
        Ok(companions)
    }

    /// Puts the cloths where they are into the fluid's world.
    pub(crate) fn immerse(&mut self, world: &mut FluidWorld<V>) {
        self.coupling.immerse(world, (0..).zip(&self.cloths));
    }

    /// One step of the cloths of `dt` seconds, after the fluid's density solve.
    /// They feel the wind, and the smoke around them or, outside all domains, the
    /// fans.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for the first value out of range; other cloths go on.
    pub(crate) fn step_cloths(
        &mut self,
        world: &mut FluidWorld<V>,
        dt: f32,
    ) -> Result<(), FluidError> {
        let gravity = world.settings().gravity;
        let Self { wind, fans, colliders, cloths, smokes, coupling } = self;
        let air = |position: V| air_at(&*smokes, fans, position);
        let still = smokes.is_empty() && fans.is_empty();
        let flow = if still { AirFlow::STILL } else { AirFlow::new(&air) };
        let around = Surroundings { gravity, wind: *wind, flow, colliders };
        coupling.gather(world);
        let mut all = Ok(());
        for (index, cloth) in cloths.iter_mut().enumerate() {
            let load = coupling.load(index as u64, cloth);
            let stepped = cloth.step_under(dt, &around, load);
            all = all.and(stepped.map_err(|error| error.within(format_args!("cloths[{index}]"))));
        }
        coupling.give_back(world);
        all
    }

    /// Passes on what the divergence solve did to the cloths.
    pub(crate) fn push_cloths(&mut self, world: &mut FluidWorld<V>) {
        self.coupling.gather(world);
        for (index, cloth) in self.cloths.iter_mut().enumerate() {
            if let Some(load) = self.coupling.load(index as u64, cloth) {
                cloth.push(&load.impulses);
            }
        }
        self.coupling.give_back(world);
    }

    /// One step of the smoke: as many of its own as fit into `dt` seconds.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for the first value out of range.
    pub(crate) fn step_smokes(&mut self, dt: f32, threads: Threads) -> Result<(), FluidError> {
        for (index, smoke) in self.smokes.iter_mut().enumerate() {
            let advanced = smoke.advance_with(dt, &self.fans, threads);
            advanced.map_err(|error| error.within(format_args!("smokes[{index}]")))?;
        }
        Ok(())
    }

    /// Everything that the next step reads.
    pub fn state(&self) -> CompanionsState<V> {
        CompanionsState {
            wind: self.wind,
            fans: self.fans.clone(),
            colliders: self.colliders.clone(),
            cloths: self.cloths.iter().map(Cloth::state).collect(),
            smokes: self.smokes.iter().map(Smoke::state).collect(),
        }
    }

    /// Companions that go on from `state`, bit for bit.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for the first value out of range.
    pub fn from_state(state: CompanionsState<V>) -> Result<Self, FluidError> {
        let CompanionsState { wind, fans, colliders, .. } = state;
        let mut companions = Self { wind, fans, colliders, ..Self::default() };
        companions.check_air()?;
        for (index, cloth) in state.cloths.into_iter().enumerate() {
            let cloth = Cloth::from_state(cloth);
            companions
                .cloths
                .push(cloth.map_err(|error| error.within(format_args!("cloths[{index}]")))?);
        }
        for (index, smoke) in state.smokes.into_iter().enumerate() {
            let smoke = Smoke::from_state(smoke);
            companions
                .smokes
                .push(smoke.map_err(|error| error.within(format_args!("smokes[{index}]")))?);
        }
        Ok(companions)
    }

    /// Checks the wind, the fans and the colliders.
    pub(crate) fn check_air(&self) -> Result<(), FluidError> {
        let around =
            Surroundings { wind: self.wind, colliders: &self.colliders, ..Default::default() };
        around.validate()?;
        Fan::validate_all(&self.fans)
    }
}

/// Velocity in m/s of the air at a position, beside the wind: that of the smoke
/// there or, outside all domains, of the fans, which smoke follows by itself.
pub fn air_at<'a, V: Vector>(
    smokes: impl IntoIterator<Item = &'a Smoke<V>>,
    fans: &[Fan<V>],
    position: V,
) -> V {
    air_of(smokes.into_iter().filter_map(|smoke| smoke.air_at(position)), fans, position)
}

/// The same of the velocities of all smoke that is there.
pub(crate) fn air_of<V: Vector>(
    smokes: impl Iterator<Item = V>,
    fans: &[Fan<V>],
    position: V,
) -> V {
    let mut inside = false;
    let mut velocity = V::ZERO;
    for air in smokes {
        velocity += air;
        inside = true;
    }
    if !inside {
        fans.iter().for_each(|fan| velocity += fan.stream(position));
    }
    velocity
}
