//! Bottom-k: the k smallest distinct values of one hash, ascending.
//!
//! The k smallest values of `A ∪ B` are among the k smallest of A and of B, and are a random sample of the union without
//! replacement; the share of them that both sets have is the estimate (Cohen and Kaplan, "Summarizing data using bottom-k
//! sketches", 2007). Fewer than k values are the whole set, and the estimate is exact.

use super::value::{Value, mix};

/// Replaces `out` with the smallest values.
pub(super) fn smallest<V: Value>(features: &[u64], salt: u64, count: usize, out: &mut Vec<V>) {
    // Values are gathered up to twice the count, then cut back: amortised O(1) each, and values above the last cut's
    // largest, which are nearly all, cost one comparison.
    let room = 2 * count + 64;
    let mut bound = V::MAX;
    out.clear();
    out.reserve(room);
    for &feature in features {
        let value = V::value(mix(feature ^ salt));
        if value < bound || (value == V::MAX && bound == V::MAX) {
            out.push(value);
            if out.len() == room {
                cut(out, count);
                if let (true, Some(&largest)) = (out.len() == count, out.last()) {
                    bound = largest;
                }
            }
        }
    }
    cut(out, count);
}

fn cut<V: Value>(values: &mut Vec<V>, count: usize) {
    values.sort_unstable();
    values.dedup();
    values.truncate(count);
}
