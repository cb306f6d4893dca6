//! The panel without a window: drawn by a bare egui context, used by clicks and keys.

use bevy::ecs::system::RunSystemOnce;
use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use bevy_egui::egui::{self, Context, Event, Key, Modifiers, PointerButton, Pos2, RawInput, Shape};
#[cfg(feature = "scene")]
use bevy_fluid::FluidScene2d;
use bevy_fluid::inspector::{
    FluidInspector, FluidInspectorPlugin, FluidPanel, RestartRequested, SceneSize,
};
use bevy_fluid::render::{Selection, SmokeDrawing};
use bevy_fluid::solver::cloth::ClothMesh;
use bevy_fluid::solver::smoke::{Advection, Border, SmokeDomain, SmokeSettings};
use bevy_fluid::solver::time_step::TimeStep;
use bevy_fluid::{Cloth3d, Fluid, Fluid2d, FluidPlugin, FluidSettings, Scene2d, Smoke2d, Smoke3d};

use crate::support;

/// An app with the panel, and the egui context that it is drawn in.
struct Bench {
    app: App,
    ctx: Context,
    /// Whether the window is drawn, or its contents alone, which no window
    /// scrolls out of sight.
    window: bool,
    /// Text on the screen with its middle.
    texts: Vec<(String, Pos2)>,
}

impl Bench {
    fn new() -> Self {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, TransformPlugin, FluidPlugin::default()));
        app.add_plugins(FluidInspectorPlugin);
        app.insert_resource(TimeUpdateStrategy::FixedTimesteps(1));
        app.world_mut().resource_mut::<FluidSettings>().time_step = TimeStep::Fixed(0.005);
        app.finish();
        app.cleanup();
        // The first update only starts the clocks.
        app.update();
        let mut bench = Self { app, ctx: Context::default(), window: false, texts: Vec::new() };
        bench.frames(3);
        bench
    }

    fn with_water() -> (Self, Entity) {
        let mut bench = Self::new();
        let fluid = support::spawn(&mut bench.app, &Scene2d::dam_break(6, 6));
        bench.app.update();
        bench.frames(3);
        (bench, fluid)
    }

    /// Draws a frame in which `events` arrive.
    fn frame(&mut self, events: Vec<Event>) {
        // A tall screen, so that nothing is scrolled out of sight.
        let screen = egui::Rect::from_min_size(Pos2::ZERO, egui::vec2(800.0, 3000.0));
        let input = RawInput { screen_rect: Some(screen), events, ..default() };
        let ctx = self.ctx.clone();
        let world = self.app.world_mut();
        let output = ctx.run_ui(input, |ui| {
            if self.window {
                let ctx = ui.ctx().clone();
                let window = move |mut panel: FluidPanel| panel.window(&ctx);
                world.run_system_once(window).unwrap();
            } else {
                world.run_system_once_with(contents, ui).unwrap();
            }
        });
        self.texts.clear();
        for shape in &output.shapes {
            gather(&shape.shape, &mut self.texts);
        }
        output.drop_without_applying_deltas();
    }

    fn frames(&mut self, count: usize) {
        for _ in 0..count {
            self.frame(Vec::new());
        }
    }

    fn shows(&self, text: &str) -> bool {
        self.texts.iter().any(|(shown, _)| shown.contains(text))
    }

    fn find(&self, text: &str) -> Pos2 {
        let found = self.texts.iter().find(|(shown, _)| shown == text);
        found.unwrap_or_else(|| panic!("no {text:?} in {:?}", self.texts)).1
    }

    fn click_at(&mut self, pos: Pos2) {
        self.frame(vec![Event::PointerMoved(pos)]);
        for pressed in [true, false] {
            let modifiers = Modifiers::NONE;
            let button = PointerButton::Primary;
            self.frame(vec![Event::PointerButton { pos, button, pressed, modifiers }]);
        }
        self.frames(2);
    }

    fn click(&mut self, text: &str) {
        self.click_at(self.find(text));
    }

    fn key(&mut self, key: Key, modifiers: Modifiers) {
        let event =
            |pressed| Event::Key { key, physical_key: None, pressed, repeat: false, modifiers };
        self.frame(vec![event(true)]);
        self.frame(vec![event(false)]);
    }

    /// Puts `text` into the field in the row of `label`.
    fn enter(&mut self, label: &str, text: &str) {
        let row = self.find(label);
        let field = self
            .texts
            .iter()
            .find(|(shown, pos)| (pos.y - row.y).abs() < 4.0 && shown.parse::<f64>().is_ok());
        let pos = field.unwrap_or_else(|| panic!("no field at {label}")).1;
        self.click_at(pos);
        self.key(Key::A, Modifiers::COMMAND);
        self.key(Key::Backspace, Modifiers::NONE);
        if !text.is_empty() {
            self.frame(vec![Event::Text(text.into())]);
        }
        self.key(Key::Enter, Modifiers::NONE);
        self.frames(2);
    }

    fn settings(&self) -> &FluidSettings {
        self.app.world().resource::<FluidSettings>()
    }

    fn clock(&self) -> &Fluid {
        self.app.world().resource::<Time<Fluid>>().context()
    }

    fn restarts(&mut self) -> usize {
        self.app.world_mut().resource_mut::<Messages<RestartRequested>>().drain().count()
    }
}

