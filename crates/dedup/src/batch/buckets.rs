//! Buckets as columns: the texts of each, and which text sees how many of them.

use super::candidates::Listed;
use crate::checkpoint::{Plain, Restoring, Saving};
use crate::decide::BATCH_DOCUMENTS;
use crate::error::DedupError;
use crate::parallel;
use simhash_store::{Column, FileError, Room, Section};
use std::sync::atomic::AtomicBool;

/// A text that sees the first texts of a bucket.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sight {
    text: u32,
    /// How many, and with the highest bit whether these are all that the bucket holds.
    count: u32,
    /// Where they begin among the members of all buckets.
    start: u64,
}

const FULL: u32 = 1 << 31;
/// In place of a count: what the text sees in full buckets and behind them is known elsewhere, where `start` says.
const CROWDED: u32 = u32::MAX;

/// What a text sees.
pub(super) enum Seen<'a> {
    /// Texts of a bucket, and whether they are all that it holds, or may show.
    Others(&'a [u32], bool),
    /// What its place among the texts of full buckets tells.
    Crowded(usize),
}

impl Plain for Sight {
    const BYTES: usize = 16;

    fn put(&self, bytes: &mut Vec<u8>) {
        self.text.put(bytes);
        self.count.put(bytes);
        self.start.put(bytes);
    }

    fn take(from: &mut Section) -> Result<Self, FileError> {
        Ok(Self { text: from.half()?, count: from.half()?, start: from.number()? })
    }
}

impl Sight {
    pub(super) fn new(text: u32, start: usize, count: usize, full: bool) -> Self {
        let count = count as u32 | if full { FULL } else { 0 };
        Self { text, count, start: start as u64 }
    }
}

/// Who sees others in a bucket that never was full, and how many: its texts, ascending; one that came by two bands is there, and looks,
/// twice.
pub(super) fn sights(texts: &[u32]) -> impl Iterator<Item = (u32, usize)> {
    let mut others = 0;
    let all = texts.iter().enumerate().map(move |(place, &text)| {
        if texts[place.saturating_sub(1)] != text {
            others = place;
        }
        (text, others)
    });
    all.filter(|&(_, others)| others > 0)
}

/// Buckets in which somebody sees others, and which texts are in full ones.
#[derive(Default)]
pub(super) struct Buckets {
    /// The texts of each bucket in the order in which they came.
    members: Column<u32>,
    sights: Column<Sight>,
    /// By text that sees others, or is in a full bucket: where its sights begin; one more for the end.
    starts: Column<u64>,
    /// Bytes of what they were made of.
    beside: usize,
}

impl Buckets {
    pub(super) fn new(room: &Room) -> Result<Self, DedupError> {
        Ok(Self {
            members: Column::new(room)?,
            sights: Column::new(room)?,
            starts: Column::new(room)?,
            beside: 0,
        })
    }

    /// So many bytes were held for what they are made of.
    pub(super) fn made_of(&mut self, bytes: usize) {
        self.beside += bytes;
    }

    /// Adds a bucket that never was full, by its texts, ascending; one that came by two bands is there twice.
    pub(super) fn add(&mut self, texts: impl Iterator<Item = u32>) -> Result<(), DedupError> {
        let start = self.members.len();
        self.members.extend(texts)?;
        for (text, others) in sights(&self.members[start..]) {
            self.sights.push(Sight::new(text, start, others, false))?;
        }
        Ok(())
    }

    /// Adds a bucket of which each text sees no more than the first `most`: its texts, ascending, each once.
    pub(super) fn add_first(
        &mut self,
        texts: impl Iterator<Item = u32>,
        most: usize,
        room: &Room,
    ) -> Result<(), DedupError> {
        let start = self.members.len();
        for (before, text) in texts.enumerate() {
            if before % 1024 == 0 {
                room.relieve()?;
            }
            if before > 0 {
                self.sights.push(Sight::new(text, start, before.min(most), before > most))?;
            }
            if before < most {
                self.members.push(text)?;
            }
        }
        Ok(())
    }

    /// Adds that a text is in full buckets, whose place there is `row`.
    pub(super) fn add_crowded(&mut self, text: u32, row: usize) -> Result<(), DedupError> {
        Ok(self.sights.push(Sight { text, count: CROWDED, start: row as u64 })?)
    }

