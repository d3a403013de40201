//! `Index` for JavaScript.
//!
//! The core index lies behind an `Arc`: a job on the pool keeps it alive while `close` already let go of it. Its memory
//! is outside the engine's heap and is reported to it, or dropped indexes would pile up uncollected.

pub(crate) mod batch;
mod checks;
mod clusters;
pub(crate) mod columns;
mod document;
pub(crate) mod options;
mod pairs;
mod plan;
mod share;
pub(crate) mod shared;
mod whole;

use crate::check::{number, whole};
use crate::error::{Failure, caught, js};
use crate::fingerprinter::NativeFingerprinter;
use crate::pool;
use crate::task::{self, Cancel, Place};
use crate::text::{Accept, Texts};
use batch::Times;
use columns::{NativeAdded, NativeMatches, NativeStats};
use document::{Keys, checked_key};
use napi::Env;
use napi::bindgen_prelude::{Float64Array, Object, ObjectFinalize, ToNapiValue, Unknown};
use napi_derive::napi;
use options::{NativeIndexOptions, NativeWindow};
use parking_lot::RwLock;
use shared::{Memory, NEVER, Shared, on_pool};
use simhash_dedup::online::OnlineIndex;
use simhash_index::{Index, SearchOptions};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// An exact Hamming index.
#[napi(custom_finalize)]
pub struct NativeIndex {
    shared: RwLock<Option<Arc<Shared>>>,
    memory: Arc<Memory>,
}

impl Shared {
    fn search_many(
        &self,
        texts: &Texts,
        how: SearchOptions,
        flag: &AtomicBool,
    ) -> Result<NativeMatches, Failure> {
        let items = self.items(texts, flag)?;
        let tasks = pool::tasks(self.threads);
        let found = on_pool(items.len(), tasks, |tasks| {
            Ok(self.index().search_many(&items, how, tasks, flag)?)
        })?;
        let key_of = |id| self.online.key_of(id);
        NativeMatches::of(&found, self.online.stored().keys.then_some(&key_of))
    }
}

fn search_options(max_distance: Option<u32>, limit: Option<f64>) -> Result<SearchOptions, Failure> {
    let limit = limit.map(|limit| whole(limit, "limit")).transpose()?;
    Ok(SearchOptions {
        max_distance,
        limit: limit.map(|limit| usize::try_from(limit).unwrap_or(usize::MAX)),
    })
}

pub(crate) fn time(at: Option<f64>) -> Result<Option<u64>, Failure> {
    at.map(|at| whole(at, "at")).transpose()
}

#[napi]
impl NativeIndex {
    /// An empty index.
    #[napi(constructor, catch_unwind)]
    pub fn new(
        fingerprinter: &NativeFingerprinter,
        options: NativeIndexOptions,
    ) -> js::Result<Self> {
        let shared = caught(|| {
            let core = options.core()?;
            let (index, by) = (Index::new(&core)?, fingerprinter.core.clone());
            NativeWindow::limit_skew(options.window, |most| index.set_max_skew(most))?;
            let online = OnlineIndex::new(index, by, options.stored());
            Ok(Shared::new(online, options.threads))
        })?;
        Ok(Self { shared: RwLock::new(Some(Arc::new(shared))), memory: Arc::default() })
    }

    /// Adds one item.
    #[napi(catch_unwind)]
    pub fn add(
        &self,
        env: Env,
        item: Unknown<'_>,
        at: Option<f64>,
        key: Option<String>,
    ) -> js::Result<f64> {
        let texts = Texts::one(&item, "item", Accept::Items)?;
        let at = time(at)?;
        let id = self.open_now()?.guarded(|shared| {
            let key = checked_key(key.as_deref(), &shared.online)?;
            Ok(shared.online.add(&shared.document(&texts, 0, false), key, at)?)
        })?;
        self.grown(env);
        Ok(number(id))
    }

    /// Adds many items.
    #[napi(catch_unwind)]
    pub fn add_many(
        &self,
        env: Env,
        items: Unknown<'_>,
        at: Option<Float64Array>,
        keys: Option<Vec<Option<String>>>,
    ) -> js::Result<NativeAdded> {
        let (texts, times) = (Texts::many(&items, "items", Accept::Items)?, Times::of(at)?);
        let keys = Keys::of(keys);
        self.change(env, |shared| shared.add_many(&texts, &times, &keys, &NEVER))
    }

