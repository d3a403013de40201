//! Similarity from two signatures, and how far it may be off.
//!
//! The standard error is evaluated at a similarity moved half a position towards the middle: no finite signature is
//! evidence that two sets are certainly equal or certainly disjoint.

use super::value::Value;
use std::cmp::Ordering;

/// An estimated Jaccard similarity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// 0 to 1; unbiased.
    pub similarity: f64,
    /// The standard deviation of `similarity` over the choice of the hash functions; 0 where the value is exact. In nineteen
    /// cases of twenty the true value is within two of them.
    pub standard_error: f64,
}

impl Estimate {
    /// `equal` of `all` positions, which are worth `samples` independent ones.
    fn of(equal: usize, all: usize, samples: f64) -> Self {
        let (equal, all) = (equal as f64, all as f64);
        let moved = (equal + 0.5) / (all + 1.0);
        let standard_error = (moved * (1.0 - moved) / samples).sqrt();
        Self { similarity: equal / all, standard_error }
    }
}

fn equal<V: Value>(a: &[V], b: &[V]) -> usize {
    a.iter().zip(b).filter(|(a, b)| a == b).count()
}

/// k permutations: all positions are independent, a binomial sample. An upper bound for fast similarity sketching.
pub(super) fn positions<V: Value>(a: &[V], b: &[V], hashes: usize) -> Estimate {
    Estimate::of(equal(a, b), hashes, hashes as f64)
}

/// One permutation: positions that borrowed from the same bin are one sample, counted several times. With w[s] positions
/// from source s, the variance is `J (1 - J) * sum w[s]² / hashes²`, that of `hashes² / sum w[s]²` samples. Positions with
/// the same two values have the same source. An upper bound where the sets are smaller than the signature: the bins
/// then hold the sets almost whole.
pub(super) fn borrowed<V: Value>(a: &[V], b: &[V], hashes: usize) -> Estimate {
    let mut pairs: Vec<(V, V)> = a.iter().copied().zip(b.iter().copied()).collect();
    pairs.sort_unstable();
    let squares: usize = pairs.chunk_by(|x, y| x == y).map(|run| run.len() * run.len()).sum();
    Estimate::of(equal(a, b), hashes, (hashes * hashes) as f64 / squares.max(1) as f64)
}

/// Bottom-k: a sample of the union without replacement, `hashes` of about N = (hashes - 1) / (share of the range below the
/// largest of them), so the variance of a binomial sample times (N - hashes) / (N - 1).
pub(super) fn smallest<V: Value>(a: &[V], b: &[V], hashes: usize) -> Estimate {
    let whole = a.len() < hashes && b.len() < hashes;
    let most = if whole { usize::MAX } else { hashes };
    let (mut i, mut j, mut both, mut taken, mut last) = (0, 0, 0, 0, V::default());
    while taken < most {
        let order = match (a.get(i), b.get(j)) {
            (Some(x), Some(y)) => x.cmp(y),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => break,
        };
        last = if order.is_le() { a[i] } else { b[j] };
        i += usize::from(order.is_le());
        j += usize::from(order.is_ge());
        both += usize::from(order.is_eq());
        taken += 1;
    }
    if whole {
        return Estimate { similarity: both as f64 / taken as f64, standard_error: 0.0 };
    }
    let size = ((hashes as f64 - 1.0) / last.share()).max(taken as f64 + 1.0);
    let sampled = (size - 1.0) / (size - taken as f64);
    Estimate::of(both, taken, taken as f64 * sampled)
}
