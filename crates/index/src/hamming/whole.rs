//! An index put together again from what was saved: read, or mapped. See [`image`](super::image) for the frames.

use std::io::{Read, Seek};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use parking_lot::Mutex;
use simhash_store::{FileError, Input, Mapped, Section};

use super::base::{Bits, Holding, Numbers, places};
use super::{Documents, Hamming, Index, Item};
use crate::IndexError;
use crate::hamming::plan::Plan;
use crate::hamming::segment::{self, Segment};
use crate::hamming::tables::Tables;
use crate::ids::records::CHUNK;
use crate::ids::{mix, seed};
use crate::live::saved::{read_ages, read_ids, read_window};
use crate::live::{Ages, Live, Window};
use crate::memory::Words;

/// What is read in any case.
struct Parts {
    plan: Arc<Plan>,
    max_distance: u32,
    window: Option<Window>,
    first: u64,
    count: usize,
    alive: Bits,
    other: Bits,
    shared: Bits,
    places: Vec<Option<u32>>,
    /// Id and text, ascending.
    texts: Vec<(u64, u128)>,
    ages: Ages,
    late: Vec<u64>,
    strays: Vec<u64>,
    /// Directory bits and entries of each table.
    sizes: Vec<(u32, u64)>,
    /// Where the last of it ends.
    end: u64,
}

impl Parts {
    fn read<R: Read>(mut options: Section, input: &mut Input<R>) -> Result<Self, IndexError> {
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
        super::checked_distance(max_distance)
            .map_err(|error| options.damaged(error.to_string()))?;
        let window = read_window(&mut options)?;
        let checked = window.unwrap_or_default().check();
        checked.map_err(|error| options.damaged(error.to_string()))?;
        options.end()?;

        let mut records = input.frame(*b"RECS")?;
        let (first, count) = read_ids(&mut records)?;
        let count = count as usize;
        let mut bits = || -> Result<Bits, FileError> {
            let words = records.bytes(count.div_ceil(64) as u64 * 8)?.as_chunks().0;
            Ok(Bits(words.iter().copied().map(u64::from_le_bytes).collect()))
        };
        let (alive, other, shared) = (bits()?, bits()?, bits()?);
        let last = if count.is_multiple_of(64) { 0 } else { u64::MAX << (count % 64) };
        let within = |few: &Bits, all: &dyn Fn(usize) -> u64| {
            few.0.iter().enumerate().all(|(at, word)| word & !all(at) == 0)
        };
        let none_behind = alive.0.last().is_none_or(|word| word & last == 0);
        let held = |at: usize| alive.0[at] & !other.0[at];
        if !none_behind || !within(&other, &|at| alive.0[at]) || !within(&shared, &held) {
            return Err(records.damaged("ids that are not alive").into());
        }
        records.end()?;
        let own =
            |id: u64| id.checked_sub(first).map(|own| own as usize).filter(|&own| own < count);

        let mut frame = input.frame(*b"TEXT")?;
        let mut texts: Vec<(u64, u128)> = Vec::new();
        while !frame.is_empty() {
            let (id, low, high) = (frame.number()?, frame.number()?, frame.number()?);
            let after = texts.last().is_none_or(|&(last, _)| last < id);
            if !after || !own(id).is_some_and(|own| other.has(own)) {
                return Err(frame.damaged(format!("a text of id {id}")).into());
            }
            texts.push((id, u128::from(high) << 64 | u128::from(low)));
        }

        let lives = |id: u64| own(id).is_some_and(|own| alive.has(own));
        let ages = read_ages(input.frame(*b"AGES")?, lives)?;

        let mut frame = input.frame(*b"TABS")?;
        let (late, strays) = (frame.numbers()?, frame.numbers()?);
        let holds = |&id: &u64| own(id).is_some_and(|own| alive.has(own) && !other.has(own));
        let sorted = late.is_sorted_by(|a, b| a < b) && strays.is_sorted_by(|a, b| a != b);
        if !sorted || !late.iter().all(holds) {
            return Err(frame.damaged("ids without a table that make no sense").into());
        }
        let mut sizes = Vec::new();
        while !frame.is_empty() {
            let (bits, length) = (frame.number()?, frame.number()?);
            let bits = u32::try_from(bits).ok().filter(|bits| (1..32).contains(bits));
            let bits = bits.ok_or_else(|| frame.damaged(format!("a table of {length}")))?;
            sizes.push((bits, length));
        }
        let length = sizes.first().map_or(0, |&(_, length)| length);
        let equal = sizes.iter().all(|size| size.1 == length) && length < u64::from(u32::MAX);
        let complete = sizes.is_empty() || sizes.len() == plan.prefixes().len();
        if !equal || !complete || strays.len() as u64 > length {
            return Err(frame.damaged(format!("{} tables of {length}", sizes.len())).into());
        }
        let places = places(&alive, &other, count);
        let end = input.offset();
        Ok(Self {
            plan,
            max_distance,
            window,
            first,
            count,
            alive,
            other,
            shared,
            places,
            texts,
            ages,
            late,
            strays,
            sizes,
            end,
        })
    }

