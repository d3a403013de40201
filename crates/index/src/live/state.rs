//! The documents and their times, and how each change changes them.

use super::kind::Kind;
use super::window::{Ages, Window};
use crate::ids::Ids;

/// Documents that leave under one exclusive hold of the state: about a tenth of a millisecond.
pub(crate) const SLICE: u64 = 512;

/// A kind with the times of its documents.
#[derive(Debug, Clone)]
pub struct State<K> {
    pub(crate) kind: K,
    pub(crate) ages: Ages,
    pub(crate) window: Option<Window>,
}

impl<K: Kind> State<K> {
    pub(crate) fn of(kind: K, window: Option<Window>) -> Self {
        Self { kind, ages: Ages::default(), window }
    }

    pub(crate) fn live(&self) -> u64 {
        self.kind.ids().live()
    }

    pub(crate) fn has(&self, id: u64) -> bool {
        let ids = self.kind.ids();
        ids.short(id).is_some_and(|short| ids.is_alive(short))
    }

    /// What is before the answer is too old when time moves on to `at`. `None`: time does not move.
    fn due(&self, at: u64) -> Option<u64> {
        let window = self.window.filter(|_| at > self.ages.latest())?;
        Some(window.since(at))
    }

    /// Takes away what is too old at `at`, [`SLICE`] at most, and moves time on when nothing of it is left; how many went.
    /// `None`: time does not move.
    pub(super) fn move_on(&mut self, at: u64, left: impl FnMut(u64)) -> Option<u64> {
        let before = self.due(at)?;
        let gone = self.expire_some(before, 0, left);
        if gone < SLICE {
            self.ages.advance(at);
        }
        Some(gone)
    }

    /// Takes the oldest documents away that are before `before`, or too many beside `room` more: [`SLICE`] at most, telling `left`; how many
    /// they were.
    pub(super) fn expire_some(&mut self, before: u64, room: u64, mut left: impl FnMut(u64)) -> u64 {
        let most = self.window.and_then(|window| window.max_count);
        let mut gone = 0;
        while gone < SLICE {
            let crowded = most.is_some_and(|most| self.live() + room > most);
            let before = if crowded { u64::MAX } else { before };
            let ids = self.kind.ids();
            let Some(short) = self.ages.pop_before(before, |short| ids.is_alive(short)) else {
                break;
            };
            let id = ids.id(short);
            self.kind.remove(id);
            left(id);
            gone += 1;
        }
        if gone > 0 {
            self.sweep();
            self.kind.removed();
        }
        gone
    }

    /// [`State::expire_some`], all of them; how many they were.
    pub(super) fn expire(&mut self, before: u64, room: u64, mut left: impl FnMut(u64)) -> u64 {
        let mut all = 0;
        loop {
            let gone = self.expire_some(before, room, &mut left);
            all += gone;
            if gone < SLICE {
                return all;
            }
        }
    }

    fn sweep(&mut self) {
        let ids = self.kind.ids();
        self.ages.sweep(ids.live(), |short| ids.is_alive(short));
    }

    /// Adds an item for which there is room, at the latest time.
    pub(super) fn add(&mut self, form: &K::Form<'_>, hint: K::Hint) -> (u64, bool) {
        let (id, due) = self.kind.insert(form, hint);
        if self.window.is_some() {
            self.ages.push(id as u32, self.ages.latest());
        }
        (id, due)
    }

    /// Makes a live document as young as the latest time; false where there is none, or no window.
    pub(super) fn touch(&mut self, id: u64) -> bool {
        let fits = self.window.is_some() && self.has(id);
        if fits {
            self.ages.renew(id as u32, self.ages.latest());
            self.sweep();
        }
        fits
    }

    /// Takes an id away; false if it was not alive.
    pub(super) fn delete(&mut self, id: u64) -> bool {
        let lives = self.has(id);
        if lives {
            self.kind.remove(id);
            if self.window.is_some() {
                self.sweep();
            }
            self.kind.removed();
        }
        lives
    }
}
