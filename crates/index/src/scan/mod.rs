//! Reading every fingerprint: the oracle, the path beyond the tables' reach, and the inner loop of every bucket.
//!
//! One kernel per instruction set, chosen once per process; all give the same positions in the same order. Without a
//! population count in hardware a byte is counted by looking its two halves up in a 16-byte table (Muła's method).

#[cfg(target_arch = "aarch64")]
mod neon;
mod scalar;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::mem::MaybeUninit;
use std::sync::OnceLock;

/// A stored fingerprint (spread) within the distance asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Hit {
    pub(crate) distance: u32,
    pub(crate) value: u64,
}

/// Elements that a kernel takes at a time, so that the positions it reports have a bounded place.
pub(crate) const BLOCK: usize = 2048;

/// Positions of hits in one block.
pub(crate) type Positions = [MaybeUninit<u16>; BLOCK];

/// Writes the positions of elements within `distance` of `query` to `positions`, ascending; returns how many.
/// At most [`BLOCK`] elements.
type Kernel = fn(&[u64], u64, u32, &mut Positions) -> usize;

/// Calls its last argument's `push` for all positions `a < b` of elements within `distance` of each other: a group of
/// a few elements costs one call, not one for each. At most [`BLOCK`] elements.
type PairKernel = fn(&[u64], u32, &mut Vec<(u16, u16)>);

/// What one instruction set offers.
#[derive(Clone, Copy)]
struct Kernels {
    /// As `SIMHASH_SIMD` knows it.
    name: &'static str,
    positions: Kernel,
    pairs: PairKernel,
}

/// The kernels that this machine can run, best first.
fn available() -> Vec<Kernels> {
    #[allow(unused_mut)] // no other kernel on other machines
    let mut kernels: Vec<Kernels> = Vec::new();
    #[cfg(target_arch = "x86_64")]
    kernels.extend(x86::available());
    #[cfg(target_arch = "aarch64")]
    kernels.extend(neon::available());
    kernels.push(Kernels { name: "scalar", positions: scalar::positions, pairs: scalar::pairs });
    kernels
}

/// The kernel in use: the best, unless the environment variable `SIMHASH_SIMD` names another one of this machine; the
/// scalar one if it names none.
fn kernels() -> Kernels {
    static CHOSEN: OnceLock<Kernels> = OnceLock::new();
    *CHOSEN.get_or_init(|| {
        let kernels = available();
        let Some(forced) = std::env::var("SIMHASH_SIMD").ok() else { return kernels[0] };
        let named = kernels.iter().find(|kernels| kernels.name == forced);
        *named.unwrap_or(&kernels[kernels.len() - 1])
    })
}

/// Appends all positions `a < b` of elements within `distance` of each other. At most [`BLOCK`] elements.
#[inline]
pub(crate) fn pairs_within(group: &[u64], distance: u32, found: &mut Vec<(u16, u16)>) {
    (kernels().pairs)(&group[..group.len().min(BLOCK)], distance, found);
}

/// The first `count` positions, which a kernel has written.
#[inline]
fn written(positions: &Positions, count: usize) -> &[u16] {
    let positions = &positions[..count];
    // SAFETY: a kernel writes a place before it counts it.
    unsafe { &*(&raw const *positions as *const [u16]) }
}

/// Calls `on_hit(position, distance)` for every element of `haystack` within `distance` of `query`, in order.
#[inline]
pub(crate) fn within(
    haystack: &[u64],
    query: u64,
    distance: u32,
    mut on_hit: impl FnMut(usize, u32),
) {
    let kernel = kernels().positions;
    let mut positions: Positions = [MaybeUninit::uninit(); BLOCK];
    for (number, block) in haystack.chunks(BLOCK).enumerate() {
        let count = kernel(block, query, distance, &mut positions);
        for position in written(&positions, count) {
            let position = *position as usize;
            on_hit(number * BLOCK + position, (block[position] ^ query).count_ones());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plainly(haystack: &[u64], query: u64, distance: u32) -> Vec<u16> {
        (0..)
            .zip(haystack)
            .filter(|(_, value)| (*value ^ query).count_ones() <= distance)
            .map(|(position, _)| position)
            .collect()
    }

    #[test]
    fn every_kernel_agrees_for_all_lengths_and_alignments() {
        let mut state = 1u64;
        let values: Vec<u64> = (0..BLOCK + 8)
            .map(|_| {
                state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                state ^ state >> 31
            })
            .collect();
        let mut positions = [MaybeUninit::uninit(); BLOCK];
        for Kernels { name, positions: kernel, pairs } in available() {
            let mut found = Vec::new();
            pairs(&values[..200], 26, &mut found);
            let expected = (0..200u16).flat_map(|a| {
                let first = usize::from(a) + 1;
                let near = plainly(&values[first..200], values[usize::from(a)], 26);
                near.into_iter().map(move |b| (a, a + 1 + b))
            });
            assert_eq!(found, expected.collect::<Vec<_>>(), "{name}");
            assert!(found.len() > 100);
            for from in 0..8 {
                for length in (0..=64).chain([65, 127, 1000, BLOCK - 1, BLOCK]) {
                    let haystack = &values[from..from + length];
                    for distance in [0, 3, 16, 31, 32, 40, 64] {
                        for query in [0, u64::MAX, values[from], values[from] ^ 5] {
                            let count = kernel(haystack, query, distance, &mut positions);
                            let expected = plainly(haystack, query, distance);
                            assert_eq!(
                                written(&positions, count),
                                expected,
                                "{name} {length} {distance}"
                            );
                        }
                    }
                }
            }
        }
    }

    proptest! {
        #[test]
        fn hits_come_in_order_with_their_distance(
            values in proptest::collection::vec(any::<u64>(), 0..5000),
            query: u64,
            distance in 0u32..=64,
        ) {
            let mut hits = Vec::new();
            within(&values, query, distance, |position, apart| hits.push((position, apart)));
            let expected: Vec<(usize, u32)> = values
                .iter()
                .map(|value| (value ^ query).count_ones())
                .enumerate()
                .filter(|(_, apart)| *apart <= distance)
                .collect();
            prop_assert_eq!(hits, expected);
        }
    }
}
