//! The join of fingerprints with themselves, in memory or part by part within a bound.

use super::near::Near;
use super::pairs::Pair;
use crate::error::DedupError;
use crate::parallel;
use simhash_index::{PartedJoin, SelfJoin};
use simhash_store::Room;
use std::sync::atomic::AtomicBool;

/// Two fingerprints and their distance.
type Joined = simhash_index::Near;

/// Calls `take` with the pairs of these fingerprints within a distance, some at a time, until it has enough; whether these were all. A pair
/// is there for those of the two of which some text comes after one of the other.
pub(super) fn join(
    near: &Near,
    fingerprints: impl ExactSizeIterator<Item = u64>,
    max_distance: u32,
    (room, threads, cancel): (&Room, usize, &AtomicBool),
    mut take: impl FnMut(&[Pair]) -> Result<bool, DedupError>,
) -> Result<bool, DedupError> {
    let mut join = if room.most().is_some() {
        let parted = PartedJoin::new::<DedupError>(fingerprints, max_distance, room)?;
        Join::Parted(Box::new(parted))
    } else {
        Join::Whole(Box::new(SelfJoin::new(fingerprints.collect(), max_distance)?))
    };
    while let Some(found) = join.next_batch(threads, cancel)? {
        let mut slots: Vec<(&[Joined], Vec<Pair>)> =
            found.chunks(NUMBERED).map(|found| (found, Vec::new())).collect();
        parallel::for_each_large(
            &mut slots,
            threads,
            cancel,
            || (),
            |(), (found, pairs)| {
                for &(a, b, distance) in *found {
                    room.relieve()?;
                    let (a, b) = (near.place(a), near.place(b));
                    let both = [(a, b), (b, a)].into_iter().filter(|&(a, b)| near.looks_at(a, b));
                    pairs.extend(both.map(|(a, b)| (a, b, distance)));
                }
                Ok(())
            },
        )?;
        for (_, pairs) in slots {
            if !take(&pairs)? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Pairs whose fingerprints one task numbers at once.
const NUMBERED: usize = 256;

/// A join of all at once, or within a bound of a part at a time.
enum Join {
    Whole(Box<SelfJoin>),
    Parted(Box<PartedJoin>),
}

impl Join {
    fn next_batch(
        &mut self,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Option<Vec<Joined>>, DedupError> {
        match self {
            Self::Whole(join) => Ok(join.next_batch(threads, cancel)?),
            Self::Parted(join) => join.next_batch(threads, cancel),
        }
    }
}
