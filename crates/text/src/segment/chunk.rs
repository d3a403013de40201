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

/// Replaces `characters` with those of the chunk that starts at byte `at`; returns the chunk's end.
pub(super) fn read(text: &str, mut at: usize, characters: &mut Vec<u16>) -> usize {
    let bytes = text.as_bytes();
    characters.clear();
    while let Some(&lead) = bytes.get(at) {
        let character = if lead < 0x80 {
            if ASCII[usize::from(lead)] { u16::from(lead) } else { OTHER }
        } else if (0xE4..=0xE9).contains(&lead) {
            // U+4E00 to U+9FD5 take three bytes with these leads; text is valid UTF-8, so all three are there.
            let tail = |at: usize| u16::from(bytes[at] & 0x3F);
            let character = u16::from(lead & 0x0F) << 12 | tail(at + 1) << 6 | tail(at + 2);
            if (FIRST_HAN..=LAST_HAN).contains(&character) { character } else { OTHER }
        } else {
            OTHER
        };
        characters.push(character);
        at += utf8_len(lead);
        let block_ends = character == OTHER && !bytes[..at].ends_with(b"\r");
        if (block_ends && characters.len() >= TARGET) || characters.len() >= LONGEST {
            break;
        }
    }
    at
}

/// Bytes of the code point that starts with `lead`.
#[inline]
pub(super) fn utf8_len(lead: u8) -> usize {
    match lead {
        0..0x80 => 1,
        0x80..0xE0 => 2,
        0xE0..0xF0 => 3,
        _ => 4,
    }
}
