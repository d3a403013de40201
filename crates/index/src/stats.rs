//! What the index holds and what that costs.

/// Counts and bytes of an index at one moment.
///
/// Memory follows a formula: `8 * tables` bytes for each sealed fingerprint, plus 3 to 7 % for directories; `16 * tables`
/// for each fingerprint that the fronts have room for, at most an eighth of the sealed ones (2,048 at least); plus
/// about 16 bytes for its id (8.25 for the record, 7.5 to 8 for the map). A further id of the same fingerprint costs 8 for the
/// record and 4 to 8 for the list; a short text about 100.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Live ids.
    pub live: u64,
    /// Distinct fingerprints in the tables.
    pub fingerprints: usize,
    /// Those of them without a live id, waiting to be purged.
    pub dead: usize,
    /// Fingerprints in the fronts, not sealed yet.
    pub front: usize,
    /// Fingerprints in the sealed run, if there is one.
    pub runs: Vec<usize>,
    /// Name of the plan.
    pub plan: String,
    /// Tables of the plan.
    pub tables: usize,
    /// Bytes of front, tables and directories.
    pub table_bytes: usize,
    /// Bytes of records, maps and id lists.
    pub id_bytes: usize,
    /// Bytes of the times of documents, in an index with a window.
    pub window_bytes: usize,
    /// Whether tables lie in memory for which huge pages were asked.
    pub huge_pages: bool,
    /// Whether a merge is running.
    pub merging: bool,
    /// Searches whose answer a limit cut, so far.
    pub truncated: u64,
}
