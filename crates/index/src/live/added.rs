//! The ids of a batch.

use std::ops::Range;

/// Ids of a batch, in the order of its items: ascending, and consecutive unless other calls added between two items. Where an item was
/// there already and its id is repeated, neither.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Added {
    /// At least one, only the first may be empty, none goes on where the one before it ends.
    ranges: Vec<Range<u64>>,
}

impl Added {
    /// None yet, the next one being `next`.
    pub fn from(next: u64) -> Self {
        let none = next..next;
        Self { ranges: vec![none] }
    }

    /// Further ids.
    pub fn push(&mut self, ids: Range<u64>) {
        if ids.is_empty() {
            return;
        }
        match self.ranges.last_mut() {
            Some(last) if last.end == ids.start => last.end = ids.end,
            Some(last) if last.is_empty() => *last = ids,
            _ => self.ranges.push(ids),
        }
    }

    /// The first id; of an empty batch the one that the next addition got.
    pub fn first(&self) -> u64 {
        self.ranges.first().map_or(0, |range| range.start)
    }

    /// How many they are.
    pub fn len(&self) -> u64 {
        self.ranges.iter().map(|range| range.end - range.start).sum()
    }

    /// Whether the batch was empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The ids, as ranges of which none goes on where the one before it ends.
    pub fn ranges(&self) -> &[Range<u64>] {
        &self.ranges
    }

    /// The id of each item.
    pub fn iter(&self) -> impl Iterator<Item = u64> {
        self.ranges.iter().cloned().flatten()
    }
}

impl PartialEq<Range<u64>> for Added {
    fn eq(&self, other: &Range<u64>) -> bool {
        self.ranges == [other.clone()]
    }
}
