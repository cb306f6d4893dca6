//! Smoke: dye and heat in air on a grid, in a box.
//!
//! The air is incompressible. Its velocities lie on the faces of cells (the MAC
//! grid of Harlow & Welch 1965), dye and temperature in their middle. A step adds
//! forces, frees the velocity from divergence by a projection, and carries
//! velocity, dye and temperature along it (Stam 1999, "Stable fluids").

mod advect;
mod advect_rows;
mod border;
mod diffuse;
mod domain;
mod dye;
mod edit;
mod forces;
mod gradient;
mod grid;
mod multigrid;
mod obstacle;
mod packed;
mod pass;
mod project;
mod reference;
mod resample;
pub mod scene;
mod settings;
mod solids;
mod solve;
mod source;
mod state;
mod stats;
mod stencil;
mod step;
mod trace;
mod tracers;
mod view;
mod wave;

pub use domain::{MAX_CELLS, MAX_CELLS_ALONG, MIN_CELLS, SmokeDomain};
pub use obstacle::SmokeObstacle;
pub use settings::{
    Advection, Border, SmokePressure, SmokeScheme, SmokeSettings, Splitting, TotalDye, Walls,
};
pub use source::{SmokeSource, SourceShape};
pub use state::SmokeState;
pub use stats::{SmokeStage, SmokeStats};
pub use tracers::Tracers;
pub use view::SmokeView;

use self::edit::CellSource;
use self::grid::Grid;
use self::project::Projection;
use self::solids::Solids;
use super::error::FluidError;
use super::vector::Vector;

/// Most channels of dye.
pub const MAX_CHANNELS: usize = 16;

/// A box of air with dye in it.
///
/// ```
/// use bevy_fluid::solver::parallel::Threads;
/// use bevy_fluid::solver::smoke::{Smoke, SmokeDomain, SmokeSettings};
/// use bevy_math::Vec2;
///
/// let domain = SmokeDomain { min: Vec2::ZERO, size: Vec2::splat(2.0), cells: [64, 64, 1] };
/// let mut smoke = Smoke::new(domain, SmokeSettings::default(), 1)?;
/// smoke.add_dye(0, Vec2::new(1.0, 0.5), 0.2, 1.0)?;
/// smoke.add_velocity(Vec2::new(1.0, 0.5), 0.2, Vec2::Y)?;
/// for _ in 0..10 {
///     smoke.step(smoke.settings().time_step, Threads::Serial)?;
/// }
/// assert!(smoke.velocity_at(Vec2::new(1.0, 0.6)).y > 0.0);
/// # Ok::<(), bevy_fluid::solver::error::FluidError>(())
/// ```
#[derive(Debug)]
pub struct Smoke<V: Vector> {
    domain: SmokeDomain<V>,
    settings: SmokeSettings,
    grid: Grid,
    /// Velocities in m/s, on the lower face of each cell along each axis.
    velocity: [Vec<f32>; 3],
    /// Dye for each m^DIM in the middle of cells, channel by channel.
    dye: Vec<Vec<f32>>,
    /// Temperature above that of the surroundings in K.
    excess: Vec<f32>,
    /// Whether any excess may differ from 0.
    heated: bool,
    /// Pressure times dt/(rho h) in m/s, by colours: where the next solve starts.
    pressure: Vec<f32>,
    obstacles: Vec<SmokeObstacle<V>>,
    sources: Vec<SmokeSource<V>>,
    cell_sources: Vec<CellSource<V>>,
    solids: Solids,
    projection: Projection,
    work: Work,
    stats: SmokeStats,
    time: f64,
    steps: u64,
    /// Time of the caller not yet spent in steps, in seconds.
    unspent: f64,
}

/// Fields that a step writes before it reads them.
#[derive(Debug, Default)]
struct Work {
    next: [Vec<f32>; 3],
    trace: [Vec<f32>; 3],
    ahead: Vec<f32>,
    carried: Vec<f32>,
    sums: Vec<f64>,
    longest: Vec<f32>,
}

