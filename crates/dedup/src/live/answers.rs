//! What checks of documents with keys were answered, under [`OnSameKey::Repeat`](super::OnSameKey::Repeat).
//!
//! A document that was kept and is like no other needs nothing here: its key leads to its id, and that was the answer. All else
//! is remembered: that a document was a duplicate, and of what; that it was added all the same; that a limit had cut its candidates.
//!
//! An answer lives as long as a document of its time would: that of a document which was kept with the document; that of a
//! duplicate until the window has passed over its time, or, in an index without a window, with the document that it was found like.
//! So what is alive follows from the index at every moment; the memory follows over the next changes, as that of keys does.

use ahash::AHashMap;
use simhash_index::Window;
use simhash_store::{Fields, FileError, Section};

use super::chunks::{Chunk, Chunks};
use super::document::{Checked, Near};
use super::strings::CHUNK;

/// No id.
const NONE: u64 = u64::MAX;

/// Bytes of an answer as it is written down.
const WRITTEN: usize = 45;

/// What was answered.
#[derive(Debug, Clone, Copy)]
struct Told {
    /// Hash of the key.
    key: u128,
    /// Which one it is of all that were ever remembered.
    turn: u64,
    /// The latest time when it was given, and the id that the next addition got.
    at: u64,
    next: u64,
    answer: Checked,
}

impl Told {
    /// Whether it is alive; `expired` is that of [`Listed`].
    fn lives(&self, expired: (u64, u64), now: Moment, is_alive: impl Fn(u64) -> bool) -> bool {
        if let Some(id) = self.answer.id {
            return is_alive(id);
        }
        let Some(window) = now.window else {
            return self.answer.duplicate_of.is_some_and(|near| is_alive(near.id));
        };
        let (before, turn) = expired;
        let too_old = self.at < window.since(now.latest);
        let too_many = window.max_count.is_some_and(|most| now.next - self.next >= most);
        let has_expired = self.at < before && self.turn < turn;
        !(too_old || too_many || has_expired)
    }
}

/// What decides whether an answer is alive.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    pub(super) window: Option<Window>,
    /// The latest time.
    pub(super) latest: u64,
    /// The id that the next addition gets.
    pub(super) next: u64,
}

/// Answers by the hash of their key, in chunks of those that were given one after the other.
#[derive(Debug, Default)]
pub(super) struct Answers {
    turns: AHashMap<u128, u64>,
    told: Listed,
    /// Changes since the memory was last looked after.
    changes: usize,
}

/// Answers in the order in which they were given. Clones share the chunks until one of them changes.
#[derive(Debug, Default, Clone)]
pub(super) struct Listed {
    /// By turn.
    chunks: Chunks<Vec<Told>>,
    /// The next turn.
    next: u64,
    /// What was answered before this turn and this time has been made to expire.
    expired: (u64, u64),
}

impl Chunk for Vec<Told> {
    const IDS: u64 = CHUNK as u64;

    fn bytes(&self) -> usize {
        self.capacity() * size_of::<Told>() + size_of::<Self>()
    }

    fn is_empty(&self) -> bool {
        self.is_empty()
    }
}

impl Listed {
    fn get(&self, turn: u64) -> Option<&Told> {
        let chunk = self.chunks.get(turn)?;
        chunk.binary_search_by_key(&turn, |told| told.turn).ok().map(|at| &chunk[at])
    }

    fn push(&mut self, told: Told) {
        self.chunks.push(told.turn, |chunk| chunk.push(told));
        self.next = told.turn + 1;
    }

    fn remove(&mut self, turn: u64) {
        self.chunks.change(turn, |chunk| {
            if let Ok(at) = chunk.binary_search_by_key(&turn, |told| told.turn) {
                chunk.remove(at);
            }
        });
    }

    /// As they are saved: those that may be alive, numbered anew.
    ///
    /// ```text
    /// expired: before u64, of the first so many u64;  answers u64, each: latest time u64  next id u64  as in a note
    /// ```
    pub(super) fn write(
        &self,
        out: &mut Fields,
        is_windowed: bool,
        is_alive: impl Fn(u64) -> bool,
    ) {
        let may_live = |told: &&Told| match (told.answer.id, told.answer.duplicate_of) {
            (Some(id), _) => is_alive(id),
            (None, Some(near)) => is_windowed || is_alive(near.id),
            (None, None) => false,
        };
        let all = || self.chunks.iter().flat_map(|(_, chunk)| chunk).filter(may_live);
        let (before, turn) = self.expired;
        out.number(before);
        out.number(all().filter(|told| told.turn < turn).count() as u64);
        out.number(all().count() as u64);
        for told in all() {
            out.number(told.at);
            out.number(told.next);
            out.0.extend(written(told.key, &told.answer));
        }
    }
}

