//! Verdicts to files: the records, the clusters, the rejects.
//!
//! ```text
//! block + entries ──► records: kept lines as they were, all lines with marks, or kept rows of Parquet and Arrow
//! (bounded queue,  └► rejects: file, line, reason, raw text
//!  one thread)
//! after the last   ──► clusters: a line per group of two or more
//! edges of a batch ──► pairs, or new documents with their matches
//! documents        ──► what they are known by, or their words
//! an index         ──► columns that are made here
//! ```
//!
//! Each goes through an [`Output`]: compressed where its name asks for it, and never waiting for a reader without a look
//! at the cancel flag.
//!
//! Invariant: an output file appears whole or not at all ([`Sink`](sink::Sink)).

mod answers;
mod cells;
mod clusters;
mod columns;
mod copies;
mod edges;
mod framing;
mod handed;
mod marks;
mod output;
mod records;
mod rejects;
mod rows;
mod sink;
mod sketches;
mod target;
mod words;

pub(crate) use answers::{Answers, Wanted};
pub(crate) use cells::between;
pub(crate) use clusters::{Member, write_clusters, write_sorted};
pub(crate) use columns::ColumnWriter;
pub(crate) use copies::Copies;
pub(crate) use edges::{matches, pair, pairs_head};
pub(crate) use marks::check_marks;
pub(crate) use output::Output;
pub(crate) use records::{Decided, Entry, Link, RecordWriter};
pub(crate) use rejects::Rejects;
pub(crate) use sketches::{sketch_json, sketch_line};
pub use target::{Duplicates, LineOutputs, Outputs, Target};
pub(crate) use target::{Written, check_distinct};
pub(crate) use words::{words_json, words_line};
