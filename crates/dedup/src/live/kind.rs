//! What a live index needs to know of the kind that it is built around.

use std::sync::atomic::AtomicBool;

use simhash_index::bands::{BandItem, BandMatch, BandSearch, BandStats, Bands};
use simhash_index::exact::{Equal, EqualMatch, ExactStats, Text};
use simhash_index::sentences::{SentenceItem, SentenceMap, SentenceSearch, SentenceStats, Shared};
use simhash_index::{Hamming, IndexError, Item, Live, Match, SearchOptions, Stats, Whole};
use simhash_sketch::MethodSketch;

use super::document::{Near, Search, Sketch};

/// Of a sentence so many texts are candidates, the oldest, as [`DedupOptions::max_bucket`](crate::DedupOptions::max_bucket).
const SENTENCE_BUCKET: usize = 256;

/// A kind under a live index of documents.
pub(super) trait Method: Whole<Item: Sized + AsRef<Self::Item>> {
    /// Whether texts that are equal once normalised may have different sketches, so that equal ones are looked up by themselves.
    const MISSES_EQUAL: bool = false;

    /// A text as an item, none where there is a sketch of another method. `exact` is the hash of the normalised text.
    fn sketch(sketch: MethodSketch, exact: u128, is_empty: bool) -> Sketch;

    /// The item of a document.
    fn item(sketch: &Sketch) -> Option<&Self::Item>;

    /// A match, unverified.
    fn unverified(found: &Self::Match) -> Near;

    /// The kind's own match again.
    fn found(near: &Near) -> Self::Match;

    /// How to look for candidates, at most so many; all that there are, where they are compared afterwards. `compared` says
    /// how many times as many as usual are read of a bucket then.
    fn candidates(
        index: &Live<Self>,
        search: &Search,
        limit: usize,
        compared: Option<usize>,
    ) -> Self::Search;

    /// What `measure` is between a document and another with an equal text, whose item this is.
    fn equal_measure(index: &Live<Self>, id: u64, item: &Self::Item) -> u32 {
        let _ = (index, id, item);
        0
    }

    /// `measure` between two live documents where the index can tell it of their ids alone.
    fn shared(index: &Live<Self>, one: u64, other: u64) -> Option<u32> {
        let _ = (index, one, other);
        None
    }

    /// Gives back what documents that have left still hold.
    ///
    /// # Errors
    /// [`IndexError::Cancelled`], and those of a file.
    fn compact(index: &Live<Self>, cancel: &AtomicBool) -> Result<(), IndexError>;

    /// Whether what a document is looked up by is kept.
    fn keeps_sketches(_: &Live<Self>) -> bool {
        true
    }

    /// Bytes held. O(1).
    fn bytes(index: &Live<Self>) -> usize;

    /// Counts and bytes.
    fn stats(index: &Live<Self>) -> KindStats;
}

/// Counts and bytes of the index of a method.
#[derive(Debug, Clone)]
pub enum KindStats {
    /// Of fingerprints.
    SimHash(Stats),
    /// Of signatures.
    MinHash(BandStats),
    /// Of sentences.
    Sentences(SentenceStats),
    /// Of equal texts.
    Exact(ExactStats),
}

impl Method for Hamming {
    fn sketch(sketch: MethodSketch, exact: u128, is_empty: bool) -> Sketch {
        Sketch::SimHash(match sketch {
            _ if is_empty => Item::Empty,
            MethodSketch::Fingerprint(value) => Item::Fingerprint(value),
            _ => Item::Exact(exact),
        })
    }

    fn item(sketch: &Sketch) -> Option<&Item> {
        if let Sketch::SimHash(item) = sketch { Some(item) } else { None }
    }

    fn unverified(&Match { id, distance }: &Match) -> Near {
        Near { id, similarity: None, verified: false, measure: distance }
    }

    fn found(near: &Near) -> Match {
        Match { id: near.id, distance: near.measure }
    }

    fn candidates(
        _: &Live<Self>,
        search: &Search,
        limit: usize,
        _: Option<usize>,
    ) -> SearchOptions {
        SearchOptions { max_distance: search.max_distance, limit: Some(limit) }
    }

    fn compact(index: &Live<Self>, cancel: &AtomicBool) -> Result<(), IndexError> {
        index.compact_until(cancel)
    }

    fn bytes(index: &Live<Self>) -> usize {
        index.bytes()
    }

    fn stats(index: &Live<Self>) -> KindStats {
        KindStats::SimHash(index.stats())
    }
}

impl Method for Bands {
    fn sketch(sketch: MethodSketch, exact: u128, is_empty: bool) -> Sketch {
        Sketch::MinHash(match sketch {
            _ if is_empty => BandItem::default(),
            MethodSketch::Signature { positions, keys } => BandItem::with_keys(positions, keys),
            _ => BandItem::exact(exact),
        })
    }

