//! Looking at smoke: at a point, and cell by cell for drawing.

use super::Smoke;
use super::forces::Middle;
use super::settings::SmokeScheme;
use super::trace::Sampler;
use crate::solver::vector::Vector;

/// A quantity of every cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "plugin", derive(bevy_reflect::Reflect))]
pub enum SmokeView {
    /// Dye of a channel for each m^DIM; 0 for a channel that is not there.
    Dye(usize),
    /// Temperature in K.
    Temperature,
    /// Speed in m/s.
    Speed,
    /// Pressure over density in m²/s², by the last projection of the staggered scheme.
    Pressure,
    /// Divergence in 1/s.
    Divergence,
    /// Vorticity in 1/s; in 3D its size.
    Vorticity,
}

impl SmokeView {
    /// All quantities, the first dye among them.
    pub const ALL: [Self; 6] = [
        Self::Dye(0),
        Self::Temperature,
        Self::Speed,
        Self::Pressure,
        Self::Divergence,
        Self::Vorticity,
    ];

    /// Name in plain words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dye(_) => "dye",
            Self::Temperature => "temperature",
            Self::Speed => "speed",
            Self::Pressure => "pressure",
            Self::Divergence => "divergence",
            Self::Vorticity => "vorticity",
        }
    }

    /// Whether its values may lie on both sides of zero.
    pub fn is_signed(self) -> bool {
        matches!(self, Self::Pressure | Self::Divergence | Self::Vorticity)
    }
}

