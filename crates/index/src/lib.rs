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
mod hamming;
mod ids;
pub mod live;
mod memory;
pub mod overlap;
pub mod sentences;
mod union;

pub use error::IndexError;
pub use hamming::join::{Cluster, Pair, Pairs};
pub use hamming::plan::{Estimate, MAX_DISTANCE, Plan, PlanChoice};
pub use hamming::{
    Hamming, Index, IndexOptions, Item, Match, Matches, Pending, SearchOptions, Snapshot, Stats,
};
pub use hamming::{join, plan};
pub use live::{
    AddOptions, Added, Answer, Kind, Live, MAX_SKEW, OnDuplicate, Outcome, Window, Writer,
};
pub use union::Union;
