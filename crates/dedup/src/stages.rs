//! The stages of a run over files, one by one, for those who spread them over machines.
//!
//! Everything here is what `dedup` of files does itself, on documents that somebody else has brought together: the sketch of a text,
//! the buckets, the lists, comparisons, decisions. Nothing knows where the documents are. Numbers of texts and documents are those of the
//! caller, ascending in the order of taking (docs/specification.md, section 6); they need not be the same in two stages.

pub use crate::batch::spread::{
    Bucket, Compared, Copy, Crowd, Crowded, Decided, Link, ReadText, Rules, Sketched,
};
