//! Cloths in the plane, drawn as in the reference: threads as lines, particles as dots.

use bevy::asset::RenderAssetUsages;
use bevy::mesh::PrimitiveTopology;
use bevy::prelude::*;

use super::dots::{Dot2d, Dots2d, DotsSystems};
use crate::palette;
use crate::solver::cloth::{Cloth, ConstraintKind};

/// How cloths in the plane are drawn.
#[derive(Resource, Clone, Debug, PartialEq, Reflect)]
#[reflect(Resource)]
pub struct ClothDrawing {
    /// Colour of the threads, or none to leave them out; default #666666.
    pub threads: Option<Color>,
    /// Colour of the particles, or none to leave them out; default #0000FF.
    pub particles: Option<Color>,
    /// Radius of a particle in metres, 0 or more; default 0.025.
    pub particle_radius: f32,
}

impl Default for ClothDrawing {
    fn default() -> Self {
        Self {
            threads: Some(Color::srgb_u8(0x66, 0x66, 0x66)),
            particles: Some(Color::srgb_u8(0, 0, 0xff)),
            particle_radius: 0.025,
        }
    }
}

/// A held particle is drawn this many times as large.
const HELD_SCALE: f32 = 3.0;

/// Height of the particles, before the threads.
const PARTICLES_Z: f32 = 0.5;

/// The threads of all cloths.
#[derive(Component)]
struct Threads;

/// The particles of all cloths.
#[derive(Component)]
struct Particles;

pub(super) fn plugin(app: &mut App) {
    app.init_resource::<ClothDrawing>()
        .register_type::<ClothDrawing>()
        .add_systems(Startup, spawn)
        .add_systems(PostUpdate, (draw_threads, draw_particles).before(DotsSystems));
}

fn spawn(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<ColorMaterial>>,
) {
    let usages = RenderAssetUsages::default();
    let lines = Mesh::new(PrimitiveTopology::LineList, usages)
        .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, vec![[0.0; 3]; 2]);
    commands.spawn((
        Name::new("cloth threads"),
        Threads,
        Mesh2d(meshes.add(lines)),
        MeshMaterial2d(materials.add(ColorMaterial::default())),
        bevy::camera::visibility::NoFrustumCulling,
        Visibility::Hidden,
    ));
    commands.spawn((
        Name::new("cloth particles"),
        Particles,
        Dots2d::default(),
        Transform::from_xyz(0.0, 0.0, PARTICLES_Z),
    ));
}

/// Whether the cloths have to be drawn anew: one changed, came or went.
fn changed(
    cloths: &Query<Ref<Cloth<Vec2>>>,
    drawing: &Res<ClothDrawing>,
    count: &mut usize,
) -> bool {
    let now = cloths.iter().count();
    let changed =
        now != *count || drawing.is_changed() || cloths.iter().any(|cloth| cloth.is_changed());
    *count = now;
    changed
}

fn draw_threads(
    mut drawn: Query<(&Mesh2d, &MeshMaterial2d<ColorMaterial>, &mut Visibility), With<Threads>>,
    cloths: Query<Ref<Cloth<Vec2>>>,
    drawing: Res<ClothDrawing>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<ColorMaterial>>,
    mut count: Local<usize>,
) {
    if !changed(&cloths, &drawing, &mut count) {
        return;
    }
    let Ok((mesh, material, mut visibility)) = drawn.single_mut() else { return };
    let mut lines = Vec::new();
    for cloth in &cloths {
        let positions = cloth.positions();
        for constraint in cloth.constraints() {
            if constraint.kind == ConstraintKind::Bend {
                continue;
            }
            let ends = [constraint.a, constraint.b].map(|end| positions.get(end as usize));
            if let [Some(a), Some(b)] = ends {
                lines.extend([[a.x, a.y, 0.0], [b.x, b.y, 0.0]]);
            }
        }
    }
    let shown = drawing.threads.is_some() && !lines.is_empty();
    *visibility = if shown { Visibility::Visible } else { Visibility::Hidden };
    // The renderer does not allow for a mesh without vertices.
    if lines.is_empty() {
        lines.extend([[0.0; 3]; 2]);
    }
    if let Some(mut mesh) = meshes.get_mut(&mesh.0) {
        mesh.insert_attribute(Mesh::ATTRIBUTE_POSITION, lines);
    }
    if let Some(color) = drawing.threads
        && let Some(mut material) = materials.get_mut(&material.0)
    {
        material.color = color;
    }
}

fn draw_particles(
    mut clouds: Query<&mut Dots2d, With<Particles>>,
    cloths: Query<Ref<Cloth<Vec2>>>,
    drawing: Res<ClothDrawing>,
    mut count: Local<usize>,
) {
    if !changed(&cloths, &drawing, &mut count) {
        return;
    }
    let Ok(mut dots) = clouds.single_mut() else { return };
    dots.clear();
    let Some(color) = drawing.particles else { return };
    let color = color.to_srgba().to_u8_array();
    let radius = drawing.particle_radius;
    for cloth in &cloths {
        dots.extend(cloth.positions().iter().map(|&position| Dot2d { position, radius, color }));
        if let Some(held) = cloth.grabbed() {
            let position = cloth.positions()[held.particle as usize];
            let radius = radius * HELD_SCALE;
            dots.push(Dot2d { position, radius, color: palette::SELECTED });
        }
    }
}
