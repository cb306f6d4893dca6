//! Smoothed particle hydrodynamics: the packed world of all bodies and the
//! stages of a step.
//!
//! A step is, in this order: [`FluidWorld::neighbor_search`],
//! [`FluidWorld::non_pressure_forces`], [`FluidWorld::density_solve`],
//! [`FluidWorld::integrate`], [`FluidWorld::divergence_solve`]. Positions move
//! in `integrate`; the search at the new positions opens `divergence_solve`,
//! so that the next step's `neighbor_search` finds the lists fresh.

mod access;
mod coarse;
mod coincident;
mod corrections;
mod depth;
mod dfsph;
mod exchange;
mod gauss_seidel;
mod guard;
mod implicit_viscosity;
mod jacobi;
mod measure;
pub(super) mod membrane;
mod packed;
mod pressure;
mod setup;
mod stages;
mod surface_tension;
mod viscosity;
mod vorticity;
mod walls;
mod wcsph;

use super::boundary::BoundarySet;
use super::grid::CellGrid;
use super::half_space::Planes;
use super::kernel::CubicSpline;
use super::neighbors::NeighborLists;
use super::particles::ParticleId;
use super::settings::{FluidMaterial, WorldSettings};
use super::stats::StepStats;
use super::vector::Vector;
use coarse::Coarse;
use gauss_seidel::Corrections;
use implicit_viscosity::ThickSolver;
use membrane::Membrane;
use packed::Packed;
use pressure::Workspace;
use vorticity::Vorticity;

pub use access::ParticleView;
pub use exchange::{BodyKey, RemovedParticle};
pub use measure::Measures;
pub(super) use measure::{Signal, signal_speed};

/// A body as the packed world knows it.
#[derive(Clone, Debug)]
struct Body {
    key: BodyKey,
    material: FluidMaterial,
    /// Range of the body's particles in the concatenation of all bodies.
    start: usize,
    end: usize,
    /// Whether it is the samples of all membranes, which come last.
    membrane: bool,
}

/// Whether particles differ in their lightness.
fn mixed(bodies: &[Body]) -> bool {
    if bodies.iter().any(|body| body.membrane) {
        return true;
    }
    let mut densities = bodies.iter().map(|body| body.material.rest_density);
    let first = densities.next();
    densities.any(|density| Some(density) != first)
}

/// All particles of all bodies in one packed copy, sorted by cell.
///
/// Bodies are gathered before a step and scattered after it, see
/// [`FluidWorld::gather`] and [`FluidWorld::scatter`].
#[derive(Debug)]
pub struct FluidWorld<V: Vector> {
    settings: WorldSettings<V>,
    kernel: CubicSpline<V>,
    bodies: Vec<Body>,
    /// Ids of all bodies' particles, body after body.
    ids: Vec<ParticleId>,
    /// Packed index of each of them, or `packed::GONE`.
    packed_of: Vec<u32>,
    particles: Packed<V>,
    /// The other half of the double buffer that sorting moves the particles into.
    unsorted: Packed<V>,
    boundary: BoundarySet<V>,
    membrane: Membrane<V>,
    planes: Planes<V>,
    grid: CellGrid,
    neighbors: NeighborLists<V>,
    workspace: Workspace<V>,
    coarse: Coarse<V>,
    /// Whether the workspace holds what the particles move by beside their velocities.
    corrected: bool,
    /// When the solves of the present step are corrected on the coarse grid.
    corrections: Corrections,
    /// Whether sweeps alone would have taken long in the last density solve.
    slow: bool,
    thick: ThickSolver<V>,
    vorticity: Vorticity,
    removed: Vec<RemovedParticle>,
    /// Whether lists, densities and diagonal belong to the present positions.
    fresh: bool,
    /// Length of the step that the pressure impulses are of, or zero.
    last_step: f32,
    /// Seconds for which DFSPH still goes easy on what WCSPH left compressed.
    transition: f32,
    /// Seconds for which fresh water still keeps some of its first compression.
    settling: f32,
    stats: StepStats,
    searches: u64,
}

impl<V: Vector> Default for FluidWorld<V> {
    fn default() -> Self {
        let settings = WorldSettings::default();
        Self {
            kernel: CubicSpline::new(settings.support_radius()),
            settings,
            bodies: Vec::new(),
            ids: Vec::new(),
            packed_of: Vec::new(),
            particles: Packed::default(),
            unsorted: Packed::default(),
            boundary: BoundarySet::default(),
            membrane: Membrane::default(),
            planes: Planes::default(),
            grid: CellGrid::default(),
            neighbors: NeighborLists::default(),
            workspace: Workspace::default(),
            coarse: Coarse::default(),
            corrected: false,
            corrections: Corrections::default(),
            slow: false,
            thick: ThickSolver::default(),
            vorticity: Vorticity::default(),
            removed: Vec::new(),
            fresh: false,
            last_step: 0.0,
            transition: 0.0,
            settling: 0.0,
            stats: StepStats::default(),
            searches: 0,
        }
    }
}

impl<V: Vector> FluidWorld<V> {
    /// The bodies of fluid.
    fn fluid_bodies(&self) -> impl Iterator<Item = &Body> {
        self.bodies.iter().filter(|body| !body.membrane)
    }
}
