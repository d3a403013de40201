//! Inverse document frequency: how rare a word is, from a file or from a corpus.

use super::{Dictionary, lines};
use crate::feature::hash;
use crate::segment::{SegmentScratch, cut_with};
use crate::{NormalizeScratch, Normalizer, OptionsError};
use ahash::AHashMap;
use std::fmt::Write;

/// The largest value accepted: ln of a corpus of 2^64 documents is 44.4, and weights stay far inside their fixed point.
const LARGEST: f64 = 100.0;

/// A table of idf values, in place of jieba's.
#[derive(Clone, Debug, PartialEq)]
pub struct Idf {
    values: AHashMap<String, f64>,
    median: f64,
}

/// Every value is finite (`load` and `train` see to that), so equality is an equivalence.
impl Eq for Idf {}

impl Idf {
    /// Reads a table, a line `word idf` each, as jieba's `idf.txt`. A word that occurs twice has the later value.
    ///
    /// # Errors
    /// [`OptionsError::Line`] for a line of another form or with a value outside 0 to 100; [`OptionsError::Invalid`] for a file
    /// without any line.
    pub fn load(bytes: &[u8]) -> Result<Self, OptionsError> {
        let mut values = AHashMap::new();
        lines::read("idf", "a word and its idf, 0 to 100", bytes, |line| {
            let (word, value) = line.rsplit_once(char::is_whitespace)?;
            let value: f64 = value.parse().ok()?;
            (0.0..=LARGEST)
                .contains(&value)
                .then(|| values.insert(word.trim_end().to_owned(), value))?;
            Some(())
        })?;
        Self::of(values).ok_or_else(|| OptionsError::Invalid {
            argument: "idf",
            value: "an empty table".to_owned(),
            expected: "a table of at least one word".to_owned(),
        })
    }

    /// The table as a file that [`load`](Self::load) reads back to an equal one: sorted by word, shortest exact decimals.
    pub fn save(&self) -> String {
        let mut words: Vec<_> = self.values.iter().collect();
        words.sort_unstable_by_key(|&(word, _)| word);
        words.into_iter().fold(String::new(), |mut out, (word, value)| {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "{word} {value}");
            out
        })
    }

    /// A number that is equal for equal tables.
    pub(crate) fn digest(&self) -> u64 {
        hash(self.save().as_bytes())
    }

    /// The value of `word`; for a word that is not in the table the median, as jieba has it (the upper of two middles).
    pub fn get(&self, word: &str) -> f64 {
        self.values.get(word).copied().unwrap_or(self.median)
    }

    /// Number of words.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Always false: a table has at least one word.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The same table as its words look after `normalizer`; of words that become one, the largest value stays.
    pub(crate) fn normalized(&self, normalizer: &Normalizer) -> Self {
        let mut scratch = NormalizeScratch::default();
        let mut values: AHashMap<String, f64> = AHashMap::with_capacity(self.values.len());
        for (word, &value) in &self.values {
            let word = normalizer.apply(word, &mut scratch).to_owned();
            values.entry(word).and_modify(|old| *old = old.max(value)).or_insert(value);
        }
        Self { values, median: self.median }
    }

    fn of(values: AHashMap<String, f64>) -> Option<Self> {
        let mut sorted: Vec<f64> = values.values().copied().collect();
        let middle = sorted.len() / 2;
        if sorted.is_empty() {
            return None;
        }
        let (_, &mut median, _) = sorted.select_nth_unstable_by(middle, f64::total_cmp);
        Some(Self { values, median })
    }
}

/// Learns idf values from a corpus, one document at a time.
#[derive(Clone, Debug, Default)]
pub struct IdfTrainer {
    documents: u64,
    /// Documents that hold the word, and the last one that was counted.
    counts: AHashMap<String, (u64, u64)>,
    scratch: SegmentScratch,
}

impl IdfTrainer {
    /// Counts the words of one document, as a fingerprinter with this dictionary would see it (normalise it first, if the
    /// fingerprinter does). Words are those that can become keywords: two characters or more.
    pub fn add(&mut self, text: &str, dictionary: Option<&Dictionary>) {
        self.documents += 1;
        let Self { documents, counts, scratch } = self;
        cut_with(dictionary, text, true, scratch, |word| {
            if word.len < 2 || word.text == "\r\n" {
                return;
            }
            if let Some((count, last)) = counts.get_mut(word.text) {
                *count += u64::from(*last != *documents);
                *last = *documents;
            } else {
                counts.insert(word.text.to_owned(), (1, *documents));
            }
        });
    }

    /// Documents counted so far.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// The table: `ln((1 + documents) / (1 + documents with the word)) + 1`, which stays above 0 for a word of every document,
    /// rounded to six decimals so that the last bit of a platform's logarithm does not show. Words of fewer than `min_documents`
    /// documents are left out (they get the median).
    ///
    /// # Errors
    /// [`OptionsError::Invalid`] when no word is left.
    pub fn finish(&self, min_documents: u64) -> Result<Idf, OptionsError> {
        let value = |count: u64| {
            let idf = ((1 + self.documents) as f64 / (1 + count) as f64).ln() + 1.0;
            (idf * 1e6).round() / 1e6
        };
        let kept = self.counts.iter().filter(|&(_, &(count, _))| count >= min_documents);
        let values = kept.map(|(word, &(count, _))| (word.clone(), value(count))).collect();
        Idf::of(values).ok_or_else(|| OptionsError::Invalid {
            argument: "min_documents",
            value: min_documents.to_string(),
            expected: format!("low enough to leave words of {} documents", self.documents),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Idf, IdfTrainer};

    #[test]
    fn a_table_survives_saving_and_loading() {
        let idf = Idf::load("人工智能 5.25\n数据  3.1\nthe 0\nAPI 11.954767502900001\n".as_bytes())
            .unwrap();
        assert_eq!(Idf::load(idf.save().as_bytes()).unwrap(), idf);
        assert!((idf.get("数据") - 3.1).abs() < 1e-12);
        assert!((idf.get("没有") - 5.25).abs() < 1e-12, "the upper middle of 0, 3.1, 5.25, 11.95");
    }

    #[test]
    fn a_bad_line_is_named_by_number() {
        for wrong in
            ["一 1\n二\n", "一 1\n二 x\n", "一 1\n二 -1\n", "一 1\n二 NaN\n", "一 1\n二 inf\n"]
        {
            let error = Idf::load(wrong.as_bytes()).unwrap_err();
            assert!(
                error.to_string().starts_with("idf line 2 must be a word and its idf"),
                "{error}"
            );
            assert!(matches!(error, crate::OptionsError::Line { line: 2, .. }), "{error:?}");
        }
        assert_eq!(Idf::load(b"\n").unwrap_err().argument(), "idf");
    }

    #[test]
    fn rare_words_get_more_weight_than_frequent_ones() {
        let mut trainer = IdfTrainer::default();
        for text in ["我们学习数据库，数据库", "我们学习英语", "我们休息"] {
            trainer.add(text, None);
        }
        let idf = trainer.finish(1).unwrap();
        assert!((idf.get("我们") - 1.0).abs() < 1e-9, "in every document");
        assert!(idf.get("学习") < idf.get("数据库"));
        assert!(
            (idf.get("数据库") - 1.693_147).abs() < 1e-9,
            "ln(4 / 2) + 1, counted once per document"
        );
        assert_eq!(trainer.finish(4).unwrap_err().argument(), "min_documents");
    }
}
