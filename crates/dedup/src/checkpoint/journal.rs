//! What the sketch stage made, block by block, in a log: a run that goes on reads its inputs again, cuts them into the same blocks, and takes
//! from here what was made of them. A block that is another one than before is named.
//!
//! ```text
//! a frame for each block: input u32  offset u64  bytes u64  XXH3-64 of the block u64  records u32, then each record:
//!   0  why it is none: length u32, text
//!   flags u8 (1; 2: empty, 4: short, 8: an outline, 16: a key; from 32 on the kind of its sketch)  hash u128 unless it is empty
//!   outline [36]  key: length u32, bytes
//!   sketch: 1 fingerprint u64   2 keys of bands: count u32, 6 bytes each   3, 4 sentences, set: count u32, u64 each
//! ```
//! Of the key of a band only the highest 43 bits count ([`entries`](crate::batch)): 48 are kept.

use super::described::changed;
use super::{Given, damaged};
use crate::error::DedupError;
use crate::keep::Key;
use crate::read::Block;
use parking_lot::Mutex;
use simhash_sketch::{MethodSketch, Outline, Prepared};
use simhash_store::log::{Log, Reader};
use simhash_store::{Fields, FileError, Section};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use xxhash_rust::xxh3::xxh3_64;

/// Bytes after which the disk has to take what was written: so much work is done again after a power cut.
const SYNC: u64 = 64 << 20;

const EMPTY: u8 = 2;
const SHORT: u8 = 4;
const OUTLINE: u8 = 8;
const KEY: u8 = 16;
/// The lowest bit of the kind of sketch.
const SKETCH: u8 = 32;
/// Bytes that are kept of the key of a band.
const BAND: usize = 6;

/// What was made of a record, or why it is none.
pub(crate) type Sketch = Result<(Prepared, Key), String>;

/// The log of a run.
pub(crate) struct Journal {
    path: PathBuf,
    /// While there is something to read.
    reader: Mutex<Option<Reader>>,
    log: OnceLock<Log>,
    /// Records that were read from it.
    known: AtomicU64,
    /// Bytes that were written when the disk was asked last.
    asked: AtomicU64,
}

impl Journal {
    pub(super) fn begun(log: Log) -> Self {
        let journal = Self::of(log.path().to_owned(), None);
        // It is empty.
        let _ = journal.log.set(log);
        journal
    }

    pub(super) fn read(reader: Reader) -> Self {
        Self::of(reader.path().to_owned(), Some(reader))
    }

    fn of(path: PathBuf, reader: Option<Reader>) -> Self {
        let (reader, log) = (Mutex::new(reader), OnceLock::new());
        Self { path, reader, log, known: AtomicU64::new(0), asked: AtomicU64::new(0) }
    }

    fn failed(&self, error: FileError) -> DedupError {
        damaged(error, &self.path)
    }

    /// What is known of the next block of the inputs; `None`: nothing, nor of any behind it.
    pub(crate) fn next(&self) -> Result<Option<Section>, DedupError> {
        let mut reader = self.reader.lock();
        let Some(reading) = reader.as_mut() else { return Ok(None) };
        let next = reading.next_changes().map_err(|error| self.failed(error))?;
        if next.is_none()
            && let Some(ended) = reader.take()
        {
            let opened = ended.into_log().map_err(|error| self.failed(error))?;
            self.asked.store(opened.log.end(), Relaxed);
            // Set once: there was a reader until now.
            let _ = self.log.set(opened.log);
        }
        Ok(next)
    }

    /// Keeps what was made of the next block.
    pub(crate) fn append(&self, bytes: &[u8]) -> Result<(), DedupError> {
        let Some(log) = self.log.get() else { return Ok(()) };
        let failed = |error| self.failed(error);
        log.reserve(bytes.len() as u64).map_err(failed)?;
        let end = log.append(bytes).map_err(failed)?;
        if end - self.asked.load(Relaxed) >= SYNC {
            self.asked.store(end, Relaxed);
            log.sync(end).map_err(failed)?;
        }
        Ok(())
    }

    /// The inputs have ended; everything is on the disk. `last` names the last of them.
    pub(crate) fn end(&self, last: &str) -> Result<(), DedupError> {
        if self.next()?.is_some() {
            return Err(changed(last.into(), None, "it lost records"));
        }
        self.log.get().map_or(Ok(()), Log::close).map_err(|error| self.failed(error))
    }

    /// Records that were not sketched in this run.
    pub(crate) fn known(&self) -> u64 {
        self.known.load(Relaxed)
    }

    /// What was made of the records of a block, from the log. `name` is that of its input.
    pub(crate) fn recorded(
        &self,
        block: &Block,
        mut from: Section,
        name: &str,
    ) -> Result<Vec<Sketch>, DedupError> {
        let lines = read_block(block, &mut from).map_err(|error| self.failed(error))?;
        let Some(lines) = lines else {
            let line = block.lines.first().map(|line| line.number);
            return Err(changed(name.into(), line, "its records became others"));
        };
        self.known.fetch_add(lines.len() as u64, Relaxed);
        Ok(lines)
    }
}

fn head(block: &Block) -> Fields {
    let mut fields = Fields::default();
    fields.half(block.input);
    fields.number(block.offset);
    fields.number(block.length);
    fields.number(xxh3_64(&block.bytes));
    fields.half(block.lines.len() as u32);
    fields
}

