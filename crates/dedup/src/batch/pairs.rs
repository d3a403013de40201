//! Pairs of near fingerprints, by number.

use super::sort::sort;
use crate::checkpoint::{Plain, Restoring, Saving};
use crate::error::DedupError;
use crate::parallel;
use simhash_store::{Column, FileError, Room, Section};
use std::sync::atomic::AtomicBool;

/// Two fingerprints, by their numbers, and their distance.
pub(super) type Pair = (u32, u32, u32);

impl Plain for Pair {
    const BYTES: usize = 12;

    fn put(&self, bytes: &mut Vec<u8>) {
        self.0.put(bytes);
        self.1.put(bytes);
        self.2.put(bytes);
    }

    fn take(from: &mut Section) -> Result<Self, FileError> {
        Ok((from.half()?, from.half()?, from.half()?))
    }
}

/// Pairs by the first of the two.
#[derive(Default)]
pub(super) struct Pairs {
    all: Column<Pair>,
    /// By number: where its pairs begin; one more for the end.
    starts: Column<u64>,
}

impl Pairs {
    /// Of numbers below `count`.
    pub(super) fn sealed(
        mut all: Column<Pair>,
        count: u32,
        room: &Room,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Self, DedupError> {
        sort(&mut all, room, threads, cancel)?;
        let mut starts = Column::new(room)?;
        starts.reserve(count as usize + 1)?;
        let mut end = 0;
        for number in 0..=count {
            if number % 1024 == 0 {
                parallel::check(cancel)?;
                room.relieve()?;
            }
            end += all[end..].iter().take_while(|pair| pair.0 < number).count();
            starts.push(end as u64)?;
        }
        Ok(Self { all, starts })
    }

    /// The pairs of a number.
    pub(super) fn of(&self, number: u32) -> &[Pair] {
        let at = |number: usize| self.starts[number] as usize;
        &self.all[at(number as usize)..at(number as usize + 1)]
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// All of them, in order.
    pub(super) fn all(&self) -> &[Pair] {
        &self.all
    }

    pub(super) fn bytes(&self) -> usize {
        self.all.bytes() + self.starts.bytes()
    }

    pub(super) fn save(&self, to: &mut Saving<'_>) -> Result<(), DedupError> {
        to.column(self.all.len(), self.all.iter().copied())?;
        to.column(self.starts.len(), self.starts.iter().copied())
    }

    /// What was kept of pairs of numbers below `count`; `None` where it is of another number.
    pub(super) fn restore(from: &mut Restoring, count: usize) -> Result<Option<Self>, DedupError> {
        let is_number = |number: u32| (number as usize) < count;
        let all: Column<Pair> =
            from.column(|pair: &Pair| is_number(pair.0) && is_number(pair.1))?;
        let starts = ascending::<u64>(from)?;
        let is_whole = starts.last() == Some(&(all.len() as u64)) && starts.len() == count + 1;
        Ok(is_whole.then_some(Self { all, starts }))
    }
}

/// Numbers that do not fall, from 0 on.
pub(super) fn ascending<T: Plain + Ord + Default>(
    from: &mut Restoring,
) -> Result<Column<T>, DedupError> {
    let mut last = None;
    from.column(|&number: &T| {
        let before = last.replace(number);
        before.map_or(number == T::default(), |before| before <= number)
    })
}
