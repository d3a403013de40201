//! The elements of one JSON array: what lies between them is checked here, they themselves where they are parsed.

use crate::cut::{Cut, Piece, broken};
use crate::layout::Layout;
use std::io;
use std::sync::Arc;

/// Finds elements; their numbers are their places in the array, from 1.
pub(crate) struct Cutter {
    layout: Arc<Layout>,
    state: State,
    before: u64,
}

#[derive(Clone, Copy)]
enum State {
    /// Before the bracket that opens the array.
    Start,
    /// Behind the opening bracket: an element, or the end.
    First,
    /// Behind a comma: an element.
    Comma,
    /// Behind an element: a comma, or the end.
    Behind,
    Element(Within),
    /// Behind the bracket that closes the array.
    Ended,
}

/// Where in an element.
#[derive(Clone, Copy, Default)]
struct Within {
    depth: u32,
    in_string: bool,
    /// The next byte says nothing: it is behind a backslash, or the second of a character.
    skips: bool,
    /// A number or a word, which ends where something else begins.
    bare: bool,
}

impl Cutter {
    pub(crate) fn new(layout: Arc<Layout>) -> Self {
        Self { layout, state: State::Start, before: 0 }
    }

    /// What lies between elements, up to the next one.
    fn between(&mut self, bytes: &[u8], start: usize, ended: bool) -> io::Result<Option<Piece>> {
        let mut at = start;
        while let Some(&byte) = bytes.get(at) {
            self.state = match (self.state, byte) {
                (state, b' ' | b'\t' | b'\r' | b'\n') | (state @ State::Element(_), _) => state,
                (State::Start, b'[') => State::First,
                (State::First | State::Behind, b']') => State::Ended,
                (State::Behind, b',') => State::Comma,
                (State::First | State::Comma, b',' | b']' | b'}' | b':') => {
                    return broken(self.told("there is no value"));
                }
                (State::First | State::Comma, byte) => {
                    let bare = !matches!(byte, b'{' | b'[' | b'"');
                    self.state = State::Element(Within { bare, ..Within::default() });
                    return Ok(Some(Piece { number: None, range: start..at, next: at }));
                }
                (State::Start, _) => {
                    return broken("it is no JSON array: it does not begin with [".into());
                }
                (State::Behind, _) => return broken(self.told("neither , nor ] comes after it")),
                (State::Ended, _) => {
                    return broken("something comes after the end of the JSON array".into());
                }
            };
            at += 1;
        }
        if ended && !matches!(self.state, State::Ended | State::Start) {
            return broken(self.told("the file ends before the array does"));
        }
        Ok((at > start).then_some(Piece { number: None, range: start..at, next: at }))
    }

    fn told(&self, what: &str) -> String {
        format!("malformed JSON array: after element {}: {what}", self.before)
    }

    /// Where an element ends.
    fn element(&self, bytes: &[u8], mut at: usize, within: &mut Within) -> Option<usize> {
        let encoding = self.layout.record_encoding();
        let wide = encoding.is_lead(0x90);
        while let Some(&byte) = bytes.get(at) {
            if std::mem::take(&mut within.skips) {
                at += 1;
                continue;
            }
            if wide && encoding.is_lead(byte) {
                // No second byte of a character is a quote or a control.
                within.skips = bytes.get(at + 1).is_none_or(|&next| next >= 0x30);
                at += 1;
                continue;
            }
            if within.in_string {
                if !wide {
                    match memchr::memchr2(b'"', b'\\', &bytes[at..]) {
                        None => return None,
                        Some(skipped) => at += skipped,
                    }
                }
                match bytes[at] {
                    b'\\' => within.skips = true,
                    b'"' => {
                        within.in_string = false;
                        if within.depth == 0 {
                            return Some(at + 1);
                        }
                    }
                    _ => {}
                }
                at += 1;
                continue;
            }
            match byte {
                b',' | b']' | b'}' | b' ' | b'\t' | b'\r' | b'\n' if within.bare => {
                    return Some(at);
                }
                b'"' => within.in_string = true,
                b'{' | b'[' => within.depth += 1,
                b'}' | b']' => {
                    within.depth = within.depth.saturating_sub(1);
                    if within.depth == 0 {
                        return Some(at + 1);
                    }
                }
                _ => {}
            }
            at += 1;
        }
        None
    }
}

impl Cut for Cutter {
    fn next(
        &mut self,
        bytes: &[u8],
        start: usize,
        seen: usize,
        ended: bool,
    ) -> io::Result<Option<Piece>> {
        let State::Element(mut within) = self.state else {
            return self.between(bytes, start, ended);
        };
        match self.element(bytes, seen, &mut within) {
            Some(end) => {
                self.before += 1;
                self.state = State::Behind;
                Ok(Some(Piece { number: Some(self.before), range: start..end, next: end }))
            }
            None if ended => broken(self.told("the file ends within the next one")),
            None => {
                self.state = State::Element(within);
                Ok(None)
            }
        }
    }
}
