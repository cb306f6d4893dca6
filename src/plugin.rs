//! The plugin.

use bevy::ecs::intern::Interned;
use bevy::ecs::message::signal_message_update_system;
use bevy::ecs::schedule::ScheduleLabel;
use bevy::prelude::*;
use bevy::tasks::ComputeTaskPool;

use crate::boundary::BoundaryOf;
use crate::cloth::ClothColliderOf;
use crate::dimension::Dimension;
use crate::emitter::{FluidDrainOf, FluidEmitterOf};
use crate::fluid::{FluidOf, FluidRefused, ParticleRemoved};
use crate::schedule::{
    DimensionSystems, FluidSchedule, FluidStepSystems, FluidSystems, StageSystems,
};
use crate::settings::{FluidSettings, SettingsInForce};
use crate::solver::parallel::Threads;
use crate::solver::sph::FluidWorld;
use crate::time::Fluid;
use crate::{boundary, cloth, diagnostics, emitter, fan, fluid, schedule, settings, smoke, time};

/// The solver's world of one dimension, for systems inside [`FluidSchedule`].
/// Spelt [`FluidWorld2d`](crate::FluidWorld2d) or [`FluidWorld3d`](crate::FluidWorld3d).
///
/// A body's key in it is its entity's bits: [`Entity::to_bits`].
#[derive(Resource, Debug, Default, Deref, DerefMut)]
pub struct FluidWorldOf<V: Dimension>(FluidWorld<V>);

/// The 2D world under a name that does not depend on the features.
pub(crate) type FluidWorld2d = FluidWorldOf<Vec2>;

/// The 3D world likewise.
pub(crate) type FluidWorld3d = FluidWorldOf<Vec3>;

/// Water for Bevy.
///
/// | what | added |
/// |---|---|
/// | [`FluidSettings`], `Time<Fluid>`, [`FluidWorldOf`] of each dimension | resources |
/// | [`FluidStepSystems`] | sets in the schedule of your choice, [`FixedPostUpdate`] by default |
/// | [`FluidSchedule`] with [`FluidSystems`] | a schedule that runs once per step |
/// | [`ParticleRemoved`], [`FluidRefused`] | messages |
/// | [`FluidDiagnostics`](crate::FluidDiagnostics) | entries of the diagnostics store |
///
/// Settings that the app inserted before stay. Add it after Bevy's
/// `DefaultPlugins`: in an app that can draw it adds
/// [`FluidRenderPlugin`](crate::render::FluidRenderPlugin).
#[derive(Clone, Copy, Debug)]
pub struct FluidPlugin {
    schedule: Interned<dyn ScheduleLabel>,
    length_unit: f32,
}

impl Default for FluidPlugin {
    fn default() -> Self {
        Self::in_schedule(FixedPostUpdate)
    }
}

impl FluidPlugin {
    /// Steps the fluids in `schedule` instead of [`FixedPostUpdate`].
    pub fn in_schedule(schedule: impl ScheduleLabel) -> Self {
        Self { schedule: schedule.intern(), length_unit: 1.0 }
    }

    /// Scales the defaults for a game in which `unit` of its lengths make a
    /// metre, see [`FluidSettings::with_length_unit`].
    #[must_use]
    pub fn with_length_unit(self, unit: f32) -> Self {
        Self { length_unit: unit, ..self }
    }
}

impl Plugin for FluidPlugin {
    fn build(&self, app: &mut App) {
        if !app.world().contains_resource::<FluidSettings>() {
            app.insert_resource(FluidSettings::with_length_unit(self.length_unit));
        }
        app.register_type::<FluidSettings>()
            .init_resource::<SettingsInForce>()
            .init_resource::<Time<Fluid>>()
            .add_message::<ParticleRemoved>()
            .add_message::<FluidRefused>();
        #[cfg(feature = "render")]
        if app.get_sub_app(bevy::render::RenderApp).is_some() {
            app.add_plugins(crate::render::FluidRenderPlugin);
        }
        schedule::configure(app, self.schedule);
        app.add_systems(First, time::start_frame).add_systems(
            self.schedule,
            (
                (settings::enforce, time::plan).chain().in_set(FluidStepSystems::Prepare),
                // Bevy's own system in FixedPostUpdate, which an exclusive system conflicts with.
                time::run_steps.in_set(FluidStepSystems::Step).before(signal_message_update_system),
            ),
        );
        #[cfg(feature = "2d")]
        {
            add_dimension::<Vec2>(app, self.schedule);
            #[cfg(feature = "scene")]
            crate::scene_asset::add::<Vec2>(app);
        }
        #[cfg(feature = "3d")]
        {
            add_dimension::<Vec3>(app, self.schedule);
            #[cfg(feature = "mesh")]
            crate::boundary_mesh::add(app);
            #[cfg(feature = "scene")]
            crate::scene_asset::add::<Vec3>(app);
        }
    }
}

