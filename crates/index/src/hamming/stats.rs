//! What the index holds and what that costs.

/// Counts and bytes of an index at one moment.
///
/// Memory follows a formula. Of `n` fingerprints in `t` tables:
///
/// - sealed, 8.25 to 8.5 bytes for each and table, the directory included. After `compact`, or a batch that is sealed
///   at once, there is nothing else: 49.5 to 51 bytes with six tables. Tables that have shrunk keep up to a third more.
/// - A memtable has room for the power of two from `n / 16` to `n / 8`, 2,048 at least, at 16.5 bytes for each and table
///   and up to 16 more; full lines spill over into 16 KiB at a time for each table. One is being filled, up to three
///   wait for their merge, or two and one is kept empty: `n / 2 * (16.5 * t + 16)` if additions outrun the merges for
///   long, half of that as a rule. Who is in a hurry ([`Live::hurry`](crate::Live::hurry)) waits for no merge.
/// - A merge of `f` new fingerprints takes a table for each of its threads (one; as many as there are cores when it
///   has been asked for) and for each of them the new ones twice, `8.5 * (n + f) + 16.5 * f`; and 8 for each new one:
///   [`Stats::merge_bytes`]. `f` is what waited, at most `3 / 8 * n`, or the batch.
/// - About 16 bytes for its id (8.25 for the record, 7.5 to 8 for the map). A further id of the same fingerprint costs
///   8 for the record and 4 to 8 for the list; a short text about 100. A deletion takes 8 bytes until its fingerprint
///   is purged, and about 20 while that is done.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Live ids.
    pub live: u64,
    /// Distinct fingerprints in the tables.
    pub fingerprints: usize,
    /// Those of them without a live id, waiting to be purged.
    pub dead: usize,
    /// Fingerprints in the memtables, not sealed yet.
    pub memtable: usize,
    /// Fingerprints in the segment, if there is one.
    pub segments: Vec<usize>,
    /// Name of the plan.
    pub plan: String,
    /// Tables of the plan.
    pub tables: usize,
    /// Bytes of memtable, tables and directories.
    pub table_bytes: usize,
    /// Bytes that the merge which is running takes beside these, at most; 0 if none is.
    pub merge_bytes: usize,
    /// Bytes of tables that lie in a mapped file and not in memory, until a merge has rewritten them.
    pub mapped_bytes: usize,
    /// Bytes of records, maps and id lists; of ids in a mapped file about half a byte each.
    pub id_bytes: usize,
    /// Bytes of the times of documents, in an index with a window.
    pub window_bytes: usize,
    /// Whether tables lie in memory for which huge pages were asked.
    pub huge_pages: bool,
    /// Whether a merge is running.
    pub merging: bool,
    /// Whether one has failed: it was the last, and memtables grow from then on. See [`IndexError::Merge`](crate::IndexError::Merge).
    pub merge_failed: bool,
    /// Searches whose answer a limit cut, so far.
    pub truncated: u64,
}
