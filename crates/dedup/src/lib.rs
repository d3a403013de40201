//! Documents to decisions: read, sketch, find, verify, cluster, keep, write.
//!
//! ```text
//! read ──► sketch ──► find ──► verify ──► cluster ──► keep ──► write
//! JSONL    (crates     (index)  exact      around a    first,   records, clusters, rejects
//!          text, sketch)        measure    document,   longest,
//!                                          or whatever by a field …
//!                                          is connected
//! ```
//!
//! Doors to the same decisions:
//!
//! - [`Deduper`]: texts in, [`Decision`]s out, batch after batch, in memory;
//! - [`dedup_files`]: files in, files out; texts are found again on disk when a candidate must be
//!   verified;
//! - [`pairs_files`], [`match_files`]: the graph that decisions rest on, all pairs of similar documents or those of new ones with
//!   old ones; [`decontaminate_files`]: the new ones without those that resemble old ones.
//!
//! A [`Method`] proposes, the similarity of the texts decides ([`verify`]). By default the first document of a group is kept,
//! and every member resembles the kept document itself, so clusters do not chain; [`Cluster::Components`] follows chains, and
//! [`Keep`] chooses another document. `read = kept + duplicates + rejected`, always ([`Summary`]). Results do not depend on
//! threads, batches or processor.
//!
//! Beside them: [`fingerprint_files`], what a method knows each document by, [`segment_files`], its words, [`live`], documents that come one by one to a live
//! index of any method, and
//! [`evaluate`], a result against labels.
//!
//! Everything parallel runs on the current rayon pool: wrap calls in `pool.install` to choose one.

mod batch;
mod checkpoint;
mod cluster;
pub mod convert;
mod decide;
mod deduper;
mod error;
pub mod evaluate;
mod explain;
mod files;
mod keep;
pub mod live;
mod method;
mod options;
mod parallel;
mod read;
mod report;
pub mod stages;
pub mod verify;
mod write;

/// The version of the specification (`docs/specification.md`) by which texts are cut, compared and decided here.
pub const SPECIFICATION: u32 = 1;

pub use deduper::{Decision, Deduper};
pub use error::{DedupError, Done, Message};
pub use explain::{Verdict, verdict};
pub use files::{
    ExportFormat, IndexRun, LEAST_MEMORY, Page, Prediction, Report, Sample, SavedIndex, Scored,
    Trial, Tuned, Verified, decontaminate_files, dedup_files, dedup_into_index, dedup_new_files,
    evaluate_files, find_texts, fingerprint_files, match_files, pairs_files, predict_files,
    report_files, sample_files, segment_files, tune_files,
};
pub use keep::{Integer, Key};
pub use method::Method;
pub use options::{
    Cluster, DedupOptions, EvaluateOptions, FileOptions, FingerprintOptions, Keep, MatchOptions,
    Measure, ReadOptions, ReportOptions, ReportTexts, SampleOptions, SegmentOptions,
};
pub use read::{Encoding, Fields, Form, Format, Input, MAX_RECORD_BYTES};
pub use report::{EdgeSummary, Progress, ReadAs, Rejected, SameId, SameIds, Stage, Summary};
pub use write::{Duplicates, LineOutputs, Outputs, Target};
