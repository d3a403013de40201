//! What both ways of deciding share: blocks as they come, lines parsed in parallel, records found again.

use super::records::Records;
use super::unusable::Seen;
use crate::error::DedupError;
use crate::keep::Key;
use crate::parallel;
use crate::read::{self, Block, Fields, Form, Input, Line, Opened, agree, uses_all};
use crate::report::{Progress, Rejected, Stage, Summary};
use crate::write::Rejects;
use crossbeam_channel::{Receiver, RecvTimeoutError};
use simhash_corpus::{Checked, CorpusError};
use simhash_sketch::{Prepared, Scratch};
use simhash_store::Room;
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
    reading: Reading<'a>,
    pub(super) records: Records,
    threads: usize,
    pub(super) cancel: &'a AtomicBool,
    seen: Seen,
}

/// What threads share that read and parse.
pub(super) struct Reading<'a> {
    fields: &'a Fields,
    blocks: Receiver<Result<Option<Block>, CorpusError>>,
    consumed: Vec<Arc<AtomicU64>>,
    total_bytes: Option<u64>,
    cancel: &'a AtomicBool,
}

/// Where lines go, one thread at a time, in their order.
pub(super) struct Gathering<'r> {
    pub(super) records: &'r mut Records,
    pub(super) seen: &'r mut Seen,
}

/// A line on its way to a verdict.
pub(super) struct Slot<'b, P = Prepared> {
    pub(super) line: &'b Line,
    pub(super) parsed: Result<Parsed<'b, P>, String>,
}

/// A line that is a record, with what was made of its text.
pub(super) struct Parsed<'b, P = Prepared> {
    pub(super) text: Cow<'b, str>,
    pub(super) id: Option<Cow<'b, str>>,
    pub(super) key: Key,
    pub(super) prepared: P,
}

impl<'a> Intake<'a> {
    /// Opens the inputs, group by group, each of one format. Where a group has several, ids made from positions name their file.
    pub(super) fn open(
        groups: &[&[Input]],
        fields: &'a Fields,
        form: &Form,
        threads: usize,
        cancel: &'a AtomicBool,
    ) -> Result<Self, DedupError> {
        let records = Records::new(&Room::default(), std::env::temp_dir())?;
        Self::with(records, groups, fields, form, threads, cancel)
    }

    /// The same, with these records.
    pub(super) fn with(
        records: Records,
        groups: &[&[Input]],
        fields: &'a Fields,
        form: &Form,
        threads: usize,
        cancel: &'a AtomicBool,
    ) -> Result<Self, DedupError> {
        Self::of_some(records, groups, |_| {}, fields, form, threads, cancel)
    }

    /// The same; `sample` says of each input how much of it is read.
    pub(super) fn of_some(
        mut records: Records,
        groups: &[&[Input]],
        mut sample: impl FnMut(&mut Opened),
        fields: &'a Fields,
        form: &Form,
        threads: usize,
        cancel: &'a AtomicBool,
    ) -> Result<Self, DedupError> {
        form.check()?;
        let mut opened: Vec<Opened> = Vec::new();
        let mut consumed = Vec::new();
        let mut total_bytes = Some(0);
        let all = groups.iter().enumerate().flat_map(|(number, group)| {
            group.iter().map(move |input| (input, number, group.len() > 1))
        });
        for (input, group, named) in all {
            let mut input = input.open(fields, form)?;
            input.group = group;
            sample(&mut input);
            // What files do not say by their names is seen when they are read.
            if let Some(first) = opened.iter().find(|first| first.group == group) {
                agree((&first.name, &first.layout), (&input.name, &input.layout))?;
            }
            let bytes = input.origin.as_ref().map(|origin| origin.length());
            total_bytes = total_bytes.zip(bytes).map(|(sum, bytes)| sum + bytes);
            consumed.push(input.consumed.clone());
            records.add_input(&input, named)?;
            opened.push(input);
        }
        uses_all(&opened.iter().map(|input| (&*input.name, &*input.layout)))?;
        let readers = if threads == 0 { rayon::current_num_threads() } else { threads };
        let blocks = read::spawn(opened, QUEUE, readers);
        let seen = Seen::default();
        let reading = Reading { fields, blocks, consumed, total_bytes, cancel };
        Ok(Self { reading, records, threads, cancel, seen })
    }

