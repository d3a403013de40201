//! How a live index is made.

use simhash_index::bands::BandPlan;
use simhash_index::sentences::Common;
use simhash_index::{PlanChoice, Window};
use simhash_sketch::FingerprinterOptions;
use simhash_sketch::minhash::MinHashOptions;
use simhash_sketch::sentences::MIN_LENGTH;
use simhash_text::sentence::SentenceHash;

use crate::options::Measure;
use crate::{DedupOptions, Method};

/// Options of a [`LiveIndex`](super::LiveIndex). Those of deduplication have the defaults that they have there.
#[derive(Debug, Clone)]
pub struct LiveOptions {
    /// How near documents are found.
    pub method: LiveMethod,
    /// Text to features, for the sketch and for what is compared.
    pub fingerprinter: FingerprinterOptions,
    /// How candidates are confirmed on their texts; `None`: they count as they are. Default by [`Measure::Auto`], 0.8.
    pub verify: Option<Verify>,
    /// Most candidates of one document that are compared, the best first, at least 1. Default 1,000.
    pub max_verifications: usize,
    /// What is kept of documents beside their sketches.
    pub stored: Stored,
    /// What the key of a live document does when it comes again. Anything but [`OnSameKey::Add`] needs keys.
    pub on_same_key: OnSameKey,
    /// Keeps times and lets old documents leave. Default: documents stay, and no times are kept.
    pub window: Option<Window>,
    /// Most bytes that the index may hold; beyond them additions fail with [`DedupError::Memory`](crate::DedupError::Memory) and
    /// searches go on. Looked at with every addition: the one that reaches it is the last. Default: no bound.
    pub memory: Option<u64>,
}

impl Default for LiveOptions {
    fn default() -> Self {
        Self {
            method: LiveMethod::default(),
            fingerprinter: FingerprinterOptions::default(),
            verify: Some(Verify::default()),
            max_verifications: DedupOptions::default().max_verifications,
            stored: Stored::default(),
            on_same_key: OnSameKey::default(),
            window: None,
            memory: None,
        }
    }
}

impl LiveOptions {
    /// Positions of a signature; 0 for other methods.
    pub(super) fn hashes(&self) -> usize {
        match &self.method {
            LiveMethod::MinHash { minhash, .. } => minhash.hashes,
            _ => 0,
        }
    }
}

/// How candidates are confirmed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verify {
    /// What is measured.
    pub measure: Measure,
    /// Least similarity, above 0 and at most 1.
    pub least: f64,
}

impl Default for Verify {
    /// [`Measure::Auto`], 0.8 or more.
    fn default() -> Self {
        Self { measure: Measure::Auto, least: 0.8 }
    }
}

/// What is kept of documents beside their sketches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stored {
    /// Whether documents may have keys. Default: not.
    pub keys: bool,
    /// Most bytes of a normalised text, in UTF-8, that is stored, at most 2^24; `None`: no texts are, and never where
    /// equal texts alone are looked for. Default 65,536.
    pub longest_text: Option<u32>,
}

impl Stored {
    /// Sketches alone.
    pub const NOTHING: Self = Self { keys: false, longest_text: None };
}

impl Default for Stored {
    fn default() -> Self {
        Self { keys: false, longest_text: Some(64 << 10) }
    }
}

/// What happens to a document whose key came before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum OnSameKey {
    /// It is a document like any other: a key may be used again, and names the latest of its documents that is alive. The default.
    #[default]
    Add,
    /// It is refused while the key names a live document: [`DedupError::SameKey`](crate::DedupError::SameKey), before anything is
    /// looked for.
    Error,
    /// The live document of the key leaves first, and this one is added or checked in its place. Where it is found to be a duplicate
    /// of another one it is not kept, and the old one is gone all the same.
    Replace,
    /// It is answered as the key was answered first ([`Checked::repeated`](super::Checked)), and nothing changes: while the document
    /// lives that was kept; where it was a duplicate, as long as a document of that time would live. That is, in an index with a
    /// window, until the window has passed over its time, until `max_count` documents were added after it, or until it is made to
    /// expire; in one without, until the document that it was found like is deleted. After that the key is new. A call that adds without a look
    /// answers with the id of a document that was kept; one that was a duplicate has none, and is added.
    Repeat,
}

