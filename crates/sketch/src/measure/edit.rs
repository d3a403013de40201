//! Edit distance over code points.
//!
//! Levenshtein distance: fewest insertions, deletions and replacements of one code point. As a similarity it is
//! `1 - distance / length of the longer text`: the share of the longer text that can stay as it is.
//!
//! The crate rapidfuzz computes it bit-parallel, 64 cells of the table at a time (Hyyrö, "A bit-vector algorithm for
//! computing Levenshtein and Damerau edit distances", 2003), and only in the band around the diagonal that a distance
//! limit leaves (Ukkonen, 1985).

use rapidfuzz::distance::levenshtein as rapid;

/// Levenshtein distance of two texts in code points.
///
/// Cost: `|a| · |b| / 64` steps.
pub fn levenshtein(a: &str, b: &str) -> usize {
    rapid::distance(a.chars(), b.chars())
}

/// [`levenshtein`] where it is at most `most`, else `None`.
///
/// Cost: `most · min(|a|, |b|) / 32` steps at most; none where the lengths differ by more than `most`.
pub fn levenshtein_within(a: &str, b: &str, most: usize) -> Option<usize> {
    let lengths = (a.chars().count(), b.chars().count());
    // Beyond the longer length every distance is within; the crate squares its limit's room for nothing otherwise.
    let most = most.min(lengths.0.max(lengths.1));
    if lengths.0.abs_diff(lengths.1) > most {
        return None;
    }
    let limit = rapid::Args::default().score_cutoff(most);
    rapid::distance_with_args(a.chars(), b.chars(), &limit)
}

/// `1 - distance / length of the longer text`, in code points, from 0 to 1; two empty texts have 0.
pub fn edit_similarity(a: &str, b: &str) -> f64 {
    let longer = a.chars().count().max(b.chars().count());
    share(longer, levenshtein(a, b))
}

/// [`edit_similarity`] where it is at least `least`, else `None`; the same value to the last bit.
///
/// Cost: that of [`levenshtein_within`] for the distance that `least` allows.
pub fn edit_similarity_at_least(a: &str, b: &str, least: f64) -> Option<f64> {
    let longer = a.chars().count().max(b.chars().count());
    // One more than the bound absorbs its rounding; the final comparison is exact.
    #[expect(clippy::cast_sign_loss, reason = "max(0.0)")]
    let most = ((1.0 - least) * longer as f64).max(0.0) as usize + 1;
    let similarity = share(longer, levenshtein_within(a, b, most)?);
    (similarity >= least).then_some(similarity)
}

/// One division of whole numbers, so that 4 of 5 is exactly the number that 0.8 is.
fn share(longer: usize, distance: usize) -> f64 {
    if longer == 0 { 0.0 } else { (longer - distance) as f64 / longer as f64 }
}
