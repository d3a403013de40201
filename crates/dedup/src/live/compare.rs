//! Candidates to matches: each is compared on the texts, where they are at hand.

use std::sync::atomic::{AtomicBool, Ordering};

use simhash_index::Answer;
use simhash_sketch::Fingerprinter;

use super::document::{Document, Near, Search, Sketch, Texts};
use super::engine::Engine;
use super::kind::Method;
use super::options::Verify;
use super::store::Store;
use super::texts::Unpacked;
use crate::error::DedupError;
use crate::parallel;
use crate::verify::Evidence;

/// A text that is compared with others.
struct Compared<'a> {
    text: &'a str,
    evidence: Evidence,
    verify: Verify,
    by: &'a Fingerprinter,
}

impl<'a> Compared<'a> {
    /// Of a document; `None` if it has no text.
    fn new(document: &'a Document, verify: Verify, by: &'a Fingerprinter) -> Option<Self> {
        let text = document.text.as_deref()?;
        let evidence = Evidence::new(text, document.features.clone(), verify.measure, by);
        Some(Self { text, evidence, verify, by })
    }

    /// The similarity to another normalised text where it is at least `least`. Texts that are equal have 1.
    fn similarity(&self, other: &str, least: f64) -> Option<f64> {
        if self.text == other {
            return (!other.is_empty()).then_some(1.0);
        }
        let measure = self.verify.measure;
        if self.evidence.excludes(other, measure, least) {
            return None;
        }
        self.evidence.similarity(&Evidence::new(other, None, measure, self.by), measure, least)
    }
}

/// The end of a look for the match that an addition is judged by.
pub(super) enum Best {
    /// It, and whether a limit cut the candidates.
    Found(Option<Near>, bool),
    /// Texts of these must be asked for.
    Missing(Vec<u64>),
}

/// A candidate after a look at its text.
enum Look {
    /// It counts.
    Match(Near),
    /// Too little in common.
    Other,
    /// Its text must be asked for.
    Ask,
}

impl<K: Method> Engine<K> {
    /// The verification of a search; `None`: its candidates come as they are.
    pub(super) fn verify_of(&self, search: &Search) -> Option<Verify> {
        let verify = self.verify.filter(|_| search.verified)?;
        Some(Verify { least: search.min_similarity.unwrap_or(verify.least), ..verify })
            .filter(|verify| verify.least > 0.0)
    }

    /// All matches: those that are verified by similarity, then the others in the order of the method, then by id.
    pub(super) fn search(
        &self,
        document: &Document,
        search: &Search,
    ) -> Result<Answer<Near>, DedupError> {
        let limit = search.limit.unwrap_or(usize::MAX);
        if document.item.is_exact() || self.verify_of(search).is_none() {
            let (mut matches, truncated) = self.candidates(document, search, limit, false)?;
            if document.item.is_exact() {
                matches.iter_mut().for_each(equal);
            }
            return Ok(Answer { matches, truncated });
        }
        let (found, cut) = self.candidates(document, search, self.max_verifications, true)?;
        let mut answer = self.compare(document, found, search);
        answer.truncated = cut || answer.matches.len() > limit;
        // What the method has cut it has counted.
        let by_limit = !cut && answer.truncated;
        answer.matches.truncate(limit);
        if by_limit {
            self.truncated.fetch_add(1, Ordering::Relaxed);
        }
        Ok(answer)
    }

