//! What is known of an input: what its records are, how characters are written, which columns count.

use crate::columnar::Table;
use crate::csv::Columns;
use crate::encoding::Encoding;
use crate::error::malformed;
use crate::field::Fields;
use crate::form::Form;
use crate::format::Format;
use crate::record::Record;
use crate::texts::Texts;
use crate::{csv, files, lines, texts};
use memchr::memmem;
use parking_lot::Mutex;
use simdutf8::compat::from_utf8;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// What is known of one input: named by the caller, or found by its reader before the first record that needs it is passed on.
pub struct Layout {
    pub(crate) fields: Fields,
    pub(crate) form: Form,
    /// What the caller gave, where the two above are those of lines that a reader makes.
    pub(crate) given: Option<(Fields, Form)>,
    pub(crate) format: OnceLock<Format>,
    pub(crate) encoding: OnceLock<Encoding>,
    pub(crate) columns: OnceLock<Columns>,
    /// Its bytes come as UTF-8, whatever they were: UTF-16 is turned into it while it is read.
    pub(crate) turned: OnceLock<()>,
    /// It begins with a mark.
    pub(crate) marked: OnceLock<()>,
    /// Of Parquet and Arrow.
    pub(crate) table: OnceLock<Table>,
    /// Of texts in files: which these are.
    pub(crate) texts: Option<Arc<Texts>>,
    /// Of texts in files: how many are in each other encoding than UTF-8.
    pub(crate) others: Mutex<BTreeMap<&'static str, u64>>,
}

impl Layout {
    pub(crate) fn new(name: &Path, fields: &Fields, form: &Form) -> Self {
        let layout = Self {
            fields: fields.clone(),
            form: form.clone(),
            given: None,
            format: OnceLock::new(),
            encoding: OnceLock::new(),
            columns: OnceLock::new(),
            turned: OnceLock::new(),
            marked: OnceLock::new(),
            table: OnceLock::new(),
            texts: None,
            others: Mutex::default(),
        };
        // Set once, here: the cells are empty.
        if let Some(format) = form.format.or_else(|| Format::of(name)) {
            let _ = layout.format.set(format);
        }
        if let Some(encoding) = form.encoding {
            let _ = layout.encoding.set(encoding);
        }
        layout
    }

    /// Of JSON lines in UTF-8 that somebody else reads.
    pub fn json_lines(fields: &Fields) -> Self {
        Self::new(Path::new(""), fields, &Form::json_lines())
    }

    /// Of texts in files, which come as JSON lines.
    pub(crate) fn of_files(fields: &Fields, form: &Form, texts: Arc<Texts>) -> Self {
        let layout = Self::new(Path::new(""), &Fields::default(), &Self::made_lines(form));
        let format = OnceLock::from(Format::Files);
        let given = Some((fields.clone(), form.clone()));
        Self { format, texts: Some(texts), given, ..layout }
    }

    /// The form of lines that a reader makes of something else.
    fn made_lines(form: &Form) -> Form {
        let (max_record, cut_after) = (form.max_record, form.cut_after.clone());
        Form { max_record, cut_after, ..Form::json_lines() }
    }

    /// Of Parquet or Arrow, whose rows come as JSON lines, with the paths of columns as keys.
    pub(crate) fn of_table(table: Table, format: Format, fields: &Fields, form: &Form) -> Self {
        let layout = Self::new(Path::new(""), &fields.flat(), &Self::made_lines(form));
        let (format, table) = (OnceLock::from(format), OnceLock::from(table));
        Self { format, table, given: Some((fields.clone(), form.clone())), ..layout }
    }

    /// The options that were given and say nothing about its records, as far as their format is known: each with what it is for.
    pub(crate) fn unused(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let (fields, form) =
            self.given.as_ref().map_or((&self.fields, &self.form), |(fields, form)| (fields, form));
        self.format().into_iter().flat_map(|format| form.unused(fields, format))
    }

    /// What the records are, once that is known.
    pub fn format(&self) -> Option<Format> {
        self.format.get().copied()
    }

