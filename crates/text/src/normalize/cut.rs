//! Taking pieces out of a text without joining the words beside them.

use super::whitespace::is_cjk;

/// Copies a text to `out` except for the pieces that are cut or replaced.
pub(super) struct Cutter<'a> {
    text: &'a str,
    out: &'a mut String,
    /// Everything before this byte has been dealt with.
    done: usize,
    /// Something has been cut since the last character written, and a space is due if two words would join.
    gap: bool,
    changed: bool,
}

impl<'a> Cutter<'a> {
    /// Starts at the beginning of `text`; `out` is cleared.
    pub(super) fn new(text: &'a str, out: &'a mut String) -> Self {
        out.clear();
        Self { text, out, done: 0, gap: false, changed: false }
    }

    /// The first byte that no cut has consumed: patterns must not look back beyond it.
    pub(super) fn done(&self) -> usize {
        self.done
    }

    /// Leaves out `start..end`; a space takes its place where two words (letters or digits of a script with spaces)
    /// would touch.
    pub(super) fn cut(&mut self, start: usize, end: usize) {
        self.replace(start, end, "");
        self.gap = true;
    }

    /// Leaves out `start..end` without a trace.
    pub(super) fn delete(&mut self, start: usize, end: usize) {
        self.replace(start, end, "");
    }

    /// Writes `with` in place of `start..end`.
    pub(super) fn replace(&mut self, start: usize, end: usize, with: &str) {
        self.copy_to(start);
        self.write(with);
        self.done = end;
        self.changed = true;
    }

    /// Copies the rest; whether anything was cut.
    pub(super) fn finish(mut self) -> bool {
        if self.changed {
            self.copy_to(self.text.len());
        }
        self.changed
    }

    fn copy_to(&mut self, end: usize) {
        let piece = &self.text[self.done..end];
        self.write(piece);
    }

    fn write(&mut self, piece: &str) {
        let Some(next) = piece.chars().next() else { return };
        let joins = std::mem::take(&mut self.gap) && is_word(next);
        if joins && self.out.chars().next_back().is_some_and(is_word) {
            self.out.push(' ');
        }
        self.out.push_str(piece);
    }
}

fn is_word(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_alphanumeric() } else { !is_cjk(c) && c.is_alphanumeric() }
}
