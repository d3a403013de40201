//! Normalisation: texts that people would call the same become the same string.
//!
//! The steps, in their fixed order:
//!
//! | step | default | why |
//! |---|---|---|
//! | [`html`](Normalizer::html) | off | plain text may hold `<` and `&` of its own; only the caller knows that it is HTML |
//! | [`noise`](Normalizer::noise) | off | in most texts a link or a name is content |
//! | [`emoji`](Normalizer::emoji) | off | in short posts they may be all the content |
//! | [`nfkc`](Normalizer::nfkc) | on | full-width and compatibility forms |
//! | [`case`](Normalizer::case) | on | full case folding |
//! | [`simplified`](Normalizer::simplified) | off | merges words that differ in traditional script (乾, 幹, 干) |
//! | [`invisible`](Normalizer::invisible) | off | joiners carry meaning in some scripts |
//! | [`punctuation`](Normalizer::punctuation) | keep | it separates lists, code and numbers |
//! | [`whitespace`](Normalizer::whitespace) | auto | layout |
//! | [`runs`](Normalizer::runs) | off | `====` and `===` differ in code and tables |
//!
//! The three that are on are frozen: the default fingerprints are made with them, so no other step can become a default.
//! [`Normalizer::web`] and [`Normalizer::microblog`] are ready-made choices. `chain` says how the steps work together and
//! why the whole is idempotent; the rest of this page is about NFKC, case and white space.
//!
//! Most characters need nothing, and most of the others become one fixed string whatever stands beside them. A table per
//! combination of the first two steps (`nfkc`) says which; such text takes one pass that copies whole runs, or borrows
//! the input when nothing changes at all. Only text with characters that interact with their neighbours (combining marks,
//! conjoining jamo) goes through the slow path: all steps over the whole string, repeated until nothing changes.
//! Repetition is what makes the whole idempotent: folding can undo NFKC, and removing a space can join a letter to a mark.
//!
//! Invariants: `apply(apply(x)) == apply(x)`; fast and slow path agree wherever both apply (tests hold both).

mod casefold;
mod chain;
mod cut;
mod emoji;
mod html;
mod invisible;
mod nfkc;
mod noise;
mod punctuation;
mod recipe;
mod runs;
pub(crate) mod scan;
mod slow;
mod traditional;
mod whitespace;

pub(crate) use punctuation::is_punctuation;

use nfkc::{Action, Table};
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

/// What becomes of punctuation. Numbers keep theirs in any case: `3.14`, `12:30`, `50%`, `-5`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Punctuation {
    /// Leave it alone.
    #[default]
    Keep,
    /// One form per meaning: all quotation marks become `"` or `'`, `。` becomes `.`, `、` becomes `,`, dashes `-`, `…`
    /// three dots, `【】` square brackets, full-width marks ASCII.
    Fold,
    /// Drop it, with a space in its place where two words would join.
    Drop,
}

/// Which steps to take. Each field is a switch; the order of the steps is the order of the fields.
///
/// `Default` turns on the three frozen steps (NFKC, case, [`Whitespace::Auto`]); [`Normalizer::OFF`] changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches, named at every use")]
pub struct Normalizer {
    /// HTML to text: tags, comments, script and style go, block elements start a line, character references are decoded.
    /// The result holds no `<` that could open a tag: `&lt;br&gt;` becomes `br>`. Default off.
    pub html: bool,
    /// URLs, mail addresses, `@names` and `//@name:` chains, `#topics#`, `[emoticons]`, `转发微博`. A text of nothing else
    /// keeps them. Default off.
    pub noise: bool,
    /// Drop emoji, whole sequences at once. A text of nothing else keeps them. Default off.
    pub emoji: bool,
    /// Unicode normalisation form KC: full-width letters become ASCII, ligatures and circled digits plain. Default on.
    pub nfkc: bool,
    /// Full case folding (Unicode `CaseFolding.txt`, statuses C and F; `ß` becomes `ss`), not lower case: folding is
    /// stable across Unicode versions and does not depend on neighbours. Default on.
    pub case: bool,
    /// Traditional to simplified Chinese, character by character (`OpenCC`'s table, its first choice). Default off.
    pub simplified: bool,
    /// Drop zero-width characters, bidirectional controls, variation selectors and control characters. Default off.
    pub invisible: bool,
    /// Punctuation. Default [`Punctuation::Keep`].
    pub punctuation: Punctuation,
    /// White space. Default [`Whitespace::Auto`].
    pub whitespace: Whitespace,
    /// More than three equal characters in a row, digits apart, become three: 哈哈哈哈哈 is 哈哈哈. Default off.
    pub runs: bool,
}

