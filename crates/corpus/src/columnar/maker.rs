//! A file of Arrow that is made here, batch by batch; `arrow_writer` copies the rows of others.

use super::arrow_writer::failed;
use crate::made::Cells;
use arrow_array::types::{UInt32Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, FixedSizeBinaryArray, ListArray, RecordBatch, StringArray, UInt64Array,
};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{Field, Schema, SchemaRef};
use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;

/// Writes a file of Arrow (version 2 of Feather), uncompressed, so that it can be mapped.
pub struct TableMaker<W: Write> {
    schema: SchemaRef,
    to: FileWriter<W>,
}

impl<W: Write> TableMaker<W> {
    /// Begins it, with columns of these names that hold what these empty cells do. `remarks` are the metadata of the schema.
    ///
    /// # Errors
    /// Those of `to`.
    pub fn new(columns: Vec<(&str, Cells)>, remarks: &[(&str, String)], to: W) -> io::Result<Self> {
        let mut fields = Vec::new();
        for (name, cells) in columns {
            let is_optional = !matches!(cells, Cells::Texts(_) | Cells::Numbers(_));
            fields.push(Field::new(name, array(cells)?.data_type().clone(), is_optional));
        }
        let remarks = remarks.iter().map(|(key, value)| ((*key).to_owned(), value.clone()));
        let schema =
            Arc::new(Schema::new_with_metadata(fields, remarks.collect::<HashMap<_, _>>()));
        let to = FileWriter::try_new(to, &schema).map_err(failed)?;
        Ok(Self { schema, to })
    }

    /// Appends rows, by column; none where there are none.
    ///
    /// # Errors
    /// Those of the output, and columns that are not those of the table, or of different lengths.
    pub fn write(&mut self, columns: Vec<Cells>) -> io::Result<()> {
        let arrays = columns.into_iter().map(array).collect::<io::Result<Vec<_>>>()?;
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), arrays).map_err(failed)?;
        if batch.num_rows() == 0 { Ok(()) } else { self.to.write(&batch).map_err(failed) }
    }

    /// Ends it; the output comes back.
    ///
    /// # Errors
    /// Those of the output.
    pub fn finish(self) -> io::Result<W> {
        self.to.into_inner().map_err(failed)
    }
}

fn array(cells: Cells) -> io::Result<ArrayRef> {
    Ok(match cells {
        Cells::Texts(texts) => Arc::new(StringArray::from(texts)),
        Cells::Numbers(numbers) => Arc::new(UInt64Array::from(numbers)),
        Cells::Fingerprints(values) => Arc::new(UInt64Array::from(values)),
        Cells::Hashes(hashes) => {
            let hashes = hashes.into_iter();
            let array = FixedSizeBinaryArray::try_from_sparse_iter_with_size(hashes, 16);
            Arc::new(array.map_err(failed)?)
        }
        Cells::Signatures(lists) => Arc::new(ListArray::from_iter_primitive::<UInt32Type, _, _>(
            lists.into_iter().map(|list| list.map(|list| list.into_iter().map(Some))),
        )),
        Cells::Lists(lists) => Arc::new(ListArray::from_iter_primitive::<UInt64Type, _, _>(
            lists.into_iter().map(|list| list.map(|list| list.into_iter().map(Some))),
        )),
    })
}
