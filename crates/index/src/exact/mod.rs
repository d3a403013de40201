//! Equal texts: hash of a normalised text -> ids, in about 24 bytes each.
//!
//! The index of those who look for copies only, and the plainest [`Kind`](crate::Kind): what the shell does is seen best beside
//! it. [`Equal`] is the kind, [`ExactIndex`] the live index of it.

mod image;
mod kind;
mod texts;

pub use kind::{EqualMatch, EqualMatches, ExactIndex, ExactOptions, ExactStats, Text};
pub use texts::Equal;
