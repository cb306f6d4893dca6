//! Several passes over the same rows while they are in the cache.
//!
//! A stage of one pass over a line needs the stage before on the lines beside
//! it, and nothing else of the grid. So the stages follow each other down the grid
//! a line apart, and a grid too large for the cache is read once for all of them
//! (Douglas, Hu, Kowarschik, Rüde & Weiss 2000, "Cache optimization for structured
//! and unstructured grid multigrid"). Each number is computed from the same ones
//! as pass after pass: the order shows nowhere.
//!
//! On several threads the lines are cut into bands. At first each band goes as far
//! as its own lines suffice, a line less at each stage; what is left around the
//! cuts between them grows a line at each stage, and goes second.

use core::ops::Range;

use crate::solver::parallel::{Split, Threads, for_each_chunk};

/// Units below which all stages of a wave stay on the calling thread.
const SERIAL_BELOW: usize = 32768;

/// Bands for each thread: some wait less for others then.
const BANDS: usize = 2;

/// A sequence of stages over units of lines.
#[derive(Clone, Copy)]
pub(crate) struct Wave {
    /// Number of units.
    pub units: usize,
    /// Number of stages.
    pub stages: usize,
    /// Cells of all units together.
    pub cells: usize,
}

/// Arrays of lines that a wave writes to, each with a border line before the
/// first unit and behind the last.
pub(crate) struct Lines<'a, const N: usize> {
    pub arrays: [&'a mut [f32]; N],
    /// Length of a line of each array; 0 for an empty one.
    pub line: [usize; N],
    /// Lines of each array in a unit.
    pub per_unit: [usize; N],
}

/// A part of [`Lines`].
pub(crate) struct Band<'a, const N: usize> {
    pub arrays: [&'a mut [f32]; N],
    /// Index of the first item of each array in the whole one.
    pub offsets: [usize; N],
}

impl Wave {
    /// Calls `work` with each stage and unit, and the part of the arrays that
    /// holds the unit's lines and those beside them.
    pub(crate) fn run<const N: usize>(
        self,
        lines: Lines<N>,
        threads: Threads,
        work: impl Fn(usize, usize, &mut Band<N>) + Sync,
    ) {
        let Lines { mut arrays, line, per_unit } = lines;
        let count = if threads.count() > 1 && self.cells >= SERIAL_BELOW {
            // Half a band has to hold all that goes second on one side of a cut.
            let most = self.units / (2 * self.stages + 4);
            (BANDS * threads.count()).min(most).max(1)
        } else {
            1
        };
        let cut = |band: usize| self.units * band / count;
        for second in [false, true] {
            let bands = Bands {
                arrays: arrays.each_mut().map(|array| &mut **array),
                starts: [0; N],
                line,
                per_unit,
                numbers: 0..if second { count - 1 } else { count },
                unit: &|band: usize| {
                    if second { (cut(band) + cut(band + 1)) / 2 } else { cut(band) }
                },
            };
            for_each_chunk(threads, bands, |(number, mut band)| {
                let (low, high) = (cut(number), cut(number + 1));
                // What a band leaves at its ends, for each stage.
                let (at_low, at_high) = (usize::from(number > 0), usize::from(number + 1 < count));
                let range = |stage: usize| -> Range<usize> {
                    let left = stage + 1;
                    if second {
                        high - left..high + left
                    } else {
                        low + at_low * left..high - at_high * left
                    }
                };
                let widest = if second { range(self.stages - 1) } else { range(0) };
                for time in widest.start..widest.end + self.stages {
                    for stage in 0..self.stages.min(time + 1) {
                        if range(stage).contains(&(time - stage)) {
                            work(stage, time - stage, &mut band);
                        }
                    }
                }
            });
        }
    }
}

/// The bands of arrays, cut at the units that `unit` says.
struct Bands<'a, U, const N: usize> {
    arrays: [&'a mut [f32]; N],
    /// Index of the first item of each array in the whole one.
    starts: [usize; N],
    line: [usize; N],
    per_unit: [usize; N],
    numbers: Range<usize>,
    unit: &'a U,
}

impl<'a, U: Fn(usize) -> usize + Sync, const N: usize> Split for Bands<'a, U, N> {
    type Item = (usize, Band<'a, N>);

    fn len(&self) -> usize {
        self.numbers.end - self.numbers.start
    }

    fn split_at(self, count: usize) -> (Self, Self) {
        let Self { mut arrays, starts, line, per_unit, numbers, unit } = self;
        let (first, rest) = numbers.split_at(count);
        let mut middles = starts;
        let firsts = core::array::from_fn(|array| {
            let part = core::mem::take(&mut arrays[array]);
            let length = if first.is_empty() {
                // Not the line before the first unit either.
                0
            } else if rest.is_empty() {
                part.len()
            } else {
                let lines = 1 + per_unit[array] * unit(rest.start);
                (lines * line[array]).saturating_sub(starts[array]).min(part.len())
            };
            let (part, others) = part.split_at_mut(length);
            arrays[array] = others;
            middles[array] += length;
            part
        });
        (
            Self { arrays: firsts, starts, line, per_unit, numbers: first, unit },
            Self { arrays, starts: middles, line, per_unit, numbers: rest, unit },
        )
    }

    fn first(self) -> Self::Item {
        let (Self { arrays, starts, numbers, .. }, _) = self.split_at(1);
        (numbers.start, Band { arrays, offsets: starts })
    }
}
