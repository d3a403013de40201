//! Documents of JSON lines: which lines are records is decided by the crate that reads all files.

use crate::Failure;
use crate::rows::Document;
use simhash_corpus::{Fields, Layout, Rank};
use simhash_dedup::Key;
use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::path::PathBuf;

/// The mark of UTF-8, which a file may begin with.
const MARK: &[u8] = b"\xEF\xBB\xBF";
/// Bits of a position that are the byte within a file.
pub const OFFSET_BITS: u32 = 40;

/// A file of JSON lines, or a part of it.
pub struct Lines {
    /// Its path.
    pub path: PathBuf,
    /// Its number among the inputs: the highest bits of positions.
    pub number: u64,
    /// Lines that begin from this byte on.
    pub start: u64,
    /// Lines that begin before this byte.
    pub end: u64,
    /// Where text, id and key are in a record.
    pub fields: Fields,
}

/// A line that is a record, or why it is none.
pub struct Parsed<'a> {
    /// The text.
    pub text: std::borrow::Cow<'a, str>,
    /// The id as JSON; `None`: it has none.
    pub id: Option<std::borrow::Cow<'a, str>>,
    /// What the keep rule compares.
    pub rank: Rank<'a>,
}

/// Whether a line is none: white space alone.
pub fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
}

/// Takes a line apart; `pos` is its position.
///
/// # Errors
/// Why it is no record.
pub fn parse<'a>(layout: &Layout, line: &'a [u8], pos: u64) -> Result<Parsed<'a>, String> {
    let is_first = pos & ((1 << OFFSET_BITS) - 1) == 0;
    let line = if is_first { line.strip_prefix(MARK).unwrap_or(line) } else { line };
    let record = layout.record(line)?;
    Ok(Parsed { text: record.text, id: record.id, rank: record.key })
}

impl Lines {
    /// Calls `each` with every document; a rejected one has no text.
    pub(crate) fn documents(
        self,
        mut each: impl FnMut(Document<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let name = self.path.display().to_string();
        let failed = |error: std::io::Error| Failure(format!("{name}: {error}"));
        let layout = Layout::json_lines(&self.fields);
        let mut file = BufReader::with_capacity(1 << 20, File::open(&self.path).map_err(failed)?);
        let (mut line, mut offset) = (Vec::new(), self.start);
        if let Some(before) = self.start.checked_sub(1) {
            // A line that began before belongs to whoever has the bytes before.
            file.seek(SeekFrom::Start(before)).map_err(failed)?;
            offset = before + file.read_until(b'\n', &mut line).map_err(failed)? as u64;
        }
        while offset < self.end {
            line.clear();
            let read = file.read_until(b'\n', &mut line).map_err(failed)?;
            if read == 0 {
                break;
            }
            let pos = self.number << OFFSET_BITS | offset;
            offset += read as u64;
            document(&layout, &line, pos.cast_signed(), &mut each)?;
        }
        Ok(())
    }
}

/// Calls `each` with the document of a line, if it is not blank; a rejected one has no text.
pub(crate) fn document(
    layout: &Layout,
    line: &[u8],
    pos: i64,
    each: &mut impl FnMut(Document<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if is_blank(line) {
        return Ok(());
    }
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let parsed = parse(layout, line, pos.cast_unsigned()).ok();
    let (text, rank) = parsed.map(|parsed| (parsed.text, parsed.rank)).unzip();
    let key = match rank.unwrap_or_default() {
        Rank::Missing => Key::Missing,
        Rank::Number(number) => Key::number(&number),
        Rank::Text(text) => Key::Text(text.into()),
    };
    each(Document { pos, text: text.as_deref(), key, part: None })
}
