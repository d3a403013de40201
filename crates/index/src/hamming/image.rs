//! The whole index as one stream of bytes: saved whole; opened whole, or mapped. In the frames of `simhash_store`:
//!
//! ```text
//! HEAD  recipe; name of the plan, radius, widths, tables and their blocks, distance of the index, window
//! RECS  first id u64  next id u64  a bit for each id that is alive, then for each of these that has no fingerprint, then for
//!       each whose fingerprint other ids hold too: words u64 …, filled up with zeros
//! TEXT  id u64  hash of its short text u128 …, in the order of ids; what has neither fingerprint nor text is empty
//! AGES  latest time u64  id u64 time u64 …, oldest first
//! TABS  count u64  ids u64 … whose fingerprints no table has;  count u64  fingerprints u64 … of the tables that no id holds;
//!       nothing, or directory bits u64 and entries u64 for each table
//! VALS  a fingerprint u64 for each id, 0 where it has none, of each 8,192 ids among which one has
//! TABL  a table as it lies in memory: directory, two u32 to a word, then the entries u64 …; one frame for each table
//! HOLD  for each entry of the first table the first id that holds it, counted from the first id of all, two u32 to a word;
//!       all ones: none does
//! COPY  place in the first table << 32 | id counted from the first u64 …, ascending, of all ids of each fingerprint with several
//! ```
//! The last four are [`simhash_store::Blocks`], each with its sums: when the file is mapped they stay where they are, see
//! [`base`](super::base). When it is read the tables are read straight to where they stay, the map from fingerprints to ids is
//! made anew in order, and everything is checked: each frame, every count and offset, that all tables hold the same, and that
//! the ids hold that. So damage is an error with its place and never a panic or a wrong answer.
//!
//! An index that is being changed is saved as it is at one moment, yet nobody waits for the tables: those sealed before
//! about that moment are written beside its records. What they lack enters a memtable when the file is opened; what they have
//! too much is dead until it is purged.
//!
//! The format fixes the bit permutation of `spread` and the table layout too. It is that of format 3, which no release has written
//! yet.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Receiver;

use simhash_store::{Fields, Input, Kind, Mapped, Output, Section};

use super::base::{Bits, Chunk, Holding, NOBODY, Numbers};
use super::{Hamming, Settings};
use crate::IndexError;
use crate::hamming::Index;
use crate::hamming::plan::Plan;
use crate::hamming::segment::Segment;
use crate::ids::Ids;
use crate::ids::records::{BITS, CHUNK};
use crate::live::saved::{ADVICE, Whole, ages, window};
use crate::live::{Ages, Kind as _, Shared, State};
use crate::memory::{Sparse, Words, prefetch};

/// Records and times of an index at one moment, shared with it until they change: the copy takes a pointer for each 8,192 ids,
/// 4,096 times and 8,192 ids with short texts.
#[derive(Debug)]
pub struct Copied {
    numbers: Numbers,
    texts: Sparse<u128>,
    ages: Ages,
}

/// [`Copied`], laid out as it is written.
#[derive(Debug)]
struct Laid {
    first: u64,
    count: usize,
    alive: Bits,
    other: Bits,
    /// The fingerprints of each chunk of ids that is in memory.
    values: Vec<Option<Vec<u64>>>,
    file: Option<Arc<Holding>>,
    texts: Fields,
    ages: Fields,
}

/// What is sealed into one segment, at about the moment of the call.
#[derive(Debug)]
pub struct Sealed(Receiver<Option<Segment>>);

