//! Keeps particles from crossing walls in steps that are long for their speed.
//!
//! Pressure acts by what is around a particle at the start of a step. One that
//! covers more than a spacing or so in it is beyond a wall of one layer of
//! samples before it feels the wall. So the path of each particle beside a wall
//! is followed as the wall sees it (continuous collision detection), and where
//! it leads deeper into the wall the particle loses the part of its velocity
//! that takes it there, as in an inelastic impact.
//!
//! How deep a place is in a wall tells the wall's share of the density there,
//! phi(x) = sum_k V_k W(x - x_k): the volumes of the samples are such that it is
//! one on the surface (Akinci et al. 2012), whatever their spacing, and it falls
//! evenly from there, so that -grad phi is the normal.

use core::sync::atomic::{AtomicU32, Ordering};

use super::{FluidWorld, coincident};
use crate::solver::boundary::BoundarySet;
use crate::solver::grid::Rows;
use crate::solver::kernel::CubicSpline;
use crate::solver::parallel::{CHUNK, Threads, chunks_mut, for_each_chunk, numbers};
use crate::solver::periodic::Periodic;
use crate::solver::vector::Vector;

/// phi from which on a place is in a wall, and no path that is bent leads: 0.7
/// spacings from a wall of one layer, 0.5 from the samples of a solid. Water at
/// rest is 1 spacing or more from both, where phi is below 0.25.
const INSIDE: f32 = 0.5;

/// phi that a path has to lead to for being bent at all, 0.4 spacings from a wall
/// of one layer: pressure turns back what only dips into a wall. On a surface that
/// is covered unevenly phi is 0.83 or more, and in the reference's breaking dam,
/// whose traces are to be met, it does not exceed 0.797.
const CROSSING: f32 = 0.8;

/// Distance in spacings from the nearest sample beyond which no place is in a
/// wall, whatever phi: in a corner, water at rest feels several walls. More than
/// the 0.75 spacings that a place on a surface is from a sample at most.
const SHELL: f32 = 0.85;

/// Length in spacings of the pieces in which a path is followed beside a wall:
/// short enough not to lead from outside of a wall past the middle of its layer.
const PIECE: f32 = 0.25;

/// Pieces after which a path ends. Where no wall is near, one is a spacing long.
const MOST_PIECES: u32 = 256;

/// Tries to bend a piece along the walls, one for each that meet in a corner.
const TRIES: u32 = 3;

/// Distance in spacings from a sample within which a particle as deep in a wall as
/// that may not come closer to it: none can pass between samples then. In a corner
/// phi is that of several walls, and so by going away from one a particle could
/// go on into another.
const CORE: f32 = 0.8;

/// |grad phi| times the spacing below which a place is in the middle of a wall,
/// with no side to be on.
const FLAT: f32 = 0.05;

/// Part of a velocity that is along a wall as far as rounding lets one tell.
const ALONG: f32 = 1e-4;

/// What the samples around a place say of it.
struct Walls<V> {
    /// phi.
    share: f32,
    gradient: V,
    /// Mean velocity of the samples in m/s.
    velocity: V,
    /// Distance in metres of the nearest sample, at most that to the end of the search.
    nearest: f32,
}

/// How far a particle has come in a step.
#[derive(Clone, Copy)]
struct Path<V> {
    place: V,
    velocity: V,
    /// Seconds since the start of the step.
    time: f32,
}

impl<V: Vector> Path<V> {
    /// It `piece` seconds later.
    fn after(self, piece: f32) -> Self {
        Self { place: self.place + self.velocity * piece, time: self.time + piece, ..self }
    }
}

/// The walls of a world during a step.
struct Guard<'a, V: Vector> {
    boundary: &'a BoundarySet<V>,
    kernel: &'a CubicSpline<V>,
    periodic: &'a Periodic,
    dt: f32,
    /// Whether any sample moves, and the highest speed of one in m/s.
    moving: bool,
    wall_speed: f32,
    spacing: f32,
    /// [`SHELL`] in metres.
    shell: f32,
}

