//! Why two texts are near-duplicates, or are not: tokens, weights and the bits that differ, for people.

use crate::{Fingerprinter, Shingles, Token};
use simhash_text::numbers::numbers;
use simhash_text::{ExtractScratch, NormalizeScratch};
use std::collections::HashMap;

/// How two texts compare under one fingerprinter.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The fingerprints; `None` for a text with too few features.
    pub fingerprints: [Option<u64>; 2],
    /// Hamming distance, where both have a fingerprint.
    pub distance: Option<u32>,
    /// The bits in which the fingerprints differ, by ascending position.
    pub differing_bits: Vec<DifferingBit>,
    /// Tokens of both texts, in the order of the first.
    pub shared: Vec<SharedToken>,
    /// Tokens of the first text only, heaviest first.
    pub only_a: Vec<Token>,
    /// Tokens of the second text only, heaviest first.
    pub only_b: Vec<Token>,
    /// Share of the distinct features of either text that both have, or `long_jaccard` if that is lower, 0 to 1; 0 where
    /// neither has any.
    pub jaccard: f64,
    /// The same share of the long shingles, where both texts have them; see [`Shingles`].
    pub long_jaccard: Option<f64>,
    /// The similarity that verification goes by where nothing else is asked for: 1 for equal texts, else that of
    /// [`Shingles::verified`](crate::Shingles::verified), 0 to just below 1.
    pub similarity: f64,
    /// The numbers of each text, in order, as [`numbers`](fn@simhash_text::numbers::numbers) reads them.
    pub numbers: [Vec<String>; 2],
    /// Whether the normalised texts are equal and not empty.
    pub equal: bool,
}

/// A bit in which two fingerprints differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DifferingBit {
    /// Position, 0 the least significant.
    pub bit: u32,
    /// By how much each text decided the bit: (weight set − weight clear) / total weight, −1 to 1. Above 0 the bit is 1;
    /// near 0 a small edit turns it.
    pub margins: [f64; 2],
}

/// A token that both texts have.
#[derive(Clone, Debug, PartialEq)]
pub struct SharedToken {
    /// The token.
    pub token: String,
    /// Its weight in each text.
    pub weights: [f64; 2],
    /// Its feature hash.
    pub hash: u64,
}

/// Compares `a` and `b` as `fingerprinter` sees them.
///
/// Cost: that of two fingerprints and of maps over all tokens; for looking at pairs, not for scanning a corpus.
pub fn explain(fingerprinter: &Fingerprinter, a: &str, b: &str) -> Explanation {
    let mut scratch = [NormalizeScratch::default(), NormalizeScratch::default()];
    let [scratch_a, scratch_b] = &mut scratch;
    let normal = [
        fingerprinter.normalizer().apply(a, scratch_a),
        fingerprinter.normalizer().apply(b, scratch_b),
    ];
    let sums = normal.map(|text| fingerprinter.sums(text, &mut ExtractScratch::default()));
    let fingerprints =
        [0, 1].map(|side| sums[side].as_ref().map(crate::accumulate::Sums::fingerprint));
    let distance = match fingerprints {
        [Some(a), Some(b)] => Some(crate::hamming::distance(a, b)),
        _ => None,
    };
    let differing_bits = match (&sums, fingerprints) {
        ([Some(sums_a), Some(sums_b)], [Some(a), Some(b)]) => (0..64)
            .filter(|bit| (a ^ b) >> bit & 1 == 1)
            .map(|bit| DifferingBit { bit, margins: [sums_a.margin(bit), sums_b.margin(bit)] })
            .collect(),
        _ => Vec::new(),
    };
    let tokens = normal.map(|text| fingerprinter.extractor().tokens(text));
    let (jaccard, long_jaccard, verified) = similarities(fingerprinter, normal);
    let equal = normal[0] == normal[1] && !normal[0].is_empty();
    let (shared, only_a, only_b) = compare(tokens);
    Explanation {
        fingerprints,
        distance,
        differing_bits,
        jaccard,
        long_jaccard,
        shared,
        only_a,
        only_b,
        similarity: if equal { 1.0 } else { verified },
        numbers: normal.map(|text| numbers(text).lines().map(str::to_owned).collect()),
        equal,
    }
}

fn compare([a, b]: [Vec<Token>; 2]) -> (Vec<SharedToken>, Vec<Token>, Vec<Token>) {
    let mut in_b: HashMap<&str, f64> =
        b.iter().map(|token| (token.token.as_str(), token.weight)).collect();
    let (mut shared, mut only_a) = (Vec::new(), Vec::new());
    for Token { token, weight, hash } in a {
        match in_b.remove(token.as_str()) {
            Some(other) => shared.push(SharedToken { token, weights: [weight, other], hash }),
            None => only_a.push(Token { token, weight, hash }),
        }
    }
    let only_b =
        b.iter().filter(|token| in_b.contains_key(token.token.as_str())).cloned().collect();
    (shared, only_a, only_b)
}

