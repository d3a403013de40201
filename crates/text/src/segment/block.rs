//! Blocks: maximal runs of the characters that jieba segments, `[一-鿕a-zA-Z0-9+#&._%-]`.
//!
//! Outside a block every code point is a token, except CR LF, which is one token of two.

use super::dictionary::{FIRST_HAN, LAST_HAN};

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

/// A block ends here at the latest, so that offsets inside it fit in 32 bits. No text but a hostile one has so long a run.
const LONGEST: usize = 1 << 30;

/// Splits `text`: `block(characters, offset)` for every block, `other(start, end)` for every token between. Characters of
/// a block are 16-bit: none lies beyond U+9FD5. `characters` is scratch.
pub(super) fn split(
    text: &str,
    characters: &mut Vec<u16>,
    mut block: impl FnMut(&[u16], usize),
    mut other: impl FnMut(usize, usize),
) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        characters.clear();
        let end = read(bytes, at, characters);
        if end > at {
            block(characters, at);
            at = end;
            continue;
        }
        let lead = bytes[at];
        let crlf = lead == b'\r' && bytes.get(at + 1) == Some(&b'\n');
        let len = match lead {
            _ if crlf => 2,
            0..0x80 => 1,
            0x80..0xE0 => 2,
            0xE0..0xF0 => 3,
            _ => 4,
        };
        other(at, at + len);
        at += len;
    }
}

/// Appends the characters of the block that starts at `at`, if any does; returns its end.
fn read(bytes: &[u8], at: usize, characters: &mut Vec<u16>) -> usize {
    let limit = bytes.len().min(at.saturating_add(LONGEST));
    let mut end = at;
    while end < limit {
        let lead = bytes[end];
        if lead < 0x80 {
            if !ASCII[usize::from(lead)] {
                break;
            }
            characters.push(u16::from(lead));
            end += 1;
        } else {
            // U+4E00 to U+9FD5 take three bytes with lead E4 to E9; text is valid UTF-8, so all three are there.
            if !(0xE4..=0xE9).contains(&lead) {
                break;
            }
            let tail = |at: usize| u16::from(bytes[at] & 0x3F);
            let character = u16::from(lead & 0x0F) << 12 | tail(end + 1) << 6 | tail(end + 2);
            if !(FIRST_HAN..=LAST_HAN).contains(&character) {
                break;
            }
            characters.push(character);
            end += 3;
        }
    }
    end
}

/// Bytes that a character of a block takes in UTF-8.
#[inline]
pub(super) fn utf8_len(character: u16) -> usize {
    if character < 128 { 1 } else { 3 }
}
