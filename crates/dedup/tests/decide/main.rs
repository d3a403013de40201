//! Decisions: against the naive rule, at every door, on corpora with exact truth.

#[path = "../common/mod.rs"]
mod common;

mod corpora;
mod crowds;
mod deduper;
mod doors;
mod evaluate;
mod explain;
mod laws;
mod numbers;
mod published_pairs;
mod thresholds;
mod titles;
