//! Verification around representatives: texts in order, each compared with those of its list that are kept.
//!
//! Texts without candidates are kept and never looked at. The others come some thousands at a time: their lists and comparisons with
//! what was kept before are made in parallel, then those within the batch, round by round, with what is known to be kept. What is left, in
//! chains, is chosen one after the other. Outlines exclude most candidates before anything is read again.

use super::candidates::{Candidates, Listed};
use super::lists::Lists;
use super::{EQUAL, Stage};
use crate::checkpoint::{Restoring, Saving};
use crate::decide::{Edge, Side, Texts};
use crate::error::DedupError;
use crate::method::Candidate;
use crate::parallel;
use ahash::AHashMap;
use simhash_sketch::Scratch;
use simhash_store::Column;
use std::sync::Arc;

/// What became of the texts.
pub(super) struct Representatives {
    /// By text: [`KEPT`], or a place in `duplicates`.
    status: Column<u32>,
    duplicates: Column<Edge>,
    /// By document: the later copies of duplicates whose original is another one than that of their first.
    copies: AHashMap<u32, Edge>,
    /// Where documents of one input are not compared, by the first of equal texts: the one that is kept, or [`KEPT`].
    equal: Column<u32>,
    /// Duplicates with copies of which an equal text may be kept later.
    equal_copied: Vec<u32>,
    compared: Compared,
}

/// How much was compared at a time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Compared {
    /// Most bytes of texts that were held.
    pub(crate) bytes: u64,
    /// Lists of candidates came so often: once where all texts with candidates were there together.
    pub(crate) batches: u64,
}

const KEPT: u32 = u32::MAX;
/// The share of memory for the texts of a batch: what verification makes of one takes some ten times its bytes.
const TEXTS: u64 = 128;
/// Rounds of comparisons within a batch: a chain of texts is settled a text or more in each.
const ROUNDS: usize = 16;
/// Fewer texts of a batch that wait for others, of fewer bytes in all, are settled one after the other.
const FEW: (usize, u64) = (8, 1 << 20);
/// Most bytes of them: more at a time are not faster.
pub(crate) const TEXTS_AT_ONCE: u64 = 8 << 20;

/// How many of these cases are looked at together: so many that their texts are a small part of the memory.
fn together(stage: &Stage<'_>, cases: &[Case]) -> usize {
    let most = stage.room.most().map_or(TEXTS_AT_ONCE, |most| (most / TEXTS).min(TEXTS_AT_ONCE));
    let mut bytes = 0;
    let fits = cases.iter().take_while(|case| {
        bytes += case.bytes;
        bytes <= most
    });
    fits.count().max(1)
}

/// What is known of a text of a batch.
#[derive(Clone, Copy, PartialEq)]
enum State {
    /// Nothing yet.
    Open,
    Kept,
    Duplicate,
}

/// A text of a batch.
#[derive(Default)]
struct Case {
    text: u32,
    /// Bytes of the text.
    bytes: u64,
    /// Its candidates, as far as their outlines leave a chance.
    list: Vec<Candidate>,
    /// Those of the batch, by place.
    within: Vec<Candidate>,
    /// It is a candidate of another one of the batch.
    is_wanted: bool,
    /// It was read, or its evidence is there.
    is_held: bool,
    side: Arc<Side>,
    original: Option<Edge>,
}

impl Case {
    fn of(listed: Listed) -> Self {
        Self { text: listed.text, list: listed.found.candidates, ..Self::default() }
    }

    fn state(&self, stage: &Stage<'_>) -> State {
        match self.original {
            Some(_) => State::Duplicate,
            // An equal text of the batch may be kept before it.
            None if self.within.is_empty() && stage.groups.shared(self.text).is_none() => {
                State::Kept
            }
            None => State::Open,
        }
    }
}

impl Representatives {
    /// The edge of a document of a text to its original.
    pub(super) fn original(&self, document: u32, text: u32) -> Option<&Edge> {
        let own = self.of(text)?;
        Some(self.copies.get(&document).unwrap_or(own))
    }

    fn of(&self, text: u32) -> Option<&Edge> {
        self.duplicates.get(self.status[text as usize] as usize)
    }

    pub(super) fn bytes(&self) -> usize {
        self.status.bytes()
            + self.duplicates.bytes()
            + self.copies.len() * (size_of::<u32>() + size_of::<Edge>())
    }

    /// How much was compared at a time.
    pub(super) fn compared(&self) -> Compared {
        self.compared
    }

