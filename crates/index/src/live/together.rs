//! Items of a batch that are added in one turn.

use std::ops::Range;

use super::Writer;
use super::kind::Kind;
use super::state::SLICE;
use crate::IndexError;
use crate::ids::Ids;

impl<K: Kind> Writer<'_, K> {
    /// How many items of a batch can be added in one turn, see [`Writer::add_together`]: one where each change is written down, or
    /// room may have to be made for it.
    pub(super) fn together(&self) -> usize {
        let is_crowded = || self.live.window().is_some_and(|window| window.max_count.is_some());
        let has_room = || self.shared().state.read().kind.check_room(self.turn.promised()).is_ok();
        if K::TOGETHER > 1 && !self.turn.writes() && !is_crowded() && has_room() {
            K::TOGETHER
        } else {
            1
        }
    }

    /// Comes to the next items of a batch and adds them, each at its time, under one exclusive hold of the state. Each item writes to
    /// memory that is not in the cache, and a lock waits for all writes before it. Returns the ids, of fewer items where others must have
    /// their turn meanwhile, but of one at least.
    ///
    /// # Errors
    /// As [`Writer::next`], [`Writer::advance`] and [`Writer::add`]. Where damage is found, all items of the turn are taken away again.
    pub(super) fn add_together<B: AsRef<K::Item>>(
        &mut self,
        items: &[B],
        at: impl Fn(usize) -> u64,
    ) -> Result<Range<u64>, IndexError> {
        self.next(items.len())?;
        self.turn.refuse_closed()?;
        // Any number may leave for the first one, in turns between which others do not get the room of this one.
        let promised = self.turn.promised();
        self.turn.promise(promised + items.len() as u64);
        self.advance(Some(at(0)))?;
        self.turn.promise(promised);
        let (live, is_aged) = (self.live, self.live.window().is_some());
        let mut state = live.shared.state.write();
        let first = state.kind.ids().next();
        let (mut gone, mut due) = (0, false);
        for (number, item) in items.iter().enumerate() {
            if is_aged && number > 0 {
                gone += state.move_on(at(number), |_| {}).unwrap_or_default();
                if gone >= SLICE {
                    break;
                }
            }
            due = state.add(&K::form(&live.shared.options, item.as_ref()), K::Hint::default()).1;
            if due {
                break;
            }
        }
        let ids = first..state.kind.ids().next();
        let sound = K::sound(&live.shared.options);
        if sound.is_err() {
            // No further change is made, so that nobody misses their ids.
            for id in ids.clone() {
                state.delete(id);
            }
        }
        drop(state);
        let left = items.len() as u64 - (ids.end - ids.start);
        self.items -= left;
        self.turn.promise(self.turn.promised() + left);
        if gone > 0 {
            self.pressed |= K::left(&live.shared);
        }
        if due {
            self.overdue();
        }
        sound.map(|()| ids)
    }
}
