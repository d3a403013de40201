//! Calls of one item: the answer goes into memory of the caller's, so that a call that takes a microsecond makes no objects.
//!
//! `textOf` is JavaScript: it may take its time, use the index itself, or wait for another worker that does. So it never
//! runs while the index is held: the core says whose text it needs, and is asked again with it.

use super::NativeIndex;
use super::batch::{checked_key, on_duplicate, time};
use super::columns::{id, similarity};
use super::shared::Shared;
use crate::callback::called;
use crate::check::{number, whole};
use crate::direct::direct;
use crate::error::{Failure, js};
use crate::sketch::{Memory, with_memory};
use crate::text::{Accept, Given, Texts, with_doubles};
use napi::bindgen_prelude::{Function, Unknown};
use napi::{Env, ValueType};
use napi_derive::napi;
use simhash_dedup::live::{Checked, LiveMethod, LiveOptions, Near, Search, Step, Texts as Known};
use simhash_index::AddOptions;
use std::collections::HashMap;
use std::sync::Arc;

type TextOf<'a> = Function<'a, f64, Unknown<'a>>;

/// Numbers of a match: id, similarity (NaN where none is known), measure, and 1 where it is verified.
const STRIDE: usize = 4;

/// How to search; absent means as the index does.
#[napi(object, object_to_js = false)]
#[derive(Clone, Copy, Default)]
pub struct NativeSearch {
    pub limit: Option<f64>,
    pub max_distance: Option<u32>,
    pub min_similarity: Option<f64>,
    /// False: candidates as they are.
    pub verify: Option<bool>,
}

impl NativeSearch {
    pub(crate) fn core(given: Option<Self>) -> Result<Search, Failure> {
        let Some(Self { limit, max_distance, min_similarity, verify }) = given else {
            return Ok(Search::default());
        };
        let limit = limit.map(|limit| whole(limit, "limit")).transpose()?;
        let limit = limit.map(|limit| usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(Search { limit, max_distance, min_similarity, verified: verify.unwrap_or(true) })
    }
}

fn numbers(near: &Near) -> [f64; STRIDE] {
    let verified = f64::from(u8::from(near.verified));
    [number(near.id), similarity(near), f64::from(near.measure), verified]
}

/// Searches, and writes what is found into `out`; how many matches there are.
fn search(shared: &Shared, texts: &Texts, how: &Search, out: &Unknown<'_>) -> Result<u32, Failure> {
    let found = shared.guarded(|shared| Ok(shared.live.search(&shared.document(texts), how)?))?;
    with_doubles(out, "out", |out| {
        if let [truncated, rows @ ..] = out {
            *truncated = f64::from(u8::from(found.truncated));
            for (row, near) in rows.chunks_exact_mut(STRIDE).zip(&found.matches) {
                row.copy_from_slice(&numbers(near));
            }
        }
    })?;
    let count = u32::try_from(found.matches.len());
    count.map_err(|_| Failure::out_of_range("limit", "so small that an answer has fewer matches"))
}

#[napi]
impl NativeIndex {
    /// The search of one item: it gives how many matches there are. What of them there is room for lies behind the first element of
    /// the `Float64Array` `out`, four numbers each (id, similarity, measure, 1 where verified); the first is 1 where a limit cut
    /// the answer.
    #[napi(
        catch_unwind,
        ts_return_type = "(item: unknown, out: Float64Array, how?: NativeSearch) => number"
    )]
    pub fn searcher<'env>(
        &self,
        env: &'env Env,
    ) -> js::Result<Function<'env, Unknown<'static>, u32>> {
        let held = Arc::clone(&self.held);
        direct(env, "search", move |call| {
            let how = if call.length() > 2 { call.get(2)? } else { None };
            let shared = held.open()?;
            let texts = Texts::one(&call.get(0)?, "item", shared.accept())?;
            search(&shared, &texts, &NativeSearch::core(how)?, &call.get(1)?)
        })
    }

    /// Keys of the first matches that a search has written.
    #[napi(catch_unwind)]
    pub fn keys_of(
        &self,
        #[napi(ts_arg_type = "Float64Array")] out: Unknown<'_>,
        count: u32,
    ) -> js::Result<Vec<Option<String>>> {
        let ids: Vec<u64> = with_doubles(&out, "out", |out| {
            let rows = out.get(1..).unwrap_or_default().chunks_exact(STRIDE);
            rows.take(count as usize).map(|row| whole(row[0], "id")).collect::<Result<_, _>>()
        })??;
        self.held.look(|shared| Ok(ids.into_iter().map(|id| shared.live.key_of(id)).collect()))
    }

    /// The check-and-add of one item, unless a match is there, or as `duplicate` says. Writes seven numbers: the id or NaN, the match's id
    /// or NaN, its similarity, measure and 1 where it is verified, 1 where a limit left candidates out, and 1 where it was answered as
    /// before. Arguments are positional, so that no options object is read here.
    #[napi(
        catch_unwind,
        ts_return_type = "(item: unknown, out: Float64Array, at: number | undefined, duplicate: string | undefined, key: string | undefined, textOf: ((id: number) => unknown) | undefined) => void"
    )]
    pub fn checker<'env>(
        &self,
        env: &'env Env,
    ) -> js::Result<Function<'env, Unknown<'static>, ()>> {
        let held = Arc::clone(&self.held);
        direct(env, "checkAndAdd", move |call| {
            let shared = held.open()?;
            let (item, out, at) = (call.get(0)?, call.get(1)?, call.get(2)?);
            let duplicate: Option<String> = call.get(3)?;
            let key: Option<String> = call.get(4)?;
            let text_of: Option<TextOf<'_>> = call.get(5)?;
            let on_duplicate = on_duplicate(duplicate.as_deref(), &shared.live)?;
            let how = AddOptions { at: time(at, &shared.live)?, on_duplicate };
            if text_of.is_some() && !compares(shared.live.options()) {
                let why = "textOf is for an index that compares texts, and this one verifies nothing; leave it out";
                return Err(Failure::new("ERR_INVALID_ARG_VALUE", why));
            }
            let texts = Texts::one(&item, "item", shared.accept())?;
            let key = checked_key(key.as_deref(), &shared.live)?;
            let checked = checked(&shared, &texts, key, how, text_of.as_ref())?;
            held.grown(*call.env, &shared);
            write(&checked, &out)
        })
    }
}