    pub(super) fn search_many(
        &self,
        documents: &[Document],
        how: &Search,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Vec<Answer<Near>>, DedupError> {
        if self.verify_of(how).is_none() {
            let limit = how.limit.unwrap_or(usize::MAX);
            let search = K::candidates(&self.index, how, limit, false);
            let found =
                self.index.search_many(&Self::items(documents)?, search, threads, cancel)?;
            let each = documents.iter().zip(found).map(|(document, answer)| {
                let mut matches: Vec<Near> = answer.matches.iter().map(K::unverified).collect();
                if document.item.is_exact() {
                    matches.iter_mut().for_each(equal);
                }
                Answer { matches, truncated: answer.truncated }
            });
            return Ok(each.collect());
        }
        let mut slots: Vec<_> =
            documents.iter().map(|document| (document, Answer::default())).collect();
        parallel::for_each(
            &mut slots,
            threads,
            cancel,
            || (),
            |(), (document, answer)| {
                *answer = self.search(document, how)?;
                Ok(())
            },
        )?;
        Ok(slots.into_iter().map(|(_, answer)| answer).collect())
    }

    /// The candidates that are matches.
    pub(super) fn compare(
        &self,
        document: &Document,
        found: Vec<Near>,
        search: &Search,
    ) -> Answer<Near> {
        let verify = self.verify_of(search).unwrap_or(Verify { least: 0.0, ..Verify::default() });
        let all = self.with_equal(document, found);
        let mut reading = self.reading(document, verify);
        let mut matches = Vec::new();
        for (rank, near) in all {
            let look = self.look(&mut reading, near, verify.least, &|_| Texts::None);
            if let Look::Match(near) = look {
                matches.push((rank, near));
            }
        }
        // What is not verified stays in the order of the method.
        let similarity = |near: &Near| near.similarity.filter(|_| near.verified).unwrap_or(-1.0);
        matches.sort_by(|(a_rank, a), (b_rank, b)| {
            let order = similarity(b).total_cmp(&similarity(a));
            order.then(if a.verified { a.id.cmp(&b.id) } else { a_rank.cmp(b_rank) })
        });
        let matches = matches.into_iter().map(|(_, near)| near).collect();
        Answer { matches, truncated: false }
    }

    /// The match that an addition is judged by: the most similar one, ties to the lowest id; where none is verified the first
    /// in the order of the method. And whether a limit cut the candidates; or the ids of those whose texts must be asked for.
    pub(super) fn best<'a>(
        &self,
        document: &Document,
        verify: Verify,
        texts: &dyn Fn(u64) -> Texts<'a>,
    ) -> Result<Best, DedupError> {
        let is_exact = document.item.is_exact();
        let limit = if is_exact { 1 } else { self.max_verifications };
        let (found, truncated) = self.candidates(document, &Search::default(), limit, !is_exact)?;
        if is_exact {
            let best = found.into_iter().next().map(|mut near| {
                equal(&mut near);
                near
            });
            return Ok(Best::Found(best, false));
        }
        let all = self.with_equal(document, found);
        if all.is_empty() {
            return Ok(Best::Found(None, truncated));
        }
        let mut reading = self.reading(document, verify);
        let mut missing = Vec::new();
        let (mut best, mut unverified): (Option<Near>, Option<(usize, Near)>) = (None, None);
        for (rank, near) in all {
            // Nothing below the best so far can replace it.
            let least = best.and_then(|best| best.similarity).unwrap_or(verify.least);
            match self.look(&mut reading, near, least, texts) {
                Look::Ask => missing.push(near.id),
                Look::Other => {}
                Look::Match(near) if !near.verified => {
                    if unverified.is_none_or(|(other, _)| rank < other) {
                        unverified = Some((rank, near));
                    }
                }
                Look::Match(near) => {
                    let beats = |best: Near| {
                        best.similarity.partial_cmp(&near.similarity).is_some_and(|order| {
                            order.is_lt() || (order.is_eq() && near.id < best.id)
                        })
                    };
                    if best.is_none_or(beats) {
                        best = Some(near);
                    }
                    // Nobody is more similar, and those that follow came later.
                    if near.similarity == Some(1.0) && missing.is_empty() {
                        break;
                    }
                }
            }
        }
        if !missing.is_empty() {
            return Ok(Best::Missing(missing));
        }
        Ok(Best::Found(best.or(unverified.map(|(_, near)| near)), truncated))
    }

    /// Candidates with their places in the order of the method, and stored texts that are equal though their sketches may not
    /// be; by id, so that texts that lie together are read together.
    fn with_equal(&self, document: &Document, mut found: Vec<Near>) -> Vec<(usize, Near)> {
        if let Some(text) = document.text.as_deref().filter(|_| K::MISSES_EQUAL) {
            let first = self.store.read().equal(text).find(|&id| self.index.has(id));
            // It stands for the others.
            if let Some(id) = first
                && found.iter().all(|near| near.id != id)
            {
                found.push(Near { id, similarity: None, verified: false, measure: 0 });
            }
        }
        let mut all: Vec<(usize, Near)> = found.into_iter().enumerate().collect();
        all.sort_unstable_by_key(|(_, near)| near.id);
        all
    }

    fn reading<'a>(&'a self, document: &'a Document, verify: Verify) -> Reading<'a> {
        let compared = Compared::new(document, verify, self.preparer.fingerprinter());
        Reading { document, compared, unpacked: Unpacked::default(), text: String::new() }
    }

    fn look<'a>(
        &self,
        reading: &mut Reading<'_>,
        near: Near,
        least: f64,
        texts: &dyn Fn(u64) -> Texts<'a>,
    ) -> Look {
        let Reading { document, compared, unpacked, text } = reading;
        let unverified = || match estimate(document, near, &self.store.read()) {
            Some(similarity) if similarity < least => Look::Other,
            similarity => Look::Match(Near { similarity, ..near }),
        };
        let Some(compared) = compared else { return unverified() };
        // Copied: nobody waits for the comparison.
        let is_stored = self.store.read().copy_text(near.id, unpacked, text);
        let stored = is_stored.then_some(text.as_str());
        let other = match stored.map_or_else(|| texts(near.id), Texts::Known) {
            Texts::Known(other) => other,
            // It may have left since it was found, and its text with it.
            Texts::None if !self.index.has(near.id) => return Look::Other,
            Texts::None => return unverified(),
            Texts::Ask => return Look::Ask,
        };
        match compared.similarity(other, least) {
            Some(similarity) => {
                Look::Match(Near { similarity: Some(similarity), verified: true, ..near })
            }
            None => Look::Other,
        }
    }
}

/// A document that is compared, and the texts that it is compared with.
struct Reading<'a> {
    document: &'a Document,
    compared: Option<Compared<'a>>,
    unpacked: Unpacked,
    /// The other text.
    text: String,
}

/// What is near a text as a whole is equal to it.
fn equal(near: &mut Near) {
    near.similarity = Some(1.0);
    near.verified = true;
}

/// The similarity by signatures, where the kind keeps them or the text was too long to be stored.
fn estimate(document: &Document, near: Near, store: &Store) -> Option<f64> {
    near.similarity.or_else(|| {
        let Sketch::MinHash(own) = &document.item else { return None };
        let other = store.long(near.id)?;
        let equal = own.iter().zip(other).filter(|(a, b)| a == b).count();
        Some(equal as f64 / other.len() as f64)
    })
}
