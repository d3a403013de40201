//! Fingerprints to neighbours: exact search by Hamming distance over 64-bit fingerprints, live.
//!
//! ```text
//!  add ──► front: a line per table, in place ──full──► merged with the run     run: a sorted copy per table of the plan
//!            └───────────────┬────────────────────────────┘
//!  search ──► the line or bucket of each table, then popcount ──► first-mask rule ──► ids ──► (distance, id)
//! ```
//! [`plan`] says which bits each table keeps and proves that no neighbour is missed; `run` is the sealed set of tables, `front`
//! the growing one, `stack` both; `ids` knows who holds what; [`Index`] puts a lock and the semantics around them.
//! `turns` orders changes; `window` says which documents are due to leave; [`join`] finds all pairs and clusters; `image` saves and opens the whole.
//! [`bands`] finds similar sets by their `MinHash` signatures.
//! [`sentences`] groups documents that have a sentence in common.
//! [`overlap`] is for sets instead of fingerprints: all pairs, or all neighbours, above a Jaccard threshold, exactly.
//! `scan` reads everything: it is the inner loop, the oracle, and the way out where probing would cost more. [`Union`] says
//! what is connected with what.

pub mod bands;
mod error;
mod front;
mod hamming;
mod ids;
mod image;
pub mod join;
pub mod live;
mod memory;
mod options;
pub mod overlap;
pub mod plan;
mod run;
mod scan;
pub mod sentences;
mod spread;
mod stack;
mod stats;
mod union;

pub use error::IndexError;
pub use hamming::{Hamming, Index, Item, Match, Matches, Pending, SearchOptions};
pub use image::Snapshot;
pub use join::{Cluster, Pair, Pairs};
pub use live::{
    AddOptions, Added, Answer, Kind, Live, MAX_SKEW, OnDuplicate, Outcome, Window, Writer,
};
pub use options::IndexOptions;
pub use plan::{Estimate, MAX_DISTANCE, Plan, PlanChoice};
pub use stats::Stats;
pub use union::Union;
