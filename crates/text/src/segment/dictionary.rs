//! jieba's dictionary as a double array over dense character codes.
//!
//! A slot of the array is 64 bits: everything that is known of the prefix which
//! ends there, so that a step of a walk costs one load:
//!
//! ```text
//! bits   0..14   14..27              27..39         39..60
//!        check   frequency index     idf index      base of the children (0: a leaf)
//! ```
//!
//! The child of a node by code `c` is slot `base + c` if its check is `c`; no two nodes share a base, so the check need not
//! name the parent. No node but a leaf has base 0, so the children of a leaf are never found.
//!
//! Every character that jieba segments, `[一-鿕a-zA-Z0-9+#&._%-]`, has a code, whether a word has it or not: ASCII first, then the
//! ideographs, the frequent ones first, so that what is used together lies together in every table. Code 0 stands for all
//! other characters: no slot has it as check.
//!
//! All tables are made at first use: see [`tables`](super::tables).

use super::tables::tables;

/// The slots of the double array.
#[inline]
pub(crate) fn nodes() -> &'static [u64] {
    &tables().nodes
}

/// Where the children of the first level are, by code: of the root's children what every character is asked for, in half the
/// bytes.
#[inline]
pub(crate) fn bases() -> &'static [u32] {
    &tables().bases
}

/// The code of every code point of 16 bits.
#[inline]
pub(crate) fn codes() -> &'static [u16] {
    &tables().codes
}

/// The character of every code.
#[inline]
pub(crate) fn characters() -> &'static [u16] {
    &tables().characters
}

/// ln f − ln total by frequency index.
#[inline]
pub(crate) fn scores() -> &'static [f64] {
    &tables().scores
}

/// The scores of characters alone, by code. That of [`OTHER`] is greater than everything: see where it is read.
#[inline]
pub(crate) fn singles() -> &'static [f64] {
    &tables().singles
}

/// ln f by frequency index.
#[inline]
pub(crate) fn logs() -> &'static [f64] {
    &tables().logs
}

/// f by frequency index.
#[inline]
pub(crate) fn frequencies() -> &'static [u32] {
    &tables().frequencies
}

/// Sum of all frequencies.
pub(crate) fn total() -> u64 {
    tables().total
}

/// Its logarithm, to the bit as Python has it.
pub(crate) fn ln_total() -> f64 {
    tables().ln_total
}

/// The idf values by idf index.
#[inline]
pub(crate) fn idfs() -> &'static [f64] {
    &tables().idfs
}

/// A prefix of a word: a slot of the double array and what is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    bits: u64,
    slot: u32,
}

impl Node {
    /// The empty prefix. Its base is 1; it has no slot, and no other node has slot 0.
    pub(crate) const ROOT: Self = Self { bits: 1 << 39, slot: 0 };

    /// A slot; `base` is little-endian.
    pub(super) fn bits(code: u16, frequency: u16, idf: u16, [a, b, c]: [u8; 3]) -> u64 {
        let base = u64::from(u32::from_le_bytes([a, b, c, 0]));
        u64::from(code) | u64::from(frequency) << 14 | u64::from(idf) << 27 | base << 39
    }

    /// The prefix that ends in `slot`, which a walk has found before.
    #[inline]
    pub(crate) fn at(nodes: &[u64], slot: u32) -> Self {
        Self { bits: nodes[slot as usize], slot }
    }

    /// The prefix that is in `slot` if `code` is its last character; else a leaf that is no word.
    #[inline]
    pub(crate) fn checked(nodes: &[u64], slot: u32, code: u16) -> Self {
        let bits = nodes[slot as usize];
        // Whether characters are a prefix cannot be predicted: no branch.
        let same = bits & 0x3FFF == u64::from(code);
        Self { bits: std::hint::select_unpredictable(same, bits, 0), slot }
    }

    /// The prefix longer by the character of `code`; a leaf that is no word if there is none.
    #[inline]
    pub(crate) fn step(self, nodes: &[u64], code: u16) -> Self {
        Self::checked(nodes, self.slot_of_child(code), code)
    }

    /// The slot in which the two characters are, if any word starts with them; `bases` are those of the first.
    #[inline]
    pub(crate) fn slot_of_two(bases: &[u32], first: u16, second: u16) -> u32 {
        bases[usize::from(first)] + u32::from(second)
    }

    /// The slot in which the child by `code` is, if there is one.
    #[inline]
    pub(crate) fn slot_of_child(self, code: u16) -> u32 {
        (self.bits >> 39) as u32 + u32::from(code)
    }

    /// The prefix longer by the character of `code`, if any word has it.
    #[inline]
    pub(crate) fn child(self, nodes: &[u64], code: u16) -> Option<Self> {
        let child = self.step(nodes, code);
        (child.bits != 0).then_some(child)
    }

    /// Its slot: a number that no other prefix has.
    #[inline]
    pub(crate) fn slot(self) -> u32 {
        self.slot
    }

    /// Whether any word starts with it.
    #[inline]
    pub(crate) fn exists(self) -> bool {
        self.bits != 0
    }

    /// Whether no word is longer.
    #[inline]
    pub(crate) fn is_leaf(self) -> bool {
        self.bits >> 39 == 0
    }

    /// Index into [`scores`] and [`frequencies`]; 0 when the prefix is no word.
    #[inline]
    pub(crate) fn frequency(self) -> usize {
        (self.bits >> 14 & 0x1FFF) as usize
    }

    /// Index into [`idfs`]; 0 when the word has none, which is where the median is.
    #[inline]
    pub(crate) fn idf(self) -> usize {
        (self.bits >> 27 & 0xFFF) as usize
    }
}

