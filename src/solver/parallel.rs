//! Loops over fixed chunks, on one thread or on a task pool.
//!
//! The chunks never depend on the number of threads, and a chunk's result
//! depends on nothing but its input, so neither does any result.

mod split;
mod team;

use bevy_platform::sync::{Mutex, PoisonError};
use bevy_tasks::TaskPool;

pub(crate) use split::{Pairs, PartsMut, Split, chunks, chunks_mut, numbers};
pub use team::Team;

/// Particles in a chunk: enough work to hide the queue, few enough that a
/// small scene still spreads over the threads.
pub(crate) const CHUNK: usize = 512;

/// Number of particles below which loops stay on the calling thread, where
/// waking the pool costs more than it gains.
const SERIAL_BELOW: usize = 2048;

/// Where a solver runs its loops. The result is the same bit for bit.
#[derive(Clone, Copy, Default)]
pub enum Threads<'a> {
    /// On the calling thread alone.
    #[default]
    Serial,
    /// On a task pool, the calling thread helping.
    Pool(&'a TaskPool),
    /// On threads of a task pool that stay at hand, see [`Threads::together`].
    Team(&'a Team),
}

impl Threads<'_> {
    /// Calls `work` with the same threads, those of a pool at hand until it ends, so that
    /// each of its loops does not have to wake them. The solvers do so for each
    /// stage, and for a whole step where they are asked for one.
    pub fn together(self, work: impl FnOnce(Threads)) {
        match self {
            Threads::Pool(pool) if pool.thread_num() > 0 => {
                Team::call(pool, |team| work(Threads::Team(team)));
            }
            _ => work(self),
        }
    }

    /// How many threads work.
    pub(crate) fn count(self) -> usize {
        match self {
            Threads::Serial => 1,
            Threads::Pool(pool) => pool.thread_num() + 1,
            Threads::Team(team) => team.threads(),
        }
    }

    /// Runs a job, which any of the threads can do alone, on all of them. It is
    /// given the thread's number, from 0 for the one that calls.
    fn run(self, job: &(dyn Fn(usize) + Sync)) {
        match self {
            Threads::Serial => job(0),
            Threads::Pool(_) => self.together(|threads| threads.run(job)),
            Threads::Team(team) => team.run(job),
        }
    }

    /// These threads, or the calling one alone where that is faster for `particles`.
    pub(crate) fn for_particles(self, particles: usize) -> Self {
        if particles < SERIAL_BELOW { Threads::Serial } else { self }
    }
}

impl core::fmt::Debug for Threads<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Threads::Serial => f.write_str("Serial"),
            Threads::Pool(pool) => write!(f, "Pool({})", pool.thread_num()),
            Threads::Team(team) => write!(f, "Team({})", team.threads()),
        }
    }
}

/// Stretches that a loop is divided into at most. More threads than that share
/// a stretch; they find chunks left in the others'.
const MOST_STRETCHES: usize = 16;

/// A thread's stretch of a loop, apart from others' in memory.
#[repr(align(128))]
struct Stretch<I>(Mutex<Option<I>>);

impl<I: Split> Stretch<I> {
    /// Takes the first item, or the last one.
    fn take(&self, first: bool) -> Option<I::Item> {
        let mut stretch = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let items = stretch.take().filter(|items| items.len() > 0)?;
        let end = if first { 1 } else { items.len() - 1 };
        let (front, back) = items.split_at(end);
        let (item, rest) = if first { (front, back) } else { (back, front) };
        *stretch = Some(rest);
        drop(stretch);
        Some(item.first())
    }
}

/// Calls `work` once for each item of `chunks`, in any order, on all threads.
///
/// Each thread starts with a stretch of its own, the same in every loop over
/// the same chunks, so that what it wrote in the last one is still near. It then
/// takes from the ends of the others', so that dense and sparse chunks balance.
pub(crate) fn for_each_chunk<I: Split>(threads: Threads, chunks: I, work: impl Fn(I::Item) + Sync) {
    let count = chunks.len();
    let threads = if count > 1 { threads } else { Threads::Serial };
    let used = threads.count().min(MOST_STRETCHES);
    let mut stretches: [Stretch<I>; MOST_STRETCHES] =
        core::array::from_fn(|_| Stretch(Mutex::new(None)));
    let mut rest = chunks;
    for (number, stretch) in stretches[1..used].iter_mut().enumerate() {
        let start = |number: usize| count * number / used;
        let (own, others) = rest.split_at(start(number + 1) - start(number));
        *stretch = Stretch(Mutex::new(Some(own)));
        rest = others;
    }
    stretches[0] = Stretch(Mutex::new(Some(rest)));
    threads.run(&|thread| {
        for turn in 0..used {
            let stretch = &stretches[(thread + turn) % used];
            while let Some(item) = stretch.take(turn == 0) {
                work(item);
            }
        }
    });
}

/// The sum of one partial result per chunk, in the order of the chunks.
pub(crate) fn ordered_sum(partial: &[f64]) -> f64 {
    partial.iter().sum()
}

