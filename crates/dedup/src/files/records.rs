//! Records, found again by position: the kept ones where they are decided as they come, or all of them.
//!
//! Some five bytes per record instead of its text: which input, where, how long, which line. A record of a
//! plain file is read again from that file; one of a stream or a compressed file from a copy in one unnamed
//! temporary file, to which only these records are written.

use super::positions::{Position, Positions};
use crate::decide::Texts;
use crate::error::DedupError;
use crate::parallel;
use crate::read::{Again, Block, Id, Layout, Line, Opened, Origin, Record, id_json, read_exact_at};
use crate::report::ReadAs;
use simhash_store::Room;
use std::fs::File;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Read at once, unless one record is longer: as much as a block of input.
const SPAN_BYTES: u64 = 1 << 20;

struct Source {
    name: PathBuf,
    /// An id made from a position names the file.
    named: bool,
    origin: Option<Arc<Origin>>,
    layout: Arc<Layout>,
    is_live: bool,
    /// Of a folder, which has no bytes of its own.
    again: Option<Again>,
    lie: Lie,
}

/// Where the records of an input lie.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lie {
    InPlace,
    /// In the spool.
    Copied,
    /// In the spool too, but only because it is a sample.
    Sampled,
}

pub(super) struct Records {
    sources: Vec<Source>,
    positions: Positions,
    spool: Option<Spool>,
    /// Bytes of it that a run over all of the inputs has too.
    copied: u64,
    /// Of temporary files.
    folder: PathBuf,
}

/// An unnamed temporary file that grows.
pub(super) struct Spool {
    file: File,
    pub(super) end: u64,
    folder: PathBuf,
}

