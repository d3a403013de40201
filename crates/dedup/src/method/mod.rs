//! The methods of the field behind one interface: what a text is remembered by, and who may be near it.
//!
//! | method | a sketch is | candidates are | bytes per document |
//! |---|---|---|---|
//! | [`Method::SimHash`] | one fingerprint | all within a Hamming distance, exactly | least |
//! | [`Method::MinHash`] | a signature | all that share a band, by chance on an S-curve | about 9 per band |
//! | [`Method::Sentences`] | hashes of the longest sentences | all that share one | about 20 per sentence |
//! | [`Method::BruteForce`] | the set of features | all above the threshold, exactly | 20 to 100 per feature |
//! | [`Method::Exact`] | nothing | none: only equal normalised texts are found | none |
//!
//! A method only proposes. Equal normalised texts are found before it is asked, whatever the method, and what it
//! proposes is verified afterwards; so a method decides recall, time and memory, never precision.
//!
//! Sketches are made with everything else that is needed of a text ([`simhash_sketch::Preparer`]). A text without one has no
//! candidates.
//!
//! Invariant, on which the equality of all batch sizes, thread counts, cluster modes and keep rules rests: the candidates of
//! a text, limits included, are a function of the sketches of the different texts up to it, in input order.

mod brute_force;
mod exact;
mod minhash;
mod sentences;
mod shared;
mod simhash;

use crate::error::DedupError;
use crate::options::DedupOptions;
use brute_force::BruteForce;
use exact::Exact;
pub(crate) use minhash::{Banding, Counts, MinHash, default_plan};
use sentences::Sentences;
pub(crate) use shared::{best, by_keys};
pub(crate) use simhash::SimHash;
use simhash_index::bands::BandPlan;
use simhash_sketch::{MethodSketch, Sketcher};
use std::sync::atomic::AtomicBool;

/// How near-duplicates are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Method {
    /// Fingerprints of 64 bits: candidates are all documents within a Hamming distance, none is missed.
    SimHash {
        /// Largest distance, inclusive, 0 to 16. Usually [`Method::default_distance`].
        max_distance: u32,
    },
    /// Signatures of the sets of features, cut into bands: candidates share a band.
    MinHash {
        /// Bands and rows. `None`: the most selective plan of at most 128 positions that finds a pair whose Jaccard
        /// similarity is `min_similarity` with probability 0.9999; 24 bands of 5 rows for 0.8.
        plan: Option<BandPlan>,
    },
    /// The longest sentences: candidates have an equal one. For pages that put other things around a text.
    Sentences {
        /// How many, 1 to 64. Default [`Method::SENTENCES`].
        count: usize,
    },
    /// Candidates are all documents whose set of features has a Jaccard similarity of at least `min_similarity`, exactly.
    BruteForce,
    /// Equal normalised texts and nothing else.
    Exact,
}

impl Method {
    /// The distance that [`Method::SimHash`] has by default where texts are compared: 8.
    ///
    /// With verification a wide radius costs time, never precision, and a narrow one costs recall: of the pairs of
    /// Chinese news at Jaccard 0.8 to 0.9, 4 % lie within distance 3 and a third within 6.
    pub const MAX_DISTANCE: u32 = 8;

    /// The distance by default where the fingerprints alone decide: 3, that of Manku, Jain and Das Sarma 2007.
    ///
    /// Of the pairs of Chinese news within 3 bits 95 % are copies, of those within 8 bits 77 % (docs/quality.md).
    pub const BARE_DISTANCE: u32 = 3;

    /// [`Method::MAX_DISTANCE`] where texts are compared, else [`Method::BARE_DISTANCE`].
    pub const fn default_distance(compares: bool) -> u32 {
        if compares { Self::MAX_DISTANCE } else { Self::BARE_DISTANCE }
    }

    /// The sentences that [`Method::Sentences`] takes by default: 5, the usual choice.
    pub const SENTENCES: usize = 5;

    /// Its name, as options and summaries spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::SimHash { .. } => "simhash",
            Self::MinHash { .. } => "minhash",
            Self::Sentences { .. } => "sentences",
            Self::BruteForce => "brute-force",
            Self::Exact => "exact",
        }
    }

    pub(crate) fn check(self) -> Result<(), DedupError> {
        match self {
            Self::SimHash { max_distance } if max_distance > 16 => Err(DedupError::OutOfRange {
                argument: "max_distance",
                value: max_distance.to_string(),
                expected: "an integer from 0 to 16",
            }),
            Self::Sentences { count } if !(1..=64).contains(&count) => {
                Err(DedupError::OutOfRange {
                    argument: "sentences",
                    value: count.to_string(),
                    expected: "an integer from 1 to 64",
                })
            }
            _ => Ok(()),
        }
    }
}

impl Default for Method {
    /// [`Method::MinHash`]: it finds what is similar at every length of text and threshold. [`Method::SimHash`] needs a
    /// third of the memory and finds two thirds of the near-duplicates among titles.
    fn default() -> Self {
        Self::MinHash { plan: None }
    }
}

/// A text that may be near.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    /// Its number among the texts taken in.
    pub(crate) number: u32,
    /// How promising, 0 the most; the Hamming distance with [`Method::SimHash`].
    pub(crate) rank: u32,
}

/// The candidates of one sketch, by rank, then number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    pub(crate) candidates: Vec<Candidate>,
    /// There may be others: a limit cut the list.
    pub(crate) cut: bool,
}

/// A method at work: the sketches of the different texts taken in so far.
///
/// Parallel on the current pool, on at most `threads` tasks (0: all of it), cancelled by the flag.
pub(crate) trait Sieve: Send + Sync {
    /// What makes the sketches it takes.
    fn sketcher(&self) -> Sketcher;

    /// Takes texts in, under the next numbers from 0, and gives each one's best candidates among all texts before it, those
    /// of the same call included: at most `limit`, a function of the texts alone. None of the sketches is none.
    fn take(
        &mut self,
        sketches: &[&MethodSketch],
        limit: usize,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Vec<Found>, DedupError>;

    /// Bytes held for the documents taken in: the same for the same documents, whatever the threads and batches.
    fn bytes(&self) -> usize;
}

/// How many texts there are after `more`; their numbers have 31 bits.
fn count(before: u32, more: usize) -> Result<u32, DedupError> {
    let count = u32::try_from(more).ok().and_then(|more| before.checked_add(more));
    count.filter(|&count| count < 1 << 31).ok_or(DedupError::TooMany)
}

/// The sieve that the options ask for.
pub(crate) fn sieve(options: &DedupOptions) -> Result<Box<dyn Sieve>, DedupError> {
    Ok(match options.method {
        Method::SimHash { max_distance } => Box::new(SimHash::new(max_distance)?),
        Method::MinHash { plan } => Box::new(MinHash::new(Banding::new(options, plan)?)),
        Method::Sentences { count } => Box::new(Sentences::new(options, count)),
        Method::BruteForce => Box::new(BruteForce::new(options)?),
        Method::Exact => Box::new(Exact),
    })
}
