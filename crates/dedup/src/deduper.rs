//! Deduplication of a stream of texts in memory.

use crate::cluster::Gathered;
use crate::decide::{BATCH_DOCUMENTS, Decider, Document, Outcome, Relation, Texts, Verdict};
use crate::error::DedupError;
use crate::keep::Key;
use crate::live::LiveIndex;
use crate::options::{DedupOptions, Keep};
use crate::report::{Summary, Tally};
use simhash_sketch::Prepared;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Text per batch: shingles of a whole batch may be in memory at once, at most 8 bytes per character.
const BATCH_BYTES: usize = 1 << 20;

/// What became of one document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decision {
    /// Position in the stream, from 0.
    pub index: u64,
    /// Position of the kept document that this one duplicates; `None`: kept.
    pub duplicate_of: Option<u64>,
    /// Similarity to that document, 1 for equal normalised texts; `None` for a kept document and, unless the texts are
    /// equal, without verification. A member of a component may resemble another member and this document little.
    pub similarity: Option<f64>,
    /// Hamming distance of the two fingerprints, 0 for equal normalised texts; `None` for a kept
    /// document and for methods without fingerprints.
    pub distance: Option<u32>,
    /// A limit (`max_verifications`, `max_bucket`) cut the candidates of this text, kept or not: an original, or a better one,
    /// may have been missed.
    pub truncated: bool,
    /// The document's fingerprint, by [`Deduper::with_fingerprints`] and [`Method::SimHash`](crate::Method::SimHash) only; `None`
    /// for a text too short to have one.
    pub fingerprint: Option<u64>,
}

impl Decision {
    fn kept(index: u64, truncated: bool, fingerprint: Option<u64>) -> Self {
        let (duplicate_of, similarity, distance) = (None, None, None);
        Self { index, duplicate_of, similarity, distance, truncated, fingerprint }
    }

    fn duplicate(of: u64, relation: Relation, kept: Self) -> Self {
        let Relation { similarity, distance } = relation;
        Self { duplicate_of: Some(of), similarity, distance, ..kept }
    }
}

/// Decides documents one batch after the other.
///
/// Where the first of a representative's cluster is kept, decisions come as documents do; otherwise all of them come
/// from [`finish`](Self::finish). The answer depends on the order of the documents only: not on batches, threads or
/// processor.
///
/// # Memory
/// Decided as they come: per different text the method's bytes and 32 to 48 more, 16 to 32 where it is a duplicate; per kept
/// document 8 bytes, 8 more for each duplicate among its candidates, and with verification its text plus 16 bytes; nothing per copy. Decided at the end: the text of every
/// document and 16 bytes, 16 more, the key of the keep rule, and per different text the method's bytes and 36 to 64 more. At
/// most 32 MiB of cached shingles, and 256 MiB of bitmaps of long texts.
pub struct Deduper {
    state: State,
    keep: Keep,
    started: Instant,
    stopped: bool,
}

enum State {
    OnArrival(Box<Arriving>),
    AtTheEnd { gathered: Box<Gathered>, texts: All, bytes: u64, chosen: Vec<u32> },
    Ended(Summary),
}

/// Documents that are decided as they come.
struct Arriving {
    decider: Decider,
    kept: Kept,
    tally: Tally,
    /// Whether decisions carry them.
    fingerprints: bool,
    /// How many documents have come.
    count: u64,
    /// Texts of known documents whose candidates were cut.
    known_truncated: u64,
}

impl Deduper {
    /// An empty state.
    ///
    /// # Errors
    /// Options outside their ranges.
    pub fn new(options: &DedupOptions) -> Result<Self, DedupError> {
        let decider = Decider::new(options)?;
        let state = if Gathered::is_for(options) {
            let gathered = Box::new(Gathered::new(options, decider));
            State::AtTheEnd { gathered, texts: All::default(), bytes: 0, chosen: Vec::new() }
        } else {
            State::OnArrival(Box::new(Arriving {
                decider,
                kept: Kept::default(),
                tally: Tally::default(),
                fingerprints: false,
                count: 0,
                known_truncated: 0,
            }))
        };
        let keep = options.keep.clone();
        Ok(Self { state, keep, started: Instant::now(), stopped: false })
    }

