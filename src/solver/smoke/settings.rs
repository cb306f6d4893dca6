//! What a domain of smoke is told.

use crate::solver::parameter::{choice, parameters};

parameters! {
    /// Parameters of smoke. All of them may change while it runs.
    pub struct SmokeSettings {
        /// Kinematic viscosity nu of the air; 1.5e-5 in nature, where grids as coarse as a game's add more of their own.
        viscosity: f32 = 0.0, Real, "m^2/s", 0.0..=1000.0, step 0.0001;
        /// Diffusion coefficient of dye and temperature.
        diffusion: f32 = 0.0, Real, "m^2/s", 0.0..=1000.0, step 0.0001;
        /// Most iterations of a solve, for pressure or diffusion; the reference's solver always runs so many sweeps.
        iterations: u32 = 50, Count, "1", 1..=10000, step 1.0;
        /// Largest divergence that a projection leaves, as a fraction of the largest before it.
        tolerance: f32 = 0.001, Fraction, "1", 1e-6..=1.0, step 0.0001;
        /// Projections in a step: 1, or 2 to free the advected velocity from divergence as well before dye follows it.
        projections: u32 = 1, Count, "1", 1..=2, step 1.0;
        /// Acceleration along +y of air warmer than its surroundings, for each kelvin: g/T in nature.
        buoyancy: f32 = 0.033, Real, "m/s^2/K", -1000.0..=1000.0, step 0.001;
        /// Temperature of the surroundings, and of all air at the start.
        ambient_temperature: f32 = 293.0, Real, "K", 0.0..=100000.0, step 1.0;
        /// Rate at which the temperature falls to that of the surroundings.
        cooling: f32 = 0.2, Real, "1/s", 0.0..=1000.0, step 0.01;
        /// Rate at which dye fades.
        dissipation: f32 = 0.0, Real, "1/s", 0.0..=1000.0, step 0.01;
        /// Vorticity confinement epsilon: gives back eddies that the grid smooths away (Fedkiw et al. 2001, equation 11).
        vorticity_confinement: f32 = 0.0, Real, "1", 0.0..=100.0, step 0.05;
        /// Length of a step.
        time_step: f32 = 0.016666668, Real, "s", 1e-6..=1.0, step 0.001;
    } choices {
        /// Which solver runs.
        scheme: SmokeScheme;
        /// How fields are carried along.
        advection: Advection;
        /// Whether air takes the last pressure's gradient along.
        splitting: Splitting;
        /// How a projection finds its pressure.
        pressure: SmokePressure;
        /// Whether advection keeps the total of each dye.
        total_dye: TotalDye;
        /// What the air does at solid walls.
        walls: Walls;
        /// The two borders across x.
        border_x: Border;
        /// The two borders across y.
        border_y: Border;
        /// The two borders across z; without meaning in 2D.
        border_z: Border;
    }
}

impl SmokeSettings {
    /// The borders across each axis.
    pub fn borders(&self) -> [Border; 3] {
        [self.border_x, self.border_y, self.border_z]
    }
}

choice! {
    /// Which solver runs.
    pub enum SmokeScheme {
        /// Velocities on the faces of cells (the MAC grid of Harlow & Welch 1965):
        /// no pattern of velocities hides from the projection.
        #[default]
        Staggered = "staggered",
        /// Stable fluids as first published (Stam 2003, "Real-time fluid dynamics for
        /// games"): velocities in the middle of cells, a fixed number of Gauss-Seidel
        /// sweeps in storage order, closed borders, no obstacles, temperature or extras.
        StableFluids = "stable fluids",
    }
}

choice! {
    /// How fields are carried along by the flow.
    pub enum Advection {
        /// Semi-Lagrangian with linear interpolation: first order, smooths most.
        Plain = "plain",
        /// MacCormack's correction of it with a limiter: second order (Selle et al. 2008).
        #[default]
        MacCormack = "MacCormack",
    }
}

choice! {
    /// How the two parts of a step, advection and projection, follow each other.
    pub enum Splitting {
        /// Air is carried along as the projection left it. What advection then adds
        /// along the pressure's gradient is lost, and eddies with it.
        #[default]
        FirstOrder = "first order",
        /// The pressure acts in halves, before and after the way along which air is
        /// carried, as in the trapezoidal rule (advection-reflection: Zehnder,
        /// Narain & Thomaszewski 2018, "An advection-reflection solver for
        /// detail-preserving fluid simulation"). Eddies last; a push is felt as a
        /// pressure that swings a few times.
        SecondOrder = "second order",
    }
}

choice! {
    /// How a projection finds its pressure.
    pub enum SmokePressure {
        /// Gauss-Seidel sweeps in the order of storage, until the tolerance or the most iterations.
        Sweeps = "sweeps",
        /// Gauss-Seidel sweeps in two colours kept apart, on all threads; over-relaxed.
        RedBlack = "red-black",
        /// Conjugate gradients, preconditioned by a multigrid cycle (McAdams et al. 2010).
        #[default]
        Multigrid = "multigrid",
    }
}

choice! {
    /// Whether advection keeps the total of each dye.
    pub enum TotalDye {
        /// What interpolation loses or gains is given back where that makes no
        /// new extremes (Bermejo & Conde 2002).
        #[default]
        Kept = "kept",
        /// As interpolation leaves it.
        Free = "free",
    }
}

choice! {
    /// What the air does at solid walls: closed borders and obstacles.
    pub enum Walls {
        /// It glides along.
        #[default]
        FreeSlip = "free slip",
        /// It sticks, as far as viscosity reaches.
        NoSlip = "no slip",
    }
}

choice! {
    /// A border of the domain.
    pub enum Border {
        /// A solid wall.
        #[default]
        Closed = "closed",
        /// Still air of ambient pressure and temperature, without dye; flow goes in and out.
        Open = "open",
        /// What leaves comes in at the other side; needs an even number of cells along its axis.
        Periodic = "periodic",
    }
}
