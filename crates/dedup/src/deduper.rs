//! Deduplication of a stream of texts in memory.

use crate::decide::{BATCH_DOCUMENTS, Decider, Document, KeptTexts, Verdict};
use crate::error::DedupError;
use crate::options::DedupOptions;
use crate::parallel;
use crate::report::{Summary, Tally};
use simhash_sketch::Scratch;
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
    /// Jaccard similarity of the two shingle sets, 1 for equal normalised texts; `None` for a kept
    /// document and without verification.
    pub similarity: Option<f64>,
    /// Hamming distance of the two fingerprints, 0 for equal normalised texts; `None` for a kept
    /// document.
    pub distance: Option<u32>,
}

/// Decides documents one batch after the other, each against those kept before it.
///
/// The first document of a group is kept, and a member resembles the kept document itself. The answer
/// depends on the order of the documents only: not on batches, threads or processor.
///
/// # Memory
/// Per kept document the index's bytes per fingerprint and 36 to 44 bytes, and with verification
/// its text plus 16 bytes; nothing per duplicate; at most 32 MiB of cached shingles.
pub struct Deduper {
    decider: Decider,
    kept: Texts,
    tally: Tally,
    started: Instant,
    stopped: bool,
}

impl Deduper {
    /// An empty state.
    ///
    /// # Errors
    /// Options outside their ranges.
    pub fn new(options: &DedupOptions) -> Result<Self, DedupError> {
        Ok(Self {
            decider: Decider::new(options)?,
            kept: Texts::default(),
            tally: Tally::default(),
            started: Instant::now(),
            stopped: false,
        })
    }

    /// Decides the next documents; one decision each, in order.
    ///
    /// Runs on the current rayon pool. Large batches (thousands) keep more cores busy; the result is
    /// the same for any.
    ///
    /// # Errors
    /// [`DedupError::Cancelled`] soon after `cancel` is set. After any error the state lies in
    /// the middle of the batch, and every later call returns [`DedupError::Stopped`].
    pub fn push(
        &mut self,
        texts: &[&str],
        cancel: &AtomicBool,
    ) -> Result<Vec<Decision>, DedupError> {
        if self.stopped {
            return Err(DedupError::Stopped);
        }
        self.stopped = true;
        let mut decisions = Vec::with_capacity(texts.len());
        let mut rest = texts;
        while !rest.is_empty() {
            let (batch, later) = rest.split_at(batch_len(rest));
            self.push_batch(batch, cancel, &mut decisions)?;
            rest = later;
        }
        self.stopped = false;
        Ok(decisions)
    }

    /// The figures so far; `seconds` since the state was made.
    pub fn summary(&self) -> Summary {
        Summary {
            truncated: self.decider.truncated(),
            seconds: self.started.elapsed().as_secs_f64(),
            ..self.tally.summary.clone()
        }
    }

    fn push_batch(
        &mut self,
        texts: &[&str],
        cancel: &AtomicBool,
        decisions: &mut Vec<Decision>,
    ) -> Result<(), DedupError> {
        let fingerprinter = self.decider.fingerprinter();
        let mut slots: Vec<_> = texts.iter().map(|&text| (text, None)).collect();
        let threads = self.decider.threads();
        parallel::for_each(&mut slots, threads, cancel, Scratch::default, |scratch, slot| {
            slot.1 = Some(fingerprinter.sketch(slot.0, scratch));
            Ok(())
        })?;
        let documents: Vec<Document<'_>> = slots
            .into_iter()
            .filter_map(|(text, sketch)| Some(Document { text, sketch: sketch? }))
            .collect();
        let verdicts = self.decider.decide(&documents, &self.kept, cancel)?;
        for (document, verdict) in documents.iter().zip(verdicts) {
            decisions.push(self.record(document, verdict));
        }
        Ok(())
    }

    fn record(&mut self, document: &Document<'_>, verdict: Verdict) -> Decision {
        let index = self.tally.summary.read;
        self.tally.count(&document.sketch, verdict);
        self.tally.summary.bytes += document.text.len() as u64;
        match verdict {
            Verdict::Kept { empty } => {
                if !empty {
                    self.kept.indices.push(index);
                    if self.decider.verifies() {
                        // A document without a fingerprint is never verified.
                        let verified = document.sketch.fingerprint.is_some();
                        self.kept.texts.push(if verified {
                            document.text.into()
                        } else {
                            "".into()
                        });
                    }
                }
                Decision { index, duplicate_of: None, similarity: None, distance: None }
            }
            Verdict::Duplicate { of, similarity, distance } => {
                let duplicate_of = Some(self.kept.indices[of as usize]);
                Decision { index, duplicate_of, similarity, distance: Some(distance) }
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
struct Texts {
    indices: Vec<u64>,
    texts: Vec<Box<str>>,
}

impl KeptTexts for Texts {
    fn with_text(&self, ordinal: u32, read: &mut dyn FnMut(&str)) -> Result<(), DedupError> {
        read(&self.texts[ordinal as usize]);
        Ok(())
    }
}
