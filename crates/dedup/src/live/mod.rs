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
//!   others wait: a check that misses a text ends with [`Step::Texts`] and has added nothing; its time counts already. The
//!   caller finds the text and asks again; what came meanwhile is then seen.
//! - **Short texts**, with too few features for the method, match equal texts only; empty ones nothing.

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

mod answers;
mod check;
mod chunks;
mod compare;
mod described;
mod directory;
mod document;
mod engine;
mod export;
mod groups;
mod image;
mod keys;
mod kind;
mod known;
mod make;
mod options;
mod pairs;
pub(crate) mod run;
mod same_key;
mod store;
mod strings;
mod texts;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use ahash::AHashMap;
use parking_lot::Mutex;
use simhash_index::bands::Bands;
use simhash_index::durable::Settled;
use simhash_index::exact::Equal;
use simhash_index::sentences::{SentenceIndex, SentenceMap};
use simhash_index::{AddOptions, Added, Answer, Hamming, Hurry, Index, OnDuplicate, Union, Window};
use simhash_sketch::{Fingerprinter, Scratch};

pub use self::directory::OpenOptions;
pub use self::document::{Checked, CheckedMany, Document, Near, Room, Search, Step, Texts};
use self::engine::Engine;
pub(crate) use self::export::Exported;
pub(crate) use self::image::Made;
pub use self::image::Snapshot;
pub use self::kind::KindStats;
pub use self::options::{LiveMethod, LiveOptions, OnSameKey, Stored, Verify};
use self::pairs::Of;
pub use self::pairs::{Clusters, Pair, Pairs};
use crate::error::DedupError;

/// Counts and bytes of a live index at one moment. O(1).
#[derive(Debug, Clone)]
pub struct LiveStats {
    /// Of the method's index.
    pub kind: KindStats,
    /// Bytes of keys, and of what was answered to those of duplicates.
    pub key_bytes: usize,
    /// Bytes of stored texts, compressed, with what finds equal ones.
    pub text_bytes: usize,
    /// Searches and checks so far whose candidates a limit cut.
    pub truncated: u64,
}

/// Documents, live, by one of the methods.
///
/// Memory, beside that of the method's index: with keys 4 bytes per id, the key, and about 40 for the way back; where keys are
/// answered as they were first, 140 to 180 for each that came with a duplicate; with stored texts
/// 12 bytes per id and about six tenths of the text (Chinese), 100 more for sentences. What has left counts for up to as much again.
#[derive(Debug)]
pub struct LiveIndex {
    options: LiveOptions,
    /// Dropped before the index, at which its keeper looks.
    directory: Option<directory::Held>,
    /// The path of the directory.
    path: Option<PathBuf>,
    /// What opening it has found of a run that was killed.
    settled: Option<Settled>,
    any: Any,
}

#[derive(Debug)]
enum Any {
    SimHash(Engine<Hamming>),
    MinHash(Engine<Bands>),
    Sentences(Engine<SentenceMap>),
    Exact(Engine<Equal>),
}

impl LiveIndex {
    fn of(options: LiveOptions, any: Any) -> Self {
        Self { options, directory: None, path: None, settled: None, any }
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
        let id = each!(&self.any, engine => engine.add(document, key, at))?;
        self.committed()?;
        Ok(id)
    }

    /// Adds documents in order; other calls may come between two of them, other batches do not. `keys` and `times` have one
    /// for each, or are empty.
    ///
    /// # Errors
    /// As [`LiveIndex::add`], and [`DedupError::Cancelled`] if the flag is up at the start; nothing was added then. Where memory
    /// ends, or the flag goes up later ([`IndexError::CancelledAfter`](simhash_index::IndexError::CancelledAfter)), what came
    /// before is added, and the error says what it was.
    pub fn add_many(
        &self,
        documents: &[Document],
        keys: &[Option<String>],
        times: &[u64],
        cancel: &AtomicBool,
    ) -> Result<Added, DedupError> {
        self.add_many_to(None, documents, keys, times, cancel)
    }

    /// [`LiveIndex::add_many`], and how far the caller has come with it: [`LiveIndex::position`] from now on, kept in the same commit
    /// as the end of the batch.
    ///
    /// # Errors
    /// As [`LiveIndex::add_many`]; [`IndexError::Position`](simhash_index::IndexError::Position) where it falls, and nothing was added.
    pub fn add_many_to(
        &self,
        position: Option<u64>,
        documents: &[Document],
        keys: &[Option<String>],
        times: &[u64],
        cancel: &AtomicBool,
    ) -> Result<Added, DedupError> {
        let added = each!(&self.any, engine => {
            engine.add_many(documents, keys, times, position, cancel)
        });
        // What a batch has done before memory ended counts too.
        self.committed()?;
        added
    }

