//! Comparing neighbours: every fingerprint of a sorted part with the few behind it.
//!
//! Buckets hold a handful of fingerprints, of a number that no branch predictor can guess. So rows do not stop at the
//! end of their bucket: each is compared with the next [`WINDOW`] fingerprints, whatever bucket those are in, and what
//! is near is judged by the masks afterwards, which a pair of two buckets never passes. Only the rows of longer buckets
//! go on behind the window.

/// Fingerprints that a row is compared with at least: one AVX-512 register.
pub(super) const WINDOW: usize = 8;

/// Places of two fingerprints that are near each other.
pub(super) type Near = (u32, u32);

/// Appends `(row, other)` for rows `from..to` and those of the `WINDOW` places behind them that are within the distance,
/// in order. Needs `to + WINDOW <= values.len()`.
type Kernel = fn(&[u64], usize, usize, u32, &mut Vec<Near>);

/// The kernels that this machine can run, best first.
fn available() -> Vec<(&'static str, Kernel)> {
    #[allow(unused_mut)] // no other kernel on other machines
    let mut kernels: Vec<(&'static str, Kernel)> = Vec::new();
    #[cfg(target_arch = "x86_64")]
    kernels.extend(x86::available());
    kernels.push(("scalar", scalar));
    kernels
}

fn kernel() -> Kernel {
    static CHOSEN: std::sync::OnceLock<Kernel> = std::sync::OnceLock::new();
    *CHOSEN.get_or_init(|| available()[0].1)
}

#[inline(always)]
#[allow(clippy::inline_always)] // compiled anew for each instruction set
fn plainly(values: &[u64], from: usize, to: usize, distance: u32, near: &mut Vec<Near>) {
    for row in from..to {
        let value = values[row];
        for (other, behind) in (row + 1..).zip(&values[row + 1..=row + WINDOW]) {
            if (value ^ behind).count_ones() <= distance {
                near.push((row as u32, other as u32));
            }
        }
    }
}

fn scalar(values: &[u64], from: usize, to: usize, distance: u32, near: &mut Vec<Near>) {
    plainly(values, from, to, distance, near);
}

/// Appends the near pairs of rows `from..to`, each with the [`WINDOW`] places behind it (fewer at the end).
pub(super) fn windows(values: &[u64], from: usize, to: usize, distance: u32, near: &mut Vec<Near>) {
    let whole = to.min(values.len().saturating_sub(WINDOW)).max(from);
    if whole > from {
        kernel()(values, from, whole, distance, near);
    }
    for row in whole..to {
        rest(values, row, row + 1, values.len(), distance, near);
    }
}

/// Appends the near pairs of a row with the places from `first` to `end`.
pub(super) fn rest(
    values: &[u64],
    row: usize,
    first: usize,
    end: usize,
    distance: u32,
    near: &mut Vec<Near>,
) {
    crate::scan::within(&values[first..end], values[row], distance, |place, _| {
        near.push((row as u32, (first + place) as u32));
    });
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    #![allow(clippy::cast_possible_wrap)] // lanes are bit patterns

    #[allow(clippy::wildcard_imports)] // an instruction set
    use std::arch::x86_64::*;

    use super::{Kernel, Near, WINDOW, plainly};

    pub(super) fn available() -> Vec<(&'static str, Kernel)> {
        let mut kernels: Vec<(&'static str, Kernel)> = Vec::new();
        if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vpopcntdq") {
            // SAFETY: the machine has the features that the kernel is compiled for; so in the cases below.
            kernels.push(("avx512-vpopcntdq", |v, f, t, k, near| unsafe {
                avx512_vpopcntdq(v, f, t, k, near);
            }));
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: as above.
            kernels.push(("avx2", |v, f, t, k, near| unsafe { avx2(v, f, t, k, near) }));
        }
        if is_x86_feature_detected!("popcnt") {
            // SAFETY: as above.
            kernels.push(("popcnt", |v, f, t, k, near| unsafe { popcnt(v, f, t, k, near) }));
        }
        kernels
    }

    #[inline]
    fn report(mut lanes: u32, row: usize, near: &mut Vec<Near>) {
        while lanes != 0 {
            near.push((row as u32, row as u32 + 1 + lanes.trailing_zeros()));
            lanes &= lanes - 1;
        }
    }

    #[target_feature(enable = "popcnt")]
    fn popcnt(values: &[u64], from: usize, to: usize, distance: u32, near: &mut Vec<Near>) {
        plainly(values, from, to, distance, near);
    }

    #[target_feature(enable = "avx512f,avx512vpopcntdq")]
    fn avx512_vpopcntdq(
        values: &[u64],
        from: usize,
        to: usize,
        distance: u32,
        near: &mut Vec<Near>,
    ) {
        assert!(to + WINDOW <= values.len(), "rows have a whole window behind them");
        let limit = _mm512_set1_epi64(i64::from(distance));
        for row in from..to {
            let value = _mm512_set1_epi64(values[row] as i64);
            // SAFETY: `WINDOW` values lie behind the row, as asserted.
            let behind = unsafe { _mm512_loadu_si512(values.as_ptr().add(row + 1).cast()) };
            let differ = _mm512_popcnt_epi64(_mm512_xor_si512(value, behind));
            let lanes = _mm512_cmple_epu64_mask(differ, limit);
            if lanes != 0 {
                report(u32::from(lanes), row, near);
            }
        }
    }

    /// Bits of each half byte.
    const NIBBLES: [u8; 16] = [0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4];

    #[target_feature(enable = "avx2")]
    fn avx2(values: &[u64], from: usize, to: usize, distance: u32, near: &mut Vec<Near>) {
        assert!(to + WINDOW <= values.len(), "rows have a whole window behind them");
        let limit = _mm256_set1_epi64x(i64::from(distance));
        // SAFETY: the table has sixteen bytes.
        let table =
            unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(NIBBLES.as_ptr().cast())) };
        let half = _mm256_set1_epi8(15);
        let far = |differ: __m256i| {
            let low = _mm256_shuffle_epi8(table, _mm256_and_si256(differ, half));
            let high = _mm256_and_si256(_mm256_srli_epi16::<4>(differ), half);
            let bytes = _mm256_add_epi8(low, _mm256_shuffle_epi8(table, high));
            let counts = _mm256_sad_epu8(bytes, _mm256_setzero_si256());
            let far = _mm256_cmpgt_epi64(counts, limit);
            _mm256_movemask_pd(_mm256_castsi256_pd(far)).cast_unsigned()
        };
        for row in from..to {
            let value = _mm256_set1_epi64x(values[row] as i64);
            // SAFETY: `WINDOW` values lie behind the row, as asserted.
            let (near_by, further) = unsafe {
                let behind: *const __m256i = values.as_ptr().add(row + 1).cast();
                (_mm256_loadu_si256(behind), _mm256_loadu_si256(behind.add(1)))
            };
            let lanes =
                far(_mm256_xor_si256(value, near_by)) | far(_mm256_xor_si256(value, further)) << 4;
            if lanes != 0xff {
                report(lanes ^ 0xff, row, near);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_kernel_finds_what_is_near_in_the_window(
            values in proptest::collection::vec(0u64..256, 0..100),
            high: u64,
            distance in 0u32..=16,
            cut in 0usize..100,
        ) {
            let values: Vec<u64> = values.iter().map(|low| high << 8 | low).collect();
            let from = cut.min(values.len());
            let expected: Vec<Near> = (from..values.len())
                .flat_map(|row| (row + 1..values.len().min(row + 1 + WINDOW)).map(move |o| (row, o)))
                .filter(|&(row, other)| (values[row] ^ values[other]).count_ones() <= distance)
                .map(|(row, other)| (row as u32, other as u32))
                .collect();
            let mut near = Vec::new();
            windows(&values, from, values.len(), distance, &mut near);
            prop_assert_eq!(&near, &expected);
            let to = values.len().saturating_sub(WINDOW).max(from);
            for (name, kernel) in available() {
                near.clear();
                if to > from {
                    kernel(&values, from, to, distance, &mut near);
                }
                let whole: Vec<Near> =
                    expected.iter().copied().filter(|&(row, _)| (row as usize) < to).collect();
                prop_assert_eq!(&near, &whole, "{}", name);
            }
        }
    }
}
