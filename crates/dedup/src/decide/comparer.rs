//! Texts compared: what verification needs of one, made when it is needed, and how two of them relate.

use super::side::Side;
use super::verifier::{Cache, Verifier};
use super::{Document, Edge, Relation, Texts};
use crate::error::DedupError;
use crate::method::Method;
use crate::options::DedupOptions;
use crate::parallel;
use crate::verify::Evidence;
use simhash_sketch::{
    Bitmap, Fingerprinter, Kept, Outline, Prepared, Preparer, Scratch, Sketcher, hamming,
};
use simhash_store::Room;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Prepares texts, verifies pairs of them and says how they relate.
pub(crate) struct Comparer {
    preparer: Preparer,
    /// Makes no sketches.
    plain: Preparer,
    /// What is kept of a document of a batch.
    kept: Kept,
    pub(super) verifier: Option<Verifier>,
    cache: Cache<Arc<Evidence>>,
    /// Of many more texts than there is evidence of: a bitmap has a thirtieth of its size or less.
    bitmaps: Cache<Arc<Bitmap>>,
    /// Ranks are distances that mean something to people.
    has_distance: bool,
    /// Nothing is compared.
    is_exact: bool,
    threads: usize,
}

impl Comparer {
    pub(crate) fn new(options: &DedupOptions, sketcher: Sketcher) -> Result<Self, DedupError> {
        Self::within(options, sketcher, &Room::default())
    }

    /// The same where memory is bounded.
    pub(crate) fn within(
        options: &DedupOptions,
        sketcher: Sketcher,
        room: &Room,
    ) -> Result<Self, DedupError> {
        let by = Fingerprinter::new(&options.fingerprinter)?;
        let compares = options.min_similarity.is_some() && options.method != Method::Exact;
        Ok(Self {
            kept: if compares { Kept::Features } else { Kept::Nothing },
            verifier: Verifier::new(options, &by),
            preparer: Preparer::new(by.clone(), sketcher),
            plain: Preparer::new(by, Sketcher::None),
            cache: Cache::of_evidence(room),
            bitmaps: Cache::of_bitmaps(room),
            has_distance: matches!(options.method, Method::SimHash { .. }),
            is_exact: options.method == Method::Exact,
            threads: options.threads,
        })
    }

    pub(crate) fn preparer(&self) -> &Preparer {
        &self.preparer
    }

    /// Prepares texts without a sketch.
    pub(super) fn plain(&self) -> &Preparer {
        &self.plain
    }

    /// Goes over a text of a batch, once.
    pub(crate) fn prepare(&self, text: &str, scratch: &mut Scratch) -> Prepared {
        self.preparer.prepare(text, self.kept, scratch)
    }

    /// Goes over a text whose sketch alone is kept, and an outline.
    pub(crate) fn outline(&self, text: &str, scratch: &mut Scratch) -> Prepared {
        if !self.is_exact && self.has_bound() {
            return self.preparer.prepare(text, Kept::Outline, scratch);
        }
        self.sketch(text, scratch)
    }

    /// Whether outlines exclude anything.
    pub(crate) fn has_bound(&self) -> bool {
        self.verifier.as_ref().is_some_and(Verifier::has_bound)
    }

    /// The outline of a text, if it bounds anything.
    pub(crate) fn bound(&self, text: &str, scratch: &mut Scratch) -> Outline {
        if self.has_bound() {
            return self.plain.prepare(text, Kept::Outline, scratch).outline;
        }
        Outline::default()
    }

    /// Goes over a text whose sketch alone is kept.
    pub(crate) fn sketch(&self, text: &str, scratch: &mut Scratch) -> Prepared {
        // A fingerprint alone is made without keeping a cut; of a signature its keys are.
        let is_alone = self.has_distance || self.is_exact;
        let kept = if is_alone { Kept::Nothing } else { Kept::Outline };
        self.preparer.prepare(text, kept, scratch)
    }

