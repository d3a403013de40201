//! The key of a band: XXH3-64 over its positions as little-endian bytes, seeded with the band's number, so that equal
//! positions of different bands have different keys. Part of the file format.

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Replaces `out` with the keys of a signature's bands of `rows` positions, in order; two signatures share a band where a key is
/// equal. An empty signature has no keys, one shorter than `bands * rows` only those of its whole bands.
///
/// `rows` is at least 1. About 10 ns per band.
pub fn band_keys(bands: usize, rows: usize, signature: &[u32], out: &mut Vec<u64>) {
    out.clear();
    let mut bytes = Vec::with_capacity(rows * 4);
    for (band, positions) in signature.chunks_exact(rows).take(bands).enumerate() {
        out.push(band_key(band, positions, &mut bytes));
    }
}

/// The key of one band over these positions, which may be more than its own: texts that share it share all of them. `scratch`
/// is memory to work in.
pub fn band_key<'a>(
    band: usize,
    positions: impl IntoIterator<Item = &'a u32>,
    scratch: &mut Vec<u8>,
) -> u64 {
    #[cfg(feature = "counters")]
    simhash_text::counters::BAND_KEYS.add();
    scratch.clear();
    scratch.extend(positions.into_iter().flat_map(|value| value.to_le_bytes()));
    xxh3_64_with_seed(scratch, band as u64)
}

#[cfg(test)]
mod tests {
    use super::band_keys;

    /// Values from the reference C implementation (xxHash 0.8 by its Python binding), not from the crate under test.
    #[test]
    fn keys_are_frozen_and_differ_by_band() {
        let mut keys = Vec::new();
        band_keys(3, 2, &[1, 2, 1, 2, 1, 3, 9], &mut keys);
        let frozen = [0x0389_e2c8_892d_5450, 0x66c0_f07d_c924_2d28, 0x75d2_7b0f_fcb6_c149];
        assert_eq!(keys, frozen);
        band_keys(3, 2, &[1, 2, 1], &mut keys);
        assert_eq!(keys, frozen[..1]);
        band_keys(3, 2, &[], &mut keys);
        assert!(keys.is_empty());
    }
}