/// Adds the world of one dimension and the systems that step it.
fn add_dimension<V: Dimension>(app: &mut App, outer: Interned<dyn ScheduleLabel>) {
    app.init_resource::<FluidWorldOf<V>>()
        .register_type::<FluidOf<V>>()
        .register_type::<BoundaryOf<V>>()
        .register_type::<FluidEmitterOf<V>>()
        .register_type::<FluidDrainOf<V>>()
        .init_resource::<fan::Fans<V>>()
        .init_resource::<cloth::Colliders<V>>()
        .init_resource::<cloth::ClothCoupling<V>>()
        .register_type::<ClothColliderOf<V>>()
        .add_systems(
            outer,
            (
                (
                    boundary::gather::<V>,
                    fluid::remember::<V>,
                    fluid::gather::<V>,
                    fan::gather::<V>,
                    cloth::gather_colliders::<V>,
                    cloth::attach::<V>,
                    smoke::gather_obstacles::<V>,
                    smoke::gather_sources::<V>,
                )
                    .chain()
                    .after(time::plan)
                    .in_set(DimensionSystems::Prepare(V::DIM)),
                fluid::scatter::<V>.in_set(DimensionSystems::Writeback(V::DIM)),
            ),
        )
        .add_systems(
            FluidSchedule,
            (
                (cloth::immerse::<V>, neighbor_search::<V>)
                    .chain()
                    .in_set(StageSystems(FluidSystems::NeighborSearch)),
                (non_pressure_forces::<V>, fan::blow::<V>)
                    .chain()
                    .in_set(StageSystems(FluidSystems::NonPressureForces)),
                density_solve::<V>.in_set(StageSystems(FluidSystems::DensitySolve)),
                (
                    cloth::step::<V>,
                    emitter::pump::<V>,
                    integrate::<V>,
                    emitter::pour::<V>,
                    cloth::immerse::<V>,
                    smoke::step::<V>,
                )
                    .chain()
                    .in_set(StageSystems(FluidSystems::Integrate))
                    .in_set(DimensionSystems::Companions(V::DIM)),
                (divergence_solve::<V>, cloth::push::<V>)
                    .chain()
                    .in_set(StageSystems(FluidSystems::DivergenceSolve)),
            ),
        );
    diagnostics::add::<V>(app, outer);
}

/// The compute pool where the app has one.
pub(crate) fn threads() -> Threads<'static> {
    ComputeTaskPool::try_get().map_or(Threads::Serial, |pool| Threads::Pool(pool))
}

fn neighbor_search<V: Dimension>(mut world: ResMut<FluidWorldOf<V>>) {
    world.neighbor_search(threads());
}

fn non_pressure_forces<V: Dimension>(mut world: ResMut<FluidWorldOf<V>>, clock: Res<Time<Fluid>>) {
    world.non_pressure_forces(clock.context().dt(), threads());
}

fn density_solve<V: Dimension>(mut world: ResMut<FluidWorldOf<V>>, clock: Res<Time<Fluid>>) {
    world.density_solve(clock.context().dt(), threads());
}

fn integrate<V: Dimension>(mut world: ResMut<FluidWorldOf<V>>, clock: Res<Time<Fluid>>) {
    world.integrate(clock.context().dt(), threads());
}

fn divergence_solve<V: Dimension>(mut world: ResMut<FluidWorldOf<V>>, clock: Res<Time<Fluid>>) {
    world.divergence_solve(clock.context().dt(), threads());
}
