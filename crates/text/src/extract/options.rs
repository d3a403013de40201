//! The options of an extractor, their defaults, and which of them go together.

use super::MAX_NGRAM;
use crate::OptionsError;
use crate::lexicon::{Dictionary, Idf, StopWords};
use crate::tfidf::{Lexicon, TopK};
use std::sync::Arc;

/// What features are made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Code points, as many as the script needs: two ideographs (Han, kana, Hangul) or digits, five letters, or of both what
    /// comes to that together, as 用GPT. With an n-gram given it is [`Unit::Chars`].
    #[default]
    Auto,
    /// Code points; n = 2 unless said otherwise.
    Chars,
    /// Unicode words (UAX #29); n = 2 unless said otherwise, since single words of long texts on unlike subjects are
    /// too much alike.
    Words,
    /// Chinese words as jieba cuts them; n = 1 unless said otherwise.
    Jieba,
    /// What white space separates: texts whose words somebody else has cut; n = 2 unless said otherwise.
    Tokens,
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
    /// Needs the cargo feature `jieba-rs`, which is on by default.
    JiebaRs,
}

/// Options of [`Extractor::new`](super::Extractor::new); `None` means the unit's own default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtractorOptions {
    /// Default [`Unit::Auto`].
    pub unit: Unit,
    /// Units per feature, 1 to [`MAX_NGRAM`]. Default 2 for characters, words and tokens, 1 for jieba, by script for `Auto`.
    pub ngram: Option<usize>,
    /// Default [`Weighting::TfIdf`] for jieba, [`Weighting::Count`] for the others, which have no idf.
    pub weighting: Option<Weighting>,
    /// Keep only the heaviest features. Default: all. Needs [`Weighting::TfIdf`].
    pub top_k: Option<TopK>,
    /// Default [`Segmenter::Own`]; only for [`Unit::Jieba`].
    pub segmenter: Segmenter,
    /// Whether words that are in no dictionary are found by jieba's hidden Markov model; without it their characters stand
    /// alone. Default true, as in `extract_tags`; only for [`Unit::Jieba`].
    pub hmm: Option<bool>,
    /// Words beside jieba's own; only for [`Segmenter::Own`].
    pub dictionary: Option<Arc<Dictionary>>,
    /// Words that never become keywords, in place of jieba's 31 English ones; only for [`Weighting::TfIdf`].
    pub stop_words: Option<Arc<StopWords>>,
    /// Idf values in place of jieba's; only for [`Weighting::TfIdf`].
    pub idf: Option<Arc<Idf>>,
}

/// The options as they are used, every default filled in.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) unit: Unit,
    /// Of [`Unit::Auto`]: of ideographs.
    pub(super) ngram: usize,
    pub(super) weighting: Weighting,
    pub(super) top_k: Option<TopK>,
    pub(super) segmenter: Segmenter,
    pub(super) hmm: bool,
    pub(super) lexicon: Lexicon,
}

impl Plan {
    /// The options with their defaults, if they go together.
    pub(super) fn new(options: &ExtractorOptions) -> Result<Self, OptionsError> {
        let unit = match options.unit {
            Unit::Auto if options.ngram.is_some() => Unit::Chars,
            unit => unit,
        };
        let ngram = options.ngram.unwrap_or(match unit {
            Unit::Auto | Unit::Chars | Unit::Words | Unit::Tokens => 2,
            Unit::Jieba => 1,
        });
        if !(1..=MAX_NGRAM).contains(&ngram) {
            return Err(OptionsError::OutOfRange {
                argument: "ngram",
                value: ngram.to_string(),
                expected: format!("from 1 to {MAX_NGRAM}"),
            });
        }
        let weighting = options.weighting.unwrap_or(match unit {
            Unit::Auto | Unit::Chars | Unit::Words | Unit::Tokens => Weighting::Count,
            Unit::Jieba => Weighting::TfIdf,
        });
        let plan = Plan {
            unit,
            ngram,
            weighting,
            top_k: options.top_k,
            segmenter: options.segmenter,
            hmm: options.hmm.unwrap_or(true),
            lexicon: Lexicon {
                dictionary: options.dictionary.clone(),
                stop_words: options.stop_words.clone(),
                idf: options.idf.clone(),
            },
        };
        plan.check()?;
        Ok(plan)
    }

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
            Some(TopK::Count(0)) => {
                let expected = "at least 1".to_owned();
                return Err(OptionsError::OutOfRange {
                    argument: "top_k",
                    value: "0".to_owned(),
                    expected,
                });
            }
            Some(top_k) if !keywords => {
                let value = top_k.to_string();
                return invalid("top_k", &value, "left out unless weighting is tfidf");
            }
            _ => {}
        }
        if keywords && self.unit != Unit::Jieba {
            return invalid("weighting", "tfidf", "count or binary unless features are jieba");
        }
        if keywords && self.ngram != 1 {
            return invalid("ngram", &self.ngram.to_string(), "1 when weighting is tfidf");
        }
        if !self.hmm && self.unit != Unit::Jieba {
            return invalid("hmm", "false", "left out unless features are jieba");
        }
        if self.segmenter == Segmenter::JiebaRs && (keywords || self.unit != Unit::Jieba) {
            return invalid(
                "segmenter",
                "jieba-rs",
                "left out unless features are jieba, counted or binary",
            );
        }
        if self.segmenter == Segmenter::JiebaRs && cfg!(not(feature = "jieba-rs")) {
            return Err(OptionsError::NotBuilt {
                argument: "segmenter",
                value: "jieba-rs".to_owned(),
                expected: "own in a build without the cargo feature jieba-rs",
            });
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
            return invalid("stop_words", "stop words", "left out unless weighting is tfidf");
        }
        if self.lexicon.idf.is_some() && !keywords {
            return invalid("idf", "a table", "left out unless weighting is tfidf");
        }
        Ok(())
    }
}
