//! One loop over a slice on the current rayon pool, with a cap on tasks and a cancel flag.
//!
//! Tasks take small runs of items, so one long document does not hold up the others, and each keeps its scratch memory. Each begins in
//! a region of its own and helps the others when that is done: neighbours often ask for the same texts, and two tasks side by side
//! would make what they share at the same time, each for itself. Every item has its own slot: the result does not depend on who
//! computes it.

use crate::error::DedupError;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// Items a task takes at once: a lock per 16 short documents costs nothing beside them, and the
/// cancel flag is polled after at most 16 long ones.
const RUN: usize = 16;

/// Calls `work` for every item, with one `scratch` per task.
///
/// `threads` is the most tasks at a time, 0 = as many as the current pool has threads.
///
/// # Errors
/// [`DedupError::Cancelled`] when `cancel` was set before the end; some items are then untouched.
/// Otherwise the first error of the lowest run that failed.
pub(crate) fn for_each<T: Send, S>(
    items: &mut [T],
    threads: usize,
    cancel: &AtomicBool,
    scratch: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &mut T) -> Result<(), DedupError> + Sync,
) -> Result<(), DedupError> {
    in_runs(items, RUN, threads, cancel, scratch, work)
}

/// The same for few items that are much work each: a task takes one at a time.
pub(crate) fn for_each_large<T: Send, S>(
    items: &mut [T],
    threads: usize,
    cancel: &AtomicBool,
    scratch: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &mut T) -> Result<(), DedupError> + Sync,
) -> Result<(), DedupError> {
    in_runs(items, 1, threads, cancel, scratch, work)
}

/// Sorts on at most so many tasks: pieces of their own first, which are then cut at the same values and merged, those between two values
/// by one task. It takes the bytes of the items once more, half as many again for each task.
///
/// # Errors
/// [`DedupError::Cancelled`]; the items are then in another order than before. The flag is looked at after each piece.
pub(crate) fn sort<T: Ord + Copy + Send + Sync>(
    items: &mut [T],
    threads: usize,
    cancel: &AtomicBool,
) -> Result<(), DedupError> {
    let pool = rayon::current_num_threads();
    let tasks = if threads == 0 { pool } else { threads.min(pool) };
    let count = if items.len() < SORTED { 1 } else { tasks.max(items.len().div_ceil(PIECE)) };
    if count <= 1 {
        items.sort_unstable();
        return check(cancel);
    }
    let length = items.len().div_ceil(count);
    let mut pieces: Vec<&mut [T]> = items.chunks_mut(length).collect();
    for_each_large(
        &mut pieces,
        threads,
        cancel,
        || (),
        |(), piece| {
            piece.sort_unstable();
            Ok(())
        },
    )?;
    let mut merged = between(items, length, count);
    for_each_large(
        &mut merged,
        threads,
        cancel,
        || (),
        |(), (parts, merged)| {
            *merged = parts.concat();
            // It finds what is in order already, and merges that.
            merged.sort();
            Ok(())
        },
    )?;
    let merged: Vec<Vec<T>> = merged.into_iter().map(|(_, merged)| merged).collect();
    let (mut places, mut rest) = (Vec::with_capacity(merged.len()), items);
    for merged in merged {
        let (own, behind) = std::mem::take(&mut rest).split_at_mut(merged.len());
        places.push((own, merged));
        rest = behind;
    }
    for_each_large(
        &mut places,
        threads,
        cancel,
        || (),
        |(), (own, merged)| {
            own.copy_from_slice(merged);
            Ok(())
        },
    )
}

/// Parts of sorted pieces, and room for what is made of them.
type Parts<'a, T> = (Vec<&'a [T]>, Vec<T>);

/// Sorted pieces of this length, cut at values that leave about as many items between each two of them; so many parts.
fn between<T: Ord + Copy>(items: &[T], length: usize, count: usize) -> Vec<Parts<'_, T>> {
    let mut rest: Vec<&[T]> = items.chunks(length).collect();
    let every = length.div_ceil(SAMPLES);
    let mut samples: Vec<T> =
        rest.iter().flat_map(|piece| piece.iter().step_by(every)).copied().collect();
    samples.sort_unstable();
    let every = samples.len().div_ceil(count);
    let ends = samples.iter().skip(every).step_by(every).map(Some).chain([None]);
    let mut all = Vec::with_capacity(count);
    for end in ends {
        let mut parts = Vec::with_capacity(rest.len());
        for piece in &mut rest {
            let below = |end: &T| piece.partition_point(|item| item < end);
            let (part, behind) = piece.split_at(end.map_or(piece.len(), below));
            *piece = behind;
            parts.push(part);
        }
        all.push((parts, Vec::new()));
    }
    all
}

/// Fewer items are sorted by one task.
const SORTED: usize = 1 << 14;
/// Most items of a piece: of 16 bytes each it takes ten milliseconds.
const PIECE: usize = 1 << 18;
/// Items of a piece that are looked at to cut all of them.
const SAMPLES: usize = 64;

