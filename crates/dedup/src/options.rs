//! Options and their defaults, each with its reason.

use crate::error::DedupError;
use crate::method::Method;
use crate::read::{Fields, Form};
use simhash_sketch::FingerprinterOptions;
use simhash_text::lexicon::Dictionary;
use std::path::PathBuf;
use std::sync::Arc;

/// How documents are compared.
#[derive(Clone, Debug, PartialEq)]
pub struct DedupOptions {
    /// Text to sketch, and, by the same features, text to the shingles that verification compares.
    pub fingerprinter: FingerprinterOptions,
    /// How candidates are found.
    pub method: Method,
    /// What belongs together. Default [`Cluster::Representative`].
    pub cluster: Cluster,
    /// Which document of a cluster is kept. Default [`Keep::First`].
    pub keep: Keep,
    /// What verification measures. Default [`Measure::Auto`].
    pub measure: Measure,
    /// Least similarity by that measure, 0 to 1. Default 0.8. `None`: candidates are
    /// duplicates without verification, and the best by rank is the original.
    pub min_similarity: Option<f64>,
    /// Most candidates of one text, best first, at least 1. Default 1,000 (arbitrary: one text then costs a few
    /// milliseconds at most; ordinary text has under ten candidates). Where it cuts, the decision says
    /// [`truncated`](crate::Decision::truncated).
    pub max_verifications: usize,
    /// Texts that a key (a band, a sentence) counts for, the oldest, at least 1; the longer keys of crowded bands count for an
    /// eighth. Default 256 (with 24 bands one text then reads 12,288 others at most, in about 0.2 ms). Where it cuts, the
    /// decision says [`truncated`](crate::Decision::truncated).
    pub max_bucket: usize,
    /// Most tasks at a time on the current rayon pool; 0, the default, as many as it has threads.
    /// Changes no result.
    pub threads: usize,
}

/// How similar two texts are; see [`verify`](crate::verify).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Measure {
    /// [`Measure::Jaccard`] for texts of every length, and in short ones numbers count: two texts of fewer than 48 code points
    /// that differ in a number are two, from 96 on a number is as good as any other word, and between the two the similarity is
    /// multiplied by a factor that rises from 0 to 1. 1 means equal.
    #[default]
    Auto,
    /// Of the sets of features: what both have, as a share of what either has.
    Jaccard,
    /// Of the sets of features: what both have, as a share of the smaller one. Methods look for similar texts of
    /// similar length, so a short text within a long one is found by chance only.
    Containment,
    /// Of the normalised texts: one minus the Levenshtein distance as a share of the longer text.
    Edit,
    /// Of the weighted features: the cosine of the angle.
    Cosine,
}

/// What belongs together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cluster {
    /// The documents that resemble the one that is kept. Clusters do not chain: of a and b, b and c alike, a and c not,
    /// b goes with a, and c is kept.
    #[default]
    Representative,
    /// Whatever matches connect, through duplicates too: a, b and c are one cluster. Decided when the input has ended.
    Components,
}

/// Which document of a cluster is kept. Anything but the first is decided when the input has ended; ties are for the
/// first in the input. With [`Cluster::Representative`] documents are decided in the order of keeping, so the members of a
/// cluster resemble the document that is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// The first in the input.
    #[default]
    First,
    /// The last in the input.
    Last,
    /// The longest text, in code points as given.
    Longest,
    /// By a field of the record, see [`Key`](crate::Key).
    Field {
        /// Its path, keys separated by dots.
        path: String,
        /// The largest value is kept (the newest date); false: the smallest.
        largest: bool,
    },
    /// The caller chooses from each cluster ([`Deduper::choose`](crate::Deduper::choose)); not for files. A
    /// representative's cluster is then the one around the first document.
    Chosen,
}

impl Keep {
    /// Whether documents have a key to be compared by.
    pub(crate) fn has_key(&self) -> bool {
        matches!(self, Self::Longest | Self::Field { .. })
    }
}

impl Default for DedupOptions {
    fn default() -> Self {
        Self {
            fingerprinter: FingerprinterOptions::default(),
            method: Method::default(),
            cluster: Cluster::default(),
            keep: Keep::default(),
            measure: Measure::default(),
            min_similarity: Some(0.8),
            max_verifications: 1_000,
            max_bucket: 256,
            threads: 0,
        }
    }
}

impl DedupOptions {
    pub(crate) fn check(&self) -> Result<(), DedupError> {
        let refuse =
            |argument, value, expected| Err(DedupError::OutOfRange { argument, value, expected });
        self.method.check()?;
        if let Some(least) = self.min_similarity
            && !(0.0..=1.0).contains(&least)
        {
            return refuse("min_similarity", least.to_string(), "a number from 0 to 1");
        }
        for (name, limit) in
            [("max_verifications", self.max_verifications), ("max_bucket", self.max_bucket)]
        {
            if limit == 0 {
                return refuse(name, "0".into(), "at least 1");
            }
        }
        Ok(())
    }
}

/// How new documents are matched.
#[derive(Clone, Debug, Default)]
pub struct MatchOptions {
    /// How files are read, and documents compared.
    pub files: FileOptions,
    /// Most matches of one document, the most similar first, at least 1. Default `None`: all. Where it cuts, the line says
    /// `truncated`.
    pub limit: Option<usize>,
}

