//! Options and their defaults, each with its reason.

use crate::error::DedupError;
use crate::read::Fields;
use simhash_sketch::FingerprinterOptions;

/// How documents are compared.
#[derive(Clone, Debug)]
pub struct DedupOptions {
    /// Text to fingerprint, and, by the same n-grams, text to the shingles that verification compares.
    pub fingerprinter: FingerprinterOptions,
    /// Largest Hamming distance of a candidate, inclusive, 0 to 16. Default 8.
    ///
    /// With verification a wide radius costs time, never precision, and a narrow one costs recall:
    /// of the pairs of Chinese news at Jaccard 0.8 to 0.9, 4 % lie within distance 3 and a third
    /// within 6.
    pub max_distance: u32,
    /// Least Jaccard similarity of the shingle sets, 0 to 1. Default 0.8. `None`: candidates are
    /// duplicates without verification, and the nearest by distance is the original.
    pub min_similarity: Option<f64>,
    /// Most candidates verified for one document, nearest first, at least 1. Default 1,000
    /// (arbitrary: one document then costs a few milliseconds at most; ordinary text has under ten
    /// candidates). Where it cuts, [`Summary::truncated`](crate::Summary::truncated) counts it.
    pub max_verifications: usize,
    /// Most tasks at a time on the current rayon pool; 0, the default, as many as it has threads.
    /// Changes no result.
    pub threads: usize,
}

impl Default for DedupOptions {
    fn default() -> Self {
        Self {
            fingerprinter: FingerprinterOptions::default(),
            max_distance: 8,
            min_similarity: Some(0.8),
            max_verifications: 1_000,
            threads: 0,
        }
    }
}

impl DedupOptions {
    pub(crate) fn check(&self) -> Result<(), DedupError> {
        let refuse =
            |argument, value, expected| Err(DedupError::OutOfRange { argument, value, expected });
        if self.max_distance > 16 {
            let expected = "an integer from 0 to 16";
            return refuse("maxDistance", self.max_distance.to_string(), expected);
        }
        if let Some(least) = self.min_similarity
            && !(0.0..=1.0).contains(&least)
        {
            return refuse("minSimilarity", least.to_string(), "a number from 0 to 1");
        }
        if self.max_verifications == 0 {
            return refuse("maxVerifications", "0".into(), "at least 1");
        }
        Ok(())
    }
}

/// How files are read and written.
#[derive(Clone, Debug, Default)]
pub struct FileOptions {
    /// How documents are compared.
    pub dedup: DedupOptions,
    /// Where text and id are in a record. Default: the keys `text` and `id`.
    pub fields: Fields,
    /// Decide and count, but write nothing.
    pub dry_run: bool,
}
