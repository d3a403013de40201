//! Comparing with everything: the oracle, the path beyond the tables' reach, and the inner loop of every bucket.

pub(crate) use simhash_sketch::hamming::{BLOCK, pairs_within, within};

/// A stored fingerprint (spread) within the distance asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Hit {
    pub(crate) distance: u32,
    pub(crate) value: u64,
}
