//! A live index made, or opened from a file: the options of each method to its index.

use std::io::Read;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use simhash_index::bands::{BandIndex, BandOptions, BandPlan, Signatures};
use simhash_index::exact::{ExactIndex, ExactOptions};
use simhash_index::sentences::{Common, SentenceIndex, SentenceOptions};
use simhash_index::{Index, IndexError, IndexOptions, PlanChoice};
use simhash_sketch::minhash::{MinHashOptions, MinHasher};
use simhash_sketch::sentences::SentenceSketcher;
use simhash_sketch::{Fingerprinter, Sketcher};
use simhash_store::{FileError, head};
use simhash_text::sentence;

use super::engine::{Around, Engine};
use super::image::{Made, Source};
use super::{Any, LiveIndex, LiveMethod, LiveOptions, OnSameKey, Stored, Verify};
use crate::error::DedupError;
use crate::method::default_plan;
use crate::{Method, SPECIFICATION};

impl LiveIndex {
    /// An empty index.
    ///
    /// # Errors
    /// Options outside their ranges.
    pub fn new(options: &LiveOptions) -> Result<Self, DedupError> {
        let mut options = options.clone();
        check(&options)?;
        if options.method == LiveMethod::Exact {
            // Nothing would ever be compared.
            options.stored.longest_text = None;
        }
        let by = Fingerprinter::new(&options.fingerprinter)?;
        let made = options.made();
        let compares = options.compares();
        let window = options.window;
        let any = match &mut options.method {
            LiveMethod::SimHash { max_distance, plan, capacity } => {
                let default = Method::default_distance(compares);
                let mut how = IndexOptions::default();
                how.max_distance = *max_distance.get_or_insert(default);
                how.plan.clone_from(plan);
                (how.capacity, how.window) = (*capacity, window);
                let around = options.around(by, Sketcher::Fingerprint, made);
                Any::SimHash(Engine::new(Index::new(&how)?, around))
            }
            LiveMethod::MinHash { plan, minhash, signatures, bucket_limit } => {
                let least = options.verify.map(|verify| verify.least);
                let plan = match *plan {
                    Some(plan) => BandPlan::new(plan.bands, plan.rows)?,
                    None => *plan.insert(default_plan(least, minhash.hashes)?),
                };
                let keeps = *signatures.get_or_insert(options.stored.longest_text.is_none());
                if !keeps {
                    // Positions beyond the bands would be made for nobody.
                    minhash.hashes = plan.hashes();
                }
                let threshold = least.unwrap_or(0.0);
                let kept = Signatures { hashes: minhash.hashes, threshold };
                let mut how = BandOptions::new(plan);
                how.signatures = keeps.then_some(kept);
                (how.bucket_limit, how.window) = (*bucket_limit, window);
                let (sketcher, made) =
                    (signer(minhash, plan)?, Made { hashes: minhash.hashes, ..made });
                let around = options.around(by, sketcher, made);
                Any::MinHash(Engine::new(BandIndex::new(&how)?, around))
            }
            LiveMethod::Sentences { count, common, .. } => {
                let every = Common { share: 1.0, ..Common::default() };
                let default = if compares { every } else { Common::default() };
                let mut how = SentenceOptions::default();
                how.sentences = *count;
                how.common = *common.get_or_insert(default);
                how.window = window;
                let sketcher = options.sentences();
                let around = options.around(by, Sketcher::Sentences(sketcher), made);
                Any::Sentences(Engine::new(SentenceIndex::new(&how)?, around))
            }
            LiveMethod::Exact => {
                let mut how = ExactOptions::default();
                how.window = window;
                let around = options.around(by, Sketcher::None, made);
                Any::Exact(Engine::new(ExactIndex::new(&how)?, around))
            }
        };
        Ok(Self::of(options, any))
    }

    /// Reads the file that [`Snapshot::write_file`](super::Snapshot::write_file) wrote. Method, fingerprinter, scheme, seed, shortest sentence and its hash must be
    /// those that it was made with; all else comes from the file ([`LiveIndex::options`]), but for the bound of memory.
    ///
    /// # Errors
    /// [`FileError`]s in [`DedupError::Index`]; [`DedupError::Cancelled`] when the flag is raised.
    pub fn open_file(
        path: &Path,
        options: &LiveOptions,
        cancel: &AtomicBool,
    ) -> Result<Self, DedupError> {
        Self::read(Source::File(path, cancel), options)
    }

