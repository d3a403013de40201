//! Kept records, found again by position.
//!
//! 24 bytes per record instead of its text: which input, where, how long, which line. A record of a
//! plain file is read again from that file; one of a stream or a gzip file from a copy in one unnamed
//! temporary file, to which kept records only are written.

use crate::decide::KeptTexts;
use crate::error::DedupError;
use crate::read::{Block, Fields, Id, Kind, Line, Record, id_json};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

struct Position {
    offset: u64,
    line: u64,
    length: u32,
    input: u32,
}

struct Source {
    name: PathBuf,
    /// `None`: in the spool.
    file: Option<File>,
}

pub(super) struct KeptRecords<'a> {
    fields: &'a Fields,
    sources: Vec<Source>,
    positions: Vec<Position>,
    spool: Option<Spool>,
    /// With several inputs an id made from a position names the file.
    several: bool,
}

struct Spool {
    file: File,
    end: u64,
}

impl<'a> KeptRecords<'a> {
    pub(super) fn new(fields: &'a Fields, several: bool) -> Self {
        Self { fields, sources: Vec::new(), positions: Vec::new(), spool: None, several }
    }

    pub(super) fn add_input(&mut self, name: PathBuf, kind: Kind) -> Result<(), DedupError> {
        let file = match kind {
            Kind::File(file) => Some(file),
            Kind::Spooled => {
                if self.spool.is_none() {
                    let file = tempfile::tempfile().map_err(spool_error)?;
                    self.spool = Some(Spool { file, end: 0 });
                }
                None
            }
        };
        self.sources.push(Source { name, file });
        Ok(())
    }

    pub(super) fn names(&self) -> Vec<PathBuf> {
        self.sources.iter().map(|source| source.name.clone()).collect()
    }

    pub(super) fn name(&self, input: u32) -> String {
        self.sources[input as usize].name.display().to_string()
    }

    /// What an id made from a position starts with.
    pub(super) fn id_prefix(&self, input: u32) -> Option<&Path> {
        self.several.then(|| self.sources[input as usize].name.as_path())
    }

    /// Notes kept lines of a block, in order.
    pub(super) fn push(&mut self, block: &Block, lines: &[&Line]) -> Result<(), DedupError> {
        let input = block.input;
        let spooled = self.sources[input as usize].file.is_none();
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
            spool.file.write_all(&copy).map_err(spool_error)?;
            spool.end += copy.len() as u64;
        }
        Ok(())
    }

    /// The id of a kept record.
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
        let Position { offset, line, length, input } = self.positions[ordinal as usize];
        let source = &self.sources[input as usize];
        let changed = || DedupError::InputChanged { path: source.name.clone(), line };
        let file = source.file.as_ref().or(self.spool.as_ref().map(|spool| &spool.file));
        let mut bytes = vec![0; length as usize];
        file.map_or(Ok(()), |file| read_at(file, &mut bytes, offset)).map_err(
            |error| match error.kind() {
                io::ErrorKind::UnexpectedEof => changed(),
                _ => DedupError::input(&source.name, error),
            },
        )?;
        let record = self.fields.record(&bytes).map_err(|_| changed())?;
        Ok(read(record))
    }
}

impl KeptTexts for KeptRecords<'_> {
    fn with_text(&self, ordinal: u32, read: &mut dyn FnMut(&str)) -> Result<(), DedupError> {
        self.with_record(ordinal, |record| read(&record.text))
    }
}

fn spool_error(error: io::Error) -> DedupError {
    DedupError::output(&std::env::temp_dir(), error)
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset)
}

#[cfg(windows)]
fn read_at(file: &File, mut bytes: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let read = std::os::windows::fs::FileExt::seek_read(file, bytes, offset)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        bytes = &mut bytes[read..];
        offset += read as u64;
    }
    Ok(())
}
