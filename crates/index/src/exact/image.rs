//! The whole index as one stream of bytes, in the frames of `simhash_store`.
//!
//! ```text
//! HEAD: recipe; window
//! RECS: the oldest and the next id; a byte for each id, 0 gone, 1 empty, 2 a text; the hashes of the texts u128
//! AGES: the latest time; id and time of each document, the oldest first
//! END!
//! ```
//! All numbers are little-endian and 64 bits but for the hashes. The map is made anew from the records.

use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use simhash_store::{Access, Fields, Input, Kind, Output, saved};

use super::{Equal, ExactIndex, ExactOptions};
use crate::IndexError;
use crate::ids::Ids;
use crate::live::saved::{ADVICE, ages, read_ages, read_ids, read_window, window};
use crate::live::{Asked, State};

const KIND: Kind = Kind { name: "exact", made: "the hashes of texts", advice: ADVICE };

/// An index as it was when [`ExactIndex::snapshot`] was called, on its way to a file.
#[derive(Debug)]
pub struct ExactSnapshot(Asked<Option<(Fields, Fields)>>);

impl ExactIndex {
    /// The index as it is now, for [`ExactIndex::write`]: what is added or deleted after this call is not in it. O(1): before
    /// the next change it is copied, by the thread of that change or by the one that writes, whichever comes first; some 10 ns
    /// and 17 bytes for each document, 16 more with a window.
    pub fn snapshot(&self) -> ExactSnapshot {
        let shared = Arc::downgrade(&self.shared);
        let copy = move || Some(copied(&shared.upgrade()?.state.read()));
        ExactSnapshot(self.shared.turns.ask(copy))
    }

    /// Writes a snapshot of this index. `recipe` is what made hashes of texts, in words.
    ///
    /// # Errors
    /// [`FileError::Write`](simhash_store::FileError::Write).
    pub fn write(
        &self,
        snapshot: ExactSnapshot,
        out: &mut dyn Write,
        recipe: &str,
    ) -> Result<(), IndexError> {
        let made = snapshot.0.made(&self.shared.turns).flatten();
        let (records, times) = made.ok_or(IndexError::Copy)?;
        let mut options = Fields::default();
        window(self.window(), &mut options);
        let mut out = Output::begin(out, KIND, recipe, &options)?;
        out.frame(*b"RECS", &records.0)?;
        out.frame(*b"AGES", &times.0)?;
        Ok(out.end()?)
    }

    /// Writes a snapshot of this index to a file, whole or not at all.
    ///
    /// # Errors
    /// As [`ExactIndex::write`]; [`IndexError::Cancelled`] when the flag is raised.
    pub fn write_file(
        &self,
        snapshot: ExactSnapshot,
        path: &Path,
        recipe: &str,
        cancel: &AtomicBool,
    ) -> Result<(), IndexError> {
        let write = |out: &mut dyn Write| self.write(snapshot, out, recipe);
        let saved = saved::save(path, Access::Usual, cancel, write);
        saved.map_err(|error| error.in_file(path))
    }

    /// Reads what [`ExactIndex::write`] wrote, whatever its recipe.
    ///
    /// # Errors
    /// Those of [`Input::head`]; damage comes with the byte where it was noticed.
    pub fn open(input: &mut dyn Read) -> Result<Self, IndexError> {
        Self::read(Input::new(input, None), None)
    }

    /// Reads the file that [`ExactIndex::write_file`] wrote with this recipe.
    ///
    /// # Errors
    /// As [`ExactIndex::open`]; [`IndexError::Cancelled`] when the flag is raised.
    pub fn open_file(path: &Path, recipe: &str, cancel: &AtomicBool) -> Result<Self, IndexError> {
        let opened = saved::open(path, cancel, |input, length| {
            Self::read(Input::new(input, length), Some(recipe))
        });
        opened.map_err(|error| error.in_file(path))
    }

    fn read<R: Read>(mut input: Input<R>, recipe: Option<&str>) -> Result<Self, IndexError> {
        let mut fields = input.head(KIND, recipe)?;
        let options = ExactOptions { window: read_window(&mut fields)? };
        fields.end()?;
        let mut records = input.frame(*b"RECS")?;
        let (first, count) = read_ids(&mut records)?;
        let kinds = records.bytes(count)?.to_vec();
        let mut state =
            Self::empty(&options, first).map_err(|error| records.damaged(error.to_string()))?;
        for kind in kinds {
            match kind {
                0 => state.kind.push_gone(),
                1 => drop(state.kind.push(None)),
                2 => {
                    let (low, high) = (records.number()?, records.number()?);
                    state.kind.push(Some(u128::from(high) << 64 | u128::from(low)));
                }
                other => return Err(records.damaged(format!("an item of kind {other}")).into()),
            }
        }
        records.end()?;
        state.ages = read_ages(input.frame(*b"AGES")?, |id| state.has(id))?;
        input.end()?;
        Ok(Self::around(options, state))
    }
}

/// Records and times.
fn copied(state: &State<Equal>) -> (Fields, Fields) {
    let (kind, ids) = (&state.kind, state.kind.ids());
    let (first, next) = (ids.oldest(), ids.next());
    let mut records = Fields::default();
    records.number(first);
    records.number(next);
    let held =
        |id: u64| ids.short(id).filter(|&short| ids.is_alive(short)).map(|short| kind.text(short));
    for id in first..next {
        records.0.push(match held(id) {
            None => 0,
            Some(None) => 1,
            Some(Some(_)) => 2,
        });
    }
    for text in (first..next).filter_map(|id| held(id).flatten()) {
        records.number(text as u64);
        records.number((text >> 64) as u64);
    }
    let times = state.ages.entries(|short| ids.is_alive(short));
    let times = times.into_iter().map(|(short, at)| (ids.id(short), at));
    (records, ages(state.ages.latest(), times))
}