    /// Documents of these texts, in parallel.
    pub(crate) fn documents<'a>(
        &self,
        texts: impl IntoIterator<Item = &'a str>,
        cancel: &AtomicBool,
    ) -> Result<Vec<Document<'a>>, DedupError> {
        let mut documents: Vec<Document<'a>> = texts
            .into_iter()
            .map(|text| Document { text, prepared: Prepared::default() })
            .collect();
        let new = Scratch::default;
        parallel::for_each(&mut documents, self.threads, cancel, new, |scratch, slot| {
            slot.prepared = self.prepare(slot.text, scratch);
            Ok(())
        })?;
        Ok(documents)
    }

    /// Whether texts of documents taken in are asked for again.
    pub(crate) fn verifies(&self) -> bool {
        self.verifier.is_some()
    }

    /// Whether two texts with these outlines can reach the threshold.
    pub(crate) fn may_match(&self, a: &Outline, b: &Outline) -> bool {
        self.may_be_similar(a.jaccard_at_most(b))
    }

    /// Whether two texts whose features have a Jaccard similarity of at most so much can reach the threshold.
    pub(crate) fn may_be_similar(&self, features: f64) -> bool {
        self.verifier.as_ref().is_none_or(|verifier| verifier.may_match(features))
    }

    /// How documents relate to others: pairs of numbers, each a duplicate and the one it duplicates.
    pub(crate) fn relations(
        &self,
        pairs: &[(u32, u32)],
        texts: &dyn Texts,
        cancel: &AtomicBool,
    ) -> Result<Vec<Relation>, DedupError> {
        let mut originals: Vec<u32> = pairs.iter().map(|&(_, of)| of).collect();
        originals.sort_unstable();
        originals.dedup();
        let mut known: Vec<(u32, Option<Known>)> =
            originals.into_iter().map(|number| (number, None)).collect();
        let know = |scratch: &mut Scratch, number: u32| -> Result<Option<Known>, DedupError> {
            let mut known = None;
            texts.with_text(number, &mut |text| known = Some(self.know(text, scratch)))?;
            Ok(known)
        };
        let new = Scratch::default;
        parallel::for_each(&mut known, self.threads, cancel, new, |scratch, slot| {
            slot.1 = know(scratch, slot.0)?;
            Ok(())
        })?;
        let original = |of: u32| {
            let place = known.binary_search_by_key(&of, |&(number, _)| number).ok()?;
            known[place].1.as_ref()
        };
        let mut slots: Vec<(u32, u32, Relation)> = pairs
            .iter()
            .map(|&(member, of)| (member, of, Relation { similarity: None, distance: None }))
            .collect();
        parallel::for_each(&mut slots, self.threads, cancel, new, |scratch, slot| {
            if let (Some(member), Some(of)) = (know(scratch, slot.0)?, original(slot.1)) {
                slot.2 = self.relation(&member, of);
            }
            Ok(())
        })?;
        Ok(slots.into_iter().map(|(_, _, relation)| relation).collect())
    }

    fn know(&self, text: &str, scratch: &mut Scratch) -> Known {
        let preparer = if self.has_distance { &self.preparer } else { &self.plain };
        let mut prepared = preparer.prepare(text, self.kept, scratch);
        let side = Side::prepared(text, std::mem::take(&mut prepared.material));
        Known { prepared, side }
    }

    fn relation(&self, member: &Known, of: &Known) -> Relation {
        if member.prepared.exact == of.prepared.exact {
            return self.equal_relation();
        }
        let found = || self.similarity_of_sides(&member.side, &of.side, Some(0.0)).unwrap_or(0.0);
        let similarity = self.verifies().then(found);
        let fingerprint = |known: &Known| known.prepared.sketch.fingerprint();
        let both = fingerprint(member).zip(fingerprint(of));
        let distance = both.filter(|_| self.has_distance).map(|(a, b)| hamming::distance(a, b));
        Relation { similarity, distance }
    }

    /// How equal normalised texts relate.
    pub(crate) fn equal_relation(&self) -> Relation {
        Relation { similarity: Some(1.0), distance: self.has_distance.then_some(0) }
    }

    /// What an edge says of its two texts.
    pub(crate) fn relation_of(&self, edge: &Edge) -> Relation {
        Relation {
            similarity: self.verifies().then_some(edge.similarity),
            distance: self.has_distance.then_some(edge.text.rank),
        }
    }

    /// What is still known of a text.
    pub(super) fn known(&self, number: u32) -> Option<Arc<Evidence>> {
        self.cache.get(number)
    }

    /// The bitmap that is still known of a text.
    pub(super) fn bitmap(&self, number: u32) -> Option<Arc<Bitmap>> {
        self.bitmaps.get(number)
    }

    /// Keeps what was made of a text for whoever asks for it soon.
    pub(super) fn remember(&self, number: u32, evidence: &Arc<Evidence>) {
        self.cache.put(number, Arc::clone(evidence));
        if let Some(bitmap) = evidence.bitmap() {
            self.see(number, bitmap);
        }
    }

    /// Keeps the bitmap of a text.
    pub(super) fn see(&self, number: u32, bitmap: &Arc<Bitmap>) {
        self.bitmaps.put(number, Arc::clone(bitmap));
    }
}

/// Everything that a relation rests on.
struct Known {
    prepared: Prepared,
    side: Side,
}
