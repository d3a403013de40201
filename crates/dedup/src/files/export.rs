//! The documents of a saved index, written down: number, id, and what the index knows each by.

use super::saved_index::SavedIndex;
use crate::error::DedupError;
use crate::live::{Exported, LiveIndex, LiveMethod};
use crate::read::{Format, id_of_key};
use crate::write::{ColumnWriter, Output, Target};
use simhash_corpus::Cells;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// Documents that are written at a time.
const CHUNK: usize = 4_096;

/// How documents are written down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExportFormat {
    /// A JSON line each: `{"id", "number", "fingerprint"}`, or in its place `"signature"` (minhash), `"sentences"`, `"hash"` (exact).
    /// Default.
    #[default]
    JsonLines,
    /// A head, then a line each, as RFC 4180 has it: `id,number,fingerprint`, or the other names.
    Csv,
    /// A file of Arrow: `id` (text), `number` (u64), `fingerprint` (u64), or in its place `signature` (list of u32) or `sentences`
    /// (list of u64), and `hash` (16 bytes, the highest first) of what is known by its normalised text. The metadata `simhash.recipe` say what made them.
    Arrow,
}

impl ExportFormat {
    /// What the name of an output asks for, as `.csv`, `.arrow` or `.feather`; JSON lines, if nothing else.
    pub fn of(output: &Target) -> Self {
        match output.path().and_then(Format::of) {
            Some(Format::Csv) => Self::Csv,
            Some(Format::Arrow) => Self::Arrow,
            _ => Self::JsonLines,
        }
    }

    /// Refuses a name that says what is not written.
    fn check(self, output: &Target) -> Result<(), DedupError> {
        let Some(path) = output.path() else { return Ok(()) };
        let (own, expected) = match self {
            Self::JsonLines => {
                (Format::JsonLines, "a name for JSON lines, as x.jsonl, or another format")
            }
            Self::Csv => (Format::Csv, "a name for CSV, as x.csv, or another format"),
            Self::Arrow => (Format::Arrow, "a name for Arrow, as x.arrow, or another format"),
        };
        match Format::of(path).filter(|&named| named != own && named != Format::Lines) {
            Some(named) => {
                let value = format!("{} ({named})", path.display());
                Err(DedupError::Option { argument: "output", value, expected })
            }
            None => Ok(()),
        }
    }
}

impl SavedIndex {
    /// Writes every document, in the order in which they were added: its id (without a key, its number), its number in the index,
    /// and what the index knows it by: fingerprint, signature where these are kept, hashes of its sentences, or the hash
    /// of its normalised text. In lines all of these are hexadecimal, and that hash begins with `=`. Memory: that of the index, and a few
    /// thousand documents.
    ///
    /// How many there are, what killed runs had left beside the output, and the index come back.
    ///
    /// # Errors
    /// Those of [`SavedIndex::open`]; [`DedupError::Output`], [`DedupError::Cancelled`]; [`DedupError::Option`] for an output whose name
    /// says another format.
    pub fn export(
        &self,
        output: &Target,
        format: ExportFormat,
        cancel: &AtomicBool,
    ) -> Result<(u64, Vec<PathBuf>, LiveIndex), DedupError> {
        format.check(output)?;
        self.check_outside([output])?;
        let live = self.open(cancel)?;
        let output = Output::open(output, cancel)?;
        let mut written = Written::begin(format, &live, output, cancel)?;
        let (mut ids, mut count) = (live.ids(), 0);
        loop {
            crate::parallel::check(cancel)?;
            let mut documents = Vec::new();
            for id in ids.by_ref().take(CHUNK) {
                documents.extend(live.exported(id).map(|known| (id, live.key_of(id), known)));
            }
            count += documents.len() as u64;
            written.write(documents)?;
            if ids.is_empty() {
                break;
            }
        }
        let mut output = written.finish()?;
        output.seal()?;
        Ok((count, Output::commit([output])?, live))
    }
}

/// A document: number, key, what it is known by.
type Document = (u64, Option<String>, Exported);

/// An output on its way; `what` is what documents are known by. There is one at a time.
#[allow(clippy::large_enum_variant, reason = "one value, which is moved once")]
enum Written<'a> {
    Lines { output: Output<'a>, is_csv: bool, what: &'static str },
    Columns { table: ColumnWriter<'a>, what: &'static str },
}

