//! What a cloth is told.

use crate::solver::parameter::{choice, parameters};

parameters! {
    /// Parameters of a cloth.
    pub struct ClothSettings {
        /// Substeps in a sixtieth of a second; a step takes as many as it is long, at least one. More of them stretch less, by the square, and lose less energy.
        substeps: u32 = 20, Count, "1", 1..=1000, step 1.0;
        /// Sweeps over all constraints in a substep, forward and backward in turn. Two belong together: one alone, or any odd number, lets a cloth with shear tremble.
        iterations: u32 = 2, Count, "1", 1..=1000, step 1.0;
        /// Stretch beyond which a substep of the scheme `Fast` sweeps more often over what does not stretch, up to six times as often at three times that stretch; 0 never does.
        strain_limit: f32 = 0.03, Fraction, "1", 0.0..=1.0, step 0.01;
        /// Relative error of length at which the sweeps of the scheme `Accurate` end early; 0 never ends them.
        tolerance: f32 = 0.0, Fraction, "1", 0.0..=1.0, step 0.0001;
        /// Rate at which velocities fade, in air at rest.
        damping: f32 = 1.0, Real, "1/s", 0.0..=1000.0, step 0.1;
        /// Stiffness along the threads: 1 does not stretch, see [`DistanceConstraint`](super::DistanceConstraint).
        stretch_stiffness: f32 = 1.0, Fraction, "1", 0.0..=1.0, step 0.01;
        /// Stiffness against shear. A cloth that cannot shear cannot drape either.
        shear_stiffness: f32 = 0.2, Fraction, "1", 0.0..=1.0, step 0.01;
        /// Flexural rigidity, the moment across a metre of cloth that bends it to a curvature of 1/m; of a rope, or in the plane, the moment itself, in N m^2. Silk has 1e-6, cotton 1e-5, leather 1e-3.
        bend_stiffness: f32 = 0.00001, Real, "N m", 0.0..=1000000.0, step 0.00001;
        /// How much farther than at rest a particle may be from the pins that it is tethered to.
        tether_slack: f32 = 0.0003, Fraction, "1", 0.0..=1.0, step 0.0001;
        /// Distance kept from colliders.
        thickness: f32 = 0.01, Real, "m", 0.0..=100.0, step 0.001;
        /// Distance that parts of the cloth keep from each other; at 0 they pass through each other, which costs nothing. Under the schemes `Fast` and `Accurate`.
        self_thickness: f32 = 0.0, Real, "m", 0.0..=100.0, step 0.001;
        /// Coefficient of friction with colliders and with itself.
        friction: f32 = 0.4, Real, "1", 0.0..=10.0, step 0.05;
        /// Density of the air.
        air_density: f32 = 1.2, Real, "kg/m^3", 0.0..=10000.0, step 0.1;
        /// Drag coefficient of a face across the wind.
        drag: f32 = 1.0, Real, "1", 0.0..=100.0, step 0.1;
        /// Lift coefficient.
        lift: f32 = 0.5, Real, "1", 0.0..=100.0, step 0.1;
        /// Stretch beyond which a constraint tears; 0 for a cloth that never does.
        tear_strain: f32 = 0.0, Fraction, "1", 0.0..=100.0, step 0.05;
        /// Speed that nothing exceeds, in sizes of the cloth a second.
        max_speed: f32 = 50.0, Real, "1/s", 0.01..=1000000.0, step 1.0;
    } choices {
        /// How the constraints are solved.
        scheme: ClothScheme;
        /// Whether pins hold all of the cloth.
        tethers: Tethers;
        /// Whether cells of a cloth in the plane may turn over.
        inversion: Inversion;
    }
}

choice! {
    /// How the constraints of a cloth are solved, by impulses in each case.
    pub enum ClothScheme {
        /// Displacements corrected along the directions at the start of a substep
        /// (SHAKE, Ryckaert et al. 1977; of second order), in sweeps forward and
        /// backward, then tethers. Solved in an order of its own.
        #[default]
        Fast = "fast",
        /// As `Fast` along the list, gravity as two half kicks, and a second pass
        /// that makes the velocities fit too (RATTLE, Andersen 1983). No tethers.
        Accurate = "accurate",
        /// The impulse-based scheme of Bender & Schmitt (2006) along the list:
        /// predicted directions, positions, then velocities. All constraints are
        /// rigid; no tethers, no limit of the speed, and pins jump to their targets.
        Reference = "reference",
    }
}

choice! {
    /// Unilateral long-range attachments (Kim, Chentanez & Müller 2012): no
    /// particle gets farther from a pin than the cloth is long between them.
    pub enum Tethers {
        /// To the two nearest pins along the cloth.
        #[default]
        Nearest = "nearest pins",
        /// None.
        Off = "off",
    }
}

choice! {
    /// What happens to cells of a cloth in the plane that have turned over, under
    /// the scheme `Fast`. In space a cloth may fold.
    pub enum Inversion {
        /// They are turned back.
        #[default]
        Untangle = "untangle",
        /// Nothing; distances do not know about sides.
        Allow = "allow",
    }
}