    /// The same with fingerprints in its decisions. Decided at the end: 16 bytes more per document.
    #[must_use]
    pub fn with_fingerprints(mut self) -> Self {
        match &mut self.state {
            State::OnArrival(arriving) => arriving.fingerprints = true,
            State::AtTheEnd { gathered, .. } => gathered.keep_fingerprints(),
            State::Ended(_) => {}
        }
        self
    }

    /// What was pushed so far was there already: figures begin anew, positions go on. Clusters are then those that a later
    /// document is a duplicate in.
    ///
    /// # Errors
    /// [`DedupError::Option`] where decisions come at the end: a known document may lose its place to a later one there.
    pub fn end_known(&mut self) -> Result<(), DedupError> {
        let State::OnArrival(arriving) = &mut self.state else {
            let expected = "beside the first of a representative's cluster";
            return Err(DedupError::Option { argument: "known", value: "given".into(), expected });
        };
        arriving.tally.restart();
        arriving.known_truncated = arriving.decider.truncated();
        Ok(())
    }

    /// The live documents of an index, by id, as if their texts had been pushed and [`end_known`](Self::end_known) been called; the
    /// id of each position. The index stays as it is; documents that are added to it meanwhile are not among them.
    ///
    /// # Errors
    /// [`DedupError::Differs`] unless the index was made with the options of this run, [`DedupError::Option`] where a text is not
    /// stored, and those of [`push`](Self::push) and [`end_known`](Self::end_known).
    pub fn push_index(
        &mut self,
        index: &LiveIndex,
        cancel: &AtomicBool,
    ) -> Result<Vec<u64>, DedupError> {
        self.start()?;
        let mut ids = Vec::new();
        if let State::OnArrival(arriving) = &mut self.state {
            index.agree(arriving.decider.options(), "known")?;
            let mut all = index.ids();
            while !all.is_empty() {
                let batch = index.known(&mut all, BATCH_DOCUMENTS, BATCH_BYTES)?;
                let Arriving { decider, kept, .. } = &mut **arriving;
                let mut documents = decider
                    .comparer()
                    .documents(batch.iter().map(|known| known.text.as_str()), cancel)?;
                for (document, known) in documents.iter_mut().zip(&batch) {
                    known.correct(&mut document.prepared);
                }
                let verdicts = decider.represent(&mut documents, kept, cancel)?;
                for (document, verdict) in documents.iter().zip(verdicts) {
                    arriving.record(document, verdict);
                }
                ids.extend(batch.iter().map(|known| known.id));
            }
        }
        self.end_known()?;
        self.stopped = false;
        Ok(ids)
    }

    /// Decides the next documents; one decision each, in order, or none before the end.
    ///
    /// Runs on the current rayon pool. Large batches (thousands) keep more cores busy; the result is
    /// the same for any. Documents have no fields here: for [`Keep::Field`] see [`push_keyed`](Self::push_keyed).
    ///
    /// # Errors
    /// [`DedupError::Cancelled`] soon after `cancel` is set. After any error the state lies in
    /// the middle of the batch, and every later call returns [`DedupError::Stopped`].
    pub fn push(
        &mut self,
        texts: &[&str],
        cancel: &AtomicBool,
    ) -> Result<Vec<Decision>, DedupError> {
        self.push_keyed(texts, &[], cancel)
    }

