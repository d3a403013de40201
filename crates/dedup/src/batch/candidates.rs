//! The one thing in which methods differ: who is a candidate of a text.

use super::bands::Bands;
use super::fingerprints::Fingerprints;
use super::groups::Groups;
use super::sentences::Sentences;
use super::sheaf::Sheaf;
use crate::checkpoint::{Restoring, Saving};
use crate::decide::{BATCH_DOCUMENTS, Texts};
use crate::error::DedupError;
use crate::method::{self, Banding, Found, Method, Sieve};
use crate::options::DedupOptions;
use simhash_sketch::{Kept, MethodSketch, Preparer, Scratch, Sketcher};
use simhash_store::Room;
use std::sync::atomic::AtomicBool;

/// A text with its list.
pub(crate) struct Listed {
    pub(crate) text: u32,
    pub(crate) found: Found,
}

/// How candidates take sketches of documents that come one after the other.
#[derive(Clone, Copy)]
pub(crate) enum Gathering {
    /// As they are.
    InOrder,
    /// As entries by part.
    ByPart,
}

impl Gathering {
    /// Puts sketches as they are taken: by any thread, before they have their turn.
    pub(crate) fn gather(self, sketches: Vec<MethodSketch>) -> Gathered {
        let documents = sketches.len() as u32;
        match self {
            Self::InOrder => Gathered { documents, sketches, sheaf: Sheaf::default() },
            Self::ByPart => {
                Gathered { documents, sheaf: Sheaf::of(&sketches), sketches: Vec::new() }
            }
        }
    }
}

/// The sketches of documents that come one after the other.
pub(crate) struct Gathered {
    /// How many they are.
    pub(super) documents: u32,
    /// None where they are put by part.
    pub(super) sketches: Vec<MethodSketch>,
    pub(super) sheaf: Sheaf,
}

/// Bytes of pairs: those of texts beside each other grow as the documents do, for so do copies that come one after the other; those of
/// others grow as their square.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Growing {
    pub(super) beside: u64,
    pub(super) apart: u64,
    /// Most of both for each document.
    pub(super) most: u64,
}

impl Growing {
    /// Bytes of both.
    pub(crate) fn bytes(&self) -> u64 {
        self.beside + self.apart
    }

    /// Bytes where of what was `of` documents there are so many.
    pub(crate) fn grown(&self, documents: u64, of: u64) -> u64 {
        let times = documents as f64 / of.max(1) as f64;
        let bytes = self.beside as f64 * times + self.apart as f64 * times * times;
        #[expect(clippy::cast_sign_loss, reason = "bytes are never negative")]
        let bytes = bytes as u64;
        bytes.min(self.most.saturating_mul(documents))
    }
}

/// The candidates of all texts, a function of their sketches in order ([`Sieve`] says which): first every document is taken, in
/// input order, then the texts are known, then lists are asked for.
pub(crate) trait Candidates: Send + Sync {
    /// What makes the sketches it takes.
    fn sketcher(&self) -> Sketcher;

    /// How it takes them.
    fn gathering(&self) -> Gathering {
        Gathering::InOrder
    }

    /// Takes the sketches of the next documents, gathered as it says.
    fn take(&mut self, gathered: Gathered) -> Result<(), DedupError>;

    /// All documents have come; these are their texts.
    fn settle(
        &mut self,
        groups: &Groups,
        sketches: &Sketches<'_>,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<(), DedupError>;

    /// The lists of the next texts, in order, of some thousands at most; texts without candidates may be left out. None: there are no more.
    fn next(
        &mut self,
        limit: usize,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Vec<Listed>, DedupError>;

    /// Bytes held at most for the documents and texts.
    fn bytes(&self) -> usize;

    /// What of it does not grow as the documents do.
    fn growing(&self) -> Result<Growing, DedupError> {
        Ok(Growing::default())
    }

    /// Whether what was settled can be written down, and is worth it: it took longer than reading it does.
    fn can_be_kept(&self) -> bool {
        false
    }

    /// Writes it down.
    fn save(&self, _: &mut Saving<'_>) -> Result<(), DedupError> {
        Ok(())
    }

    /// Takes it from there, in place of documents.
    fn restore(&mut self, _: &mut Restoring, _: &Groups) -> Result<(), DedupError> {
        Ok(())
    }
}

/// Sketches, made again.
pub(crate) struct Sketches<'a> {
    pub(super) preparer: &'a Preparer,
    pub(super) texts: &'a dyn Texts,
}

impl Sketches<'_> {
    /// The sketch of a document.
    pub(super) fn sketch(
        &self,
        document: u32,
        scratch: &mut Scratch,
    ) -> Result<MethodSketch, DedupError> {
        let mut sketch = MethodSketch::None;
        self.texts.with_text(document, &mut |text| {
            sketch = self.preparer.prepare(text, Kept::Sketch, scratch).sketch;
        })?;
        Ok(sketch)
    }
}

