//! The limits of this machine, measured a moment before what is held against them.

use crate::report::{Random, Settings};
use std::hint::black_box;

/// Nanoseconds of one dependent random read over a region of `bytes`, on 2 MB pages where the system grants them.
///
/// A chain through one random cycle of cache lines: each address is the content of the line before, so that neither
/// prefetchers nor out-of-order execution can hide the latency. This is what the first touch of any index costs.
pub(crate) fn dependent_read_ns(bytes: usize, settings: &Settings) -> f64 {
    const LINE: usize = 8; // u64 per 64-byte cache line
    const STEPS: u32 = 200_000; // some 20 ms of latency: the clock costs nothing
    let lines = (bytes / 64).max(1024);
    let mut region = huge_pages(lines * LINE);
    // Sattolo's algorithm: a permutation that is a single cycle, so the walk visits the whole region.
    let mut order: Vec<u32> = (0..lines as u32).collect();
    let mut random = Random(1);
    for i in (1..lines).rev() {
        order.swap(i, (random.next() % i as u64) as usize);
    }
    for pair in 0..lines {
        region[order[pair] as usize * LINE] = u64::from(order[(pair + 1) % lines]);
    }
    let mut at = 0u64;
    let best = settings.best(|| {
        for _ in 0..STEPS {
            at = region[at as usize * LINE];
        }
        black_box(at);
    });
    best * 1e9 / f64::from(STEPS)
}

/// Nanoseconds to read every element of `array` once and add them up: the floor of any linear scan.
pub(crate) fn read_sum_ns(array: &[u64], settings: &Settings) -> f64 {
    let best = settings.best(|| {
        // Eight sums, so that the additions are no chain and the compiler may use vectors.
        let mut sums = [0u64; 8];
        for chunk in array.chunks_exact(8) {
            for (sum, &x) in sums.iter_mut().zip(chunk) {
                *sum = sum.wrapping_add(x);
            }
        }
        black_box(sums);
    });
    best * 1e9
}

/// Nanoseconds per fingerprint of one 11-bit radix partition pass, eight at a time through a line of staging per part:
/// the pass that every table of a self-join costs at least once.
pub(crate) fn partition_pass_ns(array: &[u64], settings: &Settings) -> f64 {
    const PARTS: usize = 2048;
    let part = |value: u64| (value >> 53) as usize;
    let mut out = huge_pages(array.len() + 8);
    let best = settings.best(|| {
        let mut ends = vec![0usize; PARTS];
        for &value in array {
            ends[part(value)] += 1;
        }
        let mut sum = 0;
        for end in &mut ends {
            sum += std::mem::replace(end, sum);
        }
        let mut lines = vec![[0u64; 8]; PARTS];
        for &value in array {
            let part = part(value);
            let at = ends[part];
            ends[part] += 1;
            lines[part][at % 8] = value;
            if at % 8 == 7 {
                out[at - 7..=at].copy_from_slice(&lines[part]);
            }
        }
        black_box(&mut out);
    });
    best * 1e9 / array.len() as f64
}

/// A zeroed array whose pages are asked to be huge, as the index asks for its own: 4 KB pages would double the
/// latency that the index is held against, and flatter it.
pub(crate) fn huge_pages(len: usize) -> Vec<u64> {
    let array = vec![0u64; len];
    #[cfg(target_os = "linux")]
    {
        const PAGE: usize = 2 << 20;
        let start = (array.as_ptr() as usize).next_multiple_of(PAGE);
        let end = (array.as_ptr() as usize + len * 8) / PAGE * PAGE;
        if end > start {
            // SAFETY: the range lies inside `array`'s own allocation; MADV_HUGEPAGE changes how it is backed, not what it holds.
            unsafe {
                libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_HUGEPAGE);
            }
        }
    }
    array
}
