//! Large arrays on huge pages, and their halves.
//!
//! A query touches a dozen random lines of gigabytes: with 4 KiB pages each touch costs a second miss for the page
//! table. Arrays of at least one huge page come straight from the system, aligned, with the advice to use huge pages;
//! where it is not taken (or on other systems) everything works the same, only slower.

mod blocks;
mod chunked;
mod cow;
mod sparse;

use std::ops::{Deref, DerefMut};

pub(crate) use blocks::Blocks;
pub(crate) use chunked::Chunked;
pub(crate) use cow::CowArc;
pub(crate) use simhash_sketch::prefetch;
pub(crate) use sparse::Sparse;

/// A fixed number of 64-bit words, zero at first.
#[derive(Debug)]
pub(crate) struct Words(Store);

#[derive(Debug)]
enum Store {
    Heap(Box<[u64]>),
    #[cfg(all(unix, not(miri)))]
    Pages(pages::Pages),
}

impl Clone for Words {
    fn clone(&self) -> Self {
        let mut copy = Self::zeroed(self.len());
        copy.copy_from_slice(self);
        copy
    }
}

impl Words {
    pub(crate) fn zeroed(count: usize) -> Self {
        #[cfg(all(unix, not(miri)))]
        if let Some(pages) = pages::Pages::new(count, count) {
            return Self(Store::Pages(pages));
        }
        Self(Store::Heap(vec![0; count].into()))
    }

    /// [`Words::zeroed`] of a number that comes from outside; none where there is not so much memory.
    pub(crate) fn try_zeroed(count: usize) -> Option<Self> {
        #[cfg(all(unix, not(miri)))]
        if let Some(pages) = pages::Pages::new(count, count) {
            return Some(Self(Store::Pages(pages)));
        }
        let mut words = Vec::new();
        words.try_reserve_exact(count).ok()?;
        words.resize(count, 0);
        Some(Self(Store::Heap(words.into())))
    }

    /// Words to be written over, whatever they hold: the memory of `old` where it fits, and room to grow by half where
    /// it is new. Room that is never used costs addresses only.
    pub(crate) fn reused(old: Option<Self>, count: usize) -> Self {
        #[cfg(all(unix, not(miri)))]
        {
            if let Some(Self(Store::Pages(mut pages))) = old
                && pages.resize(count)
            {
                return Self(Store::Pages(pages));
            }
            if let Some(pages) = pages::Pages::new(count, count + count / 2) {
                return Self(Store::Pages(pages));
            }
        }
        #[cfg(not(all(unix, not(miri))))]
        drop(old);
        Self::zeroed(count)
    }

    /// Bytes that the system has given for these words, or will when they are written.
    pub(crate) fn bytes(&self) -> usize {
        match &self.0 {
            Store::Heap(words) => words.len() * 8,
            #[cfg(all(unix, not(miri)))]
            Store::Pages(pages) => pages.bytes(),
        }
    }

    /// Whether the words lie where huge pages were asked for.
    pub(crate) fn is_huge(&self) -> bool {
        !matches!(self.0, Store::Heap(_))
    }
}

impl Deref for Words {
    type Target = [u64];
    #[inline]
    fn deref(&self) -> &[u64] {
        match &self.0 {
            Store::Heap(words) => words,
            #[cfg(all(unix, not(miri)))]
            Store::Pages(pages) => pages.words(),
        }
    }
}

impl DerefMut for Words {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u64] {
        match &mut self.0 {
            Store::Heap(words) => words,
            #[cfg(all(unix, not(miri)))]
            Store::Pages(pages) => pages.words_mut(),
        }
    }
}

/// The same memory as 32-bit halves, in the machine's order.
#[inline]
pub(crate) fn halves(words: &[u64]) -> &[u32] {
    // SAFETY: the same bytes; u32 needs less alignment than u64, and every bit pattern is a u32.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), words.len() * 2) }
}

/// [`halves`], to be written.
pub(crate) fn halves_mut(words: &mut [u64]) -> &mut [u32] {
    // SAFETY: as above, and the borrow is exclusive.
    unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), words.len() * 2) }
}

#[cfg(all(unix, not(miri)))]
mod pages {
    use std::ptr::NonNull;

