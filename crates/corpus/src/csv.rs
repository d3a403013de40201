//! Rows of fields: CSV and TSV, as RFC 4180 has them. A field in quotes may hold newlines, and two quotes in it are one.

use crate::cut::{Cut, Piece, broken};
use crate::error::{NoColumn, malformed};
use crate::field::Fields;
use crate::id::json_string;
use crate::layout::Layout;
use crate::record::{Rank, Record};
use std::borrow::Cow;
use std::io;
use std::sync::Arc;

/// Finds rows; the number of one is that of its first line.
pub(crate) struct Cutter {
    delimiter: u8,
    /// Where the delimiter may be the second byte of a character.
    layout: Option<Arc<Layout>>,
    max_record: usize,
    /// Of the row that has begun.
    state: State,
    /// Lines before this row, and within it.
    before: u64,
    within: u64,
    /// Line on which the last quote opened.
    opened: u64,
    /// Whether the row holds anything.
    blank: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    /// At the beginning of a field.
    Field,
    /// In one without quotes, or behind them.
    Bare,
    Quoted,
    /// Behind a quote in a quoted field: its end, or one of two.
    Quote,
}

impl Cutter {
    pub(crate) fn new(delimiter: u8, max_record: usize, layout: Arc<Layout>) -> Self {
        let (state, before, within, opened, blank) = (State::Field, 0, 0, 0, true);
        // Second bytes of GB18030, Big5 and Shift_JIS begin here.
        let layout = (delimiter >= 0x40).then_some(layout);
        Self { delimiter, layout, max_record, state, before, within, opened, blank }
    }

    /// Whether the byte at `at`, of a row that begins at `start`, is the second of a character.
    fn is_second(&self, bytes: &[u8], start: usize, at: usize) -> bool {
        let Some(layout) = &self.layout else { return false };
        let encoding = layout.record_encoding();
        // Behind a byte of ASCII a character begins, also where that byte was the second of one.
        let from =
            bytes[start..at].iter().rposition(u8::is_ascii).map_or(start, |it| start + it + 1);
        let mut place = from;
        while place < at {
            place += 1 + usize::from(encoding.is_lead(bytes[place]));
        }
        place > at
    }

    fn row(&mut self, start: usize, end: usize, next: usize) -> Piece {
        let number = (!self.blank).then_some(self.before + 1);
        self.before += self.within + 1;
        self.within = 0;
        self.blank = true;
        self.state = State::Field;
        Piece { number, range: start..end, next }
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
        let mut at = seen;
        while at < bytes.len() {
            match self.state {
                State::Quoted => {
                    let rest = &bytes[at..];
                    let quote = memchr::memchr(b'"', rest);
                    let skipped = quote.unwrap_or(rest.len());
                    self.within += memchr::memchr_iter(b'\n', &rest[..skipped]).count() as u64;
                    at += skipped;
                    if quote.is_some() {
                        self.state = State::Quote;
                        at += 1;
                    }
                }
                State::Quote if bytes[at] == b'"' => {
                    self.state = State::Quoted;
                    at += 1;
                }
                State::Field if bytes[at] == b'"' => {
                    self.state = State::Quoted;
                    self.opened = self.before + self.within + 1;
                    self.blank = false;
                    at += 1;
                }
                State::Field | State::Bare | State::Quote => {
                    // A quote means something only where a field begins.
                    let rest = &bytes[at..];
                    let Some(found) = memchr::memchr2(self.delimiter, b'\n', rest) else {
                        self.blank &= rest.iter().all(|&byte| byte == b'\r');
                        self.state = State::Bare;
                        break;
                    };
                    self.blank &= rest[..found].iter().all(|&byte| byte == b'\r');
                    at += found + 1;
                    if bytes[at - 1] == b'\n' {
                        return Ok(Some(self.row(start, at - 1, at)));
                    }
                    self.blank = false;
                    let is_second = self.is_second(bytes, start, at - 1);
                    self.state = if is_second { State::Bare } else { State::Field };
                }
            }
        }
        if !ended {
            return Ok(None);
        }
        if self.state == State::Quoted {
            let line = self.opened;
            return broken(format!(
                "the quote that opens a field on line {line} is never closed; close it, or double a quote that is text"
            ));
        }
        let begun = start < bytes.len();
        Ok(begun.then(|| self.row(start, bytes.len(), bytes.len())))
    }

    fn endless(&self) -> Option<String> {
        let Self { state, opened, max_record, .. } = self;
        (*state == State::Quoted).then(|| {
            format!("the quote that opens a field on line {opened} is not closed within {max_record} bytes")
        })
    }
}

/// Which columns count.
pub(crate) struct Columns {
    /// The row that names them, as it came; none where they have numbers.
    pub(crate) header: Option<Box<[u8]>>,
    names: Vec<String>,
    text: Vec<usize>,
    id: Option<usize>,
    key: Option<usize>,
}

