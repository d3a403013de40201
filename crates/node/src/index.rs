//! `Index` for JavaScript.
//!
//! The core index lies behind an `Arc`: a job on the pool keeps it alive while `close` already let go of it. Its memory
//! is outside the engine's heap and is reported to it, or dropped indexes would pile up uncollected.

mod columns;

use crate::check::{number, whole};
use crate::error::{Failure, caught, js};
use crate::fingerprinter::NativeFingerprinter;
use crate::pool;
use crate::sketch::items;
use crate::task::{self, Cancel, Place};
use crate::text::{Accept, Texts};
use columns::{NativeAdded, NativeChecked, NativeMatches, NativeStats};
use napi::Env;
use napi::bindgen_prelude::{Object, ObjectFinalize, Unknown};
use napi_derive::napi;
use parking_lot::RwLock;
use simhash_index::{Index, IndexOptions, Item, PlanChoice, SearchOptions};
use simhash_sketch::Fingerprinter;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, Ordering};

/// Single calls between two reports of memory: the report reads all counters, a call costs a microsecond.
const REPORT_EVERY: u32 = 4096;

struct Shared {
    index: Index,
    fingerprinter: Fingerprinter,
    threads: u32,
    /// A panic left a writer half way: nothing it says can be trusted.
    poisoned: AtomicBool,
}

/// An exact Hamming index.
#[napi(custom_finalize)]
pub struct NativeIndex {
    shared: RwLock<Option<Arc<Shared>>>,
    memory: Arc<Memory>,
}

/// Bytes told to the engine so far.
#[derive(Default)]
struct Memory {
    reported: AtomicI64,
    calls: AtomicU32,
}

impl Memory {
    fn report(&self, env: Env, bytes: i64) {
        let before = self.reported.swap(bytes, Ordering::Relaxed);
        // A refusal only means that the collector knows less.
        let _ = env.adjust_external_memory(bytes - before);
    }
}

impl Shared {
    fn bytes(&self) -> i64 {
        let stats = self.index.stats();
        i64::try_from(stats.table_bytes + stats.id_bytes).unwrap_or(i64::MAX)
    }

    /// Runs `work` unless an earlier panic broke the index; remembers a new one.
    fn guarded<T>(&self, work: impl FnOnce(&Self) -> Result<T, Failure>) -> Result<T, Failure> {
        if self.poisoned.load(Ordering::Relaxed) {
            let why = "an earlier internal error left this index unusable; make a new one and report the error";
            return Err(Failure::internal(why));
        }
        let result = caught(|| work(self));
        if result.as_ref().is_err_and(Failure::is_internal) {
            self.poisoned.store(true, Ordering::Relaxed);
        }
        result
    }

    fn items(&self, texts: &Texts, flag: &AtomicBool) -> Result<Vec<Item>, Failure> {
        items(&self.fingerprinter, texts, self.threads, flag)
    }

    fn add_many(&self, texts: &Texts, flag: &AtomicBool) -> Result<NativeAdded, Failure> {
        let items = self.items(texts, flag)?;
        if flag.load(Ordering::Relaxed) {
            return Err(Failure::cancelled());
        }
        let ids = self.index.add_many(&items)?;
        Ok(NativeAdded { first: number(ids.start), count: number(ids.end - ids.start) })
    }

    fn search_many(
        &self,
        texts: &Texts,
        how: SearchOptions,
        flag: &AtomicBool,
    ) -> Result<NativeMatches, Failure> {
        let items = self.items(texts, flag)?;
        let tasks = pool::tasks(self.threads);
        let found = on_pool(items.len(), tasks, |tasks| {
            Ok(self.index.search_many(&items, how, tasks, flag)?)
        })?;
        NativeMatches::of(&found)
    }

    fn check_and_add_many(
        &self,
        texts: &Texts,
        flag: &AtomicBool,
    ) -> Result<NativeChecked, Failure> {
        let items = self.items(texts, flag)?;
        let tasks = pool::tasks(self.threads);
        let checked = on_pool(items.len(), tasks, |tasks| {
            Ok(self.index.check_and_add_many(&items, tasks, flag)?)
        })?;
        Ok(NativeChecked::of(&checked))
    }
}

/// Runs a parallel call of the core on the shared pool; a small batch, or one for a single task, where it is.
fn on_pool<T: Send>(
    len: usize,
    tasks: usize,
    work: impl FnOnce(usize) -> Result<T, Failure> + Send,
) -> Result<T, Failure> {
    /// Items of a few hundred nanoseconds each: below, the pool costs more than it gives.
    const SMALL: usize = 256;
    if tasks == 1 || len <= SMALL { work(1) } else { pool::shared()?.install(|| work(tasks)) }
}

