//! Documents to verdicts, in order, against the documents taken in so far.
//!
//! The rule, as if documents came one at a time:
//!
//! 1. An empty normalised text is alone and matches nothing.
//! 2. A document taken in before with the equal normalised text: duplicate, similarity 1.
//! 3. Otherwise the method names candidates among the documents taken in, best first (rank, then age), at most
//!    `max_verifications` of them; those whose similarity reaches the threshold are matches.
//! 4. With [`Cluster::Representative`] only kept documents are taken in. The most similar match (ties: the oldest) is
//!    the original; without a match the document is kept.
//! 5. With [`Cluster::Components`] every different text is taken in, and all matches are joined with it.
//!
//! A member of a representative's cluster thus resembles the kept document itself, never only another member:
//! clusters do not chain. A component is what matches connect, through duplicates too.
//!
//! # In parallel, with the same answer
//!
//! ```text
//! find       candidates taken in before the batch, and those within it        parallel
//! represent  similarities to the older ones in parallel, then in order: choose  one thread, short lists
//! connect    similarities to all of them, joined as they are found              parallel
//! ```
//!
//! Why `represent` gives the answer of the rule: an older candidate keeps its rank among the older ones; newer
//! ones of smaller rank push it back by their number. So the place of every candidate in the union is known without
//! looking at the older ones again, and whether `max_verifications` cuts it off is decided by that place.
//!
//! Why `connect` does: the list of each document is known before anything is compared, and what is connected by a set
//! of matches does not depend on the order in which they are found. A candidate that is connected already is skipped,
//! which changes no component and keeps many near-equal texts from being compared with each other.
//!
//! Equal texts of one batch share all of this, so many copies cost one comparison.

mod connect;
mod equal;
mod find;
mod represent;
mod verifier;

use crate::cluster::Components;
use crate::error::DedupError;
use crate::method::{self, Sieve, Sketch};
use crate::options::{Cluster, DedupOptions};
use crate::parallel;
use crate::verify::Evidence;
use equal::EqualTexts;
use simhash_sketch::Scratch;
use std::sync::atomic::AtomicBool;
use verifier::{Cache, Verifier};

/// A document of a batch.
pub(crate) struct Document<'a> {
    pub(crate) text: &'a str,
    pub(crate) sketch: Sketch,
}

/// Texts, found again by number.
pub(crate) trait Texts: Sync {
    /// Calls `read` with the text of this number.
    fn with_text(&self, number: u32, read: &mut dyn FnMut(&str)) -> Result<(), DedupError>;
}

/// What became of a document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Verdict {
    /// Taken in under the next number, unless it is empty: an empty one is never referred to.
    New { empty: bool },
    /// Duplicate of the document with this number.
    Duplicate { of: u32, relation: Relation },
}

/// How a duplicate relates to another document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Relation {
    /// `None` without verification.
    pub(crate) similarity: Option<f64>,
    /// `None` for methods without a distance.
    pub(crate) distance: Option<u32>,
}

/// Documents per batch: within a batch each document may be a candidate of each later one, so the cost per document
/// grows with the batch (2,048 fingerprints are one microsecond of scanning; 2 million candidates are 16 MB).
pub(crate) const BATCH_DOCUMENTS: usize = 2_048;

/// The state: what is known of the documents taken in so far.
///
/// Memory: 24 to 40 bytes per document taken in ([`EqualTexts`]; 4 for `sketched`), 4 more for components, what the
/// method states, and the bounded cache.
pub(crate) struct Decider {
    options: DedupOptions,
    sieve: Box<dyn Sieve>,
    verifier: Option<Verifier>,
    equal: EqualTexts,
    /// Number by the method's own: documents without a sketch are not known to it.
    sketched: Vec<u32>,
    components: Option<Components>,
    cache: Cache,
    truncated: u64,
}

impl Decider {
    pub(crate) fn new(options: &DedupOptions) -> Result<Self, DedupError> {
        options.check()?;
        let components = options.cluster == Cluster::Components;
        Ok(Self {
            options: options.clone(),
            sieve: method::sieve(options)?,
            verifier: Verifier::new(options)?,
            equal: EqualTexts::default(),
            sketched: Vec::new(),
            components: components.then(Components::default),
            cache: Cache::default(),
            truncated: 0,
        })
    }

    /// What the method remembers of a text.
    pub(crate) fn sketch(&self, text: &str, scratch: &mut Scratch) -> Sketch {
        self.sieve.sketch(text, scratch)
    }