fn in_runs<T: Send, S>(
    items: &mut [T],
    run: usize,
    threads: usize,
    cancel: &AtomicBool,
    scratch: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &mut T) -> Result<(), DedupError> + Sync,
) -> Result<(), DedupError> {
    let pool = rayon::current_num_threads();
    let tasks = if threads == 0 { pool } else { threads.min(pool) };
    let tasks = tasks.min(items.len().div_ceil(run));
    let region = items.len().div_ceil(tasks.max(1)).next_multiple_of(run);
    let regions: Vec<_> = items
        .chunks_mut(region.max(1))
        .map(|region| Mutex::new(region.chunks_mut(run).enumerate()))
        .collect();
    let failure: Mutex<Option<((usize, usize), DedupError)>> = Mutex::new(None);
    let task = |own: usize| {
        let mut scratch = scratch();
        // There may be fewer regions than tasks: each is of whole runs.
        for place in (own..regions.len()).chain(0..own.min(regions.len())) {
            loop {
                if cancel.load(Ordering::Relaxed) {
                    return;
                }
                let Some((number, run)) = regions[place].lock().next() else { break };
                for item in run {
                    if let Err(error) = work(&mut scratch, item) {
                        let mut failure = failure.lock();
                        if failure.as_ref().is_none_or(|(first, _)| (place, number) < *first) {
                            *failure = Some(((place, number), error));
                        }
                        return;
                    }
                }
            }
        }
    };
    if tasks <= 1 {
        task(0);
    } else {
        let task = &task;
        rayon::scope(|scope| {
            for own in 0..tasks {
                scope.spawn(move |_| task(own));
            }
        });
    }
    if let Some((_, error)) = failure.into_inner() {
        return Err(error);
    }
    check(cancel)
}

/// [`DedupError::Cancelled`] once `cancel` is set.
pub(crate) fn check(cancel: &AtomicBool) -> Result<(), DedupError> {
    if cancel.load(Ordering::Relaxed) { Err(DedupError::Cancelled) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn every_item_is_visited_once_whatever_the_threads() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(7).build().unwrap();
        for threads in [0, 1, 3, 99] {
            for (len, run) in
                [0usize, 1, 8, 15, 16, 17, 120, 1_000].map(|len| [(len, 1), (len, RUN)]).concat()
            {
                let mut items: Vec<usize> = (0..len).collect();
                let cancel = AtomicBool::new(false);
                let done = pool.install(|| {
                    in_runs(
                        &mut items,
                        run,
                        threads,
                        &cancel,
                        || (),
                        |(), item| {
                            *item += 1;
                            Ok(())
                        },
                    )
                });
                assert!(done.is_ok());
                assert_eq!(items, (1..=len).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn what_is_sorted_by_parts_is_sorted() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
        for threads in [0, 1, 2, 3, 99] {
            let lengths = [0, 1, SORTED - 1, SORTED, 3 * SORTED + 7, 3 * PIECE + 7];
            for (len, kept) in lengths.into_iter().flat_map(|len| [(len, 64), (len, 14), (len, 0)])
            {
                // All different, some equal, all equal.
                let mixed = |number: u64| number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let mut items: Vec<u64> = (0..len as u64)
                    .map(|number| mixed(number).checked_shr(64 - kept).unwrap_or(7))
                    .collect();
                let mut expected = items.clone();
                expected.sort_unstable();
                let cancel = AtomicBool::new(false);
                pool.install(|| sort(&mut items, threads, &cancel)).unwrap();
                assert!(items == expected, "{len} items, {threads} threads");
            }
        }
    }

    /// No more is compared behind the cancel than a task compares in a piece.
    #[test]
    fn a_sort_of_many_items_is_cancelled_within_a_piece() {
        static COMPARED: AtomicUsize = AtomicUsize::new(0);
        static CANCEL: AtomicBool = AtomicBool::new(false);
        #[derive(Clone, Copy, PartialEq, Eq)]
        struct Item(u64);
        impl Ord for Item {
            fn cmp(&self, other: &Self) -> std::cmp::Ordering {
                let before = COMPARED.fetch_add(1, Ordering::Relaxed);
                CANCEL.fetch_or(before == 100_000, Ordering::Relaxed);
                self.0.cmp(&other.0)
            }
        }
        impl PartialOrd for Item {
            fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
                Some(self.cmp(other))
            }
        }
        let mixed = |number: u64| Item(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut items: Vec<Item> = (0..4 * PIECE as u64).map(mixed).collect();
        assert!(matches!(sort(&mut items, 1, &CANCEL), Err(DedupError::Cancelled)));
        let (compared, piece) = (COMPARED.load(Ordering::Relaxed), PIECE * 2 * 18);
        assert!(compared < 100_000 + piece, "{compared}");
    }

    #[test]
    fn cancel_and_errors_come_back() {
        let mut items = vec![0; 100];
        let set = AtomicBool::new(true);
        let cancelled = for_each(&mut items, 0, &set, || (), |(), _| Ok(()));
        assert!(matches!(cancelled, Err(DedupError::Cancelled)));
        let clear = AtomicBool::new(false);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        for len in [100, 2 * SORTED] {
            let sorted = pool.install(|| sort(&mut vec![0; len], 0, &set));
            assert!(matches!(sorted, Err(DedupError::Cancelled)));
        }
        let failed = for_each(&mut items, 0, &clear, || (), |(), _| Err(DedupError::TooMany));
        assert!(matches!(failed, Err(DedupError::TooMany)));
    }
}
