//! Can this machine open a window and draw in it?
//!
//! Bevy panics where there is no display or no graphics adapter, and a process may create its
//! event loop only once. So the question is put to a child: [`screen`] starts the running
//! program again with a mark in its environment, and [`answer_if_asked`], the first line of an
//! example's `main`, opens a hidden window there with Bevy's own plugins. Whatever goes wrong
//! on the way, a panic, a crash in a driver or a hang, ends the child alone.
//!
//! ```ignore
//! fn main() {
//!     common::probe::answer_if_asked();
//!     match common::probe::screen() {
//!         Ok(()) => run_in_a_window(),
//!         Err(reason) => run_headless(&reason),
//!     }
//! }
//! ```

use std::{
    env,
    io::{BufRead, BufReader, Write},
    process::{Child, Command, Stdio, exit},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread,
    time::{Duration, Instant},
};

use bevy::{
    a11y::AccessibilityPlugin,
    app::{Plugins, TaskPoolPlugin},
    camera::CameraPlugin,
    diagnostic::FrameCountPlugin,
    image::ImagePlugin,
    input::InputPlugin,
    mesh::MeshPlugin,
    prelude::*,
    render::RenderPlugin,
    time::TimePlugin,
    window::{RawHandleWrapper, WindowResolution},
    winit::WinitPlugin,
};

/// The environment variable that tells a process that it is the child.
const ASKED: &str = "BEVY_FLUID_PROBE_SCREEN";
/// How long the child may take. A cold driver on a slow machine needs a few seconds.
const PATIENCE: Duration = Duration::from_secs(20);
/// Frames that the child draws: the surface is configured in the first one that has a window.
const FRAMES: u32 = 3;
/// Longest reason that is passed on: it has to stay one line on a terminal.
const REASON_LENGTH: usize = 200;

/// How far the child has come. It prints the word of each stage that it has passed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    /// It runs.
    Started,
    /// The event loop is connected to a display.
    Display,
    /// There are a graphics adapter and a device.
    Adapter,
    /// Frames were drawn in the window.
    Drawn,
}

impl Stage {
    /// All stages that the child reports.
    const REPORTED: [Self; 3] = [Self::Display, Self::Adapter, Self::Drawn];

    /// The word by which the child reports the stage.
    fn word(self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::Display => "display",
            Self::Adapter => "adapter",
            Self::Drawn => "drawn",
        }
    }

    /// What is missing when this is the last stage that was reached.
    fn lacks(self) -> &'static str {
        match self {
            Self::Started => "no display",
            Self::Display => "no graphics adapter",
            Self::Adapter | Self::Drawn => "no picture in a window",
        }
    }
}

/// Whether a window can be opened and drawn in here. The error is one line for the user, such as
/// `no display: neither DISPLAY nor WAYLAND_DISPLAY is set`.
///
/// Takes as long as a small Bevy app takes to start, 20 seconds at most. The program has to call
/// [`answer_if_asked`] first thing in `main`.
pub fn screen() -> Result<(), String> {
    // A page in a browser has no child processes, and it is a window already.
    if cfg!(target_arch = "wasm32") {
        return Ok(());
    }
    // The usual case on a server: worth a sentence of its own, and no child.
    let named_display = cfg!(all(
        unix,
        not(target_vendor = "apple"),
        not(target_os = "android")
    ));
    if named_display
        && ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"]
            .iter()
            .all(|name| env::var_os(name).is_none_or(|value| value.is_empty()))
    {
        return Err("no display: neither DISPLAY nor WAYLAND_DISPLAY is set".into());
    }
    let mut child = env::current_exe()
        .and_then(|program| {
            Command::new(program)
                .env(ASKED, "1")
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
        })
        .map_err(|error| format!("no display: the probe did not start ({error})"))?;
    let answer = listen(&lines_of(&mut child), PATIENCE);
    // It has answered, ended or hung: in no case is there anything to wait for.
    let _ = child.kill();
    let _ = child.wait();
    answer.map_err(|(reached, reason)| {
        let lacks = reached.lacks();
        match env::var("DISPLAY") {
            Ok(display) if named_display && reached == Stage::Started => {
                format!("{lacks}: {reason} (DISPLAY is {display})")
            }
            _ => format!("{lacks}: {reason}"),
        }
    })
}

