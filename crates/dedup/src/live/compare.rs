//! Candidates to matches: each is compared on the texts, where they are at hand.

use std::cell::OnceCell;
use std::sync::atomic::{AtomicBool, Ordering};

use simhash_index::{Answer, Writer};
use simhash_sketch::{Features, Fingerprinter};

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
    /// Its features, where they are at hand.
    features: Option<&'a Features>,
    /// Made for the first text that is another one: most duplicates are copies, and many candidates have no text.
    evidence: OnceCell<Evidence>,
    verify: Verify,
    by: &'a Fingerprinter,
}

impl<'a> Compared<'a> {
    /// Of a document; `None` if it has no text.
    fn new(document: &'a Document, verify: Verify, by: &'a Fingerprinter) -> Option<Self> {
        let (text, features) = (document.text.as_deref()?, document.features.as_ref());
        Some(Self { text, features, evidence: OnceCell::new(), verify, by })
    }

    /// The similarity to another normalised text where it is at least `least`. Texts that are equal have 1.
    fn similarity(&self, other: &str, least: f64) -> Option<f64> {
        if self.text == other {
            return (!other.is_empty()).then_some(1.0);
        }
        let measure = self.verify.measure;
        let made = || Evidence::new(self.text, self.features.cloned(), measure, self.by);
        self.evidence.get_or_init(made).similarity_to(other, measure, least, self.by)
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

/// A candidate, and the group of those with its text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    /// The lowest id of the group.
    first: u64,
    /// Its place in the order of the method.
    rank: usize,
    near: Near,
}

/// How many times more candidates than are compared are read, at most, where most of them are copies.
const FURTHER: usize = 64;

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
        let answer = self.look_up(document, search)?;
        self.count_truncated(answer.truncated);
        Ok(answer)
    }

    /// [`Engine::search`], not counted.
    pub(super) fn look_up(
        &self,
        document: &Document,
        search: &Search,
    ) -> Result<Answer<Near>, DedupError> {
        let item = Self::item(document)?;
        let limit = search.limit.unwrap_or(usize::MAX);
        if document.item.is_exact() || self.verify_of(search).is_none() {
            let how = K::candidates(&self.index, search, limit, None);
            return self.as_they_are(document, &self.index.look(item, how)?, limit);
        }
        if self.is_alone(document) {
            let how = K::candidates(&self.index, search, self.max_verifications, Some(1));
            return Ok(self.estimated(&self.index.look(item, how)?, search, limit));
        }
        let (rows, cut) =
            self.candidates(document, search, false, |how| Ok(self.index.look(item, how)?))?;
        let mut answer = self.compare(document, &rows, search);
        answer.truncated = cut || answer.matches.len() > limit;
        answer.matches.truncate(limit);
        Ok(answer)
    }

    /// Whether nothing can be compared with a document: it came without its text, and no others are stored. What the index of the
    /// method finds is then all that is known.
    pub(super) fn is_alone(&self, document: &Document) -> bool {
        let has_text = document.text.is_some() || document.item.is_exact();
        !has_text && self.stored.longest_text.is_none()
    }

    /// What [`Engine::compare`] makes of the candidates of a document that is alone.
    fn estimated(&self, found: &Answer<K::Match>, search: &Search, limit: usize) -> Answer<Near> {
        let least = self.verify_of(search).map_or(0.0, |verify| verify.least);
        let near = found.matches.iter().map(K::unverified);
        let is_near = |near: &Near| near.similarity.is_none_or(|similarity| similarity >= least);
        let mut matches: Vec<Near> = near.filter(is_near).collect();
        let truncated = found.truncated || matches.len() > limit;
        matches.truncate(limit);
        Answer { matches, truncated }
    }

    pub(super) fn count_truncated(&self, truncated: bool) {
        if truncated {
            self.truncated.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Candidates that count without a comparison, at most so many. Those of which it is known that their texts are equal come
    /// first.
    pub(super) fn as_they_are(
        &self,
        document: &Document,
        found: &Answer<K::Match>,
        limit: usize,
    ) -> Result<Answer<Near>, DedupError> {
        let mut truncated = found.truncated;
        let mut matches: Vec<Near> = found.matches.iter().map(K::unverified).collect();
        let is_equal = self.equal_to(document);
        matches.iter_mut().filter(|near| is_equal(near.id)).for_each(equal);
        let first = matches.first().copied();
        if let Some(near) = self.equal_text(document, first)?
            && matches.iter().all(|other| other.id != near.id)
        {
            truncated |= matches.len() >= limit;
            matches.insert(0, near);
        }
        // Stable: the others stay in the order of the method.
        matches.sort_by_key(|near| if near.verified { (false, near.id) } else { (true, 0) });
        matches.truncate(limit);
        Ok(Answer { matches, truncated })
    }

    /// Tells of a candidate whether its text is known to be that of a document.
    fn equal_to<'a>(&'a self, document: &Document) -> impl Fn(u64) -> bool + use<'a, K> {
        let is_exact = document.item.is_exact();
        let has_text = document.text.is_some() && self.stored.longest_text.is_some();
        let exact = document.exact;
        move |id| {
            let is_copy = |store: &Store| store.tag(id) == Some(store.tag_of(exact));
            is_exact || (has_text && is_copy(&self.store.read()))
        }
    }

    pub(super) fn search_many(
        &self,
        documents: &[Document],
        how: &Search,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Vec<Answer<Near>>, DedupError> {
        let limit = how.limit.unwrap_or(usize::MAX);
        if self.verify_of(how).is_none() {
            let search = K::candidates(&self.index, how, limit, None);
            let found =
                self.index.search_many(&Self::items(documents)?, search, threads, cancel)?;
            let each = documents.iter().zip(found);
            return each
                .map(|(document, found)| self.as_they_are(document, &found, limit))
                .collect();
        }
        if documents.iter().all(|document| self.is_alone(document)) {
            let search = K::candidates(&self.index, how, self.max_verifications, Some(1));
            let found = self.index.look_many(&Self::items(documents)?, search, threads, cancel)?;
            let answer = |found| {
                let answer = self.estimated(&found, how, limit);
                self.count_truncated(answer.truncated);
                answer
            };
            return Ok(found.into_iter().map(answer).collect());
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

    /// The candidates that are matches; those of one text are compared once.
    pub(super) fn compare(
        &self,
        document: &Document,
        rows: &[Row],
        search: &Search,
    ) -> Answer<Near> {
        let verify = self.verify_of(search).unwrap_or(Verify { least: 0.0, ..Verify::default() });
        let mut reading = self.reading(document, verify);
        let mut matches = Vec::new();
        for group in rows.chunk_by(|a, b| a.first == b.first) {
            for (at, row) in group.iter().enumerate() {
                let look = self.look(&mut reading, row.near, verify.least, &|_| Texts::None);
                if let Look::Match(near) = look {
                    let Near { similarity, verified, .. } = near;
                    let all = group[at..].iter();
                    matches.extend(
                        all.map(|row| (row.rank, Near { similarity, verified, ..row.near })),
                    );
                } else if !self.index.has(row.near.id) {
                    // It has left meanwhile; a copy may not have.
                    continue;
                }
                break;
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

    /// The match that an addition is judged by where nothing is compared: one with an equal text, else the nearest by the
    /// method. And whether a limit cut the look.
    pub(super) fn nearest(
        &self,
        writer: &Writer<'_, K>,
        document: &Document,
    ) -> Result<(Option<Near>, bool), DedupError> {
        let item = Self::item(document)?;
        let (best, truncated) = writer.nearest(item)?;
        let best = best.as_ref().map(K::unverified);
        Ok((self.equal_text(document, best)?.or(best), truncated))
    }

    /// A live document of which it is known that its text is that of another one, where nothing is compared and `best` is the
    /// nearest by the method.
    fn equal_text(
        &self,
        document: &Document,
        best: Option<Near>,
    ) -> Result<Option<Near>, DedupError> {
        let (item, is_equal) = (Self::item(document)?, self.equal_to(document));
        let whole = |id| K::equal_measure(&self.index, id, item);
        let mut found = best.filter(|near| is_equal(near.id));
        if K::MISSES_EQUAL && !document.item.is_exact() {
            let first = self.first_equal(document);
            found = first.map(|id| Near { measure: whole(id), ..unknown(id) });
        } else if let Some(near) = best
            && found.is_none()
            && document.text.is_some()
            && near.measure == whole(near.id)
        {
            // Others may be as near.
            let how = K::candidates(&self.index, &Search::default(), self.max_verifications, None);
            let all = self.index.look(item, how)?.matches;
            found = all.iter().map(K::unverified).find(|near| is_equal(near.id));
        }
        Ok(found.map(|mut near| {
            equal(&mut near);
            near
        }))
    }

    /// The match that an addition is judged by: the most similar one, ties to the lowest id; where none is verified the first
    /// in the order of the method. And whether a limit cut the candidates; or the ids of those whose texts must be asked for.
    /// `without` is not looked at.
    pub(super) fn best<'a>(
        &self,
        document: &Document,
        verify: Verify,
        without: Option<u64>,
        texts: &dyn Fn(u64) -> Texts<'a>,
    ) -> Result<Best, DedupError> {
        let item = Self::item(document)?;
        if document.item.is_exact() {
            let how = K::candidates(&self.index, &Search::default(), 1, None);
            let found = self.index.look(item, how)?;
            let best = found.matches.first().map(|found| {
                let mut near = K::unverified(found);
                equal(&mut near);
                near
            });
            return Ok(Best::Found(best, false));
        }
        let look = |how| Ok(self.index.look(item, how)?);
        let (mut rows, truncated) = self.candidates(document, &Search::default(), true, look)?;
        if without.is_some() {
            rows.retain(|row| Some(row.near.id) != without);
        }
        if rows.is_empty() {
            return Ok(Best::Found(None, truncated));
        }
        let mut reading = self.reading(document, verify);
        let mut missing = Vec::new();
        let (mut best, mut unverified): (Option<Near>, Option<(usize, Near)>) = (None, None);
        for Row { rank, near, .. } in rows.chunk_by(|a, b| a.first == b.first).map(|group| group[0])
        {
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

    /// The first live document whose stored text is that of another one.
    fn first_equal(&self, document: &Document) -> Option<u64> {
        document.text.as_ref()?;
        self.store.read().equal(document.exact).find(|&id| self.index.has(id))
    }

    /// Candidates, as many texts as are compared, and stored texts that are equal though their sketches may not be; by the
    /// first id of the text, then by id, so that texts that lie together are read together. Whether a limit cut them.
    ///
    /// The limits of the method count documents. Where most of those that it has found are copies of others, it is asked for
    /// more: copies do not take the places of other texts. Not where it has found an equal text that `settles` the question:
    /// many copies, each of which is checked, would cost the square of their number.
    pub(super) fn candidates(
        &self,
        document: &Document,
        search: &Search,
        settles: bool,
        look: impl Fn(K::Search) -> Result<Answer<K::Match>, DedupError>,
    ) -> Result<(Vec<Row>, bool), DedupError> {
        let (most, is_equal) = (self.max_verifications, self.equal_to(document));
        let mut times = 1;
        loop {
            let limit = most.saturating_mul(times);
            let answer = look(K::candidates(&self.index, search, limit, Some(times)))?;
            let mut found: Vec<Near> = answer.matches.iter().map(K::unverified).collect();
            let read = found.len();
            if K::MISSES_EQUAL
                && let Some(id) = self.first_equal(document)
                && found.iter().all(|near| near.id != id)
            {
                // It stands for the others.
                found.push(unknown(id));
            }
            let (mut rows, texts) = self.by_text(found);
            let is_crowded = answer.truncated && texts < most && texts * 2 < read;
            let is_settled = || settles && rows.iter().any(|row| is_equal(row.near.id));
            if is_crowded && times < FURTHER && !is_settled() {
                times *= 8;
                continue;
            }
            if texts > most {
                keep_best(&mut rows, most);
            }
            return Ok((rows, answer.truncated || texts > most));
        }
    }

    /// Candidates by the first id of their text, then by id; and how many texts they have.
    fn by_text(&self, found: Vec<Near>) -> (Vec<Row>, usize) {
        let all = found.into_iter().enumerate();
        let mut rows: Vec<Row> =
            all.map(|(rank, near)| Row { first: near.id, rank, near }).collect();
        let mut copies = 0;
        if rows.len() > 1 && self.stored.longest_text.is_some() {
            let mut tagged: Vec<(u64, u64, usize)> = {
                let store = self.store.read();
                let each = rows.iter().enumerate();
                each.filter_map(|(at, row)| Some((store.tag(row.near.id)?, row.near.id, at)))
                    .collect()
            };
            tagged.sort_unstable();
            for group in tagged.chunk_by(|a, b| a.0 == b.0) {
                copies += group.len() - 1;
                for &(_, _, at) in group {
                    rows[at].first = group[0].1;
                }
            }
        }
        rows.sort_unstable_by_key(|row| (row.first, row.near.id));
        let texts = rows.len() - copies;
        (rows, texts)
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

/// Of these texts only so many, the best in the order of the method.
fn keep_best(rows: &mut Vec<Row>, most: usize) {
    let groups = rows.chunk_by(|a, b| a.first == b.first);
    let mut ranks: Vec<usize> =
        groups.filter_map(|group| group.iter().map(|row| row.rank).min()).collect();
    let (_, &mut last, _) = ranks.select_nth_unstable(most - 1);
    let kept: Vec<Row> = rows
        .chunk_by(|a, b| a.first == b.first)
        .filter(|group| group.iter().any(|row| row.rank <= last))
        .flatten()
        .copied()
        .collect();
    *rows = kept;
}

/// One of which the method says nothing.
fn unknown(id: u64) -> Near {
    Near { id, similarity: None, verified: false, measure: 0 }
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
