//! What a game does to smoke between steps.

use super::Smoke;
use super::settings::SmokeScheme;
use super::source::{SourceShape, Splat, check_position};
use crate::solver::error::FluidError;
use crate::solver::fan::Fan;
use crate::solver::time_step::check_step;
use crate::solver::vector::Vector;

/// A source in a single cell, for the next step alone.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "scene", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct CellSource<V> {
    pub at: usize,
    pub channel: usize,
    /// Dye for each m^DIM and second.
    pub dye: f32,
    /// Acceleration in m/s².
    pub velocity: V,
}

impl<V: Vector> Smoke<V> {
    /// Adds an amount of dye, spread over a circle or sphere of `radius` metres
    /// around `position`, strongest in the middle. What falls outside the domain or
    /// into solids is lost; a negative amount takes dye away, down to nothing.
    /// The total does not depend on the size of cells.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for a channel that is not there or a number that
    /// is not finite, or for the radius not positive; nothing is added.
    pub fn add_dye(
        &mut self,
        channel: usize,
        position: V,
        radius: f32,
        amount: f32,
    ) -> Result<(), FluidError> {
        self.check_channel(channel)?;
        let shape = check_splat(position, radius)?;
        if !amount.is_finite() {
            return Err(FluidError::parameter("amount", amount, "finite"));
        }
        self.put_dye(channel, shape, position, amount);
        Ok(())
    }

    /// Adds a velocity in m/s to the air around `position`: all of it in the
    /// middle, less and less out to `radius` metres. The momentum does not depend
    /// on the size of cells.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for a number that is not finite or a radius that
    /// is not positive; nothing is added.
    pub fn add_velocity(
        &mut self,
        position: V,
        radius: f32,
        velocity: V,
    ) -> Result<(), FluidError> {
        let shape = check_splat(position, radius)?;
        if !velocity.is_finite() {
            return Err(FluidError::parameter("velocity", velocity, "finite components, m/s"));
        }
        let components = velocity.to_array();
        for (axis, &component) in components.iter().enumerate().take(V::DIM) {
            self.for_faces(shape, position, axis, |value, weight| *value += weight * component);
        }
        self.fill_borders();
        Ok(())
    }

    /// Lets fans take the air along for `dt` seconds. [`Smoke::advance_with`] does it
    /// before each step.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] if `dt` is not 1e-6 s to 1 s or a fan is out of
    /// range; nothing is done.
    pub fn blow(&mut self, fans: &[Fan<V>], dt: f32) -> Result<(), FluidError> {
        check_step("time_step", dt)?;
        Fan::validate_all(fans)?;
        let (domain, grid) = (self.domain, self.grid);
        for fan in fans {
            let [low, high] = fan.bounds().map(|corner| domain.place_of(corner));
            for axis in 0..V::DIM {
                // A face is counted by the cell above it.
                let shift = if self.settings.scheme == SmokeScheme::Staggered { 0.5 } else { 0.0 };
                let faces = usize::from(shift > 0.0);
                let range = |other: usize| {
                    if other >= V::DIM {
                        return 0..=0;
                    }
                    let extra = if other == axis { faces } else { 0 };
                    // Casts saturate: what lies far outside gives an empty range.
                    let from = (low[other].floor() as usize).max(1);
                    let to = (high[other].ceil() as usize).saturating_add(1);
                    from..=to.min(grid.cells[other] + extra)
                };
                for k in range(2) {
                    for j in range(1) {
                        for i in range(0) {
                            let mut place = [i as f32, j as f32, k as f32];
                            place[axis] -= shift;
                            let value = &mut self.velocity[axis][grid.index(i, j, k)];
                            let mut velocity = [0.0; 3];
                            velocity[axis] = *value;
                            let position = domain.position_of(place);
                            let change = fan.change(position, V::from_array(velocity), dt);
                            *value += change.to_array()[axis];
                        }
                    }
                }
            }
        }
        self.solids.hold(&mut self.velocity);
        self.fill_borders();
        Ok(())
    }

    /// Warms the air around `position` by so many kelvin in the middle, less and
    /// less out to `radius` metres; negative cools.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for a number that is not finite or a radius that
    /// is not positive; nothing is added.
    pub fn add_temperature(
        &mut self,
        position: V,
        radius: f32,
        kelvin: f32,
    ) -> Result<(), FluidError> {
        let shape = check_splat(position, radius)?;
        if !kelvin.is_finite() {
            return Err(FluidError::parameter("kelvin", kelvin, "finite, K"));
        }
        self.for_cells(shape, position, |smoke, at, weight| {
            smoke.excess[at] += weight * kelvin;
        });
        self.heated = true;
        Ok(())
    }

