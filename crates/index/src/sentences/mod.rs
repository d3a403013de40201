//! Sentences to groups: two documents are similar when they have a sentence in common.
//!
//! ```text
//!  sentence hashes ──► postings ──► sketches that have one of them ──► ids, groups
//!                        │ common sentences (page furniture) do not count
//!  equal sketches are one entry ── union-find over entries: what a document links becomes one group
//! ```
//! The method of the n longest sentences: a document is represented by the hashes of its longest sentences, and any one
//! that is equal makes two documents similar. [`SentenceMap`] is the structure, for one thread; [`SentenceIndex`]
//! puts locks and a window around it; [`SentenceOptions`] says how many sentences count and which are too common
//! to. Everything is answered from memory.

mod answers;
mod groups;
mod image;
mod index;
mod kind;
mod map;
mod options;
mod postings;
mod sketches;
mod whole;
mod written;

pub use answers::SentenceStats;
pub use index::SentenceIndex;
pub use kind::SentenceSearch;
pub use map::{SentenceItem, SentenceMap, Shared, SharedMatches};
pub use options::{Common, SentenceOptions};

type State = crate::live::State<SentenceMap>;

#[cfg(test)]
mod tests;
