//! Damage that gets past the checksums.
//!
//! Any single flip in a saved file meets a checksum first, so a loader that is fed flips alone is never tried beyond it.
//! Here bytes are changed and the checksums made right again: what is read then is a file that somebody wrote with intent.

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

/// Makes the checksums of all frames right, the first of which begins at `at`: name u64, length u64, bytes, XXH3-64 of
/// all this with the place of the frame as its seed. Ends where a length leads out of the image.
pub fn reseal(image: &mut [u8], mut at: usize) {
    while let Some(length) = image.get(at + 8..).and_then(|bytes| bytes.first_chunk()) {
        let length = usize::try_from(u64::from_le_bytes(*length)).ok();
        let end = length.and_then(|length| length.checked_add(at + 16));
        let Some(end) =
            end.filter(|end| end.checked_add(8).is_some_and(|next| next <= image.len()))
        else {
            return;
        };
        let sum = xxh3_64_with_seed(&image[at..end], at as u64);
        image[end..end + 8].copy_from_slice(&sum.to_le_bytes());
        at = end + 8;
    }
}
