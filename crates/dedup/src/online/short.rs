//! Short texts by edit distance: all that reach a similarity, without comparing with each.
//!
//! If a text of length L can be turned into another by D edits, and it is cut into D + 1 segments, one segment at least
//! is left whole, and it stands in the other text at most D places from where it stood. So the segments of every text are
//! listed by length of the text, number and content; a query looks its own substrings up near those places, for each
//! length that a similar text can have. What is found is compared; nothing is missed.
//!
//! How many edits a similarity allows follows from the longer of the two texts; a text is cut for the longest partner
//! that it can have. Texts that would be cut into more segments than they have characters are listed by length alone.
//!
//! Source: Li, Deng, Wang, Feng, "Pass-Join: a partition-based method for similarity joins", VLDB 2011.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};

use ahash::AHashMap;
use simhash_sketch::measure::edit_similarity_at_least;

/// Lists for one least similarity, good for every larger one.
#[derive(Debug)]
pub(super) struct ShortTexts {
    least: f64,
    /// Seeded anew in every process, so that no input can be crafted to meet in one list.
    hasher: RandomState,
    /// Hash of length, number and content -> ids, ascending. Hashes that collide add candidates and change no answer.
    lists: AHashMap<u64, Vec<u64>>,
    /// Number of texts of each length.
    lengths: BTreeMap<usize, usize>,
    listed: usize,
}

/// Most edits that leave the similarity of texts, the longer of which has `longer` characters, at `least`.
fn edits(longer: usize, least: f64) -> usize {
    #[expect(clippy::cast_sign_loss, reason = "a saturating cast, corrected below")]
    let mut edits = (((1.0 - least) * longer as f64) as usize).min(longer);
    let enough = |edits: usize| (longer - edits) as f64 / longer as f64 >= least;
    while edits < longer && enough(edits + 1) {
        edits += 1;
    }
    while edits > 0 && !enough(edits) {
        edits -= 1;
    }
    edits
}

/// Whether texts of these lengths can reach `least`.
fn can_reach(a: usize, b: usize, least: f64) -> bool {
    a.min(b) as f64 / a.max(b) as f64 >= least
}

/// Byte offsets of the characters, and the end.
fn offsets(text: &str) -> Vec<usize> {
    text.char_indices().map(|(at, _)| at).chain([text.len()]).collect()
}

impl ShortTexts {
    /// No texts; `least` above 0.
    pub(super) fn new(least: f64) -> Self {
        Self {
            least,
            hasher: RandomState::new(),
            lists: AHashMap::new(),
            lengths: BTreeMap::new(),
            listed: 0,
        }
    }

    /// The least similarity that [`ShortTexts::find`] can look for.
    pub(super) fn least(&self) -> f64 {
        self.least
    }

    /// Number of segments of a text of so many characters; `None`: it is not cut.
    fn segments(&self, length: usize) -> Option<usize> {
        #[expect(clippy::cast_sign_loss, reason = "a saturating cast, corrected below")]
        let mut longest = ((length as f64 / self.least) as usize).max(length);
        while can_reach(length, longest + 1, self.least) {
            longest += 1;
        }
        let segments = edits(longest, self.least).saturating_add(1);
        (segments <= length).then_some(segments)
    }

    fn hash(&self, length: usize, number: usize, content: &str) -> u64 {
        self.hasher.hash_one((length, number, content))
    }

    /// Calls `on_list` with the list of every segment.
    fn each_list(&self, text: &str, mut on_list: impl FnMut(u64)) {
        let offsets = offsets(text);
        let length = offsets.len() - 1;
        let Some(segments) = self.segments(length) else {
            return on_list(self.hash(length, usize::MAX, ""));
        };
        for number in 0..segments {
            let (from, till) = (number * length / segments, (number + 1) * length / segments);
            on_list(self.hash(length, number, &text[offsets[from]..offsets[till]]));
        }
    }

    /// Lists a text with an id larger than all before.
    pub(super) fn add(&mut self, id: u64, text: &str) {
        let mut hashes = Vec::new();
        self.each_list(text, |hash| hashes.push(hash));
        *self.lengths.entry(text.chars().count()).or_default() += 1;
        self.listed += hashes.len();
        for hash in hashes {
            self.lists.entry(hash).or_default().push(id);
        }
    }