fn search_options(max_distance: Option<u32>, limit: Option<f64>) -> Result<SearchOptions, Failure> {
    let limit = limit.map(|limit| whole(limit, "limit")).transpose()?;
    Ok(SearchOptions {
        max_distance,
        limit: limit.map(|limit| usize::try_from(limit).unwrap_or(usize::MAX)),
    })
}

static NEVER: AtomicBool = AtomicBool::new(false);

#[napi]
impl NativeIndex {
    /// An empty index.
    #[napi(constructor, catch_unwind)]
    pub fn new(
        fingerprinter: &NativeFingerprinter,
        max_distance: u32,
        plan: String,
        capacity: Option<f64>,
        threads: u32,
    ) -> js::Result<Self> {
        let shared = caught(|| {
            let mut options = IndexOptions::default();
            options.max_distance = max_distance;
            options.plan = match plan.as_str() {
                "auto" => PlanChoice::Auto,
                "classic" => PlanChoice::Classic,
                _ => PlanChoice::Named(plan),
            };
            options.capacity = capacity.map(|count| whole(count, "capacity")).transpose()?;
            let fingerprinter = fingerprinter.core.clone();
            let poisoned = AtomicBool::new(false);
            Ok(Shared { index: Index::new(&options)?, fingerprinter, threads, poisoned })
        })?;
        Ok(Self { shared: RwLock::new(Some(Arc::new(shared))), memory: Arc::default() })
    }

    /// Adds one item.
    #[napi(catch_unwind)]
    pub fn add(&self, env: Env, item: Unknown<'_>) -> js::Result<f64> {
        let texts = Texts::one(&item, "item", Accept::Items)?;
        let id = self
            .open()?
            .guarded(|shared| Ok(shared.index.add(shared.items(&texts, &NEVER)?[0])?))?;
        self.grown(env);
        Ok(number(id))
    }

    /// Adds many items.
    #[napi(catch_unwind)]
    pub fn add_many(&self, env: Env, items: Unknown<'_>) -> js::Result<NativeAdded> {
        let texts = Texts::many(&items, "items", Accept::Items)?;
        let shared = self.open()?;
        let added = shared.guarded(|shared| shared.add_many(&texts, &NEVER))?;
        self.memory.report(env, shared.bytes());
        Ok(added)
    }

