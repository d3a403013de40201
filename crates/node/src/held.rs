//! How JavaScript holds a live index: closes it, runs work on it, reports its memory.
//!
//! The core index lies behind an `Arc`, so that a job on the pool keeps it alive while `close` already let go of it.

use crate::error::{Failure, caught, js};
use crate::index::shared::Shared;
use crate::pool;
use crate::task::{self, Cancel, Place};
use napi::Env;
use napi::bindgen_prelude::{Object, ToNapiValue};
use parking_lot::RwLock;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock, Weak};

/// Single calls between two reports of memory: a report costs as much as a call.
const REPORT_EVERY: u32 = 4096;

/// The flag of calls that cannot be cancelled.
pub(crate) static NEVER: AtomicBool = AtomicBool::new(false);

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

/// An index until it is closed, and the bytes that the engine was told of.
pub(crate) struct Handle {
    shared: RwLock<Option<Arc<Shared>>>,
    memory: Arc<Memory>,
}

impl Handle {
    pub(crate) fn new(shared: Shared) -> Self {
        Self::of(Arc::new(shared), Memory::default())
    }

    /// A handle of an index that another engine has made: its memory is counted there.
    pub(crate) fn elsewhere(shared: Arc<Shared>) -> Self {
        Self::of(shared, Memory { elsewhere: true, ..Memory::default() })
    }

    /// A handle of an index that was read, and has its memory already.
    pub(crate) fn opened(env: Env, shared: Shared) -> Self {
        let handle = Self::new(shared);
        if let Ok(shared) = handle.open() {
            handle.memory.report(env, bytes(&shared));
        }
        handle
    }

