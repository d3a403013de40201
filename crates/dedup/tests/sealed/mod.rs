//! Files whose content was changed and whose checksums were made right: what is read then is a file that somebody wrote with intent.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]
#![allow(dead_code, reason = "each test binary uses its part")]

use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Where the first frame of a file begins.
const FIRST: usize = 32;
/// Where the head of a log ends, and bytes of each of the two marks behind it.
pub(crate) const MARKS: usize = 3_072;
const MARK: usize = 512;
/// Words that have a checksum of their own lie in blocks of so many bytes, from a multiple of so many on.
const BLOCK: usize = 1 << 16;
const LINE: usize = 64;

/// A frame of a file.
#[derive(Debug, Clone)]
pub(crate) struct Framed {
    pub(crate) name: String,
    at: usize,
    /// What can be changed: its content; of words in blocks, the words.
    pub(crate) content: Range<usize>,
    /// Its blocks have checksums in the frame that begins here.
    sums: Option<usize>,
}

fn number(bytes: &[u8], at: usize) -> usize {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize
}

/// The frames of a file of an index that have a content, but for the checksums of blocks.
pub(crate) fn frames(bytes: &[u8]) -> Vec<Framed> {
    let is_log = bytes[12..].starts_with(b"log\0");
    let mut all: Vec<Framed> = Vec::new();
    let mut at = FIRST;
    while at < bytes.len() {
        let content = at + 16..at + 16 + number(bytes, at + 8);
        let next = content.end + 8;
        let name = bytes[at..at + 4].escape_ascii().to_string();
        if let Some(words) = all.last_mut().filter(|_| name == "SUMS") {
            words.sums = Some(at);
            words.content.start = words.content.start.next_multiple_of(LINE);
        } else {
            all.push(Framed { name, at, content, sums: None });
        }
        at = if is_log && next == MARKS { next + 2 * MARK } else { next };
    }
    all.retain(|frame| !frame.content.is_empty());
    all
}

/// Makes the checksums of a frame right.
pub(crate) fn seal(bytes: &mut [u8], frame: &Framed) {
    let put = |bytes: &mut [u8], from: usize, to: usize, at: usize| {
        let sum = xxh3_64_with_seed(&bytes[from..to], from as u64);
        bytes[at..at + 8].copy_from_slice(&sum.to_le_bytes());
    };
    let end = frame.content.end;
    put(bytes, frame.at, end, end);
    if let Some(sums) = frame.sums {
        for (block, from) in frame.content.clone().step_by(BLOCK).enumerate() {
            put(bytes, from, (from + BLOCK).min(end), sums + 32 + block * 8);
        }
        let sums_end = sums + 16 + number(bytes, sums + 8);
        put(bytes, sums, sums_end, sums_end);
    }
}

/// The marks of a log, as they lie there: where each is.
pub(crate) fn marks() -> [usize; 2] {
    [MARKS, MARKS + MARK]
}

/// Makes the checksum of a mark of a log right.
pub(crate) fn seal_mark(bytes: &mut [u8], at: usize) {
    let sum = xxh3_64_with_seed(&bytes[at..at + 16], at as u64);
    bytes[at + 16..at + 24].copy_from_slice(&sum.to_le_bytes());
}
