//! Comparing neighbours: every fingerprint of a sorted part with the few behind it.
//!
//! Buckets hold a handful of fingerprints, of a number that no branch predictor can guess. So rows do not stop at the
//! end of their bucket: each is compared with the next [`WINDOW`] fingerprints, whatever bucket those are in, and what
//! is near is judged by the masks afterwards, which a pair of two buckets never passes. The rows of longer buckets go
//! on, a window further at a time.

/// Fingerprints that a row is compared with at least: one AVX-512 register.
pub(super) const WINDOW: usize = 8;

/// Places of two fingerprints that are near each other.
pub(super) type Near = (u32, u32);

/// Rows, and how many places behind each are skipped before its window.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rows {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) skip: usize,
}

/// Appends `(row, other)` for each row and those places of its window that are within the distance, in order. Needs
/// `to + skip + WINDOW <= values.len()`.
type Kernel = fn(&[u64], Rows, u32, &mut Vec<Near>);

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
fn plainly(values: &[u64], rows: Rows, distance: u32, near: &mut Vec<Near>) {
    for row in rows.from..rows.to {
        let value = values[row];
        let first = row + 1 + rows.skip;
        for (other, behind) in (first..).zip(&values[first..first + WINDOW]) {
            if (value ^ behind).count_ones() <= distance {
                near.push((row as u32, other as u32));
            }
        }
    }
}

fn scalar(values: &[u64], rows: Rows, distance: u32, near: &mut Vec<Near>) {
    plainly(values, rows, distance, near);
}

/// Appends the near pairs of rows with their windows, which end where the values end.
pub(super) fn windows(values: &[u64], rows: Rows, distance: u32, near: &mut Vec<Near>) {
    let Rows { from, to, skip } = rows;
    let whole = to.min(values.len().saturating_sub(WINDOW + skip)).max(from);
    if whole > from {
        kernel()(values, Rows { from, to: whole, skip }, distance, near);
    }
    for row in whole..to.min(values.len().saturating_sub(skip)) {
        let first = row + 1 + skip;
        rest(values, row, first, values.len().min(first + WINDOW), distance, near);
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

    use super::{Kernel, Near, Rows, WINDOW, plainly};

    pub(super) fn available() -> Vec<(&'static str, Kernel)> {
        let mut kernels: Vec<(&'static str, Kernel)> = Vec::new();
        if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vpopcntdq") {
            // SAFETY: the machine has the features that the kernel is compiled for; so in the cases below.
            kernels.push(("avx512-vpopcntdq", |v, r, k, near| unsafe {
                avx512_vpopcntdq(v, r, k, near);
            }));
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: as above.
            kernels.push(("avx2", |v, r, k, near| unsafe { avx2(v, r, k, near) }));
        }
        if is_x86_feature_detected!("popcnt") {
            // SAFETY: as above.
            kernels.push(("popcnt", |v, r, k, near| unsafe { popcnt(v, r, k, near) }));
        }
        kernels
    }

    #[inline]
    fn report(mut lanes: u32, row: usize, skip: usize, near: &mut Vec<Near>) {
        while lanes != 0 {
            near.push((row as u32, (row + 1 + skip) as u32 + lanes.trailing_zeros()));
            lanes &= lanes - 1;
        }
    }

    #[target_feature(enable = "popcnt")]
    fn popcnt(values: &[u64], rows: Rows, distance: u32, near: &mut Vec<Near>) {
        plainly(values, rows, distance, near);
    }

    #[target_feature(enable = "avx512f,avx512vpopcntdq")]
    fn avx512_vpopcntdq(values: &[u64], rows: Rows, distance: u32, near: &mut Vec<Near>) {
        let reach = rows.to.checked_add(rows.skip + WINDOW);
        assert!(reach.is_some_and(|end| end <= values.len()), "every window is whole");
        let limit = _mm512_set1_epi64(i64::from(distance));
        for row in rows.from..rows.to {
            let value = _mm512_set1_epi64(values[row] as i64);
            // SAFETY: the window lies in the values, as asserted.
            let behind =
                unsafe { _mm512_loadu_si512(values.as_ptr().add(row + 1 + rows.skip).cast()) };
            let differ = _mm512_popcnt_epi64(_mm512_xor_si512(value, behind));
            let lanes = _mm512_cmple_epu64_mask(differ, limit);
            if lanes != 0 {
                report(u32::from(lanes), row, rows.skip, near);
            }
        }
    }

    /// Bits of each half byte.
    const NIBBLES: [u8; 16] = [0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4];

    #[target_feature(enable = "avx2")]
    fn avx2(values: &[u64], rows: Rows, distance: u32, near: &mut Vec<Near>) {
        let reach = rows.to.checked_add(rows.skip + WINDOW);
        assert!(reach.is_some_and(|end| end <= values.len()), "every window is whole");
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
        for row in rows.from..rows.to {
            let value = _mm256_set1_epi64x(values[row] as i64);
            // SAFETY: the window lies in the values, as asserted.
            let (near_by, further) = unsafe {
                let behind: *const __m256i = values.as_ptr().add(row + 1 + rows.skip).cast();
                (_mm256_loadu_si256(behind), _mm256_loadu_si256(behind.add(1)))
            };
            let lanes =
                far(_mm256_xor_si256(value, near_by)) | far(_mm256_xor_si256(value, further)) << 4;
            if lanes != 0xff {
                report(lanes ^ 0xff, row, rows.skip, near);
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
            skip in 0usize..20,
        ) {
            let values: Vec<u64> = values.iter().map(|low| high << 8 | low).collect();
            let (from, to) = (cut.min(values.len()), values.len());
            let window = |row: usize| row + 1 + skip..to.min(row + 1 + skip + WINDOW);
            let expected: Vec<Near> = (from..to)
                .flat_map(|row| window(row).map(move |other| (row, other)))
                .filter(|&(row, other)| (values[row] ^ values[other]).count_ones() <= distance)
                .map(|(row, other)| (row as u32, other as u32))
                .collect();
            let mut near = Vec::new();
            windows(&values, Rows { from, to, skip }, distance, &mut near);
            prop_assert_eq!(&near, &expected);
            let to = to.saturating_sub(WINDOW + skip).max(from);
            for (name, kernel) in available() {
                near.clear();
                if to > from {
                    kernel(&values, Rows { from, to, skip }, distance, &mut near);
                }
                let whole: Vec<Near> =
                    expected.iter().copied().filter(|&(row, _)| (row as usize) < to).collect();
                prop_assert_eq!(&near, &whole, "{}", name);
            }
        }
    }
}
