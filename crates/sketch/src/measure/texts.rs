//! Two texts as they are given: each is normalised and cut, then measured.

use super::cosine;
use crate::{Fingerprinter, Scratch, Shingles};

/// A measure of sets ([`jaccard`](super::jaccard), [`containment`](super::containment)) of two texts, 0 to 1: that of their
/// features or, where both have long shingles, that of these if it is lower ([`Shingles::similarity`]).
pub fn of_texts(
    by: &Fingerprinter,
    a: &str,
    b: &str,
    measure: impl Fn(&[u64], &[u64]) -> f64,
) -> f64 {
    let mut scratch = Scratch::default();
    let [a, b] = [a, b].map(|text| {
        let mut sets = Shingles::default();
        by.shingles_of(text, &mut scratch, &mut sets);
        sets
    });
    a.similarity(&b, |a, b| Some(measure(a, b))).unwrap_or_default()
}

/// The [`cosine`](fn@super::cosine) of two texts' weighted features, 0 to 1.
pub fn cosine_of_texts(by: &Fingerprinter, a: &str, b: &str) -> f64 {
    let mut scratch = Scratch::default();
    let [a, b] = [a, b].map(|text| {
        let mut vector = Vec::new();
        by.vector(text, &mut scratch, &mut vector);
        vector
    });
    cosine(&a, &b)
}
