//! `SentenceIndex` for JavaScript.
//!
//! Texts become sketches on all cores before a batch changes anything.

mod columns;
mod options;
mod shared;
mod whole;

use crate::check::{number, whole as whole_number};
use crate::columns::Column;
use crate::error::{caught, js};
use crate::held::{Handle, NEVER, shared_verbs};
use crate::index::batch::{Times, on_duplicate};
use crate::index::columns::NativeAdded;
use crate::index::options::NativeWindow;
use crate::index::time;
use crate::task::Cancel;
use crate::text::{Accept, Texts};
use columns::{
    NativeSentenceChecked, NativeSentenceMatches, NativeSentenceOutcome, NativeSentenceStats,
};
use napi::Env;
use napi::bindgen_prelude::{Float64Array, Object, Unknown};
use napi_derive::napi;
use options::{NativeSentenceIndexOptions, limit};
use shared::Shared;
use simhash_index::AddOptions;
use simhash_index::sentences::SentenceIndex;

/// An index of documents by their longest sentences.
#[napi(custom_finalize)]
pub struct NativeSentenceIndex {
    held: Handle<Shared>,
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
        Ok(Self { held: Handle::new(shared) })
    }

    /// Adds one text; its id.
    #[napi(catch_unwind)]
    pub fn add(&self, env: Env, text: Unknown<'_>, at: Option<f64>) -> js::Result<f64> {
        let (texts, at) = (Texts::one(&text, "text", Accept::Texts)?, time(at)?);
        self.held.single(env, |shared| Ok(number(shared.index.add_at(shared.item(&texts, 0), at)?)))
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
        self.held.change(env, |shared| shared.add_many(&texts, &times, &NEVER))
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
        self.held.start(env, cancel, move |shared, flag| shared.add_many(&texts, &times, flag))
    }

    /// Adds one text; the name of its group.
    #[napi(catch_unwind)]
    pub fn similar_id(&self, env: Env, text: Unknown<'_>, at: Option<f64>) -> js::Result<f64> {
        let (texts, at) = (Texts::one(&text, "text", Accept::Texts)?, time(at)?);
        self.held
            .single(env, |shared| Ok(number(shared.index.similar(&shared.item(&texts, 0), at)?)))
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
        self.held.change(env, |shared| Ok(Column(shared.similar_many(&texts, &times, &NEVER)?)))
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
        self.held.start(env, cancel, move |shared, flag| {
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
        self.held.look(|shared| shared.search_many(&texts, limit, &NEVER))
    }

    /// Matches of many texts.
    #[napi(catch_unwind)]
    pub fn search_many(
        &self,
        texts: Unknown<'_>,
        limit: Option<f64>,
    ) -> js::Result<NativeSentenceMatches> {
        let (texts, limit) = (Texts::many(&texts, "texts", Accept::Texts)?, self::limit(limit)?);
        self.held.look(|shared| shared.search_many(&texts, limit, &NEVER))
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
        self.held.start(env, cancel, move |shared, flag| shared.search_many(&texts, limit, flag))
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
        self.held.single(env, |shared| {
            Ok(shared.index.check_and_add_with(shared.item(&texts, 0), how)?.into())
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
        self.held.change(env, |shared| shared.check_and_add_many(&texts, &times, how, &NEVER))
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
        self.held.start(env, cancel, move |shared, flag| {
            shared.check_and_add_many(&texts, &times, how, flag)
        })
    }

    /// The name of a document's group.
    #[napi(catch_unwind)]
    pub fn group(&self, id: f64) -> js::Result<Option<f64>> {
        let id = whole_number(id, "id")?;
        self.held.look(|shared| Ok(shared.index.group(id).map(number)))
    }

    /// Counts and bytes.
    #[napi(catch_unwind)]
    pub fn stats(&self) -> js::Result<NativeSentenceStats> {
        self.held.look(|shared| Ok(shared.index.stats().into()))
    }
}

shared_verbs!(NativeSentenceIndex);
