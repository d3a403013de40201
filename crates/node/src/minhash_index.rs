//! `MinHashIndex` for JavaScript.
//!
//! As for `Index`: the core index lies behind an `Arc`, so that a job on the pool keeps it alive while `close` already let
//! go of it, and its memory is reported to the engine. Texts become signatures on all cores before a batch changes anything.

mod columns;
mod options;
mod plan;
mod shared;
mod whole;

use crate::check::{number, whole as whole_number};
use crate::error::{Failure, caught, js};
use crate::fingerprinter::NativeFingerprinter;
use crate::index::batch::{Times, on_duplicate};
use crate::index::columns::NativeAdded;
use crate::index::options::NativeWindow;
use crate::index::shared::{Memory, NEVER};
use crate::index::time;
use crate::minhash::TextHasher;
use crate::task::{self, Cancel, Place};
use crate::text::{Accept, Texts};
use columns::{NativeBandChecked, NativeBandMatches, NativeBandOutcome, NativeBandStats};
use napi::Env;
use napi::bindgen_prelude::{Float64Array, Object, ObjectFinalize, ToNapiValue, Unknown};
use napi_derive::napi;
use options::{NativeMinHashIndexOptions, search};
use parking_lot::RwLock;
use shared::Shared;
use simhash_index::AddOptions;
use simhash_index::bands::BandIndex;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// An index of signatures by bands.
#[napi(custom_finalize)]
pub struct NativeMinHashIndex {
    shared: RwLock<Option<Arc<Shared>>>,
    memory: Arc<Memory>,
}

#[napi]
impl NativeMinHashIndex {
    /// An empty index.
    #[napi(constructor, catch_unwind)]
    pub fn new(
        fingerprinter: &NativeFingerprinter,
        options: NativeMinHashIndexOptions,
    ) -> js::Result<Self> {
        let shared = caught(|| {
            let hasher = TextHasher::new(fingerprinter, &options.minhash)?;
            let index = BandIndex::new(&options.core()?)?;
            NativeWindow::limit_skew(options.window, |most| index.set_max_skew(most))?;
            Ok(Shared::new(index, hasher, options.threads))
        })?;
        Ok(Self { shared: RwLock::new(Some(Arc::new(shared))), memory: Arc::default() })
    }

    /// Adds one item.
    #[napi(catch_unwind)]
    pub fn add(&self, env: Env, item: Unknown<'_>, at: Option<f64>) -> js::Result<f64> {
        let (texts, at) = (Texts::one(&item, "item", Accept::Signatures)?, time(at)?);
        self.single(env, |shared| Ok(number(shared.index.add_at(&shared.item(&texts), at)?)))
    }

    /// Adds many items.
    #[napi(catch_unwind)]
    pub fn add_many(
        &self,
        env: Env,
        items: Unknown<'_>,
        at: Option<Float64Array>,
    ) -> js::Result<NativeAdded> {
        let (texts, times) = (Texts::many(&items, "items", Accept::Signatures)?, Times::of(at)?);
        self.change(env, |shared| shared.add_many(&texts, &times, &NEVER))
    }

