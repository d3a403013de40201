//! The extractor: options checked once, then text to features as often as wanted.
//!
//! Units are characters (no dictionary, as many as the script needs by default), Unicode words, Chinese words by jieba, or words
//! that somebody else has cut. A
//! text with fewer units than n has one feature, the whole text; an empty text has none. Features come in text order and
//! repeat as often as they occur when they are counted; sums do not care, and no map is needed.

mod error;
mod options;
mod recipe;

pub use error::OptionsError;
pub use options::{ExtractorOptions, Segmenter, Unit, Weighting};

use crate::distinct::{distinct, sort_distinct};
use crate::feature::{Cut, Feature, Features, Token, hash};
use crate::segment::SegmentScratch;
use crate::tfidf::{KeywordScratch, TopK};
use crate::words::{self, WordScratch};
use crate::{Normalizer, ngram};
use ahash::AHashMap;
use options::Plan;
use std::ops::Range;
use std::sync::Arc;

/// The longest n-gram.
pub const MAX_NGRAM: usize = 8;

/// Characters of a long shingle, see [`Extractor::long_shingles`].
pub const LONG: usize = 5;

/// Characters of the last span of [`Extractor::shingles_touching`]: two features of the longest kind.
pub const APART: usize = 2 * MAX_NGRAM;

/// Ideographs from which on a text has long shingles, a digit counting as two. An edit of one character changes five of
/// them, so at a similarity of 0.8 a text bears an edit in every 45 characters; from 400 on that are eight or more, room for
/// a byline and some corrections. Shorter texts keep to pairs, which bear an edit in 18.
pub const LONG_FROM: usize = 400;

/// Text to features. Cheap to clone, shared by threads.
#[derive(Clone, Debug)]
pub struct Extractor {
    plan: Arc<Plan>,
}

/// Reusable memory of an extractor; one per thread.
#[derive(Clone, Debug, Default)]
pub struct ExtractScratch {
    features: Vec<Feature>,
    hashes: Vec<u64>,
    words: WordScratch,
    keywords: KeywordScratch,
}

impl ExtractScratch {
    /// The memory of [`cut`](crate::segment::cut).
    pub fn segment(&mut self) -> &mut SegmentScratch {
        self.words.segment()
    }
}

/// Of a text of so many bytes for each character, as nearly all Chinese ones are, memory for its features is taken once.
const IDEOGRAPH_BYTES: usize = 3;
/// Hashes per call of [`Extractor::hash_blocks`]: 8 KiB, a quarter of a first-level cache.
const BLOCK: usize = 1024;

impl Extractor {
    /// An extractor for these options.
    ///
    /// # Errors
    /// [`OptionsError::OutOfRange`] for `ngram` outside 1..=8 or `top_k` 0; [`OptionsError::Invalid`] for options that do not
    /// go together; [`OptionsError::NotBuilt`] for [`Segmenter::JiebaRs`] without the cargo feature `jieba-rs`.
    pub fn new(options: &ExtractorOptions) -> Result<Self, OptionsError> {
        Ok(Self { plan: Arc::new(Plan::new(options)?) })
    }

    /// An extractor for these options whose words (dictionary, stop words, idf) look as they do in text that `normalizer` has
    /// gone over, so that they match it.
    ///
    /// # Errors
    /// As [`Extractor::new`].
    pub fn for_normalized(
        options: &ExtractorOptions,
        normalizer: &Normalizer,
    ) -> Result<Self, OptionsError> {
        Self::new(&ExtractorOptions {
            dictionary: options
                .dictionary
                .as_ref()
                .map(|words| Arc::new(words.normalized(normalizer))),
            stop_words: options
                .stop_words
                .as_ref()
                .map(|words| Arc::new(words.normalized(normalizer))),
            idf: options.idf.as_ref().map(|idf| Arc::new(idf.normalized(normalizer))),
            ..options.clone()
        })
    }