    /// How the characters of the input are written; UTF-8 where none but those of ASCII have come.
    pub fn encoding(&self) -> Encoding {
        self.encoding.get().copied().unwrap_or(Encoding::UTF_8)
    }

    /// The same, where it is known: characters beyond ASCII have come, or the caller named it.
    pub fn found_encoding(&self) -> Option<Encoding> {
        self.encoding.get().copied()
    }

    /// The encodings other than UTF-8 in which the input was read; of a folder each with the number of its files.
    pub fn other_encodings(&self) -> Vec<(&'static str, Option<u64>)> {
        let own = Some(self.encoding()).filter(|&found| found != Encoding::UTF_8);
        let of_files =
            self.others.lock().iter().map(|(&name, &files)| (name, Some(files))).collect();
        own.map_or(of_files, |encoding| vec![(encoding.name(), None)])
    }

    /// Of texts in files: the file of which this line was made.
    pub fn nth_file(&self, line: u64) -> Option<&Path> {
        let place = usize::try_from(line).ok()?.checked_sub(1)?;
        self.texts.as_ref()?.paths().ok()?.get(place).map(PathBuf::as_path)
    }

    /// The same, with the name that its id has. `None` where the files are not what they were: a run that goes on looks for them once more.
    pub fn file(&self, line: u64, name: &str) -> Option<&Path> {
        self.nth_file(line).filter(|path| texts::id_of(path) == name)
    }

    /// Whether the input begins with a mark.
    pub fn is_marked(&self) -> bool {
        self.marked.get().is_some()
    }

    /// How those of the records are written that were read.
    pub fn record_encoding(&self) -> Encoding {
        if self.turned.get().is_some() { Encoding::UTF_8 } else { self.encoding() }
    }

    /// The row that names the columns, as it came.
    pub fn header(&self) -> Option<&[u8]> {
        self.columns.get()?.header.as_deref()
    }

    /// What a record says.
    ///
    /// # Errors
    /// Why it is none.
    pub fn record<'a>(&self, bytes: &'a [u8]) -> Result<Record<'a>, String> {
        let encoding = self.record_encoding();
        if encoding == Encoding::UTF_8 {
            let text = from_utf8(bytes).map_err(|error| {
                let at = error.valid_up_to();
                let of_file =
                    (self.format() == Some(Format::Files)).then(|| files::reason(bytes, at));
                of_file.flatten().unwrap_or_else(|| format!("invalid UTF-8 at byte {}", at + 1))
            })?;
            return self.parse(text);
        }
        match encoding.decode(bytes)? {
            Cow::Borrowed(text) => self.parse(text),
            Cow::Owned(text) => self.parse(&text).map(Record::into_owned),
        }
    }

    /// The text of a record's bytes, in UTF-8.
    pub fn decoded<'a>(&self, bytes: &'a [u8]) -> Option<Cow<'a, str>> {
        self.record_encoding().decode(bytes).ok()
    }

    /// Takes the row that names the columns.
    pub(crate) fn name_columns(&self, header: &[u8]) -> io::Result<()> {
        let row = self.record_encoding().decode(header).map_err(malformed)?;
        let delimiter = self.form.between(self.format().unwrap_or_default());
        let _ = self.columns.set(Columns::named(header, &row, delimiter, &self.fields)?);
        Ok(())
    }

    /// The same of a record's text in UTF-8.
    pub(crate) fn parse<'a>(&self, text: &'a str) -> Result<Record<'a>, String> {
        let mut record = match self.format.get() {
            Some(Format::Lines) => lines::record(text),
            Some(format @ (Format::Csv | Format::Tsv)) => match self.columns.get() {
                Some(columns) => csv::record(text, self.form.between(*format), columns)?,
                None => return Err("the columns are not known".into()),
            },
            _ => self.fields.record(text)?,
        };
        for end in &self.form.cut_after {
            if let Some(at) = memmem::find(record.text.as_bytes(), end.as_bytes()) {
                match &mut record.text {
                    Cow::Borrowed(text) => *text = &text[..at],
                    Cow::Owned(text) => text.truncate(at),
                }
            }
        }
        Ok(record)
    }
}
