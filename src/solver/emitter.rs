//! Sources that pour particles into a world.

use bevy_math::Vec3;

use super::error::FluidError;
use super::sampling::{MAX_SAMPLES, check_count};
use super::vector::Vector;

/// Part of a spacing within which the place of a new particle is taken.
const OCCUPIED: f32 = 0.8;

/// Spacings from the opening within which the water has the jet's velocity:
/// the support radius, so that the layer that comes out last is not pushed back
/// before the next one is behind it.
const MOUTH: f32 = 2.0;

/// What a source pours, and when.
///
/// The opening is a disc, in the plane a line: the end of a pipe. Particles come
/// out of it in layers a spacing apart, as evenly spread as water at rest, each at
/// the moment at which it is due, wherever that falls within a step.
///
/// Put it at the bottom of a pipe or in front of a wall: in open water it moves
/// what flows in from the sides, and adds nothing.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "scene", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "scene",
    serde(
        default,
        deny_unknown_fields,
        bound(
            serialize = "V: Vector + serde::Serialize",
            deserialize = "V: Vector + serde::Deserialize<'de>"
        )
    )
)]
#[cfg_attr(feature = "plugin", derive(bevy_reflect::Reflect))]
pub struct EmitterSettings<V> {
    /// Middle of the opening in metres, any finite vector.
    pub position: V,
    /// Direction that the water comes out in: finite and not zero, of any length.
    pub direction: V,
    /// Radius of the opening in metres, half its width in the plane: positive.
    /// One that is narrower than a particle lets one out at a time.
    pub radius: f32,
    /// Speed of the water in m/s, 0 to 1e4; at 0 none comes.
    pub speed: f32,
    /// Volume per second in m³/s (m²/s in the plane), 0 or more; at most, and
    /// where there is `None`, as much as an opening that is always full lets
    /// through: [`EmitterSettings::full_flow`]. With less there are gaps between
    /// the layers.
    pub flow: Option<f32>,
    /// Seconds until it starts, 0 or more.
    pub start: f32,
    /// Seconds until it stops, 0 or more; `None` is never.
    pub stop: Option<f32>,
    /// Volume in m³ (m² in the plane) after which it stops, 0 or more; `None` is never.
    pub max_volume: Option<f32>,
}

impl<V: Vector> Default for EmitterSettings<V> {
    fn default() -> Self {
        Self {
            position: V::ZERO,
            direction: V::from_array([0.0, -1.0, 0.0]),
            radius: 0.1,
            speed: 1.0,
            flow: None,
            start: 0.0,
            stop: None,
            max_volume: None,
        }
    }
}

impl<V: Vector> EmitterSettings<V> {
    /// Checks every value against its range.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for the first one outside.
    pub fn validate(&self) -> Result<(), FluidError> {
        if !self.position.is_finite() {
            return Err(FluidError::parameter("position", self.position, "finite components, m"));
        }
        let length = self.direction.length_squared();
        if !(length.is_finite() && length > f32::MIN_POSITIVE) {
            let allowed = "finite components, not all zero";
            return Err(FluidError::parameter("direction", self.direction, allowed));
        }
        if !(self.radius > 0.0 && self.radius.is_finite()) {
            return Err(FluidError::parameter("radius", self.radius, "positive and finite, m"));
        }
        if !(0.0..=1e4).contains(&self.speed) {
            return Err(FluidError::parameter("speed", self.speed, "0 m/s to 1e4 m/s"));
        }
        for (name, value) in [
            ("flow", self.flow),
            ("start", Some(self.start)),
            ("stop", self.stop),
            ("max_volume", self.max_volume),
        ] {
            if let Some(value) = value.filter(|value| !(*value >= 0.0 && value.is_finite())) {
                return Err(FluidError::parameter(name, value, "0 or more, finite"));
            }
        }
        Ok(())
    }

    /// Volume per second in m³/s (m²/s in the plane) that comes out if the
    /// opening is always full: the speed times the area that a layer of whole
    /// particles of a radius in metres takes. NaN where the settings are refused.
    pub fn full_flow(&self, particle_radius: f32) -> f32 {
        let spacing = 2.0 * particle_radius;
        let layer = self.validate().and_then(|()| Layer::new(self, spacing));
        layer.map_or(f32::NAN, |layer| {
            layer.count as f32 * spacing.powi(V::DIM as i32 - 1) * self.speed
        })
    }