    /// Reads an index on the pool; `class` makes the object of JavaScript.
    pub(crate) fn opening<'env, C: ToNapiValue + Send + 'static>(
        env: &'env Env,
        cancel: &Cancel,
        read: impl FnOnce(&AtomicBool) -> Result<Shared, Failure> + Send + 'static,
        class: fn(Self) -> C,
    ) -> js::Result<Object<'env>> {
        let memory = Arc::<Memory>::default();
        let opened = Arc::<OnceLock<Weak<Shared>>>::default();
        let (to_report, in_job) = ((Arc::clone(&memory), Arc::clone(&opened)), opened);
        let work = move |flag: &AtomicBool| {
            let shared = Arc::new(read(flag)?);
            let _ = in_job.set(Arc::downgrade(&shared));
            shared.owned();
            Ok(class(Self { shared: RwLock::new(Some(shared)), memory }))
        };
        let settled = move |env: Env| {
            let (memory, opened) = to_report;
            if let Some(shared) = opened.get().and_then(Weak::upgrade) {
                memory.report(env, bytes(&shared));
            }
        };
        task::start(env, Place::Shared, cancel, work, settled)
    }

    fn of(shared: Arc<Shared>, memory: Memory) -> Self {
        shared.owned();
        Self { shared: RwLock::new(Some(shared)), memory: Arc::new(memory) }
    }

    /// The index, unless it is closed.
    pub(crate) fn open(&self) -> Result<Arc<Shared>, Failure> {
        self.shared.read().clone().ok_or_else(|| Failure::closed("Index"))
    }

    /// Lets go of the index; running jobs finish.
    pub(crate) fn close(&self, env: Env) {
        if let Some(shared) = self.shared.write().take() {
            shared.let_go();
        }
        self.memory.report(env, 0);
    }

    /// [`Handle::close`], of an index in a directory: the last handle flushes everything and lets go of the directory, on the
    /// pool.
    pub(crate) fn release<'env>(
        &self,
        env: &'env Env,
        cancel: &Cancel,
    ) -> js::Result<Object<'env>> {
        let shared = self.shared.write().take();
        self.memory.report(*env, 0);
        let last = shared.filter(|shared| shared.let_go());
        let work = move |_: &AtomicBool| last.map_or(Ok(()), |last| Ok(last.live.close()?));
        task::start(env, Place::Shared, cancel, work, |_| ())
    }

    /// Runs work that changes nothing.
    pub(crate) fn look<T>(
        &self,
        work: impl FnOnce(&Shared) -> Result<T, Failure>,
    ) -> js::Result<T> {
        let shared = self.open()?;
        Ok(shared.guarded(work)?)
    }

    /// Runs work on one item; reports memory now and then.
    pub(crate) fn single<T>(
        &self,
        env: Env,
        work: impl FnOnce(&Shared) -> Result<T, Failure>,
    ) -> js::Result<T> {
        let shared = self.open()?;
        let result = shared.here(work)?;
        self.grown(env, &shared);
        Ok(result)
    }

    /// After a single change: reports memory now and then.
    pub(crate) fn grown(&self, env: Env, shared: &Shared) {
        // Code of the user may have closed it meanwhile: it must not be counted again.
        if self.memory.is_due() && self.shared.read().is_some() {
            self.memory.report(env, bytes(shared));
        }
    }

    /// Runs a batch here and now; `form` is what to call where it would have to wait for another one.
    pub(crate) fn batch<T>(
        &self,
        env: Env,
        form: &str,
        work: impl FnOnce(&Shared) -> Result<T, Failure>,
    ) -> js::Result<T> {
        let (_own, others) = self.open()?.batch();
        if others {
            let why = format!(
                "another batch is under way, and this one would wait for it; use {form}, which returns a promise"
            );
            return Err(Failure::new("ERR_SIMHASH_ASYNC_ONLY", why).into());
        }
        self.change(env, work)
    }

    /// Runs a batch on the pool. From now on, not from when it has the turn, others would wait for it.
    pub(crate) fn start_batch<'env, T: ToNapiValue + Send + 'static>(
        &self,
        env: &'env Env,
        cancel: &Cancel,
        work: impl FnOnce(&Shared, &AtomicBool) -> Result<T, Failure> + Send + 'static,
    ) -> js::Result<Object<'env>> {
        let (own, _) = self.open()?.batch();
        self.start(env, cancel, move |shared, flag| {
            let _own = own;
            work(shared, flag)
        })
    }

    /// Runs work that changes much, here and now.
    pub(crate) fn change<T>(
        &self,
        env: Env,
        work: impl FnOnce(&Shared) -> Result<T, Failure>,
    ) -> js::Result<T> {
        let shared = self.open()?;
        let result = shared.here(work)?;
        self.memory.report(env, bytes(&shared));
        Ok(result)
    }

    /// Runs work on the pool.
    pub(crate) fn start<'env, T: ToNapiValue + Send + 'static>(
        &self,
        env: &'env Env,
        cancel: &Cancel,
        work: impl FnOnce(&Shared, &AtomicBool) -> Result<T, Failure> + Send + 'static,
    ) -> js::Result<Object<'env>> {
        self.start_in(Place::Shared, env, cancel, work)
    }

    /// Runs work on threads of its own (0: one per core): it may wait for a batch of another call, and there is one pool for all indexes.
    pub(crate) fn start_beside<'env, T: ToNapiValue + Send + 'static>(
        &self,
        threads: u32,
        env: &'env Env,
        cancel: &Cancel,
        work: impl FnOnce(&Shared, &AtomicBool) -> Result<T, Failure> + Send + 'static,
    ) -> js::Result<Object<'env>> {
        self.start_in(Place::Own(threads), env, cancel, work)
    }

    fn start_in<'env, T: ToNapiValue + Send + 'static>(
        &self,
        place: Place,
        env: &'env Env,
        cancel: &Cancel,
        work: impl FnOnce(&Shared, &AtomicBool) -> Result<T, Failure> + Send + 'static,
    ) -> js::Result<Object<'env>> {
        let shared = self.open()?;
        let (job, memory) = (Arc::clone(&shared), Arc::clone(&self.memory));
        // Weak: a closed index must not be counted again, nor held by its last job's report.
        let weak = Arc::downgrade(&shared);
        let settled = move |env: Env| {
            if let Some(shared) = weak.upgrade() {
                memory.report(env, bytes(&shared));
            }
        };
        let work = move |flag: &AtomicBool| job.guarded(|shared| work(shared, flag));
        task::start(env, place, cancel, work, settled)
    }

    /// Nobody has the index any more.
    pub(crate) fn finalize(&self, env: Env) {
        self.memory.report(env, 0);
        let shared = self.shared.write().take();
        let last = shared.filter(|shared| shared.let_go());
        if let Some(shared) = last.filter(|shared| shared.live.is_durable()) {
            // Letting go of a directory waits for the disk, and this is the JavaScript thread.
            let thread = std::thread::Builder::new().name("simhash-close".into());
            let _ = thread.spawn(move || drop(shared));
        }
    }
}

fn bytes(shared: &Shared) -> i64 {
    i64::try_from(shared.live.bytes()).unwrap_or(i64::MAX)
}

/// Bytes told to the engine so far.
#[derive(Default)]
struct Memory {
    reported: AtomicI64,
    calls: AtomicU32,
    elsewhere: bool,
}

impl Memory {
    fn report(&self, env: Env, bytes: i64) {
        if self.elsewhere {
            return;
        }
        let before = self.reported.swap(bytes, Ordering::Relaxed);
        // A refusal only means that the collector knows less.
        let _ = env.adjust_external_memory(bytes - before);
    }

    /// Whether a single call is the one in many after which memory is to be reported.
    fn is_due(&self) -> bool {
        self.calls.fetch_add(1, Ordering::Relaxed) % REPORT_EVERY == REPORT_EVERY - 1
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
