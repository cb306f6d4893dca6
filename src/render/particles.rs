//! Fluid particles and boundary samples of the 2D world, drawn as round dots.

use bevy::prelude::*;

use super::dots::{Dot2d, Dots2d, DotsSystems};
use super::selection::Selection;
use crate::boundary::BoundaryOf;
use crate::fluid::{FluidOf, TickStart};
use crate::palette::{self, Rgba};
use crate::settings::SettingsInForce;
use crate::solver::particles::{FluidParticles, ParticleResult};
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

/// How the 2D world is drawn.
#[derive(Resource, Clone, Debug, PartialEq, Reflect)]
#[reflect(Resource)]
pub struct FluidDrawing {
    /// Whether fluid particles are drawn; default true.
    pub particles: bool,
    /// What their colour shows; default [`ColorBy::Speed`].
    pub color_by: ColorBy,
    /// Colour of boundary samples, or none to leave them out; default grey #888888.
    pub boundary: Option<Color>,
    /// Radius of a drawn dot in particle radii, positive; default 1.
    pub scale: f32,
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
            interpolate: true,
        }
    }
}

/// Which of the clouds a dot cloud is.
#[derive(Component, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cloud {
    Boundary,
    Particles,
}

/// Height of the clouds: boundary behind the water.
const BOUNDARY_Z: f32 = -1.0;

/// The selected particle is drawn this many times as large.
const SELECTED_SCALE: f32 = 3.0;

pub(super) fn plugin(app: &mut App) {
    app.init_resource::<FluidDrawing>()
        .register_type::<FluidDrawing>()
        .add_systems(Startup, spawn_clouds)
        .add_systems(PostUpdate, (draw_boundary, draw_particles).before(DotsSystems));
}

fn spawn_clouds(mut commands: Commands) {
    commands.spawn((
        Name::new("fluid boundary dots"),
        Cloud::Boundary,
        Dots2d::default(),
        Transform::from_xyz(0.0, 0.0, BOUNDARY_Z),
    ));
    commands.spawn((Name::new("fluid particle dots"), Cloud::Particles, Dots2d::default()));
}

fn draw_boundary(
    mut clouds: Query<(&Cloud, &mut Dots2d)>,
    boundaries: Query<(Ref<BoundaryOf<Vec2>>, Ref<GlobalTransform>)>,
    drawing: Res<FluidDrawing>,
    settings: Res<SettingsInForce>,
    mut drawn: Local<usize>,
) {
    let moved = boundaries
        .iter()
        .any(|(boundary, transform)| boundary.is_changed() || transform.is_changed());
    let count = boundaries.iter().count();
    if !moved && *drawn == count && !drawing.is_changed() && !settings.is_changed() {
        return;
    }
    *drawn = count;
    let Some((_, mut dots)) = clouds.iter_mut().find(|(cloud, _)| **cloud == Cloud::Boundary)
    else {
        return;
    };
    dots.clear();
    let Some(color) = drawing.boundary else { return };
    let color = color.to_srgba().to_u8_array();
    let radius = settings.particle_radius_2d * drawing.scale;
    for (boundary, transform) in &boundaries {
        for sample in boundary.samples() {
            let position = transform.transform_point(sample.extend(0.0)).truncate();
            dots.push(Dot2d { position, radius, color });
        }
    }
}

fn draw_particles(
    mut clouds: Query<(&Cloud, &mut Dots2d)>,
    fluids: Query<(Entity, &FluidOf<Vec2>, &FluidParticles<Vec2>, &TickStart<Vec2>)>,
    boundaries: Query<(&BoundaryOf<Vec2>, &GlobalTransform)>,
    drawing: Res<FluidDrawing>,
    settings: Res<SettingsInForce>,
    selection: Res<Selection>,
    clock: Res<Time<Fluid>>,
    fixed: Res<Time<Fixed>>,
) {
    let Some((_, mut dots)) = clouds.iter_mut().find(|(cloud, _)| **cloud == Cloud::Particles)
    else {
        return;
    };
    dots.clear();
    let radius = settings.particle_radius_2d * drawing.scale;
    let part = if drawing.interpolate {
        clock.context().interpolation(fixed.overstep().as_secs_f64())
    } else {
        1.0
    };
    let reach = 4.0 * settings.particle_radius_2d;
    if drawing.particles {
        let highest = Highest::of(fluids.iter().map(|(_, _, particles, _)| particles));
        for (number, (_, fluid, particles, start)) in fluids.iter().enumerate() {
            for index in 0..particles.len() {
                let Some(position) = start.drawn(particles, index, part, reach) else { break };
                let color = match drawing.color_by {
                    ColorBy::Speed => palette::speed(particles.velocities()[index].length()),
                    ColorBy::Body => palette::body(number),
                    other => highest.color(
                        other,
                        &particles.results()[index],
                        fluid.material.rest_density,
                    ),
                };
                dots.push(Dot2d { position, radius, color });
            }
        }
    }
    let selected = match *selection {
        Selection::None => None,
        Selection::Particle { fluid, id } => {
            fluids.get(fluid).ok().and_then(|(_, _, particles, start)| {
                let index = particles.index_of(id).ok()?;
                start.drawn(particles, index, part, reach)
            })
        }
        Selection::Sample { boundary, index } => {
            boundaries.get(boundary).ok().and_then(|(boundary, transform)| {
                let sample = boundary.samples().get(index)?;
                Some(transform.transform_point(sample.extend(0.0)).truncate())
            })
        }
    };
    if let Some(position) = selected {
        // Last, so that nothing covers it.
        let radius = settings.particle_radius_2d * SELECTED_SCALE;
        dots.push(Dot2d { position, radius, color: palette::SELECTED });
    }
}

/// Highest values of all particles, the upper ends of the colour ramps.
struct Highest {
    pressure: f32,
    neighbors: u32,
}

impl Highest {
    fn of<'a>(bodies: impl Iterator<Item = &'a FluidParticles<Vec2>>) -> Self {
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
