//! The extractor: options checked once, then text to features as often as wanted.
//!
//! Three units: characters (no dictionary, the default), Unicode words, Chinese words by jieba. A text with fewer units
//! than n has one feature, the whole text; an empty text has none. Features come in text order and repeat as often as they
//! occur when they are counted; sums do not care, and no map is needed.

use crate::feature::{Feature, Token, hash};
use crate::lexicon::{Dictionary, Idf, StopWords};
use crate::tfidf::{KeywordScratch, Lexicon};
use crate::{Normalizer, OptionsError, jieba, ngram, segment, words};
use ahash::AHashMap;
use std::sync::Arc;

/// The longest n-gram.
pub const MAX_NGRAM: usize = 8;

/// What features are made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Code points; n = 2 unless said otherwise.
    #[default]
    Chars,
    /// Unicode words (UAX #29); n = 2 unless said otherwise, since single words of long texts on unlike subjects are
    /// too much alike.
    Words,
    /// Chinese words as jieba cuts them; n = 1 unless said otherwise.
    Jieba,
}

/// How often-repeated features count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Weighting {
    /// One per occurrence.
    #[default]
    Count,
    /// One per distinct feature.
    Binary,
    /// Term frequency times inverse document frequency.
    TfIdf,
}

/// Who cuts Chinese words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Segmenter {
    /// The segmenter of this crate: the tokens of Python jieba 0.42.1, bit for bit.
    #[default]
    Own,
    /// The crate jieba-rs, whose tokens differ in some texts (dates, model numbers, rare characters); not for TF-IDF.
    JiebaRs,
}

/// Options of [`Extractor::new`]; `None` means the unit's own default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtractorOptions {
    /// Default [`Unit::Chars`].
    pub unit: Unit,
    /// Units per feature, 1 to [`MAX_NGRAM`]. Default 2 for characters and words, 1 for jieba.
    pub ngram: Option<usize>,
    /// Default [`Weighting::TfIdf`] for jieba, [`Weighting::Count`] for the others, which have no idf.
    pub weighting: Option<Weighting>,
    /// Keep only the heaviest features; at least 1. Default: all. Needs [`Weighting::TfIdf`].
    pub top_k: Option<usize>,
    /// Default [`Segmenter::Own`]; only for [`Unit::Jieba`].
    pub segmenter: Segmenter,
    /// Words beside jieba's own; only for [`Segmenter::Own`].
    pub dictionary: Option<Arc<Dictionary>>,
    /// Words that never become keywords, in place of jieba's 31 English ones; only for [`Weighting::TfIdf`].
    pub stop_words: Option<Arc<StopWords>>,
    /// Idf values in place of jieba's; only for [`Weighting::TfIdf`].
    pub idf: Option<Arc<Idf>>,
}

/// Text to features. Cheap to clone, shared by threads.
#[derive(Clone, Debug)]
pub struct Extractor {
    plan: Arc<Plan>,
}

#[derive(Debug)]
struct Plan {
    unit: Unit,
    ngram: usize,
    weighting: Weighting,
    top_k: Option<usize>,
    segmenter: Segmenter,
    lexicon: Lexicon,
}

impl Plan {
    /// Whether the options go together.
    fn check(&self) -> Result<(), OptionsError> {
        let invalid = |argument, value: &str, expected: &str| {
            Err(OptionsError::Invalid {
                argument,
                value: value.to_owned(),
                expected: expected.to_owned(),
            })
        };
        let keywords = self.weighting == Weighting::TfIdf;
        match self.top_k {
            Some(0) => {
                let expected = "at least 1".to_owned();
                return Err(OptionsError::OutOfRange {
                    argument: "topK",
                    value: "0".to_owned(),
                    expected,
                });
            }
            Some(top_k) if !keywords => {
                return invalid("topK", &top_k.to_string(), "left out unless weighting is tfidf");
            }
            _ => {}
        }
        if keywords && self.unit != Unit::Jieba {
            return invalid("weighting", "tfidf", "count or binary unless features are jieba");
        }
        if keywords && self.ngram != 1 {
            return invalid("ngram", &self.ngram.to_string(), "1 when weighting is tfidf");
        }
        if self.segmenter == Segmenter::JiebaRs && (keywords || self.unit != Unit::Jieba) {
            return invalid(
                "segmenter",
                "jieba-rs",
                "left out unless features are jieba, counted or binary",
            );
        }
        let own = self.unit == Unit::Jieba && self.segmenter == Segmenter::Own;
        if self.lexicon.dictionary.is_some() && !own {
            return invalid(
                "dictionary",
                "a dictionary",
                "left out unless features are jieba, cut by our own segmenter",
            );
        }
        if self.lexicon.stop_words.is_some() && !keywords {
            return invalid("stopWords", "stop words", "left out unless weighting is tfidf");
        }
        if self.lexicon.idf.is_some() && !keywords {
            return invalid("idf", "a table", "left out unless weighting is tfidf");
        }
        Ok(())
    }

