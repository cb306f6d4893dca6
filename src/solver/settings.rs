//! What a world of particles is told, beside its bodies.

use super::error::FluidError;
use super::parameter::parameters;
use super::periodic::Periodic;
use super::vector::Vector;

parameters! {
    /// Material of a fluid.
    pub struct FluidMaterial {
        /// Density at rest in kg/m³, in 2D in kg/m².
        rest_density: f32 = 1000.0, Real, "kg/m^DIM", 1e-3..=1e6, step 10.0;
        /// XSPH viscosity: part of the velocity difference to its neighbours that a particle gives up in a step.
        /// (Schechter & Bridson 2012.)
        viscosity: f32 = 0.05, Real, "1", 0.0..=1.0, step 0.01;
        /// Kinematic viscosity nu, by the Laplacian of the velocity: water 1e-6, oil 1e-4, honey 5e-3.
        kinematic_viscosity: f32 = 0.0, Real, "m^2/s", 0.0..=1000.0, step 0.001;
        /// Kinematic viscosity against boundaries: what makes water stick to a wall, `FluidMaterial::NO_SLIP` times that of the fluid by no more and no less than its own.
        boundary_viscosity: f32 = 0.0, Real, "m^2/s", 0.0..=1000.0, step 0.001;
        /// Vorticity confinement: swirls get back as much as an XSPH viscosity of this strength takes from them; with more than that they grow.
        /// (Steinhoff et al. 2005.)
        vorticity_confinement: f32 = 0.0, Real, "1", 0.0..=1.0, step 0.01;
        /// Cohesion: how strongly the fluid pulls itself together into drops; the gamma of Akinci et al. 2013 at 1000 kg/m³.
        cohesion: f32 = 0.0, Real, "m/s^2", 0.0..=1000.0, step 0.1;
        /// Adhesion: how strongly boundaries pull the fluid; the beta of Akinci et al. 2013 at 1000 kg/m³.
        adhesion: f32 = 0.0, Real, "m/s^2", 0.0..=1000.0, step 0.1;
    }
}

impl FluidMaterial {
    /// Boundary viscosity over kinematic viscosity at which a flow along a wall has
    /// the wall's velocity at the wall's samples.
    ///
    /// One layer of samples whose volumes make the density right pulls more than the
    /// rows of fluid it stands for: at the distance of water at rest, 1.1 spacings,
    /// by 1/0.855 in 2D and 1/0.89 in 3D for fluid on a square lattice.
    pub const NO_SLIP: f32 = 0.85;

    /// Water at 20 °C: 998 kg/m³, 1.0e-6 m²/s. What little that is at the size
    /// of particles is drowned by the XSPH viscosity, which stays at its default.
    pub fn water() -> Self {
        Self { rest_density: 998.0, kinematic_viscosity: 1.0e-6, ..Self::default() }
    }

    /// Olive oil at 20 °C: 911 kg/m³, 9.2e-5 m²/s (0.084 Pa s), also at walls.
    pub fn oil() -> Self {
        Self::thick(911.0, 9.2e-5)
    }

    /// Honey at 20 °C: 1420 kg/m³, 7.0e-3 m²/s (10 Pa s), also at walls.
    pub fn honey() -> Self {
        Self::thick(1420.0, 7.0e-3)
    }

    /// Basaltic lava at 1150 °C: 2700 kg/m³, 0.037 m²/s (100 Pa s), also at walls.
    pub fn lava() -> Self {
        Self::thick(2700.0, 0.037)
    }

    /// A fluid that sticks to walls. XSPH would thicken it by an amount that
    /// depends on the step.
    fn thick(rest_density: f32, kinematic_viscosity: f32) -> Self {
        Self {
            rest_density,
            viscosity: 0.0,
            kinematic_viscosity,
            boundary_viscosity: Self::NO_SLIP * kinematic_viscosity,
            ..Self::default()
        }
    }
}