impl Answers {
    /// The answer of a document that was not kept, while it lives.
    pub(super) fn of_duplicate(
        &self,
        key: u128,
        now: Moment,
        is_alive: impl Fn(u64) -> bool,
    ) -> Option<Checked> {
        let told = self.told.get(*self.turns.get(&key)?)?;
        let is_duplicate = told.answer.id.is_none();
        (is_duplicate && told.lives(self.told.expired, now, is_alive)).then_some(told.answer)
    }

    /// The answer of a live document that was kept.
    pub(super) fn of_kept(&self, key: u128, id: u64) -> Checked {
        let told = self.turns.get(&key).and_then(|&turn| self.told.get(turn));
        let told = told.map(|told| told.answer).filter(|answer| answer.id == Some(id));
        told.unwrap_or(Checked { id: Some(id), ..Checked::default() })
    }

    /// Whether there is more to be known of an answer than that a document was kept.
    pub(super) fn matters(answer: &Checked) -> bool {
        answer.id.is_none() || answer.duplicate_of.is_some() || answer.truncated
    }

    /// Remembers what was answered just now.
    pub(super) fn remember(&mut self, key: u128, answer: Checked, now: Moment) {
        self.restore(Told { key, turn: self.told.next, at: now.latest, next: now.next, answer });
    }

    fn restore(&mut self, told: Told) {
        self.forget(told.key);
        self.turns.insert(told.key, told.turn);
        self.told.push(told);
    }

    /// A document came with this key, or its answer no longer counts.
    pub(super) fn forget(&mut self, key: u128) {
        if let Some(turn) = self.turns.remove(&key) {
            self.told.remove(turn);
        }
    }

    /// What was answered so far before this time leaves.
    pub(super) fn expire(&mut self, before: u64, now: Moment) {
        // No answer so far is later than the latest time; answers to come may be as late.
        let before = before.min(now.latest.saturating_add(1));
        self.told.expired = self.told.expired.max((before, self.told.next));
    }

    pub(super) fn copied(&self) -> Listed {
        self.told.clone()
    }

    /// Looks after memory: two chunks for every chunk's worth of changes.
    pub(super) fn tend(&mut self, changes: usize, now: Moment, is_alive: impl Fn(u64) -> bool) {
        if self.turns.is_empty() {
            return;
        }
        self.changes = self.changes.saturating_add(changes);
        let rounds = self.changes / CHUNK;
        self.changes %= CHUNK;
        for _ in 0..rounds.saturating_mul(2).min(self.told.chunks.len()) {
            self.sweep(now, &is_alive);
        }
    }

    /// Looks through the next chunk that is full.
    pub(super) fn sweep(&mut self, now: Moment, is_alive: impl Fn(u64) -> bool) {
        let Self { turns, told: Listed { chunks, expired, .. }, .. } = self;
        chunks.look(|_, chunk| {
            let lives = |one: &&Told| one.lives(*expired, now, &is_alive);
            let left: Vec<Told> = chunk.iter().filter(lives).copied().collect();
            if left.len() == chunk.len() {
                return None;
            }
            for one in chunk.iter().filter(|one| !lives(one)) {
                turns.remove(&one.key);
            }
            Some(left)
        });
    }

    pub(super) fn chunks(&self) -> usize {
        self.told.chunks.len()
    }

    /// Gives the room back that map and list do not need.
    pub(super) fn shrink(&mut self) {
        self.turns.shrink_to_fit();
        self.told.chunks.shrink();
    }

    /// Bytes held. O(1).
    pub(super) fn bytes(&self) -> usize {
        self.turns.capacity() * (size_of::<(u128, u64)>() + 1) + self.told.chunks.bytes()
    }

    /// A note that one was remembered, or that some have expired.
    pub(super) fn take(&mut self, note: &[u8], now: Moment) -> Result<(), FileError> {
        let mut note = Section::new(note.to_vec(), 0);
        match note.byte()? {
            ANSWER => {
                let (key, answer) = read(&mut note)?;
                self.remember(key, answer, now);
            }
            EXPIRE => {
                let before = note.number()?;
                self.expire(before, now);
            }
            _ => return Err(note.damaged("a note that nobody has left")),
        }
        note.end()
    }

