//! The bytes of a file as words: mapped where the system can, else read.

#[cfg(all(unix, target_endian = "little", not(miri)))]
pub(super) use mapping::Region;
#[cfg(not(all(unix, target_endian = "little", not(miri))))]
pub(super) use reading::Region;

#[cfg(all(unix, target_endian = "little", not(miri)))]
mod mapping {
    use std::fs::File;
    use std::io;
    use std::os::fd::AsRawFd;
    use std::ptr::NonNull;

    use xxhash_rust::xxh3::xxh3_64_with_seed;

    /// A read-only mapping of a whole file; none of an empty one.
    #[derive(Debug)]
    pub(in crate::map) struct Region {
        start: NonNull<u8>,
        length: usize,
    }

    // SAFETY: the mapping is owned by this value alone and nobody writes to it.
    unsafe impl Send for Region {}
    // SAFETY: shared access only reads.
    unsafe impl Sync for Region {}

    impl Region {
        pub(in crate::map) fn of(file: &File, length: u64) -> io::Result<Self> {
            let length = usize::try_from(length).map_err(io::Error::other)?;
            if length == 0 {
                return Ok(Self { start: NonNull::dangling(), length });
            }
            // SAFETY: a fresh mapping touches nothing that exists; the file stays open during the call, which keeps it.
            let mapped = unsafe {
                libc::mmap(
                    std::ptr::null_mut(),
                    length,
                    libc::PROT_READ,
                    libc::MAP_SHARED,
                    file.as_raw_fd(),
                    0,
                )
            };
            let start = NonNull::new(mapped.cast()).filter(|_| mapped != libc::MAP_FAILED);
            let start = start.ok_or_else(io::Error::last_os_error)?;
            // SAFETY: the range is the mapping just made; the advice may be refused without harm.
            unsafe {
                // Look-ups are at random: what a fault reads beyond its block would be read in vain.
                libc::madvise(mapped, length, libc::MADV_RANDOM);
            }
            Ok(Self { start, length })
        }

        pub(in crate::map) fn len(&self) -> u64 {
            self.length as u64
        }

        /// Whether so many words begin at `at`.
        pub(in crate::map) fn has(&self, at: u64, count: u64) -> bool {
            let end = count.checked_mul(8).and_then(|bytes| bytes.checked_add(at));
            at.is_multiple_of(8) && end.is_some_and(|end| end <= self.len())
        }

        /// Words that [`Region::has`].
        #[inline]
        pub(in crate::map) fn words(&self, at: u64, count: usize) -> &[u64] {
            debug_assert!(self.has(at, count as u64));
            // SAFETY: whoever made the blocks has asked `has`: the words lie in the mapping, which begins on a page, and at a
            // multiple of eight bytes. It lives as long as this value, and published files are not changed.
            unsafe {
                std::slice::from_raw_parts(self.start.as_ptr().add(at as usize).cast(), count)
            }
        }

        /// The checksum of words that [`Region::has`], which the system is asked for at once.
        pub(in crate::map) fn sum(&self, at: u64, count: usize, seed: u64) -> u64 {
            let words = self.words(at, count);
            // SAFETY: the same bytes; a byte needs no alignment, and every bit pattern is one.
            let bytes = unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), count * 8) };
            let page = 4096;
            let from = at as usize / page * page;
            // SAFETY: the pages of these bytes lie in the mapping; the advice may be refused without harm.
            unsafe {
                let start = self.start.as_ptr().add(from).cast();
                libc::madvise(start, at as usize + count * 8 - from, libc::MADV_WILLNEED);
            }
            xxh3_64_with_seed(bytes, seed)
        }
    }

    impl Drop for Region {
        fn drop(&mut self) {
            if self.length > 0 {
                // SAFETY: the mapping was made by `of` with this length and nothing borrows it any more.
                unsafe {
                    libc::munmap(self.start.as_ptr().cast(), self.length);
                }
            }
        }
    }
}

/// What takes the place of a mapping elsewhere, and what it must equal: safe, and in memory.
#[cfg(any(test, not(all(unix, target_endian = "little", not(miri)))))]
pub(super) mod reading {
    use std::fs::File;
    use std::io::{self, Read};

    use xxhash_rust::xxh3::Xxh3;

    /// The words of a whole file.
    #[derive(Debug)]
    pub(in crate::map) struct Region {
        words: Vec<u64>,
        length: u64,
    }

    impl Region {
        pub(in crate::map) fn of(file: &File, length: u64) -> io::Result<Self> {
            let mut words = Vec::new();
            let mut bytes = vec![0; 1 << 16];
            let mut from = io::Seek::rewind(&mut &*file).map(|()| file.take(length))?;
            loop {
                let mut filled = 0;
                while filled < bytes.len() {
                    match from.read(&mut bytes[filled..]) {
                        Ok(0) => break,
                        Ok(read) => filled += read,
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                        Err(error) => return Err(error),
                    }
                }
                bytes[filled..].fill(0);
                let whole = bytes[..filled.next_multiple_of(8)].as_chunks().0;
                words.extend(whole.iter().map(|&bytes| u64::from_le_bytes(bytes)));
                if filled < bytes.len() {
                    break;
                }
            }
            io::Seek::rewind(&mut &*file)?;
            Ok(Self { words, length })
        }

        pub(in crate::map) fn len(&self) -> u64 {
            self.length
        }

        pub(in crate::map) fn has(&self, at: u64, count: u64) -> bool {
            let end = (at / 8).checked_add(count);
            at.is_multiple_of(8)
                && end.is_some_and(|end| end <= self.words.len() as u64 && end <= self.length / 8)
        }

        pub(in crate::map) fn words(&self, at: u64, count: usize) -> &[u64] {
            &self.words[at as usize / 8..][..count]
        }

        pub(in crate::map) fn sum(&self, at: u64, count: usize, seed: u64) -> u64 {
            let mut sum = Xxh3::with_seed(seed);
            self.words(at, count).iter().for_each(|word| sum.update(&word.to_le_bytes()));
            sum.digest()
        }
    }
}