/// About 62 bytes for each fingerprint with six tables (8.25 for each table, 8.4 for the record, 4 for its id), and 16 for each
/// time in an index with a window. What a snapshot shares with the index stays until it is written: tables that merges replace
/// meanwhile are then there twice. Finding the id of each entry takes 4 bytes and some 50 ns. Opening a file by reading takes
/// 100 to 200 ns for each document, most of it for the map of ids; mapped it takes what is not in blocks, and no map.
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
        let (numbers, texts) = state.kind.ids.copied();
        Copied { numbers, texts, ages: state.ages.clone() }
    }

    fn awaited(shared: &Arc<Shared<Self>>) -> Sealed {
        let sealed = shared.state.write().kind.tables.request();
        if shared.is_due() {
            shared.start();
        }
        Sealed(sealed)
    }

    /// The segment may be of another moment: what it lacks and what it has too much is written with it.
    fn write_frames(
        shared: &Arc<Shared<Self>>,
        copied: Copied,
        Sealed(sealed): Sealed,
        out: &mut Output<'_>,
        cancel: &AtomicBool,
    ) -> Result<(), IndexError> {
        let run = shared.wait(&sealed, cancel)?;
        let plan = &shared.options.plan;
        let copied = copied.laid();
        if let Some(run) = &run {
            run.check(plan.prefixes())?;
        }
        let values = copied.stored();
        Self::sound(&shared.options)?;
        let found = Found::of(run.as_ref(), plan, &copied, &values);
        let mut records = Fields::default();
        records.number(copied.first);
        records.number(copied.first + copied.count as u64);
        let bits = [&copied.alive, &copied.other, &found.shared];
        bits.iter().flat_map(|bits| &bits.0).for_each(|&word| records.number(word));
        out.frame(*b"RECS", &records.0)?;
        out.frame(*b"TEXT", &copied.texts.0)?;
        out.frame(*b"AGES", &copied.ages.0)?;
        let mut sizes = Fields::default();
        sizes.numbers(found.late.iter().copied());
        sizes.numbers(found.strays.iter().copied());
        let tables = run.iter().flat_map(Segment::tables);
        for (bits, length, _) in tables.clone() {
            sizes.number(u64::from(bits));
            sizes.number(length as u64);
        }
        out.frame(*b"TABS", &sizes.0)?;
        out.blocks(*b"VALS", values.iter().flatten().map(|values| &**values))?;
        for (_, _, words) in tables {
            out.blocks(*b"TABL", std::iter::once(words))?;
        }
        out.blocks(*b"HOLD", std::iter::once(&found.holders[..]))?;
        Ok(out.blocks(*b"COPY", std::iter::once(&found.copies[..]))?)
    }

    fn read_frames<R: Read>(options: Section, input: &mut Input<R>) -> Result<Index, IndexError> {
        super::whole::read(options, input)
    }

    fn map_frames(
        options: Section,
        input: &mut Input<BufReader<File>>,
        map: &Arc<Mapped>,
    ) -> Result<Index, IndexError> {
        super::whole::map(options, input, map)
    }
}

impl Copied {
    fn laid(&self) -> Laid {
        let ids = &self.numbers;
        let (first, next) = (ids.oldest(), ids.next());
        let count = (next - first) as usize;
        let (mut alive, mut other) = (Bits::default(), Bits::default());
        let mut values = Vec::with_capacity(count.div_ceil(CHUNK));
        for from in (first..next).step_by(CHUNK) {
            let length = CHUNK.min((next - from) as usize);
            let zeros = [0; BITS];
            let gone = Chunk { values: None, alive: &zeros, other: &zeros };
            let chunk = ids.chunk(from).unwrap_or(gone);
            let both = chunk.alive.iter().zip(chunk.other).take(length.div_ceil(64));
            alive.0.extend(both.clone().map(|(alive, _)| alive));
            other.0.extend(both.clone().map(|(alive, other)| alive & other));
            let some = both.clone().any(|(alive, other)| alive & !other != 0);
            let kept = chunk.values.filter(|_| some).map(|values| values[..length].to_vec());
            values.push(kept);
        }
        let mut texts = Fields::default();
        for id in other.ones().map(|own| first + own as u64) {
            if let Some(&text) = self.texts.get(id as u32) {
                texts.number(id);
                texts.number(text as u64);
                texts.number((text >> 64) as u64);
            }
        }
        let times = self.ages.entries(|id| ids.is_alive(id));
        let times = times.into_iter().map(|(id, at)| (ids.id(id), at));
        let ages = ages(self.ages.latest(), times);
        let file = ids.file().cloned();
        Laid { first, count, alive, other, values, file, texts, ages }
    }
}

