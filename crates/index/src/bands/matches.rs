//! What comes out of a band index.

use super::BandPlan;

/// A live document that shares a band, and where signatures are kept is as similar as was asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BandMatch {
    /// Its id.
    pub id: u64,
    /// How many bands are equal: at least 1, at most the plan's. Where the answer is `truncated`, crowded bands may be missing.
    pub bands: u32,
    /// Share of equal positions of the signatures, the estimate of the Jaccard similarity; `None` where none are kept.
    pub similarity: Option<f64>,
}

/// Counts and bytes of a band index at one moment.
///
/// Memory follows a formula: per document about `9 * bands` bytes (8 at a load of 0.87 to 0.93, and slack) plus a quarter of a
/// byte, and 4 for each that left since the last sweep, at most one for four that live, plus `4 * hashes` where signatures are kept, plus 12 with a window; and 96 KB for the index. In a bucket of more than
/// eight documents one costs 4 to 8 bytes. These are bytes asked of the allocator: pieces of the table that grow leave holes
/// behind, and a process that grew one index to 400,000 documents held 1.4 times as much (glibc), one that opened it from a
/// file 1.1 times.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BandStats {
    /// Live ids.
    pub live: u64,
    /// Deleted ids whose entries are not all swept out yet, at most.
    pub dead: u64,
    /// Entries of the table: an id in a bucket.
    pub entries: u64,
    /// Keys with more than eight ids, which have lists of their own.
    pub crowded: u64,
    /// Bands and rows.
    pub plan: BandPlan,
    /// Bytes of the table.
    pub table_bytes: usize,
    /// Bytes of what is known about ids.
    pub id_bytes: usize,
    /// Bytes of the signatures kept.
    pub signature_bytes: usize,
    /// Bytes of the times of documents, in an index with a window.
    pub window_bytes: usize,
    /// Answers so far that were cut.
    pub truncated: u64,
}