/// What stands for a character that jieba does not segment.
pub(crate) const OTHER: u16 = 0;
/// The codes of ASCII digits, which come first.
pub(crate) const DIGITS: std::ops::RangeInclusive<u16> = 1..=10;
/// The codes of ASCII digits and letters.
pub(crate) const ALPHANUMERICS: std::ops::RangeInclusive<u16> = 1..=62;
/// The code of `.`.
pub(crate) const DOT: u16 = 66;
/// The code of `%`.
pub(crate) const PERCENT: u16 = 68;
/// The least code of an ideograph, U+4E00 to U+9FD5; all above are ideographs too.
pub(crate) const FIRST_HAN: u16 = 70;

/// The code of a character; [`OTHER`] if jieba does not segment it.
#[inline]
pub(crate) fn code(c: char) -> u16 {
    codes().get(c as usize).copied().unwrap_or(OTHER)
}

/// The node of `word`, if it is a prefix of a word; any text may be asked for.
pub(crate) fn find(word: &str) -> Option<Node> {
    let nodes = nodes();
    word.chars().try_fold(Node::ROOT, |node, c| node.child(nodes, code(c)))
}

/// Calls `each` with every word and its frequency, in the order of the slots, which has no meaning.
#[cfg(feature = "jieba-rs")]
pub(crate) fn for_each_word(mut each: impl FnMut(&str, u32)) {
    let nodes = nodes();
    // Where the node of each base is; the root's is 1. No two share one, so a slot less its check leads to the parent.
    let mut parents = vec![0; nodes.len()];
    for (slot, bits) in nodes.iter().enumerate() {
        parents[(bits >> 39) as usize] = slot;
    }
    parents[1] = 0;
    let (mut backwards, mut word) = (Vec::new(), String::new());
    for end in 0..nodes.len() as u32 {
        let frequency = Node::at(nodes, end).frequency();
        if frequency == 0 {
            continue;
        }
        let mut slot = end as usize;
        while slot != 0 {
            let code = (nodes[slot] & 0x3FFF) as usize;
            backwards.extend(char::from_u32(u32::from(characters()[code])));
            slot = parents[slot - code];
        }
        word.clear();
        word.extend(backwards.drain(..).rev());
        each(&word, frequencies()[frequency]);
    }
}

/// How many words there are. Cost: reads the whole array, some milliseconds.
pub(crate) fn count() -> usize {
    let nodes = nodes();
    (0..nodes.len() as u32).filter(|&slot| Node::at(nodes, slot).frequency() > 0).count()
}

/// The frequency of `word`; `None` when it is not in the dictionary.
pub(crate) fn frequency(word: &str) -> Option<u32> {
    let index = find(word)?.frequency();
    (index > 0).then(|| frequencies()[index])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_segmented_character_has_a_code_of_its_own() {
        let class = ('一'..='\u{9FD5}').chain("+#&._%-".chars());
        let class = class.chain((0..128_u8).filter(u8::is_ascii_alphanumeric).map(char::from));
        let mut coded = 0;
        for c in class {
            coded += 1;
            assert_eq!(characters()[usize::from(code(c))], c as u16, "{c}");
            assert_eq!(code(c) >= FIRST_HAN, !c.is_ascii());
            assert_eq!(ALPHANUMERICS.contains(&code(c)), c.is_ascii_alphanumeric());
            assert_eq!(DIGITS.contains(&code(c)), c.is_ascii_digit());
        }
        assert_eq!((code('.'), code('%')), (DOT, PERCENT));
        assert_eq!(codes().iter().filter(|&&code| code != OTHER).count(), coded);
    }

    #[test]
    fn words_have_their_frequency_and_idf() {
        // From dict.txt and idf.txt.
        assert_eq!(total(), 60_101_967);
        assert_eq!(frequency("中国"), Some(129_470));
        assert_eq!(frequency("的"), Some(318_825));
        assert_eq!(frequency("AT&T"), Some(3));
        assert_eq!(frequency("北京大"), None);
        assert_eq!(frequency("γ射线"), None);
        assert_eq!(frequency(""), None);
        let idf = |word| find(word).map(|node| idfs()[node.idf()].to_string());
        assert_eq!(idf("中国").as_deref(), Some("3.02732068666"));
        assert_eq!(idf("没有的词"), None);
    }

    #[test]
    fn a_single_character_has_the_score_of_its_word() {
        assert_eq!(singles()[usize::from(OTHER)].to_bits(), f64::INFINITY.to_bits());
        for code in 1..characters().len() as u16 {
            let word = Node::ROOT.step(nodes(), code);
            assert_eq!(
                singles()[usize::from(code)].to_bits(),
                scores()[word.frequency()].to_bits()
            );
        }
    }

    #[test]
    fn every_word_is_a_path_and_every_check_a_code() {
        let nodes = nodes();
        let highest = u64::from(codes().iter().copied().max().unwrap());
        let used = nodes.iter().filter(|&&node| node & 0x3FFF != 0x3FFF).count();
        assert!(used > 512_000);
        let in_range =
            |node: &u64| node & 0x3FFF == 0x3FFF || (1..=highest).contains(&(node & 0x3FFF));
        assert!(nodes.iter().all(in_range));
        // Walk everything that can be reached: each slot exactly once.
        let mut open = vec![Node::ROOT];
        let (mut reached, mut words) = (0, 0);
        while let Some(node) = open.pop() {
            for code in (1..=highest as u16).filter(|&code| code != 0x3FFF) {
                if let Some(child) = node.child(nodes, code) {
                    reached += 1;
                    words += usize::from(child.frequency() > 0);
                    if !child.is_leaf() {
                        open.push(child);
                    }
                }
            }
        }
        assert_eq!(reached, used);
        assert_eq!(words, 349_044); // all of dict.txt but γ射线
    }
}
