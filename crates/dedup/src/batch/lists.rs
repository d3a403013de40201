//! Lists of candidates, without those that outlines exclude.
//!
//! A list names texts from everywhere. Where memory is bounded their outlines lie in a file, and one page of it for each candidate would be
//! brought in and let go of again. So lists come a window at a time, and the candidates of a window are looked at one region of the
//! outlines after the other:
//!
//! ```text
//! lists of a window ─► candidates by region of their outlines ─► compared ─► a bit for each that may match ─► shorter lists
//! ```

use super::Stage;
use super::candidates::{Candidates, Listed};
use crate::decide::BATCH_DOCUMENTS;
use crate::error::DedupError;
use crate::method::Candidate;
use crate::parallel;
use simhash_sketch::Outline;
use std::collections::VecDeque;

/// The share of memory that a window takes.
const SHARE: u64 = 8;
/// Bytes of a candidate in its list, and twice as a [`Reference`].
const CANDIDATE: usize = size_of::<Candidate>() + 2 * size_of::<Reference>();
/// Bytes of a list beside its candidates, with the outline of its text.
const LIST: usize = size_of::<Listed>() + size_of::<Outline>() + 16;
/// Bytes of what one task looks at, at least.
const LEAST: u64 = 1 << 16;
/// Outlines of a region: some hundred pages, which a window has several candidates in each of.
const REGION: usize = if cfg!(test) { 4 } else { 1 << 14 };

/// The lists of all texts, in order.
pub(super) struct Lists<'a> {
    candidates: &'a mut dyn Candidates,
    /// Those that were looked at and not asked for.
    ready: VecDeque<Listed>,
    ended: bool,
    /// Texts whose candidates a limit cut, but for those of known documents alone.
    pub(super) truncated: u64,
}

impl<'a> Lists<'a> {
    pub(super) fn new(candidates: &'a mut dyn Candidates) -> Self {
        Self { candidates, ready: VecDeque::new(), ended: false, truncated: 0 }
    }

    /// The next ones, of some thousands of texts at most; those that are empty now may be left out. None: there are no more.
    pub(super) fn next(&mut self, stage: &Stage<'_>) -> Result<Vec<Listed>, DedupError> {
        while self.ready.is_empty() && !self.ended {
            let mut lists = self.window(stage)?;
            if !stage.outlines.is_empty() {
                exclude(stage, &mut lists)?;
                // One that has equal texts is what they are compared with.
                let is_needed = |listed: &Listed| {
                    !listed.found.candidates.is_empty()
                        || stage.groups.shared(listed.text).is_some()
                };
                lists.retain(is_needed);
            }
            self.ready.extend(lists);
        }
        Ok(self.ready.drain(..self.ready.len().min(BATCH_DOCUMENTS)).collect())
    }

    /// Lists as they are: as many as come at once, or where memory is bounded fill the share of it.
    fn window(&mut self, stage: &Stage<'_>) -> Result<Vec<Listed>, DedupError> {
        let most = stage.room.most().map_or(0, |most| most / SHARE);
        let (mut lists, mut bytes) = (Vec::new(), 0);
        while !self.ended && (lists.is_empty() || bytes < most) {
            let more = self.candidates.next(stage.limit, stage.threads, stage.cancel)?;
            self.ended = more.is_empty();
            for listed in &more {
                self.truncated += u64::from(listed.found.cut && listed.text >= stage.known);
                bytes += bytes_of(listed);
            }
            lists.extend(more);
        }
        Ok(lists)
    }
}

/// What a list takes while its candidates are looked at.
fn bytes_of(listed: &Listed) -> u64 {
    (LIST + listed.found.candidates.len() * CANDIDATE) as u64
}

/// Takes the candidates out that cannot match. Each task has lists of its own.
fn exclude(stage: &Stage<'_>, lists: &mut [Listed]) -> Result<(), DedupError> {
    let (threads, cancel) = (stage.threads, stage.cancel);
    if stage.room.most().is_none() {
        return parallel::for_each(
            lists,
            threads,
            cancel,
            || (),
            |(), Listed { text, found }| stage.retain(*text, &mut found.candidates),
        );
    }
    // What is made of a part beside it is a share of the memory too, of every task.
    let tasks = rayon::current_num_threads().max(1);
    let most = (stage.room.most().unwrap_or(0) / SHARE / tasks as u64).max(LEAST);
    let (mut parts, mut rest) = (Vec::new(), lists);
    while !rest.is_empty() {
        let mut bytes = 0;
        let fits = rest.iter().take_while(|listed| {
            bytes += bytes_of(listed);
            bytes <= most
        });
        let (part, later) = rest.split_at_mut(fits.count().max(1));
        parts.push(part);
        rest = later;
    }
    parallel::for_each_large(
        &mut parts,
        threads,
        cancel,
        || (),
        |(), part| exclude_by_region(stage, part),
    )
}

/// A candidate of a list.
#[derive(Clone, Copy, Default)]
struct Reference {
    /// Its document.
    document: u32,
    list: u32,
    /// Its place among the candidates of all lists.
    place: u32,
}

fn exclude_by_region(stage: &Stage<'_>, lists: &mut [Listed]) -> Result<(), DedupError> {
    let mut own = Vec::with_capacity(lists.len());
    let mut references =
        Vec::with_capacity(lists.iter().map(|one| one.found.candidates.len()).sum());
    let mut ends = vec![0u32; stage.outlines.len().div_ceil(REGION) + 1];
    for (list, Listed { text, found }) in (0u32..).zip(&*lists) {
        relieve(stage, list)?;
        own.push(stage.outlines[stage.groups.first(*text) as usize]);
        for near in &found.candidates {
            let (document, place) = (stage.groups.first(near.number), references.len() as u32);
            references.push(Reference { document, list, place });
            ends[document as usize / REGION + 1] += 1;
        }
    }
    for region in 1..ends.len() {
        ends[region] += ends[region - 1];
    }
    let mut by_region = vec![Reference::default(); references.len()];
    for reference in references {
        let end = &mut ends[reference.document as usize / REGION];
        by_region[*end as usize] = reference;
        *end += 1;
    }
    let mut may_match = vec![0u64; by_region.len().div_ceil(64)];
    for (number, &Reference { document, list, place }) in (0u32..).zip(&by_region) {
        relieve(stage, number)?;
        let theirs = &stage.outlines[document as usize];
        if stage.comparer.may_match(&own[list as usize], theirs) {
            may_match[place as usize / 64] |= 1 << (place % 64);
        }
    }
    let mut place = 0;
    for Listed { text, found } in lists {
        found.candidates.retain(|near| {
            let bit = may_match[place / 64] >> (place % 64) & 1;
            place += 1;
            bit == 1 || stage.groups.are_equal(*text, near.number)
        });
    }
    Ok(())
}

/// Brings the memory into its bound every now and then.
fn relieve(stage: &Stage<'_>, number: u32) -> Result<(), DedupError> {
    if number.is_multiple_of(64) {
        parallel::check(stage.cancel)?;
        stage.room.relieve()?;
    }
    Ok(())
}
