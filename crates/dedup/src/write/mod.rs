//! Verdicts to files: the records, the clusters, the rejects.
//!
//! ```text
//! block + entries ──► records: kept lines as they were, or all lines with marks
//! (bounded queue,  └► rejects: file, line, reason, raw text
//!  one thread)
//! after the last   ──► clusters: a line per group of two or more
//! ```
//!
//! Invariant: an output file appears whole or not at all ([`Sink`]).

mod clusters;
mod marks;
mod records;
mod sink;
mod target;

pub(crate) use clusters::{Member, write_clusters};
pub(crate) use marks::MARKS;
pub(crate) use records::{Decided, Entry, Link, RecordWriter};
pub(crate) use sink::Sink;
pub(crate) use target::check_distinct;
pub use target::{Duplicates, Outputs, Target};