    /// Two megabytes: the huge page of x86-64 and of Arm with 4 KiB base pages.
    const HUGE: usize = 2 << 20;

    /// Anonymous memory of the system, aligned to huge pages.
    #[derive(Debug)]
    pub(super) struct Pages {
        start: NonNull<u64>,
        count: usize,
        /// Words that have been handed out at some time, at least `count`, and that may be.
        used: usize,
        room: usize,
        mapped: *mut libc::c_void,
        length: usize,
    }

    // SAFETY: the memory is owned by this value alone.
    unsafe impl Send for Pages {}
    // SAFETY: shared access only reads.
    unsafe impl Sync for Pages {}

    impl Pages {
        /// `count` zeros, and addresses for `room` in all; none for less than a huge page, and where the system has no
        /// memory left.
        pub(super) fn new(count: usize, room: usize) -> Option<Self> {
            count.checked_mul(8).filter(|&bytes| bytes >= HUGE)?;
            let bytes = room.max(count).checked_mul(8)?;
            let length = bytes.checked_add(HUGE)?;
            // SAFETY: a fresh anonymous mapping touches nothing that exists.
            let mapped = unsafe {
                libc::mmap(
                    std::ptr::null_mut(),
                    length,
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                    -1,
                    0,
                )
            };
            if mapped == libc::MAP_FAILED {
                return None;
            }
            let aligned = mapped.map_addr(|address| address.next_multiple_of(HUGE));
            #[cfg(target_os = "linux")]
            // SAFETY: the range lies inside the mapping just made; the advice may be refused without harm.
            unsafe {
                libc::madvise(aligned, bytes, libc::MADV_HUGEPAGE);
            }
            let start = NonNull::new(aligned.cast())?;
            Some(Self { start, count, used: count, room: room.max(count), mapped, length })
        }

        /// Other words in the same memory, whatever they hold; false if they do not fit, or would leave more than a
        /// quarter of it idle.
        pub(super) fn resize(&mut self, count: usize) -> bool {
            let fits = count <= self.room && count >= self.used / 4 * 3;
            if fits {
                self.count = count;
                self.used = self.used.max(count);
            }
            fits
        }

        pub(super) fn bytes(&self) -> usize {
            self.used * 8
        }

        #[inline]
        pub(super) fn words(&self) -> &[u64] {
            // SAFETY: `count` zeroed or written words lie in the mapping, which has `room` and lives as long as this value.
            unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.count) }
        }

        #[inline]
        pub(super) fn words_mut(&mut self) -> &mut [u64] {
            // SAFETY: as above, and the borrow is exclusive.
            unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.count) }
        }
    }

    impl Drop for Pages {
        fn drop(&mut self) {
            // SAFETY: the mapping was made by `new` with this length and nothing borrows it any more.
            unsafe {
                libc::munmap(self.mapped, self.length);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_start_at_zero_and_keep_what_is_written() {
        for count in [0, 1, 1000, (2 << 20) / 8, 1_000_000] {
            let count = if cfg!(miri) { count.min(3000) } else { count };
            let mut words = Words::zeroed(count);
            assert_eq!(words.len(), count);
            assert!(words.iter().all(|&word| word == 0));
            for (number, word) in words.iter_mut().enumerate() {
                *word = number as u64;
            }
            assert!(words.iter().enumerate().all(|(number, &word)| word == number as u64));
            assert_eq!(halves(&words).len(), count * 2);
            halves_mut(&mut words).fill(7);
            assert!(words.iter().all(|&word| word == 7 << 32 | 7));
        }
    }

    #[test]
    fn reused_words_are_as_many_as_asked_for() {
        let mut words = None;
        for count in [0, 1000, 300_000, 310_000, 400_000, 450_000, 460_000, 900_000, 700_000, 500] {
            let count = if cfg!(miri) { count / 100 } else { count };
            let mut next = Words::reused(words.take(), count);
            assert_eq!(next.len(), count);
            next.fill(count as u64);
            assert!(next.iter().all(|&word| word == count as u64));
            assert!((count * 8..=count * 11 + 8).contains(&next.bytes()), "{count}");
            words = Some(next);
        }
        assert_eq!(Words::try_zeroed(400_000).map(|words| words.len()), Some(400_000));
        assert!(Words::try_zeroed(usize::MAX / 16).is_none());
    }
}