    /// Reads what [`Snapshot::write`](super::Snapshot::write) wrote, as [`LiveIndex::open_file`].
    ///
    /// # Errors
    /// As [`LiveIndex::open_file`].
    pub fn open(input: &mut dyn Read, options: &LiveOptions) -> Result<Self, DedupError> {
        Self::read(Source::Stream(input), options)
    }

    pub(super) fn read(from: Source<'_>, options: &LiveOptions) -> Result<Self, DedupError> {
        let mut options = options.clone();
        let by = Fingerprinter::new(&options.fingerprinter)?;
        let recipe = options.recipe(&by);
        let as_given = options.clone();
        let (any, made, window) = match &mut options.method {
            LiveMethod::SimHash { max_distance, plan, .. } => {
                let around = |_: &_, made| Ok(as_given.around(by, Sketcher::Fingerprint, made));
                let (engine, made) = Engine::open(from, &recipe, around)?;
                let index: &Index = &engine.index;
                *max_distance = Some(index.max_distance());
                *plan = PlanChoice::Named(index.plan().name().to_owned());
                let window = index.window();
                (Any::SimHash(engine), made, window)
            }
            LiveMethod::MinHash { plan, minhash, signatures, bucket_limit } => {
                let around = |own: &BandOptions, made: Made| {
                    let least = own.signatures.map_or(own.plan.hashes(), |kept| kept.hashes);
                    if made.hashes < least || (own.signatures.is_some() && made.hashes > least) {
                        let reason = format!("signatures of {} positions", made.hashes);
                        return Err(IndexError::from(FileError::damaged(0, reason)).into());
                    }
                    let minhash = MinHashOptions { hashes: made.hashes, ..minhash.clone() };
                    Ok(as_given.around(by, signer(&minhash, own.plan)?, made))
                };
                let (engine, made) = Engine::open(from, &recipe, around)?;
                let own: BandOptions = *engine.index.options();
                *plan = Some(own.plan);
                minhash.hashes = made.hashes;
                *signatures = Some(own.signatures.is_some());
                *bucket_limit = own.bucket_limit;
                (Any::MinHash(engine), made, own.window)
            }
            LiveMethod::Sentences { count, common, .. } => {
                let around = |own: &SentenceOptions, made| {
                    let mut given = as_given.clone();
                    if let LiveMethod::Sentences { count, .. } = &mut given.method {
                        *count = own.sentences;
                    }
                    Ok(given.around(by, Sketcher::Sentences(given.sentences()), made))
                };
                let (engine, made) = Engine::open(from, &recipe, around)?;
                let own: SentenceOptions = *engine.index.options();
                (*count, *common) = (own.sentences, Some(own.common));
                (Any::Sentences(engine), made, own.window)
            }
            LiveMethod::Exact => {
                let around = |_: &_, made| Ok(as_given.around(by, Sketcher::None, made));
                let (engine, made) = Engine::open(from, &recipe, around)?;
                let window = engine.index.window();
                (Any::Exact(engine), made, window)
            }
        };
        options.stored = made.stored;
        options.on_same_key = made.on_same_key;
        options.verify = made.verify;
        options.max_verifications = made.max_verifications;
        options.window = window;
        Ok(Self::of(options, any))
    }

    /// An index of sentences whose changes somebody else keeps, see [`SentenceIndex::kept_elsewhere`].
    ///
    /// # Errors
    /// [`FileError`]s in [`DedupError::Index`]; [`DedupError::Option`] for another method or for options that keep something else.
    pub fn kept_elsewhere(
        options: &LiveOptions,
        whole: Option<Vec<u8>>,
        kept: impl IntoIterator<Item = Vec<u8>>,
    ) -> Result<Self, DedupError> {
        let empty = Self::new(options)?;
        let mut options = empty.options;
        let Any::Sentences(engine) = empty.any else { return Err(not_logged("of sentences")) };
        if options.stored != Stored::NOTHING || options.verify.is_some() {
            return Err(not_logged("without keys, texts and verification"));
        }
        let by = engine.preparer.fingerprinter().clone();
        let index = SentenceIndex::kept_elsewhere(engine.index.options(), whole, kept)?;
        Ok(Self::around_sentences(index, &mut options, by))
    }

