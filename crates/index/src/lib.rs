//! Sketches to neighbours, live: who is near, among documents that come and leave.
//!
//! ```text
//!              ┌ hamming    fingerprints within k bits, exactly: a memtable and sorted tables
//!  Live<K> ────┤ bands      signatures that share a band of positions: a table of keys
//!              ├ sentences  documents that have a sentence in common: postings and groups
//!              └ exact      equal texts: a map
//! ```
//! [`live`] is the shell of every index: the order of changes, the window, batches, snapshots, the log. A [`Kind`] is what it
//! is built around; `ids` is what kinds are built of. [`plan`] says which bits each table of the Hamming index keeps and proves
//! that no neighbour is missed; [`join`] finds all its pairs and clusters. [`bands`] finds similar sets by their `MinHash`
//! signatures, [`sentences`] groups documents that have a sentence in common, [`exact`] finds
//! equal ones. [`overlap`] is for sets instead of sketches: all
//! pairs, or all neighbours, above a Jaccard threshold, exactly. [`Union`] says what is connected with what.

pub mod bands;
pub mod durable;
mod error;
pub mod exact;
mod hamming;
mod ids;
pub mod live;
mod memory;
pub mod overlap;
pub mod sentences;
mod union;

pub use error::IndexError;
pub use hamming::join::{Cluster, Near, Pair, Pairs, PartedJoin, SelfJoin};
pub use hamming::plan::{Estimate, MAX_DISTANCE, Plan, PlanChoice};
pub use hamming::{Hamming, Index, IndexOptions, Item, Match, Matches, SearchOptions, Stats};
pub use hamming::{join, plan};
pub use ids::Alive;
pub use live::{
    AddOptions, Added, Answer, Hurry, Kind, Live, MAX_SKEW, OnDuplicate, Outcome, Snapshot, Whole,
    Window, Writer,
};
pub use union::Union;
