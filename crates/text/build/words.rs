//! Reads the words of `data/jieba/words.bin` as a trie in preorder.

use crate::packed::{Packed, take, varint};

/// A prefix of a word.
pub(crate) struct Prefix {
    /// The prefix one character shorter; 0 is the empty one, and others have the number of their place in the order.
    pub(crate) parent: usize,
    /// The last character's code.
    pub(crate) code: u16,
    /// Index + 1 of its frequency as a word; 0: not in the dictionary.
    pub(crate) frequency: u16,
    /// Index + 1 of its idf as a word; 0: none.
    pub(crate) idf: u16,
}

/// Every prefix of every word but the empty one, a parent before its children. `None` if the bytes end early, name what is not
/// there, or go on after the last word.
pub(crate) fn prefixes(packed: &Packed) -> Option<Vec<Prefix>> {
    let mut rest = packed.rest;
    let from = &mut rest;
    let mut all = Vec::new();
    let mut path = vec![0];
    for _ in 0..packed.count {
        let [lengths] = take(from)?;
        path.truncate(usize::from(lengths >> 4) + 1);
        for _ in 0..=lengths & 15 {
            let listed = usize::from(u16::from_le_bytes(take(from)?)).checked_sub(1)?;
            let code = packed.codes[usize::from(*packed.listed.get(listed)?)];
            all.push(Prefix { parent: *path.last()?, code, frequency: 0, idf: 0 });
            path.push(all.len());
        }
        let word = all.last_mut()?;
        word.frequency = varint(from)?;
        word.idf = varint(from)?;
    }
    from.is_empty().then_some(all)
}
