//! `Index` for JavaScript.
//!
//! The core index lies behind an `Arc`: a job on the pool keeps it alive while `close` already let go of it. Its memory
//! is outside the engine's heap and is reported to it, or dropped indexes would pile up uncollected.

pub(crate) mod about;
mod agree;
mod batch;
mod clusters;
mod columns;
mod groups;
pub(crate) mod options;
mod pairs;
mod plan;
mod refusal;
mod share;
pub(crate) mod shared;
pub(crate) mod single;
mod whole;

use crate::check::{number, whole};
use crate::error::{caught, js};
use crate::held::{Handle, NEVER};
use crate::task::Cancel;
use crate::text::Texts;
use batch::{Keys, Times, checked_key, on_duplicate, time};
use columns::{NativeAdded, NativeChecked, NativeMatches};
use napi::Env;
use napi::bindgen_prelude::{Float64Array, Object, ObjectFinalize, Unknown};
use napi_derive::napi;
use options::NativeIndexOptions;
use shared::{Settings, Shared};
use simhash_dedup::live::LiveIndex;
use single::NativeSearch;
use std::sync::Arc;

/// A live index of documents.
#[napi(custom_finalize)]
pub struct NativeIndex {
    held: Arc<Handle>,
}

#[napi]
impl NativeIndex {
    /// An empty index.
    #[napi(constructor, catch_unwind)]
    pub fn new(options: NativeIndexOptions<'_>) -> js::Result<Self> {
        let shared = caught(|| {
            let live = LiveIndex::new(&options.core()?)?;
            Ok(Shared::new(live, &Settings::of(&options)?))
        })?;
        Ok(Self { held: Arc::new(Handle::new(shared)) })
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
        let shared = self.held.open()?;
        let at = time(at, &shared.live)?;
        let texts = Texts::one(&item, "item", shared.accept())?;
        self.held.single(env, |shared| {
            let key = checked_key(key.as_deref(), &shared.live)?;
            Ok(number(shared.live.add(&shared.document(&texts), key, at)?))
        })
    }

    /// Adds many items.
    #[napi(catch_unwind)]
    pub fn add_many(
        &self,
        env: Env,
        items: Unknown<'_>,
        at: Option<Float64Array>,
        keys: Option<Vec<Option<String>>>,
        position: Option<f64>,
    ) -> js::Result<NativeAdded> {
        let (times, keys) = (Times::of(at)?, Keys::of(keys));
        let to = batch::position(position)?;
        let texts = self.texts(&items)?;
        self.held
            .batch(env, "addManyAsync", |shared| shared.add_many(&texts, &times, &keys, to, &NEVER))
    }

