//! Verdicts to files: the records, the clusters, the rejects.
//!
//! ```text
//! block + entries ──► records: kept lines as they were, or all lines with marks
//! (bounded queue,  └► rejects: file, line, reason, raw text
//!  one thread)
//! after the last   ──► clusters: a line per group of two or more
//! edges of a batch ──► pairs, or new documents with their matches
//! documents        ──► what they are known by
//! ```
//!
//! Each goes through an [`Output`]: compressed where its name asks for it, and never waiting for a reader without a look
//! at the cancel flag.
//!
//! Invariant: an output file appears whole or not at all ([`Sink`](sink::Sink)).

mod clusters;
mod edges;
mod handed;
mod marks;
mod output;
mod records;
mod rejects;
mod sink;
mod sketches;
mod target;

pub(crate) use clusters::{Member, write_clusters};
pub(crate) use edges::{matches, pair};
pub(crate) use marks::MARKS;
pub(crate) use output::Output;
pub(crate) use records::{Decided, Entry, Link, RecordWriter};
pub(crate) use rejects::Rejects;
pub(crate) use sketches::{sketch_json, sketch_line};
pub(crate) use target::check_distinct;
pub use target::{Duplicates, LineOutputs, Outputs, Target};