    pub(super) fn save(&self, to: &mut Saving<'_>) -> Result<(), DedupError> {
        to.column(self.duplicates.len(), self.duplicates.iter().copied())?;
        to.column(self.status.len(), self.status.iter().copied())?;
        let mut copies: Vec<(u32, Edge)> =
            self.copies.iter().map(|(&at, &edge)| (at, edge)).collect();
        copies.sort_unstable_by_key(|&(document, _)| document);
        to.column(copies.len(), copies.iter().map(|&(document, _)| document))?;
        to.column(copies.len(), copies.iter().map(|&(_, edge)| edge))
    }

    /// What was kept of so many texts.
    pub(super) fn restore(from: &mut Restoring, texts: u32) -> Result<Self, DedupError> {
        let is_text = |edge: &Edge| edge.text.number < texts;
        let duplicates: Column<Edge> = from.column(is_text)?;
        let count = duplicates.len();
        let status: Column<u32> =
            from.column(|&status| status == KEPT || (status as usize) < count)?;
        let documents: Column<u32> = from.column(|_| true)?;
        let edges: Column<Edge> = from.column(is_text)?;
        if status.len() != texts as usize || documents.len() != edges.len() {
            return Err(from.wrong("decisions on another number of texts"));
        }
        let copies = documents.iter().copied().zip(edges.iter().copied()).collect();
        Ok(Self {
            status,
            duplicates,
            copies,
            equal: Column::default(),
            equal_copied: Vec::new(),
            compared: Compared::default(),
        })
    }

    /// Decides all texts.
    pub(super) fn decide(
        stage: &Stage<'_>,
        candidates: &mut dyn Candidates,
        truncated: &mut u64,
        tick: &mut dyn FnMut(u64),
    ) -> Result<Self, DedupError> {
        let mut waiting = Vec::new();
        let mut all = Self {
            status: Column::made(stage.room, stage.groups.len() as usize, |_| KEPT)?,
            duplicates: Column::new(stage.room)?,
            copies: AHashMap::new(),
            equal: Column::made(stage.room, stage.groups.shared_texts(), |_| KEPT)?,
            equal_copied: Vec::new(),
            compared: Compared::default(),
        };
        let mut all_lists = Lists::new(candidates);
        loop {
            let lists = all_lists.next(stage)?;
            if lists.is_empty() {
                break;
            }
            all.compared.batches += 1;
            let mut cases: Vec<Case> = lists.into_iter().map(Case::of).collect();
            parallel::for_each(
                &mut cases,
                stage.threads,
                stage.cancel,
                || (),
                |(), case| {
                    case.bytes = stage.texts.bytes(case.text) as u64;
                    Ok(stage.room.relieve()?)
                },
            )?;
            let mut rest = &mut cases[..];
            while !rest.is_empty() {
                let (now, later) = rest.split_at_mut(together(stage, rest));
                all.compare(stage, now)?;
                let held = now.iter().filter(|case| case.is_held);
                let bytes = held.map(|case| case.bytes).sum();
                all.compared.bytes = all.compared.bytes.max(bytes);
                compare_within(stage, now)?;
                all.choose(stage, now, &mut waiting)?;
                now.fill_with(Case::default);
                rest = later;
            }
            tick(all.duplicates.len() as u64);
        }
        *truncated += all_lists.truncated;
        for text in std::mem::take(&mut all.equal_copied) {
            if let Some(kept) = all.equal(stage, text).filter(|kept| kept.text.number > text) {
                waiting.push((text, kept.text));
            }
        }
        all.equal = Column::default();
        all.copies(stage, waiting)?;
        Ok(all)
    }

    /// The edge to an equal text that was kept.
    fn equal(&self, stage: &Stage<'_>, text: u32) -> Option<Edge> {
        let number = self.equal[stage.groups.shared(text)? as usize];
        let text = Candidate { number, rank: 0 };
        (number != KEPT).then_some(Edge { text, similarity: EQUAL })
    }

