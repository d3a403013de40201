//! A state as a whole, as it is written down: what a list of changes has come to.
//!
//! ```text
//! oldest u64  next u64  latest time u64
//! sketches u64, each, the oldest first: since u64, name of its group u64, item
//! for each id from oldest to next: number of its sketch + 1, or 0 if it has left, u32
//! sentences of documents that were not added u64, each, ascending: sentence u64, documents u64
//! times u64, each: id u64, time u64
//! ```
//! Groups need their names here: they cannot be found again from documents that are left when the one that joined them
//! has gone.

use ahash::{AHashMap, AHashSet};
use simhash_store::{Fields, FileError, Section};

use super::groups::Names;
use super::map::{Canonical, SentenceMap};
use super::sketches::Sketches;
use super::written::{read_item, write_item};
use super::{SentenceItem, SentenceOptions, State};
use crate::IndexError;
use crate::ids::Ids;
use crate::ids::records::Values;
use crate::live::Ages;
use crate::memory::Sparse;

/// What is written of a state, shared with it until it changes.
#[derive(Debug)]
pub struct Copied {
    records: Values,
    sketches: Sketches,
    text_of: Sparse<u128>,
    groups: Names,
    overlooked: Vec<(u64, u32)>,
    ages: Ages,
}

impl Copied {
    pub(super) fn of(state: &State) -> Self {
        let map = &state.kind;
        Self {
            records: map.records.clone(),
            sketches: map.sketches.clone(),
            text_of: map.text_of.clone(),
            groups: map.groups.names(),
            overlooked: map.postings.overlooked(),
            ages: state.ages.clone(),
        }
    }

    pub(super) fn write(mut self) -> Vec<u8> {
        let mut out = Fields::default();
        let Self { records, sketches, text_of, groups, overlooked, ages } = &mut self;
        let (oldest, next) = (records.oldest(), records.next());
        for number in [oldest, next, ages.latest()] {
            out.number(number);
        }
        let mut entries: Vec<u32> =
            (0..sketches.len()).filter(|&entry| sketches.is_alive(entry)).collect();
        entries.sort_unstable_by_key(|&entry| sketches.since(entry));
        let mut numbers = vec![0u32; sketches.len() as usize];
        out.number(entries.len() as u64);
        for (number, &entry) in (1..).zip(&entries) {
            numbers[entry as usize] = number;
            out.number(sketches.since(entry));
            out.number(groups.name(sketches.group(entry)));
            let item = match text_of.get(entry) {
                Some(&text) => SentenceItem::Exact(text),
                None => SentenceItem::Sentences(sketches.sentences(entry).to_vec()),
            };
            write_item(&item, sketches.most(), &mut out.0);
        }
        for id in oldest..next {
            let short = records.short(id).filter(|&short| records.is_alive(short));
            let entry = short.map(|short| records.value(short));
            out.half(entry.map_or(0, |entry| numbers[entry as usize]));
        }
        overlooked.sort_unstable();
        out.number(overlooked.len() as u64);
        for &mut (sentence, documents) in overlooked {
            out.number(sentence);
            out.number(u64::from(documents));
        }
        let times = ages.entries(|short| records.is_alive(short));
        out.number(times.len() as u64);
        for (short, at) in times {
            out.number(records.id(short));
            out.number(at);
        }
        out.0
    }
}

impl State {
    pub(super) fn read(options: &SentenceOptions, input: &mut Section) -> Result<Self, IndexError> {
        let mut state = Self::new(options)?;
        let (oldest, next, latest) = (input.number()?, input.number()?, input.number()?);
        if next.checked_sub(oldest).is_none_or(|count| count >= u64::from(u32::MAX)) {
            return Err(input.damaged(format!("ids from {oldest} to {next}")).into());
        }
        let map = &mut state.kind;
        let records = Values::starting_at(oldest);
        map.records = records.map_err(|error| input.damaged(error.to_string()))?;
        let sketches = map.restore_sketches(input, next)?;
        let mut unheld: AHashSet<u32> = (0..sketches).collect();
        for id in oldest..next {
            let number = input.half()?;
            if number > sketches {
                return Err(input
                    .damaged(format!("id {id} has sketch {number} of {sketches}"))
                    .into());
            }
            map.restore_id(number.checked_sub(1), &mut unheld);
        }
        if !unheld.is_empty() {
            return Err(input
                .damaged(format!("{} sketches without a document", unheld.len()))
                .into());
        }
        map.restore_orphans();
        for _ in 0..input.number()? {
            let (sentence, documents) = (input.number()?, input.number()?);
            let documents = u32::try_from(documents).unwrap_or(u32::MAX);
            if !map.postings.overlook(sentence, documents, &map.sketches) {
                return Err(input
                    .damaged(format!("nobody has the sentence {sentence:016x}"))
                    .into());
            }
        }
        state.ages.advance(latest);
        for _ in 0..input.number()? {
            let (id, at) = (input.number()?, input.number()?);
            if !map.has(id) || at > latest || options.window.is_none() {
                return Err(input.damaged(format!("time {at} of id {id}")).into());
            }
            state.ages.restore(id as u32, at);
        }
        input.end()?;
        Ok(state)
    }
}

impl SentenceMap {
    /// Enters the sketches; how many they are.
    fn restore_sketches(&mut self, input: &mut Section, next: u64) -> Result<u32, FileError> {
        let count = input.number()?;
        let mut groups = AHashMap::<u64, u32>::new();
        let mut before = None;
        for number in 0..count {
            let (since, name) = (input.number()?, input.number()?);
            let ordered = before.is_none_or(|before| since > before);
            if !ordered || since >= next || name > since {
                let what = format!("sketch {number}, of id {since}, in group {name}");
                return Err(input.damaged(what));
            }
            before = Some(since);
            let item =
                Canonical::of(&read_item(input, self.sketches.most())?, self.sketches.most());
            if self.entry(&item).is_some() {
                return Err(input.damaged(format!("sketch {number} is there twice")));
            }
            let group = match groups.get(&name) {
                Some(&group) => self.groups.join(group),
                None => self.groups.begin(name),
            };
            groups.insert(name, group);
            self.place(&item, since, group);
        }
        u32::try_from(count).map_err(|_| input.damaged(format!("{count} sketches")))
    }

    /// Numbers the next document; none: it has left.
    fn restore_id(&mut self, entry: Option<u32>, unheld: &mut AHashSet<u32>) {
        let Some(entry) = entry else {
            let short = self.records.push(0, false);
            self.records.kill(short);
            return self.records.release(short);
        };
        let short = self.records.push(u64::from(entry), false);
        if unheld.remove(&entry) {
            return self.sketches.set_first(entry, short);
        }
        let first = self.sketches.first(entry);
        self.copies.push_after(entry, first, short);
    }

    fn restore_orphans(&mut self) {
        for entry in 0..self.sketches.len() {
            let name = self.groups.name(self.sketches.group(entry));
            if !self.has(name) {
                self.groups.orphan(name);
            }
        }
    }
}
