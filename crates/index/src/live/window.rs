//! The sliding window: which documents are due to leave, in amortised O(1). `State` takes them away.
//!
//! Documents leave in the order of their times. A queue holds an id and a time per addition, 12 bytes; renewing a
//! document appends it again and counts its older entry as stale, to be skipped when its turn comes. Entries of deleted
//! documents are skipped likewise, and swept out when they and the stale ones are half of the queue, so that the queue
//! follows the number of live documents. Time never runs backwards here: a time before the latest counts as the latest. So
//! one time far in the future would stop the window for as long: [`Skew`] refuses it, for every kind of index.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use super::queue::Queue;
use crate::IndexError;
use crate::memory::Sparse;

/// What a document may be at most to stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Window {
    /// Oldest age, in the unit of the times given (milliseconds where the clock is used), measured at the latest time
    /// that an addition or `expire` has brought. At least 1. Default: any.
    pub max_age: Option<u64>,
    /// Most documents, 1 to 2^32 - 2; the oldest leave first. Default: any number.
    pub max_count: Option<u64>,
}

impl Window {
    /// What is before this time is too old when `latest` is the latest.
    pub fn since(&self, latest: u64) -> u64 {
        self.max_age.map_or(0, |age| latest.saturating_sub(age))
    }

    pub(crate) fn check(&self) -> Result<(), IndexError> {
        for (name, limit, most) in [
            ("window.max_age", self.max_age, u64::MAX),
            ("window.max_count", self.max_count, u64::from(u32::MAX) - 1),
        ] {
            if let Some(given) = limit.filter(|&given| given == 0 || given > most) {
                return Err(IndexError::Window { name, given });
            }
        }
        Ok(())
    }
}

/// How far ahead of the system's clock a time may be unless another limit is set: a day, in milliseconds.
pub const MAX_SKEW: u64 = 86_400_000;

/// The system's clock, in milliseconds since 1970.
pub(crate) fn clock() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as u64)
}

/// The limit on times ahead of the clock. It belongs to an index while it is open and is in no file.
#[derive(Debug)]
pub(crate) struct Skew {
    most: AtomicU64,
    /// What the clock said when it was last asked.
    seen: AtomicU64,
}

impl Default for Skew {
    fn default() -> Self {
        Self { most: AtomicU64::new(MAX_SKEW), seen: AtomicU64::new(0) }
    }
}

impl Skew {
    /// Milliseconds; none: any time is taken.
    pub(crate) fn set(&self, most: Option<u64>) {
        self.most.store(most.unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Whether all of these times may be taken. An index without a window looks at none. The clock takes as long as a line from
    /// memory, so it is asked only about times that were too far ahead when it was last asked: it runs forward (one that is set back
    /// counts from where it was).
    pub(crate) fn admit(&self, window: Option<Window>, times: &[u64]) -> Result<(), IndexError> {
        let most = self.most.load(Ordering::Relaxed);
        if window.is_none() || most == u64::MAX {
            return Ok(());
        }
        let seen = self.seen.load(Ordering::Relaxed).saturating_add(most);
        if times.iter().all(|&at| at <= seen) {
            return Ok(());
        }
        let now = clock();
        self.seen.store(now, Ordering::Relaxed);
        let last = now.saturating_add(most);
        match times.iter().find(|&&at| at > last) {
            Some(&at) => Err(IndexError::Skew { at, ahead: at - (last - most), most }),
            None => Ok(()),
        }
    }
}

/// The queue of documents by time. Clones share what has not changed since.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ages {
    queue: Queue,
    /// How many entries of an id, from the front, no longer count.
    stale: Sparse<u32>,
    latest: u64,
}

impl Ages {
    /// The time that counts for something at `at`, and from now on the latest.
    pub(crate) fn advance(&mut self, at: u64) -> u64 {
        self.latest = self.latest.max(at);
        self.latest
    }

    /// A new document.
    pub(crate) fn push(&mut self, id: u32, at: u64) {
        let at = self.advance(at);
        self.queue.push(id, at);
    }

    /// A document is as young as at `at` again.
    pub(crate) fn renew(&mut self, id: u32, at: u64) {
        match self.stale.get_mut(id) {
            Some(stale) => *stale += 1,
            None => self.stale.insert(id, 1),
        }
        self.push(id, at);
    }

    /// The oldest document, if its time is before `before`; it leaves the queue.
    pub(crate) fn pop_before(
        &mut self,
        before: u64,
        is_alive: impl Fn(u32) -> bool,
    ) -> Option<u32> {
        while self.queue.first_time()? < before {
            let id = self.queue.pop()?;
            if self.counts(id) && is_alive(id) {
                return Some(id);
            }
        }
        None
    }

