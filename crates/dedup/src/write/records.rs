//! The records and the rejects.

use super::copies::Copies;
use super::framing::{Framing, Row};
use super::rows::RowWriter;
use super::{Duplicates, Output, Outputs, Rejects};
use crate::decide::Relation;
use crate::error::DedupError;
use crate::read::{Block, Id, Layout};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A block whose lines are all decided.
pub(crate) struct Decided {
    pub(crate) block: Block,
    /// One for each line.
    pub(crate) entries: Vec<Entry>,
}

/// What becomes of a line.
pub(crate) enum Entry {
    Kept,
    /// With the link that marks it, where duplicates are marked.
    Duplicate(Option<Link>),
    /// With the reason.
    Rejected(String),
}

/// What a mark says.
pub(crate) struct Link {
    pub(crate) of: Id,
    pub(crate) relation: Relation,
}

/// Writes records and rejects.
pub(crate) struct RecordWriter<'a> {
    records: Option<Output<'a>>,
    /// In place of it, where rows of Parquet or Arrow are written.
    rows: Option<RowWriter<'a>>,
    /// In place of it, where files are copied.
    copies: Option<Copies<'a>>,
    pub(crate) rejects: Rejects<'a>,
    framing: Arc<Framing>,
    begun: bool,
    is_empty: bool,
}

impl<'a> RecordWriter<'a> {
    /// Opens the outputs; who waits for a reader looks at `cancel`. Of the inputs the first are `known`, and never written. `is_live`: records are written before all inputs are read.
    pub(crate) fn open(
        outputs: &'a Outputs,
        (names, layouts): (Vec<PathBuf>, Vec<Arc<Layout>>),
        known: usize,
        is_live: bool,
        cancel: &'a AtomicBool,
    ) -> Result<Self, DedupError> {
        let framing = Arc::new(Framing::new(outputs, layouts, known, is_live)?);
        let records = outputs.records.as_ref();
        let mut records = records.map(|target| Output::open(target, cancel)).transpose()?;
        let mut rows = None;
        if let Some(output) = records.take_if(|_| framing.is_columnar()) {
            match RowWriter::new(framing.own(), output, cancel)? {
                Ok(writer) => rows = Some(writer),
                Err(output) => records = Some(output),
            }
        }
        let copies = outputs.copy.as_ref();
        let copies = copies.map(|folder| Copies::new(folder, &names, known, cancel)).transpose()?;
        if copies.is_some() && (records.is_some() || outputs.duplicates == Duplicates::Mark) {
            let (value, expected) = ("given".into(), "left out beside records, lists and marks");
            return Err(DedupError::Option { argument: "copy", value, expected });
        }
        Ok(Self {
            records,
            rows,
            copies,
            rejects: Rejects::open(outputs.rejects.as_ref(), names, cancel)?,
            framing,
            begun: false,
            is_empty: true,
        })
    }

    /// A block as it was read.
    pub(crate) fn write(&mut self, decided: &Decided) -> Result<(), DedupError> {
        let block = &decided.block;
        let framing = self.begin()?;
        let mut rendered = Vec::new();
        for (line, entry) in block.lines.iter().zip(&decided.entries) {
            match (entry, &framing) {
                (Entry::Rejected(reason), _) => self.rejects.write(block, line, reason)?,
                (entry, Some(framing)) => {
                    let record = (line.number, block.bytes_of(line));
                    framing.render(block.input, record, entry, &mut rendered)?;
                }
                _ => {}
            }
        }
        self.append(&rendered)
    }

    /// What renders records, after what comes before the first of them; none where no records are written.
    pub(crate) fn begin(&mut self) -> Result<Option<Arc<Framing>>, DedupError> {
        if self.rows.is_none() && self.records.is_none() && self.copies.is_none() {
            return Ok(None);
        }
        if !std::mem::replace(&mut self.begun, true) {
            let head = self.framing.begin()?;
            self.records.as_mut().map_or(Ok(()), |output| output.write(&head))?;
        }
        Ok(Some(Arc::clone(&self.framing)))
    }

    /// Records that were rendered, in order.
    pub(crate) fn append(&mut self, mut rendered: &[u8]) -> Result<(), DedupError> {
        if let Some(rows) = &mut self.rows {
            return Row::all(rendered).try_for_each(|row| rows.keep(&row));
        }
        if let Some(copies) = &mut self.copies {
            copies.take(rendered, self.framing.layouts());
            return Ok(());
        }
        let Some(output) = &mut self.records else { return Ok(()) };
        if rendered.is_empty() {
            return Ok(());
        }
        if std::mem::replace(&mut self.is_empty, false) && self.framing.is_array() {
            rendered = &rendered[self.framing.comma()..];
        }
        output.write(rendered)
    }

    /// Writes what comes behind the last record.
    pub(crate) fn end(&mut self) -> Result<(), DedupError> {
        self.begin()?;
        if let Some(rows) = self.rows.take() {
            self.records = Some(rows.finish()?);
            return Ok(());
        }
        if let Some(copies) = &mut self.copies {
            return copies.finish();
        }
        let Some(output) = &mut self.records else { return Ok(()) };
        output.write(&self.framing.end(self.is_empty)?)
    }

    /// The open file of rejects alone; the records are given up.
    pub(crate) fn into_rejects(self) -> Rejects<'a> {
        self.rejects
    }

    /// The open files, to be sealed and moved into place, and copies, which are taken back unless they are kept.
    pub(crate) fn into_outputs(
        self,
    ) -> (impl Iterator<Item = Output<'a>> + use<'a>, Option<Copies<'a>>) {
        ([self.records, self.rejects.into_output()].into_iter().flatten(), self.copies)
    }
}
