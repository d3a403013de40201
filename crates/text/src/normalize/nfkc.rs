//! What NFKC and case folding make of one character, looked up instead of computed.
//!
//! Four tables, one per combination of the two switches. A page of 256 characters is worked out when a text first needs
//! it (about 30 µs from the Unicode tables of `unicode-normalization` and our own foldings), so nothing has to be loaded
//! and nothing can disagree with the slow path's source.
//!
//! A character is *inert* when it is its own normal form and can neither combine with a neighbour nor be reordered:
//! NFKC quick check Yes and canonical combining class 0. A string of inert characters is in NFKC whatever their order
//! (UAX #15, section 9), which is why inert characters may be copied and why a space between them may be dropped.

use super::casefold::fold;
use super::scan::Class;
use std::sync::OnceLock;
use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

/// What to do with a character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Action<'a> {
    /// Copy it.
    Keep,
    /// It is white space: the white-space step decides.
    Space,
    /// Write this instead: inert characters and white space only.
    Replace(&'a str),
    /// It depends on its neighbours: the slow path.
    Slow,
}

/// The characters of one page that are not simply kept.
struct Page {
    /// 0 keep, 1 space, 2 slow, else 3 + index into `replacements`.
    codes: [u16; 256],
    replacements: Vec<String>,
}

const KEEP: u16 = 0;
const SPACE: u16 = 1;
const SLOW: u16 = 2;
const REPLACE: u16 = 3;

/// Pages of 256 characters up to U+10FFFF.
const PAGES: usize = 0x11_0000 / 256;

/// The table of one combination of the two switches.
pub(super) struct Table {
    nfkc: bool,
    case: bool,
    pages: Box<[OnceLock<Box<Page>>]>,
    /// The first bytes of all characters that may not simply be kept.
    stops: OnceLock<Class>,
}

/// Made when they are first asked for: as statics they would be 280 kB of the file, in which an empty `OnceLock` is not all zeros.
static TABLES: [OnceLock<Table>; 4] = [const { OnceLock::new() }; 4];

impl Table {
    fn new(nfkc: bool, case: bool) -> Self {
        let pages = (0..PAGES).map(|_| OnceLock::new()).collect();
        Self { nfkc, case, pages, stops: OnceLock::new() }
    }

    /// The table for these switches.
    pub(super) fn of(nfkc: bool, case: bool) -> &'static Self {
        TABLES[usize::from(nfkc) * 2 + usize::from(case)].get_or_init(|| Self::new(nfkc, case))
    }

    /// What to do with `c`.
    pub(super) fn action(&self, c: char) -> Action<'_> {
        let page = self.page(c);
        match page.codes[c as usize % 256] {
            KEEP => Action::Keep,
            SPACE => Action::Space,
            SLOW => Action::Slow,
            index => Action::Replace(&page.replacements[usize::from(index - REPLACE)]),
        }
    }

    /// End of the run of kept characters that starts at byte `at` of `text`.
    pub(super) fn keep_run(&self, text: &str, mut at: usize) -> usize {
        let stops = self.stops.get_or_init(|| self.stops());
        loop {
            at = stops.next(text.as_bytes(), at);
            match text[at..].chars().next() {
                Some(c) if self.page(c).codes[c as usize % 256] == KEEP => at += c.len_utf8(),
                _ => return at,
            }
        }
    }

    /// ASCII that changes, and every other first byte but those of plain ideographs: most text is passed over a byte at a
    /// time, without decoding.
    fn stops(&self) -> Class {
        let ascii = &self.page('\0').codes[..0x80];
        let changing: Vec<u8> =
            (0..).zip(ascii).filter(|&(_, &c)| c != KEEP).map(|(b, _)| b).collect();
        let others: Vec<u8> = (0xC0..=0xFF).filter(|&lead| !is_plain_han(lead)).collect();
        Class::of(&[changing, others].concat())
    }

    fn page(&self, c: char) -> &Page {
        let number = c as usize / 256;
        self.pages[number].get_or_init(|| Box::new(self.build(number)))
    }

    fn build(&self, number: usize) -> Page {
        let mut page = Page { codes: [KEEP; 256], replacements: Vec::new() };
        for (low, code) in page.codes.iter_mut().enumerate() {
            let Some(c) = char::from_u32((number * 256 + low) as u32) else { continue };
            let normal = self.normal_form(c);
            let inert = |c: char| {
                !self.nfkc
                    || (canonical_combining_class(c) == 0
                        && is_nfkc_quick(std::iter::once(c)) == IsNormalized::Yes)
            };
            if !normal.chars().all(inert) {
                *code = SLOW;
            } else if normal.chars().ne(std::iter::once(c)) {
                *code = REPLACE + page.replacements.len() as u16;
                page.replacements.push(normal);
            } else if c.is_whitespace() {
                *code = SPACE;
            }
        }
        page
    }

    /// `c` through both steps until neither changes it.
    fn normal_form(&self, c: char) -> String {
        let mut now = String::from(c);
        loop {
            let mut next: String = if self.nfkc { now.nfkc().collect() } else { now.clone() };
            if self.case {
                let mut folded = String::new();
                next.chars().for_each(|c| fold(c, &mut folded));
                next = folded;
            }
            if next == now {
                return now;
            }
            now = next;
        }
    }
}

/// UTF-8 lead bytes E4 to E9 encode U+4000 to U+9FFF: ideographs and hexagrams, all inert and without case.
fn is_plain_han(lead: u8) -> bool {
    (0xE4..=0xE9).contains(&lead)
}

#[cfg(test)]
mod tests {
    use super::{Action, Table};

    #[test]
    fn the_han_short_cut_agrees_with_the_table() {
        for switches in 0..4 {
            let table = Table::of(switches & 2 != 0, switches & 1 != 0);
            assert!(('\u{4000}'..='\u{9FFF}').all(|c| table.action(c) == Action::Keep));
        }
    }

    #[test]
    fn replacements_are_final() {
        let table = Table::of(true, true);
        for c in '\0'..=char::MAX {
            if let Action::Replace(with) = table.action(c) {
                assert!(!with.is_empty(), "{c:?}");
                for c in with.chars() {
                    assert!(matches!(table.action(c), Action::Keep | Action::Space), "{c:?}");
                }
            }
        }
    }
}
