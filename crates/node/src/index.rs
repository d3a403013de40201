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
use crate::held::{Handle, NEVER, on_pool, shared_verbs};
use crate::pool;
use crate::task::Cancel;
use crate::text::{Accept, Texts};
use batch::Times;
use columns::{NativeAdded, NativeMatches, NativeStats};
use document::{Keys, checked_key};
use napi::Env;
use napi::bindgen_prelude::{Float64Array, Object, Unknown};
use napi_derive::napi;
use options::{NativeIndexOptions, NativeWindow};
use shared::Shared;
use simhash_dedup::online::OnlineIndex;
use simhash_index::{Index, SearchOptions};
use std::sync::atomic::AtomicBool;

/// An exact Hamming index.
#[napi(custom_finalize)]
pub struct NativeIndex {
    held: Handle<Shared>,
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
        Ok(Self { held: Handle::new(shared) })
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
        self.held.single(env, |shared| {
            let key = checked_key(key.as_deref(), &shared.online)?;
            Ok(number(shared.online.add(&shared.document(&texts, 0, false), key, at)?))
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
    ) -> js::Result<NativeAdded> {
        let (texts, times) = (Texts::many(&items, "items", Accept::Items)?, Times::of(at)?);
        let keys = Keys::of(keys);
        self.held.change(env, |shared| shared.add_many(&texts, &times, &keys, &NEVER))
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
        self.held
            .start(env, cancel, move |shared, flag| shared.add_many(&texts, &times, &keys, flag))
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
        self.held.look(|shared| shared.search_many(&texts, how, &NEVER))
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
        self.held.look(|shared| shared.search_many(&texts, how, &NEVER))
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
        self.held.start(env, cancel, move |shared, flag| shared.search_many(&texts, how, flag))
    }

    /// Counts and bytes.
    #[napi(catch_unwind)]
    pub fn stats(&self) -> js::Result<NativeStats> {
        self.held.look(|shared| Ok(NativeStats::of(shared.index().stats(), shared)))
    }
}

shared_verbs!(NativeIndex);
