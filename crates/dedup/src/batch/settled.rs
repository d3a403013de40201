//! Clusters and the documents that they keep.

use super::across::Inputs;
use super::candidates::Growing;
use super::groups::Groups;
use super::order::Order;
use super::represent::{Compared, Representatives};
use crate::checkpoint::{Restoring, Saving};
use crate::decide::{ALONE, Comparer, Relation, Texts};
use crate::error::DedupError;
use crate::parallel;
use crate::report::Summary;
use simhash_index::Union;
use simhash_store::{Column, Room};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Bytes of the originals whose relations are found at once.
const TEXTS: usize = 2 << 20;
/// Documents that one task goes through at once.
const RUN: usize = 1 << 12;

/// What verification found.
pub(super) enum Verified {
    Components(Union),
    Representatives(Box<Representatives>),
}

impl Verified {
    /// Writes down what was found of so many texts.
    pub(super) fn save(&self, to: &mut Saving<'_>, texts: u32) -> Result<(), DedupError> {
        match self {
            Self::Components(components) => {
                to.column(texts as usize, (0..texts).map(|text| components.root(text)))
            }
            Self::Representatives(decided) => decided.save(to),
        }
    }

    pub(super) fn restore(
        from: &mut Restoring,
        components: bool,
        groups: &Groups,
        room: &Room,
    ) -> Result<Self, DedupError> {
        let texts = groups.len();
        if !components {
            let decided = Representatives::restore(from, texts)?;
            return Ok(Self::Representatives(Box::new(decided)));
        }
        let components = Union::within(room, texts)?;
        let mut text = 0;
        let count = from.each(|root: u32| {
            let is_right = text < texts && root <= text;
            if is_right {
                components.join(text, root);
            }
            text += 1;
            Ok(is_right)
        })?;
        if count != u64::from(texts) {
            return Err(from.wrong("components of another number of texts"));
        }
        Ok(Self::Components(components))
    }
}

/// How many documents behind the known ones are kept, or have another one kept for them, and how many have duplicates.
fn counted(
    originals: &[u32],
    known: u32,
    room: &Room,
    threads: usize,
    cancel: &AtomicBool,
) -> Result<Summary, DedupError> {
    // A bit for each document.
    let words = originals.len().div_ceil(64);
    let has_duplicates = Column::made(room, words, |_| AtomicU64::new(0))?;
    let mut runs: Vec<(u32, &[u32], Summary)> = (known..)
        .step_by(RUN)
        .zip(originals[known as usize..].chunks(RUN))
        .map(|(from, originals)| (from, originals, Summary::default()))
        .collect();
    parallel::for_each_large(
        &mut runs,
        threads,
        cancel,
        || (),
        |(), (from, originals, counts)| {
            for (document, &original) in (*from..).zip(*originals) {
                room.relieve()?;
                counts.read += 1;
                if original == document {
                    counts.kept += 1;
                } else {
                    counts.duplicates += 1;
                    let bit = 1 << (original % 64);
                    let before = has_duplicates[original as usize / 64].fetch_or(bit, Relaxed);
                    counts.clusters += u64::from(before & bit == 0);
                }
            }
            Ok(())
        },
    )?;
    let mut summary = Summary::default();
    for (_, _, counts) in runs {
        summary.read += counts.read;
        summary.kept += counts.kept;
        summary.duplicates += counts.duplicates;
        summary.clusters += counts.clusters;
    }
    Ok(summary)
}

/// Everything decided.
pub(crate) struct Settled {
    comparer: Comparer,
    groups: Groups,
    verified: Verified,
    /// By document: the one that is kept for it, often itself.
    originals: Column<u32>,
    /// Documents that were there already.
    known: u32,
    room: Room,
    /// What pairs took, until they were decided.
    pub(super) growing: Growing,
    /// Counts of the others; nothing about records, bytes and time.
    pub(crate) summary: Summary,
}

