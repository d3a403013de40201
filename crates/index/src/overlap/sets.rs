//! Many sets in one piece of memory.

/// Sets one behind the other: 8 bytes per member and 8 per set.
#[derive(Debug, Clone, Default)]
pub struct Sets {
    members: Vec<u64>,
    ends: Vec<usize>,
}

impl Sets {
    /// No sets.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a set, which must be sorted and without repetition; its ordinal is the number of sets before it.
    pub fn push(&mut self, set: &[u64]) {
        debug_assert!(set.is_sorted_by(|a, b| a < b), "sorted and distinct");
        self.members.extend_from_slice(set);
        self.ends.push(self.members.len());
    }

    /// The set at `ordinal`; an empty one where there is none.
    pub fn get(&self, ordinal: usize) -> &[u64] {
        let start = ordinal.checked_sub(1).map_or(Some(0), |last| self.ends.get(last).copied());
        let range = start.zip(self.ends.get(ordinal).copied());
        range.map_or(&[], |(start, end)| &self.members[start..end])
    }

    /// All sets in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u64]> {
        (0..self.len()).map(|ordinal| self.get(ordinal))
    }

    /// Number of sets.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no set.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All members of all sets, in order.
    pub(super) fn members(&self) -> &[u64] {
        &self.members
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.members.capacity() * 8 + self.ends.capacity() * size_of::<usize>()
    }
}