impl<V: Vector> FluidWorld<V> {
    /// Moves the particles by their velocities, and holds back those that would
    /// cross a wall. Lists that are not those of the present positions are not read.
    pub(super) fn move_particles(&mut self, dt: f32, threads: Threads) {
        let FluidWorld { settings, kernel, particles, neighbors, boundary, planes, .. } = self;
        let spacing = settings.spacing();
        let wall_speed = boundary.max_speed();
        let guard = Guard {
            boundary,
            kernel,
            periodic: &settings.periodic,
            dt,
            moving: wall_speed > 0.0,
            wall_speed,
            spacing,
            shell: SHELL * spacing,
        };
        let held = AtomicU32::new(0);
        let places = &particles.places;
        // A sample of a membrane is put back by what it belongs to.
        let fluid = self.ids.len();
        let advance = |i: usize, position: &mut V, velocity: &mut V, near: bool| {
            let start = *position;
            *position += *velocity * dt;
            let walls = if near && (places[i] as usize) < fluid {
                guard.follow(start, *velocity)
            } else {
                None
            };
            if let Some(end) = walls {
                (*position, *velocity) = end;
            }
            let stopped = planes.hold(start, position, velocity);
            if walls.is_some() || stopped {
                held.fetch_add(1, Ordering::Relaxed);
            }
        };
        let moved = (
            numbers(),
            chunks_mut(&mut particles.positions),
            chunks_mut(&mut particles.velocities),
        );
        if self.fresh && guard.boundary.len() > 0 {
            let (index, positions, velocities) = moved;
            let parts = (index, positions, velocities, neighbors.chunks());
            for_each_chunk(threads, parts, |(index, positions, velocities, lists)| {
                for local in 0..positions.len() {
                    let (x, v) = (&mut positions[local], &mut velocities[local]);
                    let near = guard.may_meet(*x, *v, lists.boundary(local));
                    advance(index * CHUNK + local, x, v, near);
                }
            });
        } else {
            let near = guard.boundary.len() > 0;
            for_each_chunk(threads, moved, |(index, positions, velocities)| {
                for local in 0..positions.len() {
                    let (x, v) = (&mut positions[local], &mut velocities[local]);
                    advance(index * CHUNK + local, x, v, near);
                }
            });
        }
        if self.fresh {
            let put = |start: V, way: V| {
                let end = guard.follow(start, way * (1.0 / dt)).map(|(end, _)| end);
                let (mut end, mut velocity) = (end.unwrap_or(start + way), V::ZERO);
                planes.hold(start, &mut end, &mut velocity);
                end
            };
            coincident::part(particles, neighbors, kernel, &settings.periodic, fluid, put);
        }
        self.stats.held_back = held.into_inner();
    }
}