    /// The features of `text`, in text order. Counted features repeat; binary ones are distinct, by
    /// ascending hash; keywords are distinct, heaviest first.
    ///
    /// Cost: one pass; no allocation once `scratch` has grown, except by jieba-rs.
    pub fn features<'a>(&self, text: &str, scratch: &'a mut ExtractScratch) -> &'a [Feature] {
        if self.plan.weighting == Weighting::TfIdf {
            self.keywords(text, self.plan.top_k, scratch);
            return &scratch.features;
        }
        self.hashes(text, scratch);
        let ExtractScratch { features, hashes, .. } = scratch;
        if self.plan.weighting == Weighting::Binary {
            sort_distinct(hashes);
        }
        features.clear();
        features.extend(hashes.iter().map(|&hash| Feature { hash, weight: 1 }));
        features
    }

    /// All features of `text`, in one pass: those of its fingerprint, and of every measure.
    ///
    /// Cost: as [`features`](Self::features).
    pub fn cut<'a>(&self, text: &str, scratch: &'a mut ExtractScratch) -> Cut<'a> {
        match self.plan.weighting {
            Weighting::Count => {
                self.hashes(text, scratch);
                Cut::Counted(&scratch.hashes)
            }
            Weighting::Binary => {
                let all = self.features(text, scratch);
                Cut::Weighted { all, heaviest: all.len() }
            }
            Weighting::TfIdf => {
                self.keywords(text, None, scratch);
                let all = scratch.features.as_slice();
                let most = self.plan.top_k.map_or(all.len(), |top_k| top_k.of(all.len()));
                Cut::Weighted { all, heaviest: most.min(all.len()) }
            }
        }
    }

    /// [`cut`](Self::cut) of a text that nothing else is made of, to be kept.
    pub fn features_of(&self, text: &str) -> Features {
        if self.plan.weighting == Weighting::Count {
            let mut hashes = Vec::new();
            self.all_shingles(text, &mut hashes);
            return Features::Counted(hashes);
        }
        self.cut(text, &mut ExtractScratch::default()).into()
    }

    /// The feature hashes of `text` in blocks, for extractors whose weights are all 1; false, and no call, for the others.
    ///
    /// This is [`features`](Self::features) without the weights: the same hashes, as often, in bounded memory.
    pub fn hash_blocks(
        &self,
        text: &str,
        scratch: &mut ExtractScratch,
        mut block: impl FnMut(&[u64]),
    ) -> bool {
        if self.plan.weighting != Weighting::Count {
            return false;
        }
        let ExtractScratch { hashes, words, .. } = scratch;
        hashes.resize(BLOCK, 0);
        let mut count = 0;
        self.for_each_hash(text, words, |hash| {
            hashes[count] = hash;
            count += 1;
            if count == BLOCK {
                block(hashes);
                count = 0;
            }
        });
        block(&hashes[..count]);
        true
    }

    /// What the fingerprint of `text` is made of, for people: each distinct feature once, heaviest first, ties in text order.
    pub fn tokens(&self, text: &str) -> Vec<Token> {
        if self.plan.weighting == Weighting::TfIdf {
            return KeywordScratch::default().tokens(
                &self.plan.lexicon,
                self.plan.hmm,
                text,
                self.plan.top_k,
            );
        }
        let mut tokens: Vec<Token> = Vec::new();
        let mut seen: AHashMap<String, usize> = AHashMap::new();
        let count = self.plan.weighting == Weighting::Count;
        self.for_each_ngram(text, &mut WordScratch::default(), |ngram| match seen.get(ngram) {
            Some(&index) if count => tokens[index].weight += 1.0,
            Some(_) => {}
            None => {
                seen.insert(ngram.to_owned(), tokens.len());
                let hash = hash(ngram.as_bytes());
                tokens.push(Token { token: ngram.to_owned(), weight: 1.0, hash });
            }
        });
        tokens.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        tokens
    }

    /// Replaces `out` with the distinct feature hashes of `text`, ascending: the set that Jaccard similarity compares.
    /// Keywords are all there, those beyond `top_k` too.
    pub fn shingles(&self, text: &str, out: &mut Vec<u64>) {
        self.all_shingles(text, out);
        sort_distinct(out);
    }

    /// The same in any order, as often as they occur where they are counted.
    fn all_shingles(&self, text: &str, out: &mut Vec<u64>) {
        out.clear();
        if self.plan.weighting == Weighting::TfIdf {
            let mut scratch = ExtractScratch::default();
            self.keywords(text, None, &mut scratch);
            out.extend(scratch.features.iter().map(|feature| feature.hash));
        } else {
            if matches!(self.plan.unit, Unit::Auto | Unit::Chars) {
                out.reserve(text.len() / IDEOGRAPH_BYTES);
            }
            self.for_each_hash(text, &mut WordScratch::default(), |hash| out.push(hash));
        }
    }

    /// [`shingles`](Self::shingles); `several` gets the hashes of those that occur more than once, ascending, each with its number.
    pub fn counted_shingles(&self, text: &str, out: &mut Vec<u64>, several: &mut Vec<(u64, u32)>) {
        self.all_shingles(text, out);
        distinct(out, several);
    }

    /// Whether a feature depends on nothing but its own characters, and counts once for each time that it occurs: all but those
    /// of the start and the end of a part of a text are those of the part, wherever it stands.
    pub fn is_local(&self) -> bool {
        matches!(self.plan.unit, Unit::Auto | Unit::Chars)
            && self.plan.weighting == Weighting::Count
    }

    /// Appends the hashes of the features, where these are [local](Self::is_local), that are not within one of the parts of the text
    /// between `spans`, as often as they occur. Spans come in order; behind the last one, or from its start to the end of the text where it goes
    /// on to there, are [`APART`] characters or more.
    pub fn shingles_touching(
        &self,
        text: &str,
        spans: impl Iterator<Item = Range<usize>>,
        out: &mut Vec<u64>,
    ) {
        let mut push = |from, to| out.push(hash(&text.as_bytes()[from..to]));
        let mut since = 0;
        for span in spans {
            match self.plan.unit {
                Unit::Auto => ngram::touching_by_script(text, since, &span, &mut push),
                _ => ngram::touching(text, self.plan.ngram, since, &span, &mut push),
            }
            since = span.end;
        }
    }

    /// The same of the [long shingles](Self::long_shingles) of a text that has them.
    pub fn long_shingles_touching(
        &self,
        text: &str,
        spans: impl Iterator<Item = Range<usize>>,
        out: &mut Vec<u64>,
    ) {
        let mut since = 0;
        for span in spans {
            ngram::touching(text, LONG, since, &span, |from, to| {
                out.push(hash(&text.as_bytes()[from..to]));
            });
            since = span.end;
        }
    }

    /// Replaces `out` with the long shingles of `text`, by ascending hash: every [`LONG`] characters, of texts with at least
    /// [`LONG_FROM`] ideographs, a digit counting as two, whose features are [`Unit::Auto`]; others have none.
    ///
    /// Two ideographs tell short texts apart, and of a short text they leave enough in common after an edit. Long Chinese
    /// texts on one subject share many of their pairs without sharing a sentence, and so do tables of numbers, so two of them
    /// are alike only if they are alike in both lengths. What is written in letters has features of five characters as it is.
    pub fn long_shingles(&self, text: &str, out: &mut Vec<u64>) {
        self.all_long_shingles(text, out);
        sort_distinct(out);
    }

    /// The same in text order, as often as they occur.
    fn all_long_shingles(&self, text: &str, out: &mut Vec<u64>) {
        out.clear();
        if self.has_long_shingles(text) {
            #[cfg(feature = "counters")]
            crate::counters::CUT_LONG.add();
            out.reserve(text.len() / IDEOGRAPH_BYTES);
            ngram::for_each(text, LONG, |start, end| out.push(hash(&text.as_bytes()[start..end])));
        }
    }

    /// [`long_shingles`](Self::long_shingles); `several` as in [`counted_shingles`](Self::counted_shingles).
    pub fn counted_long_shingles(
        &self,
        text: &str,
        out: &mut Vec<u64>,
        several: &mut Vec<(u64, u32)>,
    ) {
        self.all_long_shingles(text, out);
        distinct(out, several);
    }

    /// Whether a text has [long shingles](Self::long_shingles).
    pub fn has_long_shingles(&self, text: &str) -> bool {
        self.plan.unit == Unit::Auto && ngram::ideographs(text) >= LONG_FROM
    }

    /// Replaces `out` with the distinct features of `text`, by ascending hash, the weights of equal ones added: the vector whose
    /// angle is the cosine similarity. Keywords are all there, those beyond `top_k` too.
    pub fn vector(&self, text: &str, scratch: &mut ExtractScratch, out: &mut Vec<Feature>) {
        *out = Features::from(self.cut(text, scratch)).into_vector();
    }

    /// Fewest distinct features for which a Hamming distance says something: `max(8, 4 n)`.
    ///
    /// Replacing one unit changes up to n of m n-grams, which leaves a Jaccard similarity of (m − n) / (m + n); with fewer
    /// than 4 n features that is below 0.6, no near-duplicate by any usual threshold. And each fingerprint bit is a vote of
    /// the features: with fewer than 8 voters more than a quarter of the bits (C(8,4) / 2^8) hang on a tie or a single vote,
    /// for every unit, whatever n is. By script n is that of ideographs, 2: short texts in letters then have a fingerprint
    /// that an edit may turn far away, and lose nothing by it, as equal texts have equal ones.
    pub fn min_features(&self) -> usize {
        (4 * self.plan.ngram).max(8)
    }

    /// Replaces the features of `scratch` with the keywords of `text`, heaviest first.
    fn keywords(&self, text: &str, top_k: Option<TopK>, scratch: &mut ExtractScratch) {
        #[cfg(feature = "counters")]
        crate::counters::CUT.add();
        let ExtractScratch { features, keywords, .. } = scratch;
        keywords.features(&self.plan.lexicon, self.plan.hmm, text, top_k, features);
    }

    /// Replaces the hashes of `scratch` with those of every n-gram, in text order.
    fn hashes(&self, text: &str, scratch: &mut ExtractScratch) {
        let ExtractScratch { hashes, words, .. } = scratch;
        hashes.clear();
        self.for_each_hash(text, words, |hash| hashes.push(hash));
    }

    /// Calls `each` with the hash of every n-gram, in text order.
    fn for_each_hash(&self, text: &str, words: &mut WordScratch, mut each: impl FnMut(u64)) {
        #[cfg(feature = "counters")]
        crate::counters::CUT.add();
        let bytes = text.as_bytes();
        let n = self.plan.ngram;
        match self.plan.unit {
            Unit::Auto => ngram::for_each_by_script(text, |from, to| each(hash(&bytes[from..to]))),
            Unit::Chars => ngram::for_each(text, n, |from, to| each(hash(&bytes[from..to]))),
            _ => self.for_each_ngram(text, words, |ngram| each(hash(ngram.as_bytes()))),
        }
    }

    fn for_each_ngram(&self, text: &str, scratch: &mut WordScratch, mut each: impl FnMut(&str)) {
        let Plan { unit, ngram, segmenter, hmm, lexicon, .. } = &*self.plan;
        match (unit, segmenter) {
            (Unit::Auto, _) => {
                return ngram::for_each_by_script(text, |start, end| each(&text[start..end]));
            }
            (Unit::Chars, _) => {
                return ngram::for_each(text, *ngram, |start, end| each(&text[start..end]));
            }
            (Unit::Words, _) => words::unicode(text, scratch),
            (Unit::Tokens, _) => words::separated(text, scratch),
            (Unit::Jieba, Segmenter::Own) => {
                words::own(text, lexicon.dictionary.as_deref(), *hmm, scratch);
            }
            #[cfg(feature = "jieba-rs")]
            (Unit::Jieba, Segmenter::JiebaRs) => words::jieba_rs(text, *hmm, scratch),
            #[cfg(not(feature = "jieba-rs"))]
            (Unit::Jieba, Segmenter::JiebaRs) => unreachable!("refused when it was made"),
        }
        words::for_each_ngram(text, *ngram, scratch, each);
    }
}

