//! How often texts were gone over, for tests that say how often they may be. Only with the feature `counters`.
//!
//! The numbers are those of the whole process: a test that reads them runs alone.

use std::sync::atomic::{AtomicU64, Ordering};

/// Times that something was done.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Once more.
    pub fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// The number so far, which begins again at 0.
    pub fn take(&self) -> u64 {
        self.0.swap(0, Ordering::Relaxed)
    }
}

/// Whole texts normalised.
pub static NORMALIZED: Counter = Counter(AtomicU64::new(0));
/// Texts cut into features.
pub static CUT: Counter = Counter(AtomicU64::new(0));
/// Texts cut into long shingles.
pub static CUT_LONG: Counter = Counter(AtomicU64::new(0));
/// Texts cut into sentences, each of which is normalised.
pub static CUT_SENTENCES: Counter = Counter(AtomicU64::new(0));
/// Keys of bands hashed.
pub static BAND_KEYS: Counter = Counter(AtomicU64::new(0));
