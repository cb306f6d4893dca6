//! Drag and lift of the air.

use super::step::Work;
use super::{Cloth, ClothScheme, ClothSettings, ConstraintKind, Surroundings};
use crate::solver::vector::Vector;

/// Faces whose changes are computed together.
const LANES: usize = 8;

/// Changes velocities by the air's impulses on triangles, or in the plane on
/// edges, in a step.
///
/// F = rho A/2 |v.n| ((c_d - c_l) v + c_l |v| n) with the relative velocity v
/// of the air and the normal n on the lee side. The step is implicit: an impulse
/// never exceeds the one that takes the face along with the air, so that no
/// wind makes a cloth unstable.
struct Air<V> {
    wind: V,
    density: f32,
    drag: f32,
    lift: f32,
    dt: f32,
}

/// A face of a cloth as the air meets it.
struct Face<V> {
    /// Its particles; in the plane the third is none.
    corners: [u32; 3],
    /// As long as its area is large, to either side.
    normal: V,
    /// Velocity of the air in m/s relative to the face, but for the wind.
    velocity: V,
    /// In kilograms.
    mass: f32,
}

/// Some faces, component by component.
#[derive(Default)]
struct Faces {
    corners: [[u32; 3]; LANES],
    normal: [[f32; LANES]; 3],
    /// Before [`Air::blow`] relative to the wind, then what the air changes.
    velocity: [[f32; LANES]; 3],
    mass: [f32; LANES],
    count: usize,
}

impl Faces {
    /// Adds a face; there must be room for it.
    #[inline(always)]
    fn add<V: Vector>(&mut self, face: &Face<V>) {
        let lane = self.count;
        self.corners[lane] = face.corners;
        self.mass[lane] = face.mass;
        let (normal, velocity) = (face.normal.to_array(), face.velocity.to_array());
        for k in 0..3 {
            self.normal[k][lane] = normal[k];
            self.velocity[k][lane] = velocity[k];
        }
        self.count += 1;
    }

    /// Whether there is no more room.
    fn is_full(&self) -> bool {
        self.count == LANES
    }

    /// Takes the faces out, with the change of each one's velocity in m/s.
    #[inline(always)]
    fn drain<V: Vector>(&mut self) -> impl Iterator<Item = ([u32; 3], V)> {
        let count = core::mem::take(&mut self.count);
        let Self { corners, velocity, .. } = &*self;
        let change = |lane: usize| V::from_array([0, 1, 2].map(|k| velocity[k][lane]));
        (0..count).map(move |lane| (corners[lane], change(lane)))
    }
}

impl<V: Vector> Air<V> {
    /// Air with a wind in m/s, for a step of `dt` seconds.
    fn new(settings: &ClothSettings, wind: V, dt: f32) -> Self {
        let ClothSettings { air_density: density, drag, lift, .. } = *settings;
        Self { wind, density, drag, lift, dt }
    }

    /// Computes what the air changes the velocities of faces by.
    fn blow(&self, faces: &mut Faces) {
        let [wx, wy, wz] = self.wind.to_array();
        let ([nx, ny, nz], [vx, vy, vz]) = (&faces.normal, &mut faces.velocity);
        let pressure = 0.5 * self.density * self.dt;
        let drag = (self.drag - self.lift).max(0.0);
        for i in 0..LANES {
            let (x, y, z) = (wx + vx[i], wy + vy[i], wz + vz[i]);
            let area = (nx[i] * nx[i] + ny[i] * ny[i] + nz[i] * nz[i]).sqrt();
            let speed = (x * x + y * y + z * z).sqrt();
            let product = area * speed;
            let part = if product > 0.0 { 1.0 / product } else { 0.0 };
            let signed = (x * nx[i] + y * ny[i] + z * nz[i]) * part;
            // |F|/m over the squared speed, along v and along the normal.
            let rate = pressure * area / faces.mass[i];
            let (along, across) =
                (drag * signed.abs(), self.lift * signed * speed * (part * speed));
            let (x, y, z) = (
                x * along + nx[i] * across,
                y * along + ny[i] * across,
                z * along + nz[i] * across,
            );
            // The implicit step of dv/dt = rate |v| shape.
            let shape = (x * x + y * y + z * z).sqrt();
            let factor = rate * speed / (1.0 + rate * shape);
            (vx[i], vy[i], vz[i]) = (x * factor, y * factor, z * factor);
        }
    }

