//! What is drawn of the particles, and in which colours.

use bevy::ecs::system::SystemParam;
use bevy::prelude::*;

use crate::boundary::BoundaryOf;
use crate::dimension::Dimension;
use crate::fluid::{FluidOf, TickStart};
use crate::palette::{self, Rgba};
use crate::settings::SettingsInForce;
use crate::solver::particles::{FluidParticles, ParticleId, ParticleResult};
use crate::solver::vector::Vector;
use crate::time::Fluid;

/// The quantity that a particle's colour shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
pub enum ColorBy {
    /// Speed, brightest at 8 m/s and above, as in the reference.
    #[default]
    Speed,
    /// Density, 5 % below to 5 % above the rest density.
    Density,
    /// Pressure, from zero to the highest of all particles.
    Pressure,
    /// Number of neighbours, from zero to the highest of all particles.
    Neighbors,
    /// The body it belongs to.
    Body,
}

impl ColorBy {
    /// All quantities.
    pub const ALL: [Self; 5] =
        [Self::Speed, Self::Density, Self::Pressure, Self::Neighbors, Self::Body];
}

/// How the worlds are drawn.
#[derive(Resource, Clone, Debug, PartialEq, Reflect)]
#[reflect(Resource)]
pub struct FluidDrawing {
    /// Whether fluid particles are drawn; default true.
    pub particles: bool,
    /// What their colour shows; default [`ColorBy::Speed`].
    pub color_by: ColorBy,
    /// Colour of boundary samples, or none to leave them out; default grey #888888.
    pub boundary: Option<Color>,
    /// Radius of a drawn particle in particle radii, positive; default 1.
    pub scale: f32,
    /// Radius of a drawn boundary sample of a 3D world in particle radii, positive; default 0.2,
    /// so that one sees the water through its vessel.
    pub boundary_scale_3d: f32,
    /// Whether particles are drawn between two ticks where the frame lies
    /// between them; default true.
    pub interpolate: bool,
}

impl Default for FluidDrawing {
    fn default() -> Self {
        let [red, green, blue, _] = palette::BOUNDARY;
        Self {
            particles: true,
            color_by: ColorBy::default(),
            boundary: Some(Color::srgb_u8(red, green, blue)),
            scale: 1.0,
            boundary_scale_3d: 0.2,
            interpolate: true,
        }
    }
}

/// The particles of a dimension as they are drawn.
#[derive(SystemParam)]
pub(super) struct DrawnFluids<'w, 's, V: Dimension> {
    drawing: Res<'w, FluidDrawing>,
    settings: Res<'w, SettingsInForce>,
    fluids: Query<
        'w,
        's,
        (Entity, &'static FluidOf<V>, &'static FluidParticles<V>, &'static TickStart<V>),
    >,
    clock: Res<'w, Time<Fluid>>,
    fixed: Res<'w, Time<Fixed>>,
}

impl<V: Dimension> DrawnFluids<'_, '_, V> {
    /// Radius of a drawn particle in metres.
    pub(super) fn radius(&self) -> f32 {
        V::particle_radius(&self.settings) * self.drawing.scale
    }

    /// How far the frame is on the way through the last tick.
    fn part(&self) -> f32 {
        if self.drawing.interpolate {
            self.clock.context().interpolation(self.fixed.overstep().as_secs_f64())
        } else {
            1.0
        }
    }

    /// A particle that moved farther than this in a tick is not drawn between its ends.
    fn reach(&self) -> f32 {
        4.0 * V::particle_radius(&self.settings)
    }

