//! Normalisation: texts that people would call the same become the same string.
//!
//! Three steps are on by default, and their order is fixed: **NFKC** (full-width and compatibility forms), **full case
//! folding**, **white space**. The default fingerprints of characters are frozen with them.
//!
//! Most characters need nothing, and most of the others become one fixed string whatever stands beside them. A table per
//! combination of the first two steps ([`table`]) says which; such text takes one pass that copies whole runs, or borrows
//! the input when nothing changes at all. Only text with characters that interact with their neighbours (combining marks,
//! conjoining jamo) goes through the slow path: all steps over the whole string, repeated until nothing changes.
//! Repetition is what makes the whole idempotent: folding can undo NFKC, and removing a space can join a letter to a mark.
//!
//! Invariants: `apply(apply(x)) == apply(x)`; fast and slow path agree wherever both apply (tests hold both).

mod fold;
mod slow;
mod table;
mod whitespace;

use table::{Action, Table};
use whitespace::Writer;

/// What becomes of white space (the Unicode property `White_Space`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Whitespace {
    /// Leave it alone.
    Keep,
    /// Trim both ends; each run inside becomes one U+0020.
    Collapse,
    /// Remove all of it.
    Remove,
    /// As `Collapse`, and a run beside a CJK character (Han, kana, bopomofo, CJK punctuation) disappears: Chinese and
    /// Japanese do not use spaces, so a space there is layout.
    #[default]
    Auto,
}

/// Which steps to take. Each field is a switch; the order of the steps is the order of the fields.
///
/// `Default` turns on the three frozen steps (NFKC, case, [`Whitespace::Auto`]); [`Normalizer::OFF`] changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Normalizer {
    /// Unicode normalisation form KC: full-width letters become ASCII, ligatures and circled digits plain. Default on.
    pub nfkc: bool,
    /// Full case folding (Unicode `CaseFolding.txt`, statuses C and F; `ß` becomes `ss`), not lower case: folding is
    /// stable across Unicode versions and does not depend on neighbours. Default on.
    pub case: bool,
    /// White space. Default [`Whitespace::Auto`].
    pub whitespace: Whitespace,
}

impl Default for Normalizer {
    fn default() -> Self {
        Self { nfkc: true, case: true, whitespace: Whitespace::Auto }
    }
}

/// Reusable memory of [`Normalizer::apply`]; one per thread.
#[derive(Clone, Debug, Default)]
pub struct NormalizeScratch {
    out: String,
}

impl Normalizer {
    /// No step at all: text passes through unchanged.
    pub const OFF: Self = Self { nfkc: false, case: false, whitespace: Whitespace::Keep };

    /// The normalised text: `text` itself when nothing changes, otherwise a string in `scratch`.
    ///
    /// Cost: one pass; no allocation once `scratch` has grown, except for text with combining marks or conjoining jamo.
    pub fn apply<'a>(&self, text: &'a str, scratch: &'a mut NormalizeScratch) -> &'a str {
        if *self == Self::OFF {
            return text;
        }
        let table = Table::of(self.nfkc, self.case);
        let unchanged = self.unchanged_prefix(table, text);
        if unchanged == text.len() {
            return text;
        }
        let out = &mut scratch.out;
        out.clear();
        out.reserve(text.len());
        if !self.rewrite(table, text, unchanged, out) {
            *out = slow::normalize(self, text);
        }
        out
    }

    /// Byte length of the longest prefix that this pass can see to be normalised already. It may stop early at a space.
    fn unchanged_prefix(&self, table: &Table, text: &str) -> usize {
        let mut at = 0;
        loop {
            let start = at;
            at = table.keep_run(text, at);
            let Some(c) = text[at..].chars().next() else { return at };
            if !matches!(table.action(c), Action::Space) {
                return at;
            }
            match self.whitespace {
                Whitespace::Keep => at += c.len_utf8(),
                Whitespace::Remove => return at,
                Whitespace::Collapse | Whitespace::Auto => {
                    let Some(next) = text[at + c.len_utf8()..].chars().next() else { return at };
                    let lone = c == ' ' && at > start && matches!(table.action(next), Action::Keep);
                    if !lone {
                        return at;
                    }
                    if self.whitespace == Whitespace::Auto {
                        let before = text[..at].chars().next_back().is_some_and(whitespace::is_cjk);
                        if before || whitespace::is_cjk(next) {
                            return at;
                        }
                    }
                    at += 1;
                }
            }
        }
    }

    /// Writes the normalised text to `out`, given that `text[..from]` is unchanged; false if a character needs the slow path.
    fn rewrite(&self, table: &Table, text: &str, from: usize, out: &mut String) -> bool {
        let mut writer = Writer::new(self.whitespace, out);
        writer.unchanged(&text[..from]);
        let mut at = from;
        loop {
            let start = at;
            at = table.keep_run(text, at);
            writer.run(&text[start..at]);
            let Some(c) = text[at..].chars().next() else { return true };
            at += c.len_utf8();
            match table.action(c) {
                Action::Keep => writer.run(c.encode_utf8(&mut [0; 4])),
                Action::Space => writer.space(c),
                Action::Replace(with) => {
                    for c in with.chars() {
                        if c.is_whitespace() { writer.space(c) } else { writer.char(c) }
                    }
                }
                Action::Slow => return false,
            }
        }
    }
}

#[cfg(test)]
mod tests;