fn contents(InMut(ui): InMut<egui::Ui>, mut panel: FluidPanel) {
    panel.contents(ui);
}

fn gather(shape: &Shape, texts: &mut Vec<(String, Pos2)>) {
    match shape {
        Shape::Vec(shapes) => shapes.iter().for_each(|shape| gather(shape, texts)),
        Shape::Text(text) => {
            texts.push((text.galley.text().to_owned(), text.visual_bounding_rect().center()));
        }
        _ => {}
    }
}

#[test]
fn without_egui_the_plugin_is_inert() {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, TransformPlugin, FluidPlugin::default()));
    app.add_plugins(FluidInspectorPlugin);
    app.finish();
    app.cleanup();
    support::spawn(&mut app, &Scene2d::dam_break(4, 4));
    for _ in 0..5 {
        app.update();
    }
    let mut alone = App::new();
    alone.add_plugins((MinimalPlugins, FluidInspectorPlugin));
    alone.finish();
    alone.cleanup();
    alone.update();
}

#[test]
fn panel_is_drawn_with_water_without_water_and_with_a_dead_selection() {
    let bench = Bench::new();
    assert!(bench.shows("Readouts") && bench.shows("Nothing selected"));
    let (mut bench, fluid) = Bench::with_water();
    assert!(bench.shows("36"), "the number of particles");
    for section in ["Plots", "Time per stage", "More"] {
        bench.click(section);
        bench.frames(30);
    }
    assert!(bench.shows("ms, mean over 50 steps") && bench.shows("relaxation"));
    let id = support::particles(&bench.app, fluid).ids()[7];
    bench.app.insert_resource(Selection::Particle { fluid, id });
    bench.frames(2);
    assert!(bench.shows(&id.to_string()) && bench.shows("divergence pressure"));
    bench.app.insert_resource(Selection::Sample { boundary: fluid, index: 1000 });
    bench.frames(2);
    assert!(bench.shows("Nothing selected"));
    bench.app.insert_resource(Selection::Particle { fluid, id });
    bench.app.world_mut().despawn(fluid);
    bench.app.update();
    bench.frames(2);
    assert!(bench.shows("Nothing selected"));
}

#[test]
fn buttons_pause_step_resume_and_ask_for_a_restart() {
    let (mut bench, _) = Bench::with_water();
    bench.click("Pause");
    assert!(bench.clock().is_paused());
    let steps = bench.clock().steps();
    bench.app.update();
    assert_eq!(bench.clock().steps(), steps);
    bench.click("Step");
    bench.app.update();
    assert_eq!(bench.clock().steps(), steps + 1);
    bench.click("Resume");
    assert!(!bench.clock().is_paused());
    bench.restarts();
    bench.click("Restart");
    assert_eq!(bench.restarts(), 1);
}

#[test]
fn window_is_drawn_while_it_is_open_and_closes_by_its_cross() {
    let mut bench = Bench::new();
    bench.window = true;
    let theme = |bench: &Bench| bench.ctx.options(|options| options.theme_preference);
    let before = theme(&bench);
    bench.frames(5);
    assert!(bench.shows("Readouts"));
    assert_eq!(theme(&bench), before, "the app's other windows keep their look");
    bench.app.world_mut().resource_mut::<FluidInspector>().open = false;
    bench.frames(60);
    assert!(!bench.shows("Readouts"));
    bench.app.world_mut().resource_mut::<FluidInspector>().open = true;
    bench.frames(5);
    // The title stands in the middle of its bar, the cross at the right end.
    let title = bench.find("Fluid");
    bench.click_at(Pos2::new(2.0 * title.x - 26.0, title.y));
    assert!(!bench.app.world().resource::<FluidInspector>().open);
}