#[cfg(test)]
mod tests {
    use super::{
        ExtractScratch, Extractor, ExtractorOptions, LONG, LONG_FROM, OptionsError, Unit, Weighting,
    };
    use crate::TopK;
    use crate::feature::{Feature, hash};
    use proptest::prelude::*;

    fn extractor(unit: Unit, ngram: Option<usize>, weighting: Weighting) -> Extractor {
        let options = ExtractorOptions {
            unit,
            ngram,
            weighting: Some(weighting),
            ..ExtractorOptions::default()
        };
        Extractor::new(&options).unwrap()
    }

    fn any_extractor() -> impl Strategy<Value = Extractor> {
        let unit = [Unit::Auto, Unit::Chars, Unit::Words, Unit::Jieba, Unit::Tokens];
        let unit = prop::sample::select(unit.to_vec());
        let weighting = prop_oneof![Just(Weighting::Count), Just(Weighting::Binary)];
        (unit, 1..=8_usize, weighting).prop_map(|(unit, n, weighting)| {
            extractor(unit, (unit != Unit::Auto).then_some(n), weighting)
        })
    }

    #[test]
    fn bad_options_name_argument_value_and_expectation() {
        let with = |ngram, top_k, weighting| {
            let options =
                ExtractorOptions { ngram, weighting, top_k, ..ExtractorOptions::default() };
            Extractor::new(&options).unwrap_err()
        };
        let error = with(Some(9), None, None);
        assert_eq!(error.to_string(), "ngram must be from 1 to 8, got 9");
        assert!(matches!(error, OptionsError::OutOfRange { .. }));
        assert_eq!(with(Some(0), None, None).argument(), "ngram");
        assert_eq!(with(None, Some(TopK::Half), None).argument(), "top_k");
        let error = with(None, Some(TopK::Count(0)), None);
        assert!(matches!(error, OptionsError::OutOfRange { argument: "top_k", .. }));
        assert_eq!(with(None, None, Some(Weighting::TfIdf)).argument(), "weighting");
    }

