//! The portable kernels, and the twins that the others are tested against.

use super::BYTE_BLOCK;
use simhash_text::Feature;

/// `SPREAD[b]` has bit `i` of `b` as byte `i`: 0 or 1. Eight look-ups turn a hash into 64 byte counters.
static SPREAD: [u64; 256] = spread();

const fn spread() -> [u64; 256] {
    let mut table = [0_u64; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < 8 {
            table[byte] |= ((byte as u64 >> bit) & 1) << (8 * bit);
            bit += 1;
        }
        byte += 1;
    }
    table
}

/// Adds at most 255 hashes of weight 1.
pub(super) fn add_hashes(block: &[u64], bits: &mut [u64; 64]) {
    debug_assert!(block.len() <= BYTE_BLOCK, "byte counters would overflow");
    let mut counters = [0_u64; 8];
    for hash in block {
        for (counter, byte) in counters.iter_mut().zip(hash.to_le_bytes()) {
            *counter += SPREAD[usize::from(byte)];
        }
    }
    for (sum, count) in bits.iter_mut().zip(counters.iter().flat_map(|c| c.to_le_bytes())) {
        *sum += u64::from(count);
    }
}

/// Adds features and returns their total weight.
pub(super) fn add_features(block: &[Feature], bits: &mut [u64; 64]) -> u64 {
    for feature in block {
        for (bit, sum) in bits.iter_mut().enumerate() {
            *sum += u64::from(feature.weight) * (feature.hash >> bit & 1);
        }
    }
    block.iter().map(|feature| u64::from(feature.weight)).sum()
}

/// The bits that have more than half of the total.
pub(super) fn majority(bits: &[u64; 64], total: u64) -> u64 {
    let above = |bit: &usize| 2 * bits[*bit] > total;
    (0..64).filter(above).fold(0, |fingerprint, bit| fingerprint | 1 << bit)
}