    /// Compares each case with its candidates that were kept before the batch.
    fn compare(&self, stage: &Stage<'_>, cases: &mut [Case]) -> Result<(), DedupError> {
        let (threads, cancel) = (stage.threads, stage.cancel);
        let texts: Vec<u32> = cases.iter().map(|case| case.text).collect();
        parallel::for_each(
            cases,
            threads,
            cancel,
            || (),
            |(), case| {
                let own = case.list.iter().filter(|near| near.number >= texts[0]);
                case.within.extend(own.filter_map(|&Candidate { number, rank }| {
                    let place = texts.binary_search(&number).ok()?;
                    Some(Candidate { number: place as u32, rank })
                }));
                Ok(())
            },
        )?;
        for place in 0..cases.len() {
            for near in 0..cases[place].within.len() {
                let other = cases[place].within[near].number;
                cases[other as usize].is_wanted = true;
            }
        }
        parallel::for_each(cases, threads, cancel, Scratch::default, |scratch, case| {
            case.original = self.equal(stage, case.text);
            if case.original.is_some() {
                case.within.clear();
                return Ok(());
            }
            let is_within = |number| number >= texts[0] && texts.binary_search(&number).is_ok();
            let is_kept = |number: u32| self.status[number as usize] == KEPT;
            let list = case.list.iter();
            let mut older =
                list.filter(|near| is_kept(near.number) && !is_within(near.number)).peekable();
            if older.peek().is_none() && case.within.is_empty() && !case.is_wanted {
                return Ok(());
            }
            case.side = Arc::new(stage.side(case.text, scratch)?);
            case.is_held = true;
            for &near in older {
                // Nothing below the best so far can replace it.
                let least = case.original.map(|best| best.similarity);
                let own = (case.text, &*case.side);
                let found = stage.similarity_to(own, near.number, least, scratch)?;
                consider(stage, &mut case.original, near, found);
            }
            if case.original.is_none() && case.within.is_empty() && case.is_wanted {
                // Others of the batch will be compared with it, and some of them at once.
                stage.comparer.make(&case.side);
            }
            Ok(())
        })
    }

    /// Decides the cases in order. `waiting` gets the duplicates with copies, each with a text kept after it that it is a candidate of.
    fn choose(
        &mut self,
        stage: &Stage<'_>,
        cases: &mut [Case],
        waiting: &mut Vec<(u32, Candidate)>,
    ) -> Result<(), DedupError> {
        for place in 0..cases.len() {
            parallel::check(stage.cancel)?;
            let (before, rest) = cases.split_at_mut(place);
            let case = &mut rest[0];
            if let Some(equal) = self.equal(stage, case.text) {
                case.original = Some(equal);
                case.within.clear();
            }
            for &Candidate { number, rank } in &case.within {
                let other = &before[number as usize];
                if other.original.is_none() {
                    let near = Candidate { number: other.text, rank };
                    let least = case.original.map(|best| best.similarity);
                    let (own, theirs) = ((case.text, &*case.side), (other.text, &*other.side));
                    let found = stage.similarity(own, theirs, least);
                    consider(stage, &mut case.original, near, found);
                }
            }
            let shared = stage.groups.shared(case.text);
            if let Some(edge) = case.original {
                self.status[case.text as usize] = self.duplicates.len() as u32;
                self.duplicates.push(edge)?;
                if shared.is_some() && edge.similarity < EQUAL && stage.groups.is_copied(case.text)
                {
                    self.equal_copied.push(case.text);
                }
                continue;
            }
            if let Some(first) = shared {
                self.equal[first as usize] = case.text;
            }
            for &Candidate { number, rank } in &case.list {
                let is_equal = stage.groups.are_equal(number, case.text);
                if !is_equal && stage.groups.is_copied(number) && self.of(number).is_some() {
                    waiting.push((number, Candidate { number: case.text, rank }));
                }
            }
        }
        Ok(())
    }

