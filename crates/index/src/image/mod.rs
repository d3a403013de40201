//! The whole index as one stream of bytes: saved whole, opened whole.
//!
//! ```text
//! "SIMHIDX\n"  version u32  0 u32
//! section: name [4]  0 u32  length u64  bytes …  XXH3-64 of name, length and bytes u64
//! sections, in this order: PLAN  RECS  TEXT  AGES  TABS  END!
//! ```
//! All numbers are little-endian. Sections are bytes of one part after the other:
//!
//! ```text
//! PLAN  name, radius, widths, tables and their blocks, distance of the index, window
//! RECS  first id u64  next id u64  a byte for each id: 0 gone, 1 empty, 2 short text, 3 fingerprint
//!       the fingerprints u64 …
//! TEXT  hashes of the short texts u128 …
//! AGES  latest time u64  id u64 time u64 …, oldest first
//! TABS  nothing, or directory bits u64 and entries u64 for each table, then the tables one after the other
//! ```
//! The tables are written as they lie in memory; the map from fingerprints to ids is made anew from the records, in
//! order, so that it needs no place in the file and no trust. Everything else is checked when it is opened: the checksum
//! of each section, every count and offset, so that damage is an error with its place and never a panic or a wrong
//! answer. Tables are read straight to where they stay.
//!
//! An index that is being changed is saved as it is at one moment, yet nobody waits for the tables: those sealed before
//! about that moment are written beside its records. What they lack enters a front when the file is opened; what they have
//! too much is taken out of them then.
//!
//! Version 1 fixes the bit permutation of `spread` and the table layout.

pub(crate) mod frame;

use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use self::frame::{Fields, Input, Output};
use crate::IndexError;
use crate::hamming::{Index, Item, Parts};
use crate::ids::Ids;
use crate::live::{Ages, Live, Window};
use crate::plan::Plan;
use crate::run::{self, Run};

const MAGIC: [u8; 8] = *b"SIMHIDX\n";
const VERSION: u32 = 1;

/// An index at one moment, to be written while the index goes on.
#[derive(Debug)]
pub struct Snapshot {
    plan: Vec<u8>,
    records: Vec<u8>,
    texts: Vec<u8>,
    ages: Vec<u8>,
    run: Option<Run>,
}

impl Live<crate::hamming::Hamming> {
    /// Writes the whole index as it is at the call, see [`Index::snapshot`]; additions and searches go on. About 58
    /// bytes for each fingerprint with six tables (8.2 for each table, 8 and 1 for the record), and 16 for each time in
    /// an index with a window. Beside the index itself it takes the memory of the copied records and times, and that of
    /// tables which merges replace meanwhile.
    ///
    /// # Errors
    /// [`IndexError::Io`]; [`IndexError::Merge`] if merging has failed before.
    pub fn save(&self, out: &mut dyn Write) -> Result<(), IndexError> {
        let (snapshot, ()) = self.snapshot(|_| ()).made(&AtomicBool::new(false))?;
        snapshot.write(out)
    }

    /// Reads an index that [`Index::save`] wrote: 100 to 200 ns for each document, most of it for the map of ids. Takes
    /// the memory of the index, and 9 bytes for each document until its records are read.
    ///
    /// # Errors
    /// [`IndexError::Io`], and [`IndexError::Damaged`] with the byte where the damage was noticed.
    pub fn open(input: &mut dyn Read) -> Result<Self, IndexError> {
        read(input)
    }
}

impl Snapshot {
    /// Without a run yet: see [`Snapshot::with`].
    pub(crate) fn of(parts: &Parts<'_>) -> Self {
        let window = parts.window.unwrap_or_default();
        let mut plan = Fields::default();
        plan.text(parts.plan.name());
        plan.number(u64::from(parts.plan.radius()));
        plan.numbers(parts.plan.widths().iter().map(|&width| u64::from(width)));
        plan.number(parts.plan.prefixes().len() as u64);
        for prefix in parts.plan.prefixes() {
            plan.numbers(prefix.blocks().iter().map(|&block| u64::from(block)));
        }
        plan.number(u64::from(parts.max_distance));
        plan.number(u64::from(parts.window.is_some()));
        plan.number(window.max_age.unwrap_or(0));
        plan.number(window.max_count.unwrap_or(0));

        // An item per id from the oldest on: its kind, and for a fingerprint its value.
        let (first, next) = (parts.ids.ids().oldest(), parts.ids.ids().next());
        let mut records = Fields(Vec::with_capacity(16 + (next - first) as usize * 9));
        records.number(first);
        records.number(next);
        let mut texts = Fields::default();
        for id in first..next {
            records.0.push(match parts.ids.item(id) {
                None => 0u8,
                Some(Item::Empty) => 1,
                Some(Item::Exact(text)) => {
                    texts.number(text as u64);
                    texts.number((text >> 64) as u64);
                    2
                }
                Some(Item::Fingerprint(_)) => 3,
            });
        }
        for id in first..next {
            if let Some(Item::Fingerprint(value)) = parts.ids.item(id) {
                records.number(value);
            }
        }

        let mut ages = Fields::default();
        ages.number(parts.ages.latest());
        for (id, at) in parts.ages.entries(|id| parts.ids.ids().is_alive(id)) {
            ages.number(parts.ids.ids().id(id));
            ages.number(at);
        }
        Self { plan: plan.0, records: records.0, texts: texts.0, ages: ages.0, run: None }
    }