    /// Whether the air does anything.
    fn acts(&self) -> bool {
        self.density > 0.0 && (self.drag > 0.0 || self.lift > 0.0)
    }
}

/// The cross product of two edges halved: in the plane, with `edge` alone, its
/// normal, as long as the edge.
#[inline(always)]
fn area_vector<V: Vector>(edge: V, other: V) -> V {
    let ([x, y, z], [a, b, c]) = (edge.to_array(), other.to_array());
    if V::DIM == 2 {
        return V::from_array([-y, x, 0.0]);
    }
    V::from_array([0.5 * (y * c - z * b), 0.5 * (z * a - x * c), 0.5 * (x * b - y * a)])
}

impl<V: Vector> Cloth<V> {
    /// Shares the particles out to the faces that meet the air.
    pub(super) fn share_out(&mut self) {
        let faces = &mut self.work.faces;
        faces.clear();
        faces.resize(self.positions.len(), 0.0);
        if V::DIM == 3 {
            self.triangles.iter().flatten().for_each(|&corner| faces[corner as usize] += 1.0);
        } else {
            let threads = self.constraints.iter().filter(|c| c.kind == ConstraintKind::Stretch);
            threads.for_each(|c| [c.a, c.b].iter().for_each(|&end| faces[end as usize] += 1.0));
        }
        faces.iter_mut().for_each(|count| *count = 1.0 / count.max(1.0));
    }

    /// The impulses of the air.
    pub(super) fn blow(&mut self, dt: f32, around: &Surroundings<V>) {
        let air = Air::new(&self.settings, around.wind, dt);
        if !air.acts() || self.settings.scheme == ClothScheme::Reference {
            return;
        }
        let Work { inverse, faces, changes, .. } = &mut self.work;
        let (x, v, masses) = (&self.positions, &self.velocities, &self.masses);
        // All faces start from the same velocities: none waits for another.
        changes.clear();
        changes.resize(x.len(), V::ZERO);
        let mut blown = Faces::default();
        let mut blow = |blown: &mut Faces| {
            air.blow(blown);
            for (corners, change) in blown.drain::<V>() {
                // Each corner moves with the face, its own share being light.
                for &corner in &corners[..V::DIM] {
                    changes[corner as usize] += change * faces[corner as usize];
                }
            }
        };
        let mut push = |corners: [u32; 3], normal: V| {
            // A face has the mass of its corners' shares.
            let each = 1.0 / V::DIM as f32;
            let (mut middle, mut velocity, mut mass) = (V::ZERO, V::ZERO, 0.0);
            for &corner in &corners[..V::DIM] {
                middle += x[corner as usize] * each;
                velocity += v[corner as usize] * each;
                mass += masses[corner as usize] * faces[corner as usize];
            }
            let velocity = around.flow.at(middle) - velocity;
            blown.add(&Face { corners, normal, velocity, mass });
            if blown.is_full() {
                blow(&mut blown);
            }
        };
        if V::DIM == 3 {
            for triangle in &self.triangles {
                let [a, b, c] = triangle.map(|corner| x[corner as usize]);
                push(*triangle, area_vector(b - a, c - a));
            }
        } else {
            for constraint in &self.constraints {
                if constraint.kind == ConstraintKind::Stretch {
                    let ends = [constraint.a, constraint.b, constraint.b];
                    let edge = x[ends[1] as usize] - x[ends[0] as usize];
                    push(ends, area_vector(edge, edge));
                }
            }
        }
        blow(&mut blown);
        for ((v, &change), &w) in self.velocities.iter_mut().zip(&*changes).zip(&*inverse) {
            if w > 0.0 {
                *v += change;
            }
        }
    }
}