parameters! {
    /// Parameters of the DFSPH pressure solver (Bender & Koschier 2015).
    pub struct DfsphSettings {
        /// Mean compression below which the density solve stops, as a fraction of the rest density; the Gauss-Seidel solvers count what pressure overdoes as well.
        max_density_error: f32 = 0.001, Fraction, "1", 1e-7..=1.0, step 0.0001;
        /// Mean change of density in a step below which the divergence solve stops, as a fraction of the rest density.
        max_divergence_error: f32 = 0.005, Fraction, "1", 1e-7..=1.0, step 0.0001;
        /// Fewest iterations of the density solve.
        min_density_iterations: u32 = 2, Count, "1", 1..=10000, step 1.0;
        /// Most iterations of the density solve; at least the fewest are run.
        max_density_iterations: u32 = 100, Count, "1", 1..=10000, step 1.0;
        /// Fewest iterations of the divergence solve.
        min_divergence_iterations: u32 = 2, Count, "1", 1..=10000, step 1.0;
        /// Most iterations of the divergence solve; at least the fewest are run.
        max_divergence_iterations: u32 = 100, Count, "1", 1..=10000, step 1.0;
        /// Relaxation factor of the Jacobi iteration; above 0.65 splashes gain energy.
        relaxation: f32 = 0.5, Real, "1", 0.01..=1.0, step 0.05;
        /// Relaxation factor of the Gauss-Seidel sweeps; 1.3 is best without the coarse grid, 1.0 to 1.2 with it.
        over_relaxation: f32 = 1.1, Real, "1", 0.1..=1.9, step 0.1;
        /// Part of the last step's pressures that a solve starts from; above 0.6 still water never comes to rest.
        warm_start: f32 = 0.5, Real, "1", 0.0..=1.0, step 0.1;
        /// Compression that a step corrects at most, as a fraction of the rest density: what overlaps comes apart instead of bursting.
        max_correction: f32 = 0.05, Fraction, "1", 0.001..=1000.0, step 0.01;
        /// Compression that water keeps when it first comes under pressure, and loses over half a second, as a fraction of the rest density: with 0.002 a lattice that fits its walls a little too tightly is not thrown up.
        /// Breaking dams are truer with it; a column of 100 layers at rest, which being thrown up shakes into a better order, does not come to rest (0.15 sqrt(gH)), one of 40 does.
        initial_compression: f32 = 0.0, Fraction, "1", 0.0..=0.1, step 0.001;
    } choices {
        /// How the pressures are found.
        solver: PressureSolver;
        /// Whether there can be pressures below zero.
        negative_pressure: NegativePressure;
        /// What errors of the density are corrected by.
        density_correction: DensityCorrection;
    }
}

/// How a step of DFSPH makes up for densities that are wrong already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "scene", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "plugin", derive(bevy_reflect::Reflect))]
pub enum DensityCorrection {
    /// By velocities, as in the papers on DFSPH. A correction stays as a velocity, the
    /// error times the height of the water over a step, until something slows it: that
    /// drowns slow and viscous flows in short steps, and shakes what fits its walls a
    /// little too tightly. It holds deep water whatever the tolerances.
    #[default]
    Velocities,
    /// By moving the particles without a change of their velocities (Cornelis et al.
    /// 2019). The velocities are solved for first and see only what would compress the
    /// water in the step, and a twentieth of what is compressed already, so that deep
    /// water cannot sink unnoticed; they are solved to a twentieth of
    /// `max_density_error` for that. Where pressures may be negative they see nothing
    /// of it, and the particles are spread evenly as well (Skillen et al. 2013).
    ///
    /// Viscous flows are several times as exact, and dams stand and break as measured.
    /// It takes more sweeps: applications of the pressure operator a step in a column of
    /// 25 layers 50, or 17 at a `warm_start` of 0.9, by velocities 7; in a breaking dam of
    /// 100 layers, over 1.2 s, 83, 34 and 6.4.
    Positions,
}

impl DensityCorrection {
    /// Both ways.
    pub const ALL: [Self; 2] = [Self::Velocities, Self::Positions];

    /// Name in plain words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Velocities => "velocities",
            Self::Positions => "positions",
        }
    }
}

/// What becomes of a pressure below zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "scene", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "plugin", derive(bevy_reflect::Reflect))]
pub enum NegativePressure {
    /// It counts as zero: water parts where it is pulled at, as splashes do.
    #[default]
    Clamped,
    /// It pulls. For flows without a free surface, which fill their channel or
    /// periodic borders; splashes would clump.
    Allowed,
}

