//! An output of columns that are made here: a file of Arrow.

use super::Output;
use super::rows::{Poured, told};
use crate::error::DedupError;
use simhash_corpus::{Cells, TableMaker};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// Writes columns to an output.
pub(crate) struct ColumnWriter<'a> {
    table: TableMaker<Poured<'a>>,
    /// The output, for messages.
    name: PathBuf,
}

impl<'a> ColumnWriter<'a> {
    /// Of columns with these names, which hold what these empty cells do.
    pub(crate) fn new(
        columns: Vec<(&str, Cells)>,
        remarks: &[(&str, String)],
        output: Output<'a>,
        cancel: &'a AtomicBool,
    ) -> Result<Self, DedupError> {
        let name = output.name().to_owned();
        let table = TableMaker::new(columns, remarks, Poured { output, cancel });
        let table = table.map_err(|error| told(error, &name))?;
        Ok(Self { table, name })
    }

    /// Appends rows, by column.
    pub(crate) fn write(&mut self, columns: Vec<Cells>) -> Result<(), DedupError> {
        self.table.write(columns).map_err(|error| told(error, &self.name))
    }

    /// The output with all of them.
    pub(crate) fn finish(self) -> Result<Output<'a>, DedupError> {
        let Self { table, name } = self;
        table.finish().map(|poured| poured.output).map_err(|error| told(error, &name))
    }
}
