//! Features to sketches: the 64-bit `SimHash` fingerprint and Hamming distance, the `MinHash` signature ([`minhash`]), and
//! how similar two texts really are ([`measure`]).
//!
//! ```text
//! text ──simhash_text──► features (hash, weight) ──accumulate──► 64 sums ──majority──► fingerprint (u64)
//!                                                   scalar · AVX2 · AVX-512 · NEON
//! ```
//!
//! Integers all the way, so every instruction set gives the same bits ([`simd`] chooses one when the process starts).

pub mod accumulate;
pub mod explain;
pub mod hamming;
pub mod hex;
pub mod measure;
pub mod minhash;
pub mod sentences;
pub mod simd;

mod bitmap;
mod differences;
mod distinct;
mod fingerprinter;
mod numbers;
mod outline;
mod prepared;
mod reference;
mod shingles;
mod simhash;

pub use bitmap::Bitmap;
pub use fingerprinter::{Fingerprinter, FingerprinterOptions, Scratch, Sketch};
pub use numbers::Numbers;
pub use outline::{Folded, Outline};
pub use prepared::{Kept, Material, MethodSketch, Prepared, Preparer, Sketcher};
pub use reference::Reference;
pub use shingles::{ALMOST_ONE, Shingles};
pub use simhash::simhash;
pub use simhash_text::{
    ExtractorOptions, Feature, Features, Normalizer, OptionsError, Segmenter, Token, TopK, Unit,
    Weighting, Whitespace, prefetch,
};
