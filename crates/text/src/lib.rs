//! Text to features, Chinese first.
//!
//! ```text
//! UTF-16 / bytes ──intake──► text ──normalize──► normalised text ──extract──► features (hash, weight)
//!                                                                   │
//!                                            ngram · words · jieba ─┘
//! ```
//!
//! This crate knows nothing of fingerprints; `simhash_sketch` turns features into them. Everything here is a pure function
//! of text and options: no clock, no randomness, no floating-point sum whose order could change.

pub mod extract;
pub mod feature;
pub mod intake;
pub mod normalize;

mod jieba;
mod ngram;
mod options;
mod words;

pub use extract::{ExtractScratch, Extractor, ExtractorOptions, Unit, Weighting};
pub use feature::{Feature, Token};
pub use normalize::{NormalizeScratch, Normalizer, Whitespace};
pub use options::OptionsError;
