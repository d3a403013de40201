//! Reading every fingerprint: the oracle, the path beyond the tables' reach, and the inner loop of every bucket.

/// A stored fingerprint (spread) within the distance asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Hit {
    pub(crate) distance: u32,
    pub(crate) value: u64,
}

/// Calls `on_hit(position, distance)` for every element of `haystack` within `distance` of `query`, in order.
#[inline]
pub(crate) fn within(
    haystack: &[u64],
    query: u64,
    distance: u32,
    mut on_hit: impl FnMut(usize, u32),
) {
    for (position, value) in haystack.iter().enumerate() {
        let apart = (value ^ query).count_ones();
        if apart <= distance {
            on_hit(position, apart);
        }
    }
}