impl NegativePressure {
    /// Both rules.
    pub const ALL: [Self; 2] = [Self::Clamped, Self::Allowed];

    /// Name in plain words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Clamped => "clamped",
            Self::Allowed => "allowed",
        }
    }

    /// What a pressure does not go below.
    pub(crate) fn floor(self) -> f32 {
        match self {
            Self::Clamped => 0.0,
            Self::Allowed => f32::NEG_INFINITY,
        }
    }

    /// What density over rest density an equation of state sees at least.
    pub(crate) fn least_density(self) -> f32 {
        match self {
            Self::Clamped => 1.0,
            Self::Allowed => 0.0,
        }
    }
}

/// How a solve looks for its pressures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "scene", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "plugin", derive(bevy_reflect::Reflect))]
pub enum PressureSolver {
    /// Relaxed Jacobi iterations, as in the papers on DFSPH.
    Jacobi,
    /// Sweeps of projected Gauss-Seidel with over-relaxation (PSOR, Cryer 1971).
    GaussSeidel,
    /// Gauss-Seidel sweeps with corrections on a coarse grid where they pay, which each
    /// solve finds out by itself: a correction, which takes the time of two sweeps, comes
    /// when at the rate of the last one more than eight would still be needed. A density
    /// solve starts with one if the last took more than six sweeps, or more than two
    /// beside a correction.
    ///
    /// Both solves start with a correction in calm water, whose errors are so smooth that
    /// the sweeps' tolerance does not see them but they add up over the steps: in water
    /// at least 16 layers of particles deep whose mean v² is at most 0.05 g H. The depth H
    /// is that of an evenly filled layer with the variance of the particles' heights,
    /// H²/12. There they take no others, which would stir it up. Where densities are
    /// corrected by positions these are all, from 48 layers on. Without gravity this is
    /// [`PressureSolver::GaussSeidel`] bit for bit.
    ///
    /// Highest speed of a column of 25 layers at rest over sqrt(gH): 0.006. A breaking dam
    /// of 100 layers in steps of 5 ms takes 10 applications of the pressure operator a
    /// step, by sweeps alone 32.
    #[default]
    TwoLevel,
}

impl PressureSolver {
    /// All solvers, from the slowest to the fastest.
    pub const ALL: [Self; 3] = [Self::Jacobi, Self::GaussSeidel, Self::TwoLevel];

    /// Name in plain words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Jacobi => "Jacobi",
            Self::GaussSeidel => "Gauss-Seidel",
            Self::TwoLevel => "two-level",
        }
    }
}

parameters! {
    /// Parameters of weakly compressible SPH (Becker & Teschner 2007).
    pub struct WcsphSettings {
        /// Speed of sound. Ten times the fastest water keeps the compression below a percent; steps are as much shorter.
        sound_speed: f32 = 30.0, Real, "m/s", 0.01..=100000.0, step 1.0;
    } choices {
        /// How the pressure follows from the density.
        equation_of_state: EquationOfState;
        /// Whether there can be pressures below zero.
        negative_pressure: NegativePressure;
    }
}

/// Pressure p as a function of the density rho, c the speed of sound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "scene", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "plugin", derive(bevy_reflect::Reflect))]
pub enum EquationOfState {
    /// p = c² (rho - rho0).
    #[default]
    Linear,
    /// p = rho0 c²/7 ((rho/rho0)⁷ - 1), after Tait; stiffer where water is compressed.
    Tait,
}

impl EquationOfState {
    /// All equations.
    pub const ALL: [Self; 2] = [Self::Linear, Self::Tait];

    /// Name in plain words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Tait => "Tait",
        }
    }

    /// Pressure over rest density in m²/s² at a density over rest density;
    /// negative below 1.
    #[inline(always)]
    pub fn pressure(self, relative_density: f32, sound_speed: f32) -> f32 {
        let squared = sound_speed * sound_speed;
        match self {
            Self::Linear => squared * (relative_density - 1.0),
            Self::Tait => squared / 7.0 * (relative_density.powi(7) - 1.0),
        }
    }
}

