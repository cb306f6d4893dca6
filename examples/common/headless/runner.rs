//! The loop over the steps.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use bevy_fluid::frames::{check_writable, write_whole};
use bevy_fluid::solver::parallel::Threads;
use bevy_fluid::solver::simulation::{Simulation, SimulationState, StateFile};
use bevy_fluid::solver::vector::Vector;
use bevy_tasks::{TaskPool, TaskPoolBuilder};

use super::checkpoint::Checkpoint;
use super::error::RunError;
use super::frames::Frames;
use super::interrupt;
use super::options::Options;
use super::progress::{End, Progress};
use super::record::step_line;
use super::start::Beginning;

/// Runs a simulation to the end that the options name.
pub fn run<V: Vector>(beginning: Beginning<V>, options: &Options) -> Result<(), RunError>
where
    StateFile: From<SimulationState<V>>,
{
    let Beginning { first: mut simulation, resumed, scene } = beginning;
    let end = match options.steps {
        Some(steps) => End::Step(simulation.steps().saturating_add(steps)),
        None => End::Time(simulation.time() + options.duration()),
    };
    check_snapshots(options, simulation.steps(), end)?;
    let pool = pool(options);
    let threads = pool.as_ref().map_or(Threads::Serial, Threads::Pool);
    simulation.prepare(threads).map_err(RunError::input)?;
    if let Some(path) = &options.save {
        check_writable(path).map_err(|error| RunError::input_file("write", path, error))?;
    }
    let mut frames = Frames::open(options, &simulation)?;
    if let Some(resumed) = resumed {
        simulation = resumed;
        simulation.prepare(threads).map_err(RunError::input)?;
    }
    let mut log = Log::open(options, simulation.steps())?;
    if let Some(frames) = &mut frames {
        frames.begin(&mut simulation)?;
    }
    let mut checkpoint = Checkpoint::new(options, scene);
    interrupt::listen();

    let mut progress = Progress::start(&simulation, end);
    while !end.reached(&simulation) && !interrupt::requested() {
        let start = Instant::now();
        let removed =
            simulation.step(simulation.next_step(), threads).map_err(RunError::input)?.len();
        progress.step(&simulation, start.elapsed());
        if removed > 0 {
            let step = simulation.steps();
            progress.warn(&format!("step {step}: removed {removed} particles, no longer finite"));
        }
        if let Some(log) = &mut log {
            log.write(&simulation)?;
        }
        if let Some(frames) = &mut frames {
            frames.write(&mut simulation)?;
        }
        if let Some(checkpoint) = &mut checkpoint {
            checkpoint.step(&mut simulation)?;
        }
    }
    let closing = progress.finish(&simulation);

    if let Some(path) = &options.save {
        let text = StateFile::from(simulation.state()).to_ron();
        let text = text.map_err(|error| RunError::output_file(path, error))?;
        write_whole(path, text.as_bytes()).map_err(|error| RunError::output_file(path, error))?;
    }
    if let Some(frames) = frames {
        if let Some(step) = frames.missing().first() {
            eprintln!("the run ended before step {step}, so there is no snapshot of it");
        }
        frames.finish(&mut simulation)?;
    }
    if let Some(checkpoint) = checkpoint {
        if end.reached(&simulation) {
            checkpoint.finish();
        } else {
            checkpoint.save(&mut simulation)?;
        }
    }
    // Nobody listens where this fails.
    let _ = writeln!(std::io::stdout(), "{closing}");
    if interrupt::requested() { Err(RunError::Interrupted) } else { Ok(()) }
}

/// Refuses snapshots that this run cannot reach.
fn check_snapshots(options: &Options, first: u64, end: End) -> Result<(), RunError> {
    let last = match end {
        End::Step(last) => last,
        End::Time(_) => u64::MAX,
    };
    match options.snapshots.iter().find(|&step| !(first..=last).contains(step)) {
        None => Ok(()),
        Some(step) => Err(RunError::input(format!(
            "--snapshots {step}: this run goes from step {first} to {}",
            if last == u64::MAX { "a later one".to_owned() } else { last.to_string() },
        ))),
    }
}

/// The workers beside the calling thread, which works too; none for one thread.
fn pool(options: &Options) -> Option<TaskPool> {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = options.threads.map_or_else(cores, |threads| threads as usize);
    let workers = threads.saturating_sub(1);
    (workers > 0).then(|| TaskPoolBuilder::new().num_threads(workers).build())
}

/// The `--jsonl` file, which grows by whole lines.
struct Log {
    file: File,
    path: PathBuf,
}

impl Log {
    /// Starts the file anew, where one is asked for; after `steps` steps of an
    /// interrupted run with the lines of these.
    fn open(options: &Options, steps: u64) -> Result<Option<Self>, RunError> {
        let Some(path) = options.jsonl.clone() else { return Ok(None) };
        let kept = if options.resume && steps > 0 { Self::lines(&path, steps) } else { Ok(vec![]) };
        let file = kept.and_then(|kept| {
            write_whole(&path, &kept)?;
            File::options().append(true).open(&path)
        });
        match file {
            Ok(file) => Ok(Some(Self { file, path })),
            Err(error) => Err(RunError::input_file("write", &path, error)),
        }
    }

    /// The lines of a file up to a step.
    fn lines(path: &Path, steps: u64) -> std::io::Result<Vec<u8>> {
        let text = match std::fs::read_to_string(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            read => read?,
        };
        let step =
            |line: &str| serde_json::from_str::<serde_json::Value>(line).ok()?["step"].as_u64();
        let kept = text.split_inclusive('\n');
        let kept = kept.take_while(|line| step(line).is_some_and(|step| step <= steps));
        Ok(kept.collect::<String>().into_bytes())
    }

    /// Adds the line of the last step.
    fn write<V: Vector>(&mut self, simulation: &Simulation<V>) -> Result<(), RunError> {
        let line = step_line(simulation);
        let line = line.map_err(|error| RunError::output_file(&self.path, error))?;
        // In one call, so that a run that is killed leaves no part of a line.
        self.file
            .write_all(line.as_bytes())
            .map_err(|error| RunError::output_file(&self.path, error))
    }
}
