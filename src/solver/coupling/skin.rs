//! The samples by which a fluid meets a cloth.

use std::collections::HashMap;

use crate::solver::cloth::{Cloth, ConstraintKind};
use crate::solver::sph::membrane::MembraneSample;
use crate::solver::vector::Vector;

/// Least distances of two samples in the rest shape, in spacings of the fluid:
/// the widest of them with enough samples is taken.
const APART: [f32; 5] = [0.9, 0.8, 0.7, 0.6, 0.5];

/// Samples for each spacing squared of a surface, or spacing of a thread, that
/// are enough: one layer stands for the layers of particles that are missing behind it.
const COVERAGE: f32 = 1.25;

/// Distance of the points that samples are chosen from, in spacings.
const CANDIDATES: f32 = 0.2;

/// Most of these points along one edge, and of all in a cloth.
const MAX_PARTS: f32 = 64.0;
const MAX_CANDIDATES: f32 = 4e6;

/// Samples all over a cloth, each moving with some of its particles.
#[derive(Debug)]
pub(super) struct Skin {
    /// Particles and their weights, sample after sample.
    weights: Vec<(u32, f32)>,
    /// Where each sample's weights end.
    ends: Vec<u32>,
    /// Inverse masses in 1/kg.
    inverse_masses: Vec<f32>,
    key: Key,
}

/// What a skin was made for.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Key {
    particles: usize,
    triangles: usize,
    constraints: usize,
    mass: f64,
    spacing: f32,
}

impl Key {
    fn new<V: Vector>(cloth: &Cloth<V>, spacing: f32) -> Self {
        Self {
            particles: cloth.len(),
            triangles: cloth.triangles().len(),
            constraints: cloth.constraints().len(),
            mass: cloth.masses().iter().map(|&mass| f64::from(mass)).sum(),
            spacing,
        }
    }
}

/// A place on a cloth: three particles and their weights.
type Place = [(u32, f32); 3];

impl Skin {
    /// A skin of a cloth for a fluid of a spacing in metres.
    pub(super) fn new<V: Vector>(cloth: &Cloth<V>, spacing: f32) -> Self {
        let key = Key::new(cloth, spacing);
        let elements = elements(cloth);
        let enough = COVERAGE * extent(cloth, &elements, spacing);
        let mut chosen = Chosen::among(cloth, &elements, spacing, APART[0]);
        for apart in &APART[1..] {
            if chosen.places.len() as f32 >= enough {
                break;
            }
            chosen = Chosen::among(cloth, &elements, spacing, *apart);
        }
        let members = chosen.members(cloth);
        let (mut weights, mut ends) = (Vec::new(), Vec::new());
        for (place, members) in chosen.places.iter().zip(&members) {
            // Where the cloth is finer than the fluid a sample takes all that is nearest to it along.
            if members.len() > 1 {
                let mass: f32 = members.iter().map(|&p| cloth.masses()[p as usize]).sum();
                weights.extend(members.iter().map(|&p| (p, cloth.masses()[p as usize] / mass)));
            } else {
                weights.extend(place.iter().filter(|(_, weight)| *weight > 0.0));
            }
            ends.push(weights.len() as u32);
        }
        let mut skin = Self { weights, ends, inverse_masses: Vec::new(), key };
        // The mass of each particle is shared out among its samples.
        let mut total = vec![0.0f32; cloth.len()];
        skin.weights.iter().for_each(|&(p, weight)| total[p as usize] += weight);
        for sample in 0..skin.len() {
            let shares = skin.of(sample).iter();
            let mass: f32 = shares
                .map(|&(p, weight)| weight / total[p as usize] * cloth.masses()[p as usize])
                .sum();
            skin.inverse_masses.push(1.0 / mass);
        }
        skin
    }

    /// Whether it still fits a cloth.
    pub(super) fn fits<V: Vector>(&self, cloth: &Cloth<V>, spacing: f32) -> bool {
        self.key == Key::new(cloth, spacing)
    }

    /// Number of samples.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The particles of a sample and their weights, which add up to one.
    pub(super) fn of(&self, sample: usize) -> &[(u32, f32)] {
        let start = if sample == 0 { 0 } else { self.ends[sample - 1] };
        &self.weights[start as usize..self.ends[sample] as usize]
    }

    /// The samples as they are now.
    pub(super) fn samples<V: Vector>(
        &self,
        cloth: &Cloth<V>,
    ) -> impl Iterator<Item = MembraneSample<V>> {
        (0..self.len()).map(|sample| {
            let (mut position, mut velocity, mut yielding) = (V::ZERO, V::ZERO, 0.0);
            for &(particle, weight) in self.of(sample) {
                position += cloth.positions()[particle as usize] * weight;
                velocity += cloth.velocities()[particle as usize] * weight;
                yielding += cloth.yielding(particle as usize) * weight;
            }
            let inverse_mass = self.inverse_masses[sample];
            MembraneSample { position, velocity, inverse_mass, yielding }
        })
    }
}

