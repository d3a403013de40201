//! Documents to clusters to the document that each cluster keeps.
//!
//! ```text
//! verdicts ──► number of each document's text ──► root ──► the best by the keep rule ──► who duplicates whom
//!  (as documents come, or in the order of keeping)  (union-find)
//! ```
//!
//! [`Gathered`] is for whatever can only be decided when the input has ended: components, which a later document may
//! still join, and keep rules other than the first. A representative's cluster is decided in the order of keeping (the
//! longest document first, say), so that every member resembles the document that is kept.

mod components;
mod gathered;

pub(crate) use components::Components;
pub(crate) use gathered::{Gathered, Settled};