/// What was made of a block, as the log has it.
pub(crate) fn of_block(block: &Block, lines: &[Sketch], given: Given) -> Vec<u8> {
    let mut fields = head(block);
    fields.0.reserve(lines.len() * 208);
    for line in lines {
        match line {
            Ok((prepared, key)) => write(prepared, key, given, &mut fields),
            Err(reason) => {
                fields.0.push(0);
                fields.half(reason.len() as u32);
                fields.0.extend(reason.bytes());
            }
        }
    }
    fields.0
}

fn write(prepared: &Prepared, key: &Key, given: Given, out: &mut Fields) {
    let Prepared { exact, is_empty, is_short, sketch, outline, .. } = prepared;
    let kind = match sketch {
        MethodSketch::None => 0,
        MethodSketch::Fingerprint(_) => 1,
        MethodSketch::Signature { .. } => 2,
        MethodSketch::Sentences(_) => 3,
        MethodSketch::Set(_) => 4,
    };
    let bit = |is_set: bool, bit: u8| if is_set { bit } else { 0 };
    let has_outline = given.outlines && *outline != Outline::default();
    let flags = bit(*is_empty, EMPTY) | bit(*is_short, SHORT) | bit(has_outline, OUTLINE);
    out.0.push(1 | flags | bit(given.keys, KEY) | (kind * SKETCH));
    if !is_empty {
        out.0.extend(exact.to_le_bytes());
    }
    if has_outline {
        out.0.extend(outline.to_bytes());
    }
    if given.keys {
        let at = out.0.len();
        out.half(0);
        key.write(&mut out.0);
        let length = (out.0.len() - at - size_of::<u32>()) as u32;
        out.0[at..at + size_of::<u32>()].copy_from_slice(&length.to_le_bytes());
    }
    match sketch {
        MethodSketch::None => {}
        MethodSketch::Fingerprint(value) => out.number(*value),
        MethodSketch::Signature { keys, .. } => {
            out.half(keys.len() as u32);
            keys.iter().for_each(|key| out.0.extend(&key.to_le_bytes()[8 - BAND..]));
        }
        MethodSketch::Sentences(hashes) | MethodSketch::Set(hashes) => {
            out.half(hashes.len() as u32);
            hashes.iter().for_each(|&hash| out.number(hash));
        }
    }
}

/// `None`: the block is another one.
fn read_block(block: &Block, from: &mut Section) -> Result<Option<Vec<Sketch>>, FileError> {
    let head = head(block).0;
    if from.bytes(head.len() as u64)? != head {
        return Ok(None);
    }
    let mut lines = Vec::with_capacity(block.lines.len());
    for _ in 0..block.lines.len() {
        lines.push(read(from)?);
    }
    from.end()?;
    Ok(Some(lines))
}

fn read(from: &mut Section) -> Result<Sketch, FileError> {
    let flags = from.byte()?;
    if flags == 0 {
        let length = from.half()?;
        return Ok(Err(from.text_of(length.into())?.to_owned()));
    }
    let mut prepared = Prepared {
        is_empty: flags & EMPTY != 0,
        is_short: flags & SHORT != 0,
        ..Prepared::default()
    };
    if !prepared.is_empty {
        prepared.exact = from.wide()?;
    }
    if flags & OUTLINE != 0 {
        let bytes = from.bytes(Outline::BYTES as u64)?;
        let outline = bytes.try_into().ok().and_then(Outline::from_bytes);
        prepared.outline = outline.ok_or_else(|| from.damaged("an outline that cannot be"))?;
    }
    let key = if flags & KEY == 0 {
        Key::default()
    } else {
        let length = from.half()?;
        Key::read(from.bytes(length.into())?)
    };
    prepared.sketch = match flags / SKETCH {
        0 => MethodSketch::None,
        1 => MethodSketch::Fingerprint(from.number()?),
        2 => {
            let count = u64::from(from.half()?);
            let bytes = from.bytes(count * BAND as u64)?.as_chunks::<BAND>().0;
            let key =
                |&[a, b, c, d, e, f]: &[u8; BAND]| u64::from_le_bytes([0, 0, a, b, c, d, e, f]);
            let keys = bytes.iter().map(key).collect();
            MethodSketch::Signature { positions: Box::default(), keys }
        }
        kind @ (3 | 4) => {
            let count = u64::from(from.half()?);
            let words = from.bytes(count * 8)?.as_chunks().0;
            let hashes = words.iter().map(|&word| u64::from_le_bytes(word)).collect();
            if kind == 3 { MethodSketch::Sentences(hashes) } else { MethodSketch::Set(hashes) }
        }
        kind => return Err(from.damaged(format!("a sketch of kind {kind}"))),
    };
    Ok(Ok((prepared, key)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a power cut takes is less than [`SYNC`] of work, and nothing once the inputs have ended.
    #[test]
    fn the_disk_is_asked_after_every_sync_bytes_and_at_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let log = Log::create(&folder.path().join("log-0000000001"), &Fields::default()).unwrap();
        let journal = Journal::begun(log);
        let is_synced = || journal.log.get().unwrap().is_synced();
        let half = vec![7; SYNC as usize / 2];
        for _ in 0..2 {
            journal.append(&half).unwrap();
            assert!(!is_synced());
            journal.append(&half).unwrap();
            assert!(is_synced());
        }
        journal.append(b"the last block").unwrap();
        assert!(!is_synced());
        journal.end("input").unwrap();
        assert!(is_synced());
    }
}
