//! How many fingerprints are near some of them: whether there are crowds, and where.

use crate::error::DedupError;
use crate::parallel;
use simhash_sketch::hamming;
use simhash_store::Room;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// Fingerprints that are looked at: a crowd of a thousandth of all is missed once in fifty times.
const SAMPLED: usize = 4_096;
/// Fingerprints that are compared with one by one task at once.
const RUN: usize = if cfg!(test) { 16 } else { 1 << 16 };

/// Some fingerprints, evenly from all in their order, each with how many others are near it.
pub(super) struct Sample(Vec<(u64, usize)>);

impl Sample {
    pub(super) fn new(
        different: &[u64],
        max_distance: u32,
        within: (&Room, usize, &AtomicBool),
    ) -> Result<Self, DedupError> {
        let step = different.len().div_ceil(SAMPLED).max(1);
        let sampled = different
            .iter()
            .step_by(step)
            .map(|&one| Ok((one, count_within(different, one, max_distance, within)? - 1)));
        Ok(Self(sampled.collect::<Result<_, DedupError>>()?))
    }

    /// In the order of fingerprints.
    pub(super) fn each(&self) -> impl Iterator<Item = (u64, usize)> {
        self.0.iter().copied()
    }

    /// How many others are near one, on the average.
    pub(super) fn others(&self) -> f64 {
        let all: usize = self.0.iter().map(|one| one.1).sum();
        all as f64 / self.0.len().max(1) as f64
    }
}

/// How many fingerprints lie within a distance of one, itself included.
fn count_within(
    different: &[u64],
    center: u64,
    max_distance: u32,
    (room, threads, cancel): (&Room, usize, &AtomicBool),
) -> Result<usize, DedupError> {
    let count = AtomicUsize::new(0);
    let mut runs: Vec<&[u64]> = different.chunks(RUN).collect();
    parallel::for_each_large(
        &mut runs,
        threads,
        cancel,
        || (),
        |(), run| {
            let mut own = 0;
            hamming::within(run, center, max_distance, |_, _| own += 1);
            count.fetch_add(own, Relaxed);
            Ok(room.relieve()?)
        },
    )?;
    Ok(count.into_inner())
}
