//! Who may change an index, and when.
//!
//! A single change takes the *turn* for a moment. A batch takes it too, but gives way between its items: a single change
//! waits for the item under way, never for the batch. Batches come one after the other. So a batch is its items one by one,
//! in order, and single changes may come between two of them.
//!
//! A copy of the index for a file belongs to the moment of the call that asked for it. The call only notes that
//! ([`Turns::ask`], O(1)); the copy is made before the next change, by whoever comes first: the thread of that change, or
//! the one that writes the file. Where a batch is under way that counts as a whole, it is made when the batch has ended.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};

/// Between two looks at whether a copy that waits for a batch is still wanted.
const MOMENT: Duration = Duration::from_millis(5);

/// Makes a copy, unless this is no moment for it; whether it is done with.
type Copying<T> = Box<dyn FnMut(&mut T) -> bool + Send>;

/// The lock of those who change an index, with what only they look at.
pub(crate) struct Turns<T> {
    batches: Mutex<()>,
    seat: Mutex<Seat<T>>,
    /// Ids that the batch under way may still take.
    promised: AtomicU64,
    /// What a test does between two items of a batch, on its thread.
    #[cfg(test)]
    pub(crate) between: Mutex<Option<Box<dyn FnMut() + Send>>>,
}

struct Seat<T> {
    value: T,
    asked: Vec<Copying<T>>,
}

impl<T> fmt::Debug for Turns<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turns").finish_non_exhaustive()
    }
}

impl<T: Default> Default for Turns<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> Turns<T> {
    pub(crate) fn new(value: T) -> Self {
        Self {
            batches: Mutex::default(),
            seat: Mutex::new(Seat { value, asked: Vec::new() }),
            promised: AtomicU64::new(0),
            #[cfg(test)]
            between: Mutex::default(),
        }
    }

    /// Waits for the change under way.
    pub(crate) fn turn(&self) -> Turn<'_, T> {
        Turn::of(self, None)
    }

    /// Waits for the batches before, then for the change under way. The caller must not wait for other tasks of its pool
    /// until it drops the turn: one of them might be the next batch.
    pub(crate) fn batch(&self) -> Turn<'_, T> {
        let batch = self.batches.lock();
        Turn::of(self, Some(batch))
    }

    /// Whether somebody has the turn.
    #[cfg(test)]
    pub(crate) fn is_taken(&self) -> bool {
        self.seat.is_locked()
    }

    /// Has `copy` made before the next change, of what only those who change the index look at too. Where it makes none (`None`), it
    /// is asked again before each change that follows, and at the end of the batch under way.
    pub(crate) fn ask<C: Send + 'static>(
        &self,
        mut copy: impl FnMut(&mut T) -> Option<C> + Send + 'static,
    ) -> Asked<C> {
        let slot = Arc::new(Mutex::new(None));
        let wanted = Arc::downgrade(&slot);
        let copying = move |value: &mut T| {
            // Who asked may have gone.
            let Some(slot) = wanted.upgrade() else { return true };
            let Some(made) = copy(value) else { return false };
            *slot.lock() = Some(made);
            true
        };
        self.seat.lock().asked.push(Box::new(copying));
        Asked(slot)
    }
}

/// A copy that was asked for.
pub(crate) struct Asked<C>(Arc<Mutex<Option<C>>>);

impl<C> fmt::Debug for Asked<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Asked").finish_non_exhaustive()
    }
}

impl<C> Asked<C> {
    /// The copy, made now if nobody has made it, after [`Asked::wait`]. None: making it has panicked on the thread of another change.
    pub(crate) fn made(self) -> Option<C> {
        self.0.lock().take()
    }

    /// Makes the copy if nobody has, once the batch under way has ended if that counts as a whole; false: `cancel` was raised before.
    pub(crate) fn wait<T>(&self, turns: &Turns<T>, cancel: &AtomicBool) -> bool {
        let is_over = || Arc::weak_count(&self.0) == 0 || self.0.lock().is_some();
        loop {
            drop(turns.turn());
            if is_over() {
                return true;
            }
            // Other batches may follow, of which the first makes the copy.
            while turns.batches.try_lock_for(MOMENT).is_none() {
                if cancel.load(Ordering::Relaxed) {
                    return false;
                }
                if is_over() {
                    return true;
                }
            }
        }
    }
}

/// The right to change the index; others wait until it is dropped or gives way.
pub(crate) struct Turn<'a, T> {
    turns: &'a Turns<T>,
    seat: MutexGuard<'a, Seat<T>>,
    batch: Option<MutexGuard<'a, ()>>,
}