/// Writes the outcome of a check.
fn write(checked: &Checked, out: &Unknown<'_>) -> Result<(), Failure> {
    let [_, similarity, measure, verified] =
        checked.duplicate_of.as_ref().map_or([f64::NAN, f64::NAN, 0.0, 0.0], numbers);
    let truncated = f64::from(u8::from(checked.truncated));
    let duplicate_of = id(checked.duplicate_of.map(|near| near.id));
    let repeated = f64::from(u8::from(checked.repeated));
    let all = [id(checked.id), duplicate_of, similarity, measure, verified, truncated, repeated];
    with_doubles(out, "out", |out| {
        for (place, number) in out.iter_mut().zip(all) {
            *place = number;
        }
    })
}

/// Whether texts are looked at: not by equal texts alone, whose hashes are enough.
fn compares(options: &LiveOptions) -> bool {
    options.verify.is_some() && options.method != LiveMethod::Exact
}

/// Checks and adds, with the texts that `text_of` knows.
fn checked(
    shared: &Shared,
    texts: &Texts,
    key: Option<&str>,
    how: AddOptions,
    text_of: Option<&TextOf<'_>>,
) -> Result<Checked, Failure> {
    let document = shared.guarded(|shared| Ok(shared.document(texts)))?;
    // What `textOf` has said, normalised; nothing where it knew none.
    let mut known: HashMap<u64, Option<String>> = HashMap::new();
    loop {
        let texts_of = |id| match (known.get(&id), text_of) {
            (Some(Some(text)), _) => Known::Known(text),
            (None, Some(_)) => Known::Ask,
            _ => Known::None,
        };
        let step = shared
            .here(|shared| Ok(shared.live.check_and_add(&document, key, how, texts_of)?))?;
        match (step, text_of) {
            (Step::Done(checked), _) => return Ok(checked),
            (Step::Texts(missing), Some(text_of)) => {
                for id in missing {
                    let text = told(shared, text_of, id)?;
                    known.insert(id, text);
                }
            }
            (Step::Texts(_), None) => {
                return Err(Failure::internal("a text was asked for that nobody has"));
            }
        }
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
        Given::Text(text) => Some(shared.live.fingerprinter().normalize(text, scratch).to_owned()),
        Given::Fingerprint(_) => None,
    }))
}
