//! Damage that gets past the checksums.
//!
//! Any single flip in a saved file meets a checksum first, so a loader that is fed flips alone is never tried beyond it.
//! Here bytes are changed and the checksums made right again: what is read then is a file that somebody wrote with intent.

use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Bytes to change: where, and with what they are combined.
pub type Edits = Vec<(u32, u8)>;

/// Combines bytes of `image` from `from` on with those given.
pub fn edit(image: &mut [u8], from: usize, edits: &Edits) {
    let length = image.len() - from;
    for &(at, flip) in edits.iter().filter(|_| length > 0) {
        image[from + at as usize % length] ^= flip;
    }
}

/// Where the frames of a saved index begin, behind its fixed bytes: that of its head is the first.
pub const FRAMES: usize = 32;

/// Where the head of a log ends, its two marks begin, each in a sector of its own, and its frames behind them.
const LOG_HEAD: usize = 3072;
const MARK: usize = 512;
const LOG_FRAMES: usize = LOG_HEAD + 2 * MARK;

/// Words that can be mapped begin at a multiple of so many bytes, and have a checksum for each block of so many.
const LINE: usize = 64;
const BLOCK: usize = 1 << 16;

/// Makes the checksums of all frames right, the first of which begins at `at`: name u64, length u64, bytes, XXH3-64 of
/// all this with the place of the frame as its seed. So are those in a frame SUMS, which are of the blocks of words in the
/// frame before it, and those of the marks of a log. Ends where a length leads out of the image.
pub fn reseal(image: &mut [u8], mut at: usize) {
    let mut words = 0..0;
    while let Some(length) = image.get(at + 8..).and_then(|bytes| bytes.first_chunk()) {
        let length = usize::try_from(u64::from_le_bytes(*length)).ok();
        let end = length.and_then(|length| length.checked_add(at + 16));
        let Some(end) =
            end.filter(|end| end.checked_add(8).is_some_and(|next| next <= image.len()))
        else {
            return;
        };
        if image[at..].starts_with(b"SUMS") {
            seal_blocks(image, &words, at + 32..end);
        }
        let sum = xxh3_64_with_seed(&image[at..end], at as u64);
        image[end..end + 8].copy_from_slice(&sum.to_le_bytes());
        words = (at + 16).next_multiple_of(LINE)..end;
        at = end + 8;
        if at == LOG_HEAD && image[12..].starts_with(b"log\0") && image.len() >= LOG_FRAMES {
            seal_marks(image);
            at = LOG_FRAMES;
        }
    }
}

/// Writes the checksums of the blocks of these words, as far as there is room for them.
fn seal_blocks(image: &mut [u8], words: &Range<usize>, sums: Range<usize>) {
    for (from, at) in words.clone().step_by(BLOCK).zip(sums.clone().step_by(8)) {
        let sum = xxh3_64_with_seed(&image[from..(from + BLOCK).min(words.end)], from as u64);
        if at + 8 <= sums.end {
            image[at..at + 8].copy_from_slice(&sum.to_le_bytes());
        }
    }
}

fn seal_marks(image: &mut [u8]) {
    for at in [LOG_HEAD, LOG_HEAD + MARK] {
        let sum = xxh3_64_with_seed(&image[at..at + 16], at as u64);
        image[at + 16..at + 24].copy_from_slice(&sum.to_le_bytes());
    }
}
