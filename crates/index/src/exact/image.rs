//! The whole index as one stream of bytes, in the frames of `simhash_store`.
//!
//! ```text
//! HEAD: recipe; window
//! RECS: the oldest and the next id; a byte for each id, 0 gone, 1 empty, 2 a text; the hashes of the texts u128
//! AGES: the latest time; id and time of each document, the oldest first
//! ```
//! All numbers are little-endian and 64 bits but for the hashes. The map is made anew from the records.

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use simhash_store::{Fields, Input, Kind, Output, Section};

use super::{Equal, ExactIndex, ExactOptions, texts};
use crate::IndexError;
use crate::ids::Ids;
use crate::ids::records::Pairs;
use crate::live::saved::{ADVICE, Whole, ages, read_ages, read_ids, read_window, window};
use crate::live::{Ages, Shared, State};

/// Records and times of an index at one moment, shared with it until they change.
#[derive(Debug)]
pub struct Copied {
    ids: Pairs,
    ages: Ages,
}

/// The copy shares records and times with the index until they change: it takes a pointer for each 8,192 ids and 4,096 times.
impl Whole for Equal {
    const FILE: Kind = Kind { name: "exact", made: "the hashes of texts", advice: ADVICE };
    type Copy = Copied;
    type Awaited = ();

    fn written(options: &ExactOptions) -> Fields {
        let mut fields = Fields::default();
        window(options.window, &mut fields);
        fields
    }

    fn copied(_: &ExactOptions, state: &State<Self>) -> Copied {
        Copied { ids: state.kind.ids().clone(), ages: state.ages.clone() }
    }

    fn awaited(_: &Arc<Shared<Self>>) {}

    fn write_frames(
        _: &Arc<Shared<Self>>,
        copied: Copied,
        (): (),
        out: &mut Output<'_>,
        _: &AtomicBool,
    ) -> Result<(), IndexError> {
        let (records, times) = copied.laid();
        out.frame(*b"RECS", &records.0)?;
        Ok(out.frame(*b"AGES", &times.0)?)
    }

    fn read_frames<R: Read>(
        mut fields: Section,
        input: &mut Input<R>,
    ) -> Result<ExactIndex, IndexError> {
        let options = ExactOptions { window: read_window(&mut fields)? };
        fields.end()?;
        let mut records = input.frame(*b"RECS")?;
        let (first, count) = read_ids(&mut records)?;
        let kinds = records.bytes(count)?.to_vec();
        let mut state = ExactIndex::empty(&options, first)
            .map_err(|error| records.damaged(error.to_string()))?;
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
        Ok(ExactIndex::around(options, state))
    }
}

impl Copied {
    /// As they are written.
    fn laid(&self) -> (Fields, Fields) {
        let Self { ids, ages: times } = self;
        let (first, next) = (ids.oldest(), ids.next());
        let mut records = Fields::default();
        records.number(first);
        records.number(next);
        let held = |id: u64| {
            ids.short(id).filter(|&short| ids.is_alive(short)).map(|short| texts::held(ids, short))
        };
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
        let each = times.entries(|short| ids.is_alive(short));
        let each = each.into_iter().map(|(short, at)| (ids.id(short), at));
        (records, ages(times.latest(), each))
    }
}