impl OnSameKey {
    const ALL: [Self; 4] = [Self::Add, Self::Error, Self::Replace, Self::Repeat];

    /// Its name, as options spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Error => "error",
            Self::Replace => "replace",
            Self::Repeat => "repeat",
        }
    }

    /// The one with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }

    /// Its number in files.
    pub(super) fn number(self) -> u64 {
        (1..).zip(Self::ALL).find_map(|(number, one)| (one == self).then_some(number)).unwrap_or(0)
    }

    /// The one with this number.
    pub(super) fn numbered(number: u64) -> Option<Self> {
        (1..).zip(Self::ALL).find_map(|(own, one)| (own == number).then_some(one))
    }
}

/// A method of finding what is near, with its own options. Brute force has no live index.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum LiveMethod {
    /// Fingerprints within a Hamming distance, none is missed.
    SimHash {
        /// Largest distance, inclusive, 0 to 16. Default [`Method::default_distance`].
        max_distance: Option<u32>,
        /// Which tables to keep.
        plan: PlanChoice,
        /// Expected number of documents, a hint for the plan.
        capacity: Option<u64>,
    },
    /// Signatures that share a band.
    MinHash {
        /// Bands and rows. `None`: those of [`Method::MinHash`] for the least similarity.
        plan: Option<BandPlan>,
        /// Scheme and seed. `hashes` are the positions of a signature that is kept or given, and the most that the plan may use
        /// where it is chosen.
        minhash: MinHashOptions,
        /// Whether signatures are kept, to estimate similarities where no texts are: 4 bytes per position. Default: where
        /// texts are not stored.
        signatures: Option<bool>,
        /// Most documents read from one bucket, the oldest; what lies beyond makes an answer truncated. Where texts are compared
        /// and most of those that were read are copies of others, up to 64 times as many are. Default 1024: deduplication reads
        /// 256 texts ([`DedupOptions::max_bucket`]) and goes on to longer keys, which an index of documents that leave again
        /// does not have.
        bucket_limit: usize,
    },
    /// Sentences in common.
    Sentences {
        /// How many of the longest are taken, 1 to 64. Default [`Method::SENTENCES`].
        count: usize,
        /// Shortest sentence that counts, in code points.
        min_length: usize,
        /// Hash of a sentence.
        hash: SentenceHash,
        /// Which sentences are too common to count. Default: none where texts are compared, else [`Common::default`].
        common: Option<Common>,
    },
    /// Equal normalised texts.
    Exact,
}

impl Default for LiveMethod {
    /// That of deduplication: minhash.
    fn default() -> Self {
        Self::minhash()
    }
}

impl LiveMethod {
    /// Simhash with its defaults.
    pub fn simhash() -> Self {
        Self::SimHash { max_distance: None, plan: PlanChoice::default(), capacity: None }
    }

    /// Minhash with its defaults.
    pub fn minhash() -> Self {
        let (minhash, bucket_limit) = (MinHashOptions::default(), 1024);
        Self::MinHash { plan: None, minhash, signatures: None, bucket_limit }
    }

    /// Sentences with their defaults.
    pub fn sentences() -> Self {
        let (count, min_length) = (Method::SENTENCES, MIN_LENGTH);
        Self::Sentences { count, min_length, hash: SentenceHash::default(), common: None }
    }

    /// Its name, as options spell it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::SimHash { .. } => "simhash",
            Self::MinHash { .. } => "minhash",
            Self::Sentences { .. } => "sentences",
            Self::Exact => "exact",
        }
    }
}
