//! All pairs and clusters within a distance, from the sealed tables.
//!
//! Two near fingerprints share a bucket of some table, so it is enough to compare within *groups*: the entries of a
//! bucket, or of a long bucket those with the same key. A group that is still long is cut again by the bits that its
//! table ignores, into `k + 1` blocks of which a near pair shares one: the same pigeonhole, nested.

mod clusters;
mod copies;
mod near;
mod pairs;
mod parted;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

pub use clusters::Cluster;
pub use near::{Near, SelfJoin};
pub use pairs::{Pair, Pairs};
pub use parted::PartedJoin;

use crate::IndexError;
use crate::hamming::Index;
use crate::hamming::plan::Plan;
use copies::Copies;

/// Longer groups are nested: comparing all pairs of so many costs as much as sorting them a few times.
const NEST: usize = 1024;

/// Everything that lay in the index when the join began, by the tables of a plan that covers the distance.
#[derive(Debug)]
struct Sealed {
    copies: Copies,
    /// The id that the next addition got then.
    end: u64,
}

impl Sealed {
    /// Compacts the index; where its own plan does not reach, tables of another plan are made while they are gone through.
    fn new(index: &Index, distance: u32, cancel: &AtomicBool) -> Result<Self, IndexError> {
        let (run, end) = index.sealed(cancel)?;
        if let Some(run) = &run {
            run.check(index.plan().prefixes())?;
        }
        let copies = if distance <= index.plan().radius() {
            Copies::sealed(index.shared_plan(), run, distance)
        } else {
            Copies::made(Arc::new(Plan::covering(distance)?), run.into(), distance)
        };
        Ok(Self { copies, end })
    }
}

/// `k + 1` masks that share out the bits outside `mask`.
fn nested_masks(mask: u64, distance: u32) -> Vec<u64> {
    let bits: Vec<u32> = (0..64).filter(|bit| mask >> bit & 1 == 0).collect();
    let parts = distance as usize + 1;
    (0..parts)
        .map(|part| {
            let (from, to) = (bits.len() * part / parts, bits.len() * (part + 1) / parts);
            bits[from..to].iter().fold(0, |mask, bit| mask | 1 << bit)
        })
        .collect()
}