    /// How many words VALS has.
    fn stored(&self) -> u64 {
        let chunks = self.places.iter().flatten().count() * CHUNK;
        let last = self.places.last().copied().flatten();
        // Only the last chunk may have fewer.
        let missing = last.map_or(0, |_| self.count.next_multiple_of(CHUNK) - self.count);
        (chunks - missing) as u64
    }

    fn check_stored(&self, start: u64, words: u64) -> Result<(), FileError> {
        let wanted = self.stored();
        let reason = || format!("{words} fingerprints where {wanted} are wanted");
        if words == wanted { Ok(()) } else { Err(FileError::damaged(start, reason())) }
    }

    fn is_late(&self, own: usize) -> bool {
        !self.late.is_empty() && self.late.binary_search(&(self.first + own as u64)).is_ok()
    }

    /// What an id has beside a fingerprint; `texts` are those from it on. None: it is gone.
    fn other(&self, own: usize, texts: &mut &[(u64, u128)]) -> Option<Item> {
        if !self.alive.has(own) {
            return None;
        }
        let id = self.first + own as u64;
        match texts.split_first() {
            Some((&(of, text), left)) if of == id => {
                *texts = left;
                Some(Item::Exact(text))
            }
            _ => Some(Item::Empty),
        }
    }

    /// The index of these documents. `missing` fingerprints are in no table yet.
    fn into_index(
        self,
        mut ids: Documents,
        run: Option<Segment>,
        missing: &[u64],
        map: Option<Arc<Mapped>>,
    ) -> Index {
        let mut tables = Tables::new(Arc::clone(&self.plan));
        let sealed = run.as_ref().map_or(0, Segment::len);
        if let Some(run) = run.filter(|run| run.len() > 0) {
            tables.put(run);
        }
        ids.settle(sealed, missing.len(), self.strays);
        tables.extend(missing);
        let kind = Hamming { tables, ids, unsealed: None };
        let index = Live::around((self.plan, map), self.max_distance, self.window, kind);
        index.shared.state.write().ages = self.ages;
        if index.shared.is_due() {
            index.shared.start();
        }
        index
    }
}

/// Ids that enter the map together, their reads overlapping.
const TOGETHER: usize = 64;

/// Documents on their way into the maps.
struct Filling<'a> {
    parts: &'a Parts,
    texts: &'a [(u64, u128)],
    ids: Documents,
    missing: Vec<u64>,
    held: Sum,
}

impl<'a> Filling<'a> {
    fn new(parts: &'a Parts) -> Result<Self, FileError> {
        let full = |error: IndexError| FileError::damaged(parts.end, error.to_string());
        let ids = Documents::starting_at(parts.first).map_err(full)?;
        Ok(Self { parts, texts: &parts.texts, ids, missing: Vec::new(), held: Sum::new() })
    }

