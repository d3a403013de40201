//! Documents to clusters to the document that each cluster keeps.
//!
//! ```text
//! documents ──► texts and their candidates ──► in input order: what is connected (union-find) ──► the best by the keep rule
//!                                          └─► in the order of keeping: whom each duplicates
//! ```
//!
//! [`Gathered`] is for whatever can only be decided when the input has ended: components, which a later document may
//! still join, and keep rules other than the first. A representative's cluster is decided in the order of keeping (the
//! longest document first, say), so that every member resembles the document that is kept.

mod gathered;

pub(crate) use gathered::Gathered;