    /// [`push`](Self::push) of documents with these values of the field, one each; documents beyond them have none.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub fn push_keyed(
        &mut self,
        texts: &[&str],
        keys: &[Key],
        cancel: &AtomicBool,
    ) -> Result<Vec<Decision>, DedupError> {
        self.start()?;
        let mut decisions = Vec::with_capacity(texts.len());
        let (mut rest, mut keys) = (texts, keys);
        while !rest.is_empty() {
            let (batch, later) = rest.split_at(batch_len(rest));
            let (own, other) = keys.split_at(batch.len().min(keys.len()));
            self.push_batch(batch, own, cancel, &mut decisions)?;
            (rest, keys) = (later, other);
        }
        self.stopped = false;
        Ok(decisions)
    }

    /// The clusters of two or more, for [`Keep::Chosen`]: positions in order; clusters by their first document.
    pub fn clusters(&self) -> Vec<Vec<u32>> {
        match &self.state {
            State::AtTheEnd { gathered, .. } => gathered.clusters(),
            State::OnArrival(_) | State::Ended(_) => Vec::new(),
        }
    }

    /// Keeps these documents of their clusters; of two of one cluster the first named. Clusters without a choice keep
    /// their first document.
    ///
    /// # Errors
    /// [`DedupError::OutOfRange`] for a position that no document has, [`DedupError::Option`] unless the rule is
    /// [`Keep::Chosen`].
    pub fn choose(&mut self, positions: &[u32]) -> Result<(), DedupError> {
        let (Keep::Chosen, State::AtTheEnd { texts, chosen, .. }) = (&self.keep, &mut self.state)
        else {
            let expected = "a rule that lets the caller choose";
            return Err(DedupError::Option { argument: "keep", value: "another".into(), expected });
        };
        if let Some(wrong) = positions.iter().find(|&&place| place as usize >= texts.0.len()) {
            let expected = "positions of documents";
            let value = wrong.to_string();
            return Err(DedupError::OutOfRange { argument: "positions", value, expected });
        }
        chosen.extend_from_slice(positions);
        Ok(())
    }

    /// The decisions that are still due, in order. Nothing can be pushed afterwards.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub fn finish(&mut self, cancel: &AtomicBool) -> Result<Vec<Decision>, DedupError> {
        self.start()?;
        let ended = State::Ended(self.summary());
        let (mut gathered, texts, bytes, chosen) = match std::mem::replace(&mut self.state, ended) {
            State::AtTheEnd { gathered, texts, bytes, chosen } => (gathered, texts, bytes, chosen),
            State::OnArrival(_) | State::Ended(_) => return Ok(Vec::new()),
        };
        gathered.settle(&texts, |place| texts.0[place as usize].len(), cancel)?;
        let settled = gathered.into_settled(&chosen);
        let mut decisions = Vec::with_capacity(settled.len() as usize);
        let mut from = 0;
        while from < settled.len() {
            let to = settled.len().min(from + BATCH_DOCUMENTS as u32);
            let mut relations = settled.relations(from..to, &texts, cancel)?.into_iter();
            for place in from..to {
                let index = u64::from(place);
                let fingerprint = settled.fingerprint(place);
                let kept = Decision::kept(index, settled.is_truncated(place), fingerprint);
                let duplicate =
                    settled.original(place).and_then(|of| Some((of, relations.next()?)));
                decisions.push(match duplicate {
                    None => kept,
                    Some((of, relation)) => Decision::duplicate(u64::from(of), relation, kept),
                });
            }
            from = to;
        }
        self.state = State::Ended(Summary { bytes, ..settled.summary });
        Ok(decisions)
    }

    /// The figures so far; `seconds` since the state was made. What is decided at the end is counted there.
    pub fn summary(&self) -> Summary {
        let figures = match &self.state {
            State::OnArrival(arriving) => Summary {
                truncated: arriving.decider.truncated() - arriving.known_truncated,
                index_bytes: arriving.decider.bytes(),
                ..arriving.tally.summary.clone()
            },
            State::AtTheEnd { texts, bytes, .. } => {
                Summary { read: texts.0.len() as u64, bytes: *bytes, ..Summary::default() }
            }
            State::Ended(summary) => summary.clone(),
        };
        Summary { seconds: self.started.elapsed().as_secs_f64(), ..figures }
    }

    /// Stopped until the call has succeeded.
    fn start(&mut self) -> Result<(), DedupError> {
        if std::mem::replace(&mut self.stopped, true) { Err(DedupError::Stopped) } else { Ok(()) }
    }

    fn push_batch(
        &mut self,
        batch: &[&str],
        keys: &[Key],
        cancel: &AtomicBool,
        decisions: &mut Vec<Decision>,
    ) -> Result<(), DedupError> {
        match &mut self.state {
            State::Ended(_) => return Err(DedupError::Stopped),
            State::OnArrival(arriving) => {
                let Arriving { decider, kept, .. } = &mut **arriving;
                let mut documents = decider.comparer().documents(batch.iter().copied(), cancel)?;
                let verdicts = decider.represent(&mut documents, kept, cancel)?;
                let rows = documents.iter().zip(verdicts);
                decisions
                    .extend(rows.map(|(document, verdict)| arriving.record(document, verdict)));
            }
            State::AtTheEnd { gathered, texts, bytes, .. } => {
                texts.0.extend(batch.iter().map(|&text| Box::from(text)));
                *bytes += batch.iter().map(|text| text.len() as u64).sum::<u64>();
                let mut documents = if gathered.decides_on_arrival() {
                    gathered.decider().comparer().documents(batch.iter().copied(), cancel)?
                } else {
                    let text = |&text| Document { text, prepared: Prepared::default() };
                    batch.iter().map(text).collect()
                };
                let longest = self.keep == Keep::Longest;
                let keys = batch.iter().enumerate().map(|(row, text)| {
                    if longest {
                        Key::length(text)
                    } else {
                        keys.get(row).cloned().unwrap_or_default()
                    }
                });
                gathered.take(&mut documents, keys, texts, cancel)?;
            }
        }
        Ok(())
    }
}

