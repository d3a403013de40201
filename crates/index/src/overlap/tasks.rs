//! Numbered pieces of work on the current pool, at most so many at a time, their results in order.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use parking_lot::Mutex;

use crate::IndexError;

/// `work(piece, scratch)` for the pieces 0 to `count - 1`; a task takes a scratch from `scratches` and puts it back.
/// `threads` is the most tasks at a time, 0: as many as the pool has threads. The flag is looked at before each piece.
pub(super) fn each<T: Send, S: Default + Send>(
    count: usize,
    threads: usize,
    cancel: &AtomicBool,
    scratches: &Mutex<Vec<S>>,
    work: impl Fn(usize, &mut S) -> T + Sync,
) -> Result<Vec<T>, IndexError> {
    let pool = rayon::current_num_threads();
    let tasks = (if threads == 0 { pool } else { threads.min(pool) }).min(count);
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(count));
    let task = || {
        let mut scratch = scratches.lock().pop().unwrap_or_default();
        let mut results = Vec::new();
        loop {
            let piece = next.fetch_add(1, Ordering::Relaxed);
            if piece >= count || cancel.load(Ordering::Relaxed) {
                break;
            }
            results.push((piece, work(piece, &mut scratch)));
        }
        done.lock().extend(results);
        scratches.lock().push(scratch);
    };
    if tasks <= 1 {
        task();
    } else {
        rayon::scope(|scope| (0..tasks).for_each(|_| scope.spawn(|_| task())));
    }
    if cancel.load(Ordering::Relaxed) {
        return Err(IndexError::Cancelled);
    }
    let mut done = done.into_inner();
    done.sort_unstable_by_key(|&(piece, _)| piece);
    Ok(done.into_iter().map(|(_, result)| result).collect())
}
