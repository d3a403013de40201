//! Reads the tables before the words of `data/jieba/words.bin` (format: `generate.py` beside it), and numbers the characters.
//!
//! `build.rs` includes this file too: it puts the same tables before the slots of the double array that it makes of the words.

/// The characters that the HMM knows: U+4E00 to U+9FD5.
const HAN: std::ops::RangeInclusive<u16> = 0x4E00..=0x9FD5;
/// The ASCII characters that jieba segments, letters and digits first.
const ASCII: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+#&._%-";
/// The check of an empty slot of the double array: greater than any code of a character in a word.
pub(crate) const EMPTY: u16 = 0x3FFF;

/// The tables before the words, and these.
pub(crate) struct Packed<'a> {
    /// Characters of the dictionary; a word refers to them by index + 1.
    pub(crate) listed: Vec<u16>,
    /// Every character that is segmented, by code; 0 where a code stands for none.
    pub(crate) characters: Vec<u16>,
    /// The code of every code point of 16 bits; 0 for what jieba does not segment.
    pub(crate) codes: Vec<u16>,
    /// Distinct frequencies with their logarithms; a word refers to them by index + 1.
    pub(crate) frequencies: Vec<(u32, f64)>,
    /// Distinct idf values; a word refers to them by index + 1.
    pub(crate) idfs: Vec<f64>,
    /// Sum of all frequencies, those of words that cannot match included.
    pub(crate) total: u64,
    /// Its logarithm.
    pub(crate) ln_total: f64,
    /// Median idf, for words that have none.
    pub(crate) median: f64,
    /// How many words there are.
    pub(crate) count: usize,
    /// What comes after the tables: words, or slots.
    pub(crate) rest: &'a [u8],
}

impl<'a> Packed<'a> {
    /// `None` if the bytes end early.
    pub(crate) fn read(mut bytes: &'a [u8]) -> Option<Self> {
        let from = &mut bytes;
        let mut count = || take(from).map(|raw| u32::from_le_bytes(raw) as usize);
        let [characters, frequencies, idfs, count] = [count()?, count()?, count()?, count()?];
        let total = u64::from_le_bytes(take(from)?);
        let ln_total = f64::from_le_bytes(take(from)?);
        let median = f64::from_le_bytes(take(from)?);
        let listed: Vec<u16> =
            (0..characters).map(|_| take(from).map(u16::from_le_bytes)).collect::<Option<_>>()?;
        let frequencies = (0..frequencies)
            .map(|_| Some((u32::from_le_bytes(take(from)?), f64::from_le_bytes(take(from)?))))
            .collect::<Option<_>>()?;
        let idfs = (0..idfs).map(|_| take(from).map(f64::from_le_bytes)).collect::<Option<_>>()?;
        let characters = code_order(&listed);
        let mut codes = vec![0; 1 << 16];
        for (code, &character) in characters.iter().enumerate().filter(|&(_, &c)| c > 0) {
            codes[usize::from(character)] = code as u16;
        }
        Some(Self {
            listed,
            characters,
            codes,
            frequencies,
            idfs,
            total,
            ln_total,
            median,
            count,
            rest: bytes,
        })
    }
}

/// Every character of the class that jieba segments by code: none for code 0, then [`ASCII`], then the ideographs, those of the
/// dictionary in its own order (the frequent ones first, so that what is used together lies together).
///
/// The check of an empty slot is no code: its place holds a character that occurs in no text of jieba's class.
fn code_order(dictionary: &[u16]) -> Vec<u16> {
    let mut order = vec![0];
    order.extend(ASCII.iter().copied().map(u16::from));
    order.extend(dictionary.iter().filter(|&&character| character >= 128));
    let mut known = vec![false; 1 << 16];
    for &character in &order {
        known[usize::from(character)] = true;
    }
    order.extend(HAN.filter(|&character| !known[usize::from(character)]));
    if order.len() > usize::from(EMPTY) {
        order.insert(usize::from(EMPTY), 0);
    }
    order
}

/// The next `N` bytes.
pub(crate) fn take<const N: usize>(from: &mut &[u8]) -> Option<[u8; N]> {
    let (head, tail) = from.split_first_chunk()?;
    *from = tail;
    Some(*head)
}

/// A number in groups of 7 bits, the lowest first; all but the last have the highest bit set.
pub(crate) fn varint(from: &mut &[u8]) -> Option<u16> {
    let mut value = 0;
    for shift in [0, 7, 14] {
        let [byte] = take(from)?;
        value |= u16::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}
