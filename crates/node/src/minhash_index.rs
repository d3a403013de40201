//! `MinHashIndex` for JavaScript.
//!
//! Texts become signatures on all cores before a batch changes anything.

mod columns;
mod options;
mod plan;
mod shared;
mod whole;

use crate::check::number;
use crate::error::{caught, js};
use crate::fingerprinter::NativeFingerprinter;
use crate::held::{Handle, NEVER, shared_verbs};
use crate::index::batch::{Times, on_duplicate};
use crate::index::columns::NativeAdded;
use crate::index::options::NativeWindow;
use crate::index::time;
use crate::minhash::TextHasher;
use crate::task::Cancel;
use crate::text::{Accept, Texts};
use columns::{NativeBandChecked, NativeBandMatches, NativeBandOutcome, NativeBandStats};
use napi::Env;
use napi::bindgen_prelude::{Float64Array, Object, Unknown};
use napi_derive::napi;
use options::{NativeMinHashIndexOptions, search};
use shared::Shared;
use simhash_index::AddOptions;
use simhash_index::bands::BandIndex;

/// An index of signatures by bands.
#[napi(custom_finalize)]
pub struct NativeMinHashIndex {
    held: Handle<Shared>,
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
        Ok(Self { held: Handle::new(shared) })
    }

    /// Adds one item.
    #[napi(catch_unwind)]
    pub fn add(&self, env: Env, item: Unknown<'_>, at: Option<f64>) -> js::Result<f64> {
        let (texts, at) = (Texts::one(&item, "item", Accept::Signatures)?, time(at)?);
        self.held.single(env, |shared| Ok(number(shared.index.add_at(shared.item(&texts), at)?)))
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
        self.held.change(env, |shared| shared.add_many(&texts, &times, &NEVER))
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
        self.held.start(env, cancel, move |shared, flag| shared.add_many(&texts, &times, flag))
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
        self.held.look(|shared| shared.search_many(&texts, how, &NEVER))
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
        self.held.look(|shared| shared.search_many(&texts, how, &NEVER))
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
        self.held.start(env, cancel, move |shared, flag| shared.search_many(&texts, how, flag))
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
        self.held.single(env, |shared| {
            Ok(shared.index.check_and_add_with(shared.item(&texts), how)?.into())
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
        self.held.change(env, |shared| shared.check_and_add_many(&texts, &times, how, &NEVER))
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
        self.held.start(env, cancel, move |shared, flag| {
            shared.check_and_add_many(&texts, &times, how, flag)
        })
    }

    /// Counts and bytes.
    #[napi(catch_unwind)]
    pub fn stats(&self) -> js::Result<NativeBandStats> {
        self.held.look(|shared| Ok(NativeBandStats::from(shared.index.stats())))
    }
}

shared_verbs!(NativeMinHashIndex);
