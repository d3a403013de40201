//! The whole index as one stream of bytes: saved whole, opened whole. In the frames of `simhash_store`:
//!
//! ```text
//! HEAD  recipe; name of the plan, radius, widths, tables and their blocks, distance of the index, window
//! RECS  first id u64  next id u64  a byte for each id: 0 gone, 1 empty, 2 short text, 3 fingerprint
//!       the fingerprints u64 …
//! TEXT  hashes of the short texts u128 …
//! AGES  latest time u64  id u64 time u64 …, oldest first
//! TABS  nothing, or directory bits u64 and entries u64 for each table, then the tables one after the other
//! KEPT  nothing, or what somebody else keeps with the index
//! END!
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

use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use simhash_store::{Access, Fields, FileError, Input, Kind, Output, Section, saved};

use crate::IndexError;
use crate::hamming::plan::Plan;
use crate::hamming::segment::{self, Segment};
use crate::hamming::{Index, Item, Parts};
use crate::ids::Ids;
use crate::live::saved::{ADVICE, ages, read_ages, read_ids, read_window, window};
use crate::memory::Words;

const KIND: Kind = Kind { name: "simhash", made: "fingerprinter", advice: ADVICE };

/// An index at one moment, to be written while the index goes on.
#[derive(Debug)]
pub struct Snapshot {
    options: Fields,
    records: Fields,
    texts: Fields,
    ages: Fields,
    run: Option<Segment>,
}

impl Index {
    /// Writes the whole index as it is at the call, see [`Index::snapshot`], without a recipe; additions and searches go
    /// on. About 58 bytes for each fingerprint with six tables (8.2 for each table, 8 and 1 for the record), and 16 for
    /// each time in an index with a window. Beside the index itself it takes the memory of the copied records and times,
    /// and that of tables which merges replace meanwhile.
    ///
    /// # Errors
    /// [`FileError::Write`]; [`IndexError::Merge`] if merging has failed before.
    pub fn save(&self, out: &mut dyn Write) -> Result<(), IndexError> {
        let (snapshot, ()) = self.snapshot(|_| ()).made(&AtomicBool::new(false))?;
        snapshot.write(out, "", &[])
    }

    /// Reads an index that [`Index::save`] or [`Snapshot::write`] wrote, whatever its recipe: 100 to 200 ns for each
    /// document, most of it for the map of ids. Takes the memory of the index, and 9 bytes for each document until its
    /// records are read.
    ///
    /// # Errors
    /// Those of [`Index::open_with`]; [`FileError::Mismatch`] where something is kept with it.
    pub fn open(input: &mut dyn Read) -> Result<Self, IndexError> {
        Self::alone(Self::open_with(Input::new(input, None), None)?)
    }

    /// Reads the file that [`Snapshot::write_file`] wrote with this recipe.
    ///
    /// # Errors
    /// As [`Index::open`]; [`IndexError::Cancelled`] when the flag is raised.
    pub fn open_file(path: &Path, recipe: &str, cancel: &AtomicBool) -> Result<Self, IndexError> {
        let opened = saved::open(path, cancel, |input, length| {
            Self::alone(Self::open_with(Input::new(input, length), Some(recipe))?)
        });
        opened.map_err(|error: IndexError| error.in_file(path))
    }

    fn alone((index, kept): (Self, Section)) -> Result<Self, IndexError> {
        if kept.is_empty() {
            return Ok(index);
        }
        Err(FileError::mismatch("keys or texts", "some", "none").into())
    }

    /// Reads an index and what is kept with it. `recipe` is what it must have been written with; `None` takes any.
    ///
    /// # Errors
    /// Those of [`Input::head`]; damage comes with the byte where it was noticed.
    pub fn open_with<R: Read>(
        mut input: Input<R>,
        recipe: Option<&str>,
    ) -> Result<(Self, Section), IndexError> {
        let options = input.head(KIND, recipe)?;
        let index = read(options, &mut input)?;
        let kept = input.frame(*b"KEPT")?;
        input.end()?;
        Ok((index, kept))
    }
}

impl Snapshot {
    /// Without a run yet: see [`Snapshot::with`].
    pub(crate) fn of(parts: &Parts<'_>) -> Self {
        let mut options = Fields::default();
        options.text(parts.plan.name());
        options.number(u64::from(parts.plan.radius()));
        options.numbers(parts.plan.widths().iter().map(|&width| u64::from(width)));
        options.number(parts.plan.prefixes().len() as u64);
        for prefix in parts.plan.prefixes() {
            options.numbers(prefix.blocks().iter().map(|&block| u64::from(block)));
        }
        options.number(u64::from(parts.max_distance));
        window(parts.window, &mut options);

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

        let times = parts.ages.entries(|id| parts.ids.ids().is_alive(id));
        let times = times.into_iter().map(|(id, at)| (parts.ids.ids().id(id), at));
        let ages = ages(parts.ages.latest(), times);
        Self { options, records, texts, ages, run: None }
    }

    /// `run` may be of another moment: what it lacks is found in the records when it is read, and what it has too much.
    pub(crate) fn with(self, run: Option<Segment>) -> Self {
        Self { run, ..self }
    }

    /// Writes it, to be read by [`Index::open_with`]. Nothing waits for it. `recipe` is what made fingerprints of texts, in
    /// words; `kept` is what somebody keeps with the index.
    ///
    /// # Errors
    /// [`FileError::Write`].
    pub fn write(&self, out: &mut dyn Write, recipe: &str, kept: &[u8]) -> Result<(), IndexError> {
        let mut out = Output::begin(out, KIND, recipe, &self.options)?;
        out.frame(*b"RECS", &self.records.0)?;
        out.frame(*b"TEXT", &self.texts.0)?;
        out.frame(*b"AGES", &self.ages.0)?;
        let mut sizes = Fields::default();
        let tables = self.run.iter().flat_map(Segment::tables);
        for (bits, length, _) in tables.clone() {
            sizes.number(u64::from(bits));
            sizes.number(length as u64);
        }
        out.words(*b"TABS", &sizes.0, tables.map(|(_, _, words)| words))?;
        out.frame(*b"KEPT", kept)?;
        Ok(out.end()?)
    }

    /// Writes it to a file, whole or not at all. `access` is that of a file which is new.
    ///
    /// # Errors
    /// [`FileError::Write`]; [`IndexError::Cancelled`] when the flag is raised.
    pub fn write_file(
        &self,
        (path, access): (&Path, Access),
        recipe: &str,
        kept: &[u8],
        cancel: &AtomicBool,
    ) -> Result<(), IndexError> {
        let saved = saved::save(path, access, cancel, |out| self.write(out, recipe, kept));
        saved.map_err(|error| error.in_file(path))
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