    /// Whether an entry that leaves the front is its document's last.
    fn counts(&mut self, id: u32) -> bool {
        let Some(stale) = self.stale.get_mut(id) else { return true };
        *stale -= 1;
        if *stale == 0 {
            self.stale.remove(id);
        }
        false
    }

    /// Sweeps out what no longer counts when it is more than half. Amortised O(1) per entry.
    pub(crate) fn sweep(&mut self, live: u64, is_alive: impl Fn(u32) -> bool) {
        /// Fewer entries are not worth a sweep.
        const LEAST: usize = 1024;
        if self.queue.len() <= LEAST.max(2 * live as usize) {
            return;
        }
        for (id, time) in std::mem::take(&mut self.queue).iter() {
            if self.counts(id) && is_alive(id) {
                self.queue.push(id, time);
            }
        }
    }

    pub(crate) fn latest(&self) -> u64 {
        self.latest
    }

    /// Id and time of every live document, oldest first.
    pub(crate) fn entries(&self, is_alive: impl Fn(u32) -> bool) -> Vec<(u32, u64)> {
        let mut stale = self.stale.clone();
        let mut counts = |id: u32| match stale.get_mut(id).filter(|left| **left > 0) {
            Some(left) => {
                *left -= 1;
                false
            }
            None => is_alive(id),
        };
        self.queue.iter().filter(|&(id, _)| counts(id)).collect()
    }

    /// An entry of a saved queue, in order.
    pub(crate) fn restore(&mut self, id: u32, at: u64) {
        self.queue.push(id, at);
    }

    pub(crate) fn bytes(&self) -> usize {
        self.queue.bytes() + self.stale.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_leave_by_time_and_renewed_ones_later() {
        let mut ages = Ages::default();
        for id in 0..5 {
            ages.push(id, u64::from(id) * 10);
        }
        ages.renew(1, 45);
        ages.renew(1, 50);
        let mut left = Vec::new();
        while let Some(id) = ages.pop_before(50, |id| id != 3) {
            left.push(id);
        }
        assert_eq!(left, [0, 2, 4]);
        assert_eq!(ages.pop_before(51, |_| true), Some(1));
        assert_eq!(ages.pop_before(u64::MAX, |_| true), None);
        assert!(ages.stale.is_empty());
    }

    #[test]
    fn time_does_not_run_backwards() {
        let mut ages = Ages::default();
        ages.push(0, 100);
        ages.push(1, 50);
        assert_eq!(ages.pop_before(100, |_| true), None);
        assert_eq!(ages.pop_before(101, |_| true), Some(0));
        assert_eq!(ages.pop_before(101, |_| true), Some(1));
    }

    #[test]
    fn renewing_one_document_forever_keeps_the_queue_short() {
        let mut ages = Ages::default();
        ages.push(0, 0);
        for at in 1..100_000 {
            ages.renew(0, at);
            ages.sweep(1, |_| true);
        }
        assert!(ages.queue.len() <= 1025);
        assert_eq!(ages.pop_before(99_999, |_| true), None);
        assert_eq!(ages.pop_before(100_000, |_| true), Some(0));
    }

    #[test]
    fn times_far_ahead_of_the_clock_are_refused_until_the_limit_is_lifted() {
        let (skew, window) = (Skew::default(), Some(Window::default()));
        let soon = clock() + MAX_SKEW - 60_000;
        let late = soon + 3_600_000;
        assert!(skew.admit(window, &[0, soon]).is_ok());
        let refused = skew.admit(window, &[0, late]).unwrap_err();
        assert!(matches!(refused, IndexError::Skew { .. }));
        let said = refused.to_string();
        assert!(
            said.contains("window.max_skew is 86400000 ms") && said.contains(&late.to_string()),
            "{said}"
        );
        assert!(skew.admit(None, &[late]).is_ok());
        skew.set(Some(0));
        assert!(skew.admit(window, &[soon]).is_err());
        assert!(skew.admit(window, &[clock()]).is_ok());
        skew.set(None);
        assert!(skew.admit(window, &[u64::MAX]).is_ok());
    }

    #[test]
    fn limits_of_zero_are_refused() {
        assert!(Window::default().check().is_ok());
        let zero = Window { max_age: Some(0), max_count: None };
        assert!(matches!(
            zero.check(),
            Err(IndexError::Window { name: "window.max_age", given: 0 })
        ));
        let many = Window { max_age: None, max_count: Some(u64::MAX) };
        assert!(many.check().is_err());
    }
}
