//! The index as a service: documents that come one by one and leave again, by any method, with keys of the caller's and stored
//! texts, and duplicates confirmed on the texts before they count.
//!
//! `simhash_index` knows sketches only. This room adds what has to do with documents, and keeps its laws: looking,
//! verifying and adding are one step, of two near-duplicates at once exactly one is kept. It decides as deduplication does with
//! representatives of which the first is kept, by the same method, measure and threshold (`docs/specification.md`).
//!
//! ```text
//! check_and_add   writer of the index ─► candidates by the method ─► texts: stored here, or told by the caller ─► add
//!   (one step)    (kind)                                             (compare)                                    with key, text
//! ```
//!
//! - **The most similar counts** of the candidates that reach the least similarity, ties to the lowest id. One whose text is not
//!   at hand counts by the method alone, unverified, and behind every verified one.
//! - **Texts of the caller's** come from a callback that may take long or use this index itself, so it never runs while
//!   others wait: a check that misses a text ends with [`Step::Text`] and has added nothing; its time counts already. The
//!   caller finds the text and asks again; what came meanwhile is then seen.
//! - **Short texts**, with too few features for the method, match equal texts only; empty ones nothing.

mod check;
mod compare;
mod document;
mod engine;
mod groups;
mod image;
mod keys;
mod kind;
mod options;
mod pairs;
mod store;
mod strings;
mod texts;

use std::io::Read;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use ahash::AHashMap;
use simhash_index::bands::{BandIndex, BandOptions, BandPlan, Bands, Signatures};
use simhash_index::exact::{Equal, ExactIndex, ExactOptions};
use simhash_index::sentences::{Common, SentenceIndex, SentenceMap, SentenceOptions, StoreOptions};
use simhash_index::{
    AddOptions, Added, Answer, Hamming, Index, IndexOptions, OnDuplicate, Union, Window,
};
use simhash_sketch::minhash::{MinHashOptions, MinHasher};
use simhash_sketch::sentences::SentenceSketcher;
use simhash_sketch::{Fingerprinter, Scratch, Sketcher};
use simhash_text::sentence;

pub use self::document::{Checked, Document, Near, Room, Search, Step, Texts};
use self::engine::{Around, Engine};
pub use self::image::Snapshot;
use self::image::{Made, Source};
pub use self::kind::KindStats;
pub use self::options::{LiveMethod, LiveOptions, Stored, Verify};
pub use self::pairs::{Pair, Pairs};
use crate::Method;
use crate::error::DedupError;
use crate::method::default_plan;

/// Counts and bytes of a live index at one moment. O(1).
#[derive(Debug, Clone)]
pub struct LiveStats {
    /// Of the method's index.
    pub kind: KindStats,
    /// Bytes of keys.
    pub key_bytes: usize,
    /// Bytes of stored texts, compressed, with what finds equal ones.
    pub text_bytes: usize,
    /// Searches and checks so far whose candidates a limit cut.
    pub truncated: u64,
}

/// Documents, live, by one of the methods.
///
/// Memory, beside that of the method's index: with keys 4 bytes per id, the key, and about 40 for the way back; with stored texts
/// 4 bytes per id and about six tenths of the text (Chinese), 100 more for sentences. What has left counts for up to as much again.
#[derive(Debug)]
pub struct LiveIndex {
    options: LiveOptions,
    any: Any,
}

#[derive(Debug)]
enum Any {
    SimHash(Engine<Hamming>),
    MinHash(Engine<Bands>),
    Sentences(Engine<SentenceMap>),
    Exact(Engine<Equal>),
}

/// The same work whatever the method.
macro_rules! each {
    ($any:expr, $engine:ident => $work:expr) => {
        match $any {
            Any::SimHash($engine) => $work,
            Any::MinHash($engine) => $work,
            Any::Sentences($engine) => $work,
            Any::Exact($engine) => $work,
        }
    };
}