/// Places chosen on a cloth, with a hash of the rest shape around them.
struct Chosen<V> {
    places: Vec<Place>,
    points: Vec<V>,
    cells: HashMap<[i32; 3], Vec<u32>>,
    distance: f32,
}

impl<V: Vector> Chosen<V> {
    fn among(cloth: &Cloth<V>, elements: &[[u32; 3]], spacing: f32, apart: f32) -> Self {
        let mut chosen = Self {
            places: Vec::new(),
            points: Vec::new(),
            cells: HashMap::new(),
            distance: apart * spacing,
        };
        let corner = |particle: u32| cloth.rest_positions()[particle as usize];
        let parts = |&[a, b, c]: &[u32; 3], step: f32| {
            let [a, b, c] = [a, b, c].map(corner);
            let longest = (b - a).length().max((c - b).length()).max((a - c).length());
            (longest / step).ceil().clamp(1.0, MAX_PARTS)
        };
        let mut step = CANDIDATES * spacing;
        let count: f32 = elements.iter().map(|element| parts(element, step).powi(2)).sum();
        step *= (count / MAX_CANDIDATES).sqrt().max(1.0);
        let mut corners: Vec<u32> = elements.iter().flatten().copied().collect();
        corners.sort_unstable();
        corners.dedup();
        corners.iter().for_each(|&p| chosen.offer([(p, 1.0), (p, 0.0), (p, 0.0)], corner(p)));
        for element in elements {
            let parts = parts(element, step) as u32;
            let [a, b, c] = *element;
            let whole = 1.0 / parts as f32;
            for row in 0..=if b == c { 0 } else { parts } {
                for column in 0..=parts - row {
                    let (u, v) = (column as f32 * whole, row as f32 * whole);
                    let place = [(a, 1.0 - u - v), (b, u), (c, v)];
                    let mut point = V::ZERO;
                    place.iter().for_each(|&(p, weight)| point += corner(p) * weight);
                    chosen.offer(place, point);
                }
            }
        }
        chosen
    }

    fn cell(&self, point: V) -> [i32; 3] {
        point.to_array().map(|component| (component / self.distance).floor() as i32)
    }

    /// The nearest chosen place within the distance of two.
    fn nearest(&self, point: V) -> Option<u32> {
        let [x, y, z] = self.cell(point);
        let mut nearest = None;
        let mut least = self.distance * self.distance;
        for cell in (0..27).map(|k| [x - 1 + k % 3, y - 1 + k / 3 % 3, z - 1 + k / 9]) {
            for &place in self.cells.get(&cell).into_iter().flatten() {
                let squared = (self.points[place as usize] - point).length_squared();
                if squared < least {
                    (least, nearest) = (squared, Some(place));
                }
            }
        }
        nearest
    }

    fn offer(&mut self, place: Place, point: V) {
        if self.nearest(point).is_none() {
            let cell = self.cell(point);
            self.cells.entry(cell).or_default().push(self.places.len() as u32);
            self.places.push(place);
            self.points.push(point);
        }
    }

    /// The particles that are nearest to each place.
    fn members(&self, cloth: &Cloth<V>) -> Vec<Vec<u32>> {
        let mut members = vec![Vec::new(); self.places.len()];
        for (particle, &point) in (0..).zip(cloth.rest_positions()) {
            if let Some(place) = self.nearest(point) {
                members[place as usize].push(particle);
            }
        }
        members
    }
}

/// Spacings squared in the triangles at rest, and spacings in the threads.
fn extent<V: Vector>(cloth: &Cloth<V>, elements: &[[u32; 3]], spacing: f32) -> f32 {
    let corner = |particle: u32| cloth.rest_positions()[particle as usize];
    let sizes = elements.iter().map(|&[a, b, c]| {
        let (ab, ac) = (corner(b) - corner(a), corner(c) - corner(a));
        if b == c {
            return ab.length() / spacing;
        }
        let squared = ab.length_squared() * ac.length_squared() - ab.dot(ac) * ab.dot(ac);
        0.5 * squared.max(0.0).sqrt() / (spacing * spacing)
    });
    sizes.sum()
}

/// What stops fluid: in space triangles, else threads, as triangles without area.
fn elements<V: Vector>(cloth: &Cloth<V>) -> Vec<[u32; 3]> {
    if V::DIM == 3 && !cloth.triangles().is_empty() {
        return cloth.triangles().to_vec();
    }
    let threads = cloth.constraints().iter().filter(|c| c.kind == ConstraintKind::Stretch);
    threads.map(|thread| [thread.a, thread.b, thread.b]).collect()
}