impl<V: Vector> Smoke<V> {
    /// A domain of still air without dye, with so many channels, 1 to 16.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] if the domain or a setting is out of range.
    pub fn new(
        domain: SmokeDomain<V>,
        settings: SmokeSettings,
        channels: usize,
    ) -> Result<Self, FluidError> {
        domain.validate().map_err(|error| error.within("domain"))?;
        if !(1..=MAX_CHANNELS).contains(&channels) {
            let allowed = format_args!("1 to {MAX_CHANNELS}").to_string();
            return Err(FluidError::parameter("channels", channels, allowed));
        }
        check_settings(&settings, &domain)?;
        let grid = domain.grid();
        let field = || vec![0.0; grid.len()];
        let vector =
            || core::array::from_fn(|axis| if axis < V::DIM { field() } else { Vec::new() });
        let mut smoke = Self {
            domain,
            grid,
            velocity: vector(),
            dye: (0..channels).map(|_| field()).collect(),
            excess: field(),
            heated: false,
            pressure: field(),
            obstacles: Vec::new(),
            sources: Vec::new(),
            cell_sources: Vec::new(),
            solids: Solids::new(grid),
            projection: Projection::new(grid, settings.borders()),
            work: Work {
                next: vector(),
                trace: vector(),
                ahead: field(),
                carried: field(),
                sums: vec![0.0; grid.chunks()],
                longest: vec![0.0; grid.chunks()],
            },
            stats: SmokeStats { total_dye: vec![0.0; channels], ..SmokeStats::default() },
            time: 0.0,
            steps: 0,
            unspent: 0.0,
            settings,
        };
        smoke.rebuild_solids()?;
        Ok(smoke)
    }

    /// The domain.
    pub fn domain(&self) -> &SmokeDomain<V> {
        &self.domain
    }

    /// The settings.
    pub fn settings(&self) -> &SmokeSettings {
        &self.settings
    }

    /// Changes the settings; what the air does goes on from where it is.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for a value out of range; the old settings stay.
    pub fn set_settings(&mut self, settings: SmokeSettings) -> Result<(), FluidError> {
        check_settings(&settings, &self.domain)?;
        let old = core::mem::replace(&mut self.settings, settings);
        if old.scheme != self.settings.scheme {
            self.move_velocities(self.settings.scheme);
        }
        if old.borders() != self.settings.borders() {
            self.projection = Projection::new(self.grid, self.settings.borders());
            self.pressure.fill(0.0);
            self.rebuild_solids()?;
        }
        self.fill_borders();
        Ok(())
    }

    /// Number of channels of dye.
    pub fn channels(&self) -> usize {
        self.dye.len()
    }

    /// Figures of the last step.
    pub fn stats(&self) -> &SmokeStats {
        &self.stats
    }

    /// Simulated time in seconds.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Steps since the start.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The solid bodies.
    pub fn obstacles(&self) -> &[SmokeObstacle<V>] {
        &self.obstacles
    }

    /// Replaces the solid bodies. Dye in the way of one moves to the nearest
    /// free cell along an axis.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for an impossible body; the old ones stay.
    pub fn set_obstacles(
        &mut self,
        obstacles: impl IntoIterator<Item = SmokeObstacle<V>>,
    ) -> Result<(), FluidError> {
        let obstacles: Vec<_> = obstacles.into_iter().collect();
        for (index, obstacle) in obstacles.iter().enumerate() {
            let valid = obstacle.validate();
            valid.map_err(|error| error.within(format_args!("obstacles[{index}]")))?;
        }
        if obstacles == self.obstacles {
            return Ok(());
        }
        let old = core::mem::replace(&mut self.obstacles, obstacles);
        if let Err(error) = self.rebuild_solids() {
            self.obstacles = old;
            self.rebuild_solids()?;
            return Err(error);
        }
        self.push_out();
        Ok(())
    }

    /// Moves a solid body to a position, where its faces have a velocity in m/s.
    /// Allocates nothing once the solid cells have been as many.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for a body that is not there or a number that is
    /// not finite; nothing is moved.
    pub fn move_obstacle(
        &mut self,
        index: usize,
        position: V,
        velocity: V,
    ) -> Result<(), FluidError> {
        let count = self.obstacles.len();
        let Some(obstacle) = self.obstacles.get_mut(index) else {
            let allowed = format_args!("below {count}").to_string();
            return Err(FluidError::parameter("obstacle", index, allowed));
        };
        if !position.is_finite() || !velocity.is_finite() {
            let allowed = "finite components, m and m/s";
            return Err(FluidError::parameter("motion", (position, velocity), allowed));
        }
        if (obstacle.position, obstacle.velocity) == (position, velocity) {
            return Ok(());
        }
        (obstacle.position, obstacle.velocity) = (position, velocity);
        self.rebuild_solids()?;
        self.push_out();
        Ok(())
    }

    /// The lasting sources.
    pub fn sources(&self) -> &[SmokeSource<V>] {
        &self.sources
    }

