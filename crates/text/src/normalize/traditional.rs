//! Traditional to simplified Chinese, character by character.
//!
//! The same article in both scripts shares hardly a bigram, so cross-script copies are lost without this step. The table
//! is a selection of `OpenCC`'s `TSCharacters` (`data/opencc`, with its licence and generator): 4,117 characters, 356 of them
//! outside the Basic Multilingual Plane. Where one traditional character has several simplified ones, the first of `OpenCC`'s
//! list is always taken (乾 becomes 干, never 乾; 於 becomes 于; 瞭 and 藉 stay): what counts is that two copies end in the
//! same string, not that the result reads well. The data file lists all these choices. Vocabulary (軟體, 软件) is not touched.
//!
//! The look-up has two levels: a bit per character of U+3400 to U+9FFF (3.5 kB, stays in the first-level cache) says
//! whether anything changes, which is all that simplified text needs; pages of 256 targets say to what.

use super::cut::Cutter;
use std::sync::LazyLock;

/// The bitmap covers U+3400 to U+9FFF: every source in the Basic Multilingual Plane.
const FIRST: u32 = 0x3400;
const BITS: u32 = 0xA000 - FIRST;

struct Table {
    /// Bit `c - FIRST`: whether `c` changes.
    changes: [u64; (BITS / 64) as usize],
    /// Page number + 1 of `c / 256`, or 0.
    pages: Vec<u16>,
    /// Target by `c % 256`; U+0000 where `c` stays.
    targets: Vec<[char; 256]>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table =
        Table { changes: [0; (BITS / 64) as usize], pages: vec![0; 0x1100], targets: Vec::new() };
    for line in include_str!("../../data/opencc/simplified.txt").lines() {
        let mut pair = line.chars();
        if let (Some(from), Some(to), None) = (pair.next(), pair.next(), pair.next()) {
            table.insert(from, to);
        }
    }
    table
});

impl Table {
    fn insert(&mut self, from: char, to: char) {
        let code = from as u32;
        let bit = code.wrapping_sub(FIRST);
        if bit < BITS {
            self.changes[(bit / 64) as usize] |= 1 << (bit % 64);
        }
        let page = &mut self.pages[(code / 256) as usize];
        if *page == 0 {
            self.targets.push(['\0'; 256]);
            *page = self.targets.len() as u16;
        }
        self.targets[usize::from(*page - 1)][(code % 256) as usize] = to;
    }

    /// Whether the character of the Basic Multilingual Plane with this code changes.
    fn changes(&self, code: u32) -> bool {
        let bit = code.wrapping_sub(FIRST);
        bit < BITS && self.changes[(bit / 64) as usize] >> (bit % 64) & 1 == 1
    }

    fn target(&self, c: char) -> Option<char> {
        let page = self.pages[c as usize / 256];
        let target = self.targets[usize::from(page.checked_sub(1)?)][c as usize % 256];
        (target != '\0').then_some(target)
    }

    /// Position and simplified form of the first character at or after `at` that changes.
    fn next(&self, text: &str, mut at: usize) -> Option<(usize, char, char)> {
        let bytes = text.as_bytes();
        loop {
            match bytes[at..] {
                [a, ..] if a < 0x80 => at += 1,
                [a, b, c, ..] if (0xE0..0xF0).contains(&a) => {
                    let code = u32::from(a & 15) << 12 | u32::from(b & 63) << 6 | u32::from(c & 63);
                    if self.changes(code) {
                        let from = char::from_u32(code)?;
                        return Some((at, from, self.target(from)?));
                    }
                    at += 3;
                }
                [] => return None,
                _ => {
                    let from = text[at..].chars().next()?;
                    if let Some(to) = self.target(from) {
                        return Some((at, from, to));
                    }
                    at += from.len_utf8();
                }
            }
        }
    }
}

/// Writes `text` in simplified characters to `out`; false, and `out` undefined, if it already is.
pub(super) fn apply(text: &str, out: &mut String) -> bool {
    let table = &*TABLE;
    let mut cutter = Cutter::new(text, out);
    let mut at = 0;
    while let Some((start, from, to)) = table.next(text, at) {
        at = start + from.len_utf8();
        cutter.replace(start, at, to.encode_utf8(&mut [0; 4]));
    }
    cutter.finish()
}

#[cfg(test)]
mod tests {
    use super::{TABLE, apply};

    fn simplified(text: &str) -> String {
        let mut out = String::new();
        if apply(text, &mut out) { out } else { text.to_owned() }
    }

    #[test]
    fn the_table_is_read_whole_and_agrees_with_its_file() {
        let file = include_str!("../../data/opencc/simplified.txt");
        let pairs: Vec<(char, char)> = file
            .lines()
            .filter(|line| !line.starts_with('#'))
            .map(|line| (line.chars().next().unwrap(), line.chars().nth(1).unwrap()))
            .collect();
        assert_eq!(pairs.len(), 4117);
        assert!(pairs.iter().all(|&(from, to)| TABLE.target(from) == Some(to)));
        let changed = ('\0'..=char::MAX).filter(|&c| simplified(&c.to_string()) != c.to_string());
        assert_eq!(changed.count(), pairs.len());
    }

    #[test]
    fn targets_are_final() {
        for c in '\0'..=char::MAX {
            let once = simplified(&c.to_string());
            assert_eq!(simplified(&once), once, "{c:?}");
        }
    }

    #[test]
    fn common_and_rare_characters_become_simplified() {
        assert_eq!(simplified("臺灣的軟體與資訊，abc乾燥"), "台湾的软体与资讯，abc干燥");
        assert_eq!(simplified("\u{26021}薴幹"), simplified("\u{26021}苎干"));
        assert_eq!(simplified("㑮"), "\u{2B748}");
    }
}