    /// All live documents that are near: verified ones by similarity, then others in the order of the method.
    ///
    /// # Errors
    /// Those of options and items that do not fit.
    pub fn search(&self, document: &Document, how: &Search) -> Result<Answer<Near>, DedupError> {
        let _whole = self.whole();
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
        let _whole = self.whole();
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
        let step = each!(&self.any, engine => engine.check_and_add(document, key, how, &texts))?;
        self.committed()?;
        Ok(step)
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
        let run = (threads, cancel);
        let all = self.check_and_add_many_to(None, documents, keys, times, on_duplicate, run)?;
        Ok(all.checked)
    }

    /// [`LiveIndex::check_and_add_many`], and how far the caller has come with it, as [`LiveIndex::add_many_to`]; `run` is the most
    /// tasks and the flag.
    ///
    /// # Errors
    /// As [`LiveIndex::add_many_to`].
    pub fn check_and_add_many_to(
        &self,
        position: Option<u64>,
        documents: &[Document],
        keys: &[Option<String>],
        times: &[u64],
        on_duplicate: OnDuplicate,
        run: (usize, &AtomicBool),
    ) -> Result<CheckedMany, DedupError> {
        let checked = each!(&self.any, engine => {
            engine.check_and_add_many(documents, keys, times, on_duplicate, position, run)
        });
        self.committed()?;
        checked
    }

    /// Takes an id away; false if it was not alive.
    ///
    /// # Errors
    /// Those of a log.
    pub fn delete(&self, id: u64) -> Result<bool, DedupError> {
        let deleted = each!(&self.any, engine => engine.delete(id))?;
        self.committed()?;
        Ok(deleted)
    }

    /// Takes every document away that is older than `before`; how many they were.
    ///
    /// # Errors
    /// [`IndexError::NoWindow`](simhash_index::IndexError::NoWindow).
    pub fn expire(&self, before: u64) -> Result<u64, DedupError> {
        let gone = each!(&self.any, engine => engine.expire(before))?;
        self.committed()?;
        Ok(gone)
    }

    /// Whether this id is alive.
    pub fn has(&self, id: u64) -> bool {
        let _whole = self.whole();
        each!(&self.any, engine => engine.index.has(id))
    }

    /// Number of live ids.
    pub fn len(&self) -> u64 {
        let _whole = self.whole();
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

    /// Ids that may be alive.
    pub(crate) fn ids(&self) -> std::ops::Range<u64> {
        each!(&self.any, engine => engine.index.oldest_id()..engine.index.next_id())
    }

    /// The window.
    pub fn window(&self) -> Option<Window> {
        self.options.window
    }

    /// How many milliseconds a time may be ahead of the clock; none: any number. See [`Live::set_max_skew`](simhash_index::Live::set_max_skew).
    pub fn set_max_skew(&self, most: Option<u64>) {
        each!(&self.any, engine => engine.index.set_max_skew(most));
    }

    /// Until what it returns is dropped, changes wait for no merge: see [`Live::hurry`](simhash_index::Live::hurry).
    pub fn hurry(&self) -> Hurry<'_> {
        each!(&self.any, engine => engine.index.hurry())
    }

    /// The key of a live document; none where it has none.
    pub fn key_of(&self, id: u64) -> Option<String> {
        let _whole = self.whole();
        each!(&self.any, engine => engine.key_of(id))
    }

    /// The latest live document with this key.
    pub fn id_of(&self, key: &str) -> Option<u64> {
        let _whole = self.whole();
        each!(&self.any, engine => engine.id_of(key))
    }

