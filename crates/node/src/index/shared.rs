//! What the calls on an index share with its jobs on the pool.

use crate::error::{Failure, caught};
use crate::pool;
use crate::sketch::{Memory as Scratch, items, rows, with_memory};
use crate::text::{Given, Texts};
use napi::Env;
use simhash_dedup::online::{Document, OnlineIndex};
use simhash_index::{Index, Item, Window};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, Ordering};

/// Single calls between two reports of memory: the report reads all counters, a call costs a microsecond.
const REPORT_EVERY: u32 = 4096;

/// The flag of calls that cannot be cancelled.
pub(crate) static NEVER: AtomicBool = AtomicBool::new(false);

/// An index with what makes its items.
pub(super) struct Shared {
    pub(super) online: OnlineIndex,
    pub(super) window: Option<Window>,
    pub(super) threads: u32,
    guard: Guard,
}

/// Whether a panic left a writer half way: nothing that the index says can be trusted then.
#[derive(Default)]
pub(crate) struct Guard {
    poisoned: AtomicBool,
}

impl Guard {
    /// Runs `work` unless an earlier panic broke the index; remembers a new one.
    pub(crate) fn run<T>(&self, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
        if self.poisoned.load(Ordering::Relaxed) {
            let why = "an earlier internal error left this index unusable; make a new one and report the error";
            return Err(Failure::internal(why));
        }
        let result = caught(work);
        if result.as_ref().is_err_and(Failure::is_panic) {
            self.poisoned.store(true, Ordering::Relaxed);
        }
        result
    }
}

impl Shared {
    pub(super) fn new(online: OnlineIndex, window: Option<Window>, threads: u32) -> Self {
        Self { online, window, threads, guard: Guard::default() }
    }

    /// The index of fingerprints, for what does not concern keys and texts.
    pub(super) fn index(&self) -> &Index {
        self.online.index()
    }

    pub(super) fn bytes(&self) -> i64 {
        let (stats, (keys, texts)) = (self.index().stats(), self.online.bytes());
        let all = stats.table_bytes + stats.id_bytes + stats.window_bytes + keys + texts;
        i64::try_from(all).unwrap_or(i64::MAX)
    }

    /// Runs `work` unless an earlier panic broke the index; remembers a new one.
    pub(super) fn guarded<T>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.guard.run(|| work(self))
    }

    pub(super) fn items(&self, texts: &Texts, flag: &AtomicBool) -> Result<Vec<Item>, Failure> {
        items(self.online.fingerprinter(), texts, self.threads, flag)
    }

    /// Documents of a batch; their texts come along where they are stored, or where `verified`.
    pub(super) fn documents(
        &self,
        texts: &Texts,
        verified: bool,
        flag: &AtomicBool,
    ) -> Result<Vec<Document>, Failure> {
        rows(texts, self.threads, flag, |row| self.document(texts, row, verified))
    }

    /// One of them.
    pub(super) fn document(&self, texts: &Texts, row: usize, verified: bool) -> Document {
        with_memory(|Scratch { text, scratch }| match texts.get(row, text) {
            Given::Fingerprint(value) => Document::without_text(Item::Fingerprint(value)),
            Given::Text(text) => self.online.document(text, verified, scratch),
        })
    }
}

/// Runs a parallel call of the core on the shared pool; a small batch, or one for a single task, where it is.
pub(crate) fn on_pool<T: Send>(
    len: usize,
    tasks: usize,
    work: impl FnOnce(usize) -> Result<T, Failure> + Send,
) -> Result<T, Failure> {
    /// Items of a few hundred nanoseconds each: below, the pool costs more than it gives.
    const SMALL: usize = 256;
    if tasks == 1 || len <= SMALL { work(1) } else { pool::shared()?.install(|| work(tasks)) }
}

/// Bytes told to the engine so far.
#[derive(Default)]
pub(crate) struct Memory {
    reported: AtomicI64,
    calls: AtomicU32,
    elsewhere: bool,
}

impl Memory {
    /// Of an index that another engine has made: it is counted there.
    pub(super) fn elsewhere() -> Self {
        Self { elsewhere: true, ..Self::default() }
    }

    pub(crate) fn report(&self, env: Env, bytes: i64) {
        if self.elsewhere {
            return;
        }
        let before = self.reported.swap(bytes, Ordering::Relaxed);
        // A refusal only means that the collector knows less.
        let _ = env.adjust_external_memory(bytes - before);
    }

    /// Whether a single call is the one in many after which memory is to be reported.
    pub(crate) fn is_due(&self) -> bool {
        self.calls.fetch_add(1, Ordering::Relaxed) % REPORT_EVERY == REPORT_EVERY - 1
    }
}

#[cfg(test)]
mod tests {
    use super::super::batch::Times;
    use super::super::document::Keys;
    use super::{Failure, NEVER, Shared};
    use crate::text::Texts;
    use simhash_dedup::online::{OnlineIndex, Stored};
    use simhash_index::{Index, IndexError, IndexOptions};
    use simhash_sketch::{Fingerprinter, FingerprinterOptions};

    #[test]
    fn a_panic_makes_an_index_unusable_and_later_calls_say_so() {
        let index = Index::new(&IndexOptions::default()).unwrap();
        let fingerprinter = Fingerprinter::new(&FingerprinterOptions::default()).unwrap();
        let online = OnlineIndex::new(index, fingerprinter, Stored::default());
        let shared = Shared::new(online, None, 1);
        let refused = |shared: &Shared| shared.guarded::<()>(|_| Err(Failure::closed("Index")));
        let add = |shared: &Shared| {
            shared.add_many(&Texts::default(), &Times::default(), &Keys::default(), &NEVER)
        };
        assert!(!refused(&shared).unwrap_err().is_panic());
        assert!(shared.guarded(add).is_ok());
        assert!(shared.guarded::<()>(|_| panic!("half way")).unwrap_err().is_panic());
        let told = napi::Error::from(refused(&shared).unwrap_err()).status;
        assert_eq!(told, "ERR_SIMHASH_INTERNAL");
    }

    #[test]
    fn a_merge_that_failed_leaves_an_index_that_can_be_used() {
        let index = Index::new(&IndexOptions::default()).unwrap();
        let fingerprinter = Fingerprinter::new(&FingerprinterOptions::default()).unwrap();
        let online = OnlineIndex::new(index, fingerprinter, Stored::default());
        let shared = Shared::new(online, None, 1);
        let failed = shared.guarded::<()>(|_| Err(IndexError::Merge.into())).unwrap_err();
        assert_eq!(napi::Error::from(failed).status, "ERR_SIMHASH_MERGE");
        assert_eq!(shared.guarded(|shared| Ok(shared.index().len())).unwrap(), 0);
    }
}