    #[test]
    fn the_default_is_counted_windows_by_script() {
        let default = Extractor::new(&ExtractorOptions::default()).unwrap();
        let mut scratch = ExtractScratch::default();
        let features = default.features("中文中文letter", &mut scratch).to_vec();
        let expected = ["中文", "文中", "中文", "文let", "lette", "etter"]
            .map(|s| Feature { hash: hash(s.as_bytes()), weight: 1 });
        assert_eq!(features, expected);
        assert_eq!(default.min_features(), 8);
    }

    #[test]
    fn long_chinese_has_long_shingles_too() {
        let text: String =
            (0..LONG_FROM as u32).filter_map(|n| char::from_u32(0x4e00 + n)).collect();
        let one_less = text.strip_prefix('一').unwrap();
        let mut out = vec![1];
        let auto = extractor(Unit::Auto, None, Weighting::Count);
        auto.long_shingles(&text, &mut out);
        assert_eq!(out.len(), LONG_FROM - (LONG - 1));
        let five = extractor(Unit::Chars, Some(LONG), Weighting::Count);
        let mut expected = Vec::new();
        five.shingles(&text, &mut expected);
        assert_eq!(out, expected);
        auto.long_shingles(one_less, &mut out);
        assert!(out.is_empty());
        five.long_shingles(&text, &mut out);
        assert!(out.is_empty());
        auto.long_shingles(&"letters ".repeat(LONG_FROM), &mut out);
        assert!(out.is_empty());
        auto.long_shingles(&"5".repeat(LONG_FROM / 2 - 1), &mut out);
        assert!(out.is_empty());
        auto.long_shingles(&"5".repeat(LONG_FROM / 2), &mut out);
        assert_eq!(out, [hash(b"55555")]);
    }