impl<V: Vector> Smoke<V> {
    /// A quantity of all cells in their order, x fastest.
    pub fn view(&self, view: SmokeView) -> impl Iterator<Item = f32> + '_ {
        let grid = self.grid;
        grid.inner_rows().flat_map(move |row| {
            (1..=grid.cells[0]).map(move |i| self.value(view, [i, row.j, row.k]))
        })
    }

    /// Dye of a channel, a row of cells along x at a time; nothing for a channel
    /// that is not there.
    pub fn dye_rows(&self, channel: usize) -> impl Iterator<Item = &[f32]> {
        let grid = self.grid;
        self.dye.get(channel).into_iter().flat_map(move |dye| {
            grid.inner_rows()
                .map(move |row| &dye[row.index * grid.stride[1] + 1..][..grid.cells[0]])
        })
    }

    /// Whether each cell is solid, in the order of [`Smoke::view`].
    pub fn solid_cells(&self) -> impl Iterator<Item = bool> + '_ {
        let grid = self.grid;
        grid.inner_rows().flat_map(move |row| {
            (1..=grid.cells[0]).map(move |i| self.solids.contains(grid.index(i, row.j, row.k)))
        })
    }

    /// Velocity of all cells in their order, x fastest, in m/s.
    pub fn velocities(&self) -> impl Iterator<Item = V> + '_ {
        let grid = self.grid;
        grid.inner_rows().flat_map(move |row| {
            (1..=grid.cells[0])
                .map(move |i| V::from_array(self.cell_velocity(grid.index(i, row.j, row.k))))
        })
    }

    /// Velocity of the air at a position in m/s; none outside the domain.
    pub fn velocity_at(&self, position: V) -> V {
        self.air_at(position).unwrap_or(V::ZERO)
    }

    /// [`Smoke::velocity_at`], which tells still air from a position outside.
    pub fn air_at(&self, position: V) -> Option<V> {
        self.place(position).map(|place| self.air_in(place))
    }

    /// Velocity of the air at a place in cells.
    pub(super) fn air_in(&self, place: [f32; 3]) -> V {
        let staggered = self.settings.scheme == SmokeScheme::Staggered;
        V::from_array(core::array::from_fn(|axis| {
            if axis >= V::DIM {
                return 0.0;
            }
            let mut place = place;
            if staggered {
                place[axis] += 0.5;
            }
            self.sample(&self.velocity[axis], place)
        }))
    }

    /// Dye of a channel at a position, for each m^DIM; none outside the domain or
    /// for a channel that is not there.
    pub fn dye_at(&self, channel: usize, position: V) -> f32 {
        match (self.dye.get(channel), self.place(position)) {
            (Some(dye), Some(place)) => self.sample(dye, place),
            _ => 0.0,
        }
    }

    /// Temperature at a position in K; that of the surroundings outside the domain.
    pub fn temperature_at(&self, position: V) -> f32 {
        let excess = self.place(position).map_or(0.0, |place| self.sample(&self.excess, place));
        self.settings.ambient_temperature + excess
    }

    /// Total of a channel of dye: its integral over the domain. 0 for a channel
    /// that is not there.
    pub fn total_dye(&self, channel: usize) -> f64 {
        let rows = self.dye_rows(channel);
        let sum: f64 = rows.map(|row| row.iter().map(|&dye| f64::from(dye)).sum::<f64>()).sum();
        sum * f64::from(self.domain.cell_volume())
    }

    /// A position in cells, if it lies in the domain.
    pub(super) fn place(&self, position: V) -> Option<[f32; 3]> {
        let place = self.domain.place_of(position);
        self.holds(place).then_some(place)
    }

    /// Whether a place in cells lies in the domain.
    pub(super) fn holds(&self, place: [f32; 3]) -> bool {
        let inside =
            |axis: usize| place[axis] >= 0.5 && place[axis] <= self.grid.cells[axis] as f32 + 0.5;
        (0..V::DIM).all(inside)
    }

    fn sample(&self, field: &[f32], place: [f32; 3]) -> f32 {
        let sampler = Sampler::new(self.grid, self.settings.borders());
        if V::DIM == 3 {
            sampler.sample::<3>(field, place)
        } else {
            sampler.sample::<2>(field, place)
        }
    }

    fn cell_velocity(&self, at: usize) -> [f32; 3] {
        core::array::from_fn(|axis| {
            let field = &self.velocity[axis];
            match self.settings.scheme {
                _ if axis >= V::DIM => 0.0,
                SmokeScheme::Staggered => 0.5 * (field[at] + field[at + self.grid.stride[axis]]),
                SmokeScheme::StableFluids => field[at],
            }
        })
    }

    fn value(&self, view: SmokeView, [i, j, k]: [usize; 3]) -> f32 {
        let grid = &self.grid;
        let at = grid.index(i, j, k);
        let side = self.domain.cell_size();
        let collocated = self.settings.scheme == SmokeScheme::StableFluids;
        match view {
            SmokeView::Dye(channel) => self.dye.get(channel).map_or(0.0, |dye| dye[at]),
            SmokeView::Temperature => self.settings.ambient_temperature + self.excess[at],
            SmokeView::Speed => V::from_array(self.cell_velocity(at)).length(),
            SmokeView::Pressure => {
                let fine = self.projection.multigrid().fine();
                let dt = self.stats.dt;
                let scale = if dt > 0.0 && !collocated { side / dt } else { 0.0 };
                self.pressure[fine.at(i, j, k)] * scale
            }
            SmokeView::Divergence => {
                if self.solids.contains(at) {
                    return 0.0;
                }
                let across = |axis: usize| {
                    let (field, stride) = (&self.velocity[axis], grid.stride[axis]);
                    if collocated {
                        0.5 * (field[at + stride] - field[at - stride])
                    } else {
                        field[at + stride] - field[at]
                    }
                };
                (0..V::DIM).map(across).sum::<f32>() / side
            }
            SmokeView::Vorticity if collocated => {
                let slope = |axis: usize, along: usize| {
                    let (field, stride) = (&self.velocity[axis], grid.stride[along]);
                    (field[at + stride] - field[at - stride]) / (2.0 * side)
                };
                let z = slope(1, 0) - slope(0, 1);
                if V::DIM == 2 {
                    return z;
                }
                let (x, y) = (slope(2, 1) - slope(1, 2), slope(0, 2) - slope(2, 0));
                (x * x + y * y + z * z).sqrt()
            }
            SmokeView::Vorticity => {
                let middle = Middle { grid: *grid, velocity: &self.velocity, side };
                if V::DIM == 2 {
                    return middle.vorticity::<2>(at)[2];
                }
                let [x, y, z] = middle.vorticity::<3>(at);
                (x * x + y * y + z * z).sqrt()
            }
        }
    }
}
