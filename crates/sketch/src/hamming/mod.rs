//! Hamming distance, and who is within it: one fingerprint against many, or all pairs of a few.
//!
//! There is one kernel per instruction set, chosen once per process ([`Level`]); all give the same positions in the same
//! order. A scan of a long array reads memory once and compares in registers, so its limit is the memory bandwidth; a
//! bucket of a few elements costs a call and its comparisons. Hits are rare: the kernels look at a whole step of elements
//! before they branch.

#[cfg(all(target_arch = "aarch64", feature = "neon"))]
mod neon;
mod scalar;
#[cfg(target_arch = "x86_64")]
mod x86;

use crate::simd::Level;
use std::mem::MaybeUninit;
use std::sync::OnceLock;

/// Elements that a kernel takes at a time, so that the positions it reports have a bounded place.
pub const BLOCK: usize = 2048;

/// Positions of hits in one block.
type Positions = [MaybeUninit<u16>; BLOCK];

/// Writes the positions of elements within a distance of a query to its last argument, ascending; returns how many.
/// At most [`BLOCK`] elements.
type Kernel = fn(&[u64], u64, u32, &mut Positions) -> usize;

/// [`pairs_within`], of at most [`BLOCK`] elements: a group of a few elements costs one call, not one for each.
type PairKernel = fn(&[u64], u32, &mut Vec<(u16, u16)>);

/// What one instruction set offers.
#[derive(Clone, Copy, Debug)]
struct Kernels {
    level: Level,
    positions: Kernel,
    pairs: PairKernel,
}

/// The kernels that this machine can run; of each level the best first.
fn available() -> Vec<Kernels> {
    #[allow(unused_mut)] // no other kernel on other machines
    let mut kernels: Vec<Kernels> = Vec::new();
    #[cfg(target_arch = "x86_64")]
    kernels.extend(x86::available());
    #[cfg(all(target_arch = "aarch64", feature = "neon"))]
    kernels.push(neon::KERNELS);
    kernels.push(scalar::KERNELS);
    kernels
}

fn kernels() -> Kernels {
    static CHOSEN: OnceLock<Kernels> = OnceLock::new();
    *CHOSEN.get_or_init(|| {
        let of_level = |kernels: &Kernels| kernels.level == Level::current();
        available().into_iter().find(of_level).unwrap_or(scalar::KERNELS)
    })
}

/// The number of bits in which `a` and `b` differ, 0 to 64.
#[inline]
pub fn distance(a: u64, b: u64) -> u32 {
    (a ^ b).count_ones()
}

/// Calls `on_hit(position, distance)` for every fingerprint of `haystack` within `most` of `query`, by ascending position.
///
/// `most` is inclusive; 64 or more hits everything. Cost: one pass over `8 × len` bytes at about memory speed.
#[inline]
pub fn within(haystack: &[u64], query: u64, most: u32, mut on_hit: impl FnMut(usize, u32)) {
    let kernel = kernels().positions;
    let mut positions: Positions = [MaybeUninit::uninit(); BLOCK];
    for (number, block) in haystack.chunks(BLOCK).enumerate() {
        let count = kernel(block, query, most.min(64), &mut positions);
        for position in written(&positions, count) {
            let position = *position as usize;
            on_hit(number * BLOCK + position, distance(block[position], query));
        }
    }
}

/// Appends all positions `a < b` of fingerprints within `most` of each other, inclusive, ascending.
///
/// Of `group` the first [`BLOCK`] fingerprints are looked at. Cost: one comparison per pair.
#[inline]
pub fn pairs_within(group: &[u64], most: u32, found: &mut Vec<(u16, u16)>) {
    (kernels().pairs)(&group[..group.len().min(BLOCK)], most.min(64), found);
}

/// The first `count` positions, which a kernel has written.
#[inline]
fn written(positions: &Positions, count: usize) -> &[u16] {
    let positions = &positions[..count];
    // SAFETY: a kernel writes a place before it counts it.
    unsafe { &*(&raw const *positions as *const [u16]) }
}

#[cfg(test)]
mod tests;
