//! The way through one part: bucket after bucket, and into large buckets that are cut again.
//!
//! A stack of frames. A frame is a group sorted by one table's mask; a large bucket of it may open a frame per table
//! of the cut, one after the other. The walk can stop anywhere and go on later.

use super::compare::{self, Near, Rows, WINDOW};
use super::group::Group;
use super::tables::{Masks, Tables, is_first};

/// A bucket of more members is handled by itself: its pairs may be many.
const LARGE: usize = 64;

/// Rows that are compared at a time; at most eight near ones each, and the rest of buckets of up to [`LARGE`].
const ROWS: usize = 1024;

/// No rank known.
const UNKNOWN: u32 = u32::MAX;

/// A group sorted by a table's mask, and how far it has been walked.
#[derive(Debug)]
pub(super) struct Frame {
    masks: Masks,
    table: usize,
    pub(super) group: Group,
    bucket: usize,
    /// Ranks of the group's fingerprints, as far as they were asked for; empty while none was.
    ranks: Vec<u32>,
    /// What the group is made of, for the tables after this one; empty where the caller has them.
    members: Vec<u64>,
}

/// Where a walk stands.
pub(super) enum Place {
    /// In front of small buckets.
    Small,
    /// In front of a large one.
    Large,
    /// At the end.
    End,
}

/// A walk through one part of one table.
#[derive(Debug)]
pub(super) struct Walk {
    frames: Vec<Frame>,
}

impl Walk {
    /// Through a part of the table with this number.
    pub(super) fn new(tables: &Tables, table: usize, group: Group) -> Self {
        let masks = Masks::clone(&tables.masks);
        Self { frames: vec![Frame::new(masks, table, group, Vec::new())] }
    }

    /// Leaves what is finished, and says what comes next.
    pub(super) fn place(&mut self) -> Place {
        while let Some(frame) = self.frames.last_mut() {
            if frame.bucket < frame.group.len() {
                return if frame.large().is_some() { Place::Large } else { Place::Small };
            }
            if !frame.next_table() {
                self.frames.pop();
                // The bucket that was cut is done.
                if let Some(above) = self.frames.last_mut() {
                    above.bucket += 1;
                }
            }
        }
        Place::End
    }

    /// The frame that it stands in; call [`Walk::place`] before.
    pub(super) fn frame(&mut self) -> Option<&mut Frame> {
        self.frames.last_mut()
    }

    /// Cuts the large bucket in front, where that pays.
    pub(super) fn cut(&mut self, tables: &Tables) -> bool {
        let Some(frame) = self.frames.last() else { return false };
        let members = frame.group.bucket(frame.bucket);
        let Some(masks) = tables.cut(members, frame.masks[frame.table]) else { return false };
        let mut group = Group::default();
        group.scramble(members, masks[0]);
        let frame = Frame::new(masks, 0, group, members.to_vec());
        self.frames.push(frame);
        true
    }

    /// Whether a pair of the current frame is reported here: by the first table that it matches, at every level.
    #[inline]
    pub(super) fn reports(&self, differ: u64) -> bool {
        self.frames.iter().all(|frame| is_first(&frame.masks, frame.table, differ))
    }
}

impl Frame {
    fn new(masks: Masks, table: usize, group: Group, members: Vec<u64>) -> Self {
        Self { masks, table, group, bucket: 0, ranks: Vec::new(), members }
    }

    /// Sorts by the next table of a cut, if there is one.
    fn next_table(&mut self) -> bool {
        if self.members.is_empty() || self.table + 1 == self.masks.len() {
            return false;
        }
        self.table += 1;
        self.group.scramble(&self.members, self.masks[self.table]);
        self.ranks.clear();
        self.bucket = 0;
        true
    }

    /// Where the bucket in front begins and ends, if it is large.
    pub(super) fn large(&self) -> Option<(usize, usize)> {
        let (from, to) = (self.group.starts[self.bucket], self.group.starts[self.bucket + 1]);
        (to - from > LARGE as u32).then_some((from as usize, to as usize))
    }

    /// Leaves the bucket in front.
    pub(super) fn skip(&mut self) {
        self.bucket += 1;
    }

    /// Compares the next small buckets, up to a large one or some thousand rows. What is near may lie in different
    /// buckets.
    pub(super) fn small(&mut self, distance: u32, near: &mut Vec<Near>) {
        let Group { values, starts } = &self.group;
        let first = self.bucket;
        let from = starts[first];
        let mut to = from;
        for &end in &starts[first + 1..] {
            if end - to > LARGE as u32 || end - from > ROWS as u32 {
                break;
            }
            to = end;
            self.bucket += 1;
        }
        let rows = Rows { from: from as usize, to: to as usize, skip: 0 };
        compare::windows(values, rows, distance, near);
        for bucket in starts[first..=self.bucket].windows(2) {
            let (from, to) = (bucket[0] as usize, bucket[1] as usize);
            for skip in (WINDOW..(to - from).saturating_sub(1)).step_by(WINDOW) {
                compare::windows(values, Rows { from, to: to - 1 - skip, skip }, distance, near);
            }
        }
    }

    /// The rank of the fingerprint at a place of the group.
    #[inline]
    pub(super) fn rank(&mut self, place: u32, rank: impl Fn(u64) -> u32) -> u32 {
        // Most parts of a sparse set have nothing near.
        if self.ranks.is_empty() {
            self.ranks.resize(self.group.values.len(), UNKNOWN);
        }
        let known = &mut self.ranks[place as usize];
        if *known == UNKNOWN {
            *known = rank(self.group.values[place as usize]);
        }
        *known
    }
}
