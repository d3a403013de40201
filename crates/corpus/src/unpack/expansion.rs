//! A limit to what compressed bytes become. Text becomes some ten times as much; of a file that was made to become a thousand times as much the
//! records are copied to a temporary file, and some kilobytes of it would fill any disk.

use crate::error::malformed;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Bytes that may come of each one. Chosen: a hundred times what text becomes, and what gzip can hardly exceed (1,032); the same line again and
/// again becomes 3,000 to 30,000 times as much of zstd, bzip2 and xz.
const MOST: u64 = 1_000;

/// Bytes that may come of an input however few it has: copies of one text are a corpus too. Of each input: many of them may still fill a disk.
pub(crate) const OF_INPUT: u64 = 1 << 30;
/// The same of a text in a folder, of which there may be many.
pub(crate) const OF_TEXT: u64 = 16 << 20;

/// Whether more comes of so many bytes than may, of which `free` are not asked about.
pub(crate) fn is_beyond(made: u64, taken: u64, free: u64) -> bool {
    made > free.max(taken.saturating_mul(MOST))
}

/// The error of what [`is_beyond`] the limit: `what` is named, `instead` says what to do if it is in order.
pub(crate) fn beyond(what: &str, made: u64, taken: u64, instead: &str) -> io::Error {
    malformed(format!(
        "{what} after {made} bytes: they come of {taken}, and more than {MOST} times as much is not read; if it should be so much, {instead}"
    ))
}

/// A reader of compressed bytes, and the number of those that were taken.
pub(super) struct Taken<R> {
    from: R,
    count: Arc<AtomicU64>,
}

impl<R: Read> Taken<R> {
    pub(super) fn new(from: R) -> (Self, Arc<AtomicU64>) {
        let count = Arc::new(AtomicU64::new(0));
        (Self { from, count: Arc::clone(&count) }, count)
    }
}

impl<R: Read> Read for Taken<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(buffer)?;
        self.count.fetch_add(read as u64, Relaxed);
        Ok(read)
    }
}

/// A decoder that is an error once too much has come out of it.
pub(super) struct Limited<R> {
    pub(super) decoder: R,
    pub(super) name: &'static str,
    pub(super) taken: Arc<AtomicU64>,
    pub(super) made: u64,
    pub(super) free: u64,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.decoder.read(buffer)?;
        self.made += read as u64;
        let (made, taken) = (self.made, self.taken.load(Relaxed));
        if is_beyond(made, taken, self.free) {
            let what = format!("{}, decompressed,", self.name);
            return Err(beyond(&what, made, taken, "unpack it first"));
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unpack::Packing;
    use std::io::Cursor;

    #[test]
    fn so_many_bytes_are_free_and_so_many_times_as_much_may_come_of_more() {
        for (made, taken, is_too_much) in [
            (0, 0, false),
            (64, 0, false),
            (65, 0, true),
            (1_000, 1, false),
            (1_001, 1, true),
            (MOST * 70_000, 70_000, false),
            (MOST * 70_000 + 1, 70_000, true),
            (u64::MAX, u64::MAX, false),
        ] {
            assert_eq!(is_beyond(made, taken, 64), is_too_much, "{made} of {taken}");
        }
    }

    /// A frame of zstd, of so many blocks of 128 KiB that are one letter again and again, four bytes each.
    fn letters(blocks: usize) -> Vec<u8> {
        const SAME: u32 = 1 << 1;
        let block = |last: u32| (last | SAME | (128 << 10) << 3).to_le_bytes();
        // A window of 128 KiB.
        let mut frame = b"\x28\xb5\x2f\xfd\0\x38".to_vec();
        for number in 1..=blocks {
            frame.extend(&block(u32::from(number == blocks))[..3]);
            frame.push(b'a');
        }
        frame
    }

    fn made_of(bytes: Vec<u8>, free: u64) -> (u64, Option<String>) {
        let mut reader = Packing::Zstd.unpack(Cursor::new(bytes), free).unwrap();
        let (mut buffer, mut all) = (vec![0; 1 << 20], 0);
        loop {
            match reader.read(&mut buffer) {
                Ok(0) => return (all, None),
                Ok(read) => all += read as u64,
                Err(error) => return (all, Some(error.to_string())),
            }
        }
    }

    #[test]
    fn some_bytes_do_not_become_terabytes() {
        let blocks = OF_INPUT >> 17;
        let whole = letters(blocks as usize);
        assert_eq!(made_of(whole, OF_INPUT), (OF_INPUT, None));
        // All of it has been taken by then, which is little.
        let bomb = letters(2 * blocks as usize);
        let (made, told) = made_of(bomb, OF_INPUT);
        assert!((OF_INPUT - (1 << 20)..=OF_INPUT).contains(&made), "{made}");
        let told = told.unwrap();
        assert!(told.starts_with("zstd, decompressed, after 107"), "{told}");
        assert!(told.contains("they come of ") && told.ends_with("unpack it first"), "{told}");
        let (made, told) = made_of(letters(1_000), OF_TEXT);
        assert!(made <= OF_TEXT && told.is_some(), "{made}");
    }

    #[test]
    fn texts_of_every_length_are_read_to_their_end() {
        // More than is free: 32 KiB that nothing can be made shorter of, then letters, some 500 times as much.
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        };
        let text: Vec<u8> = (0..32_768).map(|_| random()).collect();
        let bytes = [zstd::stream::encode_all(&text[..], 3).unwrap(), letters(125)].concat();
        let made = 32_768 + (125 << 17);
        assert_eq!(made_of(bytes, 1 << 20), (made, None));
    }
}