#[test]
fn fields_take_valid_numbers_and_refuse_others_with_their_range() {
    let (mut bench, fluid) = Bench::with_water();
    bench.enter("max density error", "0.2");
    assert_eq!(bench.settings().dfsph.max_density_error, 0.002);
    bench.enter("time step", "0.004");
    assert_eq!(bench.settings().time_step, TimeStep::Fixed(0.004));
    bench.enter("gravity y", "-1.62");
    assert_eq!(bench.settings().gravity.y, -1.62);
    bench.enter("viscosity", "0.2");
    let material =
        |bench: &Bench| bench.app.world().get::<Fluid2d>(fluid).unwrap().material.clone();
    assert_eq!(material(&bench).viscosity, 0.2);

    let (settings, before) = (bench.settings().clone(), material(&bench));
    for (label, range) in [
        ("max density error", "allowed: 0.00001 to 100 %"),
        ("max density iterations", "allowed: a whole number from 1 to 10000"),
        ("time step", "allowed: 0.000001 to 1 s"),
        ("viscosity", "allowed: 0 to 1"),
    ] {
        for bad in ["abc", "1e9", "-1", ""] {
            bench.enter(label, bad);
            assert!(bench.shows(range), "{label} {bad:?}: {:?}", bench.texts);
            assert_eq!(*bench.settings(), settings, "{label} {bad:?}");
            assert_eq!(material(&bench), before, "{label} {bad:?}");
        }
    }
    bench.enter("viscosity", "0.3");
    assert_eq!(material(&bench).viscosity, 0.3);
    assert!(!bench.shows("allowed: 0 to 1"), "the message goes with its cause");
}

#[test]
fn looking_at_the_panel_changes_nothing() {
    let (mut bench, fluid) = Bench::with_water();
    bench.app.init_resource::<SceneSize>();
    bench.app.world_mut().clear_trackers();
    bench.frames(5);
    let world = bench.app.world();
    assert!(!world.is_resource_changed::<FluidSettings>());
    assert!(!world.is_resource_changed::<SceneSize>());
    assert!(!world.entity(fluid).get_ref::<Fluid2d>().unwrap().is_changed());
}

#[test]
fn width_and_height_are_the_apps_where_it_has_them() {
    let mut bench = Bench::new();
    assert!(!bench.shows("width"));
    bench.app.init_resource::<SceneSize>();
    bench.frames(3);
    bench.enter("width", "12");
    bench.enter("height", "501");
    bench.enter("height", "2.5");
    assert!(bench.shows("allowed: a whole number from 1 to 500"));
    let size = *bench.app.world().resource::<SceneSize>();
    assert_eq!(size, SceneSize { columns: 12, rows: 30 });
}

#[cfg(feature = "scene")]
#[test]
fn request_for_a_restart_touches_the_scenes() {
    let mut bench = Bench::new();
    let scene = bench.app.world_mut().spawn(FluidScene2d::default()).id();
    bench.app.update();
    let touched = |bench: &Bench| {
        bench.app.world().entity(scene).get_change_ticks::<FluidScene2d>().unwrap().changed
    };
    let before = touched(&bench);
    bench.app.update();
    assert_eq!(touched(&bench), before);
    bench.app.world_mut().write_message(RestartRequested);
    bench.app.update();
    assert_ne!(touched(&bench), before);
}

#[test]
fn the_scenes_time_starts_with_the_bodies_of_the_restart() {
    let (mut bench, fluid) = Bench::with_water();
    bench.app.update();
    bench.app.world_mut().write_message(RestartRequested);
    // An app that takes two frames to answer.
    bench.app.update();
    bench.app.update();
    bench.app.world_mut().despawn(fluid);
    support::spawn(&mut bench.app, &Scene2d::dam_break(6, 6));
    bench.frames(2);
    bench.app.update();
    bench.frames(2);
    let steps = f64::from(bench.clock().due());
    assert!(bench.shows(&format!("{:.3} s", 0.005 * steps)), "{:?}", bench.texts);
}

