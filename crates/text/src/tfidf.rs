//! Keywords with TF-IDF weights, identical to `extract_tags` of Python jieba 0.42.1.
//!
//! A token of the segmentation (with HMM, unless that is off) counts unless it has fewer than two characters or its lower case is a stop word. The
//! weight of a distinct keyword is `tf × (idf / total)` in this order of operations, where `total` counts the keywords'
//! occurrences; a keyword without an idf has the median. Heaviest first, ties in order of first occurrence.
//!
//! **Fixed point.** A fingerprint needs integers: a weight becomes `round(weight × 2^24)`, at least 1. With jieba's idf table the
//! weights of a text add up to at most its largest idf, 13.9, so all of them together stay below 2^28, and a keyword that
//! occurs once in a million keeps three significant digits. A larger weight (an idf table of the user's) saturates at 2^32 − 1.

use crate::feature::{Feature, Token, hash};
use crate::lexicon::{Dictionary, Idf, StopWords, is_default_stop_word};
use crate::segment::dictionary::{self, Node};
use crate::segment::{SegmentScratch, Word, cut_with};
use std::fmt;
use std::sync::Arc;

/// 2^24: see the module's text.
const SCALE: f64 = 16_777_216.0;

/// What keywords are made with; `None` is jieba's own.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lexicon {
    pub(crate) dictionary: Option<Arc<Dictionary>>,
    pub(crate) stop_words: Option<Arc<StopWords>>,
    pub(crate) idf: Option<Arc<Idf>>,
}

/// A distinct keyword of a text.
#[derive(Clone, Copy, Debug)]
struct Keyword {
    /// The dictionary's slot, or a hash of the word with the top bit set.
    key: u64,
    /// Where it first occurs.
    start: usize,
    end: usize,
    count: u32,
    idf: f64,
    /// A stop word: not counted at all.
    stopped: bool,
}

/// How many of a text's keywords count: the heaviest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TopK {
    /// So many, at least 1. `extract_tags` takes 20, the preset `jieba-tfidf` 30.
    Count(usize),
    /// Half of those that the text has, but at least [`TopK::LEAST`] where there are so many. A fixed number is a small part of
    /// a long text, and texts on one subject then look alike: of what lies within distance 3 in zh-tech-lctt (a median of
    /// 3,964 characters) 22 % are near-duplicates with the 30 heaviest, and 45 % with half, and of ten redundant documents
    /// seven are found, and nine.
    Half,
}

impl TopK {
    /// What [`TopK::Half`] takes of a text that has so many keywords; as many as the preset.
    pub const LEAST: usize = 30;

    /// How many of `distinct` keywords.
    pub(crate) fn of(self, distinct: usize) -> usize {
        match self {
            Self::Count(count) => count,
            Self::Half => distinct.div_ceil(2).max(Self::LEAST),
        }
    }
}

impl fmt::Display for TopK {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => count.fmt(f),
            Self::Half => f.write_str("auto"),
        }
    }
}

/// Reusable memory of the keywords of a text; one per thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeywordScratch {
    segment: SegmentScratch,
    keywords: Vec<Keyword>,
    /// Open addressing: index + 1 into `keywords`, 0 for free. A power of two, at most half full.
    table: Vec<u32>,
    /// Weight and index into `keywords`.
    ranked: Vec<(f64, u32)>,
    /// A word in lower case.
    lower: String,
}

/// The smallest table: enough for a title.
const SMALL: usize = 64;

impl KeywordScratch {
    /// Ranks the keywords of `text`: afterwards `ranked` holds the `top_k` heaviest in order.
    fn rank(&mut self, lexicon: &Lexicon, hmm: bool, text: &str, top_k: Option<TopK>) {
        let Self { segment, keywords, table, ranked, lower } = self;
        keywords.clear();
        table.clear();
        table.resize(SMALL, 0);
        let mut total = 0_u64;
        cut_with(lexicon.dictionary.as_deref(), text, hmm, segment, |word| {
            if word.len >= 2
                && word.text != "\r\n"
                && count(lexicon, text, &word, keywords, table, lower)
            {
                total += 1;
            }
        });
        ranked.clear();
        let counted = keywords.iter().enumerate().filter(|(_, keyword)| !keyword.stopped);
        ranked.extend(counted.map(|(index, keyword)| {
            (f64::from(keyword.count) * (keyword.idf / total as f64), index as u32)
        }));
        let heaviest_first =
            |a: &(f64, u32), b: &(f64, u32)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        let top_k = top_k.map(|top_k| top_k.of(ranked.len()));
        if let Some(top_k) = top_k.filter(|&top_k| top_k < ranked.len()) {
            ranked.select_nth_unstable_by(top_k, heaviest_first);
            ranked.truncate(top_k);
        }
        ranked.sort_unstable_by(heaviest_first);
    }