impl Spool {
    /// In this folder.
    pub(super) fn within(folder: PathBuf) -> Result<Self, DedupError> {
        match tempfile::tempfile_in(&folder) {
            Ok(file) => Ok(Self { file, end: 0, folder }),
            Err(error) => Err(DedupError::temporary(&folder, &error)),
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<(), DedupError> {
        let written = self.file.write_all(bytes);
        written.map_err(|error| DedupError::temporary(&self.folder, &error))?;
        self.end += bytes.len() as u64;
        Ok(())
    }

    pub(super) fn read(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        read_exact_at(&self.file, bytes, offset)
    }

    /// What was written cannot be read again.
    pub(super) fn failed(&self, error: &io::Error) -> DedupError {
        DedupError::temporary(&self.folder, error)
    }
}

impl Records {
    /// Copies lie in `folder`.
    pub(super) fn new(room: &Room, folder: PathBuf) -> Result<Self, DedupError> {
        let positions = Positions::new(room)?;
        Ok(Self { sources: Vec::new(), positions, spool: None, copied: 0, folder })
    }

    /// Adds the next input; `named` says whether an id made from a position names it.
    pub(super) fn add_input(&mut self, input: &Opened, named: bool) -> Result<(), DedupError> {
        let Opened { name, origin, layout, spooled, is_sampled, is_live, again, .. } = input;
        if *spooled && self.spool.is_none() {
            self.spool = Some(Spool::within(self.folder.clone())?);
        }
        let (name, origin, layout) = (name.clone(), origin.clone(), Arc::clone(layout));
        let lie = match (*spooled, *is_sampled) {
            (false, _) => Lie::InPlace,
            (true, false) => Lie::Copied,
            (true, true) => Lie::Sampled,
        };
        let (is_live, again) = (*is_live, again.clone());
        self.sources.push(Source { name, named, origin, layout, is_live, again, lie });
        Ok(())
    }

    /// An error where an input file is no longer what it was when it was opened.
    pub(super) fn check_unchanged(&self) -> Result<(), DedupError> {
        self.sources
            .iter()
            .filter_map(|source| source.origin.as_ref())
            .try_for_each(|it| Ok(it.check()?))
    }

    /// The files among the inputs, by input.
    pub(super) fn origins(&self) -> Vec<Option<Arc<Origin>>> {
        self.sources.iter().map(|source| source.origin.clone()).collect()
    }

    /// Shows what the inputs hold, byte for byte, each after its length. False: one of them is a stream, which can be read only once.
    pub(super) fn contents(
        &self,
        cancel: &AtomicBool,
        see: &mut dyn FnMut(&[u8]),
    ) -> Result<bool, DedupError> {
        let mut room = vec![0; SPAN_BYTES as usize];
        for source in &self.sources {
            let Some(origin) = &source.origin else {
                let Some(again) = &source.again else { return Ok(false) };
                let mut reader = again();
                loop {
                    parallel::check(cancel)?;
                    let read = reader.read(&mut room);
                    let read = read.map_err(|error| DedupError::input(&source.name, error))?;
                    see(&room[..read]);
                    if read == 0 {
                        break;
                    }
                }
                continue;
            };
            see(&origin.length().to_le_bytes());
            let mut offset = 0;
            while offset < origin.length() {
                parallel::check(cancel)?;
                let piece = &mut room[..SPAN_BYTES.min(origin.length() - offset) as usize];
                let read = origin.read_exact_at(piece, offset);
                read.map_err(|error| DedupError::input(&source.name, error))?;
                see(piece);
                offset += piece.len() as u64;
            }
        }
        Ok(true)
    }

    /// Bytes of the copies of records that cannot be read again where they are.
    pub(super) fn copied(&self) -> u64 {
        self.copied
    }

    /// Whether one of the inputs is a stream, a pipe or a device.
    pub(super) fn is_live(&self) -> bool {
        self.sources.iter().any(|source| source.is_live)
    }

    pub(super) fn names(&self) -> Vec<PathBuf> {
        self.sources.iter().map(|source| source.name.clone()).collect()
    }

    /// What is known of the inputs.
    pub(super) fn layouts(&self) -> Vec<Arc<Layout>> {
        self.sources.iter().map(|source| Arc::clone(&source.layout)).collect()
    }

    /// The inputs that are not in UTF-8.
    pub(super) fn encodings(&self) -> Vec<ReadAs> {
        let read_as = |source: &Source| {
            let file = source.name.display().to_string();
            let others = source.layout.other_encodings().into_iter();
            let read_as = move |(encoding, files): (&str, _)| {
                let (file, encoding) = (file.clone(), encoding.to_owned());
                ReadAs { file, encoding, files }
            };
            others.map(read_as)
        };
        self.sources.iter().flat_map(read_as).collect()
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
        self.positions.len()
    }

    /// Notes lines of a block, in order.
    pub(super) fn push(&mut self, block: &Block, lines: &[&Line]) -> Result<(), DedupError> {
        let input = block.input;
        let lie = self.sources[input as usize].lie;
        let mut copy = Vec::new();
        let base = self.spool.as_ref().map_or(0, |spool| spool.end);
        for line in lines {
            let mut offset = block.offset + line.range.start as u64;
            if lie != Lie::InPlace {
                offset = base + copy.len() as u64;
                copy.extend_from_slice(block.bytes_of(line));
            }
            let length = line.range.len() as u32;
            self.positions.push(Position { offset, line: line.number, length, input })?;
        }
        if let Some(spool) = &mut self.spool {
            spool.push(&copy)?;
            self.copied += if lie == Lie::Sampled { 0 } else { copy.len() as u64 };
        }
        Ok(())
    }

    /// The records from this one on that lie close together, at most `most`, at least one.
    pub(super) fn stretch(&self, from: u32, most: usize) -> Stretch {
        let mut all = self.positions.from(from);
        let first = all.next().unwrap_or_default();
        let close = all.take(most.saturating_sub(1)).take_while(|position| {
            position.input == first.input && position.end() - first.offset <= SPAN_BYTES
        });
        Stretch { from, positions: std::iter::once(first).chain(close).collect() }
    }

    /// The records of a stretch: one read instead of many.
    pub(super) fn span(&self, stretch: Stretch) -> Result<Span, DedupError> {
        let positions = &stretch.positions;
        let bytes = positions[positions.len() - 1].end() - positions[0].offset;
        let mut bytes = vec![0; bytes as usize];
        self.read(&positions[0], &mut bytes)?;
        let span = Span { stretch, bytes };
        Ok(span)
    }

    /// The id of a record.
    pub(super) fn id(&self, ordinal: u32) -> Result<Id, DedupError> {
        let position = self.positions.get(ordinal);
        self.with_record(ordinal, |record| {
            id_json(record.id.as_ref(), self.id_prefix(position.input), position.line)
        })
    }

    fn with_record<T>(
        &self,
        ordinal: u32,
        read: impl FnOnce(Record<'_>) -> T,
    ) -> Result<T, DedupError> {
        let position = self.positions.get(ordinal);
        let mut bytes = vec![0; position.length as usize];
        self.read(&position, &mut bytes)?;
        let layout = &self.sources[position.input as usize].layout;
        let record = layout.record(&bytes).map_err(|_| self.changed(&position))?;
        Ok(read(record))
    }

    fn read(&self, position: &Position, bytes: &mut [u8]) -> Result<(), DedupError> {
        let source = &self.sources[position.input as usize];
        let read = match (&source.origin, &self.spool) {
            (Some(origin), _) if source.lie == Lie::InPlace => {
                origin.read_exact_at(bytes, position.offset)
            }
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

/// Records that lie close together.
pub(super) struct Stretch {
    from: u32,
    positions: Vec<Position>,
}

impl Stretch {
    /// Their numbers.
    pub(super) fn range(&self) -> Range<u32> {
        self.from..self.from + self.positions.len() as u32
    }
}

/// Records that were read at once.
pub(super) struct Span {
    stretch: Stretch,
    bytes: Vec<u8>,
}

impl Span {
    /// Which input they are of.
    pub(super) fn input(&self) -> u32 {
        self.stretch.positions[0].input
    }

    /// Their numbers.
    pub(super) fn range(&self) -> Range<u32> {
        self.stretch.range()
    }

    /// A record, after its line.
    pub(super) fn record(&self, number: u32) -> (u64, &[u8]) {
        let Stretch { from, positions } = &self.stretch;
        let position = &positions[(number - from) as usize];
        let start = (position.offset - positions[0].offset) as usize;
        (position.line, &self.bytes[start..start + position.length as usize])
    }
}

impl Texts for Records {
    fn with_text(&self, ordinal: u32, read: &mut dyn FnMut(&str)) -> Result<(), DedupError> {
        self.with_record(ordinal, |record| read(&record.text))
    }

    fn bytes(&self, ordinal: u32) -> usize {
        self.positions.get(ordinal).length as usize
    }
}
