//! Emoji: dropped as whole sequences.
//!
//! A sequence is a pictograph with what hangs on it: variation selectors, skin tones, U+200D and the next pictograph,
//! keycaps, tags, pairs of regional indicators. Characters that are text unless U+FE0F follows (©, ™, ↔) are emoji only then.
//! Circled digits (❶) and the enclosed letters and ideographs (🅰, 🈚) are not: they carry numbers and words, and NFKC
//! unfolds most of them. A digit with a keycap keeps the digit.
//!
//! A space takes the place of a sequence where two words would join. A text of emoji alone keeps them.

use super::cut::Cutter;
use super::scan::Class;

/// The first bytes of everything below.
const SUSPECT: Class = Class::of(&[0xC2, 0xE2, 0xE3, 0xF0]);

/// Shown as a picture by default.
fn is_pictograph(c: char) -> bool {
    matches!(c,
        '\u{231A}'..='\u{231B}' | '\u{23E9}'..='\u{23FA}' | '\u{25FD}'..='\u{25FE}'
        | '\u{2600}'..='\u{2604}' | '\u{2607}'..='\u{2775}' | '\u{2794}'..='\u{27BF}'
        | '\u{2B1B}'..='\u{2B1C}' | '\u{2B50}' | '\u{2B55}'
        | '\u{1F000}'..='\u{1F0FF}' | '\u{1F18E}' | '\u{1F191}'..='\u{1F19A}'
        | '\u{1F1E6}'..='\u{1F1FF}' | '\u{1F300}'..='\u{1FAFF}'
    )
}

/// A picture only if U+FE0F follows (`emoji-variation-sequences.txt`).
fn is_text_by_default(c: char) -> bool {
    matches!(c,
        '\u{A9}' | '\u{AE}' | '\u{203C}' | '\u{2049}' | '\u{2122}' | '\u{2139}'
        | '\u{2194}'..='\u{21AA}' | '\u{2328}' | '\u{23CF}' | '\u{24C2}' | '\u{25AA}'..='\u{25FC}'
        | '\u{2934}'..='\u{2935}' | '\u{2B05}'..='\u{2B07}' | '\u{3030}' | '\u{303D}' | '\u{3297}'
        | '\u{3299}'
    )
}

/// Hangs on the pictograph before it.
fn continues(c: char) -> bool {
    matches!(c, '\u{200D}' | '\u{20E3}' | '\u{FE0E}' | '\u{FE0F}' | '\u{E0020}'..='\u{E007F}')
        || is_pictograph(c)
}

/// Length in bytes of the emoji that `tail` begins with, or 0.
fn sequence(tail: &str) -> usize {
    let mut chars = tail.chars();
    let Some(first) = chars.next() else { return 0 };
    let starts = is_pictograph(first)
        || first == '\u{20E3}'
        || (is_text_by_default(first) && chars.next() == Some('\u{FE0F}'));
    if !starts {
        return 0;
    }
    let rest = &tail[first.len_utf8()..];
    let end = rest.find(|c| !continues(c)).unwrap_or(rest.len());
    first.len_utf8() + end
}

/// Writes `text` without emoji to `out`; false, and `out` undefined, if there are none or nothing else.
pub(super) fn apply(text: &str, out: &mut String) -> bool {
    let bytes = text.as_bytes();
    let mut cutter = Cutter::new(text, out);
    let mut at = 0;
    loop {
        at = SUSPECT.next(bytes, at);
        if at == bytes.len() {
            return cutter.finish() && super::says_something(out);
        }
        match sequence(&text[at..]) {
            0 => at += text[at..].chars().next().map_or(1, char::len_utf8),
            len => {
                cutter.cut(at, at + len);
                at += len;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{SUSPECT, sequence};

    #[test]
    fn the_pre_check_misses_no_character() {
        for c in '\0'..=char::MAX {
            if sequence(c.encode_utf8(&mut [0; 4])) > 0 {
                assert_eq!(SUSPECT.next(c.encode_utf8(&mut [0; 4]).as_bytes(), 0), 0, "{c:?}");
            }
        }
    }
}
