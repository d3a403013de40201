//! A long text that others are compared with by where they differ from it.

use crate::differences::{Difference, differences};
use crate::measure::ratio;
use crate::{Fingerprinter, Numbers, Shingles};
use simhash_text::Features;
use std::ops::Range;

/// Beside the sets of a long text what it takes to tell how much of them another text has, without cutting all of that: the text, and
/// which members it has more than once.
///
/// Features of what both texts have in common are those of the one that is known. A feature of a passage that differs is gone from the other
/// text if it occurs in such passages only, and new in it if it occurs nowhere else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    text: Box<str>,
    /// Features that occur more than once, by ascending hash, each with its number of occurrences.
    features: Vec<(u64, u32)>,
    /// The same of the long shingles.
    long: Vec<(u64, u32)>,
}

impl Reference {
    /// Bytes of the shortest text. Shorter ones have few features, and are cut as a whole.
    pub const LEAST: usize = 1 << 10;

    /// The sets of a normalised text, of which `features` are the features where they have been cut; and the reference that it can be, if it
    /// is long and its features do not depend on what is around them.
    pub fn with_sets(
        by: &Fingerprinter,
        text: &str,
        features: Option<Features>,
    ) -> (Shingles, Option<Self>) {
        if text.len() < Self::LEAST || !by.extractor().is_local() {
            return (Shingles::of_normalized(by, text, features), None);
        }
        let mut own = Self { text: text.into(), features: Vec::new(), long: Vec::new() };
        let features = features.map(|features| features.into_counted_set(&mut own.features));
        let features = features.unwrap_or_else(|| {
            let mut all = Vec::new();
            by.extractor().counted_shingles(text, &mut all, &mut own.features);
            all
        });
        let mut long = Vec::new();
        by.extractor().counted_long_shingles(text, &mut long, &mut own.long);
        (Shingles { features, long, numbers: Numbers::of(text) }, Some(own))
    }

    /// The Jaccard similarity of the text, whose sets are `own`, and another normalised text: the same number as
    /// [`Shingles::similarity`] by [`jaccard`](crate::measure::jaccard). `None`: they differ in too much, or the other one is
    /// short; it must be cut. No number in either counts ([`Numbers::factor`]).
    ///
    /// Cost: a comparison of bytes, and of each passage that differs some dozens of features.
    pub fn jaccard(&self, own: &Shingles, other: &str, by: &Fingerprinter) -> Option<f64> {
        if other.len() < Self::LEAST {
            return None;
        }
        let mut all = differences(&self.text, other)?;
        // Texts that end alike have the same features there, the one that reaches to the end too: what ends alike is longer than any feature.
        all.pop_if(|last| self.text[last.own.clone()] == other[last.other.clone()]);
        let by = by.extractor();
        let spans = |of: fn(&Difference) -> &Range<usize>| all.iter().map(of).cloned();
        let (mine, theirs) = (|| spans(|one| &one.own), || spans(|one| &one.other));
        let (mut gone, mut new) = (Vec::new(), Vec::new());
        by.shingles_touching(&self.text, mine(), &mut gone);
        by.shingles_touching(other, theirs(), &mut new);
        let similarity = jaccard(&own.features, &self.features, &mut gone, &mut new);
        if own.long.is_empty() || !by.has_long_shingles(other) {
            return Some(similarity);
        }
        gone.clear();
        new.clear();
        by.long_shingles_touching(&self.text, mine(), &mut gone);
        by.long_shingles_touching(other, theirs(), &mut new);
        Some(jaccard(&own.long, &self.long, &mut gone, &mut new).min(similarity))
    }

    /// Whether one of two normalised texts can be a reference by which [`Reference::jaccard`] tells how similar the other one is.
    pub fn can_tell(by: &Fingerprinter, one: &str, other: &str) -> bool {
        let are_long = one.len().min(other.len()) >= Self::LEAST;
        are_long && by.extractor().is_local() && differences(one, other).is_some()
    }

    /// Hashes held, the text counted in numbers of 8 bytes.
    #[expect(clippy::len_without_is_empty, reason = "a size, not a collection")]
    pub fn len(&self) -> usize {
        self.text.len() / 8 + 2 * (self.features.len() + self.long.len())
    }
}

