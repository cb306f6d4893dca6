//! Threads that stay at hand from one loop to the next.
//!
//! Waking a thread takes as long as a loop over ten thousand particles does. So
//! the threads of a pool are called once for many loops and look for the next
//! one themselves: for a while at once, and then asleep. Nobody waits for a
//! thread that does not come: what there is to do is done by those who do.

use core::future::poll_fn;
use core::hint::spin_loop;
use core::mem::transmute;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::task::{Context, Poll, Waker};
use core::time::Duration;

use bevy_platform::sync::{Mutex, PoisonError, RwLock, TryLockError};
use bevy_platform::time::Instant;
use bevy_tasks::TaskPool;

/// What each thread of a team does in a loop, given its number; 0 is the thread
/// that calls. Any part of the team must be able to do all of it.
type Job<'a> = dyn Fn(usize) + Sync + 'a;

/// Looks for a loop before a thread lets others have its processor between looks.
const LOOKS: u32 = 100;

/// Time without a loop after which a thread goes back to its pool until it is
/// woken: the serial parts of a step between loops are shorter.
const PATIENCE: Duration = Duration::from_micros(200);

/// Time after which a thread lets its pool have a turn, whose other tasks wait.
const TURN: Duration = Duration::from_millis(1);

/// Number of the loop after the last one.
const NONE: usize = usize::MAX;

/// Threads of a pool, and the one that calls, in a scope of many loops.
pub struct Team {
    /// How many they are.
    threads: usize,
    /// Number of the present loop.
    number: AtomicUsize,
    /// The present loop. Whoever runs it holds the lock.
    job: RwLock<Option<&'static Job<'static>>>,
    /// Held while there is a loop.
    leading: Mutex<()>,
    asleep: Mutex<Vec<Waker>>,
}

impl Team {
    /// Calls `work` with a team of this thread and those of a pool.
    pub(super) fn call(pool: &TaskPool, work: impl FnOnce(&Team)) {
        let threads = pool.thread_num() + 1;
        let team = Self {
            threads,
            number: AtomicUsize::new(0),
            job: RwLock::new(None),
            leading: Mutex::new(()),
            asleep: Mutex::new(Vec::with_capacity(threads)),
        };
        pool.scope(|scope| {
            for thread in 1..threads {
                let team = &team;
                scope.spawn(async move {
                    let mut seen = 0;
                    poll_fn(|context| team.help(thread, &mut seen, context)).await;
                });
            }
            let _dismissed = Dismissed(&team);
            work(&team);
        });
    }

    /// How many threads there are.
    pub(super) fn threads(&self) -> usize {
        self.threads
    }

    /// Runs a loop on this thread and all that come; ends when all of them have.
    pub(super) fn run(&self, job: &Job) {
        // Within a loop, or beside that of another thread, there is no one to help.
        let Ok(_leading) = self.leading.try_lock() else { return job(0) };
        // SAFETY: but for its lifetime the type is the same. `Finished` takes the job back
        // before this function ends, be it by a panic, and waits for the lock that those
        // who run it hold.
        let lasting = unsafe { transmute::<&Job, &'static Job<'static>>(job) };
        let finished = Finished(self);
        *self.job.write().unwrap_or_else(PoisonError::into_inner) = Some(lasting);
        self.advance(self.number.load(Ordering::Relaxed) + 1);
        job(0);
        drop(finished);
    }

    /// Announces a loop.
    fn advance(&self, number: usize) {
        self.number.store(number, Ordering::Release);
        let mut asleep = self.asleep.lock().unwrap_or_else(PoisonError::into_inner);
        asleep.drain(..).for_each(Waker::wake);
    }

    /// Helps in the loops after that numbered `seen`, until there are no more.
    fn help(&self, thread: usize, seen: &mut usize, context: &mut Context) -> Poll<()> {
        let start = Instant::now();
        let (mut idle_since, mut looks) = (start, 0);
        loop {
            let number = self.number.load(Ordering::Acquire);
            if number == NONE {
                return Poll::Ready(());
            }
            if number != *seen {
                *seen = number;
                // Locked by the caller where it has been done meanwhile.
                if let Ok(job) = self.job.try_read()
                    && let Some(job) = *job
                {
                    job(thread);
                }
                (idle_since, looks) = (Instant::now(), 0);
                if idle_since - start > TURN {
                    context.waker().wake_by_ref();
                    return Poll::Pending;
                }
            } else if looks < LOOKS {
                looks += 1;
                spin_loop();
            } else if idle_since.elapsed() < PATIENCE {
                std::thread::yield_now();
            } else if self.fall_asleep(number, context.waker()) {
                return Poll::Pending;
            }
        }
    }

    /// Asks to be woken for the loop after that numbered `seen`. Returns false if it is there already.
    fn fall_asleep(&self, seen: usize, waker: &Waker) -> bool {
        // A loop that is announced after this look finds the waker.
        let mut asleep = self.asleep.lock().unwrap_or_else(PoisonError::into_inner);
        let nothing = self.number.load(Ordering::Acquire) == seen;
        if nothing {
            asleep.push(waker.clone());
        }
        nothing
    }
}

/// Takes the job of a team back.
struct Finished<'a>(&'a Team);

impl Drop for Finished<'_> {
    fn drop(&mut self) {
        let mut looks = 0;
        loop {
            match self.0.job.try_write() {
                Ok(mut job) => return *job = None,
                Err(TryLockError::Poisoned(job)) => return *job.into_inner() = None,
                Err(TryLockError::WouldBlock) if looks < LOOKS => spin_loop(),
                Err(TryLockError::WouldBlock) => std::thread::yield_now(),
            }
            looks += 1;
        }
    }
}

/// Tells a team that there are no more loops.
struct Dismissed<'a>(&'a Team);

impl Drop for Dismissed<'_> {
    fn drop(&mut self) {
        self.0.advance(NONE);
    }
}
