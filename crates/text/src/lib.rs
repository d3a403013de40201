//! Text to features, Chinese first.
//!
//! ```text
//! UTF-16 / bytes ──intake──► text ──normalize──► normalised text ──extract──► features (hash, weight)
//!                                                                   │
//!                                            ngram · words · segment, tfidf ─┘
//! ```
//!
//! This crate knows nothing of fingerprints; `simhash_sketch` turns features into them. Everything here is a pure function
//! of text and options: no clock, no randomness, no floating-point sum whose order could change.

#[cfg(feature = "counters")]
pub mod counters;
pub mod extract;
pub mod feature;
pub mod intake;
pub mod lexicon;
pub mod normalize;
pub mod numbers;
pub mod segment;
pub mod sentence;

mod distinct;
mod ngram;
mod prefetch;
mod tfidf;
mod words;

pub use extract::{
    ExtractScratch, Extractor, ExtractorOptions, OptionsError, Segmenter, Unit, Weighting,
};
pub use feature::{Cut, Feature, Features, Token};
pub use normalize::{NormalizeScratch, Normalizer, Punctuation, Whitespace};
pub use prefetch::prefetch;
pub use tfidf::TopK;
