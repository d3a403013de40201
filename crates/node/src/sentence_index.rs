//! `SentenceIndex` for JavaScript.
//!
//! As for `Index`: the core index lies behind an `Arc`, so that a job on the pool keeps it alive while `close` already let
//! go of it, and its memory is reported to the engine. Texts become sketches on all cores before a batch changes anything.

mod columns;
mod options;
mod shared;
mod whole;

use crate::check::{number, whole as whole_number};
use crate::columns::Column;
use crate::error::{Failure, caught, js};
use crate::index::batch::{Times, on_duplicate};
use crate::index::columns::NativeAdded;
use crate::index::options::NativeWindow;
use crate::index::shared::{Memory, NEVER};
use crate::index::time;
use crate::task::{self, Cancel, Place};
use crate::text::{Accept, Texts};
use columns::{
    NativeSentenceChecked, NativeSentenceMatches, NativeSentenceOutcome, NativeSentenceStats,
};
use napi::Env;
use napi::bindgen_prelude::{Float64Array, Object, ObjectFinalize, ToNapiValue, Unknown};
use napi_derive::napi;
use options::{NativeSentenceIndexOptions, limit};
use parking_lot::RwLock;
use shared::Shared;
use simhash_index::AddOptions;
use simhash_index::sentences::SentenceIndex;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// An index of documents by their longest sentences.
#[napi(custom_finalize)]
pub struct NativeSentenceIndex {
    shared: RwLock<Option<Arc<Shared>>>,
    memory: Arc<Memory>,
}

#[napi]
impl NativeSentenceIndex {
    /// An empty index in memory.
    #[napi(constructor, catch_unwind)]
    pub fn new(options: NativeSentenceIndexOptions) -> js::Result<Self> {
        let shared = caught(|| {
            let core = options.core()?;
            let index = SentenceIndex::new(&core)?;
            NativeWindow::limit_skew(options.window, |most| index.set_max_skew(most))?;
            Ok(Shared::new(index, options.sketcher(core.sentences)?, options.threads))
        })?;
        Ok(Self { shared: RwLock::new(Some(Arc::new(shared))), memory: Arc::default() })
    }

    /// Adds one text; its id.
    #[napi(catch_unwind)]
    pub fn add(&self, env: Env, text: Unknown<'_>, at: Option<f64>) -> js::Result<f64> {
        let (texts, at) = (Texts::one(&text, "text", Accept::Texts)?, time(at)?);
        self.single(env, |shared| Ok(number(shared.index.add_at(&shared.item(&texts, 0), at)?)))
    }

    /// Adds many texts.
    #[napi(catch_unwind)]
    pub fn add_many(
        &self,
        env: Env,
        texts: Unknown<'_>,
        at: Option<Float64Array>,
    ) -> js::Result<NativeAdded> {
        let (texts, times) = (Texts::many(&texts, "texts", Accept::Texts)?, Times::of(at)?);
        self.change(env, |shared| shared.add_many(&texts, &times, &NEVER))
    }