    /// Sets the dye of a channel, for each m^DIM, by a function of the middle of
    /// each cell. Solid cells get none.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for a channel that is not there or a value that is
    /// not finite; cells before it are set.
    pub fn fill_dye(
        &mut self,
        channel: usize,
        mut value: impl FnMut(V) -> f32,
    ) -> Result<(), FluidError> {
        self.check_channel(channel)?;
        let grid = self.grid;
        for row in grid.inner_rows() {
            for i in 1..=grid.cells[0] {
                let position = self.domain.position_of([i as f32, row.j as f32, row.k as f32]);
                let value = value(position);
                if !value.is_finite() {
                    return Err(FluidError::parameter("dye", value, "finite"));
                }
                let at = grid.index(i, row.j, row.k);
                self.dye[channel][at] = if self.solids.contains(at) { 0.0 } else { value };
            }
        }
        self.fill_borders();
        Ok(())
    }

    /// Sets the velocity of the air in m/s by a function of position, asked in the
    /// middle of each face for the component across it.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for a value that is not finite; faces before it are set.
    pub fn fill_velocity(&mut self, mut value: impl FnMut(V) -> V) -> Result<(), FluidError> {
        let grid = self.grid;
        let staggered = self.settings.scheme == SmokeScheme::Staggered;
        for axis in 0..V::DIM {
            let last = |other: usize| grid.cells[other] + usize::from(staggered && other == axis);
            for k in if V::DIM == 3 { 1..=last(2) } else { 0..=0 } {
                for j in 1..=last(1) {
                    for i in 1..=last(0) {
                        let mut place = [i as f32, j as f32, k as f32];
                        if staggered {
                            place[axis] -= 0.5;
                        }
                        let velocity = value(self.domain.position_of(place));
                        if !velocity.is_finite() {
                            let allowed = "finite components, m/s";
                            return Err(FluidError::parameter("velocity", velocity, allowed));
                        }
                        self.velocity[axis][grid.index(i, j, k)] = velocity.to_array()[axis];
                    }
                }
            }
        }
        self.solids.hold(&mut self.velocity);
        self.fill_borders();
        Ok(())
    }

    /// Adds to one cell, counted from 0 along each axis, for the next step: dye
    /// for each m^DIM and second, and an acceleration in m/s². This is how the
    /// program that the stable fluids scheme comes from is fed.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for a cell or channel that is not there, or a
    /// number that is not finite.
    pub fn add_cell_source(
        &mut self,
        cell: [u32; 3],
        channel: usize,
        dye: f32,
        velocity: V,
    ) -> Result<(), FluidError> {
        self.check_channel(channel)?;
        let cells = &self.domain.cells;
        if (0..V::DIM).any(|axis| cell[axis] >= cells[axis]) {
            let allowed = format_args!("below {:?}", &cells[..V::DIM]).to_string();
            return Err(FluidError::parameter("cell", &cell[..V::DIM], allowed));
        }
        if !dye.is_finite() || !velocity.is_finite() {
            return Err(FluidError::parameter("source", (dye, velocity), "finite numbers"));
        }
        let last = if V::DIM == 3 { cell[2] as usize + 1 } else { 0 };
        let at = self.grid.index(cell[0] as usize + 1, cell[1] as usize + 1, last);
        self.cell_sources.push(CellSource { at, channel, dye, velocity });
        Ok(())
    }

    /// Removes all dye, heat and motion; settings, obstacles and sources stay.
    pub fn clear(&mut self) {
        for field in self.velocity.iter_mut().chain(&mut self.dye) {
            field.fill(0.0);
        }
        self.excess.fill(0.0);
        self.pressure.fill(0.0);
        self.cell_sources.clear();
        self.heated = false;
        if self.settings.scheme == SmokeScheme::Staggered {
            self.solids.hold(&mut self.velocity);
            self.fill_borders();
        }
    }

    fn check_channel(&self, channel: usize) -> Result<(), FluidError> {
        if channel < self.dye.len() {
            return Ok(());
        }
        let allowed = format_args!("below {}", self.dye.len()).to_string();
        Err(FluidError::parameter("channel", channel, allowed))
    }

