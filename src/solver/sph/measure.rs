//! Figures of the whole world, computed when asked for.

use super::FluidWorld;
use super::packed::GONE;
use crate::solver::settings::{FluidMethod, WorldSettings};
use crate::solver::vector::Vector;

/// |G| times the support radius above which a particle counts as surface: a
/// flat surface has about 0.9, a disordered bulk below 0.2.
const SURFACE_ASYMMETRY: f32 = 0.5;

/// Particles whose pressures stand for those of all.
const PRESSURE_SAMPLES: usize = 1024;

/// Figures of all particles of a world.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measures<V> {
    /// Mean density in kg/m³ (kg/m² in 2D).
    pub mean_density: f32,
    /// Highest density.
    pub max_density: f32,
    /// Mean of |rho - rho0|/rho0 over the bulk: the particles farther than a
    /// support radius from surface and boundary. Zero without a bulk.
    pub mean_abs_density_error: f32,
    /// Particles that make up the bulk.
    pub bulk: usize,
    /// Kinetic energy in J.
    pub kinetic_energy: f32,
    /// Potential energy -m g.x in J.
    pub potential_energy: f32,
    /// Centre of mass in metres.
    pub center_of_mass: V,
    /// Highest speed in m/s.
    pub max_speed: f32,
}

/// What the signal speed of a particle depends on.
pub(in crate::solver) struct Signal<V> {
    pub(crate) position: V,
    pub(crate) velocity: V,
    pub(crate) density_impulse: f32,
    pub(crate) divergence_impulse: f32,
    /// 1/rho0.
    pub(crate) lightness: f32,
}

/// See [`FluidWorld::signal_speed`]; `particles` in the order of their places.
pub(in crate::solver) fn signal_speed<V: Vector>(
    particles: impl Iterator<Item = Signal<V>> + Clone,
    settings: &WorldSettings<V>,
    last_step: f32,
) -> f32 {
    let (mut count, mut free, mut fastest) = (0usize, 0usize, 0.0f32);
    let (mut low, mut high) = (f32::MAX, f32::MIN);
    for particle in particles.clone() {
        count += 1;
        free += usize::from(particle.density_impulse == 0.0 && particle.divergence_impulse == 0.0);
        fastest = fastest.max(particle.velocity.length_squared());
        let depth = particle.position.dot(settings.gravity);
        (low, high) = (low.min(depth), high.max(depth));
    }
    let fastest = fastest.sqrt();
    if settings.method == FluidMethod::Wcsph {
        return (1.6 * fastest).max(0.5 * (settings.wcsph.sound_speed + fastest));
    }
    if last_step == 0.0 || 2 * free >= count {
        return fastest.max((high - low).max(0.0).sqrt());
    }
    let mut samples = [0.0; PRESSURE_SAMPLES];
    let mut used = 0;
    for particle in particles.step_by(count.div_ceil(PRESSURE_SAMPLES)) {
        let pressure = particle.density_impulse / last_step + particle.divergence_impulse;
        samples[used] = pressure * particle.lightness / last_step;
        used += 1;
    }
    let rank = used.saturating_sub(1) * 99 / 100;
    let (_, high, _) = samples[..used].select_nth_unstable_by(rank, f32::total_cmp);
    fastest.max(high.max(0.0).sqrt())
}

impl<V: Vector> FluidWorld<V> {
    /// Highest speed of a particle in m/s.
    pub fn max_speed(&self) -> f32 {
        let fluid = (0..self.particles.velocities.len()).filter(|&i| !self.is_membrane(i));
        fluid.map(|i| self.particles.velocities[i].length_squared()).fold(0.0, f32::max).sqrt()
    }

    /// Smallest and largest coordinates of all particles in metres, if there are any.
    pub(crate) fn bounds(&self) -> Option<(V, V)> {
        let fluid = (0..self.particles.positions.len()).filter(|&i| !self.is_membrane(i));
        let mut positions = fluid.map(|i| self.particles.positions[i]);
        let first = positions.next()?;
        Some(positions.fold((first, first), |(low, high), x| (low.min(x), high.max(x))))
    }

