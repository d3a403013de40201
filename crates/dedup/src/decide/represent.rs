//! Clusters around a kept document: those kept before the batch are compared in parallel, then one choice after the other.

use super::side::Side;
use super::taken::ALONE;
use super::{Decider, Document, Edge, Outcome, Texts, Verdict};
use crate::error::DedupError;
use crate::method::Candidate;
use crate::parallel;
use ahash::AHashMap;
use simhash_sketch::{Material, Scratch};
use std::sync::atomic::AtomicBool;

/// What became of the texts.
///
/// Memory: 4 bytes per text, 16 per text that is a duplicate, 8 per candidate in `pending`, and 40 per text that has some.
#[derive(Default)]
pub(super) struct Representatives {
    /// By text: its number among those kept, or, with the highest bit, its place in `duplicates`.
    status: Vec<u32>,
    /// Of texts that are not: the best original so far.
    duplicates: Vec<Edge>,
    /// How many are kept.
    kept: u32,
    /// Of texts that are duplicates: the texts kept since to whose candidates they belong, not compared with them yet.
    pending: AHashMap<u32, Vec<Candidate>>,
    /// Candidates in `pending`.
    waiting: usize,
}

const UNDECIDED: u32 = u32::MAX;
const DUPLICATE: u32 = 1 << 31;

impl Representatives {
    /// The number of a text among those kept.
    fn kept(&self, text: u32) -> Option<u32> {
        self.status.get(text as usize).copied().filter(|&status| status < DUPLICATE)
    }

    /// The original of a text that is a duplicate.
    fn original(&self, text: u32) -> Option<Edge> {
        let status = self.status.get(text as usize).copied();
        let status = status.filter(|&status| (DUPLICATE..UNDECIDED).contains(&status))?;
        Some(self.duplicates[(status - DUPLICATE) as usize])
    }

    fn set(&mut self, text: u32, status: u32) {
        let len = self.status.len().max(text as usize + 1);
        self.status.resize(len, UNDECIDED);
        self.status[text as usize] = status;
    }

    fn keep(&mut self, text: u32) -> Result<(), DedupError> {
        if self.kept == DUPLICATE {
            return Err(DedupError::TooMany);
        }
        self.set(text, self.kept);
        self.kept += 1;
        Ok(())
    }

    /// Remembers a duplicate, compared with all its neighbours that are kept by now.
    fn remember(&mut self, text: u32, original: Edge) -> Result<(), DedupError> {
        let status = self.status.get(text as usize).copied().unwrap_or(UNDECIDED);
        if status == UNDECIDED {
            let place = self.duplicates.len() as u32;
            self.duplicates.push(original);
            let status = DUPLICATE.checked_add(place).filter(|&status| status < UNDECIDED);
            self.set(text, status.ok_or(DedupError::TooMany)?);
        } else {
            self.duplicates[(status - DUPLICATE) as usize] = original;
        }
        Ok(())
    }

    fn wait(&mut self, text: u32, kept: Candidate) {
        self.pending.entry(text).or_default().push(kept);
        self.waiting += 1;
    }

    fn take_pending(&mut self, text: u32) -> Vec<Candidate> {
        let pending = self.pending.remove(&text).unwrap_or_default();
        self.waiting -= pending.len();
        pending
    }

    pub(super) fn bytes(&self) -> usize {
        self.status.len() * size_of::<u32>()
            + self.duplicates.len() * size_of::<Edge>()
            + self.pending.len() * 40
            + self.waiting * size_of::<Candidate>()
    }
}

/// A text of a batch that is not kept yet.
struct Case {
    text: u32,
    /// The first document of the batch that has it.
    document: usize,
    /// Neighbours kept before the batch that it has not been compared with.
    older: Vec<Candidate>,
    /// Neighbours among the cases, by place; the rank is that of the pair.
    within: Vec<Candidate>,
    /// Those of them that were kept since it was last compared.
    fresh: Vec<Candidate>,
    /// Of it.
    material: Material,
    /// It as a side of comparisons, where there is anything to compare it with.
    side: Side,
    original: Option<Edge>,
}