    fn item(sketch: &Sketch) -> Option<&BandItem> {
        if let Sketch::MinHash(item) = sketch { Some(item) } else { None }
    }

    fn unverified(&BandMatch { id, bands, similarity }: &BandMatch) -> Near {
        Near { id, similarity, verified: false, measure: bands }
    }

    fn found(near: &Near) -> BandMatch {
        BandMatch { id: near.id, bands: near.measure, similarity: near.similarity }
    }

    fn keeps_sketches(index: &Live<Self>) -> bool {
        index.options().signatures.is_some()
    }

    fn candidates(
        index: &Live<Self>,
        search: &Search,
        limit: usize,
        compared: Option<usize>,
    ) -> BandSearch {
        let estimates = index.options().signatures.is_some();
        let threshold = if compared.is_some() { Some(0.0) } else { search.min_similarity };
        let bucket = compared.map(|times| index.options().bucket_limit.saturating_mul(times));
        BandSearch { threshold: threshold.filter(|_| estimates), limit: Some(limit), bucket }
    }

    /// All bands, or all keys of a text that has no signature.
    fn equal_measure(index: &Live<Self>, _: u64, item: &BandItem) -> u32 {
        let all = if item.is_exact() { BandItem::EXACT } else { index.options().plan.bands };
        all as u32
    }

    fn compact(index: &Live<Self>, cancel: &AtomicBool) -> Result<(), IndexError> {
        index.compact(cancel)
    }

    fn bytes(index: &Live<Self>) -> usize {
        let stats = index.stats();
        stats.table_bytes + stats.id_bytes + stats.signature_bytes + stats.window_bytes
    }

    fn stats(index: &Live<Self>) -> KindStats {
        KindStats::MinHash(index.stats())
    }
}

impl Method for SentenceMap {
    /// Sentences end at lines, which normalisation may take away.
    const MISSES_EQUAL: bool = true;

    fn sketch(sketch: MethodSketch, exact: u128, is_empty: bool) -> Sketch {
        Sketch::Sentences(match sketch {
            _ if is_empty => SentenceItem::Empty,
            MethodSketch::Sentences(hashes) => SentenceItem::Sentences(hashes.into()),
            _ => SentenceItem::Exact(exact),
        })
    }

    fn item(sketch: &Sketch) -> Option<&SentenceItem> {
        if let Sketch::Sentences(item) = sketch { Some(item) } else { None }
    }

    fn unverified(&Shared { id, shared }: &Shared) -> Near {
        Near { id, similarity: None, verified: false, measure: shared }
    }

    fn found(near: &Near) -> Shared {
        Shared { id: near.id, shared: near.measure }
    }

    /// Copies share a sketch, and a bucket counts sketches.
    fn candidates(
        _: &Live<Self>,
        _: &Search,
        limit: usize,
        compared: Option<usize>,
    ) -> SentenceSearch {
        SentenceSearch { limit: Some(limit), bucket: compared.map(|_| SENTENCE_BUCKET) }
    }

    /// Line ends may have cut equal texts into different sentences.
    fn equal_measure(index: &Live<Self>, id: u64, item: &SentenceItem) -> u32 {
        index.shared_with(id, item)
    }

    fn shared(index: &Live<Self>, one: u64, other: u64) -> Option<u32> {
        Some(index.shared(one, other))
    }

    fn compact(index: &Live<Self>, cancel: &AtomicBool) -> Result<(), IndexError> {
        index.compact(cancel)
    }

    fn bytes(index: &Live<Self>) -> usize {
        let stats = index.stats();
        stats.bytes + stats.window_bytes
    }

    fn stats(index: &Live<Self>) -> KindStats {
        KindStats::Sentences(index.stats())
    }
}

impl Method for Equal {
    fn sketch(_: MethodSketch, exact: u128, is_empty: bool) -> Sketch {
        Sketch::Exact(if is_empty { Text::Empty } else { Text::Hash(exact) })
    }

    fn item(sketch: &Sketch) -> Option<&Text> {
        if let Sketch::Exact(item) = sketch { Some(item) } else { None }
    }

    /// Equal texts need no comparison.
    fn unverified(&EqualMatch { id }: &EqualMatch) -> Near {
        Near { id, similarity: Some(1.0), verified: true, measure: 0 }
    }

    fn found(near: &Near) -> EqualMatch {
        EqualMatch { id: near.id }
    }

    fn candidates(_: &Live<Self>, _: &Search, limit: usize, _: Option<usize>) -> Option<usize> {
        Some(limit)
    }

    fn compact(index: &Live<Self>, cancel: &AtomicBool) -> Result<(), IndexError> {
        index.compact(cancel)
    }

    fn bytes(index: &Live<Self>) -> usize {
        let stats = index.stats();
        stats.bytes + stats.window_bytes
    }

    fn stats(index: &Live<Self>) -> KindStats {
        KindStats::Exact(index.stats())
    }
}