/// The candidates that the options ask for. What they are made of lies in `room`, but where all sets are compared with all.
pub(crate) fn candidates(
    options: &DedupOptions,
    room: &Room,
) -> Result<Box<dyn Candidates>, DedupError> {
    Ok(match options.method {
        Method::MinHash { plan } => Box::new(Bands::new(Banding::new(options, plan)?, room)?),
        Method::SimHash { max_distance } => Box::new(Fingerprints::new(max_distance, room)?),
        Method::Sentences { count } => Box::new(Sentences::new(options, count, room)?),
        Method::Exact => Box::new(Nobody),
        Method::BruteForce => Box::new(Looked::new(method::sieve(options)?)),
    })
}

/// No candidates: equal texts are found before a method is asked.
struct Nobody;

impl Candidates for Nobody {
    fn sketcher(&self) -> Sketcher {
        Sketcher::None
    }

    fn take(&mut self, _: Gathered) -> Result<(), DedupError> {
        Ok(())
    }

    fn settle(
        &mut self,
        _: &Groups,
        _: &Sketches<'_>,
        _: usize,
        _: &AtomicBool,
    ) -> Result<(), DedupError> {
        Ok(())
    }

    fn next(&mut self, _: usize, _: usize, _: &AtomicBool) -> Result<Vec<Listed>, DedupError> {
        Ok(Vec::new())
    }

    fn bytes(&self) -> usize {
        0
    }
}

/// The candidates of a live index, to which texts are added in order. In memory whatever the bound: each set of features may be near any
/// other.
pub(super) struct Looked {
    sieve: Box<dyn Sieve>,
    /// By document, then by text.
    sketches: Vec<MethodSketch>,
    /// Texts that were asked for.
    listed: u32,
    /// By the number that the index knows it by: the text.
    sketched: Vec<u32>,
}

impl Looked {
    pub(super) fn new(sieve: Box<dyn Sieve>) -> Self {
        Self { sieve, sketches: Vec::new(), listed: 0, sketched: Vec::new() }
    }
}

impl Candidates for Looked {
    fn sketcher(&self) -> Sketcher {
        self.sieve.sketcher()
    }

    fn take(&mut self, gathered: Gathered) -> Result<(), DedupError> {
        self.sketches.extend(gathered.sketches);
        Ok(())
    }

    fn settle(
        &mut self,
        groups: &Groups,
        _: &Sketches<'_>,
        _: usize,
        _: &AtomicBool,
    ) -> Result<(), DedupError> {
        let first = (0..groups.len()).map(|text| groups.first(text) as usize);
        self.sketches =
            first.map(|document| std::mem::take(&mut self.sketches[document])).collect();
        Ok(())
    }

    fn next(
        &mut self,
        limit: usize,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Vec<Listed>, DedupError> {
        let mut lists = Vec::new();
        while lists.is_empty() && (self.listed as usize) < self.sketches.len() {
            let from = self.listed as usize;
            let batch = &self.sketches[from..self.sketches.len().min(from + BATCH_DOCUMENTS)];
            self.listed += batch.len() as u32;
            let known = self.sketched.len();
            let texts = (from as u32..).zip(batch).filter(|(_, sketch)| !sketch.is_none());
            let (numbers, sketches): (Vec<u32>, Vec<&MethodSketch>) = texts.unzip();
            self.sketched.extend(numbers);
            let found = self.sieve.take(&sketches, limit, threads, cancel)?;
            for (&text, mut found) in self.sketched[known..].iter().zip(found) {
                for candidate in &mut found.candidates {
                    candidate.number = self.sketched[candidate.number as usize];
                }
                if found.cut || !found.candidates.is_empty() {
                    lists.push(Listed { text, found });
                }
            }
        }
        Ok(lists)
    }

    fn bytes(&self) -> usize {
        self.sieve.bytes()
            + self.sketched.len() * size_of::<u32>()
            + self.sketches.len() * size_of::<MethodSketch>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_grow_as_the_documents_or_their_square_up_to_a_number_for_each() {
        let growing = Growing { beside: 1_200, apart: 120, most: 96 };
        assert_eq!(growing.bytes(), 1_320);
        assert_eq!(growing.grown(100, 100), 1_320);
        assert_eq!(growing.grown(300, 100), 3 * 1_200 + 9 * 120);
        assert_eq!(growing.grown(10_000, 100), 96 * 10_000);
        assert_eq!(Growing::default().grown(10, 0), 0);
    }
}