#[test]
fn smoke_is_tuned_resampled_and_cleared_from_the_panel() {
    let mut bench = Bench::new();
    let domain = SmokeDomain { min: Vec2::ZERO, size: Vec2::new(2.0, 1.1), cells: [20, 11, 1] };
    let mut smoke = Smoke2d::new(domain, SmokeSettings::default(), 1).unwrap();
    smoke.add_dye(0, Vec2::new(1.0, 0.5), 0.3, 2.0).unwrap();
    let entity = bench.app.world_mut().spawn(smoke).id();
    bench.app.world_mut().resource_mut::<Time<Fluid>>().context_mut().pause();
    bench.frames(3);
    let smoke = |bench: &Bench| bench.app.world().get::<Smoke2d>(entity).unwrap().domain().cells;
    let total = |bench: &Bench| bench.app.world().get::<Smoke2d>(entity).unwrap().total_dye(0);
    assert!(bench.shows("20 x 11 = 220") && bench.shows("divergence after"));
    let before = total(&bench);
    // Cells of a third of a metre change the extent, and coming back brings it back.
    for (text, cells) in [("40", [40, 22]), ("5", [5, 3]), ("2", [5, 3]), ("20", [20, 11])] {
        bench.enter("cells along x", text);
        assert_eq!(smoke(&bench)[..2], cells, "{text}");
        assert!((total(&bench) - before).abs() < 1e-4 * before, "{text}");
    }
    bench.enter("dissipation", "0.5");
    bench.enter("iterations", "0");
    assert!(bench.shows("allowed: a whole number from 1 to 10000"));
    bench.click("plain");
    let settings =
        |bench: &Bench| bench.app.world().get::<Smoke2d>(entity).unwrap().settings().clone();
    let expected =
        SmokeSettings { dissipation: 0.5, advection: Advection::Plain, ..SmokeSettings::default() };
    assert_eq!(settings(&bench), expected);
    // Along y there are 11 cells, too odd a number to close into a ring.
    let row = bench.find("border y");
    let at = |bench: &Bench, text: &str| {
        let found =
            bench.texts.iter().find(|(shown, pos)| shown == text && (pos.y - row.y).abs() < 4.0);
        found.unwrap().1
    };
    bench.click_at(at(&bench, "periodic"));
    assert_eq!(settings(&bench), expected);
    assert!(bench.shows("border_y is"), "{:?}", bench.texts);
    bench.click_at(at(&bench, "open"));
    assert_eq!(settings(&bench).border_y, Border::Open);
    bench.click("Clear");
    assert_eq!(total(&bench), 0.0);
}

#[test]
fn smoke_and_cloth_alone_have_no_rows_of_water() {
    let of_water = ["density iterations", "pressure solver", "Selected", "Plots"];
    let mut bench = Bench::new();
    assert!(of_water.iter().all(|row| bench.shows(row)), "nothing is there yet");
    assert!(!bench.shows("wind x"));
    let domain = SmokeDomain { min: Vec2::ZERO, size: Vec2::new(2.0, 1.0), cells: [20, 10, 1] };
    let smoke = Smoke2d::new(domain, SmokeSettings::default(), 1).unwrap();
    bench.app.world_mut().spawn(smoke);
    bench.frames(3);
    assert!(bench.shows("current time") && bench.shows("gravity y") && bench.shows("total dye"));
    assert!(of_water.iter().all(|row| !bench.shows(row)), "{:?}", bench.texts);
    assert!(!bench.shows("wind x"));
    let mesh = ClothMesh::grid(Vec3::ZERO, 0.1 * Vec3::X, -0.1 * Vec3::Y, 3, 3).unwrap();
    bench.app.world_mut().spawn(Cloth3d::new(mesh, 0.1).unwrap());
    bench.frames(3);
    assert!(of_water.iter().all(|row| !bench.shows(row)), "{:?}", bench.texts);
    bench.enter("wind z", "2.5");
    assert_eq!(bench.settings().wind, Vec3::new(0.0, 0.0, 2.5));
    let fluid = support::spawn(&mut bench.app, &Scene2d::dam_break(6, 6));
    bench.app.update();
    bench.frames(3);
    assert!(of_water.iter().all(|row| bench.shows(row)), "{fluid}");
}

#[test]
fn smoke_in_space_says_how_it_meets_the_light() {
    let mut bench = Bench::new();
    let domain = SmokeDomain { min: Vec3::ZERO, size: Vec3::ONE, cells: [8; 3] };
    let smoke = Smoke3d::new(domain, SmokeSettings::default(), 1).unwrap();
    let entity = bench.app.world_mut().spawn(smoke).id();
    bench.frames(3);
    bench.click("falls on it");
    let drawing = bench.app.world().get::<SmokeDrawing>(entity).unwrap();
    assert!(!drawing.lit && bench.shows("extinction"));
}

#[test]
fn looking_at_smoke_changes_nothing() {
    let mut bench = Bench::new();
    let domain = SmokeDomain { min: Vec2::ZERO, size: Vec2::new(2.0, 1.0), cells: [20, 10, 1] };
    let smoke = Smoke2d::new(domain, SmokeSettings::default(), 1).unwrap();
    let entity = bench.app.world_mut().spawn(smoke).id();
    bench.app.world_mut().clear_trackers();
    bench.frames(5);
    let entity = bench.app.world().entity(entity);
    assert!(!entity.get_ref::<Smoke2d>().unwrap().is_changed());
    assert!(!entity.get_ref::<SmokeDrawing>().unwrap().is_changed());
}
