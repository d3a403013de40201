//! An extractor in words: what must be equal for its features to be equal.

use super::options::Plan;
use super::{Extractor, ExtractorOptions, Segmenter, Unit, Weighting};
use crate::lexicon::{Dictionary, Idf, StopWords};
use crate::tfidf::TopK;
use std::fmt;

/// The options in words, every default spelled out: equal words mean equal features. Words of the user's own are there as
/// digests of what they are.
impl fmt::Display for Extractor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Plan { unit, ngram, weighting, top_k, segmenter, hmm, lexicon } = &*self.plan;
        let unit = match unit {
            Unit::Auto => "auto",
            Unit::Chars => "chars",
            Unit::Words => "words",
            Unit::Jieba => "jieba",
            Unit::Tokens => "tokens",
        };
        let weighting = match weighting {
            Weighting::Count => "count",
            Weighting::Binary => "binary",
            Weighting::TfIdf => "tfidf",
        };
        write!(f, "features {unit}")?;
        if self.plan.unit != Unit::Auto {
            write!(f, ", ngram {ngram}")?;
        }
        write!(f, ", weighting {weighting}")?;
        if let Some(top_k) = top_k {
            write!(f, ", topK {top_k}")?;
        }
        if *segmenter == Segmenter::JiebaRs {
            write!(f, ", segmenter jieba-rs")?;
        }
        if !hmm {
            write!(f, ", no hmm")?;
        }
        let digests = [
            ("dictionary", lexicon.dictionary.as_deref().map(Dictionary::digest)),
            ("stopWords", lexicon.stop_words.as_deref().map(StopWords::digest)),
            ("idf", lexicon.idf.as_deref().map(Idf::digest)),
        ];
        for (name, digest) in digests {
            if let Some(digest) = digest {
                write!(f, ", {name} {digest:016x}")?;
            }
        }
        Ok(())
    }
}

impl ExtractorOptions {
    /// Takes what one part of a recipe says, the parts being what commas separate; false where it says something else. Of words
    /// of the user's own a recipe has digests alone: they stay as they are here.
    pub fn take_recipe(&mut self, part: &str) -> bool {
        let (name, value) = part.split_once(' ').unwrap_or((part, ""));
        let taken = match name {
            "features" => match value {
                "auto" => Some(Unit::Auto),
                "chars" => Some(Unit::Chars),
                "words" => Some(Unit::Words),
                "jieba" => Some(Unit::Jieba),
                "tokens" => Some(Unit::Tokens),
                _ => None,
            }
            .map(|unit| self.unit = unit),
            "ngram" => value.parse().ok().map(|ngram| self.ngram = Some(ngram)),
            "weighting" => match value {
                "count" => Some(Weighting::Count),
                "binary" => Some(Weighting::Binary),
                "tfidf" => Some(Weighting::TfIdf),
                _ => None,
            }
            .map(|weighting| self.weighting = Some(weighting)),
            "topK" => match value {
                "auto" => Some(TopK::Half),
                count => count.parse().ok().map(TopK::Count),
            }
            .map(|top_k| self.top_k = Some(top_k)),
            _ => match part {
                "segmenter jieba-rs" => {
                    self.segmenter = Segmenter::JiebaRs;
                    Some(())
                }
                "no hmm" => {
                    self.hmm = Some(false);
                    Some(())
                }
                _ => ["dictionary", "stopWords", "idf"].contains(&name).then_some(()),
            },
        };
        taken.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn the_default_is_spelled_out() {
        let plain = Extractor::new(&ExtractorOptions::default()).unwrap().to_string();
        assert_eq!(plain, "features auto, weighting count");
        let options = ExtractorOptions { ngram: Some(3), ..ExtractorOptions::default() };
        let chars = Extractor::new(&options).unwrap().to_string();
        assert_eq!(chars, "features chars, ngram 3, weighting count");
    }

    #[test]
    fn words_without_the_hmm_are_told_apart() {
        let with = |hmm| {
            let options =
                ExtractorOptions { unit: Unit::Jieba, hmm, ..ExtractorOptions::default() };
            Extractor::new(&options).unwrap().to_string()
        };
        assert_eq!(with(None), with(Some(true)));
        assert_eq!(with(Some(false)), "features jieba, ngram 1, weighting tfidf, no hmm");
    }

    #[test]
    fn words_of_the_user_are_told_apart() {
        let with = |words: &str, idf: &str| {
            let mut stop_words = StopWords::none();
            stop_words.load(words.as_bytes()).unwrap();
            let mut dictionary = Dictionary::new();
            dictionary.load(words.as_bytes()).unwrap();
            let options = ExtractorOptions {
                unit: Unit::Jieba,
                stop_words: Some(Arc::new(stop_words)),
                dictionary: Some(Arc::new(dictionary)),
                idf: Some(Arc::new(Idf::load(idf.as_bytes()).unwrap())),
                ..ExtractorOptions::default()
            };
            Extractor::new(&options).unwrap().to_string()
        };
        let one = with("甲乙\n丙丁", "甲乙 3\n丙丁 4");
        assert_eq!(one, with("甲乙\n丙丁", "丙丁 4\n甲乙 3"));
        assert_ne!(one, with("甲乙\n丙戊", "甲乙 3\n丙丁 4"));
        assert_ne!(one, with("甲乙\n丙丁", "甲乙 3\n丙丁 5"));
    }
}