/// In the child of [`screen`], answers and ends the process; elsewhere does nothing. Has to come
/// before anything that prints, reads arguments or creates an event loop.
pub fn answer_if_asked() {
    if env::var_os(ASKED).is_none() {
        return;
    }
    // In the hook and not by unwinding: a panic on another thread counts too.
    std::panic::set_hook(Box::new(|panic| {
        let reason = panic.payload_as_str().unwrap_or("panic without a message");
        say(&format!("failed {}", short(reason)));
        exit(1);
    }));
    draw_and_exit()
}

/// The child's lines, as they come; disconnected when it closes its output or ends.
fn lines_of(child: &mut Child) -> Receiver<String> {
    let (sender, lines) = channel();
    if let Some(output) = child.stdout.take() {
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
    }
    lines
}

/// Follows the child's stages until it has drawn, failed, ended or used up its time. The error is
/// the last stage it reached and what stopped it there.
fn listen(lines: &Receiver<String>, patience: Duration) -> Result<(), (Stage, String)> {
    let deadline = Instant::now() + patience;
    let mut reached = Stage::Started;
    loop {
        let reason = match lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(line) => {
                if let Some(stage) = Stage::REPORTED.into_iter().find(|s| s.word() == line) {
                    reached = stage;
                    if stage == Stage::Drawn {
                        return Ok(());
                    }
                    continue;
                }
                // A driver may print lines of its own.
                match line.strip_prefix("failed ") {
                    Some(reason) => reason.to_owned(),
                    None => continue,
                }
            }
            Err(RecvTimeoutError::Timeout) => {
                format!("no answer within {} s", patience.as_secs_f32())
            }
            Err(RecvTimeoutError::Disconnected) => "the probe ended without an answer".to_owned(),
        };
        return Err((reached, reason));
    }
}

/// Starts as much of Bevy as a window with a picture needs, plugin by plugin in the order of
/// `DefaultPlugins`, reports each stage, and ends the process after the last frame.
///
/// The settings are Bevy's defaults, so the child chooses the backend and the adapter that the
/// example is going to get.
fn draw_and_exit() -> ! {
    let mut app = App::new();
    app.add_plugins((
        TaskPoolPlugin::default(),
        FrameCountPlugin,
        TimePlugin,
        TransformPlugin,
        InputPlugin,
        WindowPlugin {
            primary_window: Some(Window {
                resolution: WindowResolution::new(64, 64),
                visible: false,
                ..default()
            }),
            ..default()
        },
        AccessibilityPlugin,
        AssetPlugin {
            // The app loads nothing, and the folder may be missing.
            watch_for_changes_override: Some(false),
            ..default()
        },
    ));
    reach(&mut app, WinitPlugin::default(), Stage::Display);
    reach(&mut app, RenderPlugin::default(), Stage::Adapter);
    app.add_plugins((ImagePlugin::default(), MeshPlugin, CameraPlugin));
    app.add_systems(
        Last,
        |mut frames: Local<u32>, windows: Query<(), With<RawHandleWrapper>>| {
            // Extraction and drawing follow this schedule, so the frames before this one are
            // complete; those before the window opened had nothing to draw in.
            if *frames == FRAMES {
                say(Stage::Drawn.word());
                exit(0);
            }
            *frames += u32::from(!windows.is_empty());
        },
    );
    app.run();
    say("failed the renderer gave up");
    exit(1)
}

/// Adds the plugin that takes the app to a stage, and reports the stage: it panics on failure.
fn reach<M>(app: &mut App, plugin: impl Plugins<M>, stage: Stage) {
    app.add_plugins(plugin);
    say(stage.word());
}

/// Prints a line to the parent at once; the process may die on the next one. A parent that is
/// gone is no reason to panic.
fn say(line: &str) {
    let mut output = std::io::stdout();
    let _ = writeln!(output, "{line}").and_then(|()| output.flush());
}

/// What a panic's message tells the user: one line of bounded length.
fn short(message: &str) -> String {
    // winit's errors name a line of its own source first.
    let cause = message
        .split_once("OsError {")
        .and_then(|(_, fields)| fields.split_once("error: "))
        .map_or(message, |(_, cause)| cause.trim_end_matches(" })"));
    let line = cause.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(REASON_LENGTH) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
