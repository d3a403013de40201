//! Documents that are decided when the input has ended.

use super::Components;
use crate::decide::{BATCH_DOCUMENTS, Decider, Document, Relation, Texts, Verdict};
use crate::error::DedupError;
use crate::keep::{Key, order};
use crate::options::{Cluster, DedupOptions, Keep};
use crate::report::Summary;
use std::sync::atomic::AtomicBool;

/// The number of a document that belongs to no cluster: its text is empty.
const ALONE: u32 = u32::MAX;
/// Text that is read again at once: as much as a block of input.
const BATCH_BYTES: usize = 1 << 20;

/// What is known of the documents while they come in.
///
/// Memory per document: 4 bytes, its key where the keep rule has one (24 bytes and the field's length), 4 for the order,
/// 8 per different text or kept document, and what the [`Decider`] states.
pub(crate) struct Gathered {
    decider: Decider,
    keep: Keep,
    /// By document: the number of its text among those taken in.
    numbers: Vec<u32>,
    /// By that number: the document.
    taken: Vec<u32>,
    keys: Vec<Key>,
    count: u32,
    short: u64,
    empty: u64,
}

impl Gathered {
    /// Whether these options can only be decided when the input has ended.
    pub(crate) fn is_for(options: &DedupOptions) -> bool {
        options.cluster == Cluster::Components || options.keep != Keep::First
    }

    pub(crate) fn new(options: &DedupOptions, decider: Decider) -> Self {
        Self {
            decider,
            keep: options.keep.clone(),
            numbers: Vec::new(),
            taken: Vec::new(),
            keys: Vec::new(),
            count: 0,
            short: 0,
            empty: 0,
        }
    }

    pub(crate) fn decider(&self) -> &Decider {
        &self.decider
    }

    /// Whether documents are compared as they come; otherwise they are compared in the order of keeping, and
    /// [`take`](Self::take) is content with empty sketches.
    pub(crate) fn compares_on_arrival(&self) -> bool {
        self.decider.components().is_some() || matches!(self.keep, Keep::First | Keep::Chosen)
    }

