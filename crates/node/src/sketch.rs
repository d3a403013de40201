//! Batches through the fingerprinter, on the shared pool where that pays.

use crate::error::Failure;
use crate::pool;
use crate::text::{Given, Texts};
use rayon::prelude::*;
use simhash_index::Item;
use simhash_sketch::{Fingerprinter, Scratch, Sketch};
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};

/// Code units below which a batch stays on the calling thread: about 50 microseconds of work, as much as handing it over
/// and waiting costs under load.
const SMALL: usize = 1 << 14;
/// Texts per task, at most: enough to hide the task's cost, few enough to even out.
const TASK: usize = 64;

/// Memory of one thread, kept between calls.
#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) text: String,
    pub(crate) scratch: Scratch,
}

thread_local! {
    static MEMORY: RefCell<Memory> = RefCell::default();
}

/// Lends this thread's memory.
pub(crate) fn with_memory<T>(work: impl FnOnce(&mut Memory) -> T) -> T {
    MEMORY.with(|memory| match memory.try_borrow_mut() {
        Ok(mut memory) => work(&mut memory),
        Err(_) => work(&mut Memory::default()),
    })
}

/// What the index stores of one element.
pub(crate) fn item(fingerprinter: &Fingerprinter, texts: &Texts, row: usize) -> Item {
    with_memory(|Memory { text, scratch }| match texts.get(row, text) {
        Given::Fingerprint(value) => Item::Fingerprint(value),
        Given::Text(text) => match fingerprinter.sketch(text, scratch) {
            Sketch { empty: true, .. } => Item::Empty,
            Sketch { fingerprint: Some(value), .. } => Item::Fingerprint(value),
            Sketch { exact, .. } => Item::Exact(exact),
        },
    })
}

/// All elements in order. From the JavaScript thread a large batch goes to the pool and is waited for.
pub(crate) fn items(
    fingerprinter: &Fingerprinter,
    texts: &Texts,
    threads: u32,
    cancel: &AtomicBool,
) -> Result<Vec<Item>, Failure> {
    rows(texts, threads, cancel, |row| item(fingerprinter, texts, row))
}

/// `one` of every row in order, by the rule of [`items`].
pub(crate) fn rows<T: Send>(
    texts: &Texts,
    threads: u32,
    cancel: &AtomicBool,
    one: impl Fn(usize) -> T + Sync,
) -> Result<Vec<T>, Failure> {
    let tasks = pool::tasks(threads);
    let one = |row| {
        if cancel.load(Ordering::Relaxed) {
            return Err(Failure::cancelled());
        }
        Ok(one(row))
    };
    if tasks == 1 || texts.volume() < SMALL {
        return (0..texts.len()).map(one).collect();
    }
    let share = texts.len().div_ceil(tasks * 4).clamp(1, TASK);
    pool::shared()?.install(|| {
        (0..texts.len())
            .into_par_iter()
            // So many texts at least per task that no more than `tasks` run at a time where fewer than all were asked for.
            .with_min_len(if threads == 0 { share } else { texts.len().div_ceil(tasks) })
            .map(one)
            .collect()
    })
}
