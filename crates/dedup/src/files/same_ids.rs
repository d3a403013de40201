//! Documents that have the id of an earlier one: what names documents by ids then does not say which.

use super::intake::Parsed;
use super::records::Records;
use crate::error::DedupError;
use crate::parallel;
use crate::read::{Block, Line};
use crate::report::{SameId, SameIds, Summary};
use simhash_store::{Column, Room};
use std::collections::BinaryHeap;
use std::sync::atomic::AtomicBool;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// An id that a record gives itself, and where.
#[derive(Clone, Copy)]
pub(super) struct OwnId {
    hash: u64,
    line: u64,
    input: u32,
}

impl OwnId {
    pub(super) fn new(id: &str, input: u32, line: u64) -> Self {
        Self::of_side(0, id, input, line)
    }

    /// Of one of several sides of the input, whose ids have nothing to do with those of another.
    pub(super) fn of_side(side: u64, id: &str, input: u32, line: u64) -> Self {
        Self { hash: xxh3_64_with_seed(id.as_bytes(), side), line, input }
    }

    /// Adds those of the records of a block.
    pub(super) fn add<P>(
        given: &mut Column<Self>,
        side: u64,
        block: &Block,
        records: &[(&Line, Parsed<'_, P>)],
    ) -> Result<(), DedupError> {
        for (line, Parsed { id, .. }) in records {
            if let Some(id) = id {
                given.push(Self::of_side(side, id, block.input, line.number))?;
            }
        }
        Ok(())
    }

    fn place(&self) -> (u32, u64) {
        (self.input, self.line)
    }
}

/// Ids of the same hash are the same; `given` is in input order. Of the first `known` inputs documents have no earlier one: they were there already.
pub(super) fn same_ids(
    mut given: Column<OwnId>,
    known: usize,
    records: &Records,
    room: &Room,
    cancel: &AtomicBool,
) -> Result<SameIds, DedupError> {
    let check = || parallel::check(cancel);
    // By the whole hash, in two steps that leave what is equal in order.
    given.sort_by_number(room, u32::MAX, |given| given.hash as u32, check)?;
    given.sort_by_number(room, u32::MAX, |given| (given.hash >> 32) as u32, check)?;
    let mut documents: u64 = 0;
    // The first by place: the last of them on top.
    let mut first: BinaryHeap<((u32, u64), (u32, u64))> = BinaryHeap::new();
    for (number, same) in given.chunk_by(|a, b| a.hash == b.hash).enumerate() {
        if number % 1024 == 0 {
            check()?;
            room.relieve()?;
        }
        let Some((earliest, others)) = same.split_first().filter(|(_, others)| !others.is_empty())
        else {
            continue;
        };
        let others = &others[others.partition_point(|it| (it.input as usize) < known)..];
        documents += others.len() as u64;
        // Of one id the others are in order: the eleventh cannot be among the first ten.
        for later in others.iter().take(Summary::REPORTED) {
            first.push((later.place(), earliest.place()));
            if first.len() > Summary::REPORTED {
                first.pop();
            }
        }
    }
    let named = |((input, line), (first_input, first_line)): ((u32, u64), (u32, u64))| SameId {
        file: records.name(input),
        line,
        first_file: records.name(first_input),
        first_line,
    };
    Ok(SameIds { documents, first: first.into_sorted_vec().into_iter().map(named).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_come_again_are_counted_until_it_is_cancelled() {
        let room = Room::default();
        let records = Records::new(&room, std::env::temp_dir()).unwrap();
        let given = || {
            let mut given = Column::new(&room).unwrap();
            given
                .extend((0..10_000).map(|line| OwnId::new(&format!("{}", line % 9_999), 0, line)))
                .unwrap();
            given
        };
        let cancelled = same_ids(given(), 0, &records, &room, &AtomicBool::new(true));
        assert!(matches!(cancelled, Err(DedupError::Cancelled)));
        let nobody = Column::default();
        let none = same_ids(nobody, 0, &records, &room, &AtomicBool::new(false)).unwrap();
        assert_eq!(none, SameIds::default());
    }
}