impl Settled {
    /// `keeping` has the documents in the order of keeping; the first `known` are not counted. Where there are inputs, documents of one are
    /// no duplicates of each other.
    pub(super) fn new(
        comparer: Comparer,
        groups: Groups,
        verified: Verified,
        (keeping, inputs): (&Order, Option<&Inputs>),
        known: u32,
        (room, threads, cancel): (&Room, usize, &AtomicBool),
    ) -> Result<Self, DedupError> {
        let due = |number: u32| {
            if number.is_multiple_of(1024) { parallel::check(cancel) } else { Ok(()) }
        };
        let count = keeping.len() as usize;
        let mut originals = Column::made(room, count, |document| document as u32)?;
        match &verified {
            Verified::Components(components) => {
                let mut kept = Column::made(room, groups.len() as usize, |_| ALONE)?;
                for document in keeping.iter() {
                    due(document)?;
                    room.relieve()?;
                    let text = groups.text(document);
                    if text != ALONE {
                        let best = &mut kept[components.root(text) as usize];
                        if *best == ALONE {
                            *best = document;
                        }
                        // Beside it stay those of its input, where these are not compared.
                        if inputs.is_none_or(|inputs| inputs.of(*best) != inputs.of(document)) {
                            originals[document as usize] = *best;
                        }
                    }
                }
            }
            Verified::Representatives(decided) => {
                let of = |document: u32, text: u32| match decided.original(document, text) {
                    None if inputs.is_some() => document,
                    edge => groups.first(edge.map_or(text, |edge| edge.text.number)),
                };
                let mut runs: Vec<(u32, &mut [u32])> =
                    (0..).step_by(RUN).zip(originals.chunks_mut(RUN)).collect();
                parallel::for_each_large(
                    &mut runs,
                    threads,
                    cancel,
                    || (),
                    |(), (from, originals)| {
                        for (document, original) in (*from..).zip(originals.iter_mut()) {
                            room.relieve()?;
                            let text = groups.text(document);
                            if text != ALONE {
                                *original = of(document, text);
                            }
                        }
                        Ok(())
                    },
                )?;
            }
        }
        let mut summary = counted(&originals, known, room, threads, cancel)?;
        let states = match &verified {
            Verified::Components(components) => components.bytes(),
            Verified::Representatives(decided) => decided.bytes(),
        };
        summary.index_bytes = (groups.bytes() + originals.bytes() + states) as u64;
        summary.known = u64::from(known);
        let (room, growing) = (room.clone(), Growing::default());
        Ok(Self { comparer, groups, verified, originals, known, room, growing, summary })
    }

    /// What pairs took, until they were decided.
    pub(crate) fn growing(&self) -> Growing {
        self.growing
    }

    /// How much was compared at a time.
    pub(crate) fn compared(&self) -> Compared {
        match &self.verified {
            Verified::Components(_) => Compared::default(),
            Verified::Representatives(decided) => decided.compared(),
        }
    }

    /// Documents that were there already: the first ones.
    pub(crate) fn known(&self) -> u32 {
        self.known
    }

    pub(crate) fn len(&self) -> u32 {
        self.originals.len() as u32
    }

    /// Whom this document duplicates; `None`: it is kept.
    pub(crate) fn original(&self, document: u32) -> Option<u32> {
        let original = self.originals[document as usize];
        (original != document).then_some(original)
    }

    /// How each duplicate among these documents relates to its original, in order.
    pub(crate) fn relations(
        &self,
        documents: Range<u32>,
        texts: &dyn Texts,
        cancel: &AtomicBool,
    ) -> Result<Vec<Relation>, DedupError> {
        let pairs = documents.filter_map(|document| Some((document, self.original(document)?)));
        let (mut relations, mut unknown) = (Vec::new(), Vec::new());
        for (document, original) in pairs {
            self.room.relieve()?;
            let text = self.groups.text(document);
            let relation = match &self.verified {
                _ if self.groups.are_equal(text, self.groups.text(original)) => {
                    Some(self.comparer.equal_relation())
                }
                Verified::Representatives(decided) => {
                    let edge = decided.original(document, text);
                    edge.map(|edge| self.comparer.relation_of(edge))
                }
                Verified::Components(_) => None,
            };
            if relation.is_none() {
                unknown.push((document, original));
            }
            relations.push(relation);
        }
        // What a component's members have to do with its kept document nobody has asked yet.
        let mut found = Vec::with_capacity(unknown.len());
        let mut rest = &unknown[..];
        while !rest.is_empty() {
            // Long originals some at a time: what is made of them takes some ten times their bytes.
            let mut bytes = 0;
            let few = rest.iter().take_while(|&&(_, original)| {
                bytes += texts.bytes(original);
                bytes <= TEXTS
            });
            let (now, later) = rest.split_at(few.count().max(1));
            found.extend(self.comparer.relations(now, texts, cancel)?);
            rest = later;
        }
        let mut rest = found.into_iter();
        Ok(relations.into_iter().filter_map(|known| known.or_else(|| rest.next())).collect())
    }
}