/// The distance where nothing is compared: one bit in twenty.
const BARE_DISTANCE: u32 = 3;

impl LiveIndex {
    /// An empty index.
    ///
    /// # Errors
    /// Options outside their ranges.
    pub fn new(options: &LiveOptions) -> Result<Self, DedupError> {
        let mut options = options.clone();
        check(&options)?;
        let by = Fingerprinter::new(&options.fingerprinter)?;
        let made = options.made();
        let compares = options.compares();
        let window = options.window;
        let any = match &mut options.method {
            LiveMethod::SimHash { max_distance, plan, capacity } => {
                let default = if compares { Method::MAX_DISTANCE } else { BARE_DISTANCE };
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
                    None => *plan.insert(default_plan(least)?),
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
        Ok(Self { options, any })
    }

    /// Reads the file that [`Snapshot::write_file`] wrote. Method, fingerprinter, scheme, seed, shortest sentence and its hash must be
    /// those that it was made with; all else comes from the file ([`LiveIndex::options`]), but for the bound of memory.
    ///
    /// # Errors
    /// [`FileError`](simhash_store::FileError)s in [`DedupError::Index`]; [`DedupError::Cancelled`] when the flag is raised.
    pub fn open_file(
        path: &Path,
        options: &LiveOptions,
        cancel: &AtomicBool,
    ) -> Result<Self, DedupError> {
        Self::read(Source::File(path, cancel), options)
    }

    /// Reads what [`Snapshot::write`] wrote, as [`LiveIndex::open_file`].
    ///
    /// # Errors
    /// As [`LiveIndex::open_file`].
    pub fn open(input: &mut dyn Read, options: &LiveOptions) -> Result<Self, DedupError> {
        Self::read(Source::Stream(input), options)
    }

    fn read(from: Source<'_>, options: &LiveOptions) -> Result<Self, DedupError> {
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
                *plan = simhash_index::PlanChoice::Named(index.plan().name().to_owned());
                let window = index.window();
                (Any::SimHash(engine), made, window)
            }
            LiveMethod::MinHash { plan, minhash, signatures, bucket_limit } => {
                let around = |own: &BandOptions, made: Made| {
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
        options.verify = made.verify;
        options.max_verifications = made.max_verifications;
        options.window = window;
        Ok(Self { options, any })
    }

    /// Opens the logged file of an index of sentences without keys and texts, or makes both: from now on every change is
    /// written to it before its call returns ([`SentenceIndex::open_log`]). Options of a file that is there are its own; `log` has those of
    /// a new one but for what `options` says.
    ///
    /// # Errors
    /// [`FileError`](simhash_store::FileError)s in [`DedupError::Index`]; [`DedupError::Option`] for another method or for
    /// options that keep something else.
    pub fn open_log(
        path: &Path,
        options: &LiveOptions,
        durability: simhash_index::sentences::Durability,
    ) -> Result<Self, DedupError> {
        let empty = Self::new(options)?;
        let mut options = empty.options;
        let Any::Sentences(engine) = empty.any else { return Err(not_logged("of sentences")) };
        if options.stored != Stored::NOTHING || options.verify.is_some() {
            return Err(not_logged("without keys, texts and verification"));
        }
        let by = engine.preparer.fingerprinter().clone();
        let recipe = options.sentences().to_string();
        let mut log = StoreOptions::new(*engine.index.options(), recipe);
        log.durability = durability;
        let index = SentenceIndex::open_log(path, &log)?;
        Self::around_sentences(index, &mut options, by)
    }

    /// An index of sentences whose changes somebody else keeps, see [`SentenceIndex::kept_elsewhere`].
    ///
    /// # Errors
    /// As [`LiveIndex::open_log`].
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
        Self::around_sentences(index, &mut options, by)
    }

    fn around_sentences(
        index: SentenceIndex,
        options: &mut LiveOptions,
        by: Fingerprinter,
    ) -> Result<Self, DedupError> {
        let own: SentenceOptions = *index.options();
        if let LiveMethod::Sentences { count, common, .. } = &mut options.method {
            (*count, *common) = (own.sentences, Some(own.common));
        }
        options.window = own.window;
        let sketcher = Sketcher::Sentences(options.sentences());
        let around = options.around(by, sketcher, options.made());
        Ok(Self { options: options.clone(), any: Any::Sentences(Engine::new(index, around)) })
    }

    /// The options, with what was left out.
    pub fn options(&self) -> &LiveOptions {
        &self.options
    }

    /// What makes features.
    pub fn fingerprinter(&self) -> &Fingerprinter {
        each!(&self.any, engine => engine.preparer.fingerprinter())
    }

    /// The index of fingerprints under method simhash: joins, compaction, its plan.
    pub fn hamming(&self) -> Option<&Index> {
        if let Any::SimHash(engine) = &self.any { Some(&engine.index) } else { None }
    }

    /// The index of sentences under that method: groups, its log.
    pub fn sentences(&self) -> Option<&SentenceIndex> {
        if let Any::Sentences(engine) = &self.any { Some(&engine.index) } else { None }
    }

    /// A text as a document; the normalised text comes along where it can be stored or compared.
    pub fn document(&self, text: &str, scratch: &mut Scratch) -> Document {
        self.document_in(text, &Room::default(), scratch)
    }

    /// [`LiveIndex::document`], as one of a batch.
    pub fn document_in(&self, text: &str, room: &Room, scratch: &mut Scratch) -> Document {
        each!(&self.any, engine => engine.document(text, room, scratch))
    }

    /// Adds a document without looking for near ones and returns its id.
    ///
    /// # Errors
    /// [`IndexError`](simhash_index::IndexError)s `Full` and `Skew`; [`DedupError::Memory`]; those of an item of another method.
    pub fn add(
        &self,
        document: &Document,
        key: Option<&str>,
        at: Option<u64>,
    ) -> Result<u64, DedupError> {
        each!(&self.any, engine => engine.add(document, key, at))
    }

    /// Adds documents in order; other calls may come between two of them, other batches do not. `keys` and `times` have one
    /// for each, or are empty.
    ///
    /// # Errors
    /// As [`LiveIndex::add`], and [`DedupError::Cancelled`] if the flag is up at the start; nothing was added then. Where memory
    /// ends, what came before is added.
    pub fn add_many(
        &self,
        documents: &[Document],
        keys: &[Option<String>],
        times: &[u64],
        cancel: &AtomicBool,
    ) -> Result<Added, DedupError> {
        each!(&self.any, engine => engine.add_many(documents, keys, times, cancel))
    }

    /// All live documents that are near: verified ones by similarity, then others in the order of the method.
    ///
    /// # Errors
    /// Those of options and items that do not fit.
    pub fn search(&self, document: &Document, how: &Search) -> Result<Answer<Near>, DedupError> {
        each!(&self.any, engine => engine.search(document, how))
    }

    /// One answer per document, in order. Runs on the current rayon pool on at most `threads` tasks (0: all of it).
    ///
    /// # Errors
    /// As [`LiveIndex::search`], and [`DedupError::Cancelled`].
    pub fn search_many(
        &self,
        documents: &[Document],
        how: &Search,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Vec<Answer<Near>>, DedupError> {
        each!(&self.any, engine => engine.search_many(documents, how, threads, cancel))
    }

    /// Adds a document unless one like it is there, as one step. `texts` is asked for texts that are not stored.
    ///
    /// # Errors
    /// As [`LiveIndex::add`].
    pub fn check_and_add<'a>(
        &self,
        document: &Document,
        key: Option<&str>,
        how: AddOptions,
        texts: impl Fn(u64) -> Texts<'a>,
    ) -> Result<Step, DedupError> {
        each!(&self.any, engine => engine.check_and_add(document, key, how, &texts))
    }

    /// As if [`LiveIndex::check_and_add`] were called for every document in order; other calls may come between two of them,
    /// other batches do not. Texts that are not stored are not at hand. `keys` and `times` have one for each document, or are
    /// empty.
    ///
    /// # Errors
    /// As [`LiveIndex::add_many`].
    pub fn check_and_add_many(
        &self,
        documents: &[Document],
        keys: &[Option<String>],
        times: &[u64],
        on_duplicate: OnDuplicate,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Vec<Checked>, DedupError> {
        each!(&self.any, engine => {
            engine.check_and_add_many(documents, keys, times, on_duplicate, threads, cancel)
        })
    }

    /// Takes an id away; false if it was not alive.
    ///
    /// # Errors
    /// Those of a log.
    pub fn delete(&self, id: u64) -> Result<bool, DedupError> {
        each!(&self.any, engine => engine.delete(id))
    }

    /// Takes every document away that is older than `before`; how many they were.
    ///
    /// # Errors
    /// [`IndexError::NoWindow`](simhash_index::IndexError::NoWindow).
    pub fn expire(&self, before: u64) -> Result<u64, DedupError> {
        each!(&self.any, engine => engine.expire(before))
    }

    /// Whether this id is alive.
    pub fn has(&self, id: u64) -> bool {
        each!(&self.any, engine => engine.index.has(id))
    }

    /// Number of live ids.
    pub fn len(&self) -> u64 {
        each!(&self.any, engine => engine.index.len())
    }

    /// Whether no id is alive.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The id that the next addition gets.
    pub fn next_id(&self) -> u64 {
        each!(&self.any, engine => engine.index.next_id())
    }

    /// The window.
    pub fn window(&self) -> Option<Window> {
        self.options.window
    }

    /// How many milliseconds a time may be ahead of the clock; none: any number. See [`Live::set_max_skew`](simhash_index::Live::set_max_skew).
    pub fn set_max_skew(&self, most: Option<u64>) {
        each!(&self.any, engine => engine.index.set_max_skew(most));
    }

    /// The key of a live document; none where it has none.
    pub fn key_of(&self, id: u64) -> Option<String> {
        each!(&self.any, engine => engine.key_of(id))
    }

    /// The latest live document with this key.
    pub fn id_of(&self, key: &str) -> Option<u64> {
        each!(&self.any, engine => engine.id_of(key))
    }

    /// The stored text of a live document, normalised.
    pub fn text_of(&self, id: u64) -> Option<String> {
        each!(&self.any, engine => engine.text_of(id))
    }

    /// Bytes held, keys and texts included. O(1).
    pub fn bytes(&self) -> usize {
        each!(&self.any, engine => engine.bytes().iter().sum())
    }

    /// Counts and bytes. O(1).
    pub fn stats(&self) -> LiveStats {
        each!(&self.any, engine => engine.stats())
    }

    /// All pairs of live documents that are near, to be taken by [`LiveIndex::next_pairs`]. Documents added meanwhile are not in
    /// it.
    pub fn pairs(&self, how: &Search) -> Pairs {
        each!(&self.any, engine => engine.pairs(*how))
    }

    /// The pairs of the next documents, by the later one, then the earlier one; none: there are no more. On the current rayon
    /// pool.
    ///
    /// # Errors
    /// [`DedupError::Cancelled`]; [`DedupError::Option`] in an index that keeps neither texts nor signatures.
    pub fn next_pairs(
        &self,
        pairs: &mut Pairs,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Option<Vec<Pair>>, DedupError> {
        each!(&self.any, engine => engine.next_pairs(pairs, threads, cancel))
    }

    /// What pairs connect: ids, ascending, two or more; by the first. `on_progress` is told the share that is done.
    ///
    /// # Errors
    /// As [`LiveIndex::next_pairs`].
    pub fn clusters(
        &self,
        how: &Search,
        threads: usize,
        cancel: &AtomicBool,
        mut on_progress: impl FnMut(f64),
    ) -> Result<Vec<Vec<u64>>, DedupError> {
        let (mut pairs, mut edges) = (self.pairs(how), Vec::new());
        while let Some(found) = self.next_pairs(&mut pairs, threads, cancel)? {
            edges.extend(found.iter().map(|pair| (pair.a, pair.b.id)));
            on_progress(pairs.progress());
        }
        let mut ids: Vec<u64> = edges.iter().flat_map(|&(a, b)| [a, b]).collect();
        ids.sort_unstable();
        ids.dedup();
        let place = |id: u64| ids.partition_point(|&other| other < id) as u32;
        let union = Union::new(ids.len() as u32);
        for (a, b) in edges {
            union.join(place(a), place(b));
        }
        let mut clusters: AHashMap<u32, Vec<u64>> = AHashMap::new();
        for (&id, root) in ids.iter().zip(union.roots()) {
            clusters.entry(root).or_default().push(id);
        }
        let mut clusters: Vec<Vec<u64>> = clusters.into_values().collect();
        clusters.sort_unstable();
        Ok(clusters)
    }

    /// The index as it is now, for saving: what is added or deleted after this call is not in it. O(1), see
    /// [`Live::snapshot`](simhash_index::Live::snapshot).
    pub fn snapshot(&self) -> Snapshot {
        let recipe = self.options.recipe(self.fingerprinter());
        let hashes = match &self.options.method {
            LiveMethod::MinHash { minhash, .. } => minhash.hashes,
            _ => 0,
        };
        each!(&self.any, engine => engine.snapshot(recipe, hashes))
    }
}

impl<K: kind::Method> Engine<K> {
    fn stats(&self) -> LiveStats {
        let (key_bytes, text_bytes) = self.store.read().bytes();
        let kind = K::stats(&self.index);
        let truncated = self.truncated.load(Ordering::Relaxed);
        LiveStats { kind, key_bytes, text_bytes, truncated }
    }
}

impl LiveOptions {
    /// Whether candidates are compared on stored texts.
    fn compares(&self) -> bool {
        self.verify.is_some() && self.stored.longest_text.is_some()
    }

    fn made(&self) -> Made {
        let Self { stored, verify, max_verifications, .. } = *self;
        Made { stored, verify, max_verifications, hashes: 0 }
    }

    fn around(&self, by: Fingerprinter, sketcher: Sketcher, made: Made) -> Around {
        let Made { stored, verify, max_verifications, .. } = made;
        Around { by, sketcher, stored, verify, max_verifications, memory: self.memory }
    }

    fn sentences(&self) -> SentenceSketcher {
        let normalizer = self.fingerprinter.normalize.clone();
        let mut options = sentence::SentenceOptions { normalizer, ..Default::default() };
        if let LiveMethod::Sentences { count, min_length, hash, .. } = self.method {
            (options.count, options.min_length, options.hash) = (count, min_length, hash);
        }
        SentenceSketcher::new(&options)
    }

    /// What makes sketches of texts, in words: files of equal recipes can be opened.
    fn recipe(&self, by: &Fingerprinter) -> String {
        match &self.method {
            LiveMethod::SimHash { .. } => by.to_string(),
            LiveMethod::MinHash { minhash, .. } => {
                let MinHashOptions { scheme, seed, .. } = minhash;
                format!("minhash {}, seed {seed}; {by}", scheme.name())
            }
            LiveMethod::Sentences { .. } => format!("{}; {by}", self.sentences()),
            LiveMethod::Exact => format!("equal texts; {by}"),
        }
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
    if let Some(longest) = options.stored.longest_text.filter(|&most| most == 0 || most > 1 << 24) {
        return refuse("texts.max_length", longest.to_string(), "an integer from 1 to 2^24");
    }
    Ok(())
}

fn not_logged(expected: &'static str) -> DedupError {
    DedupError::Option { argument: "durability", value: "another index".into(), expected }
}
