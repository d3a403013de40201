//! How similar two texts really are, by the measures of [`simhash_sketch::measure`].
//!
//! [`similarity`] is what decides where nothing else is asked for: Jaccard, and in short texts numbers count.

mod evidence;

pub use evidence::similarity;
pub(crate) use evidence::{Evidence, bitmap_of, reaching};