    fn unit_direction(&self) -> V {
        self.direction * (1.0 / self.direction.length())
    }
}

/// A particle that a source lets out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EmittedParticle<V> {
    /// Position in metres at the end of the step.
    pub position: V,
    /// Velocity in m/s.
    pub velocity: V,
}

/// A source with what it has poured so far. It needs no world: whoever steps
/// it spawns what comes out.
///
/// ```
/// use bevy_fluid::solver::emitter::{EmitterSettings, FluidEmitter};
/// use bevy_math::Vec2;
///
/// let settings = EmitterSettings { radius: 0.25, speed: 2.0, ..EmitterSettings::default() };
/// let mut tap = FluidEmitter::<Vec2>::new(settings);
/// let mut water = Vec::new();
/// for _ in 0..20 {
///     water.iter_mut().for_each(|x| *x += Vec2::new(0.0, -2.0 * 0.005));
///     let new = tap.step(0.005, 0.025, water.iter().copied())?;
///     water.extend(new.iter().map(|particle| particle.position));
/// }
/// // Layers of ten particles, a spacing apart: the first one at once.
/// assert_eq!(water.len(), 40);
/// # Ok::<(), bevy_fluid::solver::error::FluidError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "scene", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "scene",
    serde(
        deny_unknown_fields,
        bound(
            serialize = "V: Vector + serde::Serialize",
            deserialize = "V: Vector + serde::Deserialize<'de>"
        )
    )
)]
#[cfg_attr(feature = "plugin", derive(bevy_reflect::Reflect))]
pub struct FluidEmitter<V> {
    /// What it pours, to be changed at any time.
    pub settings: EmitterSettings<V>,
    /// Seconds that it was stepped for.
    time: f64,
    /// Layers that are due: the fraction of the next one, and the first one whole.
    due: f64,
    /// Particles that came out.
    emitted: u64,
}

impl<V: Vector> FluidEmitter<V> {
    /// A source before its first particle.
    pub fn new(settings: EmitterSettings<V>) -> Self {
        Self { settings, time: 0.0, due: 1.0, emitted: 0 }
    }

    /// Particles that came out so far.
    pub fn emitted(&self) -> u64 {
        self.emitted
    }

