//! Pictures of a scene, drawn on the CPU.

use bevy_fluid::frames::{Canvas, FrameError};
use bevy_fluid::solver::cloth::{Cloth, ConstraintKind};
use bevy_fluid::solver::companions::Companions;
use bevy_fluid::solver::simulation::Simulation;
use bevy_fluid::solver::smoke::{Smoke, SmokeView};
use bevy_fluid::solver::vector::Vector;
use bevy_math::{DVec2, Rect, Vec2};

/// Pixels along the longer side of a picture.
const LONG_SIDE: u32 = 1080;
/// Fewest pixels along the shorter side.
const SHORTEST_SIDE: f64 = 64.0;
const BACKGROUND: [u8; 3] = [0xEE; 3];
const BOUNDARY: [u8; 4] = [0x88, 0x88, 0x88, 0xFF];
/// In space: a wall that is seen from its side adds up to a line, one from the front is a tint.
const BOUNDARY_3D: [u8; 4] = [0x66, 0x66, 0x66, 0x14];
const THREAD: [u8; 4] = [0x66, 0x66, 0x66, 0xFF];
/// Width of a thread in pixels.
const THREAD_PIXELS: f32 = 1.5;
/// Speed in m/s from which on a particle is drawn in the lightest colour.
const LIGHTEST_SPEED: f32 = 8.0;

/// Draws a simulation again and again from the same place: along -z in 3D.
pub struct Picture {
    canvas: Canvas,
    radius: f32,
}

/// A dot to be drawn.
struct Dot {
    position: Vec2,
    depth: f32,
    color: [u8; 4],
}

impl Picture {
    /// A picture that shows all that is there now, boundary and fluid.
    pub fn new<V: Vector>(simulation: &Simulation<V>) -> Result<Self, FrameError> {
        let radius = simulation.world().settings().particle_radius;
        let view = view(simulation, 4.0 * f64::from(radius));
        let size = view.size().as_dvec2();
        let scale = f64::from(LONG_SIDE) / size.max_element();
        // Video encoders want even sides.
        let side = |length: f64| 2 * (0.5 * (scale * length).max(SHORTEST_SIDE)).ceil() as u32;
        let canvas = Canvas::new(side(size.x), side(size.y), view, BACKGROUND)?;
        Ok(Self { canvas, radius })
    }

    /// The present state as the bytes of a PNG file.
    pub fn png<V: Vector>(
        &mut self,
        simulation: &mut Simulation<V>,
    ) -> Result<Vec<u8>, FrameError> {
        self.canvas.clear();
        let Companions { smokes, .. } = simulation.companions();
        for smoke in smokes {
            self.draw_smoke(smoke);
        }
        // A vessel's front wall would hide the fluid, so the boundary lies behind it.
        let boundary = simulation.world().boundary_samples();
        let color = if V::DIM == 3 { BOUNDARY_3D } else { BOUNDARY };
        self.draw(boundary.map(|(position, _)| Dot::new(position, color)).collect());
        let fluid = simulation.bodies().iter().flat_map(|body| {
            let particles = &body.particles;
            let dots = particles.positions().iter().zip(particles.velocities());
            dots.map(|(&position, &velocity)| Dot::new(position, speed_color(velocity.length())))
        });
        let fluid = fluid.collect();
        self.draw(fluid);
        let Companions { cloths, .. } = simulation.companions();
        for cloth in cloths {
            self.draw_cloth(cloth);
        }
        self.canvas.encode_png()
    }

    /// Draws the threads of a cloth.
    fn draw_cloth<V: Vector>(&mut self, cloth: &Cloth<V>) {
        let flat = |particle: u32| {
            let [x, y, _] = cloth.positions()[particle as usize].to_array();
            Vec2::new(x, y)
        };
        for link in cloth.constraints().iter().filter(|link| link.kind != ConstraintKind::Bend) {
            self.canvas.line(flat(link.a), flat(link.b), THREAD_PIXELS, THREAD);
        }
    }