/// The similarity of a set and the one that comes of it: its members that occur more than once are in `several`; `gone` occur in what is taken
/// away, `new` in what comes instead.
fn jaccard(set: &[u64], several: &[(u64, u32)], gone: &mut Vec<u64>, new: &mut Vec<u64>) -> f64 {
    gone.sort_unstable();
    new.sort_unstable();
    cancel(gone, new);
    let leave = gone.chunk_by(|a, b| a == b).filter(|occurrences| {
        let times = several.binary_search_by_key(&occurrences[0], |&(hash, _)| hash);
        occurrences.len() == times.map_or(1, |place| several[place].1 as usize)
    });
    let common = set.len() - leave.count();
    let come = new.chunk_by(|a, b| a == b).filter(|same| set.binary_search(&same[0]).is_err());
    ratio(common, set.len(), common + come.count())
}

/// Takes what is taken away and comes again out of both, which are sorted, as often as it does: nearly all of what is around a change.
fn cancel(gone: &mut Vec<u64>, new: &mut Vec<u64>) {
    let (mut left, mut right, mut at) = (0, 0, 0);
    for from in 0..gone.len() {
        let hash = gone[from];
        while at < new.len() && new[at] < hash {
            new[right] = new[at];
            (right, at) = (right + 1, at + 1);
        }
        if at < new.len() && new[at] == hash {
            at += 1;
        } else {
            gone[left] = hash;
            left += 1;
        }
    }
    gone.truncate(left);
    new.drain(right..at);
}

#[cfg(test)]
mod tests {
    use super::Reference;
    use crate::measure::jaccard;
    use crate::{ExtractorOptions, Fingerprinter, FingerprinterOptions, Shingles, Unit, Weighting};
    use proptest::prelude::*;
    use simhash_text::ExtractScratch;

    fn by(unit: Unit, ngram: Option<usize>, weighting: Option<Weighting>) -> Fingerprinter {
        let extractor = ExtractorOptions { unit, ngram, weighting, ..ExtractorOptions::default() };
        Fingerprinter::new(&FingerprinterOptions {
            extract: extractor,
            ..FingerprinterOptions::default()
        })
        .unwrap()
    }

    #[test]
    fn only_long_texts_of_features_by_themselves_are_references() {
        let text = "新闻".repeat(200);
        let is_reference =
            |by: &Fingerprinter, text: &str| Reference::with_sets(by, text, None).1.is_some();
        assert!(is_reference(&by(Unit::Auto, None, None), &text));
        assert!(is_reference(&by(Unit::Chars, None, None), &text));
        assert!(!is_reference(&by(Unit::Auto, None, None), &text[..600]));
        assert!(!is_reference(&by(Unit::Chars, None, Some(Weighting::Binary)), &text));
        assert!(!is_reference(&by(Unit::Jieba, None, None), &text));
    }

    proptest! {
        #[test]
        fn the_similarity_is_that_of_the_sets(
            text in "[0-9第一十二月年 ab中文字新闻报道]{40,200}|[一-龥]{40,200}|[a-f ]{200}",
            changes in prop::collection::vec(
                (any::<prop::sample::Index>(), 0..200_usize, "[0-9一中a😀 ]{0,20}|[0-9二文b]{100,300}"),
                0..6,
            ),
            times in 1..30_usize,
            is_cut in any::<bool>(),
            unit in prop::sample::select(vec![Unit::Auto, Unit::Chars]),
            ngram in 1..=8_usize,
        ) {
            let by = by(unit, (unit == Unit::Chars).then_some(ngram), None);
            let text = text.repeat(times);
            let mut other: Vec<char> = text.chars().collect();
            for (at, gone, new) in changes {
                let at = at.index(other.len() + 1);
                let end = (at + gone).min(other.len());
                other.splice(at..end, new.chars());
            }
            let other: String = other.into_iter().collect();
            let features = is_cut.then(|| by.extractor().cut(&text, &mut ExtractScratch::default()).into());
            let (sets, reference) = Reference::with_sets(&by, &text, features);
            let [own, theirs] = [&text, &other].map(|text| Shingles::of_normalized(&by, text, None));
            prop_assert_eq!(&sets, &own);
            prop_assert_eq!(reference.is_some(), text.len() >= Reference::LEAST);
            let can_tell = Reference::can_tell(&by, &text, &other);
            let found = reference.and_then(|reference| reference.jaccard(&sets, &other, &by));
            prop_assert_eq!(can_tell, found.is_some());
            if let Some(found) = found {
                let expected = own.similarity(&theirs, |a, b| Some(jaccard(a, b))).unwrap();
                prop_assert_eq!(found.to_bits(), expected.to_bits());
            }
        }
    }
}