    /// Sorts what texts see by text; there are so many texts.
    pub(super) fn seal(
        &mut self,
        texts: u32,
        room: &Room,
        cancel: &AtomicBool,
    ) -> Result<(), DedupError> {
        let check = || parallel::check(cancel);
        self.sights.sort_by_number(room, texts, |sight| sight.text, check)?;
        let mut last = None;
        for (place, sight) in (0u64..).zip(self.sights.iter()) {
            if place % 1024 == 0 {
                check()?;
            }
            if last.replace(sight.text) != Some(sight.text) {
                self.starts.push(place)?;
            }
            room.relieve()?;
        }
        Ok(self.starts.push(self.sights.len() as u64)?)
    }

    /// How many texts see others, or are in full buckets.
    pub(super) fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The lists of the next texts that see others, of which `listed` were asked for before. `list` makes that of the place-th of them, with
    /// what it left in memory the last time.
    pub(super) fn next<S: Default>(
        &self,
        listed: &mut usize,
        room: &Room,
        threads: usize,
        cancel: &AtomicBool,
        list: impl Fn(usize, &mut S) -> Listed + Sync,
    ) -> Result<Vec<Listed>, DedupError> {
        let end = self.len().min(*listed + BATCH_DOCUMENTS);
        let mut slots: Vec<(usize, Option<Listed>)> =
            (*listed..end).map(|place| (place, None)).collect();
        *listed = end;
        parallel::for_each(&mut slots, threads, cancel, S::default, |memory, (place, listed)| {
            *listed = Some(list(*place, memory));
            Ok(room.relieve()?)
        })?;
        Ok(slots.into_iter().filter_map(|(_, listed)| listed).collect())
    }

    /// The place-th of these texts, and what it sees, bucket by bucket.
    pub(super) fn seen(&self, place: usize, mut see: impl FnMut(Seen<'_>)) -> u32 {
        let at = |place: usize| self.starts[place] as usize;
        let sights = &self.sights[at(place)..at(place + 1)];
        for sight in sights {
            if sight.count == CROWDED {
                see(Seen::Crowded(sight.start as usize));
                continue;
            }
            let start = sight.start as usize;
            let others = (sight.count & !FULL) as usize;
            see(Seen::Others(&self.members[start..start + others], sight.count & FULL != 0));
        }
        sights[0].text
    }

    pub(super) fn save(&self, to: &mut Saving<'_>) -> Result<(), DedupError> {
        to.numbers(&[self.beside as u64])?;
        to.column(self.members.len(), self.members.iter().copied())?;
        to.column(self.sights.len(), self.sights.iter().copied())?;
        to.column(self.starts.len(), self.starts.iter().copied())
    }

    /// What was kept of buckets of so many texts, of which none was full.
    pub(super) fn restore(
        from: &mut Restoring,
        texts: u32,
        room: &Room,
    ) -> Result<Self, DedupError> {
        let [beside] = from.numbers()?;
        // By place: how often a member before is a later text than the one behind it. Between two places with one number they ascend.
        let (mut members, mut falls) = (Column::new(room)?, Column::new(room)?);
        let (mut before, mut fallen) = (0, 0u32);
        let count = from.each(|text: u32| {
            fallen += u32::from(text < before);
            before = text;
            members.push(text)?;
            falls.push(fallen)?;
            Ok(text < texts)
        })?;
        let mut last = 0;
        let sights: Column<Sight> = from.column(|sight: &Sight| {
            let others = u64::from(sight.count & !FULL);
            let end = sight.start.checked_add(others).filter(|&end| end <= count);
            // Texts see earlier ones alone: of those of a bucket, which ascend, the last is.
            let is_seen = end.is_some_and(|end| {
                let (start, end) = (sight.start as usize, end as usize);
                start == end || members[end - 1] < sight.text && falls[start] == falls[end - 1]
            });
            let is_right = last <= sight.text && sight.text < texts && is_seen;
            last = sight.text;
            is_right
        })?;
        let (mut before, end) = (None, sights.len() as u64);
        // The list of a text begins where the sights of the one before it end.
        let starts: Column<u64> = from.column(|&start| match before.replace(start) {
            None => start == 0,
            Some(before) => {
                let text = |sight: u64| sights.get(sight as usize).map(|sight| sight.text);
                before < start && start <= end && text(start - 1) != text(start)
            }
        })?;
        let lists = sights.chunk_by(|a, b| a.text == b.text).count();
        if starts.last() != Some(&end) || starts.len() != lists + 1 {
            return Err(from.wrong("lists of another number of texts"));
        }
        Ok(Self { members, sights, starts, beside: beside as usize })
    }

    /// Bytes held, for what they were made of too.
    pub(super) fn bytes(&self) -> usize {
        self.beside + self.members.bytes() + self.sights.bytes() + self.starts.bytes()
    }
}