    /// Draws the dye of a domain, in 3D the sum along the view.
    fn draw_smoke<V: Vector>(&mut self, smoke: &Smoke<V>) {
        let domain = smoke.domain();
        let [columns, rows, _] = domain.cells.map(|cells| cells as usize);
        let side = domain.cell_size();
        let thickness = if V::DIM == 3 { side } else { 1.0 };
        let mut sums = vec![0.0; columns * rows];
        for (cell, dye) in smoke.view(SmokeView::Dye(0)).enumerate() {
            sums[cell % (columns * rows)] += dye * thickness;
        }
        let [left, bottom, _] = domain.min.to_array();
        for (cell, dye) in sums.into_iter().enumerate() {
            let corner = Vec2::new((cell % columns) as f32, (cell / columns) as f32);
            // Computed alike for both cells beside a line, or there would be gaps.
            let place = |corner: Vec2| Vec2::new(left, bottom) + corner * side;
            let light = 1.0 - dye.clamp(0.0, 1.0);
            let grey = (f32::from(BACKGROUND[0]) * light).round() as u8;
            let rect = Rect::from_corners(place(corner), place(corner + Vec2::ONE));
            self.canvas.rect(rect, [grey, grey, grey, 0xFF]);
        }
    }

    /// Draws dots, the nearest last.
    fn draw(&mut self, mut dots: Vec<Dot>) {
        dots.sort_by(|a, b| a.depth.total_cmp(&b.depth));
        for dot in dots {
            self.canvas.dot(dot.position, self.radius, dot.color);
        }
    }
}

impl Dot {
    /// A dot as seen from the front.
    fn new<V: Vector>(position: V, color: [u8; 4]) -> Self {
        let [x, y, z] = position.to_array();
        Self { position: Vec2::new(x, y), depth: z, color }
    }
}

/// The rectangle around everything, with a margin.
fn view<V: Vector>(simulation: &Simulation<V>, margin: f64) -> Rect {
    let world = simulation.world();
    let fluid = world.particles().map(|particle| particle.position);
    let boundary = world.boundary_samples().map(|(position, _)| position);
    let (mut min, mut max) = (DVec2::INFINITY, DVec2::NEG_INFINITY);
    let Companions { cloths, smokes, .. } = simulation.companions();
    let cloths = cloths.iter().flat_map(|cloth| cloth.positions().iter().copied());
    let smokes = smokes.iter().map(Smoke::domain);
    let corners = smokes.flat_map(|domain| [domain.min, domain.min + domain.size]);
    for point in fluid.chain(boundary).chain(cloths).chain(corners) {
        let [x, y, _] = point.to_array().map(f64::from);
        min = min.min(DVec2::new(x, y));
        max = max.max(DVec2::new(x, y));
    }
    if min.x > max.x {
        (min, max) = (DVec2::ZERO, DVec2::ZERO);
    }
    // Wide enough to survive the rounding of far coordinates to f32.
    let margin = margin.max(1e-6 * min.abs().max(max.abs()).max_element());
    Rect::from_corners((min - margin).as_vec2(), (max + margin).as_vec2())
}

/// The reference's colour: hsl(225°, 100 %, 25 % to 75 %), lighter with speed.
fn speed_color(speed: f32) -> [u8; 4] {
    let lightness = 0.25 + 0.5 * speed.min(LIGHTEST_SPEED) / LIGHTEST_SPEED;
    let chroma = 1.0 - (2.0 * lightness - 1.0).abs();
    let least = lightness - 0.5 * chroma;
    // 225° lies a quarter on the way from blue to cyan.
    let channels = [least, least + 0.25 * chroma, least + chroma];
    let [red, green, blue] = channels.map(|channel| (255.0 * channel).round() as u8);
    [red, green, blue, 0xFF]
}
