//! The records of an output: what stands around them, and how their characters are written. Records are rendered by any thread.

use super::copies::Copies;
use super::marks::{marked, unmarked};
use super::records::Entry;
use super::{Duplicates, Outputs, Target};
use crate::error::DedupError;
use crate::read::{Encoding, Format, Layout, name_of_id};
use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The form of an output of records: that of the inputs.
pub(crate) struct Framing {
    /// The output, for messages.
    name: PathBuf,
    /// Of all inputs.
    layouts: Vec<Arc<Layout>>,
    /// The first of them are never written.
    known: usize,
    duplicates: Duplicates,
    /// Paths instead of records.
    list: bool,
    /// What files are copied by, instead of records.
    copy: bool,
    /// As the caller named it.
    named: Option<Encoding>,
    /// Not all inputs are read before the first record is written.
    is_live: bool,
    /// That of the output, once it has begun; `None`: that of its input.
    to: OnceLock<Option<Encoding>>,
}

impl Framing {
    /// Refuses outputs that these inputs cannot have, as far as their formats are known.
    pub(super) fn new(
        outputs: &Outputs,
        layouts: Vec<Arc<Layout>>,
        known: usize,
        is_live: bool,
    ) -> Result<Self, DedupError> {
        let path = outputs.records.as_ref().and_then(Target::path);
        let framing = Self {
            name: path.map_or_else(|| "-".into(), Into::into),
            layouts,
            known,
            duplicates: outputs.duplicates,
            list: outputs.list,
            copy: outputs.copy.is_some(),
            named: outputs.encoding,
            is_live,
            to: OnceLock::new(),
        };
        if framing.own().iter().any(|layout| layout.format().is_some()) {
            framing.check()?;
        }
        Ok(framing)
    }

    fn check(&self) -> Result<(), DedupError> {
        let refuse =
            |argument, value, expected| Err(DedupError::Option { argument, value, expected });
        let format = self.format();
        if self.duplicates == Duplicates::Mark && !format.is_json() {
            let expected = "left out: only JSON has a place for marks; a clusters file, or matches, say the same";
            return refuse("mark", format.to_string(), expected);
        }
        if self.named.is_some() && format.is_columnar() {
            let expected = "left out: Parquet and Arrow say themselves how characters are written";
            return refuse("output_encoding", format.to_string(), expected);
        }
        if self.named.is_some() && (self.list || self.copy) {
            let expected =
                "left out beside lists and copies, whose bytes are those of files and their names";
            return refuse("output_encoding", "given".into(), expected);
        }
        let is_files = |layout: &Arc<Layout>| layout.format() == Some(Format::Files);
        if !self.own().iter().all(is_files) {
            if self.list {
                let expected = "left out: it lists the paths of texts in files";
                return refuse("list", format.to_string(), expected);
            }
            if self.copy {
                let expected = "left out: it copies texts in files";
                return refuse("copy", format.to_string(), expected);
            }
        }
        match Format::of(&self.name) {
            Some(named) if self.list && named != Format::Lines => {
                let value = format!("{} ({named})", self.name.display());
                refuse(
                    "output",
                    value,
                    "a name for lines of text, as x.txt: a list has a path in each",
                )
            }
            Some(named) if named != Format::Lines && named != format && !self.list => {
                let value = format!("{} for {format}", self.name.display());
                let expected = "a name for the format of the inputs, which is that of the output";
                refuse("output", value, expected)
            }
            _ if format.is_columnar() && is_packed(&self.name) => {
                let expected = "a name without .gz and .zst: its columns are compressed already";
                refuse("output", self.name.display().to_string(), expected)
            }
            _ => Ok(()),
        }
    }

    /// Those of all inputs.
    pub(super) fn layouts(&self) -> &[Arc<Layout>] {
        &self.layouts
    }

    /// The inputs whose records are written.
    pub(super) fn own(&self) -> &[Arc<Layout>] {
        &self.layouts[self.known..]
    }