/// How documents of files are fingerprinted.
#[derive(Clone, Debug, Default)]
pub struct FingerprintOptions {
    /// How texts become features.
    pub fingerprinter: FingerprinterOptions,
    /// By whose sketch documents are known. Default: that of [`DedupOptions`].
    pub method: Method,
    /// Where text and id are in a record. Default: the keys `text` and `id`.
    pub fields: Fields,
    /// How files are read. Default: as they say.
    pub form: Form,
    /// JSON lines instead of lines for people.
    pub json: bool,
    /// Most tasks at a time, as [`DedupOptions::threads`].
    pub threads: usize,
}

/// How documents of files are cut into words.
#[derive(Clone, Debug)]
pub struct SegmentOptions {
    /// Words beside jieba's own. Default `None`.
    pub dictionary: Option<Arc<Dictionary>>,
    /// Whether words that are in no dictionary are found by jieba's hidden Markov model. Default true.
    pub hmm: bool,
    /// JSON lines instead of lines of words.
    pub json: bool,
    /// How files are read.
    pub read: ReadOptions,
}

impl Default for SegmentOptions {
    fn default() -> Self {
        Self { dictionary: None, hmm: true, json: false, read: ReadOptions::default() }
    }
}

/// How documents of files are read, where an index says how they are compared.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// Where text and id are in a record. Default: the keys `text` and `id`.
    pub fields: Fields,
    /// How files are read. Default: as they say.
    pub form: Form,
    /// Most tasks at a time, as [`DedupOptions::threads`].
    pub threads: usize,
}

/// How a result in files is scored.
#[derive(Clone, Debug)]
pub struct EvaluateOptions {
    /// Text to the features that are compared.
    pub fingerprinter: FingerprinterOptions,
    /// Similarity from which a pair is a pair of duplicates, 0 to 1. Default 0.8.
    pub least: f64,
    /// How files are read; of labels and results only the id counts.
    pub read: ReadOptions,
}

impl Default for EvaluateOptions {
    fn default() -> Self {
        let (fingerprinter, read) = (FingerprinterOptions::default(), ReadOptions::default());
        Self { fingerprinter, least: 0.8, read }
    }
}

/// What a report shows.
#[derive(Clone, Debug, Default)]
pub struct ReportOptions {
    /// How the documents are read; of the result only its own forms are.
    pub read: ReadOptions,
    /// The field of a record that holds its date, keys separated by dots. Default: documents are not counted by date.
    pub date: Option<String>,
    /// How much of texts is shown.
    pub texts: ReportTexts,
}

/// How much of a text a report shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReportTexts {
    /// The first 20,000 characters.
    All,
    /// The first 1,000 characters.
    #[default]
    Cut,
    /// Nothing: ids, inputs and lengths only.
    None,
}

impl ReportTexts {
    /// Characters that are shown at most; `None`: no text at all.
    pub(crate) fn characters(self) -> Option<usize> {
        match self {
            Self::All => Some(20_000),
            Self::Cut => Some(1_000),
            Self::None => None,
        }
    }
}

/// How documents of files are sampled.
#[derive(Clone, Debug)]
pub struct SampleOptions {
    /// How many at random, and at most how many near them, at least 1. Default 2,000.
    pub size: u32,
    /// Draws another sample. Default 1.
    pub seed: u32,
    /// Text to the features by which a document is near another.
    pub fingerprinter: FingerprinterOptions,
    /// From which Jaccard similarity on, above 0 and at most 1. Default 0.8.
    pub least: f64,
    /// How files are read.
    pub read: ReadOptions,
}

impl Default for SampleOptions {
    fn default() -> Self {
        let (fingerprinter, read) = (FingerprinterOptions::default(), ReadOptions::default());
        Self { size: 2_000, seed: 1, fingerprinter, least: 0.8, read }
    }
}

/// How files are read and written.
#[derive(Clone, Debug, Default)]
pub struct FileOptions {
    /// How documents are compared.
    pub dedup: DedupOptions,
    /// Where text and id are in a record. Default: the keys `text` and `id`.
    pub fields: Fields,
    /// How files are read. Default: as they say.
    pub form: Form,
    /// Compare documents with those of other inputs only: those of one input are never duplicates of each other, and
    /// of a cluster all documents are kept that are of the same input as the one that the keep rule chooses. A folder of texts is one
    /// input, and so is a pattern whose files are all texts; of any other pattern each file is one. At least two. Everything is decided when the input has ended. Default false.
    pub across_files_only: bool,
    /// Decide and count, but write nothing.
    pub dry_run: bool,
    /// Most bytes of memory that the whole process may hold while files are deduplicated, at least
    /// [`LEAST_MEMORY`](crate::LEAST_MEMORY): what there is beyond that lies in temporary files, some 200 bytes per document at most, some 750 of
    /// texts in full buckets of `minhash`. Changes no result. Linux; elsewhere an error. Default `None`: any.
    pub memory: Option<u64>,
    /// Folder of temporary files, which nobody else can open and which go away with the process. Better not one that itself lies in
    /// memory. Default `None`: that of the system.
    ///
    /// A run of [`dedup_files`](crate::dedup_files) over files into files that is given one makes a folder of its own there, for its owner only, and keeps in it what it has
    /// done so far, some 230 bytes more per document, so that `resume` goes on from there. It is removed when the run has ended.
    pub tmp: Option<PathBuf>,
    /// Go on where an earlier run with the same outputs and the same `tmp` stopped, wherever that was; from the beginning where there
    /// is none. The outputs are those of a run that was not stopped. Options that change them, and inputs, must be the same; threads and
    /// memory may be others. Default false: what such a run has left in `tmp` is removed.
    pub resume: bool,
}