impl Laid {
    /// The fingerprints of each chunk of ids, zero for each id without one; none where none has.
    fn stored(&self) -> Vec<Option<Cow<'_, [u64]>>> {
        (0..self.values.len()).map(|chunk| self.chunk(chunk)).collect()
    }

    fn chunk(&self, number: usize) -> Option<Cow<'_, [u64]>> {
        let (alive, other) = (self.alive.chunk(number), self.other.chunk(number));
        let held: Vec<u64> = alive.iter().zip(other).map(|(alive, other)| alive & !other).collect();
        if held.iter().all(|&word| word == 0) {
            return None;
        }
        let mut values = match (&self.values[number], &self.file) {
            (Some(values), _) => Cow::Borrowed(&values[..]),
            (None, Some(file)) => {
                let before = (self.first - file.first) as usize / CHUNK;
                Cow::Borrowed(file.chunk(before + number))
            }
            // A chunk with fingerprints is in memory or in the file.
            (None, None) => Cow::Borrowed(&[][..]),
        };
        for (at, &word) in held.iter().enumerate().filter(|&(_, &word)| word != u64::MAX) {
            for place in at * 64..(at * 64 + 64).min(values.len()) {
                if word >> (place % 64) & 1 == 0 && values[place] != 0 {
                    values.to_mut()[place] = 0;
                }
            }
        }
        Some(values)
    }
}

/// Who holds what of a segment.
struct Found {
    holders: Words,
    copies: Vec<u64>,
    shared: Bits,
    late: Vec<u64>,
    strays: Vec<u64>,
}

/// Fingerprints looked up together, their reads overlapping.
const TOGETHER: usize = 32;

impl Found {
    fn of(
        run: Option<&Segment>,
        plan: &Plan,
        copied: &Laid,
        values: &[Option<Cow<'_, [u64]>>],
    ) -> Self {
        let entries = run.map_or(&[][..], Segment::values);
        // Written at random: on huge pages.
        let mut holders = Words::zeroed(entries.len().div_ceil(2));
        holders.fill(u64::MAX);
        let shared = Bits::none(copied.count);
        let (copies, late, strays) = (Vec::new(), Vec::new(), Vec::new());
        let mut found = Self { holders, copies, shared, late, strays };
        let mut places: Vec<Option<usize>> = Vec::new();
        for (number, values) in values.iter().enumerate() {
            let Some(values) = values else { continue };
            let from = number * CHUNK;
            let own = (from..from + values.len())
                .filter(|&own| copied.alive.has(own) && !copied.other.has(own));
            let own: Vec<usize> = own.collect();
            for own in own.chunks(TOGETHER) {
                if let Some(run) = run {
                    for own in own {
                        run.ask(values[own - from], plan.prefixes());
                    }
                    for own in own {
                        run.ask_entries(values[own - from], plan.prefixes());
                    }
                }
                places.clear();
                places.extend(own.iter().map(|&own| {
                    let place = run?.position(values[own - from], plan.prefixes())?;
                    prefetch(&found.holders, place / 2);
                    Some(place)
                }));
                for (&own, place) in own.iter().zip(&places) {
                    match *place {
                        Some(place) => found.hold(place, own as u32),
                        None => found.late.push(copied.first + own as u64),
                    }
                }
            }
        }
        found.list_firsts();
        let places = (0..entries.len()).filter(|&place| found.first(place) == NOBODY);
        found.strays = places.map(|place| entries[place]).collect();
        found
    }

    fn first(&self, place: usize) -> u32 {
        (self.holders[place / 2] >> (place % 2 * 32)) as u32
    }

    /// Ids come in ascending order.
    fn hold(&mut self, place: usize, own: u32) {
        if self.first(place) == NOBODY {
            let shift = place % 2 * 32;
            let word = &mut self.holders[place / 2];
            *word = *word & !(u64::from(u32::MAX) << shift) | u64::from(own) << shift;
        } else {
            self.copies.push((place as u64) << 32 | u64::from(own));
        }
    }

    /// The first ids of those that have others after them.
    fn list_firsts(&mut self) {
        let mut places: Vec<usize> = self.copies.iter().map(|copy| (copy >> 32) as usize).collect();
        places.sort_unstable();
        places.dedup();
        for place in places {
            self.copies.push((place as u64) << 32 | u64::from(self.first(place)));
        }
        self.copies.sort_unstable();
        for &copy in &self.copies {
            self.shared.set(copy as u32 as usize);
        }
    }
}