    /// `run` may be of another moment: what it lacks is found in the records when it is read, and what it has too much.
    pub(crate) fn with(self, run: Option<Run>) -> Self {
        Self { run, ..self }
    }

    /// Writes it, to be read by [`Index::open`]. Nothing waits for it.
    ///
    /// # Errors
    /// [`IndexError::Io`].
    pub fn write(&self, out: &mut dyn Write) -> Result<(), IndexError> {
        let mut out = Output::new(out, MAGIC, VERSION)?;
        out.section(*b"PLAN", [self.plan.as_slice()])?;
        out.section(*b"RECS", [self.records.as_slice()])?;
        out.section(*b"TEXT", [self.texts.as_slice()])?;
        out.section(*b"AGES", [self.ages.as_slice()])?;
        let mut sizes = Fields::default();
        let tables = self.run.iter().flat_map(Run::tables);
        for (bits, length, _) in tables.clone() {
            sizes.number(u64::from(bits));
            sizes.number(length as u64);
        }
        out.words(*b"TABS", &sizes.0, tables.map(|(_, _, words)| words))?;
        out.section(*b"END!", [])
    }
}

fn read(input: &mut dyn Read) -> Result<Index, IndexError> {
    let mut input = Input::new(input, MAGIC, VERSION)?;
    let mut fields = input.section(*b"PLAN")?;
    let name = fields.text()?;
    let radius = fields.small()?;
    let widths = fields.smalls()?;
    let mut tables = Vec::new();
    for _ in 0..fields.small()? {
        tables.push(fields.smalls()?.into_iter().map(|block| block as u8).collect());
    }
    let plan = Plan::known_or_new(&name, radius, &widths, &tables);
    let plan = Arc::new(plan.map_err(|error| fields.damaged(error.to_string()))?);
    let max_distance = fields.small()?;
    let (has_window, age, count) = (fields.number()?, fields.number()?, fields.number()?);
    let limit = |limit: u64| (limit > 0).then_some(limit);
    let window = (has_window > 0).then(|| Window { max_age: limit(age), max_count: limit(count) });
    fields.end()?;

    let mut records = input.section(*b"RECS")?;
    let (first, next) = (records.number()?, records.number()?);
    let count = next.checked_sub(first).filter(|&count| count < u64::from(u32::MAX));
    let count = count.ok_or_else(|| records.damaged(format!("ids from {first} to {next}")))?;
    let kinds = records.bytes(count)?.to_vec();
    let mut texts = input.section(*b"TEXT")?;
    let mut index = Index::restored(Arc::clone(&plan), max_distance, window, first)
        .map_err(|error| texts.damaged(error.to_string()))?;
    for kind in kinds {
        let item = match kind {
            0 => None,
            1 => Some(Item::Empty),
            2 => {
                let (low, high) = (texts.number()?, texts.number()?);
                Some(Item::Exact(u128::from(high) << 64 | u128::from(low)))
            }
            3 => Some(Item::Fingerprint(records.number()?)),
            other => return Err(records.damaged(format!("an item of kind {other}"))),
        };
        index.restore(item);
    }
    records.end()?;
    texts.end()?;

    let mut entries = input.section(*b"AGES")?;
    let mut ages = Ages::default();
    ages.advance(entries.number()?);
    let latest = ages.latest();
    while !entries.is_empty() {
        let (id, at) = (entries.number()?, entries.number()?);
        if !index.has(id) || at > latest {
            return Err(entries.damaged(format!("time {at} of id {id}")));
        }
        ages.restore(id as u32, at);
    }

    let mut tables = input.stream(*b"TABS")?;
    let mut saved = Vec::new();
    if !tables.is_empty() {
        let mut sizes = Vec::new();
        for _ in plan.prefixes() {
            sizes.push((tables.number()?, tables.number()?));
        }
        for (bits, length) in sizes {
            let bits = u32::try_from(bits).ok().filter(|bits| (1..32).contains(bits));
            let bits = bits.ok_or_else(|| tables.damaged(format!("a table of {length}")))?;
            let directory = run::directory_words(bits) as u64;
            saved.push((bits, length as usize, tables.words(directory.saturating_add(length))?));
        }
    }
    let start = tables.end()?;
    let run = if saved.is_empty() { None } else { Some(Run::restored(&plan, saved)) };
    let unsound = || IndexError::Damaged {
        offset: start,
        reason: "tables that contradict themselves".to_owned(),
    };
    let run = run.map(|run| run.ok_or_else(unsound)).transpose()?;
    input.section(*b"END!")?.end()?;
    input.end()?;
    index.finish(run, ages);
    Ok(index)
}