    /// Replaces `features` with the keywords of `text`, heaviest first.
    pub(crate) fn features(
        &mut self,
        lexicon: &Lexicon,
        hmm: bool,
        text: &str,
        top_k: Option<TopK>,
        features: &mut Vec<Feature>,
    ) {
        self.rank(lexicon, hmm, text, top_k);
        features.clear();
        features.extend(self.ranked.iter().map(|&(weight, index)| {
            let keyword = self.keywords[index as usize];
            Feature {
                hash: hash(&text.as_bytes()[keyword.start..keyword.end]),
                weight: fixed_point(weight),
            }
        }));
    }

    /// The keywords of `text`, heaviest first.
    pub(crate) fn tokens(
        &mut self,
        lexicon: &Lexicon,
        hmm: bool,
        text: &str,
        top_k: Option<TopK>,
    ) -> Vec<Token> {
        self.rank(lexicon, hmm, text, top_k);
        let token = |&(weight, index): &(f64, u32)| {
            let keyword = self.keywords[index as usize];
            let token = text[keyword.start..keyword.end].to_owned();
            Token { hash: hash(token.as_bytes()), token, weight }
        };
        self.ranked.iter().map(token).collect()
    }
}

/// Counts one occurrence of `word`; false if it is a stop word.
fn count(
    lexicon: &Lexicon,
    text: &str,
    word: &Word<'_>,
    keywords: &mut Vec<Keyword>,
    table: &mut Vec<u32>,
    lower: &mut String,
) -> bool {
    // What the HMM found may be in the dictionary all the same, or have an idf; one word must have one key.
    let slot =
        if word.slot > 0 { word.slot } else { dictionary::find(word.text).map_or(0, Node::slot) };
    let key = if slot > 0 { u64::from(slot) } else { hash(word.text.as_bytes()) | 1 << 63 };
    let mut at = home(key, table.len());
    while let Some(index) = (table[at] as usize).checked_sub(1) {
        let keyword = &mut keywords[index];
        if keyword.key == key && (slot > 0 || &text[keyword.start..keyword.end] == word.text) {
            keyword.count += 1;
            return !keyword.stopped;
        }
        at = (at + 1) & (table.len() - 1);
    }
    let idf = lexicon.idf.as_ref().map_or_else(
        || dictionary::idfs()[if slot > 0 { Node::at(dictionary::nodes(), slot).idf() } else { 0 }],
        |idf| idf.get(word.text),
    );
    let stopped = lexicon
        .stop_words
        .as_ref()
        .map_or_else(|| is_default_stop_word(word.text), |words| words.contains(word.text, lower));
    keywords.push(Keyword {
        key,
        start: word.start,
        end: word.start + word.text.len(),
        count: 1,
        idf,
        stopped,
    });
    table[at] = keywords.len() as u32;
    if keywords.len() * 2 > table.len() {
        let size = table.len() * 2;
        table.clear();
        table.resize(size, 0);
        for (index, keyword) in keywords.iter().enumerate() {
            let mut at = home(keyword.key, size);
            while table[at] > 0 {
                at = (at + 1) & (size - 1);
            }
            table[at] = index as u32 + 1;
        }
    }
    !stopped
}

/// Where the search for `key` starts in a table of `size`, a power of two: the top bits of a product with 2^64 / φ spread slots that are close together.
fn home(key: u64, size: usize) -> usize {
    (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize & (size - 1)
}

fn fixed_point(weight: f64) -> u32 {
    // A float beyond the range converts to the nearest end of it.
    #[expect(clippy::cast_sign_loss, reason = "weights are not negative")]
    let fixed = (weight * SCALE).round() as u32;
    fixed.max(1)
}
