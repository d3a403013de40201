//! Punctuation: left alone, folded to one form per meaning, or dropped.
//!
//! Copies differ in punctuation more than in words: “”, 「」 and "", full and half width, one dash or two. Dropping it costs
//! little, except where it makes the number: **between digits `.` `,` `-` `:` `/` stay, and so do `%` after a digit and a
//! minus before one** (3.14, 12:30, 2013-05-06, 50%, -5, EP-01). So does `#` after a letter (C#). `+` and `$` are no
//! punctuation here. A dash or minus sign of another kind that stays is written `-`. Where dropping would join two words
//! (`hello,world`) a space takes its place.
//!
//! Dropped is general category P, as far as it occurs in Chinese and European text, with the ASCII symbols `<` `=` `>` `^`
//! `|` `~` and the grave accent, arrows, box-drawing and geometric shapes, which decorate web pages.

use super::Punctuation;
use super::cut::Cutter;
use super::scan::Class;

/// The first bytes of everything that [`is_punctuation`] accepts.
const SUSPECT: Class = Class::of(&[0xC2, 0xCB, 0xE2, 0xE3, 0xEF])
    .with_range(b'!', b'/')
    .with_range(b':', b'@')
    .with_range(b'[', b'`')
    .with_range(b'{', b'~')
    .without(b"$+");

/// Whether `c` separates or decorates rather than spells; what [`Punctuation::Drop`] drops outside numbers.
pub(crate) fn is_punctuation(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_punctuation() && !matches!(c, '$' | '+');
    }
    matches!(c,
        '¡' | '¦' | '§' | '¨' | '«' | '¬' | '¯' | '´' | '¶' | '·' | '¸' | '»' | '¿'
        | '\u{2D8}'..='\u{2DF}'                                 // spacing accents
        | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205E}'       // general punctuation
        | '\u{2190}'..='\u{21FF}' | '\u{2212}' | '\u{2215}' | '\u{2219}' | '\u{223C}'
        | '\u{2500}'..='\u{25FF}' | '\u{2605}' | '\u{2606}'       // boxes, blocks, shapes, stars
        | '\u{2E00}'..='\u{2E2E}' | '\u{2E30}'..='\u{2E5D}'       // supplemental punctuation
        | '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{3020}' | '\u{3030}' | '\u{303D}' | '\u{30A0}' | '\u{30FB}'
        | '\u{FE10}'..='\u{FE19}' | '\u{FE30}'..='\u{FE61}' | '\u{FE63}'..='\u{FE68}' | '\u{FE6A}' | '\u{FE6B}'
        | '\u{FF01}'..='\u{FF03}' | '\u{FF05}'..='\u{FF0A}' | '\u{FF0C}'..='\u{FF0F}' | '\u{FF1A}'..='\u{FF20}'
        | '\u{FF3B}'..='\u{FF40}' | '\u{FF5B}'..='\u{FF65}' | '\u{FFE3}'
    )
}

/// Writes `text` with its punctuation dropped or folded to `out`; false, and `out` undefined, if nothing changes.
pub(super) fn apply(rule: Punctuation, text: &str, out: &mut String) -> bool {
    let bytes = text.as_bytes();
    let mut cutter = Cutter::new(text, out);
    let mut at = 0;
    loop {
        at = SUSPECT.next(bytes, at);
        let Some(c) = text[at..].chars().next() else { return cutter.finish() };
        let end = at + c.len_utf8();
        match rule {
            Punctuation::Keep => return false,
            Punctuation::Fold => {
                if let Some(folded) = fold(c) {
                    cutter.replace(at, end, folded);
                }
            }
            Punctuation::Drop if !is_punctuation(c) => {}
            Punctuation::Drop => match in_number(&text[..at], c, &text[end..]) {
                None => cutter.cut(at, end),
                Some(same) if same == c => {}
                Some(other) => cutter.replace(at, end, other.encode_utf8(&mut [0; 4])),
            },
        }
        at = end;
    }
}

/// What `c` becomes where it belongs to a number or a name, given its surroundings; `None` where it does not.
fn in_number(before: &str, c: char, after: &str) -> Option<char> {
    let digit_before = || before.chars().next_back().is_some_and(is_digit);
    let digit_after = || after.chars().next().is_some_and(is_digit);
    match c {
        '.' | ',' | ':' | '/' | '．' | '，' | '：' | '／' => {
            (digit_before() && digit_after()).then_some(c)
        }
        '%' | '％' => digit_before().then_some(c),
        '-' | '\u{2212}' | '－' | '﹣' => digit_after().then_some('-'),
        '\u{2010}'..='\u{2013}' => (digit_before() && digit_after()).then_some('-'),
        '#' => (before.ends_with(|c: char| c.is_ascii_alphabetic())
            && !after.starts_with(char::is_alphanumeric))
        .then_some(c),
        _ => None,
    }
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit() || ('０'..='９').contains(&c)
}

/// The plain form of a mark that has several; `None` for one that is plain or has no other.
fn fold(c: char) -> Option<&'static str> {
    /// U+FF01 to U+FF5E in order are these characters in full width.
    const ASCII: &str = "!\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~";
    Some(match c {
        '“' | '”' | '„' | '‟' | '«' | '»' | '「' | '」' | '『' | '』' | '《' | '》' | '〈'
        | '〉' | '〝' | '〞' | '〟' | '｢' | '｣' => "\"",
        '‘' | '’' | '‚' | '‛' | '‹' | '›' | '´' => "'",
        '。' | '｡' => ".",
        '、' | '､' => ",",
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{2500}' => "-",
        '〜' | '\u{223C}' => "~",
        '…' => "...",
        '【' | '〔' | '〖' => "[",
        '】' | '〕' | '〗' => "]",
        '•' | '‧' | '・' | '･' | '\u{2219}' => "·",
        '\u{FF01}'..='\u{FF5E}' => {
            let at = c as usize - 0xFF01;
            ASCII.get(at..=at).filter(|plain| plain.contains(is_punctuation))?
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{SUSPECT, fold, is_punctuation};

    #[test]
    fn punctuation_is_neither_letter_nor_digit_nor_space_and_is_always_found() {
        for c in '\0'..=char::MAX {
            if is_punctuation(c) {
                assert!(!c.is_alphanumeric() && !c.is_whitespace() && !c.is_control(), "{c:?}");
            }
            if is_punctuation(c) || fold(c).is_some() {
                assert_eq!(SUSPECT.next(c.encode_utf8(&mut [0; 4]).as_bytes(), 0), 0, "{c:?}");
            }
        }
    }

    #[test]
    fn folded_marks_are_final() {
        for c in '\0'..=char::MAX {
            assert!(fold(c).is_none_or(|with| with.chars().all(|c| fold(c).is_none())), "{c:?}");
        }
    }
}