impl Columns {
    /// By the row that names them.
    ///
    /// # Errors
    /// Which column is missing, and those that are there.
    pub(crate) fn named(
        header: &[u8],
        row: &str,
        delimiter: u8,
        fields: &Fields,
    ) -> io::Result<Self> {
        let names: Vec<String> = split(row, delimiter)
            .map_err(|reason| malformed(format!("its first row names no columns: {reason}")))?
            .into_iter()
            .map(Cow::into_owned)
            .collect();
        let place = |argument, name: &str| {
            let found = names.iter().position(|known| known == name);
            found.ok_or_else(|| NoColumn::error(argument, name, &names, true))
        };
        let text = fields.text_paths().map(|name| place(Some("text_field"), &name));
        let text = text.collect::<io::Result<_>>()?;
        // The name that nobody gave may be of no column.
        let id = fields.id_path();
        let id_place = place(Some("id_field"), &id);
        let id = if id == "id" { id_place.ok() } else { Some(id_place?) };
        let key = fields.key_path().map(|key| place(None, &key)).transpose()?;
        Ok(Self { header: Some(header.into()), names, text, id, key })
    }

    /// By number, from 1.
    ///
    /// # Errors
    /// A column that has a name.
    pub(crate) fn numbered(fields: &Fields) -> io::Result<Self> {
        let place = |argument, name: &str| match name.parse::<usize>() {
            Ok(number @ 1..) => Ok(number - 1),
            _ => Err(NoColumn::unnumbered(argument, name)),
        };
        let text = fields.text_paths().map(|name| place(Some("text_field"), &name));
        let text = text.collect::<io::Result<_>>()?;
        let id = fields.id_path();
        let id = if id == "id" { None } else { Some(place(Some("id_field"), &id)?) };
        let key = fields.key_path().map(|key| place(None, &key)).transpose()?;
        Ok(Self { header: None, names: Vec::new(), text, id, key })
    }

    /// Their names, in order.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }
}

/// What a row says.
pub(crate) fn record<'a>(
    row: &'a str,
    delimiter: u8,
    columns: &Columns,
) -> Result<Record<'a>, String> {
    let mut cells = split(row, delimiter)?;
    if columns.header.is_some() && cells.len() != columns.names.len() {
        let (found, named) = (cells.len(), columns.names.len());
        let columns =
            if named == 1 { "is 1 column".into() } else { format!("are {named} columns") };
        return Err(format!("the row has {}, and there {columns}", counted(found)));
    }
    let wanted = columns.text.iter().chain(&columns.id).chain(&columns.key);
    if let Some(&missing) = wanted.max().filter(|&&place| place >= cells.len()) {
        return Err(format!("the row has {}, and no field {}", counted(cells.len()), missing + 1));
    }
    let id = columns.id.map(|place| &cells[place]).filter(|id| !id.is_empty());
    let id = id.map(|id| Cow::Owned(json_string(id)));
    let key = match columns.key.map(|place| cells[place].clone()) {
        None => Rank::Missing,
        Some(key) if key.is_empty() => Rank::Missing,
        Some(key) if serde_json::from_str::<serde_json::Number>(&key).is_ok() => Rank::Number(key),
        Some(key) => Rank::Text(key),
    };
    let text = match columns.text[..] {
        [one] => std::mem::take(&mut cells[one]),
        _ => Fields::joined(columns.text.iter().map(|&place| cells[place].as_ref())).into(),
    };
    Ok(Record { text, id, key })
}

/// `1 field`, `2 fields`.
fn counted(fields: usize) -> String {
    format!("{fields} field{}", if fields == 1 { "" } else { "s" })
}

/// The fields of a row.
fn split(row: &str, delimiter: u8) -> Result<Vec<Cow<'_, str>>, String> {
    let mut cells = Vec::new();
    let mut rest = row.strip_suffix('\r').unwrap_or(row);
    loop {
        let (cell, next) = match rest.strip_prefix('"') {
            Some(quoted) => within_quotes(quoted, delimiter, cells.len() + 1)?,
            None => match memchr::memchr(delimiter, rest.as_bytes()) {
                Some(end) => (rest[..end].into(), Some(&rest[end + 1..])),
                None => (rest.into(), None),
            },
        };
        cells.push(cell);
        match next {
            Some(next) => rest = next,
            None => return Ok(cells),
        }
    }
}

/// A field behind its opening quote, and what follows it.
fn within_quotes(
    text: &str,
    delimiter: u8,
    number: usize,
) -> Result<(Cow<'_, str>, Option<&str>), String> {
    let mut cell = String::new();
    let mut rest = text;
    loop {
        let Some(end) = memchr::memchr(b'"', rest.as_bytes()) else {
            return Err(format!("the quote of field {number} is never closed"));
        };
        let (part, behind) = (&rest[..end], &rest[end + 1..]);
        if let Some(more) = behind.strip_prefix('"') {
            // One of the two quotes belongs to the field.
            cell.push_str(&rest[..=end]);
            rest = more;
            continue;
        }
        let next = match behind.as_bytes().first() {
            None => None,
            Some(&byte) if byte == delimiter => Some(&behind[1..]),
            Some(_) => return Err(format!("text comes after the closing quote of field {number}")),
        };
        if cell.is_empty() {
            return Ok((part.into(), next));
        }
        cell.push_str(part);
        return Ok((cell.into(), next));
    }
}
