//! Loops over independent pieces of work on the current rayon pool.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use crate::IndexError;

/// How many tasks a caller's `threads` stands for: 0 is as many as the pool has.
pub(super) fn count(threads: usize) -> usize {
    if threads == 0 { rayon::current_num_threads() } else { threads }
}

/// Fails once the flag is raised.
pub(super) fn live(cancel: &AtomicBool) -> Result<(), IndexError> {
    if cancel.load(Ordering::Relaxed) { Err(IndexError::Cancelled) } else { Ok(()) }
}

/// `work` for every number below `count`, on at most `threads` tasks, in order of the numbers. The flag is polled
/// between pieces.
pub(super) fn each<T: Send>(
    count: usize,
    threads: usize,
    cancel: &AtomicBool,
    work: impl Fn(usize) -> T + Sync,
) -> Result<Vec<T>, IndexError> {
    let one = |number| live(cancel).map(|()| work(number));
    if threads == 1 {
        (0..count).map(one).collect()
    } else {
        let least = if threads == 0 { 1 } else { count.div_ceil(threads).max(1) };
        (0..count).into_par_iter().with_min_len(least).map(one).collect()
    }
}

/// `work` for every item, on at most `threads` tasks.
pub(super) fn each_mut<T: Send>(items: Vec<T>, threads: usize, work: impl Fn(T) + Sync + Send) {
    if threads == 1 {
        items.into_iter().for_each(work);
    } else {
        let least = if threads == 0 { 1 } else { items.len().div_ceil(threads).max(1) };
        items.into_par_iter().with_min_len(least).for_each(work);
    }
}
