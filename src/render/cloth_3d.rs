//! Cloths in space, drawn as meshes that follow their particles.

use bevy::asset::RenderAssetUsages;
use bevy::mesh::{Indices, PrimitiveTopology, VertexAttributeValues};
use bevy::prelude::*;

use crate::solver::cloth::Cloth;

/// In [`PostUpdate`]: the meshes of cloths take their particles' places.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClothMeshSystems;

pub(super) fn plugin(app: &mut App) {
    app.add_systems(
        PostUpdate,
        (dress, follow)
            .chain()
            .in_set(ClothMeshSystems)
            .after(TransformSystems::Propagate)
            .before(bevy::asset::AssetEventSystems),
    );
}

/// Gives a cloth without a mesh one of its own, and a plain material.
fn dress(
    mut commands: Commands,
    cloths: Query<
        (Entity, &Cloth<Vec3>, Has<MeshMaterial3d<StandardMaterial>>),
        (Added<Cloth<Vec3>>, Without<Mesh3d>),
    >,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    for (entity, cloth, has_material) in &cloths {
        commands.entity(entity).try_insert(Mesh3d(meshes.add(mesh_of(cloth))));
        if !has_material {
            let material = StandardMaterial {
                base_color: Color::srgb(0.75, 0.2, 0.2),
                perceptual_roughness: 0.8,
                double_sided: true,
                cull_mode: None,
                ..default()
            };
            commands.entity(entity).try_insert(MeshMaterial3d(materials.add(material)));
        }
    }
}

/// A mesh with a vertex for each particle; a grid has texture coordinates from
/// 0 at its first column and row to 1 at its last ones.
fn mesh_of(cloth: &Cloth<Vec3>) -> Mesh {
    let positions: Vec<[f32; 3]> = cloth.positions().iter().map(Vec3::to_array).collect();
    let texture: Vec<[f32; 2]> = match cloth.grid() {
        Some([columns, rows]) => {
            let part =
                |index: u32, count: u32| index as f32 / count.saturating_sub(1).max(1) as f32;
            let columns_of =
                |row: u32| (0..columns).map(move |column| [part(column, columns), part(row, rows)]);
            (0..rows).flat_map(columns_of).collect()
        }
        None => vec![[0.0; 2]; positions.len()],
    };
    Mesh::new(PrimitiveTopology::TriangleList, RenderAssetUsages::default())
        .with_inserted_attribute(Mesh::ATTRIBUTE_NORMAL, vec![[0.0, 0.0, 1.0]; positions.len()])
        .with_inserted_attribute(Mesh::ATTRIBUTE_UV_0, texture)
        .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, positions)
        .with_inserted_indices(Indices::U32(cloth.triangles().concat()))
}

/// Moves the vertices of a mesh to their particles, with normals, and tangents
/// where the mesh has some. The mesh's bounds follow by themselves.
///
/// A vertex shows the particle that it was welded into, so that textures and
/// seams stay; in a mesh of another number of vertices nothing is moved.
fn follow(
    cloths: Query<(Ref<Cloth<Vec3>>, Ref<Mesh3d>, &GlobalTransform)>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut normals: Local<Vec<Vec3>>,
    mut vertices: Local<Vec<u32>>,
) {
    for (cloth, handle, transform) in &cloths {
        if !cloth.is_changed() && !handle.is_changed() {
            continue;
        }
        let Some(mut mesh) = meshes.get_mut(&handle.0) else { continue };
        let count = mesh.count_vertices();
        vertices.clear();
        if count == cloth.particle_of_vertex().len() {
            vertices.extend_from_slice(cloth.particle_of_vertex());
        } else if count == cloth.len() {
            vertices.extend(0..cloth.len() as u32);
        } else {
            continue;
        }
        let local = transform.affine().inverse();
        let positions = cloth.positions();
        normals.clear();
        normals.resize(positions.len(), Vec3::ZERO);
        for triangle in cloth.triangles() {
            let [a, b, c] = triangle.map(|corner| positions[corner as usize]);
            // As long as twice the area, so that large faces count more.
            let normal = (b - a).cross(c - a);
            for corner in triangle {
                normals[*corner as usize] += normal;
            }
        }
        for normal in normals.iter_mut() {
            *normal = local.transform_vector3(*normal).normalize_or(Vec3::Z);
        }
        if let Some(VertexAttributeValues::Float32x3(places)) =
            mesh.attribute_mut(Mesh::ATTRIBUTE_POSITION)
        {
            for (place, &particle) in places.iter_mut().zip(vertices.iter()) {
                *place = local.transform_point3(positions[particle as usize]).to_array();
            }
        }
        if let Some(VertexAttributeValues::Float32x3(places)) =
            mesh.attribute_mut(Mesh::ATTRIBUTE_NORMAL)
        {
            for (place, &particle) in places.iter_mut().zip(vertices.iter()) {
                *place = normals[particle as usize].to_array();
            }
        }
        if mesh.contains_attribute(Mesh::ATTRIBUTE_TANGENT) {
            turn_tangents(&mut mesh, &normals, &vertices);
        }
    }
}

/// Computes tangents anew from the texture coordinates (Lengyel 2001).
fn turn_tangents(mesh: &mut Mesh, normals: &[Vec3], vertices: &[u32]) {
    let (Some(positions), Some(VertexAttributeValues::Float32x2(texture)), Some(indices)) = (
        mesh.attribute(Mesh::ATTRIBUTE_POSITION).and_then(VertexAttributeValues::as_float3),
        mesh.attribute(Mesh::ATTRIBUTE_UV_0),
        mesh.indices(),
    ) else {
        return;
    };
    let mut sums = vec![(Vec3::ZERO, Vec3::ZERO); vertices.len()];
    let indices: Vec<usize> = indices.iter().collect();
    for corners in indices.as_chunks::<3>().0 {
        let [a, b, c] = corners.map(|corner| Vec3::from_array(positions[corner]));
        let [u, v, w] = corners.map(|corner| Vec2::from_array(texture[corner]));
        let (right, down, (first, second)) = (b - a, c - a, (v - u, w - u));
        let area = first.perp_dot(second);
        // Both directions scaled by the area in the texture, whose sign tells a mirrored one.
        let along = (right * second.y - down * first.y) * area.signum();
        let across = (down * first.x - right * second.x) * area.signum();
        for &corner in corners {
            sums[corner].0 += along;
            sums[corner].1 += across;
        }
    }
    let tangents: Vec<[f32; 4]> = sums
        .into_iter()
        .zip(vertices)
        .map(|((along, across), &particle)| {
            let normal = normals[particle as usize];
            let tangent =
                along.reject_from_normalized(normal).normalize_or(normal.any_orthonormal_vector());
            let side = if normal.cross(tangent).dot(across) < 0.0 { -1.0 } else { 1.0 };
            tangent.extend(side).to_array()
        })
        .collect();
    mesh.insert_attribute(Mesh::ATTRIBUTE_TANGENT, tangents);
}
