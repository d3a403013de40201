//! Fingerprints sorted into buckets: the counting sort of a part, and of a bucket that is cut.

use super::key::Key;

/// Members of a bucket, about: fewer make more buckets than pay, more make more comparisons.
const FILL: usize = 4;

/// Fingerprints by bucket.
#[derive(Debug, Clone, Default)]
pub(super) struct Group {
    pub(super) values: Vec<u64>,
    /// Where each bucket begins, and the end.
    pub(super) starts: Vec<u32>,
}

/// Bits of a directory over so many members.
pub(super) fn directory_bits(count: usize) -> u32 {
    (count / FILL).max(1).ilog2()
}

impl Group {
    /// Sorts all of `slices` by a key of the bits of `mask`; equal keys stay in order.
    pub(super) fn sort<'a>(
        &mut self,
        slices: impl Iterator<Item = &'a [u64]> + Clone,
        mask: u64,
    ) -> Key {
        let count = slices.clone().map(<[u64]>::len).sum();
        let key = Key::new(mask, directory_bits(count));
        self.count(slices.clone(), count, 1 << key.bits(), |value| key.of(value));
        self.place(slices, |value| key.of(value));
        key
    }

    /// Sorts by a hash of the masked bits: all of them have a say, also where some hardly vary.
    pub(super) fn scramble(&mut self, values: &[u64], mask: u64) {
        let bits = directory_bits(values.len()).max(1);
        // Fibonacci hashing (Knuth 6.4) of the folded bits: the top bits of the product depend on all.
        let slot = |value: u64| {
            let kept = value & mask;
            ((kept ^ kept >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits)) as usize
        };
        let slices = std::iter::once(values);
        self.count(slices.clone(), values.len(), 1 << bits, slot);
        self.place(slices, slot);
    }

    fn count<'a>(
        &mut self,
        slices: impl Iterator<Item = &'a [u64]>,
        count: usize,
        slots: usize,
        slot: impl Fn(u64) -> usize,
    ) {
        self.values.resize(count, 0);
        self.starts.clear();
        // Shifted by two: placing a member moves the begin of the next bucket up to its own.
        self.starts.resize(slots + 2, 0);
        for slice in slices {
            for &value in slice {
                self.starts[slot(value) + 2] += 1;
            }
        }
        let mut sum = 0;
        for start in &mut self.starts {
            sum += *start;
            *start = sum;
        }
    }

    fn place<'a>(&mut self, slices: impl Iterator<Item = &'a [u64]>, slot: impl Fn(u64) -> usize) {
        for slice in slices {
            for &value in slice {
                let at = &mut self.starts[slot(value) + 1];
                self.values[*at as usize] = value;
                *at += 1;
            }
        }
        self.starts.pop();
    }

    /// How many buckets.
    pub(super) fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    pub(super) fn bucket(&self, number: usize) -> &[u64] {
        &self.values[self.starts[number] as usize..self.starts[number + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn equal_bits_share_a_bucket_and_nothing_is_lost(
            values in proptest::collection::vec(any::<u64>(), 0..300),
            mask: u64,
            cut in 0usize..300,
        ) {
            let (head, tail) = values.split_at(cut.min(values.len()));
            let mut group = Group::default();
            let key = group.sort([head, tail].into_iter(), mask);
            for bucket in 0..group.len() {
                prop_assert!(group.bucket(bucket).iter().all(|&value| key.of(value) == bucket));
            }
            let mut stable = values.clone();
            stable.sort_by_key(|&value| key.of(value));
            prop_assert_eq!(&group.values, &stable);
            group.scramble(&values, mask);
            let home = |value: u64| {
                (0..group.len()).find(|&bucket| group.bucket(bucket).contains(&value))
            };
            for pair in values.windows(2).filter(|pair| pair[0] & mask == pair[1] & mask) {
                prop_assert_eq!(home(pair[0]), home(pair[1]));
            }
            let (mut left, mut right) = (group.values.clone(), values);
            left.sort_unstable();
            right.sort_unstable();
            prop_assert_eq!(left, right);
        }
    }
}