    /// Later copies of duplicates: a text that was kept between the first and them may be nearer than the original of the first.
    fn copies(
        &mut self,
        stage: &Stage<'_>,
        mut waiting: Vec<(u32, Candidate)>,
    ) -> Result<(), DedupError> {
        if waiting.is_empty() {
            return Ok(());
        }
        waiting.sort_unstable_by_key(|(text, near)| (*text, near.number));
        let asked = waiting.iter().flat_map(|(text, near)| [*text, near.number]);
        let mut places: AHashMap<u32, Vec<u32>> = asked.map(|text| (text, Vec::new())).collect();
        for (place, document) in (0..).zip(stage.order.iter()) {
            stage.room.relieve()?;
            if let Some(places) = places.get_mut(&stage.groups.text(document)) {
                places.push(place);
            }
        }
        // Only those that came before the last copy, each with its place.
        waiting
            .retain(|(text, near)| places[&near.number][0] < places[text][places[text].len() - 1]);
        let mut slots: Vec<(u32, Candidate, Option<Edge>)> =
            waiting.into_iter().map(|(text, near)| (text, near, None)).collect();
        let new = Scratch::default;
        parallel::for_each(&mut slots, stage.threads, stage.cancel, new, |scratch, slot| {
            slot.2 = self.of(slot.0).copied();
            let own = stage.side(slot.0, scratch)?;
            let least = slot.2.map(|best| best.similarity);
            let found = stage.similarity_to((slot.0, &own), slot.1.number, least, scratch)?;
            consider(stage, &mut slot.2, slot.1, found);
            // Only what is better than the first's.
            slot.2 = slot.2.filter(|edge| edge.text.number == slot.1.number);
            Ok(())
        })?;
        for group in slots.chunk_by(|a, b| a.0 == b.0) {
            let text = group[0].0;
            // What was kept, by place, beside the copies, by place: one pass over both.
            let edges = group
                .iter()
                .filter_map(|(_, near, edge)| Some((places[&near.number][0], (*edge)?)));
            let mut edges: Vec<(u32, Edge)> = edges.collect();
            edges.sort_unstable_by_key(|&(place, _)| place);
            let (mut edges, mut best) = (edges.into_iter().peekable(), None::<Edge>);
            for &place in &places[&text][1..] {
                parallel::check(stage.cancel)?;
                while let Some((_, edge)) = edges.next_if(|&(kept, _)| kept < place) {
                    let verified = stage.comparer.verifies();
                    if best.is_none_or(|best| edge.order(&best, verified).is_lt()) {
                        best = Some(edge);
                    }
                }
                if let Some(edge) = best {
                    self.copies.insert(stage.order.at(place), edge);
                }
            }
        }
        Ok(())
    }
}

/// Compares each case with its candidates of the batch that are known to be kept, until most are known: in order, but for those of which
/// nobody knows yet, each is what it will be chosen to be.
fn compare_within(stage: &Stage<'_>, cases: &mut [Case]) -> Result<(), DedupError> {
    let are_few = |cases: &[Case]| {
        let waiting = cases.iter().filter(|case| !case.within.is_empty());
        let (count, bytes) = waiting.fold((0, 0), |(n, sum), case| (n + 1, sum + case.bytes));
        count < 2 || count < FEW.0 && bytes < FEW.1
    };
    if are_few(cases) {
        return Ok(());
    }
    let mut states: Vec<State> = cases.iter().map(|case| case.state(stage)).collect();
    let others: Vec<(u32, Arc<Side>)> =
        cases.iter().map(|case| (case.text, Arc::clone(&case.side))).collect();
    for _ in 0..ROUNDS {
        let (threads, cancel) = (stage.threads, stage.cancel);
        parallel::for_each(
            cases,
            threads,
            cancel,
            || (),
            |(), case| {
                let own = (case.text, &*case.side);
                let mut original = case.original;
                case.within.retain(|&Candidate { number, rank }| {
                    let (text, theirs) = &others[number as usize];
                    let state = states[number as usize];
                    if state == State::Kept {
                        let near = Candidate { number: *text, rank };
                        let least = original.map(|best| best.similarity);
                        let found = stage.similarity(own, (*text, theirs), least);
                        consider(stage, &mut original, near, found);
                    }
                    state == State::Open
                });
                case.original = original;
                Ok(())
            },
        )?;
        let mut settled = 0;
        for (state, case) in states.iter_mut().zip(&*cases) {
            let before = std::mem::replace(state, case.state(stage));
            settled += usize::from(before != *state);
        }
        if settled == 0 || are_few(cases) {
            break;
        }
    }
    Ok(())
}

/// Keeps the edge to a text that was found to be so similar, where it is the best so far.
fn consider(stage: &Stage<'_>, best: &mut Option<Edge>, text: Candidate, similarity: Option<f64>) {
    let Some(found) = similarity.map(|similarity| Edge { text, similarity }) else { return };
    if best.is_none_or(|best| found.order(&best, stage.comparer.verifies()).is_lt()) {
        *best = Some(found);
    }
}

/// Texts by number: each is that of its first document.
pub(super) struct ByText<'a> {
    pub(super) groups: &'a super::Groups,
    pub(super) texts: &'a dyn Texts,
}

impl Texts for ByText<'_> {
    fn with_text(&self, number: u32, read: &mut dyn FnMut(&str)) -> Result<(), DedupError> {
        self.texts.with_text(self.groups.first(number), read)
    }

    fn bytes(&self, number: u32) -> usize {
        self.texts.bytes(self.groups.first(number))
    }
}
