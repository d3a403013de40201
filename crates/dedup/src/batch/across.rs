//! Documents of one input that are not compared with each other: of which input a document is, and lists without those of its own.
//!
//! A text that several inputs have is several texts here, one for each of them, and these are equal. What a method finds is as ever; those
//! of the own input leave its lists, and of equal texts of others the first comes to the front.

use super::candidates::{Candidates, Gathered, Gathering, Growing, Listed, Sketches};
use super::groups::Groups;
use crate::checkpoint::{Restoring, Saving};
use crate::error::DedupError;
use crate::method::{Candidate, Found};
use crate::parallel;
use simhash_sketch::Sketcher;
use simhash_store::{Column, Room};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Lists that come at once, about.
const TOGETHER: usize = 4096;

/// The inputs of documents that came one input after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Inputs {
    /// By input: its first document.
    firsts: Vec<u32>,
}

impl Inputs {
    /// Documents from this one on are of this input.
    pub(super) fn begin(&mut self, input: u32, document: u32) {
        let inputs = (input as usize + 1).max(self.firsts.len());
        self.firsts.resize(inputs, document);
    }

    /// The input of a document.
    pub(super) fn of(&self, document: u32) -> u32 {
        self.firsts.partition_point(|&first| first <= document).saturating_sub(1) as u32
    }
}

/// The inputs of texts, and which texts are equal.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct InputTexts {
    /// By text.
    inputs: Column<u32>,
    /// By text: the first that is equal, often itself.
    equal: Column<u32>,
    /// A bit for each text: others are equal.
    shared: Column<u64>,
}

impl InputTexts {
    /// Of texts with these first documents; `equal` as it is held.
    pub(super) fn new(
        inputs: &Inputs,
        first: &[u32],
        equal: Column<u32>,
        room: &Room,
    ) -> Result<Self, DedupError> {
        let inputs = Column::made(room, first.len(), |text| inputs.of(first[text]))?;
        let mut shared = Column::made(room, first.len().div_ceil(64), |_| 0)?;
        for (text, &first) in (0u32..).zip(equal.iter()) {
            if text % 1024 == 0 {
                room.relieve()?;
            }
            if first != text {
                for text in [first, text] {
                    shared[text as usize / 64] |= 1 << (text % 64);
                }
            }
        }
        Ok(Self { inputs, equal, shared })
    }

    pub(super) fn len(&self) -> u32 {
        self.equal.len() as u32
    }

    /// The first of equal texts.
    pub(super) fn first_equal(&self, text: u32) -> u32 {
        self.equal[text as usize]
    }

    /// Whether other texts are equal.
    pub(super) fn is_shared(&self, text: u32) -> bool {
        self.shared[text as usize / 64] >> (text % 64) & 1 == 1
    }

    pub(super) fn save(&self, to: &mut Saving<'_>) -> Result<(), DedupError> {
        to.column(self.equal.len(), self.equal.iter().copied())
    }

    /// What was kept of texts with these first documents.
    pub(super) fn restore(
        from: &mut Restoring,
        inputs: &Inputs,
        first: &[u32],
        room: &Room,
    ) -> Result<Self, DedupError> {
        let mut text = 0;
        let equal: Column<u32> = from.column(|&first| {
            text += 1;
            first < text
        })?;
        if equal.len() != first.len() || equal.iter().any(|&at| equal[at as usize] != at) {
            return Err(from.wrong("equal texts of another number of texts"));
        }
        Self::new(inputs, first, equal, room)
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.inputs.bytes() + self.equal.bytes() + self.shared.bytes()
    }

    /// The list of a text without those of its input; of those that are equal the first alone.
    fn others(&self, text: u32, found: Found) -> Listed {
        let Found { mut candidates, cut } = found;
        let (input, equal) = (self.inputs[text as usize], self.first_equal(text));
        candidates.retain(|near| {
            self.inputs[near.number as usize] != input && self.first_equal(near.number) != equal
        });
        if equal != text {
            candidates.insert(0, Candidate { number: equal, rank: 0 });
        }
        Listed { text, found: Found { candidates, cut } }
    }
}

/// The candidates of other inputs.
pub(super) struct Across {
    all: Box<dyn Candidates>,
    /// Lists of the method that were not asked for yet.
    held: VecDeque<Listed>,
    /// It has no more.
    ended: bool,
    /// Texts that were asked for.
    passed: u32,
    texts: Arc<InputTexts>,
}

impl Across {
    pub(super) fn new(all: Box<dyn Candidates>) -> Self {
        let held = VecDeque::new();
        Self { all, held, ended: false, passed: 0, texts: Arc::default() }
    }
}

impl Candidates for Across {
    fn sketcher(&self) -> Sketcher {
        self.all.sketcher()
    }

    fn gathering(&self) -> Gathering {
        self.all.gathering()
    }

    fn take(&mut self, gathered: Gathered) -> Result<(), DedupError> {
        self.all.take(gathered)
    }

    fn settle(
        &mut self,
        groups: &Groups,
        sketches: &Sketches<'_>,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<(), DedupError> {
        self.texts = groups.across();
        self.all.settle(groups, sketches, threads, cancel)
    }

    fn next(
        &mut self,
        limit: usize,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Vec<Listed>, DedupError> {
        let mut lists = Vec::new();
        // Short texts are in no list of a method, but may be equal to others: they come in between.
        while lists.len() < TOGETHER {
            parallel::check(cancel)?;
            if self.held.is_empty() && !self.ended {
                self.held.extend(self.all.next(limit, threads, cancel)?);
                self.ended = self.held.is_empty();
            }
            let texts = &self.texts;
            let end = self.held.front().map_or(texts.len(), |listed| listed.text);
            let shared = (self.passed..end).find(|&text| texts.is_shared(text));
            let (text, found) = match shared {
                Some(text) => (text, Found::default()),
                None => match self.held.pop_front() {
                    Some(Listed { text, found }) => (text, found),
                    None => break,
                },
            };
            self.passed = text + 1;
            lists.push(texts.others(text, found));
        }
        Ok(lists)
    }

    fn bytes(&self) -> usize {
        self.all.bytes()
    }

    fn growing(&self) -> Result<Growing, DedupError> {
        self.all.growing()
    }

    fn can_be_kept(&self) -> bool {
        self.all.can_be_kept()
    }

    fn save(&self, to: &mut Saving<'_>) -> Result<(), DedupError> {
        self.all.save(to)
    }

    fn restore(&mut self, from: &mut Restoring, groups: &Groups) -> Result<(), DedupError> {
        self.texts = groups.across();
        self.all.restore(from, groups)
    }
}