    #[test]
    fn half_of_the_keywords_but_thirty_at_least() {
        let with = |top_k| {
            let options =
                ExtractorOptions { unit: Unit::Jieba, top_k, ..ExtractorOptions::default() };
            Extractor::new(&options).unwrap()
        };
        for (distinct, kept) in [(0, 0), (20, 20), (31, 30), (60, 30), (61, 31), (200, 100)] {
            let text: Vec<String> = (0..distinct).map(|word| format!("word{word}")).collect();
            let (text, count) = (text.join(" "), TopK::Count(kept.max(1)));
            assert_eq!(with(None).tokens(&text).len(), distinct);
            let half = with(Some(TopK::Half)).tokens(&text);
            assert_eq!(half, with(Some(count)).tokens(&text));
            assert_eq!(half.len(), kept);
        }
        assert!(with(Some(TopK::Half)).to_string().contains("topK auto"));
    }

    #[test]
    fn tokens_are_heaviest_first_then_in_text_order() {
        let tokens = extractor(Unit::Chars, Some(1), Weighting::Count).tokens("abcba");
        let list: Vec<_> = tokens.iter().map(|t| (t.token.as_str(), t.weight)).collect();
        assert_eq!(list, [("a", 2.0), ("b", 2.0), ("c", 1.0)]);
    }

    proptest! {
        #[test]
        fn every_form_shows_the_same_features(extractor in any_extractor(), text in "[a-c中文，。 0-9]{0,30}|.*") {
            let mut scratch = ExtractScratch::default();
            let features = extractor.features(&text, &mut scratch).to_vec();
            let mut blocks = Vec::new();
            if extractor.hash_blocks(&text, &mut scratch, |block| blocks.extend_from_slice(block)) {
                prop_assert_eq!(&blocks, &features.iter().map(|f| f.hash).collect::<Vec<_>>());
            }
            let mut set: Vec<u64> = features.iter().map(|f| f.hash).collect();
            set.sort_unstable();
            set.dedup();
            let mut shingles = vec![1, 2, 3];
            extractor.shingles(&text, &mut shingles);
            prop_assert_eq!(&shingles, &set);
            let mut vector = vec![Feature { hash: 1, weight: 1 }];
            extractor.vector(&text, &mut scratch, &mut vector);
            let mut sums = std::collections::BTreeMap::new();
            for feature in &features {
                *sums.entry(feature.hash).or_insert(0) += feature.weight;
            }
            let sums = sums.into_iter().map(|(hash, weight)| Feature { hash, weight });
            prop_assert_eq!(vector, sums.collect::<Vec<_>>());
            let tokens = extractor.tokens(&text);
            prop_assert_eq!(tokens.len(), set.len());
            let total: u64 = features.iter().map(|f| u64::from(f.weight)).sum();
            let weights: f64 = tokens.iter().map(|token| token.weight).sum();
            prop_assert!((weights - total as f64).abs() < 0.5);
            prop_assert_eq!(features.is_empty(), text.is_empty());
        }
    }
}