    /// Checks what was read from somewhere.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for the first value out of range.
    pub fn validate(&self) -> Result<(), FluidError> {
        self.settings.validate()?;
        for (name, value) in [("time", self.time), ("due", self.due)] {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(FluidError::parameter(name, value, "0 or more, finite"));
            }
        }
        Ok(())
    }

    /// The particles that come out in `dt` seconds, 1e-6 to 1 s, in a world of
    /// `particle_radius` metres, where they are at the end of that time.
    ///
    /// A place within 0.8 spacings of one that is `present` stays empty: that
    /// part of the layer is lost, as in a pipe that is blocked. `present` is read
    /// only if a layer is due, and should hold all particles of the world, where they
    /// are at the end of that time as well.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for the first value out of range, and for an
    /// opening or a speed that would let out more than [`MAX_SAMPLES`] particles
    /// at once; nothing is done then.
    pub fn step(
        &mut self,
        dt: f32,
        particle_radius: f32,
        present: impl Iterator<Item = V>,
    ) -> Result<Vec<EmittedParticle<V>>, FluidError> {
        let Plan { layer, per_second, end, to, due } = self.plan(dt, particle_radius)?;
        self.time = end;
        let Some(to) = to.filter(|_| due >= 1.0) else {
            self.due = due;
            return Ok(Vec::new());
        };
        let (settings, spacing) = (&self.settings, 2.0 * particle_radius);
        self.due = due.fract();
        // The layer that came out last is the nearest to the opening.
        let age = (self.due / per_second + (end - to)) as f32;
        let apart = settings.speed / per_second as f32;
        let jet = Jet { first: age * settings.speed, apart, layers: due as usize, layer };
        let velocity = jet.layer.direction * settings.speed;
        let mut new = jet.free_places(settings.position, present, spacing);
        new.truncate(self.room(spacing));
        self.emitted += new.len() as u64;
        Ok(new.into_iter().map(|position| EmittedParticle { position, velocity }).collect())
    }

    /// Checks that [`FluidEmitter::step`] with the same arguments succeeds.
    ///
    /// # Errors
    /// As of [`FluidEmitter::step`].
    pub fn check(&self, dt: f32, particle_radius: f32) -> Result<(), FluidError> {
        self.plan(dt, particle_radius).map(|_| ())
    }

    fn plan(&self, dt: f32, particle_radius: f32) -> Result<Plan<V>, FluidError> {
        super::time_step::check_step("time_step", dt)?;
        self.validate()?;
        let (settings, spacing) = (&self.settings, 2.0 * particle_radius);
        let layer = Layer::new(settings, spacing)?;
        let per_second = layer.per_second(settings, spacing);
        let end = self.time + f64::from(dt);
        let from = self.time.max(f64::from(settings.start));
        let to = settings.stop.map_or(end, |stop| end.min(f64::from(stop)));
        if to <= from || self.room(spacing) == 0 || per_second == 0.0 {
            return Ok(Plan { layer, per_second, end, to: None, due: self.due });
        }
        let due = self.due + (to - from) * per_second;
        if due * layer.count as f64 > MAX_SAMPLES as f64 {
            let allowed = format_args!("at most {MAX_SAMPLES} particles in a step").to_string();
            return Err(FluidError::parameter("speed", settings.speed, allowed));
        }
        Ok(Plan { layer, per_second, end, to: Some(to), due })
    }

    /// Where the water has the jet's velocity, or `None` while nothing comes out:
    /// for [`FluidWorld::steer`](super::sph::FluidWorld::steer) between the density
    /// solve and the integration of a step.
    pub fn mouth(&self, particle_radius: f32) -> Option<EmitterMouth<V>> {
        let settings = &self.settings;
        let spacing = 2.0 * particle_radius;
        let open = self.time >= f64::from(settings.start)
            && settings.stop.is_none_or(|stop| self.time < f64::from(stop))
            && settings.speed > 0.0
            && self.room(spacing) > 0;
        settings.validate().ok().filter(|()| open).map(|()| EmitterMouth {
            position: settings.position,
            direction: settings.unit_direction(),
            radius: settings.radius.max(particle_radius),
            depth: MOUTH * spacing,
            speed: settings.speed,
        })
    }

    /// Particles that may still come out.
    fn room(&self, spacing: f32) -> usize {
        let volume = f64::from(spacing).powi(V::DIM as i32);
        // A whole number of particles up to rounding is that number.
        let most = self
            .settings
            .max_volume
            .map_or(u64::MAX, |most| (f64::from(most) / volume * (1.0 + 1e-6)) as u64);
        most.saturating_sub(self.emitted) as usize
    }
}

/// What comes out in a step.
struct Plan<V> {
    layer: Layer<V>,
    /// Layers in a second.
    per_second: f64,
    /// The source's time at the end of the step.
    end: f64,
    /// When within the step it stops; `None` where nothing comes out.
    to: Option<f64>,
    /// Layers that are due then.
    due: f64,
}

/// The space before a source's opening, in which the water is held at the jet's
/// velocity whatever weighs on it, as a pump would.
#[derive(Clone, Copy, Debug)]
pub struct EmitterMouth<V> {
    position: V,
    direction: V,
    radius: f32,
    depth: f32,
    speed: f32,
}

impl<V: Vector> EmitterMouth<V> {
    /// Velocity in m/s of water at a position in metres, or `None` outside.
    pub fn velocity_at(&self, position: V) -> Option<V> {
        let offset = position - self.position;
        let along = offset.dot(self.direction);
        let aside = (offset - self.direction * along).length_squared();
        let inside =
            (0.0..=self.depth).contains(&along) && aside <= self.radius * self.radius * 1.001;
        inside.then(|| self.direction * self.speed)
    }
}