    /// Takes the next documents. `texts` has all of them and those before, by place in the input.
    pub(crate) fn take(
        &mut self,
        documents: &[Document<'_>],
        keys: impl Iterator<Item = Key>,
        texts: &dyn Texts,
        cancel: &AtomicBool,
    ) -> Result<(), DedupError> {
        if self.keep.has_key() {
            self.keys.extend(keys);
        }
        let first = self.count;
        let more = u32::try_from(documents.len()).ok().and_then(|more| first.checked_add(more));
        self.count = more.filter(|&count| count < ALONE).ok_or(DedupError::TooMany)?;
        self.numbers.resize(self.count as usize, ALONE);
        if self.compares_on_arrival() {
            let places: Vec<u32> = (first..self.count).collect();
            self.decide(documents, &places, texts, cancel)?;
        }
        Ok(())
    }

    fn decide(
        &mut self,
        documents: &[Document<'_>],
        places: &[u32],
        texts: &dyn Texts,
        cancel: &AtomicBool,
    ) -> Result<(), DedupError> {
        let taken = Taken { texts, documents: &self.taken };
        let verdicts = self.decider.decide(documents, &taken, cancel)?;
        for ((document, verdict), &place) in documents.iter().zip(verdicts).zip(places) {
            self.short += u64::from(document.sketch.short);
            self.numbers[place as usize] = match verdict {
                Verdict::New { empty: true } => {
                    self.empty += 1;
                    ALONE
                }
                Verdict::New { empty: false } => {
                    self.taken.push(place);
                    self.taken.len() as u32 - 1
                }
                Verdict::Duplicate { of, .. } => of,
            };
        }
        Ok(())
    }

    /// Decides what is not decided yet. `length` is the bytes of a document's text, about.
    pub(crate) fn settle(
        &mut self,
        texts: &dyn Texts,
        length: impl Fn(u32) -> usize,
        cancel: &AtomicBool,
    ) -> Result<(), DedupError> {
        if self.compares_on_arrival() {
            return Ok(());
        }
        let order = order(&self.keep, &self.keys, self.count);
        let mut rest = order.as_slice();
        while !rest.is_empty() {
            let mut bytes = 0;
            let fits = rest.iter().take(BATCH_DOCUMENTS).take_while(|&&place| {
                bytes += length(place);
                bytes <= BATCH_BYTES
            });
            let (places, later) = rest.split_at(fits.count().max(1));
            let mut read = Vec::with_capacity(places.len());
            for &place in places {
                texts.with_text(place, &mut |text| read.push(text.to_owned()))?;
            }
            let documents = self.decider.documents(read.iter().map(String::as_str), cancel)?;
            self.decide(&documents, places, texts, cancel)?;
            rest = later;
        }
        Ok(())
    }

    /// The clusters of two or more, each with its documents in input order; clusters by their first document.
    pub(crate) fn clusters(&self) -> Vec<Vec<u32>> {
        let mut by_root: Vec<Vec<u32>> = vec![Vec::new(); self.taken.len()];
        let mut roots = Vec::new();
        for (place, &number) in (0u32..).zip(&self.numbers) {
            if number == ALONE {
                continue;
            }
            let root = self.root(number);
            if by_root[root as usize].is_empty() {
                roots.push(root);
            }
            by_root[root as usize].push(place);
        }
        let clusters = roots.into_iter().map(|root| std::mem::take(&mut by_root[root as usize]));
        clusters.filter(|cluster| cluster.len() > 1).collect()
    }

    /// Who is kept, by the rule; `chosen` are documents that are kept before all others of their cluster.
    pub(crate) fn into_settled(self, chosen: &[u32]) -> Settled {
        let order = order(&self.keep, &self.keys, self.count);
        let mut kept = vec![ALONE; self.taken.len()];
        for &place in chosen.iter().chain(&order) {
            let number = self.numbers[place as usize];
            if number != ALONE {
                let best = &mut kept[self.root(number) as usize];
                if *best == ALONE {
                    *best = place;
                }
            }
        }
        let originals = (0u32..).zip(&self.numbers).map(|(place, &number)| {
            if number == ALONE { place } else { kept[self.root(number) as usize] }
        });
        let originals: Vec<u32> = originals.collect();
        let mut has_duplicates = vec![false; originals.len()];
        let mut summary = Summary { empty: self.empty, short: self.short, ..Summary::default() };
        for (place, &original) in (0u32..).zip(&originals) {
            summary.read += 1;
            if original == place {
                summary.kept += 1;
            } else {
                summary.duplicates += 1;
                let known = std::mem::replace(&mut has_duplicates[original as usize], true);
                summary.clusters += u64::from(!known);
            }
        }
        summary.truncated = self.decider.truncated();
        summary.index_bytes = self.decider.bytes();
        Settled { decider: self.decider, originals, summary }
    }

    fn root(&self, number: u32) -> u32 {
        self.decider.components().map_or(number, |components: &Components| components.root(number))
    }
}

/// Everything decided.
pub(crate) struct Settled {
    decider: Decider,
    /// By document: the one that is kept for it, often itself.
    originals: Vec<u32>,
    /// Counts of the documents; nothing about records, bytes and time.
    pub(crate) summary: Summary,
}

impl Settled {
    pub(crate) fn len(&self) -> u32 {
        self.originals.len() as u32
    }

    /// Whom this document duplicates; `None`: it is kept.
    pub(crate) fn original(&self, place: u32) -> Option<u32> {
        let original = self.originals[place as usize];
        (original != place).then_some(original)
    }

    /// How each duplicate among `places` relates to its original, in order.
    pub(crate) fn relations(
        &self,
        places: std::ops::Range<u32>,
        texts: &dyn Texts,
        cancel: &AtomicBool,
    ) -> Result<Vec<Relation>, DedupError> {
        let pairs: Vec<(u32, u32)> =
            places.filter_map(|place| Some((place, self.original(place)?))).collect();
        self.decider.relations(&pairs, texts, cancel)
    }
}

/// Texts by the number under which they were taken in.
struct Taken<'a> {
    texts: &'a dyn Texts,
    documents: &'a [u32],
}

impl Texts for Taken<'_> {
    fn with_text(&self, number: u32, read: &mut dyn FnMut(&str)) -> Result<(), DedupError> {
        self.texts.with_text(self.documents[number as usize], read)
    }
}
