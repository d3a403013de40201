//! Columns of a table that is made here.

/// The cells of some rows in one column. Empty ones say what a column holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cells {
    /// A text in each.
    Texts(Vec<String>),
    /// A number in each.
    Numbers(Vec<u64>),
    /// A number, or nothing.
    Fingerprints(Vec<Option<u64>>),
    /// Sixteen bytes, or nothing.
    Hashes(Vec<Option<[u8; 16]>>),
    /// A list of numbers below 2^32, or nothing.
    Signatures(Vec<Option<Vec<u32>>>),
    /// A list of numbers, or nothing.
    Lists(Vec<Option<Vec<u64>>>),
}