    /// The format of the records.
    fn format(&self) -> Format {
        match self.own().iter().find_map(|layout| layout.format()) {
            None | Some(Format::Files) => Format::JsonLines,
            Some(format) => format,
        }
    }

    /// Whether rows are written, which are rendered as their places.
    pub(super) fn is_columnar(&self) -> bool {
        !self.list && self.format().is_columnar()
    }

    pub(super) fn is_array(&self) -> bool {
        !self.list && self.format() == Format::JsonArray
    }

    /// What comes before the first record: a mark, the names of columns, the bracket of an array. Decides how characters are written.
    pub(super) fn begin(&self) -> Result<Vec<u8>, DedupError> {
        self.check()?;
        let to = self.to.get_or_init(|| {
            let mut found = self.own().iter().filter_map(|layout| layout.found_encoding());
            let first = found.next();
            let same = self.own().len() == 1 || !self.is_live && found.all(|it| Some(it) == first);
            self.named.or_else(|| (!same).then_some(Encoding::UTF_8))
        });
        let (mut out, mut text) = (Vec::new(), String::new());
        let Some(first) = self.own().first().filter(|_| !self.list) else { return Ok(out) };
        let is_table = matches!(self.format(), Format::Csv | Format::Tsv);
        if to.unwrap_or(first.encoding()).is_utf_16() || is_table && first.is_marked() {
            text.push('\u{feff}');
        }
        let header = self.own().iter().find_map(|layout| Some((layout, layout.header()?)));
        if let Some((layout, header)) = header {
            text.push_str(&layout.decoded(header).unwrap_or_default());
            text.push('\n');
        }
        if self.is_array() {
            text.push('[');
        }
        self.encode(first, &text, &mut out)?;
        Ok(out)
    }

    /// What comes behind the last record.
    pub(super) fn end(&self, is_empty: bool) -> Result<Vec<u8>, DedupError> {
        let mut out = Vec::new();
        if let Some(first) = self.own().first().filter(|_| self.is_array()) {
            self.encode(first, if is_empty { "]\n" } else { "\n]\n" }, &mut out)?;
        }
        Ok(out)
    }

    /// The comma before every element of an array; the first goes without.
    pub(super) fn comma(&self) -> usize {
        let to = self.to.get().copied().flatten();
        let to = to.or_else(|| Some(self.own().first()?.encoding()));
        if to.is_some_and(Encoding::is_utf_16) { 2 } else { 1 }
    }

    /// Appends a record of this input, which stands on this line, as the output has it, with what stands around it.
    pub(crate) fn render(
        &self,
        input: u32,
        (line, bytes): (u64, &[u8]),
        entry: &Entry,
        out: &mut Vec<u8>,
    ) -> Result<(), DedupError> {
        let layout = &self.layouts[input as usize];
        let link = match (self.duplicates, entry) {
            (_, Entry::Kept) => None,
            (Duplicates::Mark, Entry::Duplicate(Some(link))) => Some(link),
            _ => return Ok(()),
        };
        if self.is_columnar() {
            Row { input: input - self.known as u32, line }.push(out);
            return Ok(());
        }
        let (from, to) = (layout.record_encoding(), self.encoding_of(layout));
        let marks = self.duplicates == Duplicates::Mark;
        if self.list || self.copy {
            let record = layout.record(bytes).ok();
            let id = record.and_then(|record| record.id).unwrap_or_default();
            let name = name_of_id(&id);
            let file = layout.file(line, &name);
            if self.copy {
                if file.is_none() {
                    let gone = "the files of the folder are not what they were";
                    return Err(DedupError::input(Path::new(&*name), io::Error::other(gone)));
                }
                Copies::push(input, line, out);
                return Ok(());
            }
            listed(&bytes_of(file, &name), out);
        } else if from == to && (!marks || to == Encoding::UTF_8) {
            if self.is_array() {
                out.extend(b",\n");
            }
            match (marks, link) {
                (false, _) => out.extend_from_slice(bytes),
                (true, None) => out.extend_from_slice(&unmarked(bytes)),
                (true, Some(link)) => {
                    for part in marked(bytes, link) {
                        out.extend_from_slice(&part);
                    }
                }
            }
        } else {
            // Of records that were not rejected nothing fails here.
            let text = layout.decoded(bytes).unwrap_or_default();
            let parts = match (marks, link) {
                (false, _) => text.into_owned().into_bytes(),
                (true, None) => unmarked(text.as_bytes()).into_owned(),
                (true, Some(link)) => marked(text.as_bytes(), link).concat(),
            };
            let text = String::from_utf8_lossy(&parts);
            let is_array = self.is_array();
            let before = if is_array { ",\n" } else { "" };
            let behind = if is_array { "" } else { "\n" };
            return self.encode(layout, &format!("{before}{text}{behind}"), out);
        }
        if !self.is_array() {
            out.push(b'\n');
        }
        Ok(())
    }