    /// Speed in m/s that the CFL condition is about: the highest of a particle,
    /// or sqrt(p/rho0) of the pressure that 99 % of the particles are below,
    /// the speed at which water at rest would answer to an error in it.
    ///
    /// As long as most particles are under no pressure, sqrt(g H) stands for it,
    /// H the height over which the particles are spread.
    ///
    /// Viscosity does not count: steps that are too long for it are made implicitly.
    ///
    /// With WCSPH it is what the reference asks for in these terms: the mean of
    /// the highest speed v and the speed of sound, or 1.6 v if that is more.
    ///
    /// A boundary under way and a cloth in the fluid count like a particle.
    pub fn signal_speed(&self) -> f32 {
        let particles = &self.particles;
        let fluid = &self.packed_of[..self.ids.len()];
        let present = fluid.iter().filter(|&&packed| packed != GONE);
        let fluid = signal_speed(
            present.map(|&packed| {
                let i = packed as usize;
                Signal {
                    position: particles.positions[i],
                    velocity: particles.velocities[i],
                    density_impulse: particles.density_impulses[i],
                    divergence_impulse: particles.divergence_impulses[i],
                    lightness: particles.lightness[i],
                }
            }),
            &self.settings,
            self.last_step,
        );
        fluid.max(self.wall_speed()).max(self.membrane_speed())
    }

    /// Highest speed of a boundary under way in m/s.
    pub(crate) fn wall_speed(&self) -> f32 {
        self.boundary.max_speed()
    }

    /// Measures the world as it is. All zero when it is empty.
    pub fn measure(&self) -> Measures<V> {
        let particles = &self.particles;
        let count = self.len();
        if count == 0 {
            return Measures::default();
        }
        let volume = f64::from(self.settings.spacing()).powi(V::DIM as i32);
        let gravity = self.settings.gravity.to_array().map(f64::from);
        let (mut density, mut highest, mut mass) = (0.0, 0.0f32, 0.0);
        let (mut kinetic, mut potential, mut moment) = (0.0, 0.0, [0.0f64; 3]);
        for i in (0..particles.positions.len()).filter(|&i| !self.is_membrane(i)) {
            let rho0 = 1.0 / particles.lightness[i];
            let m = volume * f64::from(rho0);
            density += f64::from(particles.densities[i] * rho0);
            highest = highest.max(particles.densities[i] * rho0);
            mass += m;
            kinetic += 0.5 * m * f64::from(particles.velocities[i].length_squared());
            let x = particles.positions[i].to_array().map(f64::from);
            for axis in 0..3 {
                moment[axis] += m * x[axis];
                potential -= m * gravity[axis] * x[axis];
            }
        }
        let (error, bulk) = self.bulk_error();
        Measures {
            mean_density: (density / count as f64) as f32,
            max_density: highest,
            mean_abs_density_error: error,
            bulk,
            kinetic_energy: kinetic as f32,
            potential_energy: potential as f32,
            center_of_mass: V::from_array(moment.map(|sum| (sum / mass) as f32)),
            max_speed: self.max_speed(),
        }
    }

    /// Mean |rho - rho0|/rho0 over the bulk, and the size of the bulk.
    fn bulk_error(&self) -> (f32, usize) {
        let particles = &self.particles;
        let support = self.settings.support_radius();
        let asymmetry = SURFACE_ASYMMETRY / support;
        // Half of a full neighbourhood on the lattice: 12 in 2D, 32 in 3D.
        let sparse = if V::DIM == 2 { 6 } else { 16 };
        let all = particles.positions.len();
        let surface: Vec<bool> = (0..all)
            .map(|i| {
                self.is_membrane(i)
                    || particles.gradient_sums[i].length_squared() > asymmetry * asymmetry
                    || particles.neighbor_counts[i] < sparse
            })
            .collect();
        let (mut sum, mut bulk) = (0.0f64, 0usize);
        for i in 0..if self.fresh { all } else { 0 } {
            let (chunk, local) = self.neighbors.of(i);
            let inside = !surface[i]
                && chunk.boundary(local).is_empty()
                && self.planes.near(particles.positions[i], support).next().is_none()
                && chunk.fluid(local).iter().all(|&j| !surface[j as usize]);
            if inside {
                sum += f64::from((particles.densities[i] - 1.0).abs());
                bulk += 1;
            }
        }
        ((sum / bulk.max(1) as f64) as f32, bulk)
    }
}
