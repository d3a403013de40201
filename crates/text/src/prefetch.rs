//! Hints to the cache.

/// Asks for the cache line of `array[at]`, to be read soon; nothing happens where there is none.
///
/// It changes no result. Arrays that do not fit the caches are read through it: a core overlaps about a dozen misses if it
/// knows the addresses early.
#[inline]
pub fn prefetch<T>(array: &[T], at: usize) {
    let line = array.as_ptr().wrapping_add(at);
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a prefetch of any address has no effect on memory, and SSE is part of the base architecture.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(line.cast());
    }
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    // SAFETY: a prefetch of any address has no effect on memory.
    unsafe {
        std::arch::asm!("prfm pldl1keep, [{}]", in(reg) line, options(nostack, readonly, preserves_flags));
    }
    #[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
    let _ = line;
}

#[cfg(test)]
mod tests {
    use super::prefetch;

    #[test]
    fn any_place_may_be_asked_for() {
        let words = [1_u64, 2, 3];
        for at in [0, 2, 3, 1000, usize::MAX / 8] {
            prefetch(&words, at);
        }
        prefetch::<u32>(&[], 5);
        assert_eq!(words, [1, 2, 3]);
    }
}
