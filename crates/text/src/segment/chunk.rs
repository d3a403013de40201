//! Reads text a chunk at a time, as the 16-bit characters that jieba segments, `[一-鿕a-zA-Z0-9+#&._%-]`, and 0 for every
//! other code point.
//!
//! Maximal runs of segmentable characters are jieba's blocks, and no word reaches beyond its block. A chunk ends where a block
//! does, so what follows can be cut without it; within a chunk all blocks are looked up together, which keeps many memory
//! accesses in flight although blocks themselves are short.

use super::dictionary::{FIRST_HAN, LAST_HAN};

/// What stands for a character of no block.
pub(super) const OTHER: u16 = 0;

/// A chunk ends at the first end of a block after so many characters: its tables then take about 45 KiB, well inside a
/// second-level cache. Any value from 256 to 8192 measures the same.
const TARGET: usize = 1024;

/// A block is split here at the latest, so that a hostile text without any punctuation cannot demand tables without bound.
/// Two million characters are longer than any book without punctuation; the tokens at the cut may differ from jieba's.
const LONGEST: usize = 1 << 21;

/// Whether an ASCII byte belongs to a block.
const ASCII: [bool; 128] = {
    let mut table = [false; 128];
    let mut byte = 0;
    while byte < 128 {
        let c = byte as u8;
        table[byte] = c.is_ascii_alphanumeric()
            || matches!(c, b'+' | b'#' | b'&' | b'.' | b'_' | b'%' | b'-');
        byte += 1;
    }
    table
};

/// Characters of a chunk and where they are.
#[derive(Clone, Debug, Default)]
pub(super) struct Chunk {
    /// The characters, [`OTHER`] for those of no block.
    pub(super) characters: Vec<u16>,
    /// Where each starts, in bytes from the start of the chunk, and where the last one ends.
    pub(super) offsets: Vec<u32>,
}

/// Fills `chunk` with the one that starts at byte `at`.
pub(super) fn read(text: &str, mut at: usize, chunk: &mut Chunk) {
    /// Characters are gathered here before they go to the vectors, which would ask for room at each.
    const GATHER: usize = 128;
    let bytes = text.as_bytes();
    let from = at;
    let Chunk { characters, offsets } = chunk;
    characters.clear();
    offsets.clear();
    let (mut gathered, mut starts) = ([0; GATHER], [0; GATHER]);
    loop {
        let room = LONGEST - characters.len();
        let full = TARGET.saturating_sub(characters.len());
        let mut count = 0;
        let mut done = true;
        while let Some(&lead) = bytes.get(at) {
            if count == GATHER.min(room) {
                done = count == room;
                break;
            }
            let character = character(bytes, at, lead);
            gathered[count] = character;
            starts[count] = (at - from) as u32;
            count += 1;
            at += utf8_len(lead);
            // CR LF is one token: no chunk ends between them.
            if character == OTHER && count >= full && lead != b'\r' {
                break;
            }
        }
        characters.extend_from_slice(&gathered[..count]);
        offsets.extend_from_slice(&starts[..count]);
        if done {
            break;
        }
    }
    offsets.push((at - from) as u32);
}

/// The character at `at`, whose first byte is `lead`; [`OTHER`] if it belongs to no block.
#[inline]
fn character(bytes: &[u8], at: usize, lead: u8) -> u16 {
    match lead {
        // U+4E00 to U+9FD5 take three bytes with these leads; text is valid UTF-8, so all three are there.
        0xE4..=0xE9 => {
            let tail = |at: usize| u16::from(bytes[at] & 0x3F);
            let character = u16::from(lead & 0x0F) << 12 | tail(at + 1) << 6 | tail(at + 2);
            if (FIRST_HAN..=LAST_HAN).contains(&character) { character } else { OTHER }
        }
        0..0x80 if ASCII[usize::from(lead)] => u16::from(lead),
        _ => OTHER,
    }
}

/// Bytes of the code point that starts with `lead`.
#[inline]
fn utf8_len(lead: u8) -> usize {
    match lead {
        0..0x80 => 1,
        0x80..0xE0 => 2,
        0xE0..0xF0 => 3,
        _ => 4,
    }
}