/// The places of one layer: a lattice of the spacing across the direction, cut
/// to the opening.
struct Layer<V> {
    direction: V,
    across: [V; 2],
    /// Points of the lattice along each of the two.
    points: [usize; 2],
    /// Largest squared distance from the middle, in spacings.
    reach: f32,
    /// Places.
    count: usize,
}

impl<V: Vector> Layer<V> {
    /// # Errors
    /// [`FluidError::Parameter`] for an opening that takes too many.
    fn new(settings: &EmitterSettings<V>, spacing: f32) -> Result<Self, FluidError> {
        let radius = f64::from(settings.radius) / f64::from(spacing);
        check_count("radius", if V::DIM == 2 { 2.0 * radius } else { 4.0 * radius * radius })?;
        let direction = settings.unit_direction();
        let (across, reach) = (tangents(direction), (radius * radius * (1.0 + 1e-6)) as f32);
        let with = |points: [usize; 2], reach: f32| {
            let mut layer = Self { direction, across, points, reach, count: 0 };
            layer.count = layer.indices().count();
            layer
        };
        if V::DIM == 2 {
            return Ok(with([(2.0 * radius).round().max(1.0) as usize, 1], f32::INFINITY));
        }
        // With a point in the middle or without: whichever holds what the area holds.
        let area = core::f64::consts::PI * radius * radius;
        let points = 2.0 * radius + 1.0;
        let [a, b] = [points as usize, points as usize + 1].map(|n| with([n; 2], reach));
        let off = |layer: &Self| (layer.count as f64 - area).abs();
        let even_is_better = a.count == 0 || (b.count > 0 && off(&b) < off(&a));
        Ok(if even_is_better { b } else { a })
    }

    /// Place across the direction of a point of the lattice, in spacings.
    fn coordinates(&self, point: [usize; 2]) -> [f32; 2] {
        [0, 1].map(|axis| point[axis] as f32 - 0.5 * (self.points[axis] - 1) as f32)
    }

    /// The points of the lattice that are in the opening.
    fn indices(&self) -> impl Iterator<Item = [usize; 2]> + '_ {
        let [columns, rows] = self.points;
        let all = (0..rows).flat_map(move |row| (0..columns).map(move |column| [column, row]));
        all.filter(|&point| {
            let [u, v] = self.coordinates(point);
            u * u + v * v <= self.reach
        })
    }

    /// Layers that come out in a second.
    fn per_second(&self, settings: &EmitterSettings<V>, spacing: f32) -> f64 {
        let full = f64::from(settings.speed) / f64::from(spacing);
        let volume = self.count as f64 * f64::from(spacing).powi(V::DIM as i32);
        settings.flow.map_or(full, |flow| full.min(f64::from(flow) / volume))
    }
}

/// Layers that come out together.
struct Jet<V> {
    layer: Layer<V>,
    layers: usize,
    /// Distance of the last one from the opening, and of each from the next, in metres.
    first: f32,
    apart: f32,
}

impl<V: Vector> Jet<V> {
    /// The places of all layers that no particle is near, the farthest layer first.
    fn free_places(&self, origin: V, present: impl Iterator<Item = V>, spacing: f32) -> Vec<V> {
        let Self { layer, layers, first, apart } = self;
        let [columns, rows] = layer.points;
        let mut taken = vec![false; layers * columns * rows];
        let place = |point: [usize; 2], distance: f32| {
            let [u, v] = layer.coordinates(point).map(|coordinate| coordinate * spacing);
            origin + layer.direction * distance + layer.across[0] * u + layer.across[1] * v
        };
        let near = OCCUPIED * spacing;
        // The points of a lattice within a spacing of a coordinate: at most two.
        let beside = |coordinate: f32, count: usize| {
            let low = (coordinate - OCCUPIED).ceil().max(0.0);
            let high = (coordinate + OCCUPIED).floor().min(count as f32 - 1.0);
            (low <= high).then_some(low as usize..=high as usize).into_iter().flatten()
        };
        for x in present {
            let offset = x - origin;
            let along = offset.dot(layer.direction);
            let outside = along < first - near || along > first + apart * *layers as f32 + near;
            if outside {
                continue;
            }
            let [u, v] = [0, 1].map(|axis| {
                let middle = 0.5 * (layer.points[axis] - 1) as f32;
                offset.dot(layer.across[axis]) / spacing + middle
            });
            for row in beside(v, rows) {
                for column in beside(u, columns) {
                    for k in 0..*layers {
                        let at = place([column, row], first + apart * k as f32);
                        if (x - at).length_squared() < near * near {
                            taken[(k * rows + row) * columns + column] = true;
                        }
                    }
                }
            }
        }
        let mut places = Vec::with_capacity(layers * layer.count);
        for k in (0..*layers).rev() {
            let distance = first + apart * k as f32;
            let free = layer.indices().filter(|[u, v]| !taken[(k * rows + v) * columns + u]);
            places.extend(free.map(|point| place(point, distance)));
        }
        places
    }
}

