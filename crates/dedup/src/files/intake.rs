//! What both ways of deciding share: blocks as they come, lines parsed in parallel, records found again.

use super::records::Records;
use super::unusable::Seen;
use crate::error::DedupError;
use crate::keep::Key;
use crate::parallel;
use crate::read::{self, Block, Fields, Format, Input, Line, MAX_LINE_BYTES, Record};
use crate::report::{Progress, Rejected, Stage, Summary, grouped};
use crate::write::Rejects;
use crossbeam_channel::{Receiver, RecvTimeoutError};
use simhash_sketch::{Prepared, Scratch};
use std::borrow::Cow;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Blocks waiting in each queue: one being handed over, one in reserve.
pub(super) const QUEUE: usize = 2;
/// Longest sleep between two looks at the cancel flag.
const POLL: Duration = Duration::from_millis(20);

/// The inputs, open.
pub(super) struct Intake<'a> {
    fields: &'a Fields,
    pub(super) records: Records<'a>,
    blocks: Receiver<Result<Option<Block>, DedupError>>,
    consumed: Vec<Arc<AtomicU64>>,
    total_bytes: Option<u64>,
    threads: usize,
    pub(super) cancel: &'a AtomicBool,
    seen: Seen,
}

/// A line on its way to a verdict.
pub(super) struct Slot<'b, P = Prepared> {
    pub(super) line: &'b Line,
    pub(super) parsed: Result<Parsed<'b, P>, String>,
}

/// A line that is a record, with what was made of its text.
pub(super) struct Parsed<'b, P = Prepared> {
    pub(super) text: Cow<'b, str>,
    pub(super) id: Option<&'b str>,
    pub(super) key: Key,
    pub(super) prepared: P,
}

impl<'a> Intake<'a> {
    /// Opens the inputs, group by group. Where a group has several, ids made from positions name their file. Without a format
    /// the names of files tell.
    pub(super) fn open(
        groups: &[&[Input]],
        fields: &'a Fields,
        format: Option<Format>,
        threads: usize,
        cancel: &'a AtomicBool,
    ) -> Result<Self, DedupError> {
        let mut records = Records::new(fields);
        let mut opened = Vec::new();
        let mut consumed = Vec::new();
        let mut total_bytes = Some(0);
        let all =
            groups.iter().flat_map(|group| group.iter().map(|input| (input, group.len() > 1)));
        for (input, named) in all {
            let input = input.open(format.unwrap_or_else(|| Format::of(&input.name())))?;
            let bytes = input.origin.as_ref().map(|origin| origin.length());
            total_bytes = total_bytes.zip(bytes).map(|(sum, bytes)| sum + bytes);
            consumed.push(input.consumed.clone());
            records.add_input(&input, named)?;
            opened.push(input);
        }
        let blocks = read::spawn(opened, QUEUE);
        let seen = Seen::default();
        Ok(Self { fields, records, blocks, consumed, total_bytes, threads, cancel, seen })
    }

    /// The next block; `None` at the end.
    pub(super) fn next_block(&self) -> Result<Option<Block>, DedupError> {
        loop {
            self.check_cancel()?;
            match self.blocks.recv_timeout(POLL) {
                Ok(block) => return block,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    let error = io::Error::other("the reading thread ended early");
                    return Err(DedupError::input(&PathBuf::from("inputs"), error));
                }
            }
        }
    }

    /// Parses every line of a block in parallel, and prepares its text.
    pub(super) fn parse<'b, P: Send>(
        &self,
        block: &'b Block,
        prepare: impl Fn(&str, &mut Scratch) -> P + Sync,
    ) -> Result<Vec<Slot<'b, P>>, DedupError> {
        let mut slots: Vec<Slot<'b, P>> =
            block.lines.iter().map(|line| Slot { line, parsed: Err(String::new()) }).collect();
        let new = Scratch::default;
        parallel::for_each(&mut slots, self.threads, self.cancel, new, |scratch, slot| {
            slot.parsed = if let Some(bytes) = slot.line.too_long {
                Err(too_long(bytes))
            } else {
                let line = block.bytes_of(slot.line);
                parse(self.fields, block.format, line, &prepare, scratch)
            };
            Ok(())
        })?;
        Ok(slots)
    }

    /// The records of a block; the other lines are counted and written as rejects.
    pub(super) fn accept<'b, P: Send>(
        &mut self,
        block: &'b Block,
        prepare: impl Fn(&str, &mut Scratch) -> P + Sync,
        counts: &mut Summary,
        rejects: &mut Rejects<'_>,
    ) -> Result<Vec<(&'b Line, Parsed<'b, P>)>, DedupError> {
        let mut accepted = Vec::new();
        for Slot { line, parsed } in self.parse(block, prepare)? {
            match parsed {
                Ok(parsed) => accepted.push((line, parsed)),
                Err(reason) => {
                    self.count_rejected(counts, block, line, &reason);
                    rejects.write(block, line, &reason)?;
                }
            }
        }
        Ok(accepted)
    }

    /// Counts a line that is no record.
    pub(super) fn count_rejected(
        &mut self,
        summary: &mut Summary,
        block: &Block,
        line: &Line,
        reason: &str,
    ) {
        self.seen.look(block.bytes_of(line));
        summary.reject(|| Rejected {
            file: self.records.name(block.input),
            line: line.number,
            reason: reason.to_owned(),
        });
    }

    /// Why a run fails that rejected all of its records; `None` where it used one, or read none.
    pub(super) fn unusable(&self, summary: &Summary) -> Option<DedupError> {
        self.seen.error(summary, self.fields)
    }

    /// Forgets what was rejected: what follows is another side of the input.
    pub(super) fn forget_rejected(&mut self) {
        self.seen = Seen::default();
    }

    /// An error where an input file is no longer what it was when the run began.
    pub(super) fn check_unchanged(&self) -> Result<(), DedupError> {
        self.records.check_unchanged()
    }

    pub(super) fn progress(&self, stage: Stage, documents: u64, duplicates: u64) -> Progress {
        Progress {
            stage,
            documents,
            bytes: self.consumed.iter().map(|bytes| bytes.load(Ordering::Relaxed)).sum(),
            total_bytes: self.total_bytes,
            duplicates,
        }
    }

    pub(super) fn check_cancel(&self) -> Result<(), DedupError> {
        if self.cancel.load(Ordering::Relaxed) { Err(DedupError::Cancelled) } else { Ok(()) }
    }
}

pub(super) fn too_long(bytes: u64) -> String {
    format!("longer than {} MiB: {} bytes", MAX_LINE_BYTES >> 20, grouped(bytes))
}

fn parse<'b, P>(
    fields: &Fields,
    format: Format,
    line: &'b [u8],
    prepare: &impl Fn(&str, &mut Scratch) -> P,
    scratch: &mut Scratch,
) -> Result<Parsed<'b, P>, String> {
    let record = match format {
        Format::JsonLines => fields.record(line)?,
        Format::Lines => {
            let text = String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line));
            Record { text, id: None, key: Key::Missing }
        }
    };
    let prepared = prepare(&record.text, scratch);
    Ok(Parsed { text: record.text, id: record.id, key: record.key, prepared })
}