/// Jaccard similarity, that of the features and of the long shingles, and of the latter alone; and what verification makes of
/// it. Features that a limit to the heaviest drops from the fingerprint are included.
fn similarities(fingerprinter: &Fingerprinter, [a, b]: [&str; 2]) -> (f64, Option<f64>, f64) {
    let [a, b] = [a, b].map(|text| Shingles::of_normalized(fingerprinter, text, None));
    let measure = |a: &[u64], b: &[u64]| Some(crate::measure::jaccard(a, b));
    let long = (!a.long.is_empty() && !b.long.is_empty()).then(|| measure(&a.long, &b.long));
    let jaccard = a.similarity(&b, measure).unwrap_or_default();
    (jaccard, long.flatten(), a.verified(&b, measure).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::explain;
    use crate::Fingerprinter;
    use proptest::prelude::*;

    const A: &str = "中国科学家在月球背面发现了新的矿物";
    const B: &str = "中国科学家在月球正面发现了新的矿物";

    #[test]
    fn an_edit_shows_in_tokens_and_bits() {
        let explanation = explain(&Fingerprinter::preset("chars").unwrap(), A, B);
        let only =
            |tokens: &[crate::Token]| tokens.iter().map(|t| t.token.clone()).collect::<Vec<_>>();
        assert_eq!(only(&explanation.only_a), ["球背", "背面"]);
        assert_eq!(only(&explanation.only_b), ["球正", "正面"]);
        assert_eq!(explanation.shared.len(), 14);
        assert!((explanation.jaccard - 14.0 / 18.0).abs() < 1e-12);
        assert_eq!(explanation.distance, Some(explanation.differing_bits.len() as u32));
        for bit in &explanation.differing_bits {
            assert!((bit.margins[0] > 0.0) != (bit.margins[1] > 0.0), "{bit:?}");
        }
    }

    #[test]
    fn numbers_tell_short_texts_apart_and_one_means_equal() {
        let fingerprinter = Fingerprinter::preset("auto").unwrap();
        let told = |a, b| explain(&fingerprinter, a, b);
        let episodes = told("EP100", "EP1000");
        assert_eq!((episodes.jaccard, episodes.similarity), (1.0, 0.0));
        assert_eq!(episodes.numbers, [["100"], ["1000"]]);
        let laughs = told("哈哈哈", "哈哈");
        assert_eq!(laughs.jaccard.to_bits(), 1.0_f64.to_bits());
        assert!(laughs.similarity < 1.0 && laughs.similarity > 0.999);
        assert_eq!(told("ＥＰ100", "ep100").similarity.to_bits(), 1.0_f64.to_bits());
    }

    #[test]
    fn short_and_empty_texts_have_no_distance() {
        let fingerprinter = Fingerprinter::preset("chars").unwrap();
        let short = explain(&fingerprinter, "你好", "你好");
        assert_eq!((short.distance, short.equal, short.jaccard), (None, true, 1.0));
        let empty = explain(&fingerprinter, "", " ");
        assert_eq!((empty.equal, empty.jaccard), (false, 0.0));
    }

    #[test]
    fn long_texts_are_told_by_their_long_shingles_too() {
        let text = |step: u32| -> String {
            (0..500).filter_map(|n| char::from_u32(0x4e00 + n * step % 20)).collect()
        };
        let fingerprinter = Fingerprinter::preset("auto").unwrap();
        let told = explain(&fingerprinter, &text(1), &(text(1) + &text(3)));
        let features = told.shared.len() as f64
            / (told.shared.len() + told.only_a.len() + told.only_b.len()) as f64;
        let long = told.long_jaccard.unwrap();
        assert!(long < features);
        assert_eq!(told.jaccard.to_bits(), long.to_bits());
        assert_eq!(explain(&fingerprinter, A, &text(1)).long_jaccard, None);
        let chars = explain(&Fingerprinter::preset("chars").unwrap(), &text(1), &text(1));
        assert_eq!(chars.long_jaccard, None);
    }

    proptest! {
        #[test]
        fn explaining_the_other_way_round_swaps_the_sides(a in any::<String>(), b in any::<String>()) {
            let fingerprinter = Fingerprinter::preset("chars").unwrap();
            let (ab, ba) = (explain(&fingerprinter, &a, &b), explain(&fingerprinter, &b, &a));
            prop_assert_eq!(ab.distance, ba.distance);
            prop_assert_eq!(ab.jaccard.to_bits(), ba.jaccard.to_bits());
            prop_assert_eq!(ab.only_a, ba.only_b);
            prop_assert_eq!(ab.shared.len(), ba.shared.len());
        }
    }
}