    /// Adds many texts on the pool.
    #[napi(catch_unwind, ts_return_type = "Promise<NativeAdded>")]
    pub fn add_many_async<'env>(
        &self,
        env: &'env Env,
        texts: Unknown<'_>,
        at: Option<Float64Array>,
        cancel: &Cancel,
    ) -> js::Result<Object<'env>> {
        let (texts, times) = (Texts::many(&texts, "texts", Accept::Texts)?, Times::of(at)?);
        self.start(env, cancel, move |shared, flag| shared.add_many(&texts, &times, flag))
    }

    /// Adds one text; the name of its group.
    #[napi(catch_unwind)]
    pub fn similar_id(&self, env: Env, text: Unknown<'_>, at: Option<f64>) -> js::Result<f64> {
        let (texts, at) = (Texts::one(&text, "text", Accept::Texts)?, time(at)?);
        self.single(env, |shared| Ok(number(shared.index.similar(&shared.item(&texts, 0), at)?)))
    }

    /// The same for many texts, in order.
    #[napi(catch_unwind, ts_return_type = "Float64Array")]
    pub fn similar_id_many(
        &self,
        env: Env,
        texts: Unknown<'_>,
        at: Option<Float64Array>,
    ) -> js::Result<Column<f64>> {
        let (texts, times) = (Texts::many(&texts, "texts", Accept::Texts)?, Times::of(at)?);
        self.change(env, |shared| Ok(Column(shared.similar_many(&texts, &times, &NEVER)?)))
    }

    /// The same on the pool.
    #[napi(catch_unwind, ts_return_type = "Promise<Float64Array>")]
    pub fn similar_id_many_async<'env>(
        &self,
        env: &'env Env,
        texts: Unknown<'_>,
        at: Option<Float64Array>,
        cancel: &Cancel,
    ) -> js::Result<Object<'env>> {
        let (texts, times) = (Texts::many(&texts, "texts", Accept::Texts)?, Times::of(at)?);
        self.start(env, cancel, move |shared, flag| {
            Ok(Column(shared.similar_many(&texts, &times, flag)?))
        })
    }

    /// Matches of one text.
    #[napi(catch_unwind)]
    pub fn search(
        &self,
        text: Unknown<'_>,
        limit: Option<f64>,
    ) -> js::Result<NativeSentenceMatches> {
        let (texts, limit) = (Texts::one(&text, "text", Accept::Texts)?, self::limit(limit)?);
        Ok(self.open_now()?.guarded(|shared| shared.search_many(&texts, limit, &NEVER))?)
    }

    /// Matches of many texts.
    #[napi(catch_unwind)]
    pub fn search_many(
        &self,
        texts: Unknown<'_>,
        limit: Option<f64>,
    ) -> js::Result<NativeSentenceMatches> {
        let (texts, limit) = (Texts::many(&texts, "texts", Accept::Texts)?, self::limit(limit)?);
        Ok(self.open_now()?.guarded(|shared| shared.search_many(&texts, limit, &NEVER))?)
    }

    /// Matches of many texts, on the pool.
    #[napi(catch_unwind, ts_return_type = "Promise<NativeSentenceMatches>")]
    pub fn search_many_async<'env>(
        &self,
        env: &'env Env,
        texts: Unknown<'_>,
        limit: Option<f64>,
        cancel: &Cancel,
    ) -> js::Result<Object<'env>> {
        let (texts, limit) = (Texts::many(&texts, "texts", Accept::Texts)?, self::limit(limit)?);
        self.start(env, cancel, move |shared, flag| shared.search_many(&texts, limit, flag))
    }

    /// Adds one text unless a similar one is there, or as `duplicate` says.
    #[napi(catch_unwind)]
    pub fn check_and_add(
        &self,
        env: Env,
        text: Unknown<'_>,
        at: Option<f64>,
        duplicate: Option<String>,
    ) -> js::Result<NativeSentenceOutcome> {
        let texts = Texts::one(&text, "text", Accept::Texts)?;
        let how = AddOptions { at: time(at)?, on_duplicate: on_duplicate(duplicate.as_deref())? };
        self.single(env, |shared| {
            Ok(shared.index.check_and_add_with(&shared.item(&texts, 0), how)?.into())
        })
    }

    /// The same for many texts, in order.
    #[napi(catch_unwind)]
    pub fn check_and_add_many(
        &self,
        env: Env,
        texts: Unknown<'_>,
        at: Option<Float64Array>,
        duplicate: Option<String>,
    ) -> js::Result<NativeSentenceChecked> {
        let (texts, times) = (Texts::many(&texts, "texts", Accept::Texts)?, Times::of(at)?);
        let how = on_duplicate(duplicate.as_deref())?;
        self.change(env, |shared| shared.check_and_add_many(&texts, &times, how, &NEVER))
    }

    /// The same on the pool.
    #[napi(catch_unwind, ts_return_type = "Promise<NativeSentenceChecked>")]
    pub fn check_and_add_many_async<'env>(
        &self,
        env: &'env Env,
        texts: Unknown<'_>,
        at: Option<Float64Array>,
        duplicate: Option<String>,
        cancel: &Cancel,
    ) -> js::Result<Object<'env>> {
        let (texts, times) = (Texts::many(&texts, "texts", Accept::Texts)?, Times::of(at)?);
        let how = on_duplicate(duplicate.as_deref())?;
        self.start(env, cancel, move |shared, flag| {
            shared.check_and_add_many(&texts, &times, how, flag)
        })
    }

    /// The name of a document's group.
    #[napi(catch_unwind)]
    pub fn group(&self, id: f64) -> js::Result<Option<f64>> {
        let id = whole_number(id, "id")?;
        Ok(self.open_now()?.guarded(|shared| Ok(shared.index.group(id).map(number)))?)
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
    pub fn stats(&self) -> js::Result<NativeSentenceStats> {
        Ok(self.open_now()?.guarded(|shared| Ok(shared.index.stats().into()))?)
    }

    /// Lets go of the index; running jobs finish.
    #[napi(catch_unwind)]
    pub fn close(&self, env: Env) {
        drop(self.shared.write().take());
        self.memory.report(env, 0);
    }

    fn open_now(&self) -> Result<Arc<Shared>, Failure> {
        self.shared.read().clone().ok_or_else(|| Failure::closed("SentenceIndex"))
    }

    /// Runs a change of one text; reports memory now and then.
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

impl ObjectFinalize for NativeSentenceIndex {
    fn finalize(self, env: Env) -> napi::Result<()> {
        self.memory.report(env, 0);
        Ok(())
    }
}