    /// Reads what [`Listed::write`] has written, of an index with this next id.
    pub(super) fn read(kept: &mut Section, next_id: u64) -> Result<Self, FileError> {
        let mut answers = Self::default();
        answers.told.expired = (kept.number()?, kept.number()?);
        for turn in 0..kept.number()? {
            let (at, next) = (kept.number()?, kept.number()?);
            let (key, answer) = read(kept)?;
            if next > next_id || answers.turns.contains_key(&key) {
                return Err(kept.damaged(format!("answer {turn}")));
            }
            answers.restore(Told { key, turn, at, next, answer });
        }
        Ok(answers)
    }
}

const ANSWER: u8 = 1;
const EXPIRE: u8 = 2;

/// The note of an answer.
pub(super) fn note(key: u128, answer: &Checked) -> Vec<u8> {
    let mut out = vec![ANSWER];
    out.extend(written(key, answer));
    out
}

/// The note that answers before this time expire.
pub(super) fn note_expired(before: u64) -> Vec<u8> {
    let mut out = Fields(vec![EXPIRE]);
    out.number(before);
    out.0
}

/// ```text
/// hash of the key u64 u64  id u64  id of the match u64  its similarity f64  measure u32  verified 1, truncated 2, similar 4: u8
/// ```
fn written(key: u128, answer: &Checked) -> Vec<u8> {
    let mut out = Fields(Vec::with_capacity(WRITTEN));
    let near = answer.duplicate_of;
    let similarity = near.and_then(|near| near.similarity);
    let match_id = near.map_or(NONE, |near| near.id);
    for number in [key as u64, (key >> 64) as u64, answer.id.unwrap_or(NONE), match_id] {
        out.number(number);
    }
    out.number(similarity.unwrap_or(0.0).to_bits());
    out.half(near.map_or(0, |near| near.measure));
    let is_verified = near.is_some_and(|near| near.verified);
    let flags = [is_verified, answer.truncated, similarity.is_some()];
    out.0.push((0..).zip(flags).map(|(bit, flag)| u8::from(flag) << bit).sum());
    out.0
}

fn read(kept: &mut Section) -> Result<(u128, Checked), FileError> {
    let (low, high) = (kept.number()?, kept.number()?);
    let [id, near] = [kept.number()?, kept.number()?].map(|id| Some(id).filter(|&id| id != NONE));
    let (similarity, measure, flags) = (f64::from_bits(kept.number()?), kept.half()?, kept.byte()?);
    if flags > 7 || !(0.0..=1.0).contains(&similarity) || (id.is_none() && near.is_none()) {
        return Err(kept.damaged("an answer that was never given"));
    }
    let similarity = (flags & 4 > 0).then_some(similarity);
    let verified = flags & 1 > 0;
    let duplicate_of = near.map(|id| Near { id, similarity, verified, measure });
    let truncated = flags & 2 > 0;
    let key = u128::from(low) | u128::from(high) << 64;
    Ok((key, Checked { id, duplicate_of, truncated, repeated: false }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_are_those_of_a_walk_and_of_the_formula() {
        let (mut answers, moment) = (Answers::default(), |next| {
            let window = Some(Window { max_age: Some(30_000), max_count: None });
            Moment { window, latest: next, next: 0 }
        });
        let near = Near { id: 0, similarity: None, verified: true, measure: 0 };
        let answer = Checked { duplicate_of: Some(near), ..Checked::default() };
        let mut most = 0;
        for number in 0..200_000_u64 {
            let (key, now) = (u128::from(number % 150_000) << 40, moment(number));
            answers.remember(key, answer, now);
            answers.tend(1, now, |_| true);
            // A copy that is held shares the chunks.
            let copy = (number % 7_000 == 0).then(|| answers.copied());
            if number > 0 {
                answers.forget(u128::from(number / 3) << 40);
            }
            drop(copy);
            if number % 500 == 0 {
                assert!(answers.told.chunks.is_counted(), "{number}");
            }
            assert_eq!(answers.of_duplicate(key, now, |_| true), Some(answer));
            most = most.max(answers.bytes());
            if number == 20_000 {
                let each = answers.bytes() as f64 / answers.turns.len() as f64;
                assert!((130.0..190.0).contains(&each), "{each}");
            }
        }
        // Alive are 30,000 at most; as many may lie dead.
        assert!(most < 2 * 30_000 * 190, "{most}");
        answers.expire(u64::MAX, moment(200_000));
        for _ in 0..=answers.chunks() {
            answers.sweep(moment(200_000), |_| true);
        }
        assert!(answers.chunks() < 3 && answers.told.chunks.is_counted());
    }
}
