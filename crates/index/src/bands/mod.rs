//! `MinHash` signatures to neighbours by bands: sets that resemble each other share a band with a probability that is known.
//!
//! ```text
//!  signature ── bands of `rows` positions ──► a 64-bit key each ──► table: key -> ids ──► ids by number of shared bands
//!                                                                                  └─ signatures kept: by similarity
//! ```
//! A band of r positions is equal in two signatures with probability s^r, where s is the similarity of the sets; at least
//! one of b bands with `1 - (1 - s^r)^b`. That S-curve is all that this index promises ([`BandPlan::probability`]), and what
//! its tests hold it to: below it, everything is exact. Every live document that shares a band is found, and none else but
//! by collision of 43 bits of its key (`table`).
//!
//! [`BandPlan`] chooses bands and rows; [`band_keys`] makes the keys; `table` maps keys to ids in about nine bytes each;
//! `documents` knows who is alive and, where asked for, keeps signatures; [`Bands`] is the kind, [`BandIndex`] the live index of
//! it. More bands find more, more rows find less (Leskovec, Rajaraman, Ullman, "Mining of
//! massive datasets", section 3.4).

mod documents;
mod image;
mod item;
mod key;
mod kind;
mod matches;
mod options;
mod plan;
mod segment;
mod table;

pub use item::BandItem;
pub use key::band_keys;
pub use kind::{BandIndex, BandMatches, Bands};
pub use matches::{BandMatch, BandStats};
pub use options::{BandOptions, BandSearch, Signatures};
pub use plan::BandPlan;
pub use table::Table;

#[cfg(test)]
mod tests;
