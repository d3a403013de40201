//! Cosine of the angle between two weighted feature vectors.
//!
//! Vectors are slices of [`Feature`] with ascending, distinct hashes, as
//! [`Fingerprinter::vector`](crate::Fingerprinter::vector) makes them; their coordinates are the weights.

use crate::Feature;

/// `a · b / (|a| |b|)`, from 0 to 1 since no weight is negative; 0 where a vector is empty.
///
/// Products of 32-bit weights are added as 128-bit integers, which never round; one square root and one division remain,
/// and both are exact to the last bit by IEEE 754. Cost: `|a| + |b|` steps.
pub fn cosine(a: &[Feature], b: &[Feature]) -> f64 {
    let product = dot(a, b) as f64;
    // The root of a product, not the product of roots: for equal vectors it is then exactly their squared length.
    let lengths = (dot(a, a) as f64 * dot(b, b) as f64).sqrt();
    if lengths > 0.0 { (product / lengths).min(1.0) } else { 0.0 }
}

/// [`cosine`] where it is at least `least`, else `None`.
pub fn cosine_at_least(a: &[Feature], b: &[Feature], least: f64) -> Option<f64> {
    let similarity = cosine(a, b);
    (similarity >= least).then_some(similarity)
}

fn dot(a: &[Feature], b: &[Feature]) -> u128 {
    let (mut i, mut j, mut sum) = (0, 0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        if x.hash == y.hash {
            sum += u128::from(u64::from(x.weight) * u64::from(y.weight));
        }
        i += usize::from(x.hash <= y.hash);
        j += usize::from(x.hash >= y.hash);
    }
    sum
}