    /// Calls `each` with every Chinese word that has a letter or digit.
    fn jieba_words<'t>(&self, text: &'t str, mut each: impl FnMut(&'t str)) {
        let mut each = |word: &'t str| {
            if word.chars().any(char::is_alphanumeric) {
                each(word);
            }
        };
        match self.segmenter {
            Segmenter::Own => {
                segment::cut_with(
                    self.lexicon.dictionary.as_deref(),
                    text,
                    true,
                    &mut segment::SegmentScratch::default(),
                    |word| {
                        each(word.text);
                    },
                );
            }
            Segmenter::JiebaRs => jieba::words(text, each),
        }
    }
}

/// Reusable memory of an extractor; one per thread.
#[derive(Clone, Debug, Default)]
pub struct ExtractScratch {
    features: Vec<Feature>,
    hashes: Vec<u64>,
    joined: String,
    keywords: KeywordScratch,
}

/// Hashes per call of [`Extractor::hash_blocks`]: 8 KiB, a quarter of a first-level cache.
const BLOCK: usize = 1024;

impl Extractor {
    /// An extractor for these options.
    ///
    /// # Errors
    /// [`OptionsError::OutOfRange`] for `ngram` outside 1..=8 or `top_k` 0; [`OptionsError::Invalid`] for options that do not
    /// go together.
    pub fn new(options: &ExtractorOptions) -> Result<Self, OptionsError> {
        let ngram = options.ngram.unwrap_or(match options.unit {
            Unit::Chars | Unit::Words => 2,
            Unit::Jieba => 1,
        });
        if !(1..=MAX_NGRAM).contains(&ngram) {
            return Err(OptionsError::OutOfRange {
                argument: "ngram",
                value: ngram.to_string(),
                expected: format!("from 1 to {MAX_NGRAM}"),
            });
        }
        let weighting = options.weighting.unwrap_or(match options.unit {
            Unit::Chars | Unit::Words => Weighting::Count,
            Unit::Jieba => Weighting::TfIdf,
        });
        let plan = Plan {
            unit: options.unit,
            ngram,
            weighting,
            top_k: options.top_k,
            segmenter: options.segmenter,
            lexicon: Lexicon {
                dictionary: options.dictionary.clone(),
                stop_words: options.stop_words.clone(),
                idf: options.idf.clone(),
            },
        };
        plan.check()?;
        Ok(Self { plan: Arc::new(plan) })
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
    /// Cost: one pass; no allocation once `scratch` has grown, for characters.
    pub fn features<'a>(&self, text: &str, scratch: &'a mut ExtractScratch) -> &'a [Feature] {
        let ExtractScratch { features, hashes, joined, keywords } = scratch;
        if self.plan.weighting == Weighting::TfIdf {
            keywords.features(&self.plan.lexicon, text, self.plan.top_k, features);
            return features;
        }
        hashes.clear();
        self.for_each_ngram(text, joined, |ngram| hashes.push(hash(ngram.as_bytes())));
        if self.plan.weighting == Weighting::Binary {
            hashes.sort_unstable();
            hashes.dedup();
        }
        features.clear();
        features.extend(hashes.iter().map(|&hash| Feature { hash, weight: 1 }));
        features
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
        let ExtractScratch { hashes, joined, .. } = scratch;
        hashes.resize(BLOCK, 0);
        let mut count = 0;
        let mut add = |feature: &[u8]| {
            hashes[count] = hash(feature);
            count += 1;
            if count == BLOCK {
                block(hashes);
                count = 0;
            }
        };
        if self.plan.unit == Unit::Chars {
            let bytes = text.as_bytes();
            ngram::for_each(text, self.plan.ngram, |start, end| add(&bytes[start..end]));
        } else {
            self.for_each_ngram(text, joined, |ngram| add(ngram.as_bytes()));
        }
        block(&hashes[..count]);
        true
    }

    /// What the fingerprint of `text` is made of, for people: each distinct feature once, heaviest first, ties in text order.
    pub fn tokens(&self, text: &str) -> Vec<Token> {
        if self.plan.weighting == Weighting::TfIdf {
            return KeywordScratch::default().tokens(&self.plan.lexicon, text, self.plan.top_k);
        }
        let mut tokens: Vec<Token> = Vec::new();
        let mut seen: AHashMap<String, usize> = AHashMap::new();
        let count = self.plan.weighting == Weighting::Count;
        self.for_each_ngram(text, &mut String::new(), |ngram| match seen.get(ngram) {
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
        out.clear();
        if self.plan.weighting == Weighting::TfIdf {
            let mut features = Vec::new();
            KeywordScratch::default().features(&self.plan.lexicon, text, None, &mut features);
            out.extend(features.iter().map(|feature| feature.hash));
            out.sort_unstable();
            return;
        }
        self.for_each_ngram(text, &mut String::new(), |ngram| out.push(hash(ngram.as_bytes())));
        out.sort_unstable();
        out.dedup();
    }

    /// Fewest distinct features for which a Hamming distance says something: `max(8, 4 n)`.
    ///
    /// Replacing one unit changes up to n of m n-grams, which leaves a Jaccard similarity of (m − n) / (m + n); with fewer
    /// than 4 n features that is below 0.6, no near-duplicate by any usual threshold. And each fingerprint bit is a vote of
    /// the features: with fewer than 8 voters more than a quarter of the bits (C(8,4) / 2^8) hang on a tie or a single vote,
    /// for every unit, whatever n is.
    pub fn min_features(&self) -> usize {
        (4 * self.plan.ngram).max(8)
    }

    fn for_each_ngram(&self, text: &str, joined: &mut String, mut each: impl FnMut(&str)) {
        let n = self.plan.ngram;
        let mut all = Vec::new();
        match self.plan.unit {
            Unit::Chars => return ngram::for_each(text, n, |start, end| each(&text[start..end])),
            Unit::Words => words::unicode_words(text, |word| all.push(word)),
            Unit::Jieba => self.plan.jieba_words(text, |word| all.push(word)),
        }
        words::for_each_ngram(text, &all, n, joined, each);
    }
}

#[cfg(test)]
mod tests {
    use super::{ExtractScratch, Extractor, ExtractorOptions, Unit, Weighting};
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
        let unit = prop_oneof![Just(Unit::Chars), Just(Unit::Words), Just(Unit::Jieba)];
        let weighting = prop_oneof![Just(Weighting::Count), Just(Weighting::Binary)];
        (unit, 1..=8_usize, weighting)
            .prop_map(|(unit, n, weighting)| extractor(unit, Some(n), weighting))
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
        assert_eq!(error.code(), "ERR_OUT_OF_RANGE");
        assert_eq!(with(Some(0), None, None).argument(), "ngram");
        assert_eq!(with(None, Some(3), None).argument(), "topK");
        assert_eq!(with(None, None, Some(Weighting::TfIdf)).argument(), "weighting");
    }

    #[test]
    fn the_default_is_counted_character_bigrams() {
        let default = Extractor::new(&ExtractorOptions::default()).unwrap();
        let mut scratch = ExtractScratch::default();
        let features = default.features("中文中文", &mut scratch).to_vec();
        let expected =
            ["中文", "文中", "中文"].map(|s| Feature { hash: hash(s.as_bytes()), weight: 1 });
        assert_eq!(features, expected);
        assert_eq!(default.min_features(), 8);
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
            let tokens = extractor.tokens(&text);
            prop_assert_eq!(tokens.len(), set.len());
            let total: u64 = features.iter().map(|f| u64::from(f.weight)).sum();
            let weights: f64 = tokens.iter().map(|token| token.weight).sum();
            prop_assert!((weights - total as f64).abs() < 0.5);
            prop_assert_eq!(features.is_empty(), text.is_empty());
        }
    }
}
