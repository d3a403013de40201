//! Sentences to groups: two documents are similar when they have a sentence in common.
//!
//! ```text
//!  sentence hashes ──► postings ──► sketches that have one of them ──► ids, groups
//!                        │ common sentences (page furniture) do not count
//!  equal sketches are one entry ── union-find over entries: what a document links becomes one group
//! ```
//! The method of the n longest sentences: a document is represented by the hashes of its longest sentences, and any one
//! that is equal makes two documents similar. [`SentenceMap`] is the structure, for one thread; [`SentenceOptions`] says
//! how many sentences count and which are too common to.

mod groups;
mod map;
mod options;
mod postings;
mod sketches;

pub use map::{SentenceItem, SentenceMap, Shared, SharedMatches};
pub use options::{Common, SentenceOptions};