impl<V: Vector> Guard<'_, V> {
    /// Whether the path of a particle may lead into a wall, by the samples
    /// within a support radius of its start.
    #[inline(always)]
    fn may_meet(&self, x: V, velocity: V, samples: &[u32]) -> bool {
        let way = (velocity.length() + self.wall_speed) * self.dt;
        let reach = self.shell + way;
        if reach > self.kernel.support_radius() {
            return true;
        }
        samples.iter().any(|&k| {
            let k = k as usize;
            let offset = self.periodic.offset(x - self.boundary.positions()[k]);
            if offset.length_squared() >= reach * reach {
                return false;
            }
            let mut relative = velocity;
            if self.moving {
                relative = velocity - self.boundary.motion_of(k, self.dt);
            }
            approaches(offset, relative, self.dt, self.shell)
        })
    }

    /// Where a path that leads through a wall ends instead, and with what velocity.
    #[cold]
    fn follow(&self, start: V, velocity: V) -> Option<(V, V)> {
        // What is faster than numbers tell is soon taken out.
        if !velocity.length_squared().is_finite()
            || self.boundary.is_away_from(start, start + velocity * self.dt, self.margin())
        {
            return None;
        }
        let mut rows = Rows::default();
        self.crosses(start, velocity, &mut rows).then(|| self.bend(start, velocity, &mut rows))
    }

    /// Whether a straight path leads through a wall, or deep into one.
    fn crosses(&self, start: V, velocity: V, rows: &mut Rows) -> bool {
        let mut path = Path { place: start, velocity, time: 0.0 };
        let mut here = self.walls_at(start, 0.0, rows);
        for _ in 0..MOST_PIECES {
            if path.time >= self.dt {
                return false;
            }
            let piece = self.piece(&path, &here);
            let next = path.after(piece);
            let there = self.walls_at(next.place, next.time, rows);
            let sides = here.gradient.dot(there.gradient);
            if self.part_into_wall(&here, &there, velocity, CROSSING).is_some()
                || there.share > CROSSING && self.is_closing(&path, piece, rows)
                || here.share.min(there.share) > INSIDE && sides < 0.0
            {
                return true;
            }
            (path, here) = (next, there);
        }
        true
    }

    /// Where a path that is bent along the walls ends, and with what velocity.
    fn bend(&self, start: V, velocity: V, rows: &mut Rows) -> (V, V) {
        let mut path = Path { place: start, velocity, time: 0.0 };
        let mut here = self.walls_at(start, 0.0, rows);
        for _ in 0..MOST_PIECES {
            if path.time >= self.dt {
                break;
            }
            let piece = self.piece(&path, &here);
            let mut next = path.after(piece);
            let mut there = self.walls_at(next.place, next.time, rows);
            for _ in 0..TRIES {
                let into = self.part_into_wall(&here, &there, path.velocity, INSIDE);
                let Some(into) = into else { break };
                path.velocity -= into;
                next = path.after(piece);
                there = self.walls_at(next.place, next.time, rows);
            }
            if there.share > CROSSING && self.is_closing(&path, piece, rows) {
                // What is that deep only goes with the wall until it is pushed out.
                path.velocity = out_of_wall(&here, path.velocity);
                if self.is_closing(&path, piece, rows) {
                    path.velocity = here.velocity;
                }
                next = path.after(piece);
                there = self.walls_at(next.place, next.time, rows);
            }
            (path, here) = (next, there);
        }
        (path.place, path.velocity)
    }

    /// Seconds for which a path is followed in one piece.
    fn piece(&self, path: &Path<V>, here: &Walls<V>) -> f32 {
        let free = (here.nearest - self.shell).max(PIECE * self.spacing);
        let left = self.dt - path.time;
        let speed = path.velocity.length() + self.wall_speed;
        // Rounding must not leave a last piece of next to nothing.
        if free < 0.999 * speed * left { free / speed } else { left }
    }

    /// The part of a velocity that leads a particle into a wall, or deeper into it,
    /// the wall being where phi is above `level`.
    fn part_into_wall(
        &self,
        here: &Walls<V>,
        there: &Walls<V>,
        velocity: V,
        level: f32,
    ) -> Option<V> {
        let inside = |walls: &Walls<V>| walls.share > level && walls.nearest < self.shell;
        if !inside(there) {
            return None;
        }
        // Of one that is in a wall the next place may be on the other side.
        let side = if inside(here) { here } else { there };
        let slope = side.gradient.length();
        if slope * self.spacing < FLAT {
            return None;
        }
        let inwards = side.gradient * (1.0 / slope);
        let into = (velocity - side.velocity).dot(inwards);
        (into > ALONG * velocity.length()).then(|| inwards * into)
    }

    /// Whether a piece of a path leads closer to a sample within the core of a wall.
    fn is_closing(&self, path: &Path<V>, piece: f32, rows: &mut Rows) -> bool {
        let core = CORE * self.spacing;
        let mut closing = false;
        self.for_each_sample(path.place, path.time, rows, |_, offset, motion| {
            closing |= approaches(offset, path.velocity - motion, piece, core);
        });
        closing
    }

    /// The walls around a place, `time` seconds after the start of the step.
    fn walls_at(&self, place: V, time: f32, rows: &mut Rows) -> Walls<V> {
        let support = self.kernel.support_radius();
        let (mut share, mut gradient, mut velocity) = (0.0, V::ZERO, V::ZERO);
        let mut nearest = support * support;
        self.for_each_sample(place, time, rows, |k, offset, motion| {
            let squared = offset.length_squared();
            nearest = nearest.min(squared);
            let volume = self.boundary.volumes()[k];
            let weight = self.kernel.value(squared) * volume;
            share += weight;
            gradient += self.kernel.gradient(offset) * volume;
            velocity += motion * weight;
        });
        if share > 0.0 {
            velocity *= 1.0 / share;
        }
        Walls { share, gradient, velocity, nearest: nearest.sqrt() }
    }

    /// Calls `visit` with each sample within a support radius of a place, and some
    /// farther ones, `time` seconds after the start of the step: with its index,
    /// the offset from it and its velocity.
    #[inline(always)]
    fn for_each_sample(
        &self,
        place: V,
        time: f32,
        rows: &mut Rows,
        mut visit: impl FnMut(usize, V, V),
    ) {
        let place = self.periodic.wrap(place);
        self.periodic.for_each_image(place, 1.01 * self.kernel.support_radius(), |image| {
            self.boundary.grid().rows(image, rows);
            for k in rows.points() {
                let mut offset = place - self.boundary.positions()[k];
                let mut motion = V::ZERO;
                if self.moving {
                    motion = self.boundary.motion_of(k, self.dt);
                    offset -= motion * time;
                }
                visit(k, self.periodic.offset(offset), motion);
            }
        });
    }

    /// Distance in metres from which on no wall comes near a path in this step.
    fn margin(&self) -> f32 {
        self.shell + self.wall_speed * self.dt
    }
}

/// The part of a velocity that leads a particle straight out of a wall, on top of
/// the wall's own.
fn out_of_wall<V: Vector>(here: &Walls<V>, velocity: V) -> V {
    let squared = here.gradient.length_squared();
    let out = (here.velocity - velocity).dot(here.gradient).max(0.0);
    here.velocity - here.gradient * (out / squared.max(f32::MIN_POSITIVE))
}

/// Whether a point that is at `offset` from another and moves at `velocity`
/// relative to it for `dt` seconds comes closer to it, and within `radius`.
#[inline(always)]
fn approaches<V: Vector>(offset: V, velocity: V, dt: f32, radius: f32) -> bool {
    let along = offset.dot(velocity);
    if along >= 0.0 {
        return false;
    }
    let speed_squared = velocity.length_squared();
    let beyond = offset.length_squared() - radius * radius;
    if along + speed_squared * dt <= 0.0 {
        // Nearest at the end.
        beyond + dt * (2.0 * along + speed_squared * dt) < 0.0
    } else {
        beyond * speed_squared < along * along
    }
}