impl<T> fmt::Debug for Turn<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turn").finish_non_exhaustive()
    }
}

impl<'a, T> Turn<'a, T> {
    fn of(turns: &'a Turns<T>, batch: Option<MutexGuard<'a, ()>>) -> Self {
        let mut turn = Self { turns, seat: turns.seat.lock(), batch };
        turn.copy();
        turn
    }

    /// Makes the copies that were asked for; hardly ever are there any.
    #[inline]
    fn copy(&mut self) {
        if !self.seat.asked.is_empty() {
            self.copy_all();
        }
    }

    #[cold]
    fn copy_all(&mut self) {
        let Seat { value, asked } = &mut *self.seat;
        let mut all = std::mem::take(asked);
        all.retain_mut(|copying| !copying(value));
        *asked = all;
    }

    /// Room for so many ids is the batch's from now on.
    pub(crate) fn promise(&mut self, ids: u64) {
        self.turns.promised.store(ids, Ordering::Relaxed);
    }

    /// Ids that a batch under way may still take, not counting those of the items that it is at.
    pub(crate) fn promised(&self) -> u64 {
        self.turns.promised.load(Ordering::Relaxed)
    }

    /// The batch comes to its next `items` items; who waits for a turn has it first.
    pub(crate) fn next(&mut self, items: u64) {
        #[cfg(test)]
        self.unlocked(|turns| {
            if let Some(between) = &mut *turns.between.lock() {
                between();
            }
        });
        // Costs a look at a flag where nobody waits.
        MutexGuard::bump(&mut self.seat);
        self.copy();
        self.promise(self.promised().saturating_sub(items));
    }

    /// Whether it is that of a batch.
    pub(crate) fn is_batch(&self) -> bool {
        self.batch.is_some()
    }

    /// Who waits for a turn has it first.
    pub(crate) fn give_way(&mut self) {
        self.next(0);
    }

    /// Gives the turn up while `wait` runs.
    pub(crate) fn unlocked(&mut self, wait: impl FnOnce(&Turns<T>)) {
        let turns = self.turns;
        MutexGuard::unlocked_fair(&mut self.seat, || wait(turns));
        self.copy();
    }
}

impl<T> Deref for Turn<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.seat.value
    }
}

impl<T> DerefMut for Turn<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.seat.value
    }
}

impl<T> Drop for Turn<'_, T> {
    fn drop(&mut self) {
        if self.batch.is_some() {
            self.promise(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Turns;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

    #[test]
    fn a_copy_is_of_the_moment_it_was_asked_for_whoever_makes_it() {
        for helped in [false, true] {
            let (turns, value) = (Turns::new(()), Arc::new(AtomicU64::new(1)));
            let seen = Arc::clone(&value);
            let asked = turns.ask(move |(): &mut ()| Some(seen.load(Ordering::SeqCst)));
            // Asking once more, or no longer wanting it, copies nothing.
            drop(turns.ask(|(): &mut ()| -> Option<()> { panic!("nobody wants this copy") }));
            if helped {
                let _change = turns.turn();
                value.store(2, Ordering::SeqCst);
            }
            assert!(asked.wait(&turns, &AtomicBool::new(true)));
            assert_eq!(asked.made(), Some(1));
        }
    }

    #[test]
    fn a_copy_that_waits_for_a_batch_is_given_up_when_it_is_cancelled() {
        let turns = Turns::new(true);
        let asked = turns.ask(|is_whole: &mut bool| (!*is_whole).then_some(7));
        let mut batch = turns.batch();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                let cancel = AtomicBool::new(true);
                asked.wait(&turns, &cancel)
            });
            batch.unlocked(|_| assert!(!waiting.join().unwrap()));
            let waiting = scope.spawn(|| asked.wait(&turns, &AtomicBool::new(false)));
            *batch = false;
            drop(batch);
            assert!(waiting.join().unwrap());
        });
        assert_eq!(asked.made(), Some(7));
    }

    #[test]
    fn single_changes_come_between_the_items_of_a_batch_and_other_batches_do_not() {
        let turns = Turns::new(Vec::new());
        let mut batch = turns.batch();
        batch.promise(3);
        for item in 0..3 {
            batch.next(1);
            batch.push(item);
            assert_eq!(batch.promised(), 2 - item);
            batch.unlocked(|turns| {
                assert!(turns.batches.try_lock().is_none());
                turns.turn().push(10 + item);
            });
        }
        drop(batch);
        assert_eq!(*turns.batch(), [0, 10, 1, 11, 2, 12]);
        assert_eq!(turns.turn().promised(), 0);
    }
}
