//! Work on one block after the other, by several threads, whose results come in the order of the blocks.

use crate::error::DedupError;
use crate::parallel;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// Blocks that wait for each of the other threads, so that none of them is idle while this one makes a block itself.
const AHEAD: usize = 2;

/// What has been made.
struct Made<M> {
    /// The block whose turn it is.
    turn: u64,
    /// Of later blocks.
    done: BTreeMap<u64, Result<M, DedupError>>,
    /// Some thread takes those whose turn it is, one after the other.
    is_taking: bool,
    failure: Option<DedupError>,
}

/// Says that a thread has panicked: its block will never have its turn.
struct Fails<'a>(&'a AtomicBool);

impl Drop for Fails<'_> {
    fn drop(&mut self) {
        self.0.fetch_or(std::thread::panicking(), Ordering::Relaxed);
    }
}

/// Calls `make` with every block that `next` gives, on at most `threads` tasks of the current pool (0: all of it), and `take` with what
/// comes back, in the order of the blocks, one at a time. `next` and `tick`, after each block, are called on this thread.
///
/// No barrier: a thread that has made a block goes on with another one; whoever makes the one whose turn it is takes those that
/// are ready, and those that become ready meanwhile. At most three blocks for each task are there at a time.
///
/// # Errors
/// The first one, in the order of the blocks, or that of `next`.
pub(super) fn in_order<B: Send, M: Send>(
    threads: usize,
    cancel: &AtomicBool,
    mut next: impl FnMut() -> Result<Option<B>, DedupError>,
    make: impl Fn(B) -> Result<M, DedupError> + Sync,
    take: impl FnMut(M) -> Result<(), DedupError> + Send,
    mut tick: impl FnMut(),
) -> Result<(), DedupError> {
    let pool = rayon::current_num_threads();
    let tasks = if threads == 0 { pool } else { threads.min(pool) };
    let made = Made { turn: 0, done: BTreeMap::new(), is_taking: false, failure: None };
    let (made, take) = (Mutex::new(made), Mutex::new(take));
    // Blocks that are not taken yet; those of them that other threads have not made.
    let (open, away) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let failed = AtomicBool::new(false);
    let work = |number: u64, block: B| {
        let _fails = Fails(&failed);
        let result = make(block);
        let mut held = made.lock();
        held.done.insert(number, result);
        // Whoever takes goes on with this one: nobody waits for a turn.
        if held.is_taking {
            return;
        }
        held.is_taking = true;
        loop {
            let turn = held.turn;
            let Some(next) = held.done.remove(&turn) else { break };
            held.turn += 1;
            let has_failed = held.failure.is_some();
            drop(held);
            let taken = if has_failed { Ok(()) } else { next.and_then(&mut *take.lock()) };
            held = made.lock();
            if let Err(error) = taken {
                held.failure = Some(error);
                failed.store(true, Ordering::Relaxed);
            }
            open.fetch_sub(1, Ordering::Relaxed);
        }
        held.is_taking = false;
    };
    rayon::in_place_scope(|scope| {
        let (work, away) = (&work, &away);
        for number in 0.. {
            let Some(block) = next()? else { break };
            open.fetch_add(1, Ordering::Relaxed);
            if away.load(Ordering::Relaxed) < AHEAD * (tasks - 1) {
                away.fetch_add(1, Ordering::Relaxed);
                scope.spawn(move |_| {
                    work(number, block);
                    away.fetch_sub(1, Ordering::Relaxed);
                });
            } else {
                work(number, block);
            }
            // A long block holds up those behind it.
            while open.load(Ordering::Relaxed) > (AHEAD + 1) * tasks
                && !failed.load(Ordering::Relaxed)
            {
                parallel::check(cancel)?;
                if rayon::yield_now() != Some(rayon::Yield::Executed) {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
            if failed.load(Ordering::Relaxed) {
                break;
            }
            tick();
        }
        Ok::<_, DedupError>(())
    })?;
    made.into_inner().failure.map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_and_the_first_error_ends_it() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
        let cancel = AtomicBool::new(false);
        for threads in [0, 1, 2, 9] {
            for fails in [None, Some(0), Some(37)] {
                let (mut blocks, mut taken) = (0..100u64, Vec::new());
                let done = pool.install(|| {
                    in_order(
                        threads,
                        &cancel,
                        || Ok(blocks.next()),
                        |block| {
                            // The earlier of each ten take longer.
                            (0..(10 - block % 10) * 2_000)
                                .for_each(|n| assert!(std::hint::black_box(n) < 20_000));
                            if Some(block) == fails { Err(DedupError::TooMany) } else { Ok(block) }
                        },
                        |block| {
                            taken.push(block);
                            Ok(())
                        },
                        || {},
                    )
                });
                let end = fails.unwrap_or(100);
                assert_eq!(taken, (0..end).collect::<Vec<_>>(), "{threads}");
                assert_eq!(done.is_err(), fails.is_some());
            }
        }
    }

    #[test]
    fn an_error_of_the_reader_and_of_the_taker_come_back() {
        let cancel = AtomicBool::new(false);
        let mut left = 3;
        let next = || {
            left -= 1;
            if left == 0 { Err(DedupError::TooMany) } else { Ok(Some(left)) }
        };
        let read = in_order(2, &cancel, next, Ok, |_| Ok(()), || {});
        assert!(matches!(read, Err(DedupError::TooMany)));
        let mut endless = 0..;
        let next = || Ok(endless.next());
        let taken = in_order(2, &cancel, next, Ok, |_: i32| Err(DedupError::TooMany), || {});
        assert!(matches!(taken, Err(DedupError::TooMany)));
    }
}
