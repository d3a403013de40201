//! The whole index as one stream of bytes: saved whole, opened whole. In the frames of `simhash_store`:
//!
//! ```text
//! HEAD  recipe; name of the plan, radius, widths, tables and their blocks, distance of the index, window
//! RECS  first id u64  next id u64  a byte for each id: 0 gone, 1 empty, 2 short text, 3 fingerprint
//!       the fingerprints u64 …
//! TEXT  hashes of the short texts u128 …
//! AGES  latest time u64  id u64 time u64 …, oldest first
//! TABS  nothing, or directory bits u64 and entries u64 for each table, then the tables one after the other
//! ```
//! The tables are written as they lie in memory; the map from fingerprints to ids is made anew from the records, in
//! order, so that it needs no place in the file and no trust. Everything else is checked when it is opened: the checksum
//! of each frame, every count and offset, so that damage is an error with its place and never a panic or a wrong
//! answer. Tables are read straight to where they stay.
//!
//! An index that is being changed is saved as it is at one moment, yet nobody waits for the tables: those sealed before
//! about that moment are written beside its records. What they lack enters a memtable when the file is opened; what they have
//! too much is taken out of them then.
//!
//! The format fixes the bit permutation of `spread` and the table layout too.

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Receiver;

use simhash_store::{Fields, FileError, Input, Kind, Output, Section};

use super::{Hamming, Settings};
use crate::IndexError;
use crate::hamming::plan::Plan;
use crate::hamming::segment::{self, Segment};
use crate::hamming::{Index, Item};
use crate::ids::Ids;
use crate::live::saved::{ADVICE, Whole, ages, read_ages, read_ids, read_window, window};
use crate::live::{Shared, State};
use crate::memory::Words;

/// Records and times of an index at one moment. The copy takes 9 bytes for each document, 16 more where times are kept.
#[derive(Debug)]
pub struct Copied {
    records: Fields,
    texts: Fields,
    ages: Fields,
}

/// What is sealed into one segment, at about the moment of the call.
#[derive(Debug)]
pub struct Sealed(Receiver<Option<Segment>>);

/// About 58 bytes for each fingerprint with six tables (8.2 for each table, 8 and 1 for the record), and 16 for each time in
/// an index with a window. What a snapshot shares with the index stays until it is written: tables that merges replace
/// meanwhile are then there twice. Opening takes 100 to 200 ns for each document, most of it for the map of ids.
impl Whole for Hamming {
    const FILE: Kind = Kind { name: "simhash", made: "fingerprinter", advice: ADVICE };
    type Copy = Copied;
    type Awaited = Sealed;

    fn written(options: &Settings) -> Fields {
        let (mut fields, plan) = (Fields::default(), &options.plan);
        fields.text(plan.name());
        fields.number(u64::from(plan.radius()));
        fields.numbers(plan.widths().iter().map(|&width| u64::from(width)));
        fields.number(plan.prefixes().len() as u64);
        for prefix in plan.prefixes() {
            fields.numbers(prefix.blocks().iter().map(|&block| u64::from(block)));
        }
        fields.number(u64::from(options.max_distance));
        window(options.window, &mut fields);
        fields
    }

    fn copied(_: &Settings, state: &State<Self>) -> Copied {
        // An item per id from the oldest on: its kind, and for a fingerprint its value.
        let ids = &state.kind.ids;
        let (first, next) = (ids.ids().oldest(), ids.ids().next());
        let mut records = Fields(Vec::with_capacity(16 + (next - first) as usize * 9));
        records.number(first);
        records.number(next);
        let mut texts = Fields::default();
        for id in first..next {
            records.0.push(match ids.item(id) {
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
            if let Some(Item::Fingerprint(value)) = ids.item(id) {
                records.number(value);
            }
        }
        let times = state.ages.entries(|id| ids.ids().is_alive(id));
        let times = times.into_iter().map(|(id, at)| (ids.ids().id(id), at));
        let ages = ages(state.ages.latest(), times);
        Copied { records, texts, ages }
    }

    fn awaited(shared: &Arc<Shared<Self>>) -> Sealed {
        let sealed = shared.state.write().kind.tables.request();
        if shared.is_due() {
            shared.start();
        }
        Sealed(sealed)
    }

    /// The segment may be of another moment: what it lacks is found in the records when it is read, and what it has too much.
    fn write_frames(
        shared: &Arc<Shared<Self>>,
        copied: Copied,
        Sealed(sealed): Sealed,
        out: &mut Output<'_>,
        cancel: &AtomicBool,
    ) -> Result<(), IndexError> {
        let run = shared.wait(&sealed, cancel)?;
        out.frame(*b"RECS", &copied.records.0)?;
        out.frame(*b"TEXT", &copied.texts.0)?;
        out.frame(*b"AGES", &copied.ages.0)?;
        let mut sizes = Fields::default();
        let tables = run.iter().flat_map(Segment::tables);
        for (bits, length, _) in tables.clone() {
            sizes.number(u64::from(bits));
            sizes.number(length as u64);
        }
        Ok(out.words(*b"TABS", &sizes.0, tables.map(|(_, _, words)| words))?)
    }

    fn read_frames<R: Read>(options: Section, input: &mut Input<R>) -> Result<Index, IndexError> {
        read(options, input)
    }
}

fn read<R: Read>(mut options: Section, input: &mut Input<R>) -> Result<Index, IndexError> {
    let name = options.text()?.to_owned();
    let radius = options.small()?;
    let widths = options.smalls()?;
    let mut tables = Vec::new();
    for _ in 0..options.small()? {
        tables.push(options.smalls()?.into_iter().map(|block| block as u8).collect());
    }
    let plan = Plan::known_or_new(&name, radius, &widths, &tables);
    let plan = Arc::new(plan.map_err(|error| options.damaged(error.to_string()))?);
    let max_distance = options.small()?;
    let window = read_window(&mut options)?;
    options.end()?;

    let mut records = input.frame(*b"RECS")?;
    let (first, count) = read_ids(&mut records)?;
    let kinds = records.bytes(count)?.to_vec();
    let mut texts = input.frame(*b"TEXT")?;
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
            other => return Err(records.damaged(format!("an item of kind {other}")).into()),
        };
        index.restore(item);
    }
    records.end()?;
    texts.end()?;

    let ages = read_ages(input.frame(*b"AGES")?, |id| index.has(id))?;

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
            let count = (segment::directory_words(bits) as u64).saturating_add(length);
            tables.has_words(count)?;
            let words = Words::try_zeroed(count as usize);
            let mut words =
                words.ok_or_else(|| tables.damaged(format!("no memory for {count} words")))?;
            tables.words(&mut words)?;
            saved.push((bits, length as usize, words));
        }
    }
    let start = tables.end()?;
    let run = if saved.is_empty() { None } else { Some(Segment::restored(&plan, saved)) };
    let unsound = || FileError::damaged(start, "tables that contradict themselves");
    let run = run.map(|run| run.ok_or_else(unsound)).transpose()?;
    index.finish(run, ages);
    Ok(index)
}
