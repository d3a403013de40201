//! What an index of sentences says of itself.

/// Counts and bytes of an index at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SentenceStats {
    /// Live documents.
    pub live: u64,
    /// Groups of live documents.
    pub groups: usize,
    /// Distinct sketches that have sentences.
    pub sketches: usize,
    /// Bytes of sketches, maps, ids and groups: see [`SentenceMap`](super::SentenceMap) for the formula.
    pub bytes: usize,
    /// Bytes of the times of documents, in an index with a window: 12 for each.
    pub window_bytes: usize,
    /// Searches whose answer a limit cut, so far.
    pub truncated: u64,
}
