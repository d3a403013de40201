//! Where records lie in the bytes of an input: one implementation for each format.

use crate::error::malformed;
use crate::format::Format;
use crate::layout::Layout;
use crate::{array, csv, lines};
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// Finds one record after the other, and looks at every byte once.
pub(crate) trait Cut: Send {
    /// Where the record ends that begins at `start`, or what lies between two records: `None` where it goes on behind `bytes`.
    /// `bytes[start..seen]` were shown before; of a record that is too long to be held one byte stands for what was shown before.
    /// `ended`: nothing follows.
    fn next(
        &mut self,
        bytes: &[u8],
        start: usize,
        seen: usize,
        ended: bool,
    ) -> io::Result<Option<Piece>>;

    /// Calls `found` with what [`Cut::next`] gives, one after the other, until that is nothing.
    fn each(
        &mut self,
        bytes: &[u8],
        mut start: usize,
        mut seen: usize,
        ended: bool,
        found: &mut dyn FnMut(Piece) -> io::Result<()>,
    ) -> io::Result<()> {
        while let Some(piece) = self.next(bytes, start, seen, ended)? {
            (start, seen) = (piece.next, piece.next);
            found(piece)?;
        }
        Ok(())
    }

    /// Why a record that is longer than any may be ends it all; `None`: it is rejected alone.
    fn endless(&self) -> Option<String> {
        None
    }
}

/// A record, or what lies between two.
pub(crate) struct Piece {
    /// The number of the record, from 1; `None`: it is none.
    pub(crate) number: Option<u64>,
    pub(crate) range: Range<usize>,
    /// Where what follows begins.
    pub(crate) next: usize,
}

/// The one for a format.
pub(crate) fn of(layout: &Arc<Layout>, format: Format) -> Box<dyn Cut> {
    let form = &layout.form;
    match format {
        Format::JsonLines | Format::Files | Format::Parquet | Format::Arrow => {
            Box::new(lines::Cutter::new(false))
        }
        Format::Lines => Box::new(lines::Cutter::new(true)),
        Format::JsonArray => Box::new(array::Cutter::new(Arc::clone(layout))),
        Format::Csv | Format::Tsv => {
            let of_characters = Arc::clone(layout);
            Box::new(csv::Cutter::new(form.between(format), form.max_record, of_characters))
        }
    }
}

/// The error of a record that the format has no name for.
pub(crate) fn broken<T>(reason: String) -> io::Result<T> {
    Err(malformed(reason))
}
