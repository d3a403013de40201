//! Reads `data/jieba/words.bin` (format: `generate.py` beside it) as a trie in preorder, and numbers the characters.
//!
//! `build.rs` includes this file: it finds a place for the trie in a double array, and [`tables`](super::tables) puts it there.

/// The characters that the HMM knows: U+4E00 to U+9FD5.
const HAN: std::ops::RangeInclusive<u16> = 0x4E00..=0x9FD5;
/// The ASCII characters that jieba segments, letters and digits first.
const ASCII: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+#&._%-";
/// The check of an empty slot of the double array: greater than any code of a character in a word.
pub(crate) const EMPTY: u16 = 0x3FFF;

/// The dictionary as packed.
pub(crate) struct Packed<'a> {
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
    /// The codes by which `words` names the characters: by index + 1 into the file's own list.
    own: Vec<u16>,
    count: usize,
    words: &'a [u8],
}

/// A prefix of a word.
#[derive(Clone, Copy)]
pub(crate) struct Prefix {
    /// Characters before its last one.
    pub(crate) depth: usize,
    /// The last character's code.
    pub(crate) code: u16,
    /// Index + 1 of its frequency as a word; 0: not in the dictionary.
    pub(crate) frequency: u16,
    /// Index + 1 of its idf as a word; 0: none.
    pub(crate) idf: u16,
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
        let dictionary: Vec<u16> =
            (0..characters).map(|_| take(from).map(u16::from_le_bytes)).collect::<Option<_>>()?;
        let frequencies = (0..frequencies)
            .map(|_| Some((u32::from_le_bytes(take(from)?), f64::from_le_bytes(take(from)?))))
            .collect::<Option<_>>()?;
        let idfs = (0..idfs).map(|_| take(from).map(f64::from_le_bytes)).collect::<Option<_>>()?;
        let characters = code_order(&dictionary);
        let mut codes = vec![0; 1 << 16];
        for (code, &character) in characters.iter().enumerate().filter(|&(_, &c)| c > 0) {
            codes[usize::from(character)] = code as u16;
        }
        let own = dictionary.iter().map(|&character| codes[usize::from(character)]).collect();
        let words = bytes;
        Some(Self {
            characters,
            codes,
            frequencies,
            idfs,
            total,
            ln_total,
            median,
            own,
            count,
            words,
        })
    }

    /// Calls `each` with every prefix of every word, a parent before its children and these before its next sibling. `None` if
    /// the bytes end early, name what is not there, or go on after the last word.
    pub(crate) fn for_each_prefix(&self, mut each: impl FnMut(Prefix)) -> Option<()> {
        let mut from = self.words;
        let from = &mut from;
        for _ in 0..self.count {
            let [lengths] = take(from)?;
            let (shared, last) = (usize::from(lengths >> 4), usize::from(lengths & 15));
            let mut added = [0; 16];
            for code in &mut added[..=last] {
                let own = usize::from(u16::from_le_bytes(take(from)?));
                *code = *self.own.get(own.checked_sub(1)?)?;
            }
            for (depth, &code) in added[..last].iter().enumerate() {
                each(Prefix { depth: shared + depth, code, frequency: 0, idf: 0 });
            }
            let (frequency, idf) = (varint(from)?, varint(from)?);
            each(Prefix { depth: shared + last, code: added[last], frequency, idf });
        }
        from.is_empty().then_some(())
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
fn take<const N: usize>(from: &mut &[u8]) -> Option<[u8; N]> {
    let (head, tail) = from.split_first_chunk()?;
    *from = tail;
    Some(*head)
}

fn varint(from: &mut &[u8]) -> Option<u16> {
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
