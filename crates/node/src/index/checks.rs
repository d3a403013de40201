//! Check-and-add for JavaScript, with texts that JavaScript finds.
//!
//! `textOf` is JavaScript: it may take its time, use the index itself, or wait for another worker that does. So it never
//! runs while the index is held: the core says whose text it needs, and is asked again with it.

use super::columns::{NativeChecked, NativeOutcome};
use super::document::{Keys, NativeVerify, checked_key, checked_verify};
use super::shared::Shared;
use super::{NativeIndex, time};
use crate::callback::called;
use crate::check::{number, whole};
use crate::error::{Failure, js};
use crate::held::{Held, NEVER};
use crate::index::batch::{Times, on_duplicate};
use crate::sketch::{Memory, with_memory};
use crate::task::Cancel;
use crate::text::{Accept, Given, Texts};
use napi::bindgen_prelude::{Float64Array, Function, Object, Unknown};
use napi::{Env, ValueType};
use napi_derive::napi;
use simhash_dedup::online::{Step, Texts as Known};
use simhash_index::AddOptions;
use std::collections::HashMap;

type TextOf<'a> = Function<'a, f64, Unknown<'a>>;

#[napi]
impl NativeIndex {
    /// Adds one item unless a near one is there, or as `duplicate` says.
    #[napi(catch_unwind)]
    #[allow(
        clippy::too_many_arguments,
        reason = "positional, so that no options object is read here"
    )]
    pub fn check_and_add(
        &self,
        env: Env,
        item: Unknown<'_>,
        at: Option<f64>,
        duplicate: Option<String>,
        key: Option<String>,
        verify: Option<NativeVerify>,
        #[napi(ts_arg_type = "(id: number) => unknown")] text_of: Option<TextOf<'_>>,
    ) -> js::Result<NativeOutcome> {
        let texts = Texts::one(&item, "item", Accept::Items)?;
        let on_duplicate = on_duplicate(duplicate.as_deref())?;
        let how = AddOptions { at: time(at)?, on_duplicate };
        let shared = self.held.open()?;
        let stored = shared.online.stored();
        let verify =
            checked_verify(verify.as_ref(), stored.longest_text.is_some() || text_of.is_some())?;
        let key = checked_key(key.as_deref(), &shared.online)?;
        let document = shared.guarded(|shared| Ok(shared.document(&texts, 0, verify.is_some())))?;
        // What `textOf` has said, normalised; nothing where it knew none.
        let mut known: HashMap<u64, Option<String>> = HashMap::new();
        loop {
            let texts_of = |id| match (known.get(&id), &text_of) {
                (Some(Some(text)), _) => Known::Known(text),
                (None, Some(_)) => Known::Ask,
                _ => Known::None,
            };
            let step = shared.guarded(|shared| {
                Ok(shared.online.check_and_add(&document, key, how, verify, texts_of)?)
            })?;
            match (step, &text_of) {
                (Step::Done(checked), _) => {
                    self.held.grown(env, &shared);
                    return Ok(checked.into());
                }
                (Step::Text(id), Some(text_of)) => {
                    let text = told(&shared, text_of, id)?;
                    known.insert(id, text);
                }
                (Step::Text(_), None) => {
                    return Err(Failure::internal("a text was asked for that nobody has").into());
                }
            }
        }
    }

    /// The same for many items, in order.
    #[napi(catch_unwind)]
    pub fn check_and_add_many(
        &self,
        env: Env,
        items: Unknown<'_>,
        at: Option<Float64Array>,
        duplicate: Option<String>,
        keys: Option<Vec<Option<String>>>,
        verify: Option<NativeVerify>,
    ) -> js::Result<NativeChecked> {
        let (texts, times) = (Texts::many(&items, "items", Accept::Items)?, Times::of(at)?);
        let (how, keys) = (on_duplicate(duplicate.as_deref())?, Keys::of(keys));
        let stored = self.held.open()?.online.stored();
        let verify = checked_verify(verify.as_ref(), stored.longest_text.is_some())?;
        self.held.change(env, |shared| {
            shared.check_and_add_many(&texts, &times, &keys, how, verify, &NEVER)
        })
    }

    /// The same on the pool.
    #[napi(catch_unwind, ts_return_type = "Promise<NativeChecked>")]
    #[allow(
        clippy::too_many_arguments,
        reason = "positional, so that no options object is read here"
    )]
    pub fn check_and_add_many_async<'env>(
        &self,
        env: &'env Env,
        items: Unknown<'_>,
        at: Option<Float64Array>,
        duplicate: Option<String>,
        keys: Option<Vec<Option<String>>>,
        verify: Option<NativeVerify>,
        cancel: &Cancel,
    ) -> js::Result<Object<'env>> {
        let (texts, times) = (Texts::many(&items, "items", Accept::Items)?, Times::of(at)?);
        let (how, keys) = (on_duplicate(duplicate.as_deref())?, Keys::of(keys));
        let stored = self.held.open()?.online.stored();
        let verify = checked_verify(verify.as_ref(), stored.longest_text.is_some())?;
        self.held.start(env, cancel, move |shared, flag| {
            shared.check_and_add_many(&texts, &times, &keys, how, verify, flag)
        })
    }

    /// The key of a live document.
    #[napi(catch_unwind)]
    pub fn key_of(&self, id: f64) -> js::Result<Option<String>> {
        let id = whole(id, "id")?;
        self.held.look(|shared| Ok(shared.online.key_of(id)))
    }

    /// The latest live document with a key.
    #[napi(catch_unwind)]
    pub fn id_of(&self, key: String) -> js::Result<Option<f64>> {
        self.held.look(|shared| {
            checked_key(Some(&key), &shared.online)?;
            Ok(shared.online.id_of(&key).map(number))
        })
    }
}

/// What `textOf` says of a document, normalised.
fn told(shared: &Shared, text_of: &TextOf<'_>, id: u64) -> Result<Option<String>, Failure> {
    let told = called(text_of, number(id), "textOf")?;
    if told.get_type()? == ValueType::Undefined {
        return Ok(None);
    }
    let texts = Texts::one(&told, "the result of textOf", Accept::Texts)?;
    Ok(with_memory(|Memory { text, scratch }| match texts.get(0, text) {
        Given::Text(text) => {
            Some(shared.online.fingerprinter().normalize(text, scratch).to_owned())
        }
        Given::Fingerprint(_) => None,
    }))
}