    /// What lasting sources, and those of single cells, do in a step.
    pub(super) fn emit(&mut self) {
        let dt = self.stats.dt;
        let sources = core::mem::take(&mut self.sources);
        for source in &sources {
            for (channel, &rate) in source.dye_rates.iter().enumerate() {
                if rate != 0.0 {
                    self.put_dye(channel, source.shape, source.position, rate * dt);
                }
            }
            if let Some(temperature) = source.temperature {
                let excess = temperature - self.settings.ambient_temperature;
                self.for_cells(source.shape, source.position, |smoke, at, weight| {
                    smoke.excess[at] += weight.min(1.0) * (excess - smoke.excess[at]);
                });
                self.heated = true;
            }
            if let Some(velocity) = source.velocity {
                let components = velocity.to_array();
                for (axis, &component) in components.iter().enumerate().take(V::DIM) {
                    self.for_faces(source.shape, source.position, axis, |value, weight| {
                        *value += weight.min(1.0) * (component - *value);
                    });
                }
            }
        }
        self.sources = sources;
        if self.settings.scheme == SmokeScheme::Staggered {
            self.emit_in_cells(dt);
        }
    }

    fn emit_in_cells(&mut self, dt: f32) {
        for source in &self.cell_sources {
            if self.solids.contains(source.at) {
                continue;
            }
            self.dye[source.channel][source.at] += dt * source.dye;
            let components = source.velocity.to_array();
            for axis in 0..V::DIM {
                // Half to each face, so that the cell's mean is what was asked for.
                let field = &mut self.velocity[axis];
                field[source.at] += dt * components[axis];
                field[source.at + self.grid.stride[axis]] += dt * components[axis];
            }
        }
        self.cell_sources.clear();
    }

    fn put_dye(&mut self, channel: usize, shape: SourceShape<V>, position: V, amount: f32) {
        let splat = Splat::new(&self.domain, shape, position, [0.0; 3]).unscaled();
        let density = amount / (splat.volume() * self.domain.cell_volume());
        if !density.is_finite() {
            return;
        }
        self.for_places(&splat, |smoke, at, weight| {
            let value = &mut smoke.dye[channel][at];
            *value = (*value + weight * density).max(if density < 0.0 { 0.0 } else { *value });
        });
    }

    /// Calls `work` for each free cell of a shape with its weight.
    fn for_cells(
        &mut self,
        shape: SourceShape<V>,
        position: V,
        work: impl FnMut(&mut Self, usize, f32),
    ) {
        self.for_places(&Splat::new(&self.domain, shape, position, [0.0; 3]), work);
    }

    /// Calls `work` for each free cell of a splat with its weight.
    fn for_places(&mut self, splat: &Splat, mut work: impl FnMut(&mut Self, usize, f32)) {
        let within = self.grid.cells.map(|cells| [1, cells as i32]);
        let within = if V::DIM == 3 { within } else { [within[0], within[1], [0, 0]] };
        let grid = self.grid;
        splat.for_each_within(within, |place, weight| {
            let [i, j, k] = place.map(|place| place as usize);
            let at = grid.index(i, j, k);
            if !self.solids.contains(at) {
                work(self, at, weight);
            }
        });
        self.fill_borders();
    }

    /// Calls `work` for each velocity along an axis in a shape with its weight.
    fn for_faces(
        &mut self,
        shape: SourceShape<V>,
        position: V,
        axis: usize,
        mut work: impl FnMut(&mut f32, f32),
    ) {
        let grid = self.grid;
        let mut shift = [0.0; 3];
        let mut within = grid.cells.map(|cells| [1, cells as i32]);
        if V::DIM == 2 {
            within[2] = [0, 0];
        }
        if self.settings.scheme == SmokeScheme::Staggered {
            // A face is counted by the cell above it.
            shift[axis] = -0.5;
            within[axis][1] += 1;
        }
        let splat = Splat::new(&self.domain, shape, position, shift);
        let field = &mut self.velocity[axis];
        splat.for_each_within(within, |place, weight| {
            let [i, j, k] = place.map(|place| place as usize);
            work(&mut field[grid.index(i, j, k)], weight);
        });
        self.solids.hold_axis(axis, field);
    }
}

fn check_splat<V: Vector>(position: V, radius: f32) -> Result<SourceShape<V>, FluidError> {
    check_position(position)?;
    let shape = SourceShape::Ball { radius };
    shape.validate()?;
    Ok(shape)
}
