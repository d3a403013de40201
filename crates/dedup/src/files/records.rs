//! Records, found again by position: the kept ones, or all of them where everything is decided at the end.
//!
//! 24 bytes per record instead of its text: which input, where, how long, which line. A record of a
//! plain file is read again from that file; one of a stream or a gzip file from a copy in one unnamed
//! temporary file, to which only these records are written.

use crate::decide::Texts;
use crate::error::DedupError;
use crate::read::{Block, Fields, Id, Line, Opened, Origin, Record, id_json, read_exact_at};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Read at once, unless one record is longer: as much as a block of input.
const SPAN_BYTES: u64 = 1 << 20;

struct Position {
    offset: u64,
    line: u64,
    length: u32,
    input: u32,
}

struct Source {
    name: PathBuf,
    /// An id made from a position names the file.
    named: bool,
    origin: Option<Arc<Origin>>,
    /// Its records lie in the spool.
    spooled: bool,
}

pub(super) struct Records<'a> {
    fields: &'a Fields,
    sources: Vec<Source>,
    positions: Vec<Position>,
    spool: Option<Spool>,
}

/// An unnamed temporary file that grows.
pub(super) struct Spool {
    file: File,
    pub(super) end: u64,
}

impl Spool {
    pub(super) fn new() -> Result<Self, DedupError> {
        Ok(Self { file: tempfile::tempfile().map_err(spool_error)?, end: 0 })
    }

    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<(), DedupError> {
        self.file.write_all(bytes).map_err(spool_error)?;
        self.end += bytes.len() as u64;
        Ok(())
    }

    pub(super) fn read(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        read_exact_at(&self.file, bytes, offset)
    }
}

impl<'a> Records<'a> {
    pub(super) fn new(fields: &'a Fields) -> Self {
        Self { fields, sources: Vec::new(), positions: Vec::new(), spool: None }
    }

    /// Adds the next input; `named` says whether an id made from a position names it.
    pub(super) fn add_input(&mut self, input: &Opened, named: bool) -> Result<(), DedupError> {
        let Opened { name, origin, spooled, .. } = input;
        if *spooled && self.spool.is_none() {
            self.spool = Some(Spool::new()?);
        }
        let (name, origin, spooled) = (name.clone(), origin.clone(), *spooled);
        self.sources.push(Source { name, named, origin, spooled });
        Ok(())
    }

    /// An error where an input file is no longer what it was when it was opened.
    pub(super) fn check_unchanged(&self) -> Result<(), DedupError> {
        self.sources
            .iter()
            .filter_map(|source| source.origin.as_ref())
            .try_for_each(|it| it.check())
    }

    pub(super) fn names(&self) -> Vec<PathBuf> {
        self.sources.iter().map(|source| source.name.clone()).collect()
    }

    pub(super) fn name(&self, input: u32) -> String {
        self.sources[input as usize].name.display().to_string()
    }

    /// What an id made from a position starts with.
    pub(super) fn id_prefix(&self, input: u32) -> Option<&Path> {
        let source = &self.sources[input as usize];
        source.named.then_some(source.name.as_path())
    }

    /// How many there are.
    pub(super) fn len(&self) -> u32 {
        self.positions.len() as u32
    }

    /// Bytes of a record.
    pub(super) fn length(&self, number: u32) -> usize {
        self.positions[number as usize].length as usize
    }

    /// Notes lines of a block, in order.
    pub(super) fn push(&mut self, block: &Block, lines: &[&Line]) -> Result<(), DedupError> {
        let input = block.input;
        let spooled = self.sources[input as usize].spooled;
        let mut copy = Vec::new();
        let base = self.spool.as_ref().map_or(0, |spool| spool.end);
        for line in lines {
            let mut offset = block.offset + line.range.start as u64;
            if spooled {
                offset = base + copy.len() as u64;
                copy.extend_from_slice(block.bytes_of(line));
            }
            let length = line.range.len() as u32;
            self.positions.push(Position { offset, line: line.number, length, input });
        }
        if let Some(spool) = &mut self.spool {
            spool.push(&copy)?;
        }
        Ok(())
    }

    /// The records from this one on that lie close together, at most `most`: one read instead of many.
    pub(super) fn span(&self, from: u32, most: usize) -> Result<Span<'_>, DedupError> {
        let rest = &self.positions[from as usize..];
        let first = &rest[0];
        let close = rest.iter().take(most).take_while(|position| {
            let end = position.offset + u64::from(position.length);
            position.input == first.input && end - first.offset <= SPAN_BYTES
        });
        let positions = &rest[..close.count().max(1)];
        let last = &positions[positions.len() - 1];
        let bytes = last.offset + u64::from(last.length) - first.offset;
        let mut span = Span { from, positions, bytes: vec![0; bytes as usize] };
        self.read(first, &mut span.bytes)?;
        Ok(span)
    }

    /// The id of a record.
    pub(super) fn id(&self, ordinal: u32) -> Result<Id, DedupError> {
        let position = &self.positions[ordinal as usize];
        self.with_record(ordinal, |record| {
            id_json(record.id, self.id_prefix(position.input), position.line)
        })
    }

    fn with_record<T>(
        &self,
        ordinal: u32,
        read: impl FnOnce(Record<'_>) -> T,
    ) -> Result<T, DedupError> {
        let position = &self.positions[ordinal as usize];
        let mut bytes = vec![0; position.length as usize];
        self.read(position, &mut bytes)?;
        let record = self.fields.record(&bytes).map_err(|_| self.changed(position))?;
        Ok(read(record))
    }

    fn read(&self, position: &Position, bytes: &mut [u8]) -> Result<(), DedupError> {
        let source = &self.sources[position.input as usize];
        let read = match (&source.origin, &self.spool) {
            (Some(origin), _) if !source.spooled => origin.read_exact_at(bytes, position.offset),
            (_, Some(spool)) => spool.read(bytes, position.offset),
            // A source without a file of its own has made the spool.
            _ => Ok(()),
        };
        read.map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => self.changed(position),
            _ => DedupError::input(&source.name, error),
        })
    }

    fn changed(&self, position: &Position) -> DedupError {
        let path = self.sources[position.input as usize].name.clone();
        let what = "the record is another one than before".into();
        DedupError::InputChanged { path, line: Some(position.line), what }
    }
}

/// Records that were read at once.
pub(super) struct Span<'a> {
    from: u32,
    positions: &'a [Position],
    bytes: Vec<u8>,
}

impl Span<'_> {
    pub(super) fn len(&self) -> u32 {
        self.positions.len() as u32
    }

    pub(super) fn bytes_of(&self, number: u32) -> &[u8] {
        let position = &self.positions[(number - self.from) as usize];
        let start = (position.offset - self.positions[0].offset) as usize;
        &self.bytes[start..start + position.length as usize]
    }
}

impl Texts for Records<'_> {
    fn with_text(&self, ordinal: u32, read: &mut dyn FnMut(&str)) -> Result<(), DedupError> {
        self.with_record(ordinal, |record| read(&record.text))
    }
}

pub(super) fn spool_error(error: io::Error) -> DedupError {
    DedupError::output(&std::env::temp_dir(), error)
}