impl Decider {
    /// Takes a batch in and decides it; at most [`BATCH_DOCUMENTS`](super::BATCH_DOCUMENTS), more is correct, only
    /// slower. `kept` has the texts of the documents kept so far, by number.
    ///
    /// # Errors
    /// After an error the state lies in the middle of the batch.
    pub(crate) fn represent(
        &mut self,
        documents: &mut [Document<'_>],
        kept: &dyn Texts,
        cancel: &AtomicBool,
    ) -> Result<Vec<Verdict>, DedupError> {
        let numbers = self.take(documents, cancel)?;
        let mut places = AHashMap::with_capacity(numbers.len());
        let mut cases = self.cases(documents, &numbers, &mut places);
        self.compare(&mut cases, documents, kept, cancel)?;
        let mut verdicts = Vec::with_capacity(numbers.len());
        for text in numbers {
            parallel::check(cancel)?;
            let outcome = if text == ALONE {
                Outcome::New { empty: true }
            } else if let Some(of) = self.representatives.kept(text) {
                Outcome::Duplicate { of, relation: self.comparer.equal_relation() }
            } else {
                self.choose(&mut cases, places[&text], &places)?
            };
            verdicts.push(Verdict { text, outcome, truncated: self.is_truncated(text) });
        }
        for case in &cases {
            let Some(original) = case.original else { continue };
            self.representatives.remember(case.text, original)?;
            for &Candidate { number: place, rank } in &case.fresh {
                let kept = Candidate { number: cases[place as usize].text, rank };
                self.representatives.wait(case.text, kept);
            }
        }
        Ok(verdicts)
    }

    /// The different texts that are not kept yet, with their neighbours. `places` gets their places.
    fn cases(
        &mut self,
        documents: &mut [Document<'_>],
        numbers: &[u32],
        places: &mut AHashMap<u32, usize>,
    ) -> Vec<Case> {
        let Self { taken, representatives, .. } = self;
        let mut cases: Vec<Case> = Vec::new();
        for (document, &text) in numbers.iter().enumerate() {
            if text == ALONE || representatives.kept(text).is_some() || places.contains_key(&text) {
                continue;
            }
            places.insert(text, cases.len());
            let original = representatives.original(text);
            let is_kept = |other: &&Candidate| representatives.kept(other.number).is_some();
            let mut older: Vec<Candidate> =
                taken.lists.get(text).iter().filter(is_kept).copied().collect();
            older.extend(representatives.take_pending(text));
            let material = std::mem::take(&mut documents[document].prepared.material);
            let (within, fresh, side) = Default::default();
            cases.push(Case { text, document, older, within, fresh, material, side, original });
        }
        for place in 0..cases.len() {
            for &Candidate { number, rank } in taken.lists.get(cases[place].text) {
                let Some(&other) = places.get(&number) else { continue };
                // A duplicate stays one: two of them will never be compared.
                if cases[place].original.is_none() || cases[other].original.is_none() {
                    cases[place].within.push(Candidate { number: other as u32, rank });
                    cases[other].within.push(Candidate { number: place as u32, rank });
                }
            }
        }
        cases
    }

    /// Compares each case with its neighbours kept before the batch, and gathers what comparing within it will need.
    fn compare(
        &self,
        cases: &mut [Case],
        documents: &[Document<'_>],
        kept: &dyn Texts,
        cancel: &AtomicBool,
    ) -> Result<(), DedupError> {
        if !self.comparer.verifies() {
            for case in cases {
                for text in std::mem::take(&mut case.older) {
                    self.consider(&mut case.original, Edge { text, similarity: 0.0 });
                }
            }
            return Ok(());
        }
        let threads = self.options.threads;
        parallel::for_each(cases, threads, cancel, Scratch::default, |scratch, case| {
            if case.older.is_empty() && case.within.is_empty() {
                return Ok(());
            }
            let material = std::mem::take(&mut case.material);
            let text = documents[case.document].text;
            case.side = Side::prepared(text, material);
            for text in std::mem::take(&mut case.older) {
                // Nothing below the best so far can replace it.
                let least = case.original.map(|best| best.similarity);
                let Some(number) = self.representatives.kept(text.number) else { continue };
                let own = &case.side;
                let found = self.comparer.similarity_to(own, number, least, kept, scratch)?;
                if let Some(similarity) = found {
                    self.consider(&mut case.original, Edge { text, similarity });
                }
            }
            if case.original.is_none() && !case.within.is_empty() {
                // The choice that follows is made on one thread.
                self.comparer.make(&case.side);
            }
            Ok(())
        })
    }

    fn consider(&self, best: &mut Option<Edge>, found: Edge) {
        let verified = self.comparer.verifier.is_some();
        if best.is_none_or(|best| found.order(&best, verified).is_lt()) {
            *best = Some(found);
        }
    }

    /// Decides the next document of a text that is not kept.
    fn choose(
        &mut self,
        cases: &mut [Case],
        place: usize,
        places: &AHashMap<u32, usize>,
    ) -> Result<Outcome, DedupError> {
        for Candidate { number: other, rank } in std::mem::take(&mut cases[place].fresh) {
            let (case, other) = (&cases[place], &cases[other as usize]);
            let text = Candidate { number: other.text, rank };
            let least = case.original.map(|best| best.similarity);
            let similarity = self.comparer.similarity_of_sides(&case.side, &other.side, least);
            if let Some(similarity) = similarity {
                self.consider(&mut cases[place].original, Edge { text, similarity });
            }
        }
        let text = cases[place].text;
        if let Some(edge) = cases[place].original {
            let of = self.representatives.kept(edge.text.number).unwrap_or_default();
            return Ok(Outcome::Duplicate { of, relation: self.comparer.relation_of(&edge) });
        }
        self.representatives.keep(text)?;
        // Everybody near it is to be compared with it: those of the batch by place, the others when one of them comes.
        for Candidate { number: other, rank } in std::mem::take(&mut cases[place].within) {
            let near = Candidate { number: place as u32, rank };
            let other = &mut cases[other as usize];
            if self.representatives.kept(other.text).is_none() {
                other.fresh.push(near);
            }
        }
        for &Candidate { number, rank } in self.taken.lists.get(text) {
            if self.representatives.kept(number).is_none() && !places.contains_key(&number) {
                self.representatives.wait(number, Candidate { number: text, rank });
            }
        }
        Ok(Outcome::New { empty: false })
    }
}