    /// The stored text of a live document, normalised.
    pub fn text_of(&self, id: u64) -> Option<String> {
        let _whole = self.whole();
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
    ///
    /// # Errors
    /// A distance above 16.
    pub fn pairs(&self, how: &Search) -> Result<Pairs, DedupError> {
        Ok(Pairs::new(match self.fingerprints(how) {
            Some(index) => Of::Fingerprints(index.pairs(how.max_distance)?),
            None => Of::Documents(each!(&self.any, engine => engine.looks(*how))),
        }))
    }

    /// The tables of fingerprints, where these alone say what is near: no text is looked at.
    fn fingerprints(&self, how: &Search) -> Option<&Index> {
        let Any::SimHash(engine) = &self.any else { return None };
        let has_texts = engine.stored.longest_text.is_some();
        let compares = has_texts && how.verified && engine.verify.is_some();
        (!compares).then_some(&engine.index)
    }

    /// The next pairs, a few at least unless none are left; none: there are no more. Where texts are compared, by the later
    /// document, then the earlier one. On the current rayon pool, on at most `threads` tasks (0: all of it).
    ///
    /// # Errors
    /// [`DedupError::Cancelled`]; [`DedupError::Option`] in an index that keeps neither texts nor signatures.
    pub fn next_pairs(
        &self,
        pairs: &mut Pairs,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Option<Vec<Pair>>, DedupError> {
        let _whole = self.whole();
        if let (Of::Fingerprints(join), Any::SimHash(engine)) = (&mut pairs.of, &self.any) {
            let found = join.next_batch(&engine.index, threads, cancel)?;
            return Ok(
                found.map(|found| found.iter().map(|pair| engine.by_distance(pair)).collect())
            );
        }
        each!(&self.any, engine => engine.next_pairs(pairs, threads, cancel))
    }

    /// What pairs connect. `on_progress` is told the share that is done.
    ///
    /// # Errors
    /// As [`LiveIndex::next_pairs`].
    pub fn clusters(
        &self,
        how: &Search,
        threads: usize,
        cancel: &AtomicBool,
        mut on_progress: impl FnMut(f64),
    ) -> Result<Clusters, DedupError> {
        if let Some(index) = self.fingerprints(how) {
            // Of each group of neighbours a few pairs are enough.
            let told = Mutex::new(&mut on_progress);
            let report = |done: f64| (told.lock())(done);
            let clusters = index.clusters(how.max_distance, threads, &report, cancel)?;
            let clusters = clusters.into_iter().map(|cluster| cluster.ids).collect();
            return Ok(Clusters { clusters, truncated: Vec::new() });
        }
        let (mut pairs, mut edges) = (self.pairs(how)?, Vec::new());
        while let Some(found) = self.next_pairs(&mut pairs, threads, cancel)? {
            edges.extend(found.iter().map(|pair| (pair.a, pair.b.id)));
            on_progress(pairs.progress());
        }
        let truncated = pairs.truncated().to_vec();
        Ok(Clusters { clusters: connected(&edges), truncated })
    }

    /// Gives back what documents that have left still hold, and makes the tables of fingerprints as fast to search as they can
    /// be. Other calls come in between.
    ///
    /// # Errors
    /// [`DedupError::Cancelled`], and those of a file.
    pub fn compact(&self, cancel: &AtomicBool) -> Result<(), DedupError> {
        each!(&self.any, engine => engine.compact(cancel))
    }

    /// The index as it is now, for saving: what is added or deleted after this call is not in it. O(1), see
    /// [`Live::snapshot`](simhash_index::Live::snapshot).
    pub fn snapshot(&self) -> Snapshot {
        let _whole = self.whole();
        let runs = self.path.clone().map(|path| (path, self.next_id()));
        let recipe = self.options.recipe(self.fingerprinter());
        let hashes = self.options.hashes();
        each!(&self.any, engine => engine.snapshot(recipe, hashes)).with_runs(runs)
    }
}

/// The ids that edges connect: ascending, by the first.
fn connected(edges: &[(u64, u64)]) -> Vec<Vec<u64>> {
    let mut ids: Vec<u64> = edges.iter().flat_map(|&(a, b)| [a, b]).collect();
    ids.sort_unstable();
    ids.dedup();
    let place = |id: u64| ids.partition_point(|&other| other < id) as u32;
    let union = Union::new(ids.len() as u32);
    for &(a, b) in edges {
        union.join(place(a), place(b));
    }
    let mut clusters: AHashMap<u32, Vec<u64>> = AHashMap::new();
    for (&id, root) in ids.iter().zip(union.roots()) {
        clusters.entry(root).or_default().push(id);
    }
    let mut clusters: Vec<Vec<u64>> = clusters.into_values().collect();
    clusters.sort_unstable();
    clusters
}

impl Engine<Hamming> {
    /// A pair of the join. Texts that are known to be equal are.
    fn by_distance(&self, pair: &simhash_index::Pair) -> Pair {
        let store = self.store.read();
        let is_equal = store.tag(pair.a).is_some_and(|tag| store.tag(pair.b) == Some(tag));
        let similarity = is_equal.then_some(1.0);
        let b = Near { id: pair.b, similarity, verified: is_equal, measure: pair.distance };
        Pair { a: pair.a, b, truncated: false }
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
