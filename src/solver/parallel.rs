//! Loops over fixed chunks, on one thread or on a task pool.
//!
//! The chunks never depend on the number of threads, and a chunk's result
//! depends on nothing but its input, so neither does any result.

use bevy_platform::sync::{Mutex, PoisonError};
use bevy_tasks::TaskPool;

/// Particles in a chunk: enough work to hide the queue, few enough that a
/// small scene still spreads over the threads.
pub(crate) const CHUNK: usize = 512;

/// Number of particles below which loops stay on the calling thread, where
/// waking the pool costs more than it gains.
const SERIAL_BELOW: usize = 4096;

/// Where a solver runs its loops. The result is the same bit for bit.
#[derive(Clone, Copy, Default)]
pub enum Threads<'a> {
    /// On the calling thread alone.
    #[default]
    Serial,
    /// On a task pool, the calling thread helping.
    Pool(&'a TaskPool),
}

impl Threads<'_> {
    /// How many threads work.
    pub(crate) fn count(self) -> usize {
        match self {
            Threads::Serial => 1,
            Threads::Pool(pool) => pool.thread_num() + 1,
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
        }
    }
}

/// Calls `work` once for each item of `chunks`, in any order, on all threads.
///
/// The threads take the next item from a shared queue, so that dense and
/// sparse chunks balance and nothing is allocated per item.
pub(crate) fn for_each_chunk<I>(threads: Threads, chunks: I, work: impl Fn(I::Item) + Sync)
where
    I: ExactSizeIterator + Send,
    I::Item: Send,
{
    match threads {
        Threads::Pool(pool) if chunks.len() > 1 => {
            let queue = Mutex::new(chunks);
            let (queue, work) = (&queue, &work);
            pool.scope(|scope| {
                for _ in 0..pool.thread_num() + 1 {
                    scope.spawn(async move {
                        loop {
                            let next = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
                            match next {
                                Some(chunk) => work(chunk),
                                None => break,
                            }
                        }
                    });
                }
            });
        }
        _ => chunks.for_each(work),
    }
}

/// Parts of a slice, one for each of a list of ranges that neither overlap nor go back.
pub(crate) struct PartsMut<'a, T, R> {
    rest: &'a mut [T],
    /// Index of the first item of `rest`.
    offset: usize,
    ranges: R,
}

impl<'a, T, R> PartsMut<'a, T, R> {
    pub(crate) fn new(slice: &'a mut [T], ranges: R) -> Self {
        Self { rest: slice, offset: 0, ranges }
    }
}

impl<'a, T, R: ExactSizeIterator<Item = (u32, u32)>> Iterator for PartsMut<'a, T, R> {
    type Item = &'a mut [T];

    fn next(&mut self) -> Option<Self::Item> {
        let (start, end) = self.ranges.next()?;
        let (start, end) = (start as usize, end as usize);
        let rest = core::mem::take(&mut self.rest);
        let (part, rest) = rest[start - self.offset..].split_at_mut(end - start);
        (self.rest, self.offset) = (rest, end);
        Some(part)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.ranges.size_hint()
    }
}

impl<T, R: ExactSizeIterator<Item = (u32, u32)>> ExactSizeIterator for PartsMut<'_, T, R> {}

/// Two items at a time, or the last one alone.
pub(crate) struct Pairs<I>(pub(crate) I);

impl<I: ExactSizeIterator> Iterator for Pairs<I> {
    type Item = (I::Item, Option<I::Item>);

    fn next(&mut self) -> Option<Self::Item> {
        let first = self.0.next()?;
        Some((first, self.0.next()))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let pairs = self.0.len().div_ceil(2);
        (pairs, Some(pairs))
    }
}

impl<I: ExactSizeIterator> ExactSizeIterator for Pairs<I> {}

/// The sum of one partial result per chunk, in the order of the chunks.
pub(crate) fn ordered_sum(partial: &[f64]) -> f64 {
    partial.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy_tasks::TaskPoolBuilder;

    #[test]
    fn every_chunk_is_visited_once_by_more_than_one_thread() {
        let pool = TaskPoolBuilder::new().num_threads(3).build();
        let mut values = vec![0u32; CHUNK * 64];
        let seen = Mutex::new(std::collections::HashSet::new());
        let work = |(index, chunk): (usize, &mut [u32])| {
            seen.lock().unwrap().insert(std::thread::current().id());
            // Long enough that a single thread cannot drain the queue alone.
            std::thread::sleep(std::time::Duration::from_micros(200));
            for value in chunk {
                *value += 1 + index as u32;
            }
        };
        for_each_chunk(Threads::Pool(&pool), values.chunks_mut(CHUNK).enumerate(), work);
        let expected: Vec<u32> = (0..CHUNK * 64).map(|i| 1 + (i / CHUNK) as u32).collect();
        assert_eq!(values, expected);
        assert!(seen.lock().unwrap().len() > 1);
    }
}
