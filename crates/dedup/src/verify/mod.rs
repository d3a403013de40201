//! How similar two texts really are, by the measures of [`simhash_sketch::measure`].
//!
//! [`similarity`] is what decides where nothing else is asked for: Jaccard, and in short texts numbers count.

mod evidence;

pub(crate) use evidence::Evidence;
pub use evidence::similarity;