    /// Adds many items on the pool.
    #[napi(catch_unwind, ts_return_type = "Promise<NativeAdded>")]
    pub fn add_many_async<'env>(
        &self,
        env: &'env Env,
        items: Unknown<'_>,
        cancel: &Cancel,
    ) -> js::Result<Object<'env>> {
        self.start(env, &items, cancel, Shared::add_many)
    }

    /// Matches of one item.
    #[napi(catch_unwind)]
    pub fn search(
        &self,
        item: Unknown<'_>,
        max_distance: Option<u32>,
        limit: Option<f64>,
    ) -> js::Result<NativeMatches> {
        let texts = Texts::one(&item, "item", Accept::Items)?;
        let how = search_options(max_distance, limit)?;
        Ok(self.open()?.guarded(|shared| shared.search_many(&texts, how, &NEVER))?)
    }

    /// Matches of many items.
    #[napi(catch_unwind)]
    pub fn search_many(
        &self,
        items: Unknown<'_>,
        max_distance: Option<u32>,
        limit: Option<f64>,
    ) -> js::Result<NativeMatches> {
        let texts = Texts::many(&items, "items", Accept::Items)?;
        let how = search_options(max_distance, limit)?;
        Ok(self.open()?.guarded(|shared| shared.search_many(&texts, how, &NEVER))?)
    }

    /// Matches of many items, on the pool.
    #[napi(catch_unwind, ts_return_type = "Promise<NativeMatches>")]
    pub fn search_many_async<'env>(
        &self,
        env: &'env Env,
        items: Unknown<'_>,
        max_distance: Option<u32>,
        limit: Option<f64>,
        cancel: &Cancel,
    ) -> js::Result<Object<'env>> {
        let how = search_options(max_distance, limit)?;
        self.start(env, &items, cancel, move |shared, texts, flag| {
            shared.search_many(texts, how, flag)
        })
    }

    /// Adds one item unless a near one is there.
    #[napi(catch_unwind)]
    pub fn check_and_add(&self, env: Env, item: Unknown<'_>) -> js::Result<NativeChecked> {
        let texts = Texts::one(&item, "item", Accept::Items)?;
        let checked = self.open()?.guarded(|shared| {
            Ok(shared.index.check_and_add(shared.items(&texts, &NEVER)?[0])?)
        })?;
        self.grown(env);
        Ok(NativeChecked::of(&[checked]))
    }

    /// Adds those of many items that have no near one, in order.
    #[napi(catch_unwind)]
    pub fn check_and_add_many(&self, env: Env, items: Unknown<'_>) -> js::Result<NativeChecked> {
        let texts = Texts::many(&items, "items", Accept::Items)?;
        let shared = self.open()?;
        let checked = shared.guarded(|shared| shared.check_and_add_many(&texts, &NEVER))?;
        self.memory.report(env, shared.bytes());
        Ok(checked)
    }

    /// The same on the pool.
    #[napi(catch_unwind, ts_return_type = "Promise<NativeChecked>")]
    pub fn check_and_add_many_async<'env>(
        &self,
        env: &'env Env,
        items: Unknown<'_>,
        cancel: &Cancel,
    ) -> js::Result<Object<'env>> {
        self.start(env, &items, cancel, Shared::check_and_add_many)
    }

    /// Whether an id is alive.
    #[napi(catch_unwind)]
    pub fn has(&self, id: f64) -> js::Result<bool> {
        let id = whole(id, "id")?;
        Ok(self.open()?.guarded(|shared| Ok(shared.index.has(id)))?)
    }

    /// Takes an id away.
    #[napi(catch_unwind)]
    pub fn delete(&self, id: f64) -> js::Result<bool> {
        let id = whole(id, "id")?;
        Ok(self.open()?.guarded(|shared| Ok(shared.index.delete(id)))?)
    }

    /// Live ids.
    #[napi(catch_unwind)]
    pub fn size(&self) -> js::Result<f64> {
        Ok(self.open()?.guarded(|shared| Ok(number(shared.index.len())))?)
    }

    /// Counts and bytes.
    #[napi(catch_unwind)]
    pub fn stats(&self) -> js::Result<NativeStats> {
        Ok(self.open()?.guarded(|shared| Ok(NativeStats::from(shared.index.stats())))?)
    }

    /// Lets go of the index; running jobs finish.
    #[napi(catch_unwind)]
    pub fn close(&self, env: Env) {
        drop(self.shared.write().take());
        self.memory.report(env, 0);
    }

    fn open(&self) -> Result<Arc<Shared>, Failure> {
        self.shared.read().clone().ok_or_else(|| Failure::closed("Index"))
    }

    /// After a single addition: reports memory now and then.
    fn grown(&self, env: Env) {
        if self.memory.calls.fetch_add(1, Ordering::Relaxed) % REPORT_EVERY == REPORT_EVERY - 1
            && let Ok(shared) = self.open()
        {
            self.memory.report(env, shared.bytes());
        }
    }

    fn start<'env, T: napi::bindgen_prelude::ToNapiValue + Send + 'static>(
        &self,
        env: &'env Env,
        items: &Unknown<'_>,
        cancel: &Cancel,
        work: impl FnOnce(&Shared, &Texts, &AtomicBool) -> Result<T, Failure> + Send + 'static,
    ) -> js::Result<Object<'env>> {
        let texts = Texts::many(items, "items", Accept::Items)?;
        let shared = self.open()?;
        let (job, memory) = (Arc::clone(&shared), Arc::clone(&self.memory));
        // Weak: a closed index must not be counted again, nor held by its last job's report.
        let weak = Arc::downgrade(&shared);
        let settled = move |env: Env| {
            if let Some(shared) = weak.upgrade() {
                memory.report(env, shared.bytes());
            }
        };
        task::start(
            env,
            Place::Shared,
            cancel,
            move |flag| job.guarded(|shared| work(shared, &texts, flag)),
            settled,
        )
    }
}

impl ObjectFinalize for NativeIndex {
    fn finalize(self, env: Env) -> napi::Result<()> {
        self.memory.report(env, 0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Failure, NEVER, Shared};
    use crate::text::Texts;
    use simhash_index::{Index, IndexOptions};
    use simhash_sketch::{Fingerprinter, FingerprinterOptions};
    use std::sync::atomic::AtomicBool;

    #[test]
    fn a_panic_makes_an_index_unusable_and_later_calls_say_so() {
        let shared = Shared {
            index: Index::new(&IndexOptions::default()).unwrap(),
            fingerprinter: Fingerprinter::new(&FingerprinterOptions::default()).unwrap(),
            threads: 1,
            poisoned: AtomicBool::new(false),
        };
        let refused = |shared: &Shared| shared.guarded::<()>(|_| Err(Failure::closed("Index")));
        assert!(!refused(&shared).unwrap_err().is_internal());
        assert!(shared.guarded(|shared| shared.add_many(&Texts::default(), &NEVER)).is_ok());
        assert!(shared.guarded::<()>(|_| panic!("half way")).unwrap_err().is_internal());
        assert!(refused(&shared).unwrap_err().is_internal());
    }
}