/// How water is kept from being compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "scene", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "plugin", derive(bevy_reflect::Reflect))]
pub enum FluidMethod {
    /// Divergence-free SPH: a system of equations for the pressures of a step.
    #[default]
    Dfsph,
    /// Weakly compressible SPH: pressure from an equation of state, short steps.
    Wcsph,
}

impl FluidMethod {
    /// All methods.
    pub const ALL: [Self; 2] = [Self::Dfsph, Self::Wcsph];

    /// Name in plain words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dfsph => "DFSPH",
            Self::Wcsph => "WCSPH",
        }
    }
}

/// Settings of a world in one dimension.
#[derive(Clone, Debug, PartialEq)]
pub struct WorldSettings<V> {
    /// Gravity in m/s², any finite vector; default 9.81 m/s² along -y.
    pub gravity: V,
    /// Radius r of all particles in metres, 1e-5 to 1e5; default 0.025. The
    /// spacing is 2r and the support radius of the kernel 4r.
    pub particle_radius: f32,
    /// How water is kept from being compressed.
    pub method: FluidMethod,
    /// The parameters of DFSPH.
    pub dfsph: DfsphSettings,
    /// The parameters of WCSPH.
    pub wcsph: WcsphSettings,
    /// Borders at which space repeats itself; none by default. The coarse grid
    /// of [`PressureSolver::TwoLevel`] does not see across them, and is left out.
    pub periodic: Periodic,
}

impl<V: Vector> Default for WorldSettings<V> {
    fn default() -> Self {
        Self {
            gravity: V::from_array([0.0, -9.81, 0.0]),
            particle_radius: 0.025,
            method: FluidMethod::default(),
            dfsph: DfsphSettings::default(),
            wcsph: WcsphSettings::default(),
            periodic: Periodic::NONE,
        }
    }
}

impl<V: Vector> WorldSettings<V> {
    /// Checks every value against its range.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for the first one outside.
    pub fn validate(&self) -> Result<(), FluidError> {
        if !self.gravity.is_finite() {
            return Err(FluidError::parameter("gravity", self.gravity, "finite components, m/s^2"));
        }
        if !(1e-5..=1e5).contains(&self.particle_radius) {
            return Err(FluidError::parameter(
                "particle_radius",
                self.particle_radius,
                "1e-5 m to 1e5 m",
            ));
        }
        self.periodic.validate::<V>(self.support_radius())?;
        self.dfsph.validate().map_err(|error| error.within("dfsph"))?;
        self.wcsph.validate().map_err(|error| error.within("wcsph"))
    }

    /// Whether the pressure is corrected on a coarse grid where that pays.
    pub(crate) fn has_coarse_grid(&self) -> bool {
        self.method == FluidMethod::Dfsph
            && self.dfsph.solver == PressureSolver::TwoLevel
            && self.gravity != V::ZERO
            && self.periodic.is_none()
    }

    /// Particle spacing d = 2r in metres.
    pub fn spacing(&self) -> f32 {
        2.0 * self.particle_radius
    }

    /// Support radius h = 4r of the kernel in metres.
    pub fn support_radius(&self) -> f32 {
        4.0 * self.particle_radius
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy_math::Vec2;

    #[test]
    fn refused_settings_name_the_parameter_and_valid_twins_pass() {
        let settings = WorldSettings::<Vec2>::default();
        assert!(settings.validate().is_ok());
        for bad in [0.0, -0.025, f32::NAN, f32::INFINITY] {
            let error = WorldSettings { particle_radius: bad, ..settings.clone() };
            let error = error.validate().unwrap_err().to_string();
            assert!(error.starts_with("particle_radius is"), "{error}");
            let material = FluidMaterial { rest_density: bad, ..Default::default() };
            let error = material.validate().unwrap_err().to_string();
            assert!(error.starts_with("rest_density is"), "{error}");
        }
        let sideways = WorldSettings { gravity: Vec2::new(f32::NAN, 0.0), ..settings.clone() };
        assert!(sideways.validate().is_err());
        let mut strict = settings;
        strict.dfsph.max_density_error = 0.0;
        let error = strict.validate().unwrap_err().to_string();
        assert!(error.starts_with("dfsph.max_density_error is 0"), "{error}");
        strict.dfsph.max_density_error = 1e-5;
        assert!(strict.validate().is_ok());
    }
}
