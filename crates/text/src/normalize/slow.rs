//! The slow path: the definition of normalisation, step by step over the whole string, repeated until nothing changes.

use super::whitespace::Writer;
use super::{Normalizer, casefold::fold};
use unicode_normalization::UnicodeNormalization;

/// More rounds than any text needs: the longest known chain is two (folding leaves a string out of NFKC, a removed space
/// lets a mark compose). The bound only keeps a mistake of ours from looping.
const MAX_ROUNDS: usize = 8;

/// The normalised text by the definition alone.
pub(super) fn normalize(normalizer: &Normalizer, text: &str) -> String {
    let mut now = round(normalizer, text);
    for _ in 0..MAX_ROUNDS {
        let next = round(normalizer, &now);
        if next == now {
            break;
        }
        now = next;
    }
    now
}

fn round(normalizer: &Normalizer, text: &str) -> String {
    let mut now = text.to_owned();
    if normalizer.nfkc {
        now = now.nfkc().collect();
    }
    if normalizer.case {
        let mut folded = String::with_capacity(now.len());
        now.chars().for_each(|c| fold(c, &mut folded));
        now = folded;
    }
    let mut out = String::with_capacity(now.len());
    let mut writer = Writer::new(normalizer.whitespace, &mut out);
    for c in now.chars() {
        if c.is_whitespace() { writer.space(c) } else { writer.char(c) }
    }
    out
}
