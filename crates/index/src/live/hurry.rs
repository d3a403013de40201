//! Changes of callers that must not wait for work in the background: a thread that serves an event loop.

use std::sync::atomic::{AtomicU32, Ordering};

use super::{Kind, Live, Shared};

/// As long as there is one no change of the index waits for a merge, whoever makes it. See [`Live::hurry`].
#[derive(Debug)]
#[must_use = "changes wait again when it is dropped"]
pub struct Hurry<'a>(&'a AtomicU32);

impl Drop for Hurry<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl<K: Kind> Live<K> {
    /// Until what it returns is dropped, changes begin the merges that are due and do not wait for them. A change as a rule waits
    /// where additions or deletions outrun the merges, which bounds the memtables ([`Stats`](crate::Stats)), and a large batch
    /// until it is in the tables.
    ///
    /// What bounds the memtables then is that one thread adds, and another merges. An addition takes `a`, merging one of `n`
    /// fingerprints into `t` tables `c * t` (2 to 4 ns for each table), so that while all of them are merged `n * c * t / a` are
    /// added. With six tables, and 250 ns for an addition of the fastest batch, that is a tenth of `n` or less, and twice as
    /// much on one core: not more than waits without a hurry. An index that is 2^32 ids long and would have to purge what has left
    /// first is [`IndexError::Full`](crate::IndexError::Full) until the merge that is begun then has ended.
    pub fn hurry(&self) -> Hurry<'_> {
        self.shared.hurried.fetch_add(1, Ordering::AcqRel);
        Hurry(&self.shared.hurried)
    }
}

impl<K: Kind> Shared<K> {
    /// Whether no change may wait.
    pub(crate) fn is_hurried(&self) -> bool {
        self.hurried.load(Ordering::Acquire) > 0
    }
}
