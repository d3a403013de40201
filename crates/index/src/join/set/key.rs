//! A few bits of a fingerprint as a small number.

/// A run of neighbouring bits: where it lies in the fingerprint and where in the key.
#[derive(Debug, Clone, Copy, Default)]
struct Piece {
    shift: u32,
    mask: u64,
    left: u32,
}

impl Piece {
    #[inline]
    fn of(self, value: u64) -> u64 {
        (value >> self.shift & self.mask) << self.left
    }
}

/// Which bits a key is made of.
#[derive(Debug, Clone, Default)]
pub(super) struct Key {
    /// Most keys are made of one run or two: no loop for those.
    common: [Piece; 2],
    more: Vec<Piece>,
    mask: u64,
}

impl Key {
    /// `bits` of the bits of `mask` (all if it has fewer), from its longest runs: fewer pieces are faster, and which
    /// bits of a prefix come first does not matter.
    pub(super) fn new(mask: u64, bits: u32) -> Self {
        let mut runs = Vec::new();
        let mut left = mask;
        while left != 0 {
            let shift = left.trailing_zeros();
            let length = (left >> shift).trailing_ones();
            runs.push((shift, length));
            left &= !(low_bits(length) << shift);
        }
        runs.sort_by_key(|&(shift, length)| (std::cmp::Reverse(length), shift));
        let mut pieces = Vec::new();
        let mut key = Self::default();
        let mut next = 0;
        for (shift, length) in runs {
            let length = length.min(bits - next);
            if length == 0 {
                break;
            }
            pieces.push(Piece { shift, mask: low_bits(length), left: next });
            key.mask |= low_bits(length) << shift;
            next += length;
        }
        for (place, piece) in key.common.iter_mut().zip(&pieces) {
            *place = *piece;
        }
        key.more = pieces.into_iter().skip(2).collect();
        key
    }

    /// The bits of the fingerprint that it is made of.
    pub(super) fn mask(&self) -> u64 {
        self.mask
    }

    /// How many bits; keys are below `2^bits`.
    pub(super) fn bits(&self) -> u32 {
        self.mask.count_ones()
    }

    #[inline]
    pub(super) fn of(&self, value: u64) -> usize {
        let [first, second] = self.common;
        let key = first.of(value) | second.of(value);
        self.more.iter().fold(key, |key, piece| key | piece.of(value)) as usize
    }
}

fn low_bits(count: u32) -> u64 {
    u64::MAX.checked_shr(64 - count).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn keys_are_equal_exactly_where_their_bits_are(a: u64, b: u64, mask: u64, bits in 0u32..=20) {
            let key = Key::new(mask, bits);
            prop_assert_eq!(key.mask() & !mask, 0);
            prop_assert_eq!(key.bits(), bits.min(mask.count_ones()));
            prop_assert!(key.of(a) < 1 << key.bits());
            prop_assert_eq!(key.of(a) == key.of(b), (a ^ b) & key.mask() == 0);
        }
    }

    #[test]
    fn long_runs_come_first() {
        let key = Key::new(0b0011_0000_1111_1111, 6);
        assert_eq!(key.mask(), 0b0011_1111);
        assert_eq!(key.of(0b1010_0101), 0b10_0101);
        assert_eq!(Key::new(u64::MAX, 64).of(u64::MAX), usize::MAX);
        assert_eq!(Key::new(u64::MAX, 0).of(u64::MAX), 0);
    }
}
