//! The fixed bit permutation that comes before cutting blocks.
//!
//! The bits of a fingerprint come from one feature hash, but callers may hand in fingerprints of other makers whose
//! neighbouring bits are correlated; a block of eight neighbours would then have few distinct values and long
//! buckets. So the index permutes the 64 bits once, on the way in, and works on *spread* fingerprints throughout:
//! tables, maps and saved files. Hamming distance does not change under a permutation, so nothing is permuted back
//! except where a fingerprint itself is handed out.
//!
//! The permutation is a butterfly: six rounds of conditional swaps between bits 32, 16, … 1 apart. Which pairs swap
//! is read from the fractional digits of pi, so that the choice is nobody's. It is part of the file format.

/// One round: bits at distance `.0` swap where the lower bit of the pair is set in `.1`.
/// Masks: the fraction of pi in 64-bit words (243f6a88 85a308d3 …, as tabulated for Blowfish), kept to lower partners.
const ROUNDS: [(u32, u64); 6] = [
    (32, 0x243f_6a88_85a3_08d3 & 0x0000_0000_ffff_ffff),
    (16, 0x1319_8a2e_0370_7344 & 0x0000_ffff_0000_ffff),
    (8, 0xa409_3822_299f_31d0 & 0x00ff_00ff_00ff_00ff),
    (4, 0x082e_fa98_ec4e_6c89 & 0x0f0f_0f0f_0f0f_0f0f),
    (2, 0x4528_21e6_38d0_1377 & 0x3333_3333_3333_3333),
    (1, 0xbe54_66cf_34e9_0c6c & 0x5555_5555_5555_5555),
];

#[inline]
fn swap((apart, lower): (u32, u64), bits: u64) -> u64 {
    let differ = (bits ^ (bits >> apart)) & lower;
    bits ^ differ ^ (differ << apart)
}

/// A fingerprint as the tables hold it.
#[inline]
pub(crate) fn spread(fingerprint: u64) -> u64 {
    ROUNDS.into_iter().fold(fingerprint, |bits, round| swap(round, bits))
}

/// The fingerprint that `spread` made this of.
#[inline]
pub(crate) fn unspread(spread: u64) -> u64 {
    ROUNDS.into_iter().rev().fold(spread, |bits, round| swap(round, bits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn spreading_is_undone_and_keeps_distances(a: u64, b: u64) {
            prop_assert_eq!(unspread(spread(a)), a);
            prop_assert_eq!((spread(a) ^ spread(b)).count_ones(), (a ^ b).count_ones());
        }
    }

    #[test]
    fn few_neighbouring_bits_stay_neighbours() {
        let at = |bit: u32| spread(1 << bit).trailing_zeros();
        let close = (0..63).filter(|&bit| at(bit).abs_diff(at(bit + 1)) <= 1).count();
        assert!(close <= 20, "{close} of 63 pairs stay together");
        for byte in 0..8 {
            let mut bytes: Vec<u32> = (0..8).map(|bit| at(byte * 8 + bit) / 8).collect();
            bytes.sort_unstable();
            bytes.dedup();
            assert!(bytes.len() >= 4, "byte {byte} lands in bytes {bytes:?}");
        }
    }
}