impl Arriving {
    fn record(&mut self, document: &Document<'_>, verdict: Verdict) -> Decision {
        let Document { text, prepared } = document;
        let index = self.count;
        self.count += 1;
        let Verdict { outcome, truncated, .. } = verdict;
        self.tally.count(prepared, outcome);
        self.tally.summary.bytes += text.len() as u64;
        let fingerprint = self.fingerprints.then(|| prepared.sketch.fingerprint()).flatten();
        let decision = Decision::kept(index, truncated, fingerprint);
        match outcome {
            Outcome::New { empty } => {
                if !empty {
                    self.kept.indices.push(index);
                    if self.decider.comparer().verifies() {
                        // A document without a sketch is never verified.
                        let verified = !prepared.sketch.is_none();
                        self.kept.texts.push(if verified { (*text).into() } else { "".into() });
                    }
                }
                decision
            }
            Outcome::Duplicate { of, relation } => {
                Decision::duplicate(self.kept.indices[of as usize], relation, decision)
            }
        }
    }
}

/// How many of the texts make the next batch: bounded in documents and bytes, at least one.
fn batch_len(texts: &[&str]) -> usize {
    let mut bytes = 0;
    let fits = texts.iter().take(BATCH_DOCUMENTS).take_while(|text| {
        bytes += text.len();
        bytes <= BATCH_BYTES
    });
    fits.count().max(1)
}

/// Kept documents by number of keeping.
#[derive(Default)]
struct Kept {
    indices: Vec<u64>,
    texts: Vec<Box<str>>,
}

impl Texts for Kept {
    fn with_text(&self, number: u32, read: &mut dyn FnMut(&str)) -> Result<(), DedupError> {
        read(&self.texts[number as usize]);
        Ok(())
    }
}

/// All documents by position.
#[derive(Default)]
struct All(Vec<Box<str>>);

impl Texts for All {
    fn with_text(&self, place: u32, read: &mut dyn FnMut(&str)) -> Result<(), DedupError> {
        read(&self.0[place as usize]);
        Ok(())
    }
}