impl<'a> Written<'a> {
    fn begin(
        format: ExportFormat,
        live: &LiveIndex,
        mut output: Output<'a>,
        cancel: &'a AtomicBool,
    ) -> Result<Self, DedupError> {
        let what = match live.options().method {
            LiveMethod::SimHash { .. } => "fingerprint",
            LiveMethod::MinHash { .. } => "signature",
            LiveMethod::Sentences { .. } => "sentences",
            LiveMethod::Exact => "hash",
        };
        if format == ExportFormat::Arrow {
            let remarks = [("simhash.recipe", live.made_by())];
            let table = ColumnWriter::new(columns(what, Vec::new()), &remarks, output, cancel)?;
            return Ok(Self::Columns { table, what });
        }
        let is_csv = format == ExportFormat::Csv;
        if is_csv {
            output.write(format!("id,number,{what}\r\n").as_bytes())?;
        }
        Ok(Self::Lines { output, is_csv, what })
    }

    fn write(&mut self, documents: Vec<Document>) -> Result<(), DedupError> {
        match self {
            Self::Lines { output, is_csv, what } => {
                let mut text = String::new();
                for (id, key, known) in &documents {
                    line(&mut text, *is_csv, *id, key.as_deref(), (*what, known));
                }
                output.write(text.as_bytes())
            }
            Self::Columns { table, what } => {
                let columns = columns(what, documents).into_iter();
                table.write(columns.map(|(_, cells)| cells).collect())
            }
        }
    }

    fn finish(self) -> Result<Output<'a>, DedupError> {
        match self {
            Self::Lines { output, .. } => Ok(output),
            Self::Columns { table, .. } => table.finish(),
        }
    }
}

fn name(id: u64, key: Option<&str>) -> String {
    key.map_or_else(|| id.to_string(), str::to_owned)
}

fn line(
    text: &mut String,
    is_csv: bool,
    id: u64,
    key: Option<&str>,
    (what, known): (&str, &Exported),
) {
    // Writing to a string cannot fail.
    if is_csv {
        let name = name(id, key);
        if name.contains(['"', ',', '\r', '\n']) {
            let _ = write!(text, "\"{}\"", name.replace('"', "\"\""));
        } else {
            text.push_str(&name);
        }
        let _ = write!(text, ",{id},{known}\r\n");
        return;
    }
    let name = key.map_or_else(|| id.to_string().into(), id_of_key);
    let _ = write!(text, r#"{{"id":{name},"number":{id}"#);
    if *known != Exported::Nothing {
        let _ = write!(text, r#","{what}":"{known}""#);
    }
    text.push_str("}\n");
}

/// The columns of a table with these documents.
fn columns(what: &str, documents: Vec<Document>) -> Vec<(&str, Cells)> {
    let (mut names, mut numbers) = (Vec::new(), Vec::new());
    let (mut fingerprints, mut signatures) = (Vec::new(), Vec::new());
    let (mut lists, mut hashes) = (Vec::new(), Vec::new());
    for (id, key, known) in documents {
        names.push(name(id, key.as_deref()));
        numbers.push(id);
        let (mut fingerprint, mut signature, mut list, mut hash) = (None, None, None, None);
        match known {
            Exported::Nothing => {}
            Exported::Fingerprint(value) => fingerprint = Some(value),
            Exported::Signature(positions) => signature = Some(positions),
            Exported::Sentences(hashes) => list = Some(hashes),
            Exported::Exact(value) => hash = Some(value.to_be_bytes()),
        }
        fingerprints.push(fingerprint);
        signatures.push(signature);
        lists.push(list);
        hashes.push(hash);
    }
    let known = match what {
        "fingerprint" => Some(Cells::Fingerprints(fingerprints)),
        "signature" => Some(Cells::Signatures(signatures)),
        "sentences" => Some(Cells::Lists(lists)),
        _ => None,
    };
    let mut columns = vec![("id", Cells::Texts(names)), ("number", Cells::Numbers(numbers))];
    columns.extend(known.map(|known| (what, known)));
    columns.push(("hash", Cells::Hashes(hashes)));
    columns
}
