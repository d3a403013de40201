//! Characters that nobody sees: zero-width characters, bidirectional controls, variation selectors, control codes.
//!
//! They enter texts from editors, web pages and people who want copies to look different, and they make equal texts
//! unequal. Removed are the default-ignorable code points of Unicode 15 (`DerivedCoreProperties.txt`), the C0 and C1
//! controls (U+0000 included) except those that are white space, and the interlinear annotation marks. An emoji joined by
//! U+200D falls into its parts. Scripts in which U+200C and U+200D carry meaning (Persian, Indic) lose that distinction,
//! one reason why the step is off by default.

use super::cut::Cutter;
use super::scan::Class;

/// The first bytes of all characters removed, and of some that are not.
const SUSPECT: Class = Class::of(&[0x7F, 0xC2, 0xCD, 0xD8, 0xE1, 0xE2, 0xE3, 0xEF, 0xF0, 0xF3])
    .with_range(0x00, 0x1F)
    .without(b"\t\n\x0B\x0C\r");

/// Whether the step removes `c`.
pub(super) fn is_invisible(c: char) -> bool {
    match c {
        '\t'..='\r' | '\u{85}' => false,
        '\0'..='\u{9F}' => c.is_control(),
        _ => matches!(c,
            '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}'..='\u{1160}' | '\u{17B4}'..='\u{17B5}'
            | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}'
            | '\u{FFF0}'..='\u{FFFB}' | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}'
            | '\u{E0000}'..='\u{E0FFF}'
        ),
    }
}

/// Writes `text` without invisible characters to `out`; false, and `out` undefined, if there are none.
pub(super) fn apply(text: &str, out: &mut String) -> bool {
    let bytes = text.as_bytes();
    let mut cutter = Cutter::new(text, out);
    let mut at = 0;
    loop {
        at = SUSPECT.next(bytes, at);
        let Some(c) = text[at..].chars().next() else { return cutter.finish() };
        let end = at + c.len_utf8();
        if is_invisible(c) {
            cutter.delete(at, end);
        }
        at = end;
    }
}

#[cfg(test)]
mod tests {
    use super::{SUSPECT, is_invisible};

    #[test]
    fn the_pre_check_misses_no_character() {
        for c in '\0'..=char::MAX {
            if is_invisible(c) {
                assert_eq!(SUSPECT.next(c.encode_utf8(&mut [0; 4]).as_bytes(), 0), 0, "{c:?}");
            }
        }
    }
}