    /// Documents of these texts, in parallel.
    pub(crate) fn documents<'a>(
        &self,
        texts: impl IntoIterator<Item = &'a str>,
        cancel: &AtomicBool,
    ) -> Result<Vec<Document<'a>>, DedupError> {
        let mut documents: Vec<Document<'a>> =
            texts.into_iter().map(|text| Document { text, sketch: Sketch::default() }).collect();
        let threads = self.options.threads;
        parallel::for_each(&mut documents, threads, cancel, Scratch::default, |scratch, slot| {
            slot.sketch = self.sketch(slot.text, scratch);
            Ok(())
        })?;
        Ok(documents)
    }

    pub(crate) fn threads(&self) -> usize {
        self.options.threads
    }

    /// Whether texts of documents taken in are asked for again.
    pub(crate) fn verifies(&self) -> bool {
        self.verifier.is_some()
    }

    /// Bytes held for the documents taken in: by the method, by the map of equal texts, by numbers. Texts and the bounded
    /// cache are not among them.
    pub(crate) fn bytes(&self) -> u64 {
        let numbers = self.sketched.capacity() * size_of::<u32>();
        (self.sieve.bytes() + self.equal.bytes() + numbers) as u64
    }

    /// Documents whose candidates were cut off.
    pub(crate) fn truncated(&self) -> u64 {
        self.truncated
    }

    /// What is connected, where components are wanted.
    pub(crate) fn components(&self) -> Option<&Components> {
        self.components.as_ref()
    }

    /// Decides a batch of at most [`BATCH_DOCUMENTS`] (more is correct, only slower). `taken` are the texts of the
    /// documents taken in.
    ///
    /// # Errors
    /// After an error the state lies in the middle of the batch.
    pub(crate) fn decide(
        &mut self,
        documents: &[Document<'_>],
        taken: &dyn Texts,
        cancel: &AtomicBool,
    ) -> Result<Vec<Verdict>, DedupError> {
        let mut verdicts = Vec::with_capacity(documents.len());
        let mut taken = Taken { before: taken, first: self.equal.len(), texts: Vec::new() };
        let rows: Vec<&[u64]> = documents.iter().map(|document| &*document.sketch.row).collect();
        while verdicts.len() < documents.len() {
            let from = verdicts.len();
            let together = self.sieve.together(&rows[from..]);
            let part = &documents[from..from + together];
            let mut cases = self.find(part, cancel)?;
            self.gather(&mut cases, part, cancel)?;
            let decided = if self.components.is_some() {
                self.connect(part, &cases, &taken, cancel)?
            } else {
                self.compare(&mut cases, &taken, cancel)?;
                self.choose_in_order(part, &cases, cancel)?
            };
            self.take_in(part, &decided)?;
            let new = part
                .iter()
                .zip(&decided)
                .filter(|(_, verdict)| matches!(verdict, Verdict::New { empty: false }));
            taken.texts.extend(new.map(|(document, _)| document.text));
            verdicts.extend(decided);
        }
        Ok(verdicts)
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
        let threads = self.options.threads;
        let know = |scratch: &mut Scratch, number: u32| -> Result<Option<Known>, DedupError> {
            let mut known = None;
            texts.with_text(number, &mut |text| known = Some(self.known(text, scratch)))?;
            Ok(known)
        };
        parallel::for_each(&mut known, threads, cancel, Scratch::default, |scratch, slot| {
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
        parallel::for_each(&mut slots, threads, cancel, Scratch::default, |scratch, slot| {
            if let (Some(member), Some(of)) = (know(scratch, slot.0)?, original(slot.1)) {
                slot.2 = self.relation(&member, of);
            }
            Ok(())
        })?;
        Ok(slots.into_iter().map(|(_, _, relation)| relation).collect())
    }

    fn known(&self, text: &str, scratch: &mut Scratch) -> Known {
        let verifier = self.verifier.as_ref();
        let evidence = verifier.map(|verifier| verifier.evidence(text, scratch));
        Known { sketch: self.sketch(text, scratch), evidence: evidence.unwrap_or_default() }
    }

    fn relation(&self, member: &Known, of: &Known) -> Relation {
        if member.sketch.exact == of.sketch.exact {
            return self.equal_relation();
        }
        let similarity = self.verifier.as_ref().map(|verifier| {
            verifier.similarity(&member.evidence, &of.evidence, 0.0).unwrap_or(0.0)
        });
        let distance = self.sieve.distance(&member.sketch.row, &of.sketch.row);
        Relation { similarity, distance }
    }

    /// How equal normalised texts relate.
    fn equal_relation(&self) -> Relation {
        Relation { similarity: Some(1.0), distance: self.sieve.has_distance().then_some(0) }
    }

    /// Takes in what is new.
    fn take_in(
        &mut self,
        documents: &[Document<'_>],
        verdicts: &[Verdict],
    ) -> Result<(), DedupError> {
        let mut rows = Vec::new();
        for (document, verdict) in documents.iter().zip(verdicts) {
            if *verdict != (Verdict::New { empty: false }) {
                continue;
            }
            let number = self.equal.push(document.sketch.exact)?;
            if !document.sketch.row.is_empty() {
                rows.push(document.sketch.row.as_slice());
                self.sketched.push(number);
            }
        }
        self.sieve.add(&rows)
    }

    /// What verification knows of a document taken in, from the cache or from its text.
    fn evidence_of<T>(
        &self,
        verifier: &Verifier,
        number: u32,
        taken: &dyn Texts,
        scratch: &mut Scratch,
        use_it: impl FnOnce(&Evidence) -> T,
    ) -> Result<T, DedupError> {
        if let Some(evidence) = self.cache.get(number) {
            return Ok(use_it(&evidence));
        }
        let mut evidence = Evidence::default();
        taken.with_text(number, &mut |text| evidence = verifier.evidence(text, scratch))?;
        Ok(use_it(&self.cache.put(number, evidence)))
    }
}

/// Everything that a relation rests on.
struct Known {
    sketch: Sketch,
    evidence: Evidence,
}

/// Texts of the documents taken in: before this batch, and in the parts of it that are decided.
struct Taken<'a> {
    before: &'a dyn Texts,
    /// Number of the first one of this batch.
    first: u32,
    texts: Vec<&'a str>,
}

impl Texts for Taken<'_> {
    fn with_text(&self, number: u32, read: &mut dyn FnMut(&str)) -> Result<(), DedupError> {
        let own = number.checked_sub(self.first).and_then(|place| self.texts.get(place as usize));
        match own {
            Some(text) => {
                read(text);
                Ok(())
            }
            None => self.before.with_text(number, read),
        }
    }
}
