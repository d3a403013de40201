//! Documents that are decided when the input has ended.

use crate::decide::{ALONE, BATCH_DOCUMENTS, Decider, Document, Outcome, Relation, Texts};
use crate::error::DedupError;
use crate::keep::{Key, order};
use crate::options::{Cluster, DedupOptions, Keep};
use crate::report::Summary;
use std::sync::atomic::AtomicBool;

/// Text that is read again at once: as much as a block of input.
const BATCH_BYTES: usize = 1 << 20;

/// What is known of the documents while they come in.
///
/// Memory per document: 4 bytes, 4 more for representatives, 16 for fingerprints that are asked for, its key where the keep rule has one (24 bytes and the field's
/// length), 8 when everything is decided; 4 per different text or kept document, and what the [`Decider`] states.
pub(crate) struct Gathered {
    decider: Decider,
    keep: Keep,
    /// By document: the number of its text, [`ALONE`] where that is empty.
    texts: Vec<u32>,
    /// By text, for components, or by number of keeping: a document.
    documents: Vec<u32>,
    /// By document, where clusters are around one: that one.
    originals: Vec<u32>,
    keys: Vec<Key>,
    /// By document, where they are asked for.
    fingerprints: Option<Vec<Option<u64>>>,
    short: u64,
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
            texts: Vec::new(),
            documents: Vec::new(),
            originals: Vec::new(),
            keys: Vec::new(),
            fingerprints: None,
            short: 0,
        }
    }

    /// Keeps fingerprints of what is taken from now on.
    pub(crate) fn keep_fingerprints(&mut self) {
        self.fingerprints = Some(Vec::new());
    }

    pub(crate) fn decider(&self) -> &Decider {
        &self.decider
    }

    /// Whether documents are taken as they come; otherwise they are taken in the order of keeping, and [`take`](Self::take) is
    /// content with empty sketches.
    pub(crate) fn decides_on_arrival(&self) -> bool {
        self.decider.components().is_some() || matches!(self.keep, Keep::First | Keep::Chosen)
    }

    /// Takes the next documents. `texts` has those before, by place in the input.
    pub(crate) fn take(
        &mut self,
        documents: &mut [Document<'_>],
        keys: impl Iterator<Item = Key>,
        texts: &dyn Texts,
        cancel: &AtomicBool,
    ) -> Result<(), DedupError> {
        if self.keep.has_key() {
            self.keys.extend(keys);
        }
        let first = self.texts.len();
        let count = u32::try_from(first + documents.len()).ok().filter(|&count| count < ALONE);
        let count = count.ok_or(DedupError::TooMany)?;
        self.texts.resize(count as usize, ALONE);
        if self.decides_on_arrival() {
            let places: Vec<u32> = (first as u32..count).collect();
            self.decide(documents, &places, texts, cancel)?;
        }
        Ok(())
    }

    fn decide(
        &mut self,
        documents: &mut [Document<'_>],
        places: &[u32],
        texts: &dyn Texts,
        cancel: &AtomicBool,
    ) -> Result<(), DedupError> {
        if let Some(fingerprints) = &mut self.fingerprints {
            fingerprints.resize(self.texts.len(), None);
            for (&place, document) in places.iter().zip(&*documents) {
                fingerprints[place as usize] = document.prepared.sketch.fingerprint();
            }
        }
        let known = ByDocument { texts, documents: &self.documents };
        if self.decider.components().is_some() {
            let numbers = self.decider.connect(documents, &known, cancel)?;
            for (&place, text) in places.iter().zip(numbers) {
                if text != ALONE && text as usize == self.documents.len() {
                    self.documents.push(place);
                }
                self.texts[place as usize] = text;
            }
        } else {
            let verdicts = self.decider.represent(documents, &known, cancel)?;
            self.originals.extend(self.originals.len() as u32..self.texts.len() as u32);
            for (&place, verdict) in places.iter().zip(verdicts) {
                self.texts[place as usize] = verdict.text;
                match verdict.outcome {
                    Outcome::New { empty: true } => {}
                    Outcome::New { empty: false } => self.documents.push(place),
                    Outcome::Duplicate { of, .. } => {
                        self.originals[place as usize] = self.documents[of as usize];
                    }
                }
            }
        }
        let short = documents.iter().filter(|document| document.prepared.is_short);
        self.short += short.count() as u64;
        Ok(())
    }

    /// Decides what is not decided yet. `length` is the bytes of a document's text, about.
    pub(crate) fn settle(
        &mut self,
        texts: &dyn Texts,
        length: impl Fn(u32) -> usize,
        cancel: &AtomicBool,
    ) -> Result<(), DedupError> {
        if self.decides_on_arrival() {
            return Ok(());
        }
        let order = order(&self.keep, &self.keys, self.texts.len() as u32);
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
            let mut documents =
                self.decider.comparer().documents(read.iter().map(String::as_str), cancel)?;
            self.decide(&mut documents, places, texts, cancel)?;
            rest = later;
        }
        Ok(())
    }

    /// What documents of one cluster have in common: one document of it.
    fn label(&self, place: u32) -> u32 {
        let text = self.texts[place as usize];
        match self.decider.components() {
            Some(components) if text != ALONE => self.documents[components.root(text) as usize],
            Some(_) => place,
            None => self.originals[place as usize],
        }
    }

    /// The clusters of two or more, each with its documents in input order; clusters by their first document.
    pub(crate) fn clusters(&self) -> Vec<Vec<u32>> {
        let mut by_label: Vec<Vec<u32>> = vec![Vec::new(); self.texts.len()];
        let mut labels = Vec::new();
        for place in 0..self.texts.len() as u32 {
            let label = self.label(place);
            if by_label[label as usize].is_empty() {
                labels.push(label);
            }
            by_label[label as usize].push(place);
        }
        let clusters =
            labels.into_iter().map(|label| std::mem::take(&mut by_label[label as usize]));
        clusters.filter(|cluster| cluster.len() > 1).collect()
    }

    /// Who is kept, by the rule; `chosen` are documents that are kept before all others of their cluster.
    pub(crate) fn into_settled(self, chosen: &[u32]) -> Settled {
        let count = self.texts.len() as u32;
        let order = order(&self.keep, &self.keys, count);
        // By label.
        let mut kept = vec![ALONE; self.texts.len()];
        for &place in chosen.iter().chain(&order) {
            let best = &mut kept[self.label(place) as usize];
            if *best == ALONE {
                *best = place;
            }
        }
        let originals: Vec<u32> =
            (0..count).map(|place| kept[self.label(place) as usize]).collect();
        let mut has_duplicates = vec![false; originals.len()];
        let empty = self.texts.iter().filter(|&&text| text == ALONE).count() as u64;
        let mut summary = Summary { empty, short: self.short, ..Summary::default() };
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
        let fingerprints = self.fingerprints.unwrap_or_default();
        Settled { decider: self.decider, texts: self.texts, originals, fingerprints, summary }
    }
}

/// Everything decided.
pub(crate) struct Settled {
    decider: Decider,
    /// By document: the number of its text.
    texts: Vec<u32>,
    /// By document: the one that is kept for it, often itself.
    originals: Vec<u32>,
    /// By document, where they were asked for.
    fingerprints: Vec<Option<u64>>,
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

    /// Whether a limit cut the candidates of this document's text.
    pub(crate) fn is_truncated(&self, place: u32) -> bool {
        self.decider.is_truncated(self.texts[place as usize])
    }

    /// The fingerprint of this document, where they were asked for and it has one.
    pub(crate) fn fingerprint(&self, place: u32) -> Option<u64> {
        self.fingerprints.get(place as usize).copied().flatten()
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
        self.decider.comparer().relations(&pairs, texts, cancel)
    }
}

/// Texts by a number, of which each has a document.
struct ByDocument<'a> {
    texts: &'a dyn Texts,
    documents: &'a [u32],
}

impl Texts for ByDocument<'_> {
    fn with_text(&self, number: u32, read: &mut dyn FnMut(&str)) -> Result<(), DedupError> {
        self.texts.with_text(self.documents[number as usize], read)
    }
}