    /// Adds many items on the pool.
    #[napi(catch_unwind, ts_return_type = "Promise<NativeAdded>")]
    pub fn add_many_async<'env>(
        &self,
        env: &'env Env,
        items: Unknown<'_>,
        at: Option<Float64Array>,
        keys: Option<Vec<Option<String>>>,
        cancel: &Cancel,
    ) -> js::Result<Object<'env>> {
        let (texts, times) = (Texts::many(&items, "items", Accept::Items)?, Times::of(at)?);
        let keys = Keys::of(keys);
        self.start(env, cancel, move |shared, flag| shared.add_many(&texts, &times, &keys, flag))
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
        Ok(self.open_now()?.guarded(|shared| shared.search_many(&texts, how, &NEVER))?)
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
        Ok(self.open_now()?.guarded(|shared| shared.search_many(&texts, how, &NEVER))?)
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
        let texts = Texts::many(&items, "items", Accept::Items)?;
        let how = search_options(max_distance, limit)?;
        self.start(env, cancel, move |shared, flag| shared.search_many(&texts, how, flag))
    }

    /// Whether an id is alive.
    #[napi(catch_unwind)]
    pub fn has(&self, id: f64) -> js::Result<bool> {
        let id = whole(id, "id")?;
        Ok(self.open_now()?.guarded(|shared| Ok(shared.index().has(id)))?)
    }

    /// Takes an id away.
    #[napi(catch_unwind)]
    pub fn delete(&self, id: f64) -> js::Result<bool> {
        let id = whole(id, "id")?;
        Ok(self.open_now()?.guarded(|shared| Ok(shared.online.delete(id)?))?)
    }

    /// Takes away what is older than a time.
    #[napi(catch_unwind)]
    pub fn expire(&self, env: Env, before: f64) -> js::Result<f64> {
        let before = whole(before, "before")?;
        self.change(env, |shared| Ok(number(shared.online.expire(before)?)))
    }

    /// Live ids.
    #[napi(catch_unwind)]
    pub fn size(&self) -> js::Result<f64> {
        Ok(self.open_now()?.guarded(|shared| Ok(number(shared.index().len())))?)
    }

    /// Counts and bytes.
    #[napi(catch_unwind)]
    pub fn stats(&self) -> js::Result<NativeStats> {
        Ok(self
            .open_now()?
            .guarded(|shared| Ok(NativeStats::of(shared.index().stats(), shared)))?)
    }

    /// Lets go of the index; running jobs finish.
    #[napi(catch_unwind)]
    pub fn close(&self, env: Env) {
        drop(self.shared.write().take());
        self.memory.report(env, 0);
    }

    fn open_now(&self) -> Result<Arc<Shared>, Failure> {
        self.shared.read().clone().ok_or_else(|| Failure::closed("Index"))
    }

    /// After a single addition: reports memory now and then.
    fn grown(&self, env: Env) {
        if self.memory.is_due()
            && let Ok(shared) = self.open_now()
        {
            self.memory.report(env, shared.bytes());
        }
    }

    /// Runs work that changes much, here and now.
    fn change<T>(
        &self,
        env: Env,
        work: impl FnOnce(&Shared) -> Result<T, Failure>,
    ) -> js::Result<T> {
        let shared = self.open_now()?;
        let result = shared.guarded(work)?;
        self.memory.report(env, shared.bytes());
        Ok(result)
    }

    /// Runs work on the pool.
    fn start<'env, T: ToNapiValue + Send + 'static>(
        &self,
        env: &'env Env,
        cancel: &Cancel,
        work: impl FnOnce(&Shared, &AtomicBool) -> Result<T, Failure> + Send + 'static,
    ) -> js::Result<Object<'env>> {
        let shared = self.open_now()?;
        let (job, memory) = (Arc::clone(&shared), Arc::clone(&self.memory));
        // Weak: a closed index must not be counted again, nor held by its last job's report.
        let weak = Arc::downgrade(&shared);
        let settled = move |env: Env| {
            if let Some(shared) = weak.upgrade() {
                memory.report(env, shared.bytes());
            }
        };
        let work = move |flag: &AtomicBool| job.guarded(|shared| work(shared, flag));
        task::start(env, Place::Shared, cancel, work, settled)
    }
}

impl ObjectFinalize for NativeIndex {
    fn finalize(self, env: Env) -> napi::Result<()> {
        self.memory.report(env, 0);
        Ok(())
    }
}
