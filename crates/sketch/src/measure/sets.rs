//! Two sets: how much they share.
//!
//! Both measures are one merge. Where only pairs above a threshold matter, [`jaccard_at_least`] gives up early by two
//! bounds:
//!
//! - size: `|A ∩ B| ≤ min(|A|, |B|)` and `|A ∪ B| ≥ max(|A|, |B|)`, so J ≤ min / max;
//! - remaining overlap: J ≥ t needs `|A ∩ B| ≥ t / (1 + t) · (|A| + |B|)`; the merge stops when what it has found plus
//!   all that is left of the shorter rest cannot reach that.

use std::cmp::Ordering;

/// Jaccard similarity `|A ∩ B| / |A ∪ B|` of two sorted slices of distinct values, from 0 to 1.
///
/// Two empty sets have similarity 0: an empty text resembles nothing. Cost: `|A| + |B|` steps.
pub fn jaccard(a: &[u64], b: &[u64]) -> f64 {
    ratio(overlap(a, b), a.len(), b.len())
}

/// [`jaccard`] where it is at least `least`, else `None`; the same value to the last bit.
///
/// Cost: at most one merge, usually far less for pairs below the threshold.
pub fn jaccard_at_least(a: &[u64], b: &[u64], least: f64) -> Option<f64> {
    let total = (a.len() + b.len()) as f64;
    // One below the bound absorbs the rounding of t / (1 + t); the final comparison is exact.
    #[expect(clippy::cast_sign_loss, reason = "max(0.0)")]
    let need = ((least / (1.0 + least) * total).floor() - 1.0).max(0.0) as usize;
    let found = overlap_at_least(a, b, need)?;
    let similarity = ratio(found, a.len(), b.len());
    (similarity >= least).then_some(similarity)
}

/// Containment `|A ∩ B| / min(|A|, |B|)`: how much of the smaller set the larger one holds,
/// from 0 to 1. An empty set is contained in nothing (0).
pub fn containment(a: &[u64], b: &[u64]) -> f64 {
    let smaller = a.len().min(b.len());
    if smaller == 0 { 0.0 } else { overlap(a, b) as f64 / smaller as f64 }
}

/// Jaccard similarity of sets of so many members, of which so many are common.
pub(crate) fn ratio(found: usize, a: usize, b: usize) -> f64 {
    let union = a + b - found;
    if union == 0 { 0.0 } else { found as f64 / union as f64 }
}

/// Size of the intersection of two sorted slices of distinct values. Cost: `|A| + |B|` steps.
pub fn overlap(a: &[u64], b: &[u64]) -> usize {
    let (mut i, mut j, mut found) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        // Three conditional moves: the order of two hashes is a coin toss to a branch predictor.
        found += usize::from(a[i] == b[j]);
        let (left, right) = (a[i] <= b[j], a[i] >= b[j]);
        i += usize::from(left);
        j += usize::from(right);
    }
    found
}

/// [`overlap`] where it is at least `need`, else `None`, as soon as that is certain.
pub fn overlap_at_least<T: Ord>(mut a: &[T], mut b: &[T], need: usize) -> Option<usize> {
    // Steps between two looks at the bound: often enough to stop early, rarely enough to be free.
    const STRIDE: usize = 32;
    let mut found = 0;
    loop {
        if found + a.len().min(b.len()) < need {
            return None;
        }
        if a.is_empty() || b.is_empty() {
            return Some(found);
        }
        // Within `STRIDE` steps neither side can run past `STRIDE` values, so the bound holds
        // for what is left of both.
        let (x, y) = (&a[..a.len().min(STRIDE)], &b[..b.len().min(STRIDE)]);
        let (mut i, mut j) = (0, 0);
        while i < x.len() && j < y.len() {
            match x[i].cmp(&y[j]) {
                Ordering::Less => i += 1,
                Ordering::Greater => j += 1,
                Ordering::Equal => {
                    found += 1;
                    i += 1;
                    j += 1;
                }
            }
        }
        a = &a[i..];
        b = &b[j..];
    }
}