/// Sum of the numbers of a chunk, in eight parts that need not wait for each other.
pub(crate) fn sum(numbers: &[f32]) -> f64 {
    let (eights, rest) = numbers.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for eight in eights {
        sums.iter_mut().zip(eight).for_each(|(sum, &number)| *sum += f64::from(number));
    }
    sums.iter().sum::<f64>() + rest.iter().map(|&number| f64::from(number)).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy_tasks::TaskPoolBuilder;
    use std::collections::HashSet;
    use std::time::Duration;

    /// Adds the number of each chunk plus one to its values, and returns how many threads did.
    fn add_numbers(threads: Threads, values: &mut [u32], pause: Duration) -> usize {
        let seen = Mutex::new(HashSet::new());
        for_each_chunk(threads, (numbers(), chunks_mut(values)), |(index, chunk)| {
            seen.lock().unwrap().insert(std::thread::current().id());
            std::thread::sleep(pause);
            chunk.iter_mut().for_each(|value| *value += 1 + index as u32);
        });
        seen.into_inner().unwrap().len()
    }

    /// What adding so many times gives.
    fn sums(len: usize, times: u32) -> Vec<u32> {
        (0..len).map(|i| times * (1 + (i / CHUNK) as u32)).collect()
    }

    // Long enough that a single thread cannot do all chunks alone.
    const PAUSE: Duration = Duration::from_micros(500);

    #[test]
    fn every_chunk_is_visited_once_by_more_than_one_thread() {
        for count in [1, 3, 40] {
            let pool = TaskPoolBuilder::new().num_threads(count).build();
            let mut values = vec![0; CHUNK * 64 - 5];
            let seen = add_numbers(Threads::Pool(&pool), &mut values, PAUSE);
            assert_eq!(values, sums(values.len(), 1));
            assert!(seen > 1);
        }
    }

    #[test]
    fn a_team_does_one_loop_after_another_and_wakes_up_for_it() {
        let pool = TaskPoolBuilder::new().num_threads(3).build();
        let mut values = vec![0; CHUNK * 64];
        let mut threads_seen = Vec::new();
        Threads::Pool(&pool).together(|threads| {
            for times in 0..200 {
                // Some pauses are long enough to fall asleep in.
                std::thread::sleep(PAUSE * u32::from(times % 50 == 0) * 10);
                let pause = PAUSE * u32::from(times % 50 == 0);
                let seen = add_numbers(threads, &mut values, pause);
                threads_seen.extend((times % 50 == 0).then_some(seen));
            }
        });
        assert_eq!(values, sums(values.len(), 200));
        assert!(threads_seen.iter().all(|&seen| seen > 1), "{threads_seen:?}");
    }

    #[test]
    fn a_busy_pool_is_not_waited_for() {
        let pool = TaskPoolBuilder::new().num_threads(2).build();
        let (release, released) = std::sync::mpsc::channel::<()>();
        let released = std::sync::Arc::new(Mutex::new(released));
        let started = std::sync::Arc::new(std::sync::Barrier::new(3));
        let busy: Vec<_> = (0..2)
            .map(|_| {
                let (released, started) = (released.clone(), started.clone());
                pool.spawn(async move {
                    started.wait();
                    released.lock().unwrap().recv().is_err()
                })
            })
            .collect();
        started.wait();
        let mut values = vec![0; CHUNK * 64];
        assert_eq!(add_numbers(Threads::Pool(&pool), &mut values, Duration::ZERO), 1);
        assert_eq!(values, sums(values.len(), 1));
        drop(release);
        busy.into_iter().for_each(|task| assert!(bevy_tasks::block_on(task)));
    }

    #[test]
    fn loops_within_loops_and_beside_others_are_done() {
        let pool = TaskPoolBuilder::new().num_threads(2).build();
        let mut values = vec![vec![0; CHUNK * 8]; CHUNK * 3];
        Threads::Pool(&pool).together(|threads| {
            for_each_chunk(threads, chunks_mut(&mut values), |chunk| {
                add_numbers(threads, &mut chunk[0], Duration::ZERO);
            });
            let (a, b) = values.split_at_mut(CHUNK);
            std::thread::scope(|scope| {
                for values in [&mut a[1], &mut b[1]] {
                    scope.spawn(|| {
                        for _ in 0..50 {
                            add_numbers(threads, values, Duration::ZERO);
                        }
                    });
                }
            });
        });
        for chunk in 0..3 {
            assert_eq!(values[chunk * CHUNK], sums(CHUNK * 8, 1));
        }
        for chunk in 0..2 {
            assert_eq!(values[chunk * CHUNK + 1], sums(CHUNK * 8, 50));
        }
    }

    #[test]
    fn a_panic_in_a_loop_is_passed_on_and_ends_the_team() {
        let pool = TaskPoolBuilder::new().num_threads(3).build();
        for broken in [0, 40, 63] {
            let mut values = vec![0u8; CHUNK * 64];
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                for_each_chunk(
                    Threads::Pool(&pool),
                    (numbers(), chunks_mut(&mut values)),
                    |(k, _)| {
                        std::thread::sleep(PAUSE);
                        assert!(k != broken, "broken");
                    },
                );
            }));
            assert!(result.is_err());
        }
        let mut values = vec![0; CHUNK * 64];
        add_numbers(Threads::Pool(&pool), &mut values, PAUSE);
        assert_eq!(values, sums(values.len(), 1));
    }
}
