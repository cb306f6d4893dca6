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

use crate::solver::parallel::{Threads, for_each_chunk};

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
        let count = match threads {
            Threads::Pool(pool) if self.cells >= SERIAL_BELOW => {
                // Half a band has to hold all that goes second on one side of a cut.
                let most = self.units / (2 * self.stages + 4);
                (BANDS * (pool.thread_num() + 1)).min(most).max(1)
            }
            _ => 1,
        };
        let cut = |band: usize| self.units * band / count;
        for second in [false, true] {
            let cuts = Cuts {
                rest: arrays.each_mut().map(|array| &mut **array),
                starts: [0; N],
                line,
                per_unit,
                last: if second { count - 1 } else { count },
                next: 0,
                unit: |band: usize| {
                    if second { (cut(band) + cut(band + 1)) / 2 } else { cut(band) }
                },
            };
            for_each_chunk(threads, cuts, |(number, mut band)| {
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
struct Cuts<'a, U, const N: usize> {
    rest: [&'a mut [f32]; N],
    starts: [usize; N],
    line: [usize; N],
    per_unit: [usize; N],
    last: usize,
    next: usize,
    unit: U,
}

impl<'a, U: Fn(usize) -> usize, const N: usize> Iterator for Cuts<'a, U, N> {
    type Item = (usize, Band<'a, N>);

    fn next(&mut self) -> Option<Self::Item> {
        let number = self.next;
        if number == self.last {
            return None;
        }
        self.next += 1;
        let offsets = self.starts;
        let arrays = core::array::from_fn(|array| {
            let rest = core::mem::take(&mut self.rest[array]);
            if self.next == self.last {
                return rest;
            }
            let lines = 1 + self.per_unit[array] * (self.unit)(self.next);
            let length = (lines * self.line[array] - offsets[array]).min(rest.len());
            let (part, rest) = rest.split_at_mut(length);
            self.rest[array] = rest;
            self.starts[array] += length;
            part
        });
        Some((number, Band { arrays, offsets }))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.last - self.next;
        (left, Some(left))
    }
}

impl<U: Fn(usize) -> usize, const N: usize> ExactSizeIterator for Cuts<'_, U, N> {}