    /// Adds many items on the pool.
    #[napi(catch_unwind, ts_return_type = "Promise<NativeAdded>")]
    pub fn add_many_async<'env>(
        &self,
        env: &'env Env,
        items: Unknown<'_>,
        at: Option<Float64Array>,
        keys: Option<Vec<Option<String>>>,
        position: Option<f64>,
        cancel: &Cancel,
    ) -> js::Result<Object<'env>> {
        let (times, keys) = (Times::of(at)?, Keys::of(keys));
        let to = batch::position(position)?;
        let texts = self.texts(&items)?;
        self.held.start_batch(env, cancel, move |shared, flag| {
            shared.add_many(&texts, &times, &keys, to, flag)
        })
    }

    /// Matches of many items.
    #[napi(catch_unwind)]
    pub fn search_many(
        &self,
        items: Unknown<'_>,
        how: Option<NativeSearch>,
    ) -> js::Result<NativeMatches> {
        let (texts, how) = (self.texts(&items)?, NativeSearch::core(how)?);
        self.held.look(|shared| shared.search_many(&texts, &how, &NEVER))
    }

    /// Matches of many items, on the pool.
    #[napi(catch_unwind, ts_return_type = "Promise<NativeMatches>")]
    pub fn search_many_async<'env>(
        &self,
        env: &'env Env,
        items: Unknown<'_>,
        how: Option<NativeSearch>,
        cancel: &Cancel,
    ) -> js::Result<Object<'env>> {
        let (texts, how) = (self.texts(&items)?, NativeSearch::core(how)?);
        self.held.start(env, cancel, move |shared, flag| shared.search_many(&texts, &how, flag))
    }

    /// Checks and adds many items, in order.
    #[napi(catch_unwind)]
    pub fn check_and_add_many(
        &self,
        env: Env,
        items: Unknown<'_>,
        at: Option<Float64Array>,
        duplicate: Option<String>,
        keys: Option<Vec<Option<String>>>,
        position: Option<f64>,
    ) -> js::Result<NativeChecked> {
        let (times, keys) = (Times::of(at)?, Keys::of(keys));
        let to = batch::position(position)?;
        let how = on_duplicate(duplicate.as_deref(), &self.held.open()?.live)?;
        let texts = self.texts(&items)?;
        self.held.batch(env, "checkAndAddManyAsync", |shared| {
            shared.check_and_add_many(&texts, &times, &keys, how, (to, &NEVER))
        })
    }

    /// The same on the pool.
    #[napi(catch_unwind, ts_return_type = "Promise<NativeChecked>")]
    #[allow(clippy::too_many_arguments, reason = "positional, as the others")]
    pub fn check_and_add_many_async<'env>(
        &self,
        env: &'env Env,
        items: Unknown<'_>,
        at: Option<Float64Array>,
        duplicate: Option<String>,
        keys: Option<Vec<Option<String>>>,
        position: Option<f64>,
        cancel: &Cancel,
    ) -> js::Result<Object<'env>> {
        let (times, keys) = (Times::of(at)?, Keys::of(keys));
        let to = batch::position(position)?;
        let how = on_duplicate(duplicate.as_deref(), &self.held.open()?.live)?;
        let texts = self.texts(&items)?;
        self.held.start_batch(env, cancel, move |shared, flag| {
            shared.check_and_add_many(&texts, &times, &keys, how, (to, flag))
        })
    }

    /// The key of a live document.
    #[napi(catch_unwind)]
    pub fn key_of(&self, id: f64) -> js::Result<Option<String>> {
        let id = whole(id, "id")?;
        self.held.look(|shared| Ok(shared.live.key_of(id)))
    }

    /// The latest live document with a key.
    #[napi(catch_unwind)]
    pub fn id_of(&self, key: String) -> js::Result<Option<f64>> {
        self.held.look(|shared| {
            checked_key(Some(&key), &shared.live)?;
            Ok(shared.live.id_of(&key).map(number))
        })
    }

    /// Whether an id is alive.
    #[napi(catch_unwind)]
    pub fn has(&self, id: f64) -> js::Result<bool> {
        let id = whole(id, "id")?;
        self.held.look(|shared| Ok(shared.live.has(id)))
    }

    /// Takes an id away.
    #[napi(catch_unwind)]
    pub fn delete(&self, env: Env, id: f64) -> js::Result<bool> {
        let id = whole(id, "id")?;
        self.held.single(env, |shared| Ok(shared.live.delete(id)?))
    }

    /// Takes away what is older than a time.
    #[napi(catch_unwind)]
    pub fn expire(&self, env: Env, before: f64) -> js::Result<f64> {
        let before = whole(before, "before")?;
        self.held.change(env, |shared| Ok(number(shared.live.expire(before)?)))
    }

    /// Live ids.
    #[napi(catch_unwind)]
    pub fn size(&self) -> js::Result<f64> {
        self.held.look(|shared| Ok(number(shared.live.len())))
    }

    /// All bytes of the index.
    #[napi(catch_unwind)]
    pub fn bytes(&self) -> js::Result<f64> {
        self.held.look(|shared| Ok(number(shared.live.bytes() as u64)))
    }

    /// Lets go of the index; running jobs finish.
    #[napi(catch_unwind)]
    pub fn close(&self, env: Env) {
        self.held.close(env);
    }

    /// The index itself, for a job beside its own calls.
    pub(crate) fn shared(&self) -> js::Result<Arc<Shared>> {
        Ok(self.held.open()?)
    }

    /// The items of a batch, as this index takes them.
    fn texts(&self, items: &Unknown<'_>) -> js::Result<Texts> {
        Ok(Texts::many(items, "items", self.held.open()?.accept())?)
    }
}

impl ObjectFinalize for NativeIndex {
    fn finalize(self, env: Env) -> napi::Result<()> {
        self.held.finalize(env);
        Ok(())
    }
}