    /// The next chunk of ids, in order, with their fingerprints if some have one.
    fn take(&mut self, chunk: usize, values: &[u64]) {
        let Self { parts, texts, ids, missing, held } = self;
        let from = chunk * CHUNK;
        let to = (from + CHUNK).min(parts.count);
        for first in (from..to).step_by(TOGETHER) {
            let some = first..(first + TOGETHER).min(to);
            for own in some.clone() {
                if let Some(&value) = values.get(own - from) {
                    ids.prefetch(value);
                }
            }
            for own in some {
                if !parts.alive.has(own) || parts.other.has(own) {
                    ids.restore(parts.other(own, texts));
                    continue;
                }
                let value = values.get(own - from).copied().unwrap_or_default();
                if ids.restore(Some(Item::Fingerprint(value))) {
                    if parts.is_late(own) {
                        missing.push(value);
                    } else {
                        held.add(value);
                    }
                }
            }
        }
    }
}

/// Reads all of it. The maps are filled on another thread while the tables are read.
pub(super) fn read<R: Read>(options: Section, input: &mut Input<R>) -> Result<Index, IndexError> {
    let parts = Parts::read(options, input)?;
    let (send, chunks) = channel::<(usize, Vec<u64>)>();
    let filling = Mutex::new((Filling::new(&parts)?, chunks));
    let fill = || {
        let (filling, chunks) = &mut *filling.lock();
        filling.ids.expect(parts.stored() as usize);
        // It ends when nothing more can come.
        for (chunk, values) in chunks.iter() {
            filling.take(chunk, &values);
        }
    };
    let (start, saved) = thread::scope(|scope| {
        let beside = thread::Builder::new().name("simhash-open".into()).spawn_scoped(scope, fill);
        let read = read_tables(&parts, input, send)?;
        if beside.is_err() {
            // No thread to be had: what was read waits.
            fill();
        }
        Ok::<_, FileError>(read)
    })?;
    let (filling, _) = filling.into_inner();
    let Filling { ids, missing, mut held, .. } = filling;
    parts.strays.iter().for_each(|&value| held.add(value));
    let unsound = || FileError::damaged(start, "tables that contradict themselves");
    let run = (!saved.is_empty()).then(|| Segment::restored(&parts.plan, saved));
    let run = run.map(|run| run.ok_or_else(unsound)).transpose()?;
    let mut sealed = Sum { seed: held.seed, ..Sum::new() };
    run.iter().flat_map(Segment::values).for_each(|&value| sealed.add(value));
    if sealed != held {
        return Err(FileError::damaged(start, "tables that contradict the ids").into());
    }
    Ok(parts.into_index(ids, run, &missing, None))
}

type Saved = Vec<(u32, usize, Words)>;

/// The place of the first table, and all of them; the fingerprints of each chunk of ids go to `send`.
fn read_tables<R: Read>(
    parts: &Parts,
    input: &mut Input<R>,
    send: Sender<(usize, Vec<u64>)>,
) -> Result<(u64, Saved), FileError> {
    input.words_of(*b"VALS", |stream, words| {
        parts.check_stored(parts.end, words)?;
        for chunk in 0..parts.places.len() {
            let mut values = Vec::new();
            if parts.places[chunk].is_some() {
                values.resize(CHUNK.min(parts.count - chunk * CHUNK), 0);
                stream.words(&mut values)?;
            }
            // A receiver that has gone has panicked, which the scope tells.
            let _ = send.send((chunk, values));
        }
        Ok(())
    })?;
    drop(send);
    let start = input.offset();
    let mut saved = Vec::new();
    for &(bits, length) in &parts.sizes {
        let count = segment::directory_words(bits) as u64 + length;
        let (_, words) = input.words_of(*b"TABL", |stream, has| {
            if has != count {
                return Err(stream.damaged(format!("a table of {has} words, not {count}")));
            }
            let words = Words::try_zeroed(count as usize);
            let mut words =
                words.ok_or_else(|| stream.damaged(format!("no memory for {count} words")))?;
            stream.words(&mut words)?;
            Ok(words)
        })?;
        saved.push((bits, length as usize, words));
    }
    // They say what has been made anew, and are only passed over.
    for name in [*b"HOLD", *b"COPY"] {
        input.words_of(name, |stream, mut words| {
            let mut room = vec![0; (words as usize).min(1 << 16)];
            while words > 0 {
                let some = room.len().min(words as usize);
                stream.words(&mut room[..some])?;
                words -= some as u64;
            }
            Ok(())
        })?;
    }
    Ok((start, saved))
}