    /// Place and colour of every particle, if particles are drawn.
    pub(super) fn each(&self, mut draw: impl FnMut(V, Rgba)) {
        if !self.drawing.particles {
            return;
        }
        let (part, reach) = (self.part(), self.reach());
        let highest = Highest::of(self.fluids.iter().map(|(_, _, particles, _)| particles));
        for (number, (_, fluid, particles, start)) in self.fluids.iter().enumerate() {
            for index in 0..particles.len() {
                let Some(position) = start.drawn(particles, index, part, reach) else { break };
                let color = match self.drawing.color_by {
                    ColorBy::Speed => {
                        palette::speed(particles.velocities()[index].length_squared().sqrt())
                    }
                    ColorBy::Body => palette::body(number),
                    other => highest.color(
                        other,
                        &particles.results()[index],
                        fluid.material.rest_density,
                    ),
                };
                draw(position, color);
            }
        }
    }

    /// Whether there is no body.
    pub(super) fn is_empty(&self) -> bool {
        self.fluids.is_empty()
    }

    /// Place of one particle.
    pub(super) fn position(&self, fluid: Entity, id: ParticleId) -> Option<V> {
        let (_, _, particles, start) = self.fluids.get(fluid).ok()?;
        let index = particles.index_of(id).ok()?;
        start.drawn(particles, index, self.part(), self.reach())
    }
}

/// The boundary samples of a dimension, where they have to be drawn anew.
#[derive(SystemParam)]
pub(super) struct DrawnBoundaries<'w, 's, V: Dimension> {
    boundaries: Query<'w, 's, (Ref<'static, BoundaryOf<V>>, Ref<'static, GlobalTransform>)>,
    drawing: Res<'w, FluidDrawing>,
    settings: Res<'w, SettingsInForce>,
    /// How many there were when they were drawn last.
    count: Local<'s, usize>,
}

impl<V: Dimension> DrawnBoundaries<'_, '_, V> {
    /// Whether anything changed since this was asked last.
    pub(super) fn changed(&mut self) -> bool {
        let boundaries = self.boundaries.iter();
        let mut moved = boundaries.map(|(shape, place)| shape.is_changed() || place.is_changed());
        let count = self.boundaries.iter().count();
        let changed = moved.any(|moved| moved)
            || *self.count != count
            || self.drawing.is_changed()
            || self.settings.is_changed();
        *self.count = count;
        changed
    }

    /// Place and colour of every sample, if samples are drawn.
    pub(super) fn each(&self, mut draw: impl FnMut(V, Rgba)) {
        let Some(color) = self.drawing.boundary else { return };
        let color = color.to_srgba().to_u8_array();
        for (boundary, transform) in &self.boundaries {
            for sample in boundary.samples() {
                draw(sample.transform(&transform), color);
            }
        }
    }

    /// Place of one sample.
    pub(super) fn position(&self, boundary: Entity, index: usize) -> Option<V> {
        let (boundary, transform) = self.boundaries.get(boundary).ok()?;
        Some(boundary.samples().get(index)?.transform(&transform))
    }

    /// Particle radius of the dimension in metres.
    pub(super) fn particle_radius(&self) -> f32 {
        V::particle_radius(&self.settings)
    }
}

/// Highest values of all particles, the upper ends of the colour ramps.
struct Highest {
    pressure: f32,
    neighbors: u32,
}

impl Highest {
    fn of<'a, V: Vector>(bodies: impl Iterator<Item = &'a FluidParticles<V>>) -> Self {
        let mut highest = Self { pressure: f32::MIN_POSITIVE, neighbors: 1 };
        for result in bodies.flat_map(|particles| particles.results()) {
            highest.pressure = highest.pressure.max(result.pressure());
            highest.neighbors = highest.neighbors.max(result.neighbors);
        }
        highest
    }

    fn color(&self, by: ColorBy, result: &ParticleResult, rest_density: f32) -> Rgba {
        match by {
            ColorBy::Density => {
                palette::diverging(0.5 + 10.0 * (result.density / rest_density - 1.0))
            }
            ColorBy::Pressure => palette::sequential(result.pressure() / self.pressure),
            _ => palette::sequential(result.neighbors as f32 / self.neighbors as f32),
        }
    }
}
