//! Sentences to groups: two documents are similar when they have a sentence in common.
//!
//! ```text
//!  sentence hashes ──► postings ──► sketches that have one of them ──► ids, groups
//!                        │ common sentences (page furniture) do not count
//!  equal sketches are one entry ── union-find over entries: what a document links becomes one group
//! ```
//! The method of the n longest sentences: a document is represented by the hashes of its longest sentences, and any one
//! that is equal makes two documents similar. [`SentenceMap`] is the structure, for one thread; [`SentenceIndex`]
//! puts locks, a window and a store around it; [`SentenceOptions`] says how many sentences count and which are too common
//! to. Everything is answered from memory; what is on disk (`store`) is the list of changes that leads there, so that
//! opening is replaying.

mod answers;
mod groups;
mod image;
mod index;
mod kind;
mod map;
mod operation;
mod options;
mod postings;
mod sketches;
mod store;
mod whole;

pub use answers::SentenceStats;
pub use index::{LogSnapshot, SentenceIndex};
pub use kind::SentenceSearch;
pub use map::{SentenceItem, SentenceMap, Shared, SharedMatches};
pub use options::{Common, SentenceOptions};
pub use store::{Durability, StoreOptions};

type State = crate::live::State<SentenceMap>;

#[cfg(test)]
mod tests;