    fn around_sentences(
        index: SentenceIndex,
        options: &mut LiveOptions,
        by: Fingerprinter,
    ) -> Self {
        let own: SentenceOptions = *index.options();
        if let LiveMethod::Sentences { count, common, .. } = &mut options.method {
            (*count, *common) = (own.sentences, Some(own.common));
        }
        options.window = own.window;
        let sketcher = Sketcher::Sentences(options.sentences());
        let around = options.around(by, sketcher, options.made());
        Self::of(options.clone(), Any::Sentences(Engine::new(index, around)))
    }
}

impl LiveOptions {
    /// Whether candidates are compared on stored texts.
    fn compares(&self) -> bool {
        self.verify.is_some() && self.stored.longest_text.is_some()
    }

    fn made(&self) -> Made {
        let Self { stored, on_same_key, verify, max_verifications, .. } = *self;
        Made { stored, on_same_key, verify, max_verifications, hashes: 0 }
    }

    fn around(&self, by: Fingerprinter, sketcher: Sketcher, made: Made) -> Around {
        let Made { stored, on_same_key, verify, max_verifications, .. } = made;
        let memory = self.memory;
        Around { by, sketcher, stored, on_same_key, verify, max_verifications, memory }
    }

    pub(super) fn sentences(&self) -> SentenceSketcher {
        let normalizer = self.fingerprinter.normalizer();
        let mut options = sentence::SentenceOptions { normalizer, ..Default::default() };
        if let LiveMethod::Sentences { count, min_length, hash, .. } = self.method {
            (options.count, options.min_length, options.hash) = (count, min_length, hash);
        }
        SentenceSketcher::new(&options)
    }

    /// What makes sketches of texts, in words: files of equal recipes can be opened.
    pub(super) fn recipe(&self, by: &Fingerprinter) -> String {
        let made = match &self.method {
            LiveMethod::SimHash { .. } => by.to_string(),
            LiveMethod::MinHash { minhash, .. } => {
                let MinHashOptions { scheme, seed, .. } = minhash;
                format!("minhash {}, seed {seed}; {by}", scheme.name())
            }
            LiveMethod::Sentences { .. } => format!("{}; {by}", self.sentences()),
            LiveMethod::Exact => format!("equal texts; {by}"),
        };
        head::by_version(SPECIFICATION, &made)
    }
}

fn signer(minhash: &MinHashOptions, plan: BandPlan) -> Result<Sketcher, DedupError> {
    let hasher = MinHasher::new(minhash)?;
    Ok(Sketcher::Signature { hasher, bands: plan.bands, rows: plan.rows })
}

fn check(options: &LiveOptions) -> Result<(), DedupError> {
    let refuse =
        |argument, value, expected| Err(DedupError::OutOfRange { argument, value, expected });
    if let Some(Verify { least, .. }) = options.verify
        && !(least > 0.0 && least <= 1.0)
    {
        return refuse("min_similarity", least.to_string(), "above 0 and at most 1");
    }
    if options.max_verifications == 0 {
        return refuse("max_verifications", "0".into(), "at least 1");
    }
    if options.on_same_key != OnSameKey::Add && !options.stored.keys {
        return Err(DedupError::Option {
            argument: "on_same_key",
            value: options.on_same_key.name().into(),
            expected: "left out in an index without keys",
        });
    }
    if let Some(longest) = options.stored.longest_text.filter(|&most| most == 0 || most > 1 << 24) {
        return refuse("texts.max_length", longest.to_string(), "an integer from 1 to 2^24");
    }
    Ok(())
}

fn not_logged(expected: &'static str) -> DedupError {
    DedupError::Option { argument: "durability", value: "another index".into(), expected }
}