impl Default for Normalizer {
    fn default() -> Self {
        Self { nfkc: true, case: true, whitespace: Whitespace::Auto, ..Self::OFF }
    }
}

/// Reusable memory of [`Normalizer::apply`]; one per thread.
#[derive(Clone, Debug, Default)]
pub struct NormalizeScratch {
    out: String,
    /// The other buffer of the full chain: each step reads one and writes the other.
    next: String,
}

impl Normalizer {
    /// No step at all: text passes through unchanged.
    pub const OFF: Self = Self {
        html: false,
        noise: false,
        emoji: false,
        nfkc: false,
        case: false,
        simplified: false,
        invisible: false,
        punctuation: Punctuation::Keep,
        whitespace: Whitespace::Keep,
        runs: false,
    };

    /// For pages of the web: the default steps, and HTML, platform noise, simplified characters, invisible characters
    /// and dropped punctuation.
    pub fn web() -> Self {
        Self {
            html: true,
            noise: true,
            simplified: true,
            invisible: true,
            punctuation: Punctuation::Drop,
            ..Self::default()
        }
    }

    /// For microblog posts, which are plain text: [`web`](Self::web) without HTML, but with emoji dropped and runs
    /// shortened.
    pub fn microblog() -> Self {
        Self { html: false, emoji: true, runs: true, ..Self::web() }
    }

    /// The normalised text: `text` itself when nothing changes, otherwise a string in `scratch`.
    ///
    /// Cost: one pass with the default steps, about two rounds of all steps with others. No allocation once `scratch` has
    /// grown, except for text with combining marks or conjoining jamo, and for HTML with signs left to neutralise.
    pub fn apply<'a>(&self, text: &'a str, scratch: &'a mut NormalizeScratch) -> &'a str {
        #[cfg(feature = "counters")]
        crate::counters::NORMALIZED.add();
        self.apply_to_part(text, scratch)
    }

    /// [`apply`](Self::apply) to a sentence of a text, or to a text that is cut into sentences.
    pub(crate) fn apply_to_part<'a>(
        &self,
        text: &'a str,
        scratch: &'a mut NormalizeScratch,
    ) -> &'a str {
        if *self == Self::OFF {
            return text;
        }
        let one_pass =
            Self { nfkc: self.nfkc, case: self.case, whitespace: self.whitespace, ..Self::OFF };
        if *self != one_pass {
            return chain::normalize(self, text, scratch);
        }
        if self.fold_and_space(text, &mut scratch.out) { &scratch.out } else { text }
    }

    /// NFKC, case and white space in one pass; false, and `out` undefined, if the text is known not to change.
    fn fold_and_space(&self, text: &str, out: &mut String) -> bool {
        let table = Table::of(self.nfkc, self.case);
        let unchanged = self.unchanged_prefix(table, text);
        if unchanged == text.len() {
            return false;
        }
        out.clear();
        out.reserve(text.len());
        if !self.rewrite(table, text, unchanged, out) {
            *out = slow::normalize(self, text);
        }
        true
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

/// Whether a text holds a letter or digit: what the steps that remove content must leave behind.
fn says_something(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

#[cfg(test)]
mod tests;
