//! One table, made: every distinct fingerprint by the part it belongs to.

use super::distinct::Distinct;
use super::group::Group;
use super::key::Key;
use super::partition::Chunk;

/// A table's parts. The first table is what the distinct fingerprints are sorted by, and has no copy.
#[derive(Debug)]
pub(super) struct Table {
    number: usize,
    /// Bits of the mask that the part key leaves for the buckets.
    rest: u64,
    pub(super) chunks: Vec<Chunk>,
}

impl Table {
    pub(super) fn new(number: usize, mask: u64, key: &Key, chunks: Vec<Chunk>) -> Self {
        Self { number, rest: mask & !key.mask(), chunks }
    }

    /// Its number in the plan.
    pub(super) fn number(&self) -> usize {
        self.number
    }

    /// A part, sorted into buckets.
    pub(super) fn group(&self, distinct: &Distinct, part: usize) -> Group {
        if self.number == 0 {
            return distinct.group(part).clone();
        }
        let mut group = Group::default();
        group.sort(self.chunks.iter().map(|chunk| chunk.part(part)), self.rest);
        group
    }
}