    /// Forgets a text; nothing happens if it is not listed.
    pub(super) fn remove(&mut self, id: u64, text: &str) {
        let mut hashes = Vec::new();
        self.each_list(text, |hash| hashes.push(hash));
        let before = self.listed;
        for hash in hashes {
            let Some(ids) = self.lists.get_mut(&hash) else { continue };
            if let Ok(at) = ids.binary_search(&id) {
                ids.remove(at);
                self.listed -= 1;
            }
            if ids.is_empty() {
                self.lists.remove(&hash);
            }
        }
        let length = text.chars().count();
        if self.listed < before
            && let Some(count) = self.lengths.get_mut(&length)
        {
            *count -= 1;
            if *count == 0 {
                self.lengths.remove(&length);
            }
        }
    }

    /// Of the listed texts whose edit similarity is `least` or more the most similar by `measure`, where that has a value;
    /// ties to the lowest id. `text_of` gives the text of an id that is alive.
    pub(super) fn find<'a>(
        &self,
        text: &str,
        least: f64,
        text_of: impl Fn(u64) -> Option<&'a str>,
        mut measure: impl FnMut(&str) -> Option<f64>,
    ) -> Option<(u64, f64)> {
        let mut candidates = Vec::new();
        let offsets = offsets(text);
        let own = offsets.len() - 1;
        for &length in self.lengths.keys().filter(|&&length| can_reach(own, length, least)) {
            let most = edits(own.max(length), least);
            let mut look = |hash| {
                candidates.extend(self.lists.get(&hash).into_iter().flatten().copied());
            };
            let Some(segments) = self.segments(length) else {
                look(self.hash(length, usize::MAX, ""));
                continue;
            };
            for number in 0..segments {
                let (from, till) = (number * length / segments, (number + 1) * length / segments);
                let Some(last) = own.checked_sub(till - from) else { continue };
                for start in from.saturating_sub(most)..=last.min(from + most) {
                    let end = start + till - from;
                    look(self.hash(length, number, &text[offsets[start]..offsets[end]]));
                }
            }
        }
        candidates.sort_unstable();
        candidates.dedup();
        let mut best: Option<(u64, f64)> = None;
        for id in candidates {
            let Some(other) = text_of(id) else { continue };
            if edit_similarity_at_least(text, other, least).is_some()
                && let Some(similarity) = measure(other)
                && best.is_none_or(|(_, best)| similarity > best)
            {
                best = Some((id, similarity));
            }
        }
        best
    }

    /// Bytes held; the spare room of lists is estimated as their size.
    pub(super) fn bytes(&self) -> usize {
        self.listed * 16 + self.lists.capacity() * (size_of::<(u64, Vec<u64>)>() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::ShortTexts;
    use proptest::prelude::*;
    use simhash_sketch::measure::edit_similarity;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn the_most_similar_text_is_found_at_every_threshold(
            texts in prop::collection::vec("[ab中文]{1,12}", 1..40),
            queries in prop::collection::vec("[ab中文]{1,14}", 1..20),
            built in 0.05..=1.0,
            above in 0.0..=1.0,
            gone in prop::collection::vec(any::<bool>(), 40),
        ) {
            let least = built + (1.0 - built) * above;
            let mut short = ShortTexts::new(built);
            for (id, text) in (0..).zip(&texts) {
                short.add(id, text);
            }
            for (id, text) in (0..).zip(&texts).filter(|(id, _)| gone[*id as usize]) {
                short.remove(id, text);
            }
            // Each text twice over: the hardest threshold for a query is the similarity itself.
            for query in queries.iter().chain(&texts) {
                let all = (0..).zip(&texts).filter(|(id, _)| !gone[*id as usize]);
                let mut near: Vec<(u64, f64)> =
                    all.map(|(id, text)| (id, edit_similarity(query, text))).collect();
                near.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
                let best = near.first().copied();
                for least in [Some(least), best.map(|(_, similarity)| similarity.max(built))] {
                    let Some(least) = least else { continue };
                    let expected = best.filter(|(_, similarity)| *similarity >= least);
                    let text_of = |id| texts.get(id as usize).map(String::as_str);
                    let by_edits = |other: &str| Some(edit_similarity(query, other));
                    let found = short.find(query, least, text_of, by_edits);
                    prop_assert_eq!(found, expected);
                }
            }
        }
    }
}
