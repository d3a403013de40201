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

/// A chunk ends at the first end of a block after so many entries: at 50 bytes each its tables then take 25 KiB, which a
/// first-level cache holds.
const TARGET: usize = 512;

/// A block is split here at the latest, so that a hostile text without any punctuation cannot demand tables without bound.
/// Two million characters are longer than any book without punctuation; the tokens at the cut may differ from jieba's.
const LONGEST: usize = 1 << 21;

/// Entries of a chunk and where they are.
#[derive(Clone, Debug, Default)]
pub(super) struct Chunk {
    codes: Vec<u16>,
    offsets: Vec<u32>,
    /// Number of entries.
    len: usize,
}

/// Codes of [`OTHER`] behind the last entry, so that no look ahead needs a check.
pub(super) const PAD: usize = 2;

impl Chunk {
    /// The codes of the characters, [`OTHER`] for tokens of no block.
    pub(super) fn codes(&self) -> &[u16] {
        &self.codes[..self.len]
    }

    /// The codes and [`PAD`] more.
    pub(super) fn padded(&self) -> &[u16] {
        &self.codes[..self.len + PAD]
    }

    /// Where each entry starts in the text, in bytes, relative to the chunk, and where the last one ends.
    pub(super) fn offsets(&self) -> &[u32] {
        &self.offsets[..=self.len]
    }

    /// Length in bytes.
    pub(super) fn end(&self) -> usize {
        self.offsets[self.len] as usize
    }
}

/// Fills `chunk` with the one that starts at byte `from`. `spell`: letters and digits are entries of their own everywhere.
pub(super) fn read(text: &str, from: usize, spell: bool, chunk: &mut Chunk) {
    let bytes = text.as_bytes();
    let table = codes();
    let Chunk { codes, offsets, len } = chunk;
    let most = TARGET.min(bytes.len() - from);
    let (to, starts) = (grown(codes, most + PAD, OTHER), grown(offsets, most + 1, 0));
    let (mut at, mut count, mut last) = (from, 0, OTHER);
    while count < most && at < bytes.len() {
        if count + 1 < most
            && let Some([first, second]) = two_of_three_bytes(bytes, at)
        {
            last = table[usize::from(second)];
            (to[count], to[count + 1]) = (table[usize::from(first)], last);
            let start = (at - from) as u32;
            (starts[count], starts[count + 1]) = (start, start + 3);
            count += 2;
            at += 6;
            continue;
        }
        let (code, len) = entry(bytes, at, table, last == OTHER && !spell);
        (to[count], starts[count]) = (code, (at - from) as u32);
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
        offsets.push((at - from) as u32);
        last = code;
        count += 1;
        at += len;
    }
    *len = count;
    grown(codes, count + PAD, OTHER)[count..].fill(OTHER);
    grown(offsets, count + 1, 0)[count] = (at - from) as u32;
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

/// Length of the letters and digits that `bytes` start with, if they are all of their block; else 0.
fn word(bytes: &[u8], table: &[u16]) -> usize {
    let len = bytes.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let whole = len == bytes.len() || entry(bytes, len, table, false).0 == OTHER;
    if whole { len } else { 0 }
}