    /// Replaces the lasting sources.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for an impossible source, or one with more
    /// channels than there are; the old ones stay.
    pub fn set_sources(
        &mut self,
        sources: impl IntoIterator<Item = SmokeSource<V>>,
    ) -> Result<(), FluidError> {
        let sources: Vec<_> = sources.into_iter().collect();
        for (index, source) in sources.iter().enumerate() {
            let name = format_args!("sources[{index}]").to_string();
            source.validate().map_err(|error| error.within(&name))?;
            if source.dye_rates.len() > self.dye.len() {
                let allowed = format_args!("at most {} channels", self.dye.len()).to_string();
                let rates = source.dye_rates.len();
                return Err(FluidError::parameter("dye_rates", rates, allowed).within(&name));
            }
        }
        self.sources = sources;
        Ok(())
    }

    /// Bytes of all buffers.
    pub fn memory(&self) -> usize {
        let Work { next, trace, ahead, carried, sums, longest } = &self.work;
        let fields = self.velocity.iter().chain(next).chain(trace).chain(&self.dye);
        let fields = fields.chain([&self.excess, &self.pressure, ahead, carried, longest]);
        4 * fields.map(Vec::capacity).sum::<usize>()
            + 8 * sums.capacity()
            + self.solids.bytes()
            + self.projection.bytes()
    }

    /// Marks the solid cells anew.
    fn rebuild_solids(&mut self) -> Result<(), FluidError> {
        let borders = self.settings.borders();
        self.solids.clear();
        for (index, obstacle) in self.obstacles.iter().enumerate() {
            let marked = obstacle.mark(&self.domain, borders, &mut self.solids);
            marked.map_err(|error| error.within(format_args!("obstacles[{index}].shape")))?;
        }
        self.solids.measure(&self.grid, borders);
        let solids = &self.solids;
        self.projection.multigrid_mut().rebuild(|at| solids.contains(at));
        // What an equation no longer covers must not be read as a neighbour.
        let inverse = &self.projection.multigrid().fine().inverse;
        for (pressure, inverse) in self.pressure.iter_mut().zip(inverse) {
            if *inverse == 0.0 {
                *pressure = 0.0;
            }
        }
        self.projection.multigrid().fine().wrap(&mut self.pressure);
        if self.settings.scheme == SmokeScheme::Staggered {
            self.solids.hold(&mut self.velocity);
            self.fill_borders();
        }
        Ok(())
    }

    /// Moves dye out of solid cells, and gives them no heat.
    fn push_out(&mut self) {
        if !self.solids.any() {
            return;
        }
        let grid = self.grid;
        let solids = &self.solids;
        for row in grid.inner_rows() {
            for i in 1..=grid.cells[0] {
                let at = grid.index(i, row.j, row.k);
                if !solids.contains(at) {
                    continue;
                }
                self.excess[at] = 0.0;
                if self.dye.iter().all(|dye| dye[at] == 0.0) {
                    continue;
                }
                let place = [i, row.j, row.k];
                let free = nearest_free(&grid, solids, place);
                for dye in &mut self.dye {
                    let amount = core::mem::take(&mut dye[at]);
                    if let Some(free) = free {
                        dye[free] += amount;
                    }
                }
            }
        }
        self.fill_borders();
    }
}

/// The nearest cell along an axis that is not solid.
fn nearest_free(grid: &Grid, solids: &Solids, place: [usize; 3]) -> Option<usize> {
    let at = grid.index(place[0], place[1], place[2]);
    let longest = grid.cells.into_iter().max().unwrap_or(0);
    (1..longest).find_map(|distance| {
        (0..grid.dim).find_map(|axis| {
            let away = distance * grid.stride[axis];
            let above = (place[axis] + distance <= grid.cells[axis]).then(|| at + away);
            let below = (place[axis] > distance).then(|| at - away);
            [above, below].into_iter().flatten().find(|&at| !solids.contains(at))
        })
    })
}

fn check_settings<V: Vector>(
    settings: &SmokeSettings,
    domain: &SmokeDomain<V>,
) -> Result<(), FluidError> {
    settings.validate()?;
    let borders = settings.borders();
    for (axis, name) in ["border_x", "border_y", "border_z"].into_iter().enumerate().take(V::DIM) {
        if borders[axis] == Border::Periodic && !domain.cells[axis].is_multiple_of(2) {
            let allowed = "closed or open with an odd number of cells along the axis";
            return Err(FluidError::parameter(name, borders[axis], allowed));
        }
    }
    Ok(())
}