/// A set of fingerprints: how many, and the sum of their hashes under a seed that nobody knows.
#[derive(PartialEq, Eq)]
struct Sum {
    seed: u64,
    count: usize,
    hashes: u64,
}

impl Sum {
    fn new() -> Self {
        Self { seed: seed(), count: 0, hashes: 0 }
    }

    fn add(&mut self, value: u64) {
        self.count += 1;
        self.hashes = self.hashes.wrapping_add(mix(value, self.seed));
    }
}

pub(super) fn map<R: Read + Seek>(
    options: Section,
    input: &mut Input<R>,
    map: &Arc<Mapped>,
) -> Result<Index, IndexError> {
    let mut parts = Parts::read(options, input)?;
    let values = input.blocks(*b"VALS", map)?;
    parts.check_stored(parts.end, values.len() as u64)?;
    let start = input.offset();
    let mut saved = Vec::new();
    for &(bits, length) in &parts.sizes {
        saved.push((bits, length as usize, input.blocks(*b"TABL", map)?));
    }
    let (holders, copies) = (input.blocks(*b"HOLD", map)?, input.blocks(*b"COPY", map)?);
    let unsound = || FileError::damaged(start, "tables that contradict themselves");
    let segment = (!saved.is_empty()).then(|| Segment::mapped(&parts.plan, saved));
    let segment = segment.map(|segment| segment.ok_or_else(unsound)).transpose()?;
    if holders.len() != segment.as_ref().map_or(0, Segment::len).div_ceil(2) {
        return Err(unsound().into());
    }
    let fingerprints = parts.alive.ones().filter(|&own| !parts.other.has(own)).count();
    let file = Arc::new(Holding {
        first: parts.first,
        listed: fingerprints - parts.late.len(),
        places: std::mem::take(&mut parts.places),
        shared: std::mem::take(&mut parts.shared),
        values,
        holders,
        copies,
        segment: segment.clone(),
        plan: Arc::clone(&parts.plan),
    });
    // Ids that do not fill a chunk are in memory with those that come.
    let chunks = parts.count / CHUNK;
    let mapped = parts.first + (chunks * CHUNK) as u64;
    let full = |error: IndexError| FileError::damaged(parts.end, error.to_string());
    let numbers = Numbers::mapped(Arc::clone(&file), &parts.alive, &parts.other, chunks);
    let mut ids = Documents::of(numbers.map_err(full)?);
    let late = parts.late.iter().take_while(|&&id| id < mapped);
    let mut missing: Vec<u64> = late.filter_map(|&id| ids.restore_late(id)).collect();
    let (before, mut texts) =
        parts.texts.split_at(parts.texts.partition_point(|text| text.0 < mapped));
    for &(id, text) in before {
        ids.restore_text(id, text);
    }
    for own in chunks * CHUNK..parts.count {
        if !parts.alive.has(own) || parts.other.has(own) {
            ids.restore(parts.other(own, &mut texts));
            continue;
        }
        let (value, late) = (file.value(own as u32), parts.is_late(own));
        if !late && !file.shared.has(own) {
            ids.restore_alone(value);
        } else if ids.restore(Some(Item::Fingerprint(value))) && late {
            missing.push(value);
        }
    }
    map.check()?;
    Ok(parts.into_index(ids, segment, &missing, Some(Arc::clone(map))))
}
