//! Reads text a chunk at a time, as the dictionary's codes of the characters that jieba segments and [`OTHER`] for the rest.
//!
//! Maximal runs of segmentable characters are jieba's blocks, and no word reaches beyond its block. A chunk ends where a block
//! does, so what follows can be cut without it; within a chunk all blocks are looked up together, which keeps many memory
//! accesses in flight although blocks themselves are short.
//!
//! What is a token whatever the dictionary says is one entry, of code [`OTHER`]: a code point of no block, CR LF, and a block of
//! ASCII letters and digits alone. No word of jieba's is made of these alone, so such a block is a run of single
//! characters, and with or without HMM those are put together again. Words of a user's may be: then each letter is an entry.

use super::dictionary::{ALPHANUMERICS, OTHER, codes};
use super::words::grown;

/// A chunk ends at the first end of a block after so many entries: at 40 bytes each its tables then take 20 KiB, which a
/// first-level cache holds.
const TARGET: usize = 512;

/// A block is split here at the latest, so that a hostile text without any punctuation cannot demand tables without bound.
/// Two million characters are longer than any book without punctuation; the tokens at the cut may differ from jieba's.
const LONGEST: usize = 1 << 21;

/// Reusable memory of a chunk.
#[derive(Clone, Debug, Default)]
pub(super) struct Columns {
    codes: Vec<u16>,
    offsets: Vec<u32>,
}

/// Entries of a chunk and where they are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunk<'a, 't> {
    /// The text of the chunk.
    text: &'t str,
    /// The codes of all entries and [`PAD`] more.
    codes: &'a [u16],
    /// Where each entry starts in the text, in bytes, and where the last one ends.
    offsets: &'a [u32],
}

/// Codes of [`OTHER`] behind the last entry, so that no look ahead needs a check.
pub(super) const PAD: usize = 2;

impl<'a, 't> Chunk<'a, 't> {
    /// The codes of the characters, [`OTHER`] for tokens of no block.
    pub(super) fn codes(&self) -> &'a [u16] {
        &self.codes[..self.codes.len() - PAD]
    }

    /// The codes and [`PAD`] more.
    pub(super) fn padded(&self) -> &'a [u16] {
        self.codes
    }

    /// Length in bytes.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// The text of the entries `from..to`.
    #[inline]
    pub(super) fn text(&self, from: usize, to: usize) -> &'t str {
        let (from, to) = (self.offsets[from] as usize, self.offsets[to] as usize);
        debug_assert!(self.text.is_char_boundary(from) && self.text.is_char_boundary(to));
        assert!(from <= to, "entries are in order");
        // SAFETY: `read`, which alone makes chunks, puts every offset at the start of a code point of this text or at its end,
        // and the order is checked. Looking at the text once more for each token costs a tenth of the whole segmentation.
        unsafe { self.text.get_unchecked(from..to) }
    }

    /// Where the entry `at` starts in the text, in bytes.
    #[inline]
    pub(super) fn start(&self, at: usize) -> usize {
        self.offsets[at] as usize
    }
}

/// The chunk that `text` starts with. `spell`: letters and digits are entries of their own everywhere.
pub(super) fn read<'a, 't>(text: &'t str, spell: bool, columns: &'a mut Columns) -> Chunk<'a, 't> {
    let bytes = text.as_bytes();
    let table = codes();
    let Columns { codes, offsets } = columns;
    let most = TARGET.min(bytes.len());
    let (to, starts) = (grown(codes, most + PAD, OTHER), grown(offsets, most + 1, 0));
    let (mut at, mut count, mut last) = (0, 0, OTHER);
    while count < most && at < bytes.len() {
        if count + 1 < most
            && let Some([first, second]) = two_of_three_bytes(bytes, at)
        {
            last = table[usize::from(second)];
            (to[count], to[count + 1]) = (table[usize::from(first)], last);
            (starts[count], starts[count + 1]) = (at as u32, at as u32 + 3);
            count += 2;
            at += 6;
            continue;
        }
        let (code, len) = entry(bytes, at, table, last == OTHER && !spell);
        (to[count], starts[count]) = (code, at as u32);
        last = code;
        count += 1;
        at += len;
    }
    // On to the end of the block.
    while last != OTHER && count < LONGEST && at < bytes.len() {
        let (code, len) = entry(bytes, at, table, false);
        codes.truncate(count);
        codes.push(code);
        offsets.truncate(count);
        offsets.push(at as u32);
        last = code;
        count += 1;
        at += len;
    }
    let codes = grown(codes, count + PAD, OTHER);
    codes[count..].fill(OTHER);
    let offsets = grown(offsets, count + 1, 0);
    offsets[count] = at as u32;
    Chunk { text: &text[..at], codes, offsets }
}

/// The next two code points, if eight bytes follow and both take three of them: what most Chinese text is made of, and half of
/// the work when two are taken apart at once.
#[inline]
fn two_of_three_bytes(bytes: &[u8], at: usize) -> Option<[u16; 2]> {
    let eight = u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?);
    // A lane of 24 bits for each, the first byte the lowest.
    let each = |bits: u64| bits << 24 | bits;
    if eight & each(0xF0) != each(0xE0) {
        return None;
    }
    let two =
        (eight & each(0x0F)) << 12 | (eight & each(0x3F00)) >> 2 | (eight & each(0x3F_0000)) >> 16;
    Some([two as u16, (two >> 24) as u16])
}

/// The entry at `at`: its code and its length in bytes. `whole`: a block may start here whose letters and digits are one entry.
#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "a call for each character would cost a fifth of the whole segmentation"
)]
fn entry(bytes: &[u8], at: usize, table: &[u16], whole: bool) -> (u16, usize) {
    let four = bytes[at..]
        .first_chunk()
        .map_or_else(|| last_bytes(&bytes[at..]), |four| u32::from_le_bytes(*four));
    if four & 0xF0 == 0xE0 {
        // Text is valid UTF-8, so all three bytes are there.
        let character = (four & 0x0F) << 12 | four >> 2 & 0xFC0 | four >> 16 & 0x3F;
        return (table[character as usize], 3);
    }
    rare_entry(&bytes[at..], table, whole)
}

/// At most three bytes, the first the lowest.
#[cold]
fn last_bytes(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |all, &byte| all << 8 | u32::from(byte))
}

/// The entry that `bytes` start with, unless it is a code point of three bytes.
fn rare_entry(bytes: &[u8], table: &[u16], whole: bool) -> (u16, usize) {
    match bytes[0] {
        lead @ 0..0x80 => {
            let code = table[usize::from(lead)];
            if whole && ALPHANUMERICS.contains(&code) {
                let len = word(bytes, table);
                return if len > 0 { (OTHER, len) } else { (code, 1) };
            }
            (code, 1 + usize::from(bytes.starts_with(b"\r\n")))
        }
        0x80..0xF0 => (OTHER, 2),
        _ => (OTHER, 4),
    }
}

/// Length of the letters and digits that `bytes` start with, if they are all of their block; else 0. More than [`LONGEST`]
/// are not taken as one, so that offsets always fit their 32 bits: 512 of them are 2^30 bytes.
fn word(bytes: &[u8], table: &[u16]) -> usize {
    let len = bytes.iter().take(LONGEST).take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let whole = len == bytes.len() || entry(bytes, len, table, false).0 == OTHER;
    if whole { len } else { 0 }
}