    /// Adds many items on the pool.
    #[napi(catch_unwind, ts_return_type = "Promise<NativeAdded>")]
    pub fn add_many_async<'env>(
        &self,
        env: &'env Env,
        items: Unknown<'_>,
        at: Option<Float64Array>,
        cancel: &Cancel,
    ) -> js::Result<Object<'env>> {
        let (texts, times) = (Texts::many(&items, "items", Accept::Signatures)?, Times::of(at)?);
        self.start(env, cancel, move |shared, flag| shared.add_many(&texts, &times, flag))
    }

    /// Matches of one item.
    #[napi(catch_unwind)]
    pub fn search(
        &self,
        item: Unknown<'_>,
        threshold: Option<f64>,
        limit: Option<f64>,
    ) -> js::Result<NativeBandMatches> {
        let texts = Texts::one(&item, "item", Accept::Signatures)?;
        let how = search(threshold, limit)?;
        Ok(self.open_now()?.guarded(|shared| shared.search_many(&texts, how, &NEVER))?)
    }

    /// Matches of many items.
    #[napi(catch_unwind)]
    pub fn search_many(
        &self,
        items: Unknown<'_>,
        threshold: Option<f64>,
        limit: Option<f64>,
    ) -> js::Result<NativeBandMatches> {
        let texts = Texts::many(&items, "items", Accept::Signatures)?;
        let how = search(threshold, limit)?;
        Ok(self.open_now()?.guarded(|shared| shared.search_many(&texts, how, &NEVER))?)
    }

    /// Matches of many items, on the pool.
    #[napi(catch_unwind, ts_return_type = "Promise<NativeBandMatches>")]
    pub fn search_many_async<'env>(
        &self,
        env: &'env Env,
        items: Unknown<'_>,
        threshold: Option<f64>,
        limit: Option<f64>,
        cancel: &Cancel,
    ) -> js::Result<Object<'env>> {
        let texts = Texts::many(&items, "items", Accept::Signatures)?;
        let how = search(threshold, limit)?;
        self.start(env, cancel, move |shared, flag| shared.search_many(&texts, how, flag))
    }

    /// Adds one item unless a match is there, or as `duplicate` says.
    #[napi(catch_unwind)]
    pub fn check_and_add(
        &self,
        env: Env,
        item: Unknown<'_>,
        at: Option<f64>,
        duplicate: Option<String>,
    ) -> js::Result<NativeBandOutcome> {
        let texts = Texts::one(&item, "item", Accept::Signatures)?;
        let how = AddOptions { at: time(at)?, on_duplicate: on_duplicate(duplicate.as_deref())? };
        self.single(env, |shared| {
            Ok(shared.index.check_and_add_with(&shared.item(&texts), how)?.into())
        })
    }

    /// The same for many items, in order.
    #[napi(catch_unwind)]
    pub fn check_and_add_many(
        &self,
        env: Env,
        items: Unknown<'_>,
        at: Option<Float64Array>,
        duplicate: Option<String>,
    ) -> js::Result<NativeBandChecked> {
        let (texts, times) = (Texts::many(&items, "items", Accept::Signatures)?, Times::of(at)?);
        let how = on_duplicate(duplicate.as_deref())?;
        self.change(env, |shared| shared.check_and_add_many(&texts, &times, how, &NEVER))
    }

    /// The same on the pool.
    #[napi(catch_unwind, ts_return_type = "Promise<NativeBandChecked>")]
    pub fn check_and_add_many_async<'env>(
        &self,
        env: &'env Env,
        items: Unknown<'_>,
        at: Option<Float64Array>,
        duplicate: Option<String>,
        cancel: &Cancel,
    ) -> js::Result<Object<'env>> {
        let (texts, times) = (Texts::many(&items, "items", Accept::Signatures)?, Times::of(at)?);
        let how = on_duplicate(duplicate.as_deref())?;
        self.start(env, cancel, move |shared, flag| {
            shared.check_and_add_many(&texts, &times, how, flag)
        })
    }

    /// Whether an id is alive.
    #[napi(catch_unwind)]
    pub fn has(&self, id: f64) -> js::Result<bool> {
        let id = whole_number(id, "id")?;
        Ok(self.open_now()?.guarded(|shared| Ok(shared.index.has(id)))?)
    }

    /// Takes an id away.
    #[napi(catch_unwind)]
    pub fn delete(&self, id: f64) -> js::Result<bool> {
        let id = whole_number(id, "id")?;
        Ok(self.open_now()?.guarded(|shared| Ok(shared.index.delete(id)?))?)
    }

    /// Takes away what is older than a time.
    #[napi(catch_unwind)]
    pub fn expire(&self, env: Env, before: f64) -> js::Result<f64> {
        let before = whole_number(before, "before")?;
        self.change(env, |shared| Ok(number(shared.index.expire(before)?)))
    }

    /// Live ids.
    #[napi(catch_unwind)]
    pub fn size(&self) -> js::Result<f64> {
        Ok(self.open_now()?.guarded(|shared| Ok(number(shared.index.len())))?)
    }

    /// Counts and bytes.
    #[napi(catch_unwind)]
    pub fn stats(&self) -> js::Result<NativeBandStats> {
        Ok(self.open_now()?.guarded(|shared| Ok(NativeBandStats::from(shared.index.stats())))?)
    }

    /// Lets go of the index; running jobs finish.
    #[napi(catch_unwind)]
    pub fn close(&self, env: Env) {
        drop(self.shared.write().take());
        self.memory.report(env, 0);
    }

    fn open_now(&self) -> Result<Arc<Shared>, Failure> {
        self.shared.read().clone().ok_or_else(|| Failure::closed("MinHashIndex"))
    }

    /// Runs work on one item; reports memory now and then.
    fn single<T>(
        &self,
        env: Env,
        work: impl FnOnce(&Shared) -> Result<T, Failure>,
    ) -> js::Result<T> {
        let shared = self.open_now()?;
        let result = shared.guarded(work)?;
        if self.memory.is_due() {
            self.memory.report(env, shared.bytes());
        }
        Ok(result)
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

impl ObjectFinalize for NativeMinHashIndex {
    fn finalize(self, env: Env) -> napi::Result<()> {
        self.memory.report(env, 0);
        Ok(())
    }
}