    /// What reads, beside where it goes.
    pub(super) fn parts(&mut self) -> (&Reading<'a>, Gathering<'_>) {
        let Self { reading, records, seen, .. } = self;
        (reading, Gathering { records, seen })
    }

    /// The next block; `None` at the end, and behind a first one of which no record could be used.
    pub(super) fn next_block(&self) -> Result<Option<Block>, DedupError> {
        if self.seen.has_stopped() {
            return Ok(None);
        }
        self.reading.next_block()
    }

    /// Looks whether a block has a record that could be used: behind a first one that has none nothing is read.
    pub(super) fn look(&mut self, block: &Block, used: bool) {
        self.seen.goes_on(block, used);
    }

    /// Whether an input is a stream: who writes it may wait for what comes out.
    pub(super) fn is_live(&self) -> bool {
        self.records.is_live()
    }

    /// Parses every line of a block in parallel, and prepares its text.
    pub(super) fn parse<'b, P: Send>(
        &self,
        block: &'b Block,
        prepare: impl Fn(&str, &mut Scratch) -> P + Sync,
    ) -> Result<Vec<Slot<'b, P>>, DedupError> {
        let mut slots: Vec<Slot<'b, P>> =
            block.lines.iter().map(|line| Slot { line, parsed: Err(String::new()) }).collect();
        let (new, block) = (Scratch::default, block.checked());
        parallel::for_each(&mut slots, self.threads, self.cancel, new, |scratch, slot| {
            slot.parsed = parse_line(block, slot.line, &prepare, scratch);
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
        self.look(block, !accepted.is_empty());
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
        self.parts().1.count_rejected(summary, block, line, reason);
    }

    /// Why a run fails that rejected all of its records; `None` where it used one, or read none.
    pub(super) fn unusable(&self, summary: &Summary) -> Option<DedupError> {
        self.seen.error(summary, self.reading.fields)
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
        self.reading.progress(stage, documents, duplicates)
    }

    /// Bytes taken so far from the files and streams, compressed ones, by input.
    pub(super) fn consumed(&self) -> Vec<u64> {
        self.reading.consumed.iter().map(|bytes| bytes.load(Ordering::Relaxed)).collect()
    }

    pub(super) fn check_cancel(&self) -> Result<(), DedupError> {
        if self.cancel.load(Ordering::Relaxed) { Err(DedupError::Cancelled) } else { Ok(()) }
    }
}

impl Reading<'_> {
    /// The next block; `None` at the end.
    pub(super) fn next_block(&self) -> Result<Option<Block>, DedupError> {
        loop {
            parallel::check(self.cancel)?;
            match self.blocks.recv_timeout(POLL) {
                Ok(block) => return Ok(block?),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    let error = io::Error::other("the reading thread ended early");
                    return Err(DedupError::input(&PathBuf::from("inputs"), error));
                }
            }
        }
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
}

/// Parses a line of a block and prepares its text; or why it is no record.
pub(super) fn parse_line<'b, P>(
    block: Checked<'b>,
    line: &Line,
    prepare: &impl Fn(&str, &mut Scratch) -> P,
    scratch: &mut Scratch,
) -> Result<Parsed<'b, P>, String> {
    if let Some(reason) = &line.fault {
        return Err(reason.to_string());
    }
    let record = block.record(line)?;
    let prepared = prepare(&record.text, scratch);
    Ok(Parsed { text: record.text, id: record.id, key: record.key.into(), prepared })
}

impl Gathering<'_> {
    /// Counts a line that is no record.
    pub(super) fn count_rejected(
        &mut self,
        summary: &mut Summary,
        block: &Block,
        line: &Line,
        reason: &str,
    ) {
        self.seen.look(block, line);
        summary.reject(|| Rejected {
            file: self.records.name(block.input),
            line: line.number,
            reason: reason.to_owned(),
        });
    }
}
