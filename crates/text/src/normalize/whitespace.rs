//! White space as the text is written out: a run is held back until it is known what follows it.

use super::Whitespace;

/// Whether white space beside `c` is layout rather than a word boundary: Han, kana, bopomofo and CJK punctuation.
/// Hangul is not among them, because Korean separates words by spaces.
pub(super) fn is_cjk(c: char) -> bool {
    matches!(c,
        '\u{2E80}'..='\u{312F}'     // radicals, CJK punctuation, kana, bopomofo
        | '\u{31A0}'..='\u{31FF}'   // bopomofo extended, strokes, small kana
        | '\u{3400}'..='\u{4DBF}'   // extension A
        | '\u{4E00}'..='\u{9FFF}'   // the unified ideographs
        | '\u{F900}'..='\u{FAFF}'   // compatibility ideographs
        | '\u{FE30}'..='\u{FE4F}'   // vertical punctuation
        | '\u{FF01}'..='\u{FF9F}'   // full-width forms, half-width kana
        | '\u{20000}'..='\u{3FFFD}' // extensions B and later
    )
}

/// Writes text whose white space follows one of the rules of [`Whitespace`].
pub(super) struct Writer<'a> {
    rule: Whitespace,
    out: &'a mut String,
    /// The last character written, if any.
    last: Option<char>,
    /// White space has been seen since `last`.
    pending: bool,
}

impl<'a> Writer<'a> {
    pub(super) fn new(rule: Whitespace, out: &'a mut String) -> Self {
        Self { rule, out, last: None, pending: false }
    }

    /// Text that is known to follow the rule already, at the very beginning.
    pub(super) fn unchanged(&mut self, text: &str) {
        self.out.push_str(text);
        self.last = text.chars().next_back();
    }

    /// One white-space character.
    pub(super) fn space(&mut self, c: char) {
        match self.rule {
            Whitespace::Keep => self.out.push(c),
            Whitespace::Remove => {}
            Whitespace::Collapse | Whitespace::Auto => self.pending = true,
        }
    }

    /// One character that is not white space.
    pub(super) fn char(&mut self, c: char) {
        self.settle(c);
        self.out.push(c);
        self.last = Some(c);
    }

    /// A run without white space; may be empty.
    pub(super) fn run(&mut self, text: &str) {
        let (Some(first), Some(last)) = (text.chars().next(), text.chars().next_back()) else {
            return;
        };
        self.settle(first);
        self.out.push_str(text);
        self.last = Some(last);
    }

    /// Decides what becomes of the white space held back, now that `next` follows it.
    fn settle(&mut self, next: char) {
        if !std::mem::take(&mut self.pending) {
            return;
        }
        let Some(last) = self.last else { return };
        if self.rule == Whitespace::Collapse || !(is_cjk(last) || is_cjk(next)) {
            self.out.push(' ');
        }
    }
}
