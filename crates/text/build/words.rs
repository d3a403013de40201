//! Reads `words.bin` (format: `data/jieba/generate.py`) into a trie.

use std::error::Error;

/// The dictionary as packed.
pub(crate) struct Words {
    /// Characters in code order; the code is the index + 1.
    pub(crate) characters: Vec<u16>,
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
    /// Every prefix of every word; node 0 is the root.
    pub(crate) trie: Vec<Node>,
}

/// A prefix: the last character's code, and what is known of it as a word.
#[derive(Default)]
pub(crate) struct Node {
    pub(crate) code: u16,
    /// 0: not in the dictionary.
    pub(crate) frequency: u16,
    /// 0: no idf.
    pub(crate) idf: u16,
    /// Ascending by code.
    pub(crate) children: Vec<u32>,
}

impl Words {
    /// Numbers the characters by `codes` instead of by their order in the file.
    pub(crate) fn recode(&mut self, codes: &[u64]) {
        for node in self.trie.iter_mut().skip(1) {
            let character = self.characters[usize::from(node.code) - 1];
            node.code = codes[usize::from(character)] as u16;
        }
        let codes: Vec<u16> = self.trie.iter().map(|node| node.code).collect();
        for node in &mut self.trie {
            node.children.sort_by_key(|&child| codes[child as usize]);
        }
    }
}

pub(crate) fn read(mut bytes: &[u8]) -> Result<Words, Box<dyn Error>> {
    let from = &mut bytes;
    let mut count = || take(from).map(|raw| u32::from_le_bytes(raw) as usize);
    let [characters, frequencies, idfs, words] = [count()?, count()?, count()?, count()?];
    let total = u64::from_le_bytes(take(from)?);
    let ln_total = f64::from_le_bytes(take(from)?);
    let median = f64::from_le_bytes(take(from)?);
    let characters = (0..characters).map(|_| Ok(u16::from_le_bytes(take(from)?)));
    let characters = characters.collect::<Result<_, Box<dyn Error>>>()?;
    let frequencies = (0..frequencies)
        .map(|_| Ok((u32::from_le_bytes(take(from)?), f64::from_le_bytes(take(from)?))))
        .collect::<Result<_, Box<dyn Error>>>()?;
    let idfs = (0..idfs).map(|_| Ok(f64::from_le_bytes(take(from)?)));
    let idfs = idfs.collect::<Result<_, Box<dyn Error>>>()?;

    let mut trie = vec![Node::default()];
    let mut path = vec![0_u32];
    for _ in 0..words {
        let [lengths] = take(from)?;
        path.truncate(usize::from(lengths >> 4) + 1);
        for _ in 0..=lengths & 15 {
            let child = trie.len() as u32;
            let parent = path.last().copied().unwrap_or(0);
            trie.push(Node { code: u16::from_le_bytes(take(from)?), ..Node::default() });
            trie[parent as usize].children.push(child);
            path.push(child);
        }
        let word = trie.last_mut().ok_or("a trie has a root")?;
        word.frequency = varint(from)?;
        word.idf = varint(from)?;
    }
    if !bytes.is_empty() {
        return Err("words.bin: bytes after the last word".into());
    }
    Ok(Words { characters, frequencies, idfs, total, ln_total, median, trie })
}

/// The next `N` bytes.
pub(crate) fn take<const N: usize>(from: &mut &[u8]) -> Result<[u8; N], Box<dyn Error>> {
    let (head, tail) = from.split_first_chunk().ok_or("data/jieba: unexpected end of file")?;
    *from = tail;
    Ok(*head)
}

fn varint(from: &mut &[u8]) -> Result<u16, Box<dyn Error>> {
    let mut value = 0;
    for shift in [0, 7, 14] {
        let [byte] = take(from)?;
        value |= u16::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err("words.bin: a varint of more than three bytes".into())
}