/// Unit vectors at right angles to a unit vector and each other; in the plane
/// the second one is zero.
fn tangents<V: Vector>(direction: V) -> [V; 2] {
    let [x, y, z] = direction.to_array();
    if V::DIM == 2 {
        return [V::from_array([-y, x, 0.0]), V::ZERO];
    }
    let direction = Vec3::new(x, y, z);
    let (first, second) = direction.any_orthonormal_pair();
    [first, second].map(|tangent| V::from_array(tangent.to_array()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy_math::Vec2;

    const R: f32 = 0.025;
    const D: f32 = 0.05;

    fn jet<V: Vector>(speed: f32, radius: f32) -> FluidEmitter<V> {
        FluidEmitter::new(EmitterSettings { speed, radius, ..EmitterSettings::default() })
    }

    /// Particles that fly on as they came out, after steps of the given lengths.
    fn pour<V: Vector>(emitter: &mut FluidEmitter<V>, steps: &[f32]) -> Vec<V> {
        let mut water: Vec<EmittedParticle<V>> = Vec::new();
        for &dt in steps {
            water.iter_mut().for_each(|p| p.position += p.velocity * dt);
            let present: Vec<V> = water.iter().map(|particle| particle.position).collect();
            water.extend(emitter.step(dt, R, present.into_iter()).unwrap());
        }
        water.into_iter().map(|particle| particle.position).collect()
    }

    fn nearest<V: Vector>(water: &[V]) -> f32 {
        let mut least = f32::INFINITY;
        for (i, &a) in water.iter().enumerate() {
            for &b in &water[..i] {
                least = least.min((a - b).length());
            }
        }
        least
    }

    #[test]
    fn layers_are_a_spacing_apart_whatever_the_steps() {
        for steps in [vec![0.001; 210], vec![0.021; 10], vec![0.013, 0.05, 0.001, 0.066, 0.08]] {
            let water = pour(&mut jet::<Vec2>(3.0, 0.2), &steps);
            assert!((nearest(&water) / D - 1.0).abs() < 1e-3, "{}", nearest(&water));
            // The first layer at once, then as many as fit into 0.63 m.
            assert_eq!(water.len(), 8 * 13, "{steps:?}");
            let water = pour(&mut jet::<Vec3>(3.0, 0.1), &steps);
            assert!((nearest(&water) / D - 1.0).abs() < 1e-3, "{}", nearest(&water));
            assert_eq!(water.len(), 13 * 13);
        }
    }

    #[test]
    fn flow_is_as_asked_for_and_at_most_that_of_a_full_opening() {
        let full = jet::<Vec3>(2.0, 0.2).settings.full_flow(R);
        let area = core::f32::consts::PI * 0.04;
        assert!((full / (2.0 * area) - 1.0).abs() < 0.05, "{full}");
        for (flow, expected) in [(0.3 * full, 0.3 * full), (9.0 * full, full), (0.0, 0.0)] {
            let mut emitter = jet::<Vec3>(2.0, 0.2);
            emitter.settings.flow = Some(flow);
            let volume = pour(&mut emitter, &[0.007; 300]).len() as f32 * D.powi(3);
            let layer = full * D / 2.0;
            assert!((volume - 2.1 * expected).abs() <= 1.01 * layer, "{volume}, {expected}/s");
        }
    }

    #[test]
    fn a_limit_a_start_and_a_stop_are_kept_to_the_particle() {
        let mut emitter = jet::<Vec2>(1.0, 0.1);
        emitter.settings.max_volume = Some(10.0 * D * D);
        assert_eq!(pour(&mut emitter, &[0.01; 100]).len(), 10);
        assert!(emitter.mouth(R).is_none());
        emitter.settings.max_volume = None;
        (emitter.settings.start, emitter.settings.stop) = (1.5, Some(1.76));
        assert_eq!(pour(&mut emitter, &[0.01; 49]).len(), 0);
        assert_eq!(pour(&mut emitter, &[0.01; 100]).len(), 4 * 5);
        assert_eq!(emitter.emitted(), 30);
    }

    #[test]
    fn speed_is_changed_without_a_burst() {
        let mut emitter = jet::<Vec2>(2.0, 0.1);
        let first = pour(&mut emitter, &[0.01; 50]).len();
        emitter.settings.speed = 0.0;
        assert_eq!(pour(&mut emitter, &[0.01; 100]).len(), 0);
        assert!(emitter.mouth(R).is_none());
        emitter.settings.speed = 4.0;
        let last = pour(&mut emitter, &[0.01; 50]);
        assert!(last.len().abs_diff(2 * first) <= 8, "{first}, then {}", last.len());
        assert!(nearest(&last) > 0.99 * D);
    }

    #[test]
    fn taken_places_stay_empty() {
        let mut emitter = jet::<Vec2>(1.0, 0.1);
        let blocked = [Vec2::new(0.025, 0.02), Vec2::new(9.0, 0.0)];
        let new = emitter.step(0.01, R, blocked.into_iter()).unwrap();
        let xs: Vec<f32> = new.iter().map(|p| (p.position.x / R).round()).collect();
        assert_eq!(xs, [-3.0, -1.0, 3.0]);
        assert_eq!(emitter.emitted(), 3);
    }

    #[test]
    fn mouth_is_the_space_before_the_opening() {
        let mouth = jet::<Vec3>(2.0, 0.1).mouth(R).unwrap();
        let inside = Vec3::new(0.07, -0.09, -0.07);
        assert_eq!(mouth.velocity_at(inside), Some(Vec3::new(0.0, -2.0, 0.0)));
        for outside in [Vec3::Y * 0.01, Vec3::Y * -0.11, Vec3::new(0.08, -0.05, 0.08)] {
            assert_eq!(mouth.velocity_at(outside), None, "{outside}");
        }
    }

    #[test]
    fn values_out_of_range_are_refused_by_name_and_nothing_is_done() {
        type Edit = fn(&mut EmitterSettings<Vec3>, f32);
        let cases: [(&str, Edit, &[f32]); 8] = [
            ("position", |s, x| s.position.y = x, &[]),
            ("direction", |s, x| s.direction = Vec3::splat(x), &[0.0]),
            ("radius", |s, x| s.radius = x, &[0.0, -1.0, 1e6]),
            ("speed", |s, x| s.speed = x, &[-1.0, 1e5]),
            ("flow", |s, x| s.flow = Some(x), &[-1.0]),
            ("start", |s, x| s.start = x, &[-1.0]),
            ("stop", |s, x| s.stop = Some(x), &[-1.0]),
            ("max_volume", |s, x| s.max_volume = Some(x), &[-1.0]),
        ];
        for (name, edit, bad) in cases {
            for &value in bad.iter().chain(&[f32::NAN, f32::INFINITY]) {
                let mut emitter = jet::<Vec3>(1.0, 0.1);
                edit(&mut emitter.settings, value);
                let before = format!("{emitter:?}");
                let error = emitter.step(0.01, R, core::iter::empty()).unwrap_err().to_string();
                assert!(error.starts_with(&format!("{name} is")), "{error}");
                assert_eq!(format!("{emitter:?}"), before);
            }
        }
        let mut torrent = jet::<Vec3>(1e4, 5.0);
        let error = torrent.step(1.0, R, core::iter::empty()).unwrap_err().to_string();
        assert!(error.starts_with("speed is"), "{error}");
        assert!(jet::<Vec2>(1.0, 0.1).step(0.0, R, core::iter::empty()).is_err());
    }
}