    fn encoding_of(&self, layout: &Layout) -> Encoding {
        self.to.get().copied().flatten().unwrap_or_else(|| layout.encoding())
    }

    fn encode(&self, of: &Layout, text: &str, out: &mut Vec<u8>) -> Result<(), DedupError> {
        let to = self.encoding_of(of);
        let bytes = to.encode(text).map_err(|character| {
            let reason = format!("{} has no {character:?}; choose gb18030 or utf-8", to.name());
            DedupError::output(&self.name, io::Error::other(reason))
        })?;
        out.extend(bytes);
        Ok(())
    }
}

/// The name of a file as the system has it, which need not be UTF-8. Elsewhere than on Unix, and where the files are not what they were, that of
/// its id.
fn bytes_of<'n>(file: Option<&'n Path>, name: &'n str) -> Cow<'n, [u8]> {
    #[cfg(unix)]
    if let Some(file) = file {
        use std::os::unix::ffi::OsStrExt;
        return file.as_os_str().as_bytes().into();
    }
    let _ = file;
    name.as_bytes().into()
}

/// Appends a name as a line of a list: one with a newline, or that begins with a quote, as a JSON string. Nothing else begins with a quote.
fn listed(name: &[u8], out: &mut Vec<u8>) {
    if !name.contains(&b'\n') && !name.starts_with(b"\"") {
        out.extend(name);
        return;
    }
    out.push(b'"');
    for &byte in name {
        match byte {
            b'"' | b'\\' => out.extend([b'\\', byte]),
            b'\n' => out.extend(b"\\n"),
            0..0x20 => out.extend(format!("\\u{byte:04x}").bytes()),
            // What is no UTF-8 stays as it is.
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

/// What is rendered of a row of Parquet or Arrow: which one it is, of the inputs that are written.
pub(super) struct Row {
    pub(super) input: u32,
    pub(super) line: u64,
}

impl Row {
    const BYTES: usize = 12;

    fn push(&self, out: &mut Vec<u8>) {
        out.extend(self.line.to_le_bytes());
        out.extend(self.input.to_le_bytes());
    }

    /// Those that were rendered.
    pub(super) fn all(rendered: &[u8]) -> impl Iterator<Item = Self> {
        rendered.chunks_exact(Self::BYTES).filter_map(|row| {
            let (line, input) = row.split_first_chunk::<8>()?;
            let input = input.first_chunk::<4>()?;
            Some(Self { line: u64::from_le_bytes(*line), input: u32::from_le_bytes(*input) })
        })
    }
}

/// Whether what goes to this name is compressed.
fn is_packed(name: &Path) -> bool {
    name.extension().is_some_and(|ending| {
        ending.eq_ignore_ascii_case("gz") || ending.eq_ignore_ascii_case("zst")
    })
}
